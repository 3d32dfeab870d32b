"""Rows as sortable keys: two ids packed in one uint64, three or more ids as big-endian bytes.

Always true: comparing two keys compares the rows column by column. A key of two columns is
`first << 32 | second`; a key of n > 2 columns is an `S{4n}` value. Everything here is plain
numpy.

    >>> import numpy as np
    >>> key = pack(np.array([1], np.uint32), np.array([7], np.uint32))
    >>> int(key[0]) == (1 << 32) + 7, high(key).tolist(), low(key).tolist()
    (True, [1], [7])
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.relations.thresholds import RELATIONS

U8: TypeAlias = NDArray[np.uint8]
U32: TypeAlias = NDArray[np.uint32]
U64: TypeAlias = NDArray[np.uint64]
I64: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Keys: TypeAlias = NDArray[Any]
"""uint32 (one column), uint64 (two) or S{4n} (more)."""

Columns: TypeAlias = tuple[U32, ...]

SHIFT = np.uint64(32)
_CACHED = 1 << 15  # keys per step, so that intermediate results stay in the processor's cache
NO_IDS: U32 = np.empty(0, dtype=np.uint32)
NO_KEYS: U64 = np.empty(0, dtype=np.uint64)
NO_STATUS: U8 = np.empty(0, dtype=np.uint8)
for _empty in (NO_IDS, NO_KEYS, NO_STATUS):
    _empty.flags.writeable = False


def pieces(size: int) -> Iterator[slice]:
    """Positions 0 .. size - 1 in pieces, each for one call of a kernel."""
    step = RELATIONS.piece_rows
    return (slice(at, at + step) for at in range(0, size, step))


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, made read-only."""
    array.flags.writeable = False
    return array


def ids(values: Any) -> U32:
    """The values as a contiguous uint32 array; not copied if they are one already."""
    return np.ascontiguousarray(values, dtype=np.uint32)


def pack(first: U32, second: U32) -> U64:
    """One key of two columns of ids."""
    keys = first.astype(np.uint64)
    keys <<= SHIFT
    keys |= second
    return keys


def least_keys(firsts: U32) -> U64:
    """The least key with each of these first ids."""
    keys = firsts.astype(np.uint64)
    keys <<= SHIFT
    return keys


def high(keys: U64) -> U32:
    """The first ids of packed keys: a copy."""
    return (keys if keys.flags.c_contiguous else keys.copy()).view(np.uint32)[1::2].copy()


def low(keys: U64) -> U32:
    """The second ids of packed keys: a copy."""
    return (keys if keys.flags.c_contiguous else keys.copy()).view(np.uint32)[0::2].copy()


def swap(keys: U64, out: U64 | None = None) -> U64:
    """The packed keys with their two ids swapped; written to `out` if it is given."""
    swapped = np.empty(len(keys), dtype=np.uint64) if out is None else out
    for start in range(0, len(keys), _CACHED):
        part, made = keys[start : start + _CACHED], swapped[start : start + _CACHED]
        np.left_shift(part, SHIFT, out=made)
        made |= part >> SHIFT
    return swapped


def key_of(columns: Sequence[U32]) -> Keys:
    """The keys of rows given as columns."""
    if len(columns) == 1:
        return columns[0]
    if len(columns) == 2:
        return pack(columns[0], columns[1])
    spelt = np.empty((len(columns[0]), len(columns)), dtype=">u4")
    for place, column in enumerate(columns):
        spelt[:, place] = column
    return spelt.reshape(-1).view(f"S{4 * len(columns)}")


def columns_of(keys: Keys, arity: int) -> Columns:
    """The columns of rows given as keys."""
    if arity == 1:
        return (keys,)
    if arity == 2:
        return high(keys), low(keys)
    spelt = np.ascontiguousarray(keys).view(">u4").reshape(-1, arity)
    return tuple(spelt[:, place].astype(np.uint32) for place in range(arity))


def keys_of_bytes(spelt: U8, arity: int) -> Keys:
    """The keys whose bytes a section holds (see `bytes_of_keys`): a view."""
    if arity == 1:
        return spelt.view(np.uint32)
    return spelt.view(np.uint64 if arity == 2 else f"S{4 * arity}")


def bytes_of_keys(keys: Keys) -> U8:
    """The keys as bytes, for a section: a view."""
    return np.ascontiguousarray(keys).view(np.uint8)


def last_of_equals(keys: Keys) -> Bools:
    """Which keys of a sorted array are the last of equal keys."""
    last = np.ones(len(keys), dtype=np.bool_)
    if len(keys) > 1:
        np.not_equal(keys[1:], keys[:-1], out=last[:-1])
    return last


def distinct(keys: Keys) -> Keys:
    """A sorted array without repetitions; the same array if it has none."""
    if len(keys) < 2:
        return keys
    last = last_of_equals(keys)
    return keys if last.all() else keys[last]


def in_sorted(keys: Keys, within: Keys) -> Bools:
    """Which of `keys` (in any order) are in the sorted array `within`."""
    if len(within) == 0 or len(keys) == 0:
        return np.zeros(len(keys), dtype=np.bool_)
    place = within.searchsorted(keys)
    place[place == len(within)] = 0
    found: Bools = within[place] == keys
    return found


def start_of_runs(names: NDArray[Any]) -> I64:
    """Where each run of equal values begins in a sorted array; the last entry is its length."""
    if len(names) == 0:
        return np.zeros(1, dtype=np.int64)
    begins = (names[1:] != names[:-1]).nonzero()[0]
    starts = np.empty(len(begins) + 2, dtype=np.int64)
    starts[0], starts[-1] = 0, len(names)
    np.add(begins, 1, out=starts[1:-1])
    return starts
