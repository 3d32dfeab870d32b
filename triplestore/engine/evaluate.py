"""Evaluate families: from the rows of a changed atom, of goals, or of nothing to rule instances.

Start reading at `Evaluation`. It runs plans and counts what the papers count: rule instances
considered, by phase, and rows fetched from relations before any test. Each row of a result is one
instance; no instance comes twice, because views list no row twice and atoms before the pivot do not
see the facts of the pivot's set.

A frame is a plain list with the column of each variable, or None. It stays in this file; that is
what it costs less than a `Frame` (0.3 instead of 3 us a step), at 10,000 families in a round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from triplestore.engine.families import CompiledAtom, Family
from triplestore.engine.parallel import ROWS, cores, side_by_side
from triplestore.engine.plans import (
    HEAD,
    WHOLE,
    AtomStep,
    ComputeStep,
    Plan,
    TableStep,
    plan_for,
)
from triplestore.engine.sets.arrays import beside
from triplestore.engine.sets.keys import ANY, Batch, RelationKey
from triplestore.engine.sets.views import PairView, Setting
from triplestore.expr.evaluate import Evaluator, Scope
from triplestore.expr.query_terms import QueryTerms
from triplestore.ops.frame import Frame
from triplestore.tables.rows import I64, U32, Columns, Keys, columns_of, key_of, pack

Rows: TypeAlias = list["U32 | None"]
Check: TypeAlias = Callable[[int], None]


Evaluate: TypeAlias = "Callable[[Evaluation], tuple[Rows, int]]"
Job: TypeAlias = "tuple[Family, Evaluate]"
"""A family, and what makes its instances."""


class Heads(dict[RelationKey, list[Keys]]):
    """What rules concluded: by relation, pieces of keys, unsorted and with repetitions."""

    def put(self, relation: RelationKey, keys: Keys) -> None:
        """Add some conclusions."""
        if len(keys):
            self.setdefault(relation, []).append(keys)

    def copied(self) -> Heads:
        """The same conclusions, to be added to."""
        return Heads({name: list(parts) for name, parts in self.items()})

    def taken(self) -> dict[RelationKey, Keys]:
        """The conclusions of each relation in one piece."""
        return {
            name: parts[0] if len(parts) == 1 else np.concatenate(parts)
            for name, parts in self.items()
        }


class Evaluation:
    """What evaluating needs beside plans, and what it counts.

    instances  phase -> rule instances considered
    fetched    rows fetched from relations
    families   how often a family was evaluated
    check      called with the number of rows about to be made: raises where a budget ends
    """

    def __init__(self, terms: QueryTerms | None, type_id: int, check: Check | None = None) -> None:
        self.terms = terms
        self.type_id = type_id
        self.check = check
        self.instances: Counter[str] = Counter()
        self.fetched = 0
        self.families = 0
        self._evaluators: dict[int, Evaluator] = {}

    # -- several at once -------------------------------------------------------------------------

    def conclude_all(self, jobs: Sequence[Job], rows: int, heads: Heads, recursive: Heads) -> None:
        """Add what the instances of several families conclude: side by side, if they look at many
        rows.

        recursive  where the conclusions of recursive rules go
        """
        threads = rows >= ROWS and len(jobs) > 1
        shared = [job for job in jobs if not job[0].computations] if threads else []
        for family, evaluate in jobs:
            if threads and not family.computations:
                continue  # filters and binds stay in one thread: they may make terms
            found, n = evaluate(self)
            conclude(family, found, n, self.type_id, recursive if family.recursive else heads)
        if not shared:
            return
        size = max(1, len(shared) // (4 * cores()))
        pieces = [shared[at : at + size] for at in range(0, len(shared), size)]
        for run, plain, rec in side_by_side([partial(self._apart, p) for p in pieces], rows):
            self.instances.update(run.instances)
            self.fetched += run.fetched
            self.families += run.families
            for target, source in ((heads, plain), (recursive, rec)):
                for name, parts in source.items():
                    target.setdefault(name, []).extend(parts)

    def _apart(self, jobs: Sequence[Job]) -> tuple[Evaluation, Heads, Heads]:
        """Some jobs by themselves, counted apart so that threads do not count over each other."""
        run, heads, recursive = Evaluation(self.terms, self.type_id, self.check), Heads(), Heads()
        for family, evaluate in jobs:
            found, n = evaluate(run)
            conclude(family, found, n, self.type_id, recursive if family.recursive else heads)
        return run, heads, recursive

    # -- three ways to begin ---------------------------------------------------------------------

    def whole(self, family: Family, setting: Setting, phase: str) -> tuple[Rows, int]:
        """All instances of a family."""
        made = plan_for(family, WHOLE, setting)
        rows: Rows = [None] * (family.width + 1)
        return self.follow(family, made, rows, 1, setting, phase)

    def changed(
        self,
        family: Family,
        pivot: int,
        batch: Batch,
        before: Setting,
        after: Setting,
        nots: Setting,
        nots_before: Setting,
        phase: str,
    ) -> tuple[Rows, int]:
        """The instances in which one item (the pivot) matches a fact of the batch.

        before, after             what atoms before and after the pivot are matched with
        nots_before, nots         what negations before and after it must not be in
        """
        count = len(family.body)
        negated = pivot >= count
        atom = family.nots[pivot - count] if negated else family.body[pivot]
        rows, n = self._start(family, atom, batch)
        if n == 0:
            return rows, 0
        made = plan_for(family, pivot, after)
        self.fetched += n
        self.families += 1
        for step in made.steps:
            if isinstance(step, AtomStep):
                if step.negated:
                    earlier = negated and step.item < pivot
                    setting = nots_before if earlier else nots
                else:
                    setting = before if negated or step.item < pivot else after
                rows, n = self._atom(step, rows, n, setting)
            elif isinstance(step, TableStep):
                rows, n = _table(family, step, rows, n)
            else:
                rows, n = self._compute(family, step, rows, n)
            if n == 0:
                return rows, 0
        self.instances[phase] += n
        return rows, n

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
        return self._start(family, family.head, {relation: keys}, numbered=True)

    def follow(
        self,
        family: Family,
        plan: Plan,
        rows: Rows,
        n: int,
        after: Setting,
        phase: str,
        nots: Setting | None = None,
    ) -> tuple[Rows, int]:
        """Go on from a frame by a plan; not counted without a phase."""
        self.families += 1
        nots = after if nots is None else nots
        for step in plan.steps:
            if isinstance(step, AtomStep):
                rows, n = self._atom(step, rows, n, nots if step.negated else after)
            elif isinstance(step, TableStep):
                rows, n = _table(family, step, rows, n)
            else:
                rows, n = self._compute(family, step, rows, n)
            if n == 0:
                return rows, 0
        if phase:
            self.instances[phase] += n
        return rows, n

    # -- the first frame -------------------------------------------------------------------------

    def _start(
        self, family: Family, atom: CompiledAtom, batch: Batch, numbered: bool = False
    ) -> tuple[Rows, int]:
        """The facts of a batch that match an atom, as a frame."""
        rows: Rows = [None] * (family.width + 1)
        sliced = False
        if atom.relation == ANY:
            columns, number = self._triples(batch)
        else:
            keys = batch.get(atom.relation)
            if keys is None or len(keys) == 0:
                return rows, 0
            first = atom.terms[0]
            number = None
            sliced = isinstance(atom.relation, int) and first < 0 and not numbered
            if sliced:
                lo = keys.searchsorted(np.uint64(-first << 32))  # a class: a slice of sorted keys
                keys = keys[lo : keys.searchsorted(np.uint64((1 - first) << 32))]
                if len(keys) == 0:
                    return rows, 0
            columns = columns_of(keys, len(atom.terms))
        n = len(columns[0])
        if numbered:
            rows[family.width] = np.arange(n, dtype=np.uint32) if number is None else number
        keep = None
        for place, term in enumerate(atom.terms):
            column = columns[place]
            if term < 0:
                if place == 0 and sliced:
                    continue
                same = column == np.uint32(-term)
            elif rows[term] is None:
                rows[term] = column
                continue
            else:
                same = column == rows[term]
            keep = same if keep is None else keep & same
        if keep is None or keep.all():
            return rows, n
        return [None if c is None else c[keep] for c in rows], int(np.count_nonzero(keep))

    def _triples(self, batch: Batch) -> tuple[Columns, U32 | None]:
        """All facts of two-column relations as (s, p, o)."""
        found = []
        for name, keys in batch.items():
            if isinstance(name, int):
                first, second = columns_of(keys, 2)
                p = np.full(len(keys), name, dtype=np.uint32)
                found.append((second, p, first) if name == self.type_id else (first, p, second))
        if not found:
            empty = np.empty(0, dtype=np.uint32)
            return (empty, empty, empty), None
        return tuple(np.concatenate(column) for column in zip(*found, strict=True)), None

    # -- steps -----------------------------------------------------------------------------------

    def _atom(self, step: AtomStep, rows: Rows, n: int, setting: Setting) -> tuple[Rows, int]:
        view = setting.view(step.atom.relation)
        if not step.free:  # a test
            first = step.bound[0][1]
            if first < 0 and isinstance(view, PairView):
                seen = view.contains_beside(-first, _column(rows, step.bound[1][1], n))
            else:
                seen = view.contains(tuple(_column(rows, term, n) for _, term in step.bound))
            self.fetched += n
            if step.negated:
                seen = ~seen
            return _where(rows, seen, step.keep, n)
        linked = [(place, term) for place, term in step.bound if term >= 0]
        if not linked:
            places = [place for place, _ in step.bound]
            free = view.scan(places, [-term for _, term in step.bound])
            size = len(free[0])
            self.fetched += size * n
            if self.check is not None:
                self.check(size * n)
            if n == 1 and not any(c is not None for c in rows):
                made: Rows = [None] * len(rows)
                index = None
            else:
                index = np.repeat(np.arange(n), size)
                free = tuple(np.tile(column, n) for column in free)
                made = _take(rows, index, step.keep)
            n *= size
        else:
            values = [_column(rows, term, n) for _, term in step.bound]
            index, free = view.probe([place for place, _ in step.bound], values)
            n = len(index)
            self.fetched += n
            if self.check is not None:
                self.check(n)
            made = _take(rows, index, step.keep)
        by_place = _by_place(step, free)
        for place, variable in step.free:
            made[variable] = by_place[place]
        if step.same:
            keep = np.ones(n, dtype=np.bool_)
            for one, other in step.same:
                keep &= by_place[one] == by_place[other]
            return _where(made, keep, (*step.keep, *(v for _, v in step.free)), n)
        return made, n

    def _compute(self, family: Family, step: ComputeStep, rows: Rows, n: int) -> tuple[Rows, int]:
        computation = step.computation
        names = tuple(family.variables[v] for v in computation.needs)
        columns = [_column(rows, v, n) for v in computation.needs]
        frame = Frame(names, columns, n)
        evaluator = self._evaluator(computation.expression)
        if computation.target < 0:
            return _where(rows, evaluator.condition(frame), step.keep, n)
        assert self.terms is not None
        values = self.terms.settle(evaluator.column(frame))
        given = rows[computation.target]
        if given is not None:
            return _where(rows, given == values, (*step.keep, computation.target), n)
        rows = list(rows)
        rows[computation.target] = values
        return _where(rows, values != 0, (*step.keep, computation.target), n)

    def _evaluator(self, expression: object) -> Evaluator:
        found = self._evaluators.get(id(expression))
        if found is None:
            assert self.terms is not None, "a program with expressions needs a dictionary"
            found = Evaluator(expression, Scope(self.terms))  # type: ignore[arg-type]
            self._evaluators[id(expression)] = found
        return found


def heads_of(family: Family, rows: Rows, n: int) -> list[tuple[RelationKey, Keys]]:
    """What the instances of a frame conclude, by relation: one but for a variable property."""
    head = family.head
    first, *rest = head.terms
    if first < 0 and len(rest) == 1 and head.relation != ANY:  # facts of one class
        return [(head.relation, beside(-first, _column(rows, rest[0], n)))]
    columns = [_column(rows, term, n) for term in head.terms]
    if head.relation != ANY:
        if len(columns) == 2:
            return [(head.relation, pack(columns[0], columns[1]))]
        return [(head.relation, key_of(columns))]
    raise AssertionError("a head with a variable property needs `triples_by_name`")


def triples_by_name(columns: Columns, type_id: int) -> list[tuple[RelationKey, Keys]]:
    """Triples (s, p, o) as keys of each property."""
    s, p, o = columns
    found: list[tuple[RelationKey, Keys]] = []
    for name in np.unique(p).tolist():
        mine = p == name
        first, second = (o[mine], s[mine]) if name == type_id else (s[mine], o[mine])
        found.append((name, pack(first, second)))
    return found


def conclude(family: Family, rows: Rows, n: int, type_id: int, heads: Heads) -> None:
    """Add what the instances of a frame conclude."""
    if n == 0:
        return
    if family.head.relation == ANY:
        columns = tuple(_column(rows, term, n) for term in family.head.terms)
        for name, keys in triples_by_name(columns, type_id):
            heads.put(name, keys)
        return
    for name, keys in heads_of(family, rows, n):
        heads.put(name, keys)


def body_facts(
    family: Family, item: int, rows: Rows, n: int, type_id: int
) -> list[tuple[RelationKey, Keys, I64 | None]]:
    """The facts that one atom of the body matched in the instances of a frame, by relation.

    With each come the rows of the frame they belong to (None for all, in their order).
    """
    atom = family.body[item]
    columns = tuple(_column(rows, term, n) for term in atom.terms)
    if atom.relation != ANY:
        return [(atom.relation, key_of(columns), None)]
    s, p, o = columns
    found: list[tuple[RelationKey, Keys, I64 | None]] = []
    for name in np.unique(p).tolist():
        mine = np.flatnonzero(p == name)
        first, second = (o[mine], s[mine]) if name == type_id else (s[mine], o[mine])
        found.append((name, pack(first, second), mine))
    return found


def _column(rows: Rows, term: int, n: int) -> U32:
    if term < 0:
        return np.full(n, -term, dtype=np.uint32)
    column = rows[term]
    assert column is not None
    return column


def _take(rows: Rows, index: I64, keep: tuple[int, ...]) -> Rows:
    made: Rows = [None] * len(rows)
    for variable in keep:
        column = rows[variable]
        if column is not None:
            made[variable] = column[index]
    return made


def _where(rows: Rows, mask: np.ndarray, keep: tuple[int, ...], n: int) -> tuple[Rows, int]:
    left = int(np.count_nonzero(mask))
    if left == n:
        return rows, n
    made: Rows = [None] * len(rows)
    if left:
        for variable in keep:
            column = rows[variable]
            if column is not None:
                made[variable] = column[mask]
    return made, left


def _by_place(step: AtomStep, free: Columns) -> dict[int, U32]:
    bound = {place for place, _ in step.bound}
    places = [place for place in range(len(step.atom.terms)) if place not in bound]
    return dict(zip(places, free, strict=True))


def _table(family: Family, step: TableStep, rows: Rows, n: int) -> tuple[Rows, int]:
    """Join a frame with the family's constants."""
    table = family.table
    assert table is not None
    columns = dict(zip(table.variables, table.columns, strict=True))
    if not step.bound:
        size = len(family.rules)
        empty = n == 1 and not any(c is not None for c in rows)
        made: Rows = (
            [None] * len(rows) if empty else _take(rows, np.repeat(np.arange(n), size), step.keep)
        )
        for variable in step.free:
            made[variable] = columns[variable] if empty else np.tile(columns[variable], n)
        return made, n * size
    index = family.plans.get(step.bound)
    if index is None:  # the table's rows as a relation, with their numbers in the last column
        index = family.plans[step.bound] = _TableIndex([columns[v] for v in step.bound])
    places, found = index.match([_column(rows, v, n) for v in step.bound])
    made = _take(rows, places, step.keep)
    for variable in step.free:
        made[variable] = columns[variable][found]
    return made, len(places)


