"""All facts as one relation, with the predicate as a column.

Start reading at `AllFacts`: what a pattern with a variable as its predicate sees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

import numpy as np

from triplestore.relations.layers.sorted_order import SortedRun, filter_keys, newest
from triplestore.relations.packed_keys import (
    I64,
    NO_IDS,
    U8,
    U32,
    U64,
    Bools,
    Columns,
    distinct,
    high,
    least_keys,
    low,
)
from triplestore.relations.relation import BLOCK, Answering, by_name, in_order
from triplestore.relations.status import HOLDS
from triplestore.relations.tables import Tables
from triplestore.relations.views.plain import PlainRelation

SUBJECT, PREDICATE, OBJECT = 0, 1, 2

SAMPLE = 64
"""Rows that stand for a block when a scan by subject or object is cut into blocks."""


class AllFacts(Answering):
    """All facts of the default graph: rows (subject, predicate, object).

    A look-up by subject or object visits only the predicates in the terms' characteristic sets.
    A scan by predicate reads one relation after the other; one by subject or object merges them.
    """

    __slots__ = ("_names", "_tables")

    arity = 3

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._names: U32 | None = None

    def __len__(self) -> int:
        return self._tables.total()

    def __repr__(self) -> str:
        return f"<all facts: {len(self)} rows>"

    def names(self) -> U32:
        """The predicates, increasing."""
        if self._names is None:
            self._names = self._tables.names()
        return self._names

    def relations(self) -> Iterator[PlainRelation]:
        """The relation of each predicate, in their order."""
        return map(self._tables.relation, self.names().tolist())

    def count(self, where: int = HOLDS) -> int:
        """How many rows hold with one of these statuses: exact."""
        return self._tables.total(where)

    def known_different(self, column: int, where: int = HOLDS) -> int | None:
        """The exact number of distinct ids in a column, if it is kept; None if not.

        A layer knows the terms of its rows: if there is one layer, and all its rows are such facts,
        these are all terms.
        """
        if column == PREDICATE:
            return sum(one.count(where) > 0 for one in self.relations())
        tables = self._tables
        if type(tables) is not Tables or tables.schemes or len(tables.layers) != 1:
            return None
        (layer,) = tables.layers
        if len(layer.quads) or tables.total(where) != len(layer.facts):
            return None
        return int((layer.subjects if column == SUBJECT else layer.objects).terms)

    def scan(
        self,
        where: int = HOLDS,
        *,
        order: int = PREDICATE,
        first: int | None = None,
        block_rows: int = BLOCK,
    ) -> Iterator[Columns]:
        """All rows in blocks of columns; see `Relation.scan`. By predicate is cheapest."""
        if order == PREDICATE:
            return self._scan_names(where, first, block_rows)
        return self._scan_terms(where, order, first, block_rows)

    def _scan_names(self, where: int, first: int | None, block_rows: int) -> Iterator[Columns]:
        for name in self.names().tolist() if first is None else [first]:
            for subjects, objects in self._tables.relation(name).scan(where, block_rows=block_rows):
                yield subjects, np.full(len(subjects), name, dtype=np.uint32), objects

    def _scan_terms(
        self, where: int, order: int, first: int | None, block_rows: int
    ) -> Iterator[Columns]:
        """By subject or object: windows of ids, in each the rows of all predicates."""
        place = order // 2
        names = self.names() if first is None else self._tables.predicates_of_one(first, place)
        pieces: list[tuple[SortedRun, int, int]] = []
        name_of: dict[SortedRun, int] = {}
        for name in names.tolist():
            for run in self._tables.relation(name).runs(place):
                lo, hi = (run.lo, run.hi) if first is None else run.bounds(first)
                if lo < hi:
                    pieces.append((run, lo, hi))
                    name_of[run] = name
        for parts in _slabs(pieces, block_rows):
            found: list[tuple[U64, int]] = []
            for name, group in groupby(parts, lambda part: name_of[part[0]]):
                found.append((_held(list(group), where), name))
            rows = _sorted_rows(found, order, is_one=first is not None)
            for at in range(0, len(rows[0]), block_rows):
                subjects, predicates, objects = (column[at : at + block_rows] for column in rows)
                yield subjects, predicates, objects

    def probe(
        self, columns: Sequence[int], values: Sequence[U32], where: int = HOLDS
    ) -> tuple[I64, Columns]:
        """The rows with these values; see `Relation.probe`."""
        given = dict(zip(columns, values, strict=True))
        free = [place for place in range(3) if place not in given]
        found: list[tuple[I64, Columns]] = []
        for name, rows in self._work(given):
            part = [(place, given[place][rows]) for place in sorted(given) if place != PREDICATE]
            if part:
                probed = self._probe_one(name, part, where)
            else:
                probed = self._every_row(name, len(rows), where)
            here, others = probed
            if len(here) == 0:
                continue
            names = np.full(len(here), name, dtype=np.uint32)
            by_place = dict(zip([p for p in (SUBJECT, OBJECT) if p in free], others, strict=True))
            by_place[PREDICATE] = names
            found.append((rows[here], tuple(by_place[place] for place in free)))
        return in_order(found, len(free))

    def _probe_one(self, name: int, part: list[tuple[int, U32]], where: int) -> tuple[I64, Columns]:
        columns = [0 if place == SUBJECT else 1 for place, _ in part]
        return self._tables.relation(name).probe(columns, [value for _, value in part], where)

    def _every_row(self, name: int, times: int, where: int) -> tuple[I64, Columns]:
        """All rows of a predicate, for each of `times` values."""
        keys = self._tables.relation(name).keys(where=where)
        subjects, objects = high(keys), keys.astype(np.uint32)
        index = np.repeat(np.arange(times), len(keys))
        return index, (np.tile(subjects, times), np.tile(objects, times))

    def _work(self, given: dict[int, U32]) -> Iterator[tuple[int, I64]]:
        """(predicate, positions of the values that may have rows with it)."""
        if PREDICATE in given:
            names = given[PREDICATE]
            index = np.arange(len(names))
        else:
            role = 0 if SUBJECT in given else 1
            index, names = self._tables.predicates_of(given[SUBJECT if role == 0 else OBJECT], role)
        return by_name(index, names)

    def fanout(self, columns: Sequence[int], values: Sequence[U32]) -> I64:
        """For each i how many rows a probe looks at."""
        given = dict(zip(columns, values, strict=True))
        sizes = np.zeros(len(values[0]), dtype=np.int64)
        for name, rows in self._work(given):
            relation = self._tables.relation(name)
            part = [(place, given[place][rows]) for place in sorted(given) if place != PREDICATE]
            if part:
                places = [0 if place == SUBJECT else 1 for place, _ in part]
                np.add.at(sizes, rows, relation.fanout(places, [value for _, value in part]))
            else:
                np.add.at(sizes, rows, relation.stored_rows)
        return sizes

    def rows_with(self, column: int, value: int) -> int:
        """How many rows a look-up of one id in a column reads."""
        if column == PREDICATE:
            return self._tables.relation(value).stored_rows
        relation, place = self._tables.relation, column // 2
        names = self._tables.predicates_of_one(value, place).tolist()
        return sum([relation(name).rows_with(place, value) for name in names])

    def status_of(self, rows: Columns) -> U8:
        """The statuses of these rows; 0 for those that do not hold."""
        return self._tables.status_of_facts(rows[PREDICATE], rows[SUBJECT], rows[OBJECT])

    def semijoin(self, column: int, ids: U32, where: int = HOLDS) -> Bools:
        """Which of `ids` occur in this column."""
        occurs = np.zeros(len(ids), dtype=np.bool_)
        given = {column: ids}
        for name, rows in self._work(given):
            relation = self._tables.relation(name)
            if column == PREDICATE:
                occurs[rows] = relation.count(where) > 0
            else:
                places = rows[~occurs[rows]]
                occurs[places] = relation.semijoin(column // 2, ids[places], where)
        return occurs

    def distinct(self, column: int, where: int = HOLDS) -> U32:
        """The ids that occur in this column, increasing."""
        names = self.names().tolist()
        if column == PREDICATE:
            held = [self._tables.relation(name).count(where) > 0 for name in names]
            return self.names()[np.array(held, dtype=np.bool_)]
        found = [self._tables.relation(name).distinct(column // 2, where) for name in names]
        return distinct(np.sort(np.concatenate(found))) if found else NO_IDS

    def distinct_estimate(self, column: int) -> int:
        """About how many ids occur in this column."""
        if column == PREDICATE:
            return self._tables.most_names()
        layers = self._tables.layers
        sets = [ly.subjects if column == SUBJECT else ly.objects for ly in layers]
        return min(len(self), sum(found.terms for found in sets))


def _slabs(
    pieces: list[tuple[SortedRun, int, int]], block_rows: int
) -> Iterator[list[tuple[SortedRun, int, int]]]:
    """Cut many runs at the same ids, so that their parts between two cuts have together about
    `block_rows` rows. Parts without rows are left out.

    Cuts are taken from sampled rows: one search per run, not one per run and slab.
    """
    total = sum(hi - lo for _, lo, hi in pieces)
    if total <= block_rows:
        if pieces:
            yield pieces
        return
    step = max(1, block_rows // SAMPLE)
    # Short runs are sampled too: each starts somewhere else in its first step.
    sampled = [
        high(run.keys.take(np.arange(lo + number * 7919 % step, hi, step)))
        for number, (run, lo, hi) in enumerate(pieces)
    ]
    heads = np.sort(np.concatenate(sampled))
    cuts = least_keys(np.unique(heads[SAMPLE::SAMPLE]))
    by_slab: list[list[tuple[SortedRun, int, int]]] = [[] for _ in range(len(cuts) + 1)]
    for run, lo, hi in pieces:
        ends = [lo, *run.keys.search_many(cuts, lo, hi).tolist(), hi]
        for slab, (start, stop) in enumerate(pairwise(ends)):
            if start < stop:
                by_slab[slab].append((run, start, stop))
    yield from (parts for parts in by_slab if parts)


def _held(parts: list[tuple[SortedRun, int, int]], where: int) -> U64:
    """The keys of these parts of the runs of one relation that have one of these statuses."""
    run, lo, hi = parts[0]
    if len(parts) == 1 and (run.uniform or 0) & where:
        return run.keys[lo:hi]
    return filter_keys(
        *newest([(run.keys[lo:hi], run.statuses(lo, hi)) for run, lo, hi in parts]), where
    )


def _sorted_rows(found: list[tuple[U64, int]], order: int, is_one: bool) -> Columns:
    """Rows (subject, predicate, object), in this order, of keys given predicate by predicate.

    is_one  True if the rows have one subject, or one object
    """
    keys = np.concatenate([keys for keys, _ in found])
    names = np.repeat(array_of([name for _, name in found]), [len(keys) for keys, _ in found])
    heads, tails = high(keys), low(keys)
    if order == SUBJECT:
        # Within a predicate the objects of a subject are sorted already.
        if is_one:
            return heads, names, tails
        sort = np.lexsort((names, heads))
        return heads[sort], names[sort], tails[sort]
    sort = np.argsort(keys, kind="stable")
    return tails[sort], names[sort], heads[sort]


def array_of(values: list[int]) -> U32:
    """A column of ids from Python ints."""
    return np.array(values, dtype=np.uint32)
