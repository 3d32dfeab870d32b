"""A sorted set of edges that can be changed a little without being copied.

Start at `EdgeSet`. A large sorted array stays as it is; later additions and removals are two small
sorted arrays beside it. They are merged into the large one when they exceed some multiple of its
square root, so that a change costs the root of the size.
"""

from __future__ import annotations

from math import isqrt

import numpy as np

from triplestore.closures.thresholds import CLOSURES
from triplestore.relations.facts.sorted_arrays import member, without
from triplestore.relations.layers.sorted_order import ranges
from triplestore.relations.packed_keys import NO_KEYS, U32, U64, Bools, frozen, least_keys


class EdgeSet:
    """A set of packed keys; immutable: `changed` gives a new set, which shares the large array.

    Always true: the keys are `base` without `minus`, and `plus`; `minus` is within `base`, and
    `plus` shares nothing with it; all three are sorted and distinct.

    >>> import numpy as np
    >>> one = EdgeSet(np.array([1 << 32 | 2, 2 << 32 | 3], np.uint64))
    >>> other = one.changed(np.array([1 << 32 | 2], np.uint64), np.array([5 << 32], np.uint64))
    >>> len(one), [int(key) >> 32 for key in other.keys()]
    (2, [2, 5])
    """

    __slots__ = ("_arrays",)

    def __init__(self, base: U64, plus: U64 = NO_KEYS, minus: U64 = NO_KEYS) -> None:
        self._arrays = (frozen(base), plus, minus)

    def __len__(self) -> int:
        base, plus, minus = self._arrays
        return len(base) + len(plus) - len(minus)

    def nbytes(self) -> int:
        """The memory the keys take."""
        return sum(array.nbytes for array in self._arrays)

    def keys(self) -> U64:
        """All keys, sorted: one array from now on."""
        base, plus, minus = self._arrays
        if len(plus) or len(minus):
            base = frozen(_merged(base, plus, minus))
            self._arrays = (base, NO_KEYS, NO_KEYS)  # the same set; readers see one or the other
        return base

    def contains(self, keys: U64) -> Bools:
        """Which of these keys are in the set."""
        base, plus, minus = self._arrays
        found = member(keys, base)
        if len(minus):
            found &= ~member(keys, minus)
        if len(plus):
            found |= member(keys, plus)
        return found

    def changed(self, removed: U64, added: U64) -> EdgeSet:
        """The set without `removed`, all of which are in it, and with `added`, none of which are.

        Both are sorted and distinct, and share nothing.
        """
        base, plus, minus = self._arrays
        back = member(added, minus)  # removed before, and now added again
        recent = member(removed, plus)
        minus = _merged(without(minus, added), removed[~recent], NO_KEYS)
        plus = _merged(without(plus, removed), added[~back], NO_KEYS)
        made = EdgeSet(base, plus, minus)
        if len(plus) + len(minus) > CLOSURES.edited_edges + CLOSURES.edited_roots * isqrt(
            len(base)
        ):
            made.keys()
        return made

    def of(self, nodes: U32) -> U64:
        """The keys whose first id is one of the sorted nodes, sorted."""
        base, plus, minus = self._arrays
        found = _of(base, nodes)
        if len(plus) or len(minus):
            found = _merged(found, _of(plus, nodes), _of(minus, nodes))
        return found


def _of(keys: U64, nodes: U32) -> U64:
    heads = least_keys(nodes)
    lo = keys.searchsorted(heads)
    hi = keys.searchsorted(heads | np.uint64(0xFFFFFFFF), side="right")
    if int((hi - lo).sum()) == len(keys):
        return keys
    return keys[ranges(lo, hi - lo)]


def _merged(base: U64, plus: U64, minus: U64) -> U64:
    """The keys of `base` without those of `minus`, which it has, and with those of `plus`."""
    if len(minus):
        base = np.delete(base, base.searchsorted(minus))
    if len(plus):
        base = np.insert(base, base.searchsorted(plus), plus)
    return base
