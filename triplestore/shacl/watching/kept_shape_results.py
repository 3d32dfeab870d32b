"""The results of one shape, from commit to commit: start at `KeptShapeResults`.

They begin as columns of ids. The results of a focus node that a commit concerns are listed beside
these from then on. Always true: what a commit costs depends on the focus nodes that it concerns,
not on the number of results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from triplestore.expressions.query_terms import QueryTerms
from triplestore.relations.packed_keys import NO_IDS, U32
from triplestore.shacl.evaluate.found import Found
from triplestore.shacl.reports.rows import ResultRow, rows_of
from triplestore.shacl.vocabulary import Key
from triplestore.terms.dictionary import FIRST_QUERY_ID


class KeptShapeResults:
    """The results of one shape with targets.

    focus  its focus nodes, to whose places the results refer
    """

    def __init__(self, focus: U32, found: Sequence[Found], terms: QueryTerms) -> None:
        self._terms = terms
        self._listed: dict[Key, list[ResultRow]] = {}
        self._replaced: set[int] = set()
        places = np.unique(np.concatenate([each.index for each in found])) if found else None
        self._focus = NO_IDS if places is None else focus[places]
        self._found = [
            each.take(np.arange(len(each)), places.searchsorted(each.index))
            for each in found
            if places is not None
        ]
        # Nodes that the data lack get other ids when they come.
        for place in np.flatnonzero(self._focus >= FIRST_QUERY_ID).tolist():
            self._listed[terms.key(int(self._focus[place]))] = self._at(place)
            self._replaced.add(place)

    def _at(self, place: int) -> list[ResultRow]:
        rows: list[ResultRow] = []
        for each in self._found:
            start, stop = each.index.searchsorted([place, place + 1]).tolist()
            if start < stop:
                rows += rows_of(each, self._terms, start, stop)
        return rows

    def _place(self, node: int) -> int | None:
        place = int(self._focus.searchsorted(np.uint32(node)))
        found = place < len(self._focus) and self._focus[place] == node
        return place if found and place not in self._replaced else None

    def of(self, key: Key, node: int) -> list[ResultRow]:
        """The results of a focus node, given by its key and its id."""
        listed = self._listed.get(key)
        if listed is not None:
            return listed
        place = self._place(node)
        return [] if place is None else self._at(place)

    def replace(self, key: Key, node: int, rows: list[ResultRow]) -> None:
        """Note the results that a focus node has now."""
        place = self._place(node)
        if place is not None:
            self._replaced.add(place)
        if rows:
            self._listed[key] = rows
        else:
            self._listed.pop(key, None)

    def __iter__(self) -> Iterator[ResultRow]:
        replaced = np.array(sorted(self._replaced), np.int64)
        for each in self._found:
            rows = np.flatnonzero(~np.isin(each.index, replaced)) if len(replaced) else None
            kept = each if rows is None else each.take(rows, each.index[rows])
            yield from rows_of(kept, self._terms)
        for listed in self._listed.values():
            yield from listed
