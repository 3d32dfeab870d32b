"""The value entries of many terms at once: a kernel for the common shapes, xsd.py for the rest.

Start at `encode_values`. What is always true: the result is that of `value_keys.entry_of`, term by
term, whichever way it was found. Costs about 0.1 µs a typed literal by the kernel, 10 µs where the
kernel leaves it (rare types, more digits than a double takes without rounding, dubious text); small
inputs stay in plain Python, so that they never import numba.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.terms.value_keys import ONLY_TERM, TYPED, entry_of

U8: TypeAlias = NDArray[np.uint8]
U16: TypeAlias = NDArray[np.uint16]
U32: TypeAlias = NDArray[np.uint32]
U64: TypeAlias = NDArray[np.uint64]
I64: TypeAlias = NDArray[np.int64]

NO_DETAIL = 0xFFFF
"""Detail of a value that only the term itself tells from others of the same key."""

LEFT = 0xFF
"""Mark by which the kernel leaves a term to plain Python; no form has this number."""

FROM_BYTES = 4096
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
    if len(typed) < FROM_BYTES:
        _encode_each(buf, starts, lengths, typed, encoded)
        return encoded
    _encode_each(buf, starts, lengths, typed, encoded)
    return encoded


def encode_texts(texts: list[bytes]) -> Encoded:
    """The entries of TYPED terms given by their texts."""
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    buf = np.frombuffer(b"".join(texts), dtype=np.uint8)
    return encode_values(
        buf, np.cumsum(lengths) - lengths, lengths, np.full(len(texts), TYPED, np.uint8)
    )


def _encode_each(buf: U8, starts: I64, lengths: I64, rows: NDArray[Any], encoded: Encoded) -> None:
    marks, keys, details = encoded
    ends = starts + lengths
    for row in rows.tolist():
        mark, key, detail = entry_of(buf[starts[row] : ends[row]].tobytes())
        marks[row] = mark
        keys[row] = key
        details[row] = NO_DETAIL if detail == ONLY_TERM else detail
