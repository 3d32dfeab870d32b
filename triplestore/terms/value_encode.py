"""The value entries of many terms at once: a kernel for the common shapes, xsd.py for the rest.

Start at `encode_values`. What is always true: the result is that of `value_keys.entry_of`, term by
term, whichever way it was found. Costs about 0.1 µs a typed literal by the kernel, 10 µs where the
kernel leaves it (rare types, more digits than a double takes without rounding, dubious text); small
inputs stay in plain Python, so that they never import numba.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.kernels.values import DECIMAL, LEFT, NO_DETAIL, ROUND, encode_typed
from triplestore.terms.value_keys import (
    DATATYPES,
    ONLY_TERM,
    SPACE_OF,
    TYPED,
    entry_of,
    keys_of_doubles,
    round_to_floats,
)
from triplestore.terms.xsd import INTEGER_RANGES, RDF, Space

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


def encode_values(buf: U8, starts: I64, lengths: I64, kinds: U8) -> Encoded:
    """The entries of terms whose texts are slices of `buf`; only TYPED ones get any."""
    n = len(kinds)
    encoded = Encoded(np.zeros(n, np.uint8), np.zeros(n, np.uint64), np.zeros(n, np.uint16))
    typed = np.flatnonzero(kinds == TYPED)
    if len(typed) < FROM_TERMS:
        _encode_each(buf, starts, lengths, typed, encoded)
    else:
        for first in range(0, len(typed), _CHUNK):
            _encode_chunk(buf, starts, lengths, typed[first : first + _CHUNK], encoded)
    return encoded


def encode_texts(texts: list[bytes]) -> Encoded:
    """The entries of TYPED terms given by their texts."""
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    buf = np.frombuffer(b"".join(texts), dtype=np.uint8)
    kinds = np.full(len(texts), TYPED, np.uint8)
    return encode_values(buf, np.cumsum(lengths) - lengths, lengths, kinds)


def _encode_each(buf: U8, starts: I64, lengths: I64, rows: I64, encoded: Encoded) -> None:
    marks, keys, details = encoded
    for row, text in zip(rows.tolist(), _texts(buf, starts, lengths, rows), strict=True):
        mark, key, detail = entry_of(text)
        marks[row] = mark
        keys[row] = key
        details[row] = NO_DETAIL if detail == ONLY_TERM else detail


def _encode_chunk(buf: U8, starts: I64, lengths: I64, rows: I64, encoded: Encoded) -> None:
    """By the kernel; then doubles become keys, and what the kernel left is done."""
    marks, keys, details = encoded
    doubles = keys.view(np.float64)
    if encode_typed(buf, starts, lengths, rows, _NAMES, _LIMITS, marks, keys, doubles, details):
        _round_each(buf, starts, lengths, rows[details[rows] == ROUND], encoded)
    spaces = SPACE_OF[marks[rows]]
    _round_to_floats(rows[spaces == Space.FLOAT], encoded)
    numbers = rows[(spaces > 0) & (spaces <= Space.DOUBLE)]
    keys[numbers] = keys_of_doubles(doubles[numbers])
    left = rows[marks[rows] == LEFT]
    if len(left):
        _encode_each(buf, starts, lengths, left, encoded)


def _round_each(buf: U8, starts: I64, lengths: I64, rows: I64, encoded: Encoded) -> None:
    """Numbers with more digits than fit a double: `float` rounds their numerals correctly."""
    marks, keys, details = encoded
    numerals = [text[: text.rindex(b'"')] for text in _texts(buf, starts, lengths, rows)]
    rounded = np.array([float(numeral) for numeral in numerals], dtype=np.float64)
    keys.view(np.float64)[rows] = rounded
    details[rows] = np.where(SPACE_OF[marks[rows]] == Space.DECIMAL, NO_DETAIL, 0)
    marks[rows[rounded == 0]] = LEFT


def _round_to_floats(rows: I64, encoded: Encoded) -> None:
    """The doubles of xsd:float literals as floats, leaving those that this might round twice."""
    doubles = encoded.keys.view(np.float64)
    rounded, known = round_to_floats(doubles[rows])
    doubles[rows] = rounded
    encoded.marks[rows[~known]] = LEFT


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
