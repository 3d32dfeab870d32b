"""All quads of named graphs as one relation of four columns: subject, predicate, object, graph.

Start at `AllQuads`. GRAPH ?g reads it if the predicate is a variable, as GRAPH with one graph reads
`relations.views.virtual.AllFacts`. Always true: look-ups by subject or object visit only
the predicates that the term occurs with; scans without a constant go predicate by predicate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from triplestore.relations.packed_keys import I64, NO_IDS, U8, U32, Columns
from triplestore.relations.relation import BLOCK, Answering, by_name, in_order
from triplestore.relations.status import HOLDS

if TYPE_CHECKING:
    from triplestore.relations import Tables

SUBJECT, PREDICATE, OBJECT, GRAPH = 0, 1, 2, 3
_OF_QUADS = {SUBJECT: 0, OBJECT: 1, GRAPH: 2}
"""The place of a column in the relation of one predicate."""


class AllQuads(Answering):
    """All quads of named graphs: rows (subject, predicate, object, graph).

    >>> from triplestore.relations import ChangedRows, Changes, Layer, Tables
    >>> quads = ChangedRows.of(([8, 9], [1, 2], [5, 6], [70, 71]))
    >>> every = AllQuads(Tables([Layer.build(Changes(quads=quads))]))
    >>> [[column.tolist() for column in block] for block in every.scan(first=2, order=0)]
    [[[2], [9], [6], [71]]]
    """

    __slots__ = ("_tables",)

    arity = 4

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def __len__(self) -> int:
        return self._tables.quad_total()

    def count(self, where: int = HOLDS) -> int:
        """The exact number of quads with one of these statuses."""
        return self._tables.quad_total(where)

    def scan(
        self,
        where: int = HOLDS,
        *,
        order: int = PREDICATE,
        first: int | None = None,
        block_rows: int = BLOCK,
    ) -> Iterator[Columns]:
        """Rows in blocks, sorted by column `order`, then by the others; see `Relation.scan`."""
        if order == PREDICATE:
            names = self._tables.quad_names().tolist() if first is None else [first]
            for name in names:
                for s, o, g in self._tables.quads(name).scan(where, block_rows=block_rows):
                    yield s, np.full(len(s), name, np.uint32), o, g
            return
        if first is None:
            blocks = list(self.scan(where))
            rows = _joined(blocks)
        else:
            index, free = self.probe((order,), (np.array([first], np.uint32),), where)
            columns = list(free)
            columns.insert(order, np.full(len(index), first, np.uint32))
            rows = tuple(columns)
        others = [place for place in (3, 2, 1, 0) if place != order]
        by = np.lexsort([*(rows[place] for place in others), rows[order]])
        for at in range(0, len(by), block_rows):
            part = by[at : at + block_rows]
            yield tuple(column[part] for column in rows)

    def probe(
        self, columns: Sequence[int], values: Sequence[U32], where: int = HOLDS
    ) -> tuple[I64, Columns]:
        """The rows with these values; see `Relation.probe`."""
        given = dict(zip(columns, values, strict=True))
        free = [place for place in range(4) if place not in given]
        found: list[tuple[I64, Columns]] = []
        for name, rows in self._work(given):
            index, by_place = self._of_predicate(name, rows, given, where)
            by_place[PREDICATE] = np.full(len(index), name, np.uint32)
            found.append((rows[index], tuple(by_place[place] for place in free)))
        return in_order(found, len(free))

    def _of_predicate(
        self, name: int, rows: I64, given: dict[int, U32], where: int
    ) -> tuple[I64, dict[int, U32]]:
        """The quads of one predicate for some of the given values, by column."""
        relation = self._tables.quads(name)
        part = {place: given[place][rows] for place in given if place != PREDICATE}
        if not part:
            s, o, g = _joined(list(relation.scan(where)), 3)
            index = np.repeat(np.arange(len(rows)), len(s))
            return index, {
                SUBJECT: np.tile(s, len(rows)),
                OBJECT: np.tile(o, len(rows)),
                GRAPH: np.tile(g, len(rows)),
            }
        if len(part) == 3:
            asked = part[SUBJECT], part[OBJECT], part[GRAPH]
            return np.flatnonzero(relation.contains(asked, where)), {}
        places = [_OF_QUADS[place] for place in part]
        index, others = relation.probe(places, list(part.values()), where)
        free = [place for place in (SUBJECT, OBJECT, GRAPH) if place not in part]
        return index, dict(zip(free, others, strict=True))

    def _work(self, given: dict[int, U32]) -> Iterator[tuple[int, I64]]:
        """(predicate, positions of the values that may have quads with it)."""
        if PREDICATE in given:
            names = given[PREDICATE]
            index = np.arange(len(names))
        elif SUBJECT in given or OBJECT in given:
            place = SUBJECT if SUBJECT in given else OBJECT
            index, names = self._tables.predicates_of(given[place], 0 if place == SUBJECT else 1)
        else:
            rows = np.arange(len(given[GRAPH]))
            for name in self._tables.quad_names().tolist():
                yield name, rows
            return
        yield from by_name(index, names)

    def fanout(self, columns: Sequence[int], values: Sequence[U32]) -> I64:
        """For each i, the number of rows that a probe visits."""
        given = dict(zip(columns, values, strict=True))
        sizes = np.zeros(len(values[0]), np.int64)
        for name, rows in self._work(given):
            relation = self._tables.quads(name)
            part = {place: given[place][rows] for place in given if place != PREDICATE}
            if len(part) == 3:
                np.add.at(sizes, rows, 1)
            elif part:
                places = [_OF_QUADS[place] for place in part]
                np.add.at(sizes, rows, relation.fanout(places, list(part.values())))
            else:
                np.add.at(sizes, rows, len(relation))
        return sizes

    def status_of(self, rows: Columns) -> U8:
        """The statuses of these rows; 0 for those that do not hold."""
        subjects, predicates, objects, graphs = rows
        if len(predicates) == 0:
            return np.zeros(0, np.uint8)
        return self._tables.status_of_quads(predicates, subjects, objects, graphs)

    def distinct_estimate(self, column: int) -> int:
        """The approximate number of distinct ids in this column."""
        if column == PREDICATE:
            return len(self._tables.quad_names())
        if column == GRAPH:
            return len(self._tables.graphs())
        sets = [ly.subjects if column == SUBJECT else ly.objects for ly in self._tables.layers]
        return min(len(self), sum(found.terms for found in sets))


def _joined(blocks: list[Columns], arity: int = 4) -> Columns:
    if not blocks:
        return (NO_IDS,) * arity
    return tuple(np.concatenate([block[place] for block in blocks]) for place in range(arity))