class _TableIndex:
    """Rows of a table by some of its columns."""

    def __init__(self, columns: list[U32]) -> None:
        keys = key_of(columns)
        self.order = np.argsort(keys, kind="stable")
        self.keys = keys[self.order]

    def match(self, values: list[U32]) -> tuple[I64, I64]:
        """(number of the value, row of the table) for all pairs that are equal."""
        wanted = key_of(values)
        if len(self.keys) * 4 < len(wanted):
            return self._match_many(wanted)
        lo = self.keys.searchsorted(wanted)
        sizes = self.keys.searchsorted(wanted, side="right") - lo
        index = np.repeat(np.arange(len(wanted)), sizes)
        rows = np.arange(len(index)) + np.repeat(lo - (np.cumsum(sizes) - sizes), sizes)
        return index, self.order[rows]

    def _match_many(self, wanted: Keys) -> tuple[I64, I64]:
        """Where the values are mostly in order, as classes of a sorted batch are: run by run."""
        begins = np.flatnonzero(np.concatenate(([True], wanted[1:] != wanted[:-1])))
        if len(begins) * 4 > len(wanted):
            begins = np.arange(len(wanted))
        lengths = np.diff(begins, append=len(wanted))
        lo = self.keys.searchsorted(wanted[begins])
        sizes = self.keys.searchsorted(wanted[begins], side="right") - lo
        hit = sizes > 0
        lo, sizes, begins, lengths = lo[hit], sizes[hit], begins[hit], lengths[hit]
        # every row of a run meets every row of its range
        per_row = np.repeat(sizes, lengths)
        rows_at = np.arange(int(lengths.sum())) + np.repeat(
            begins - (np.cumsum(lengths) - lengths), lengths
        )
        index = np.repeat(rows_at, per_row)
        start = np.repeat(np.repeat(lo, lengths), per_row)
        offset = np.arange(len(index)) - np.repeat(np.cumsum(per_row) - per_row, per_row)
        return index, self.order[start + offset]
