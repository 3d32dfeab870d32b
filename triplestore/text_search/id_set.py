"""A set of ids that only grows: start at `IdSet`."""

from __future__ import annotations

import numpy as np

from triplestore.relations.packed_keys import U32, Bools


class IdSet:
    """Ids, as one byte for each id up to the greatest.

    >>> import numpy as np
    >>> ids = IdSet(np.array([3, 5], np.uint32))
    >>> ids.has(np.array([2, 3, 900], np.uint32)).tolist(), len(ids)
    ([False, True, False], 2)
    """

    def __init__(self, ids: U32) -> None:
        self._held: Bools = np.zeros(1024, np.bool_)
        self._size = 0
        self.add(ids)

    def __len__(self) -> int:
        return self._size

    def add(self, ids: U32) -> None:
        """Add ids that are not in it."""
        if not len(ids):
            return
        most = int(ids.max())
        if most >= len(self._held):
            longer = np.zeros(max(most + 1, 2 * len(self._held)), np.bool_)
            longer[: len(self._held)] = self._held
            self._held = longer
        self._held[ids] = True
        self._size += len(ids)

    def has(self, ids: U32) -> Bools:
        """Which ids are in it."""
        held = self._held
        inside = ids < len(held)
        found: Bools = held[np.where(inside, ids, 0)] & inside
        return found
