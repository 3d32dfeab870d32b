"""Named arrays in one run of bytes, and back: the payload of a journal record.

    shape    names and types of the items, the same bytes for all records that are made alike
    lengths  of each item in bytes (uint32)
    items    each at a multiple of 8 bytes

Small and fast rather than general: recovering ten thousand commits decodes ten thousand payloads.
Records of one shape can be read together, without an array for each (`split`).

    >>> decode(encode({"a": np.array([1, 2], dtype=np.uint32), "b": b"x"}))
    {'a': array([1, 2], dtype=uint32), 'b': array([120], dtype=uint8)}
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.checked_columns import Array

Shape: TypeAlias = tuple[tuple[str, "np.dtype[Any]"], ...]
"""Names and types; equal shapes are one object (unless very many are in use)."""

_SIZE = struct.Struct("<I")
_DTYPES = [np.dtype(code) for code in ("u1", "<u2", "<u4", "<u8", "i1", "<i2", "<i4", "<i8", "<f8")]
_CODES = {dtype: code for code, dtype in enumerate(_DTYPES)}
_FIRST = struct.Struct("<II")


def encode(items: Mapping[str, Array | bytes]) -> bytes:
    """The arrays (of numbers, one-dimensional) and byte strings, each 8-byte aligned."""
    names, bodies, lengths = [], [], []
    for name, value in items.items():
        if isinstance(value, bytes):
            code, body = 0, value
        else:
            code, body = _CODES[value.dtype], value.tobytes()
        names.append(f"{code}{name}")
        lengths.append(len(body))
        bodies.append(body + bytes(-len(body) % 8))
    shape = "\n".join(names).encode()
    head = _SIZE.pack(len(shape)) + shape + struct.pack(f"<{len(lengths)}I", *lengths)
    return b"".join((head, bytes(-len(head) % 8), *bodies))


def split(data: bytes) -> tuple[Shape, list[tuple[int, int]]]:
    """The shape of a payload, and the bounds of each item in it."""
    (size,) = _SIZE.unpack_from(data)
    shape = _shape_of(data[4 : 4 + size])
    place = 4 + size + 4 * len(shape)
    lengths = struct.unpack_from(f"<{len(shape)}I", data, 4 + size)
    place += -place % 8
    places = []
    for length in lengths:
        places.append((place, place + length))
        place += length + (-length % 8)
    return shape, places


def decode(data: bytes) -> dict[str, NDArray[Any]]:
    """The items given to `encode`, byte strings as arrays of u8: views into `data`."""
    shape, places = split(data)
    return {
        name: np.frombuffer(data, dtype, (stop - start) // dtype.itemsize, start)
        for (name, dtype), (start, stop) in zip(shape, places, strict=True)
    }


@lru_cache(maxsize=256)
def _shape_of(text: bytes) -> Shape:
    return tuple((each[1:], _DTYPES[int(each[0])]) for each in text.decode().split("\n") if each)


def encode_keys(first_id: int, keys: Sequence[bytes]) -> bytes:
    """The keys of new terms, numbered from `first_id`."""
    lengths = struct.pack(f"<{len(keys)}I", *map(len, keys))
    return b"".join((_FIRST.pack(first_id, len(keys)), lengths, *keys))


def decode_keys(data: bytes) -> tuple[int, list[bytes]]:
    """The arguments of `encode_keys`."""
    first_id, count = _FIRST.unpack_from(data)
    lengths = np.frombuffer(data, "<u4", count, _FIRST.size)
    place = _FIRST.size + 4 * count
    keys = []
    for length in lengths.tolist():
        keys.append(data[place : place + length])
        place += length
    return first_id, keys
