"""Numbers for distinct keys: the exact hash table under distinct, group and hash join.

Start at `GroupTable`. Always true: a key's group is its place in the order of first appearance. The
table is a dict of Python (few keys, kernels not in use) or arrays searched by kernels, with the
same results. Memory: 8 bytes per key and 6 to 12 per slot, charged before they are allocated; both
the old and the new slots while it grows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplestore.kernels.jit import plain_python
from triplestore.kernels.rows.group import group_find, group_insert, group_rehash
from triplestore.operators.context import Budget
from triplestore.operators.frame import Array
from triplestore.operators.thresholds import OPERATORS

Keys = NDArray[np.uint64]

_ENTRY_BYTES = 120  # per entry of a Python dict with an int key and an int value

_loaded = False


def use_kernels(rows: int) -> bool:
    """True if kernels are loaded already, or if there are enough rows to load them."""
    global _loaded
    if _loaded:
        return True
    if rows > OPERATORS.rows_without_kernels:
        _loaded = not plain_python()
        return True
    return False


def pieces(rows: int, budget: Budget) -> Iterator[tuple[int, int]]:
    """Ranges [start, stop) of rows for long work, with a check of the limits before each."""
    size = OPERATORS.piece_rows
    for start in range(0, rows, size):
        budget.check()
        yield start, min(start + size, rows)


def filled(size: int, kind: Any, budget: Budget) -> Array:
    """Zeros in allocated memory.

    The pages of a long array of `np.zeros` are allocated when first touched, so the first random
    access to all of it would wait for all pages at once (150 ms for 80 MB).
    """
    if size <= OPERATORS.piece_rows:
        return np.zeros(size, kind)
    return enlarged(np.empty(0, kind), 0, size, 0, budget)


def enlarged(array: Array, used: int, room: int, fill: Any, budget: Budget) -> Array:
    """A longer copy of a partly used array, filled up with a value."""
    longer = np.empty(room, array.dtype)
    for start, stop in pieces(used, budget):
        longer[start:stop] = array[start:stop]
    if fill is not None:
        for start, stop in pieces(room - used, budget):
            longer[used + start : used + stop] = fill
    return longer


class GroupTable:
    """Distinct 64-bit keys, numbered 0, 1, 2, ... in the order of first appearance.

    >>> from triplestore.operators.context import Context
    >>> table = GroupTable(Context())
    >>> groups, firsts = table.insert(np.array([7, 9, 7, 8], np.uint64))
    >>> groups.tolist(), firsts.tolist(), table.count
    ([0, 1, 0, 2], [0, 1, 3], 3)
    >>> table.find(np.array([8, 5], np.uint64)).tolist()
    [2, -1]
    """

    __slots__ = ("_budget", "_keys", "_numbers", "_slots", "count", "nbytes")

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._numbers: dict[int, int] | None = {}
        self._keys: Keys = np.empty(0, np.uint64)
        self._slots: NDArray[np.uint32] = np.zeros(1, np.uint32)
        self.count = 0
        self.nbytes = 0  # charged

    def insert(self, keys: Keys) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """The group of each key, and the places in `keys` of the first key of each new group."""
        if self._numbers is not None:
            rows = self.count + len(keys)
            if not use_kernels(rows):
                return self._insert_few(self._numbers, keys)
            self._leave_dict()
        if len(keys) <= OPERATORS.piece_rows:
            return self._insert_piece(keys)
        groups = np.empty(len(keys), np.uint32)
        firsts = []
        for start, stop in pieces(len(keys), self._budget):
            groups[start:stop], new = self._insert_piece(keys[start:stop])
            firsts.append(new + start)
        return groups, np.concatenate(firsts)

    def find(self, keys: Keys) -> NDArray[np.int64]:
        """The group of each key, or -1."""
        if self._numbers is not None:
            if not use_kernels(len(keys)):
                get = self._numbers.get
                return np.array([get(key, -1) for key in keys.tolist()], np.int64)
            self._leave_dict()
        groups = np.empty(len(keys), np.int64)
        for start, stop in pieces(len(keys), self._budget):
            group_find(keys[start:stop], self._slots, self._keys, groups[start:stop])
        return groups

    def keys(self) -> Keys:
        """The key of each group: a view that is invalid after the next insertion."""
        if self._numbers is not None:
            return np.array(list(self._numbers), np.uint64)
        return self._keys[: self.count]

    def clear(self) -> None:
        """Drop all keys and release the memory."""
        self._budget.release(self.nbytes)
        self.__init__(self._budget)  # type: ignore[misc]

    def _insert_few(
        self, numbers: dict[int, int], keys: Keys
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        self._budget.charge(len(keys) * _ENTRY_BYTES)
        before = len(numbers)
        groups = [numbers.setdefault(key, len(numbers)) for key in keys.tolist()]
        self.count = len(numbers)
        new = self.count - before
        self._budget.release((len(keys) - new) * _ENTRY_BYTES)
        self.nbytes += new * _ENTRY_BYTES
        firsts = np.empty(new, np.int64)
        seen = before
        for i, group in enumerate(groups):
            if group == seen:
                firsts[seen - before] = i
                seen += 1
        return np.array(groups, np.uint32), firsts

    def _leave_dict(self) -> None:
        assert self._numbers is not None
        keys, charged = self.keys(), self.nbytes
        self._numbers = None
        self.count = self.nbytes = 0
        if len(keys):
            self._insert_piece(keys)
        self._budget.release(charged)

    def _insert_piece(self, keys: Keys) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        if self.count + len(keys) > len(self._keys):
            self._grow(self.count + len(keys))
        groups = np.empty(len(keys), np.uint32)
        firsts = np.empty(len(keys), np.int64)
        before = self.count
        self.count = group_insert(keys, self._slots, self._keys, before, groups, firsts)
        return groups, firsts[: self.count - before]

    def _grow(self, needed: int) -> None:
        """Make room for `needed` groups: slots for half as many more, at least twice the old."""
        if needed >= 1 << 32:
            raise AssertionError("more than 2^32 groups")
        places = max(16, 2 * len(self._slots) if len(self._keys) else 0)
        while places * 2 // 3 < needed:
            places *= 2
        room = places * 2 // 3
        size = places * 4 + room * 8
        self._budget.charge(size)
        slots = filled(places, np.uint32, self._budget)
        for start, stop in pieces(self.count, self._budget):
            group_rehash(self._keys, start, stop, slots)
        self._keys = enlarged(self._keys, self.count, room, None, self._budget)
        self._slots = slots
        self._budget.release(self.nbytes)
        self.nbytes = size
