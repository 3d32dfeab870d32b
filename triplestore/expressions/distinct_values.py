"""The distinct values of the variables of an expression, so that each is computed once.

Start at `DistinctValues`. `combinations` finds the distinct rows of several of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from triplestore.expressions.query_terms import QueryTerms
from triplestore.expressions.vectors import Ids, Vector, coded, of_column
from triplestore.operators.frame import ID, Array, Frame
from triplestore.operators.row_keys import distinct_ids

CHUNK_BYTES = 1 << 20
"""Maximum number of bytes of values between two checks of the limits; at most 1,024 values."""


def keys_of_column(frame: Frame, name: str, terms: QueryTerms) -> list[bytes | None]:
    """The keys of a column; None for each row if the frame does not have it."""
    if name not in frame.names:
        return [None] * frame.rows
    values = frame[name]
    if values.dtype == ID:
        return terms.keys(values)
    made = coded(of_column(values), terms)
    return [made.keys[code] for code in made.codes.tolist()]


class DistinctValues:
    """The distinct values of a variable; keys are made when needed.

    codes    for each row, the number of its value
    size     the number of values
    lengths  the number of bytes of each value
    """

    __slots__ = ("_ids", "_keys", "_terms", "codes", "lengths", "size")

    def __init__(self, vector: Vector, terms: QueryTerms) -> None:
        self._terms = terms
        if isinstance(vector, Ids):
            self._ids, self.codes = distinct_ids(vector.ids)
            self.size = len(self._ids)
            self.lengths = terms.lengths(self._ids)
            self._keys: list[bytes | None] | None = None
        else:
            made = coded(vector, terms)
            self._keys, self.codes = made.keys, made.codes
            self.size = len(made.keys)
            lengths = (0 if key is None else len(key) for key in made.keys)
            self.lengths = np.fromiter(lengths, np.int64, self.size)

    def keys(self, codes: Array) -> list[bytes | None]:
        """The keys of some values."""
        if self._keys is not None:
            return [self._keys[code] for code in codes.tolist()]
        if len(codes) == 1 or (codes[1:] > codes[:-1]).all():
            return self._terms.keys(self._ids[codes])
        distinct, places = np.unique(codes, return_inverse=True)
        found = self._terms.keys(self._ids[distinct])
        return [found[place] for place in places.tolist()]


def chunks(lengths: list[Array]) -> Iterator[tuple[int, int]]:
    """Ranges of rows whose values are computed between two checks of the limits."""
    rows = len(lengths[0])
    ends = np.cumsum(sum(lengths) + CHUNK_BYTES // 1024)
    start = 0
    while start < rows:
        before = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, before + CHUNK_BYTES, "right")), start + 1)
        yield start, stop
        start = stop


def combinations(inputs: list[DistinctValues]) -> tuple[Array, Array]:
    """One row for each distinct combination of values, and each row's combination."""
    combined = inputs[0].codes
    size = inputs[0].size
    for one in inputs[1:]:
        if size * one.size >= 1 << 62:
            distinct, combined = np.unique(combined, return_inverse=True)
            size = len(distinct)
        combined = combined * one.size + one.codes
        size *= one.size
    _, rows, places = np.unique(combined, return_index=True, return_inverse=True)
    return rows, places
