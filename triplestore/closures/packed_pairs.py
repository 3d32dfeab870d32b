"""Pairs of ids as sorted packed keys, `first << 32 | second`: what schemes take and give.

>>> import numpy as np
>>> keys = pack(np.array([1, 2], np.uint32), np.array([7, 5], np.uint32))
>>> first(keys).tolist(), second(keys).tolist()
([1, 2], [7, 5])
>>> swapped(keys).tolist() == [5 << 32 | 2, 7 << 32 | 1]
True
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

U8: TypeAlias = NDArray[np.uint8]
U32: TypeAlias = NDArray[np.uint32]
U64: TypeAlias = NDArray[np.uint64]
I32: TypeAlias = NDArray[np.int32]
I64: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

SHIFT = np.uint64(32)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, not writable any more."""
    array.flags.writeable = False
    return array


NO_IDS: U32 = frozen(np.empty(0, dtype=np.uint32))
NO_KEYS: U64 = frozen(np.empty(0, dtype=np.uint64))


def pack(first: U32, second: U32) -> U64:
    """The keys of pairs given as two columns."""
    keys = first.astype(np.uint64)
    keys <<= SHIFT
    keys |= second
    return keys


def first(keys: U64) -> U32:
    """The first ids of packed keys: a copy."""
    return np.ascontiguousarray(np.ascontiguousarray(keys).view(np.uint32)[1::2])


def second(keys: U64) -> U32:
    """The second ids of packed keys: a copy."""
    return np.ascontiguousarray(np.ascontiguousarray(keys).view(np.uint32)[0::2])


def swap(keys: U64) -> U64:
    """The keys with their two ids changed over, in the same order."""
    return (keys << SHIFT) | (keys >> SHIFT)


def swapped(keys: U64) -> U64:
    """The keys with their two ids changed over, sorted."""
    return np.sort(swap(keys))


def distinct(ordered: NDArray[Any]) -> NDArray[Any]:
    """Sorted values without repetitions; not copied if there are none."""
    if len(ordered) < 2:
        return ordered
    fresh = np.empty(len(ordered), dtype=np.bool_)
    fresh[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    return ordered if fresh.all() else ordered[fresh]


def sorted_distinct(values: NDArray[Any]) -> NDArray[Any]:
    """The values in order, without repetitions."""
    return distinct(np.sort(values))


def in_order(keys: U64) -> U64:
    """Keys in order, without repetitions: the same array if they are so already."""
    keys = np.ascontiguousarray(keys, dtype=np.uint64)
    if len(keys) < 2 or bool((keys[1:] > keys[:-1]).all()):
        return keys
    return sorted_distinct(keys)


def member(values: NDArray[Any], within: NDArray[Any]) -> Bools:
    """Which of the values are in the sorted array `within`."""
    if len(within) == 0:
        return np.zeros(len(values), dtype=np.bool_)
    places = np.minimum(within.searchsorted(values), len(within) - 1)
    found: Bools = within[places] == values
    return found


def without(values: NDArray[Any], taken: NDArray[Any]) -> NDArray[Any]:
    """The values that are not in the sorted array `taken`."""
    return values[~member(values, taken)] if len(values) and len(taken) else values
