"""Counts solutions without making them: a join of patterns multiplies numbers.

Start at `Counted`. Where two parts of a pattern share one variable only, the number of their
solutions with a value is the product of the two numbers with it. So each part gives `Weights` of
the variable by which it hangs on the rest, down to the rows of relations, whose runs are counted.
OPTIONAL, MINUS, EXISTS and UNION are ways of combining two numbers, and a filter looks at each
distinct value once. `plan/counting.py` says which patterns are counted so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, ClassVar, cast

import numpy as np

from triplestore.errors import UsageError
from triplestore.expressions.library.numbers import INTEGER
from triplestore.expressions.query_terms import QueryTerms
from triplestore.expressions.vectors import Numbers, ids_of
from triplestore.operators.context import Context
from triplestore.operators.frame import ID, Array, Frame
from triplestore.operators.leaves import Scan, slices
from triplestore.operators.operator import Account, Blocks, Operator, Text, shown, variables
from triplestore.operators.weights import (
    Match,
    Weights,
    chosen,
    counted,
    counted_among,
    joined,
    ones,
    summed,
    summed_rows,
)
from triplestore.relations.packed_keys import I64, U32, U64, distinct, pack
from triplestore.relations.views.closed import ClosedRelation
from triplestore.relations.views.plain import PlainRelation
from triplestore.relations.views.virtual import AllFacts
from triplestore.sparql.thresholds import SPARQL

_MOST = (1 << 63) - 1


class Part(ABC):
    """A part of a pattern, seen from one variable.

    name      the variable
    estimate  about how many ids it has
    """

    name: str
    estimate: float

    @abstractmethod
    def weigh(self, account: Account, among: U32 | None = None) -> Weights:
        """The numbers of solutions. Only those of `among` are needed, if it is given (sorted)."""

    @abstractmethod
    def scans(self) -> Iterator[Scan]:
        """The relations that it reads."""

    def total(self, account: Account) -> int:
        """The number of all solutions."""
        return self.weigh(account).total()

    def different(self, account: Account) -> int:
        """The number of distinct ids."""
        return len(self.weigh(account).ids)


class Rows(Part):
    """The rows of a triple pattern of which nothing but this variable and constants matters.

    once  each id counts once, however many rows it has
    """

    def __init__(self, name: str, scan: Scan, estimate: float, *, once: bool = False) -> None:
        self.name, self.scan, self.estimate = name, scan, estimate
        self._place = scan.pattern.index(name)
        self._once = once

    def scans(self) -> Iterator[Scan]:
        """The only one."""
        yield self.scan

    def weigh(self, account: Account, among: U32 | None = None) -> Weights:
        """The runs of the sorted rows."""
        made = self._weighed(account, among)
        made = ones(made.ids) if self._once else made
        self.scan.statistics.calls += 1
        self.scan.statistics.rows += len(made.ids)
        return made

    def total(self, account: Account) -> int:
        """The number of rows, which relations know."""
        if any(isinstance(entry, int) for entry in self.scan.pattern):
            return super().total(account)
        relation = self.scan.relation
        if isinstance(relation, AllFacts):
            return sum(one.count(self.scan.where) for one in relation.relations())
        return relation.count(self.scan.where)

    def different(self, account: Account) -> int:
        """The number of ids, which relations may know."""
        known = None
        if not any(isinstance(entry, int) for entry in self.scan.pattern):
            known = _known_different(self.scan.relation, self._place, self.scan.where)
        return super().different(account) if known is None else known

    def _weighed(self, account: Account, among: U32 | None) -> Weights:
        relation, where, place = self.scan.relation, self.scan.where, self._place
        given = [at for at, entry in enumerate(self.scan.pattern) if isinstance(entry, int)]
        if isinstance(relation, AllFacts):
            return _of_all(relation, place, where, account)
        if given:
            first = cast("int", self.scan.pattern[given[0]])
            if among is not None and _is_few(among, self.estimate):
                rows = (among, np.full(len(among), first, np.uint32))
                held = relation.contains(rows if place == 0 else rows[::-1], where)
                return ones(among[held])
            blocks = [block[place] for block in relation.scan(where, order=1 - place, first=first)]
            return ones(np.concatenate(blocks) if blocks else np.empty(0, np.uint32))
        if among is not None and _is_few(among, len(relation)):
            numbers = _numbers_of(relation, place, among, where, account)
            return chosen(Weights(among, numbers), numbers > 0)
        if isinstance(relation, ClosedRelation):
            ids = relation.distinct(place, where)
            return Weights(ids, _numbers_of(relation, place, ids, where, account))
        return counted(_keys(relation, where, place), _most(relation, place), account)


class Through(Part):
    """The rows of a triple pattern, each as often as the other end has solutions."""

    def __init__(self, name: str, scan: Scan, other: Part, estimate: float) -> None:
        self.name, self.scan, self.other = name, scan, other
        self.estimate = min(estimate, scan.estimate)
        self._place = scan.pattern.index(name)

    def scans(self) -> Iterator[Scan]:
        """Its own, and those behind."""
        yield self.scan
        yield from self.other.scans()

    def weigh(self, account: Account, among: U32 | None = None) -> Weights:
        """The sums over the rows; the smaller end is looked up."""
        relation, where, place = self.scan.relation, self.scan.where, self._place
        self.scan.statistics.calls += 1
        if among is not None and _is_few(among, len(relation)):
            at, others = _probed(relation, place, among, where, account)
            behind = self.other.weigh(account, distinct(np.sort(others)))
            return summed_rows(among[at], others, behind)
        behind = self.other.weigh(account)
        if _is_few(behind.ids, len(relation)):
            at, firsts = _probed(relation, 1 - place, behind.ids, where, account)
            return summed_rows(firsts, behind.ids[at], behind)
        keys, most = _keys(relation, where, place), _most(relation, place)
        return summed(keys, most, len(relation), behind, account)


class Together(Part):
    """Parts that share a variable, and filters of it."""

    def __init__(
        self,
        name: str,
        parts: Sequence[tuple[Part, Match]],
        filters: Sequence[Callable[[Frame], Array]] = (),
    ) -> None:
        inner = [(part, how) for part, how in parts if how == "inner"]
        inner.sort(key=lambda pair: pair[0].estimate)
        self.name = name
        self._parts = inner + [(part, how) for part, how in parts if how != "inner"]
        self._filters = filters
        self.estimate = inner[0][0].estimate

    def scans(self) -> Iterator[Scan]:
        """Those of all parts."""
        for part, _ in self._parts:
            yield from part.scans()

    def weigh(self, account: Account, among: U32 | None = None) -> Weights:
        """The products, beginning with the smallest part."""
        (first, _), *others = self._parts
        made = first.weigh(account, among)
        for part, how in others:
            if not len(made.ids):
                break
            made = joined(made, part.weigh(account, made.ids), how, account)
        for holds in self._filters:
            made = chosen(made, holds(Frame((self.name,), (made.ids,), len(made.ids))))
        return made


class Either(Part):
    """The solutions of several parts of a UNION."""

    def __init__(self, name: str, parts: Sequence[Part]) -> None:
        self.name, self._parts = name, parts
        self.estimate = sum(part.estimate for part in parts)

    def scans(self) -> Iterator[Scan]:
        """Those of all parts."""
        for part in self._parts:
            yield from part.scans()

    def total(self, account: Account) -> int:
        """The sum."""
        return sum(part.total(account) for part in self._parts)

    def weigh(self, account: Account, among: U32 | None = None) -> Weights:
        """The sums."""
        first, *others = self._parts
        made = first.weigh(account, among)
        for part in others:
            made = joined(made, part.weigh(account, among), "union", account)
        return made


class Counted(Operator):
    """The numbers of solutions of a pattern, and of the distinct values of one variable.

    by       the column of the groups, if there are groups: they are the values of the variable
    columns  the other columns; True for a number of distinct values
    """

    kind: ClassVar[str] = "count"

    def __init__(
        self,
        part: Part,
        by: str | None,
        columns: Sequence[tuple[str, bool]],
        terms: QueryTerms,
        text: Text = "",
    ) -> None:
        names = (*(() if by is None else (by,)), *(name for name, _ in columns))
        super().__init__(
            names,
            (ID,) * len(names),
            tuple(part.scans()),
            unique=True,
            order=() if by is None else (by,),
            estimate=1.0 if by is None else part.estimate,
        )
        self.part = part
        self.by = by
        self._columns = tuple(columns)
        self._terms = terms
        self._text = text

    def detail(self) -> str:
        """The variable that holds the pattern together."""
        return f"{variables((self.part.name,))} {shown(self._text)}".strip()

    def _open(self, context: Context) -> Blocks:
        account = self._account(context)
        if self.by is not None:
            found = self.part.weigh(account)
            made = [self._ids(found.numbers) for _ in self._columns]
            frame = Frame(self.names, [found.ids, *made], len(found.ids), self.order, True)
        else:
            frame = Frame(self.names, [self._ids(n) for n in self._numbers(account)], 1, (), True)
        if frame.rows <= context.block_rows:
            return (frame,) if frame.rows else ()
        return slices(frame, context.block_rows)

    def _numbers(self, account: Account) -> Iterator[Array]:
        kinds = {is_distinct for _, is_distinct in self._columns}
        if len(kinds) > 1:
            found = self.part.weigh(account)
            known = {False: found.total(), True: len(found.ids)}
        elif kinds == {True}:
            known = {True: self.part.different(account)}
        else:
            known = {False: self.part.total(account)}
        for _, is_distinct in self._columns:
            yield np.array([known[is_distinct]], object)

    def _ids(self, numbers: Array) -> U32:
        if numbers.dtype == object:
            if max(numbers, default=0) > _MOST:
                raise UsageError(
                    f"COUNT: over {_MOST:,} solutions, which is more than 64 bits hold"
                )
            numbers = numbers.astype(np.int64)
        return ids_of(Numbers(INTEGER, numbers), self._terms)


# --- relations -----------------------------------------------------------------------------------


def _is_few(ids: U32, rows: float) -> bool:
    """True if looking up ids takes less than reading rows."""
    return len(ids) * SPARQL.counted_lookup_cost < rows


def _keys(relation: Any, where: int, place: int) -> Iterator[U64]:
    """The rows as packed keys, sorted, with the id of this column in front."""
    if isinstance(relation, PlainRelation):
        return relation.scan_keys(where, order=place)
    return (pack(block[place], block[1 - place]) for block in relation.scan(where, order=place))


def _most(relation: Any, place: int) -> int:
    """Maximum number of distinct ids in a column."""
    if type(relation) is PlainRelation:
        return int(relation.distinct_estimate(place))
    return len(relation)


def _known_different(relation: Any, place: int, where: int) -> int | None:
    """The exact number of distinct ids of a column, where the tables keep it."""
    if isinstance(relation, AllFacts):
        return relation.known_different(place, where)
    if type(relation) is PlainRelation and relation.count(where) == relation.stored_rows:
        return relation.distinct_estimate(place) if len(relation.runs(place)) == 1 else None
    return None


def _numbers_of(relation: Any, place: int, ids: U32, where: int, account: Account) -> I64:
    """The number of rows with each of these ids."""
    account.charge(16 * len(ids))
    if type(relation) is PlainRelation:
        runs = relation.runs(place)
        if len(runs) == 1 and (runs[0].uniform or 0) & where:
            first, last = runs[0].bounds_many(ids)
            return last - first
    numbers = np.zeros(len(ids), np.int64)
    for at, _ in relation.probe_blocks((place,), (ids,), where):
        account.check()
        numbers += np.bincount(at, minlength=len(ids))
    return numbers


def _probed(relation: Any, place: int, ids: U32, where: int, account: Account) -> tuple[I64, U32]:
    """The rows with these ids: their positions in `ids`, and the other column."""
    found: list[tuple[I64, U32]] = []
    for at, (others,) in relation.probe_blocks((place,), (ids,), where):
        account.check()
        account.charge(12 * len(at))
        found.append((at, others))
    if not found:
        return np.zeros(0, np.int64), np.zeros(0, np.uint32)
    index, others = (np.concatenate(column) for column in zip(*found, strict=True))
    return index, others


def _of_all(relation: AllFacts, place: int, where: int, account: Account) -> Weights:
    """The subjects, predicates or objects of all facts."""
    if place == 1:
        names, relations = relation.names(), list(relation.relations())
        numbers = np.array([one.count(where) for one in relations], np.int64)
        return chosen(Weights(names, numbers), numbers > 0)
    size = 1 + max((_last(one, place // 2) for one in relation.relations()), default=0)
    every = (_keys(one, where, place // 2) for one in relation.relations())
    return counted_among(chain.from_iterable(every), size, account)


def _last(relation: PlainRelation, order: int) -> int:
    """The greatest id of a column."""
    return max((run.keys.at(run.hi - 1) >> 32 for run in relation.runs(order)), default=0)
