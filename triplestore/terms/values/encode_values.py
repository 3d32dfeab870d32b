"""The value entries of many terms at once: a kernel for the common shapes, xsd.py for the rest.

Start at `encode_rows`. Always true: the result is that of `value_keys.entry_of` for each term,
whichever way it is computed. Costs about 0.1 µs per typed literal by the kernel, 10 µs for those
that the kernel leaves (rare types, more digits than a double holds, dubious text). Small inputs
stay in plain Python, so that they never import numba. `ValueColumn` is what readers see: the marks
and keys of some terms, zero where a term has no value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.kernels.terms.value_keys import DECIMAL, LEFT, NO_DETAIL, ROUND, encode_typed
from triplestore.terms.thresholds import TERMS
from triplestore.terms.values.value_keys import (
    CLASS_OF,
    DATATYPES,
    EXACT,
    NOTHING,
    ONLY_TERM,
    SPACE_OF,
    TYPED,
    doubles_of,
    entry_of,
    keys_of_doubles,
    round_to_floats,
)
from triplestore.terms.values.xsd import INTEGER_RANGES, RDF, Space

U8: TypeAlias = NDArray[np.uint8]
U16: TypeAlias = NDArray[np.uint16]
U32: TypeAlias = NDArray[np.uint32]
U64: TypeAlias = NDArray[np.uint64]
I64: TypeAlias = NDArray[np.int64]


class Encoded(NamedTuple):
    """Entries of terms, as columns; all zero where a term has no value."""

    marks: U8
    keys: U64
    details: U16

    def take(self, at: Any) -> Encoded:
        """The entries at some positions, or of a slice."""
        return Encoded(self.marks[at], self.keys[at], self.details[at])


def encode_rows(buf: U8, starts: I64, lengths: I64, rows: I64) -> Encoded:
    """The entries of TYPED terms: those in `rows` of the texts that are slices of `buf`."""
    n = len(rows)
    encoded = Encoded(np.zeros(n, np.uint8), np.zeros(n, np.uint64), np.zeros(n, np.uint16))
    if n < TERMS.kernel_literals:
        _encode_each(_texts(buf, starts, lengths, rows), np.arange(n), encoded)
        return encoded
    for lo in range(0, n, TERMS.literal_rows):
        part = encoded.take(slice(lo, lo + TERMS.literal_rows))
        _encode_chunk(buf, starts, lengths, rows[lo : lo + TERMS.literal_rows], part)
    return encoded


def encode_texts(texts: list[bytes]) -> Encoded:
    """The entries of TYPED terms given by their texts."""
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    buf = np.frombuffer(b"".join(texts), dtype=np.uint8)
    return encode_rows(buf, np.cumsum(lengths) - lengths, lengths, np.arange(len(texts)))


def _encode_each(texts: list[bytes], at: I64, encoded: Encoded) -> None:
    """Plain Python, for the entries at these positions."""
    marks, keys, details = encoded
    for i, text in zip(at.tolist(), texts, strict=True):
        mark, key, detail = entry_of(text)
        marks[i] = mark
        keys[i] = key
        details[i] = NO_DETAIL if detail == ONLY_TERM else detail


def _encode_chunk(buf: U8, starts: I64, lengths: I64, rows: I64, encoded: Encoded) -> None:
    """By the kernel; then doubles become keys, and the terms that the kernel left are encoded."""
    marks, keys, details = encoded
    doubles = keys.view(np.float64)
    if encode_typed(buf, starts, lengths, rows, _NAMES, _LIMITS, marks, keys, doubles, details):
        at = np.flatnonzero(details == ROUND)
        _round_each(_texts(buf, starts, lengths, rows[at]), at, encoded)
    spaces = SPACE_OF[marks]
    _round_to_floats(np.flatnonzero(spaces == Space.FLOAT), encoded)
    numbers = np.flatnonzero((spaces > 0) & (spaces <= Space.DOUBLE))
    keys[numbers] = keys_of_doubles(doubles[numbers])
    left = np.flatnonzero(marks == LEFT)
    if len(left):
        _encode_each(_texts(buf, starts, lengths, rows[left]), left, encoded)


def _round_each(texts: list[bytes], at: I64, encoded: Encoded) -> None:
    """Numbers with more digits than fit a double: `float` rounds their numerals correctly."""
    marks, keys, details = encoded
    rounded = np.array([float(text[: text.rindex(b'"')]) for text in texts], dtype=np.float64)
    keys.view(np.float64)[at] = rounded
    details[at] = np.where(SPACE_OF[marks[at]] == Space.DECIMAL, NO_DETAIL, 0)
    marks[at[rounded == 0]] = LEFT


def _round_to_floats(at: I64, encoded: Encoded) -> None:
    """The doubles of xsd:float literals as floats, leaving those that this might round twice."""
    doubles = encoded.keys.view(np.float64)
    rounded, known = round_to_floats(doubles[at])
    doubles[at] = rounded
    encoded.marks[at[~known]] = LEFT


def _texts(buf: U8, starts: I64, lengths: I64, rows: I64) -> list[bytes]:
    ends = (starts[rows] + lengths[rows]).tolist()
    return [buf[i:j].tobytes() for i, j in zip(starts[rows].tolist(), ends, strict=True)]


def _table_of_names() -> U8:
    """Form, length and IRI of each datatype, for the kernel."""
    table = bytearray()
    for form, datatype in enumerate(DATATYPES):
        if form and DATATYPES.index(datatype) == form and datatype != RDF + "langString":
            table += bytes([form, len(datatype)]) + datatype.encode()
    return np.frombuffer(bytes(table), dtype=np.uint8)


def _table_of_limits() -> U64:
    """Greatest value, negated least value and whether there is a 0, for each integer form."""
    table = np.zeros((DECIMAL, 3), dtype=np.uint64)
    for form, (least, most) in enumerate(INTEGER_RANGES.values(), 1):
        table[form, 0] = 2**64 - 1 if most is None else max(most, 0)
        table[form, 1] = 2**64 - 1 if least is None else max(-least, 0)
        table[form, 2] = (least is None or least <= 0) and (most is None or most >= 0)
    return table.reshape(-1)


_NAMES = _table_of_names()
_LIMITS = _table_of_limits()


class ValueColumn(NamedTuple):
    """The values of some terms, one row for each; marks are 0 where a term has none."""

    marks: U8
    keys: U64

    @classmethod
    def of(cls, keys: Sequence[bytes]) -> ValueColumn:
        """The values of terms given by their term keys, such as the constants of a query."""
        rows = [entry_of(key[1:]) if key[0] == TYPED else NOTHING for key in keys]
        return cls(
            np.array([row.mark for row in rows], dtype=np.uint8),
            np.array([row.key for row in rows], dtype=np.uint64),
        )

    @property
    def classes(self) -> U8:
        """Their `Class`: keys compare inside one class."""
        return CLASS_OF[self.marks]

    @property
    def spaces(self) -> U8:
        """Their `Space`: the primitive value space."""
        return SPACE_OF[self.marks]

    @property
    def exact(self) -> NDArray[np.bool_]:
        """True where an equal exact key of the same space means an equal value, and vice versa."""
        exact: NDArray[np.bool_] = (self.marks & np.uint8(EXACT)) != 0
        return exact

    @property
    def doubles(self) -> NDArray[np.float64]:
        """The nearest doubles of NUMERIC rows; meaningless for others."""
        return doubles_of(self.keys)
