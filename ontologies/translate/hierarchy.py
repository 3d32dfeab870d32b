"""Hierarchies that are transitively closed, reduced to what rules need.

Start reading at `Hierarchy`. A closed relation has a pair for each class and each class above it; a
rule for each pair would be too many rules, with repeated conclusions. The rules are made from the
fewest pairs that have the same closure: for each class the classes just above it, and a cycle
through classes that are equivalent. Linear in the size of the closure times the number of parents.
Pairs are packed: one class in the high half, the one above it in the low half.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)

Keys = NDArray[np.uint64]


class Hierarchy:
    """A transitively closed relation.

    keys  packed pairs, sorted, each once

    >>> from itertools import combinations
    >>> chain = Hierarchy(packed(combinations([1, 2, 3, 4], 2)))
    >>> unpacked(chain.reduced())
    [(1, 2), (2, 3), (3, 4)]
    """

    def __init__(self, keys: Keys) -> None:
        self.keys = keys

    @cached_property
    def above(self) -> dict[int, set[int]]:
        """What is above each that has something above it but itself."""
        sub, sup = _columns(self.keys)
        proper = sub != sup
        sub, sup = sub[proper], sup[proper]
        names, starts = np.unique(sub, return_index=True)
        parts = np.split(sup, starts[1:]) if len(names) else []
        return {name: set(part.tolist()) for name, part in zip(names.tolist(), parts, strict=True)}

    @cached_property
    def first(self) -> dict[int, int]:
        """The least of those equivalent to each that is equivalent to others."""
        sub, sup = _columns(self.keys)
        turned = np.sort((sup << _HALF) | sub)
        both = self.keys[np.isin(self.keys, turned, assume_unique=True) & (sub != sup)]
        found: dict[int, int] = {}
        for one, other in unpacked(both):
            found[one] = min(found.get(one, one), other)
        return found

    def reduced(self) -> Keys:
        """The least pairs with the same closure, except those of something with itself."""
        first = self.first
        groups: dict[int, list[int]] = {}
        for member, least in first.items():
            groups.setdefault(least, []).append(member)
        found: list[tuple[int, int]] = []
        for members in groups.values():
            members.sort()
            found += zip(members, [*members[1:], members[0]], strict=True)
        for name, every in self.above.items():
            if name not in first or first[name] == name:
                found += [(name, other) for other in self._just_above(name, every)]
        return packed(found)

    def _just_above(self, name: int, every: set[int]) -> list[int]:
        """The others above something that are above nothing else above it."""
        first, above = self.first, self.above
        left = set(every)
        if first:  # one of several equivalent ones is enough, and none equivalent to this one
            own = first.get(name, name)
            left = {other for other in every if first.get(other, other) == other != own}
        found = []
        while left:
            nearest = max(left, key=lambda other: len(above.get(other, ())))
            found.append(nearest)
            left.discard(nearest)
            left -= above.get(nearest, set())
        return found


def packed(pairs: Iterable[tuple[int, int]]) -> Keys:
    """Pairs as sorted keys."""
    array = np.array(list(pairs), dtype=np.uint64).reshape(-1, 2)
    return np.unique((array[:, 0] << _HALF) | array[:, 1])


def unpacked(keys: Keys) -> list[tuple[int, int]]:
    """Keys as pairs."""
    sub, sup = _columns(keys)
    return list(zip(sub.tolist(), sup.tolist(), strict=True))


def _columns(keys: Keys) -> tuple[Keys, Keys]:
    return keys >> _HALF, keys & _LOW
