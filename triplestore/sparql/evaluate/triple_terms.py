"""The triple terms of a store as one relation: term, subject, predicate, object.

Start at `TripleTerms`. A pattern `<<( ?s ?p ?o )>>` is a row of it, joined with the triple that has
the term; so any of its columns may be known. Always true: a term is one row; rows of terms that no
triple has are seen as well, and lost in that join. Look-ups use the sort of one column of each run
(`PartColumns.order`): (subject, object) together, since most look-ups of a subject know the object.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from triplestore.relations.packed_keys import I64, NO_IDS, U8, U32, Columns
from triplestore.relations.relation import BLOCK, Answering, in_order
from triplestore.relations.status import EXPLICIT, HOLDS
from triplestore.terms.dictionary import FIRST_QUERY_ID
from triplestore.terms.term_keys import TRIPLE
from triplestore.terms.triples.part_columns import NO_PARTS, PartColumns
from triplestore.terms.triples.split_triples import parts_of

if TYPE_CHECKING:
    from triplestore.expressions.query_terms import QueryTerms

_TERM, _SUBJECT, _PREDICATE, _OBJECT = range(4)
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def triple_terms(terms: QueryTerms) -> TripleTerms:
    """The triple terms of the dictionary of a query.

    Parts that the dictionary does not have (an older version wrote their terms) are terms of the
    query.
    """
    runs = terms.dictionary.triple_runs()
    if all(run.is_whole for run in runs):
        return TripleTerms(runs)
    inner: dict[int, bytes] = {}
    runs = [run if run.is_whole else _completed(run, terms, inner) for run in runs]
    return TripleTerms([*runs, _inner_terms(terms, inner)])


def _completed(run: PartColumns, terms: QueryTerms, inner: dict[int, bytes]) -> PartColumns:
    ids, *parts = (column.copy() for column in run.columns())
    for row in np.flatnonzero((parts[0] == 0) | (parts[1] == 0) | (parts[2] == 0)).tolist():
        found = _encoded(terms.dictionary.key(int(ids[row])), terms, inner)
        for column, part in zip(parts, found, strict=True):
            column[row] = part
    return PartColumns.of(ids, *parts)


def _encoded(key: bytes, terms: QueryTerms, inner: dict[int, bytes]) -> list[int]:
    """The ids of the parts of a triple term; those of the query that are triple terms are noted."""
    found = []
    for part in parts_of(key):
        found.append(terms.encode_key(part))
        if part[0] == TRIPLE and found[-1] >= FIRST_QUERY_ID:
            inner[found[-1]] = part
    return found


def _inner_terms(terms: QueryTerms, inner: dict[int, bytes]) -> PartColumns:
    """The triple terms that occur only within others, and those within them."""
    rows: dict[int, list[int]] = {}
    while inner:
        term_id, key = inner.popitem()
        if term_id not in rows:
            rows[term_id] = _encoded(key, terms, inner)
    ordered = sorted(rows)
    if not ordered:
        return NO_PARTS
    return PartColumns.of(ordered, *zip(*(rows[i] for i in ordered), strict=True))


class TripleTerms(Answering):
    """Rows (term, subject, predicate, object) of some runs, whose terms are distinct.

    >>> runs = [PartColumns.of([7, 9], [1, 1], [2, 2], [3, 7]), PartColumns.of([12], [1], [4], [3])]
    >>> index, free = TripleTerms(runs).probe([1, 3], [np.array([1], np.uint32), np.array([3])])
    >>> index.tolist(), [column.tolist() for column in free]
    ([0, 0], [[7, 12], [2, 4]])
    """

    __slots__ = ("_runs", "arity", "explicit", "inferred")

    def __init__(self, runs: Sequence[PartColumns]) -> None:
        self._runs = tuple(runs)
        self.arity = 4
        self.explicit = sum(map(len, runs))
        self.inferred = 0

    def count(self, where: int = HOLDS) -> int:
        """The number of rows: terms have no status."""
        return self.explicit

    def scan(
        self,
        where: int = HOLDS,
        *,
        order: int = 0,
        first: int | None = None,
        block_rows: int = BLOCK,
    ) -> Iterator[Columns]:
        """All rows in blocks of columns; see `Relation.scan`."""
        if first is None:
            columns = self._all_rows()
        else:
            index, free = self.probe([order], [np.array([first], np.uint32)])
            known = np.full(len(index), first, np.uint32)
            columns = (*free[:order], known, *free[order:])
        if order:
            sort = np.lexsort((columns[_TERM], columns[order]))
            columns = tuple(column[sort] for column in columns)
        for start in range(0, len(columns[0]), block_rows):
            yield tuple(column[start : start + block_rows] for column in columns)

    def _all_rows(self) -> Columns:
        if not self._runs:
            return (NO_IDS,) * 4
        if len(self._runs) == 1:
            return self._runs[0].columns()
        every = zip(*(run.columns() for run in self._runs), strict=True)
        return tuple(np.concatenate(each) for each in every)

    def probe(
        self, columns: Sequence[int], values: Sequence[U32], where: int = HOLDS
    ) -> tuple[I64, Columns]:
        """The rows with these values; see `Relation.probe`."""
        given = dict(zip(columns, values, strict=True))
        free = [place for place in range(4) if place not in given]
        parts = []
        for run in self._runs:
            index, rows, used = _candidates(run, given)
            for place in given.keys() - used:
                same = run.column(place)[rows] == given[place][index]
                index, rows = index[same], rows[same]
            if len(index):
                parts.append((index, tuple(run.column(place)[rows] for place in free)))
        return parts[0] if len(parts) == 1 else in_order(parts, len(free))

    def fanout(self, columns: Sequence[int], values: Sequence[U32]) -> I64:
        """For each i how many rows a probe looks at."""
        given = dict(zip(columns, values, strict=True))
        sizes = np.zeros(len(values[0]), np.int64)
        for run in self._runs:
            if _TERM in given:
                sizes += run.rows_of(given[_TERM]) >= 0
            else:
                _, lo, hi, _ = _ranges(run, given)
                sizes += hi - lo
        return sizes

    def status_of(self, rows: Columns) -> U8:
        """`EXPLICIT` for the rows that are here, 0 for others."""
        status = np.zeros(len(rows[0]), np.uint8)
        index, _ = self.probe(range(4), rows)
        status[index] = EXPLICIT
        return status

    def distinct(self, column: int, where: int = HOLDS) -> U32:
        """The ids that occur in this column, increasing."""
        return np.unique(np.concatenate([NO_IDS, *(run.column(column) for run in self._runs)]))

    def distinct_estimate(self, column: int) -> int:
        """The number of distinct ids in this column; too many if several runs have the same."""
        if column == _TERM:
            return len(self)
        return sum(run.distinct(column) for run in self._runs)


Given = dict[int, U32]


def _candidates(run: PartColumns, given: Given) -> tuple[I64, I64, set[int]]:
    """Positions of values and rows of the run that agree in some columns, and these columns."""
    if _TERM in given:
        rows = run.rows_of(given[_TERM])
        index = np.flatnonzero(rows >= 0)
        return index, rows[index], {_TERM}
    place, lo, hi, used = _ranges(run, given)
    counts = hi - lo
    index = np.repeat(np.arange(len(lo)), counts)
    steps = np.arange(len(index)) - np.repeat(np.cumsum(counts) - counts, counts)
    rows = run.order(place)[np.repeat(lo, counts) + steps].astype(np.int64)
    return index, rows, used


def _ranges(run: PartColumns, given: Given) -> tuple[int, I64, I64, set[int]]:
    """The best order for some columns, the range of it for each value, and the columns used."""
    if _SUBJECT in given:
        least = given[_SUBJECT].astype(np.uint64) << _HALF
        most, used = least | _LOW, {_SUBJECT}
        if _OBJECT in given:
            least = most = least | given[_OBJECT].astype(np.uint64)
            used = {_SUBJECT, _OBJECT}
        heads = run.heads(_SUBJECT)
        return _SUBJECT, heads.searchsorted(least), heads.searchsorted(most, "right"), used
    place = _OBJECT if _OBJECT in given else _PREDICATE
    heads, wanted = run.heads(place), given[place]
    return place, heads.searchsorted(wanted), heads.searchsorted(wanted, "right"), {place}
