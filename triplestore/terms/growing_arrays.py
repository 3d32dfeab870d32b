"""Arrays that grow without being copied: anonymous mappings that the system moves by page table.

A growing array costs the memory that was written to, not what is reserved; doubling an ordinary
array of a gigabyte would need two more for a moment. Where the system cannot move mappings the
array is copied. Start at `Growing`.
"""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

_HUGE = 1 << 22  # bytes from which large pages are asked for


class Growing:
    """An array of zeros of one type; `array` is valid until the next `reserve`."""

    def __init__(self, dtype: Any, capacity: int) -> None:
        self._dtype = np.dtype(dtype)
        self._map = _new_map(self._bytes(capacity))
        self.array: NDArray[Any] = self._view()

    def __len__(self) -> int:
        return len(self.array)

    def reserve(self, capacity: int) -> None:
        """Make room for this many items, and half as many more, keeping the content."""
        if capacity <= len(self.array):
            return
        size = self._bytes(capacity + capacity // 2)
        held = len(self.array)
        self.array = np.empty(0, self._dtype)  # a mapping cannot be moved while it is in view
        try:
            self._map.resize(size)
        except (BufferError, SystemError, ValueError, OSError):
            old = np.frombuffer(self._map, self._dtype)[:held]
            self._map = _new_map(size)
            self.array = self._view()
            self.array[:held] = old
            return
        _advise(self._map)
        self.array = self._view()

    def _bytes(self, capacity: int) -> int:
        pages = -(-max(1, capacity) * self._dtype.itemsize // mmap.PAGESIZE)
        return int(pages) * mmap.PAGESIZE

    def _view(self) -> NDArray[Any]:
        return np.frombuffer(self._map, self._dtype)


def _new_map(size: int) -> mmap.mmap:
    # Private: a shared anonymous mapping has a fixed size behind it.
    try:
        made = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"no room for a mapping of {size:,} bytes: {error}") from error
    _advise(made)
    return made


def _advise(made: mmap.mmap) -> None:
    if len(made) >= _HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
        made.madvise(mmap.MADV_HUGEPAGE)
