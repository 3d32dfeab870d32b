"""The value entries of many terms at once: a kernel for the common shapes, xsd.py for the rest.

Start at `encode_rows`. What is always true: the result is that of `value_keys.entry_of`, term by
term, whichever way it was found. Costs about 0.1 µs a typed literal by the kernel, 10 µs where the
kernel leaves it (rare types, more digits than a double takes without rounding, dubious text); small
inputs stay in plain Python, so that they never import numba.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.kernels.terms.value_keys import DECIMAL, LEFT, NO_DETAIL, ROUND, encode_typed
from triplestore.terms.values.value_keys import (
    DATATYPES,
    ONLY_TERM,
    SPACE_OF,
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

FROM_TERMS = 4096
"""Fewer typed literals than this are not worth the import of numba."""

_CHUNK = 65536


class Encoded(NamedTuple):
    """Entries of terms, as columns; all zero where a term has no value."""

    marks: U8
    keys: U64
    details: U16

    def take(self, at: Any) -> Encoded:
        """The entries at some positions, or of a slice."""
        return Encoded(self.marks[at], self.keys[at], self.details[at])


def encode_rows(buf: U8, starts: I64, lengths: I64, rows: I64) -> Encoded:
    """The entries of TYPED terms: of each row in `rows` of the texts that are slices of `buf`."""
    n = len(rows)
    encoded = Encoded(np.zeros(n, np.uint8), np.zeros(n, np.uint64), np.zeros(n, np.uint16))
    if n < FROM_TERMS:
        _encode_each(_texts(buf, starts, lengths, rows), np.arange(n), encoded)
        return encoded
    for lo in range(0, n, _CHUNK):
        part = encoded.take(slice(lo, lo + _CHUNK))
        _encode_chunk(buf, starts, lengths, rows[lo : lo + _CHUNK], part)
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
    """By the kernel; then doubles become keys, and what the kernel left is done."""
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
