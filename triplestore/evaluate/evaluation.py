"""Evaluate families: from the rows of a changed atom, of goals, or of nothing to rule instances.

Start reading at `Evaluation`. It runs plans and counts what the papers count: rule instances
considered, by phase, and rows fetched from relations before any test. Each row of a result is one
instance; no instance comes twice, because views list no row twice and atoms before the pivot do not
see the facts of the pivot's set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

import numpy as np

from triplestore.evaluate.binding_frames import Rows, column, split, take, where
from triplestore.evaluate.conclusions import Heads, conclude
from triplestore.evaluate.existence import (
    conclude_weighted,
    exists,
    instances,
    merged,
    together,
    weights_of,
)
from triplestore.evaluate.family_constants import join_table
from triplestore.evaluate.first_frames import FirstFrames
from triplestore.evaluate.generic_join import Cycle, closings, crossing, cycle_of
from triplestore.evaluate.small_rules import Done, Scratch, fire_small
from triplestore.evaluate.smallest_first import Begun, turn
from triplestore.evaluate.suspects import Tally
from triplestore.evaluate.thresholds import EVALUATION
from triplestore.expressions.evaluate_columns import Evaluator, Scope
from triplestore.expressions.query_terms import QueryTerms
from triplestore.expressions.tree import Expression
from triplestore.operators.frame import Frame
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
    ComputeStep,
    TableStep,
    plan_for,
)
from triplestore.rules.families import Family

A = TypeVar("A", bound="np.ndarray[Any, Any]")
Check: TypeAlias = Callable[[int], None]


Evaluate: TypeAlias = "Callable[[Evaluation, Heads], tuple[Rows, int]]"
Job: TypeAlias = "tuple[Family, Evaluate]"
"""A family, and what makes its instances: all but those whose conclusions it adds to the
heads itself, so that they need not be there all at once."""


class Around(NamedTuple):
    """What the other items of a body are matched with, beside the one that changed (the pivot).

    before, after      what atoms before and after the pivot are matched with
    nots, nots_before  what negations after and before it must not be in
    """

    before: Setting
    after: Setting
    nots: Setting
    nots_before: Setting

    @classmethod
    def all_of(cls, setting: Setting) -> Around:
        """The same for all."""
        return cls(setting, setting, setting, setting)


def changed_job(family: Family, item: int, batch: Batch, around: Around, phase: str) -> Job:
    """The instances of a family in which one item matches a fact of the batch."""
    return family, lambda run, heads: run.changed(family, item, batch, around, phase, heads)


def whole_job(family: Family, setting: Setting, phase: str) -> Job:
    """All instances of a family."""
    return family, lambda run, heads: run.whole(family, setting, phase, heads)


class Evaluation:
    """What evaluating needs beside plans, and what it counts.

    instances  phase -> rule instances considered
    fetched    rows fetched from relations
    families   how often a family was evaluated
    check      called with the number of rows about to be made: raises where a budget ends
    foresee    called with conclusions that are summed up, and not counted as facts yet; so does it
    room       how many rows a join may make at once
    made_terms called with the number of new terms, their bytes, the known ones and the stratum
    tally      what each family did
    """

    def __init__(
        self,
        terms: QueryTerms | None,
        type_id: int,
        check: Check | None = None,
        foresee: Callable[[Heads], None] | None = None,
        room: Callable[[], int] | None = None,
        made_terms: Callable[[int, int, int, int], None] | None = None,
        tally: Tally | None = None,
    ) -> None:
        self.terms = terms
        self.type_id = type_id
        self.check = check
        self.foresee = foresee
        self.room = room
        self.made_terms = made_terms
        self.tally = tally or Tally()
        self.instances: Counter[str] = Counter()
        self.fetched = 0
        self.families = 0
        self._evaluators: dict[int, Evaluator] = {}
        self._scratch = Scratch()
        self._first = FirstFrames(type_id)

    # -- several one after the other -------------------------------------------------------------

    def conclude_all(self, jobs: Sequence[Job], heads: Heads, recursive: Heads) -> None:
        """Add what the instances of several families conclude.

        recursive  where the conclusions of recursive rules go
        """
        for family, evaluate in jobs:
            self._conclude(family, evaluate, recursive if family.recursive else heads)
        self._first.forget()

    def _conclude(self, family: Family, evaluate: Evaluate, heads: Heads) -> None:
        self.tally.at = family
        found, n = evaluate(self, heads)
        self._add(family, found, n, heads)

    def _add(self, family: Family, rows: Rows, n: int, heads: Heads) -> None:
        if n:
            self.tally.count(family, n)
        weights = weights_of(family, rows)
        if n and weights is not None:
            conclude_weighted(family, rows, n, weights, heads)
        else:
            conclude(family, rows, n, self.type_id, heads)

    # -- three ways to begin ---------------------------------------------------------------------

    def whole(
        self, family: Family, setting: Setting, phase: str, heads: Heads | None = None
    ) -> tuple[Rows, int]:
        """All instances of a family."""
        made = plan_for(family, WHOLE, setting)
        rows: Rows = [None] * (family.width + 1)
        return self.follow(family, made, rows, 1, setting, phase, heads=heads)

    def changed(
        self,
        family: Family,
        pivot: int,
        batch: Batch,
        around: Around,
        phase: str,
        heads: Heads | None = None,
    ) -> tuple[Rows, int]:
        """The instances in which one item (the pivot) matches a fact of the batch."""
        before, after, nots, nots_before = around
        if heads is not None:
            done = fire_small(family, pivot, batch, (before, after), self._scratch, heads)
            if done is not None:
                self.count(done, phase)
                self.tally.count(family, done.instances)
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
        return self._steps(family, begun.steps, begun.rows, begun.n, begun.seen, phase, heads)

    def follow_steps(
        self,
        family: Family,
        steps: Sequence[BodyStep],
        rows: Rows,
        n: int,
        seen: Callable[[AtomStep], Setting],
        heads: Heads,
    ) -> tuple[Rows, int]:
        """Do some steps, as in a trial: instances are not counted."""
        return self._steps(family, steps, rows, n, seen, "", heads)

    def count(self, done: Done, phase: str, families: int = 1) -> None:
        """Count what a kernel did in place of `families` evaluations of a family."""
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
    ) -> tuple[Rows, int]:
        """The instances that conclude goals; the number of the goal is the last column.

        `goals` are keys of `relation`. Instances are not counted: who asks knows how many it takes.
        """
        rows, n = self.goals(family, relation, goals)
        if n == 0:
            return rows, 0
        made = plan_for(family, HEAD, setting)
        return self.follow(family, made, rows, n, setting, "", nots)

    def goals(self, family: Family, relation: RelationKey, keys: Keys) -> tuple[Rows, int]:
        """The frame of those goals that the family may conclude; their places in `keys` are the
        last column."""
        return self._first.of(family, family.head, {relation: keys}, numbered=True)

    def follow(
        self,
        family: Family,
        plan: BodyPlan,
        rows: Rows,
        n: int,
        after: Setting,
        phase: str,
        nots: Setting | None = None,
        heads: Heads | None = None,
    ) -> tuple[Rows, int]:
        """Go on from a frame by a plan; not counted without a phase."""
        self.families += 1
        below = after if nots is None else nots

        def seen(step: AtomStep) -> Setting:
            return below if step.negated else after

        return self._steps(family, plan.steps, rows, n, seen, phase, heads)

    def _steps(
        self,
        family: Family,
        steps: Sequence[BodyStep],
        rows: Rows,
        n: int,
        seen: Callable[[AtomStep], Setting],
        phase: str,
        heads: Heads | None,
    ) -> tuple[Rows, int]:
        """Do what is left of a plan. Where a join would make very many rows, and there are
        heads, conclusions are added to them piece by piece."""
        for at, step in enumerate(steps):
            if isinstance(step, AtomStep):
                setting = seen(step)
                if n >= EVALUATION.few_rows and step.free:
                    cycle = cycle_of(steps, at)
                    done = cycle and self._close(family, cycle, rows, n, seen, phase, heads)
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
                if (
                    n <= EVALUATION.few_joined
                    or heads is None
                    or not self._may_be_many(step, n, setting)
                ):
                    rows, n = self.atom(step, rows, n, setting)
                else:
                    try:
                        most = self._piece()
                        with at_most(most):
                            rows, n = self.atom(step, rows, n, setting)
                    except TooManyRowsError as error:
                        if not phase:
                            raise  # a trial
                        for piece, size in split(rows, n, 2 * (error.rows // most + 1)):
                            left = self._steps(family, steps[at:], piece, size, seen, phase, heads)
                            self._sum_up(family, *left, heads)
                        return [None] * len(rows), 0
                if heads is not None:
                    rows, n = merged(family, step, steps[at + 1 :], rows, n)
            elif isinstance(step, TableStep):
                rows, n = join_table(family, step, rows, n)
            else:
                rows, n = self._compute(family, step, rows, n)
            if n == 0:
                return rows, 0
        if phase:
            self.instances[phase] += instances(family, rows, n)
        return rows, n

    def _close(
        self,
        family: Family,
        cycle: Cycle,
        rows: Rows,
        n: int,
        seen: Callable[[AtomStep], Setting],
        phase: str,
        heads: Heads | None,
    ) -> tuple[Rows, int] | None:
        """Do the atoms of a cycle, and what is left of the plan; None where joins are no slower."""
        links = crossing(cycle, rows, n, seen)
        if links is None:
            parts = closings(cycle, rows, n, seen)
            if parts is None:
                return None
            done = [self._steps(family, *part, seen, phase, heads) for part in parts]
            return together(family, done)
        weighted = heads is not None and family.head.relation != ANY
        counted = links.counted(family) if weighted else None
        most = None if heads is None else self._piece()
        pieces = links.listed(most) if counted is None else [counted]
        found = []
        for part, size, looked in pieces:
            self.fetched += looked
            if self.check is not None:
                self.check(size)
            large = most is not None and size >= most
            if size == 0:
                continue
            if heads is not None:
                part, size = merged(family, cycle.last, cycle.rest, part, size)
            left = self._steps(family, cycle.rest, part, size, seen, phase, heads)
            if large and heads is not None:
                self._sum_up(family, *left, heads)
            else:
                found.append(left)
        return together(family, found) if found else ([None] * len(rows), 0)

    def _sum_up(self, family: Family, rows: Rows, n: int, heads: Heads) -> None:
        """Add what some of the instances conclude."""
        piece = Heads()
        self._add(family, rows, n, piece)
        heads.sum_up(piece)
        if self.foresee is not None:
            self.foresee(heads)

    # -- steps -----------------------------------------------------------------------------------

    def atom(self, step: AtomStep, rows: Rows, n: int, setting: Setting) -> tuple[Rows, int]:
        """Match one atom."""
        view = setting.view(step.atom.relation)
        if step.atom.besides and isinstance(view, TripleView):
            view = view.without(step.atom.besides)
        if not step.free:  # a test
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
            if self.check is not None:
                self.check(size * n)
            if n == 1 and not any(c is not None for c in rows):
                made: Rows = [None] * len(rows)
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
            if self.check is not None:
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

    def _scan(self, step: AtomStep, rows: Rows, view: PairView) -> tuple[Rows, int]:
        """All rows of a relation beside a frame of one row: only columns that something needs."""
        keys = view.keys()
        n = len(keys)
        self.fetched += n
        if self.check is not None:
            self.check(n)
        made: Rows = [
            known.repeat(n) if known is not None and variable in step.keep else None
            for variable, known in enumerate(rows)
        ]
        for place, variable in step.free:
            if variable in step.keep:
                made[variable] = low(keys) if place else high(keys)
        return made, n

    def _compute(self, family: Family, step: ComputeStep, rows: Rows, n: int) -> tuple[Rows, int]:
        computation = step.computation
        names = tuple(family.variables[v] for v in computation.needs)
        columns = [column(rows, v, n) for v in computation.needs]
        evaluator = self._evaluator(computation.expression)
        frames = self._frames(names, columns, n)
        if computation.target < 0:
            passed = [evaluator.condition(frame) for frame in frames]
            return where(rows, _one(passed), step.keep, n)
        assert self.terms is not None
        dictionary = self.terms.dictionary
        known, size = dictionary.size, self.terms.settled_bytes
        values = self.terms.settle(_one([evaluator.column(frame) for frame in frames]))
        if dictionary.size > known:
            self.tally.count_terms(family, dictionary.size - known)
            if self.made_terms is not None:
                size = self.terms.settled_bytes - size
                self.made_terms(dictionary.size - known, size, known, family.stratum)
        given = rows[computation.target]
        if given is not None:
            return where(rows, given == values, (*step.keep, computation.target), n)
        rows = list(rows)
        rows[computation.target] = values
        return where(rows, values != 0, (*step.keep, computation.target), n)

    def _frames(self, names: tuple[str, ...], columns: list[U32], n: int) -> Iterator[Frame]:
        """Rows as frames, with a look at the budget before each: a function may take long."""
        most = EVALUATION.computed_rows
        for at in range(0, max(n, 1), most):
            if self.check is not None and n > most:
                self.check(0)
            piece = (
                [one[at : at + EVALUATION.computed_rows] for one in columns]
                if n > EVALUATION.computed_rows
                else columns
            )
            yield Frame(names, piece, min(n - at, most))

    def _may_be_many(self, step: AtomStep, n: int, setting: Setting) -> bool:
        """Whether a join may make more rows than one piece has."""
        if not step.free:
            return False
        rows = n * setting.view(step.atom.relation).estimate(())
        return rows > self._piece()

    def _piece(self) -> int:
        """How many rows a join makes at once."""
        return (
            EVALUATION.piece_rows if self.room is None else min(EVALUATION.piece_rows, self.room())
        )

    def _evaluator(self, expression: Expression) -> Evaluator:
        found = self._evaluators.get(id(expression))
        if found is None:
            assert self.terms is not None, "a program with expressions needs a dictionary"
            found = Evaluator(expression, Scope(self.terms))
            self._evaluators[id(expression)] = found
        return found


def _one(parts: Sequence[A]) -> A:
    """Arrays as one."""
    return parts[0] if len(parts) == 1 else cast(A, np.concatenate(parts))


def _by_place(step: AtomStep, free: Columns) -> dict[int, U32]:
    bound = {place for place, _ in step.bound}
    places = [place for place in range(len(step.atom.terms)) if place not in bound]
    return dict(zip(places, free, strict=True))
