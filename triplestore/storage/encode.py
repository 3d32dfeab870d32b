"""Named arrays in one run of bytes, and back: the payload of a journal record.

Small and quick rather than general: recovering ten thousand commits decodes ten thousand of these.

    >>> decode(encode({"a": np.array([1, 2], dtype=np.uint32), "b": b"x"}))
    {'a': array([1, 2], dtype=uint32), 'b': array([120], dtype=uint8)}
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplestore.columns import Array

_COUNT = struct.Struct("<I")
_ITEM = struct.Struct("<BBxxI")
_DTYPES = [np.dtype(code) for code in ("u1", "<u2", "<u4", "<u8", "i1", "<i2", "<i4", "<i8", "<f8")]
_CODES = {dtype: code for code, dtype in enumerate(_DTYPES)}
_FIRST = struct.Struct("<II")


def encode(items: Mapping[str, Array | bytes]) -> bytes:
    """The arrays (of numbers, one-dimensional) and byte strings, each 8-byte aligned."""
    parts = [_COUNT.pack(len(items))]
    bodies = []
    for name, value in items.items():
        label = name.encode()
        if isinstance(value, bytes):
            code, body = 0, value
        else:
            code, body = _CODES[value.dtype], value.tobytes()
        parts.append(_ITEM.pack(len(label), code, len(body)) + label)
        bodies.append(body + bytes(-len(body) % 8))
    head = b"".join(parts)
    return b"".join((head, bytes(-len(head) % 8), *bodies))


def decode(data: bytes) -> dict[str, NDArray[Any]]:
    """What `encode` was given, byte strings as arrays of u8: views into `data`."""
    place, entries = _COUNT.size, []
    for _ in range(_COUNT.unpack_from(data)[0]):
        length, code, nbytes = _ITEM.unpack_from(data, place)
        place += _ITEM.size
        entries.append((data[place : place + length].decode(), code, nbytes))
        place += length
    place += -place % 8
    items = {}
    for name, code, nbytes in entries:
        dtype = _DTYPES[code]
        items[name] = np.frombuffer(data, dtype, nbytes // dtype.itemsize, place)
        place += nbytes + (-nbytes % 8)
    return items


def encode_keys(first_id: int, keys: Sequence[bytes]) -> bytes:
    """The keys of new terms, numbered from `first_id`."""
    lengths = np.array([len(key) for key in keys], dtype="<u4")
    return _FIRST.pack(first_id, len(keys)) + lengths.tobytes() + b"".join(keys)


def decode_keys(data: bytes) -> tuple[int, list[bytes]]:
    """What `encode_keys` was given."""
    first_id, count = _FIRST.unpack_from(data)
    lengths = np.frombuffer(data, "<u4", count, _FIRST.size)
    place = _FIRST.size + 4 * count
    keys = []
    for length in lengths.tolist():
        keys.append(data[place : place + length])
        place += length
    return first_id, keys
