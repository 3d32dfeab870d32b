"""Evaluation of families: from a changed atom, from goals, or from nothing to rule instances.

Start reading at `Evaluation`. It runs plans and counts what the papers count: rule instances
considered, by phase, and rows fetched from relations before any test. Each row of a result is one
instance. No instance comes twice: views list no row twice, and atoms before the pivot do not see
the facts of the pivot's set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from triplestore.evaluate.binding_frames import (
    Bindings,
    FirstFrames,
    column,
    join_table,
    split,
    take,
    weights_of,
    where,
)
from triplestore.evaluate.computations import compute
from triplestore.evaluate.conclusions import Heads, conclude
from triplestore.evaluate.existence import conclude_weighted, exists, merged
from triplestore.evaluate.generic_join import close, cycle_of
from triplestore.evaluate.small_rules import Done, Scratch, fire_small
from triplestore.evaluate.smallest_first import Begun, turn
from triplestore.evaluate.thresholds import EVALUATION
from triplestore.expressions.evaluate_columns import Evaluator
from triplestore.expressions.query_terms import QueryTerms
from triplestore.relations.facts.body_views import PairView, Setting
from triplestore.relations.facts.fact_sets import ANY, Batch, RelationKey
from triplestore.relations.facts.sorted_arrays import TooManyRowsError, at_most, check_room
from triplestore.relations.facts.triple_view import TripleView
from triplestore.relations.packed_keys import U32, Columns, Keys, high, low
from triplestore.rules.body_plans import (
    HEAD,
    WHOLE,
    AtomStep,
    BodyPlan,
    BodyStep,
    TableStep,
    plan_for,
)
from triplestore.rules.compiled_program import Compiled
from triplestore.rules.families import Family
from triplestore.rules.modules.module_groups import Owned

Evaluate: TypeAlias = "Callable[[Evaluation, Heads], tuple[Bindings, int]]"
"""Makes the instances of a family. It may add the conclusions of some instances to the heads itself
and leave these out, so that not all instances are in memory at once."""

Job: TypeAlias = "tuple[Family, Evaluate]"
"""A family to be evaluated."""


class Around(NamedTuple):
    """What the items of a body are matched with, apart from the changed one (the pivot).

    before, after      facts for the atoms before and after the pivot
    nots, nots_before  facts that the negations after and before the pivot must not match
    """

    before: Setting
    after: Setting
    nots: Setting
    nots_before: Setting

    @classmethod
    def all_of(cls, setting: Setting) -> Around:
        """The same facts for all items."""
        return cls(setting, setting, setting, setting)


def changed_job(family: Family, item: int, batch: Batch, around: Around, phase: str) -> Job:
    """The instances of a family in which one item matches a fact of the batch."""
    return family, lambda run, heads: run.changed(family, item, batch, around, phase, heads)


def whole_job(family: Family, setting: Setting, phase: str) -> Job:
    """All instances of a family."""
    return family, lambda run, heads: run.whole(family, setting, phase, heads)


def _unlimited(*_: object) -> None:
    """No budget."""


class Evaluation:
    """What evaluating needs beside plans, and what it counts.

    check       called with the number of rows about to be made; raises if a budget ends
    foresee     called with conclusions that are summed up, but not counted as facts yet; may raise
    room        maximum number of rows that a join may make at once
    made_terms  called with the number of new terms, their bytes, the known ones and the stratum
    compiled    the program of the families, for errors
    instances   phase -> rule instances considered
    fetched     rows fetched from relations
    families    number of evaluations of a family
    at          what is at work: a family, or a closure that is computed as a whole
    made        family -> number of its instances
    new_terms   family -> number of terms that it made
    """

    def __init__(
        self,
        terms: QueryTerms | None,
        type_id: int,
        check: Callable[[int], None] = _unlimited,
        foresee: Callable[[Heads], None] = _unlimited,
        room: Callable[[], int] | None = None,
        made_terms: Callable[[int, int, int, int], None] = _unlimited,
        compiled: Compiled | None = None,
    ) -> None:
        self.terms = terms
        self.type_id = type_id
        self.check = check
        self.foresee = foresee
        self.room = room
        self.made_terms = made_terms
        self.compiled = compiled
        self.at: Family | Owned | str | None = None
        self.made: dict[Family, int] = {}
        self.new_terms: dict[Family, int] = {}
        self.instances: Counter[str] = Counter()
        self.fetched = 0
        self.families = 0
        self.evaluators: dict[int, Evaluator] = {}
        self._scratch = Scratch()
        self._first = FirstFrames(type_id)

    # -- several families ------------------------------------------------------------------------

    def conclude_all(self, jobs: Sequence[Job], heads: Heads, recursive: Heads) -> None:
        """Add the conclusions of the instances of several families.

        recursive  receives the conclusions of recursive rules
        """
        for family, evaluate in jobs:
            into = recursive if family.recursive else heads
            self.at = family
            self._add(family, *evaluate(self, into), into)
        self._first.forget()

    def _add(self, family: Family, rows: Bindings, n: int, heads: Heads) -> None:
        if n == 0:
            return
        self.made[family] = self.made.get(family, 0) + n
        weights = weights_of(family, rows)
        if weights is not None:
            conclude_weighted(family, rows, n, weights, heads)
        else:
            conclude(family, rows, n, self.type_id, heads)

    # -- three ways to begin ---------------------------------------------------------------------

    def whole(
        self, family: Family, setting: Setting, phase: str, heads: Heads | None = None
    ) -> tuple[Bindings, int]:
        """All instances of a family."""
        made = plan_for(family, WHOLE, setting)
        rows: Bindings = [None] * (family.width + 1)
        return self.follow(family, made, rows, 1, setting, phase, heads=heads)

    def changed(
        self,
        family: Family,
        pivot: int,
        batch: Batch,
        around: Around,
        phase: str,
        heads: Heads | None = None,
    ) -> tuple[Bindings, int]:
        """The instances in which one item (the pivot) matches a fact of the batch."""
        before, after, nots, nots_before = around
        if heads is not None:
            done = fire_small(family, pivot, batch, (before, after), self._scratch, heads)
            if done is not None:
                self.count(done, phase)
                self.made[family] = self.made.get(family, 0) + done.instances
                return [], 0
        count = len(family.body)
        negated = pivot >= count
        atom = family.nots[pivot - count] if negated else family.body[pivot]
        rows, n = self._first.of(family, atom, batch)
        if n == 0:
            return rows, 0
        made = plan_for(family, pivot, after)
        self.fetched += n
        self.families += 1

        def seen(step: AtomStep) -> Setting:
            if step.negated:
                return nots_before if negated and step.item < pivot else nots
            return before if negated or step.item < pivot else after

        begun = Begun(rows, n, made.steps, seen)
        if n >= EVALUATION.many_changed and heads is not None:
            begun = turn(self, family, pivot, batch, begun, after) or begun
        return self.run_steps(family, begun.steps, begun.rows, begun.n, begun.seen, phase, heads)

    def count(self, done: Done, phase: str, families: int = 1) -> None:
        """Count the work of a kernel in place of `families` evaluations of a family."""
        if done.looked:
            self.families += families
            self.fetched += done.looked + done.fetched
            if done.instances:
                self.instances[phase] += done.instances

    def backward(
        self,
        family: Family,
        goals: Keys,
        relation: RelationKey,
        setting: Setting,
        nots: Setting,
        phase: str,
    ) -> tuple[Bindings, int]:
        """The instances that conclude goals; the number of the goal is the last column.

        `goals` are keys of `relation`. Instances are not counted: the caller knows how many it
        uses.
        """
        rows, n = self.goals(family, relation, goals)
        if n == 0:
            return rows, 0
        made = plan_for(family, HEAD, setting)
        return self.follow(family, made, rows, n, setting, "", nots)

    def goals(self, family: Family, relation: RelationKey, keys: Keys) -> tuple[Bindings, int]:
        """The frame of the goals that the family may conclude; their places in `keys` are the last
        column."""
        return self._first.of(family, family.head, {relation: keys}, numbered=True)

    def follow(
        self,
        family: Family,
        plan: BodyPlan,
        rows: Bindings,
        n: int,
        after: Setting,
        phase: str,
        nots: Setting | None = None,
        heads: Heads | None = None,
    ) -> tuple[Bindings, int]:
        """The instances that continue a frame by a plan; not counted without a phase."""
        self.families += 1
        below = after if nots is None else nots

        def seen(step: AtomStep) -> Setting:
            return below if step.negated else after

        return self.run_steps(family, plan.steps, rows, n, seen, phase, heads)

    def run_steps(
        self,
        family: Family,
        steps: Sequence[BodyStep],
        rows: Bindings,
        n: int,
        seen: Callable[[AtomStep], Setting],
        phase: str,
        heads: Heads | None,
    ) -> tuple[Bindings, int]:
        """Do the steps that are left of a plan; instances are not counted without a phase. If a
        join would make very many rows, and there are heads, conclusions are added to the heads
        piece by piece."""
        for at, step in enumerate(steps):
            if isinstance(step, AtomStep):
                setting = seen(step)
                if n >= EVALUATION.few_rows and step.free:
                    cycle = cycle_of(steps, at)
                    done = cycle and close(self, family, cycle, rows, n, seen, phase, heads)
                    if done is not None:
                        return done
                    if heads is not None and family.head.relation != ANY:
                        view = setting.view(step.atom.relation)
                        alive = exists(family, step, rows, n, view)
                        if alive is not None:
                            self.fetched += n
                            rows, n = alive
                            if n == 0:
                                return rows, 0
                            continue
                few = n <= EVALUATION.few_joined
                if few or heads is None or not self._may_be_many(step, n, setting):
                    rows, n = self.atom(step, rows, n, setting)
                else:
                    try:
                        most = self.piece()
                        with at_most(most):
                            rows, n = self.atom(step, rows, n, setting)
                    except TooManyRowsError as error:
                        if not phase:
                            raise  # during a trial
                        for piece, size in split(rows, n, 2 * (error.rows // most + 1)):
                            left = self.run_steps(
                                family, steps[at:], piece, size, seen, phase, heads
                            )
                            self.sum_up(family, *left, heads)
                        return [None] * len(rows), 0
                if heads is not None and n >= EVALUATION.many_merged:
                    rows, n = merged(family, step, steps[at + 1 :], rows, n)
            elif isinstance(step, TableStep):
                rows, n = join_table(family, step, rows, n)
            else:
                rows, n = compute(self, family, step, rows, n)
            if n == 0:
                return rows, 0
        if phase:
            weights = weights_of(family, rows)
            self.instances[phase] += n if weights is None else int(weights.sum())
        return rows, n

    def sum_up(self, family: Family, rows: Bindings, n: int, heads: Heads) -> None:
        """Add the conclusions of some of the instances."""
        piece = Heads()
        self._add(family, rows, n, piece)
        heads.sum_up(piece)
        self.foresee(heads)

    # -- steps -----------------------------------------------------------------------------------

    def atom(
        self, step: AtomStep, rows: Bindings, n: int, setting: Setting
    ) -> tuple[Bindings, int]:
        """Match one atom."""
        view = setting.view(step.atom.relation)
        if step.atom.besides and isinstance(view, TripleView):
            view = view.without(step.atom.besides)
        if not step.free:  # nothing new: a test
            first = step.bound[0][1]
            if first < 0 and isinstance(view, PairView):
                seen = view.contains_beside(-first, column(rows, step.bound[1][1], n))
            else:
                seen = view.contains(tuple(column(rows, term, n) for _, term in step.bound))
            self.fetched += n
            if step.negated:
                seen = ~seen
            return where(rows, seen, step.keep, n)
        if not (step.bound or step.same) and n == 1 and isinstance(view, PairView):
            return self._scan(step, rows, view)
        linked = [(place, term) for place, term in step.bound if term >= 0]
        if not linked:
            places = [place for place, _ in step.bound]
            free = view.scan(places, [-term for _, term in step.bound])
            size = len(free[0])
            check_room(size * n)
            self.fetched += size * n
            self.check(size * n)
            if n == 1 and not any(c is not None for c in rows):
                made: Bindings = [None] * len(rows)
                index = None
            else:
                index = np.repeat(np.arange(n), size)
                free = tuple(np.tile(column, n) for column in free)
                made = take(rows, index, step.keep)
            n *= size
        else:
            values = [column(rows, term, n) for _, term in step.bound]
            index, free = view.probe([place for place, _ in step.bound], values)
            n = len(index)
            self.fetched += n
            self.check(n)
            made = take(rows, index, step.keep)
        by_place = _by_place(step, free)
        for place, variable in step.free:
            made[variable] = by_place[place]
        if step.same:
            keep = np.ones(n, dtype=np.bool_)
            for one, other in step.same:
                keep &= by_place[one] == by_place[other]
            return where(made, keep, (*step.keep, *(v for _, v in step.free)), n)
        return made, n

    def _scan(self, step: AtomStep, rows: Bindings, view: PairView) -> tuple[Bindings, int]:
        """All rows of a relation beside a frame of one row; only the needed columns."""
        keys = view.keys()
        n = len(keys)
        self.fetched += n
        self.check(n)
        made: Bindings = [
            known.repeat(n) if known is not None and variable in step.keep else None
            for variable, known in enumerate(rows)
        ]
        for place, variable in step.free:
            if variable in step.keep:
                made[variable] = low(keys) if place else high(keys)
        return made, n

    def _may_be_many(self, step: AtomStep, n: int, setting: Setting) -> bool:
        """Whether a join may make more rows than one piece may have."""
        if not step.free:
            return False
        rows = n * setting.view(step.atom.relation).estimate(())
        return rows > self.piece()

    def piece(self) -> int:
        """Maximum number of rows that a join makes at once."""
        most = EVALUATION.piece_rows
        return most if self.room is None else min(most, self.room())


def _by_place(step: AtomStep, free: Columns) -> dict[int, U32]:
    bound = {place for place, _ in step.bound}
    places = [place for place in range(len(step.atom.terms)) if place not in bound]
    return dict(zip(places, free, strict=True))
