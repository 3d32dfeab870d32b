"""A set of ids as one byte for each id up to the greatest: start at `IdSet`."""

from __future__ import annotations

import numpy as np

from triplestore.relations.packed_keys import NO_IDS, U32, Bools


class IdSet:
    """Ids; never changes.

    >>> import numpy as np
    >>> ids = IdSet(np.array([3, 5], np.uint32))
    >>> ids.has(np.array([2, 3, 900], np.uint32)).tolist(), len(ids)
    ([False, True, False], 2)
    """

    def __init__(self, ids: U32 = NO_IDS) -> None:
        self._held: Bools = np.zeros(int(ids.max()) + 1 if len(ids) else 1, np.bool_)
        self._held[ids] = True
        self._size = len(ids)

    def __len__(self) -> int:
        return self._size

    def with_ids(self, ids: U32) -> IdSet:
        """The set with ids that are not in it."""
        made = IdSet(ids)
        shorter, longer = sorted((self._held, made._held), key=len)
        made._held = longer.copy()
        made._held[: len(shorter)] |= shorter
        made._size = self._size + len(ids)
        return made

    def has(self, ids: U32) -> Bools:
        """Which ids are in it."""
        held = self._held
        inside = ids < len(held)
        found: Bools = held[np.where(inside, ids, 0)] & inside
        return found

    def lacks(self, ids: U32) -> U32:
        """The ids that are not in it."""
        return ids[~self.has(ids)] if len(ids) else ids

    @property
    def ids(self) -> U32:
        """All of them, increasing."""
        return np.flatnonzero(self._held).astype(np.uint32)
