"""Sets of causes, each distinct one kept once: start at `CauseSets`."""

from __future__ import annotations

import numpy as np

from triplestore.consequences.thresholds import CONSEQUENCES
from triplestore.errors import BudgetError
from triplestore.relations.packed_keys import I64, Bools


class CauseSets:
    """Sets of leaves by number; number 0 is the empty set.

    >>> sets = CauseSets()
    >>> one, other = sets.of(frozenset([4])), sets.of(frozenset([7]))
    >>> sorted(sets.members[sets.union(one, other)])
    [4, 7]
    >>> sets.union(one, 0) == one, sets.within(one, sets.union(other, one))
    (True, True)
    """

    def __init__(self) -> None:
        self.members: list[frozenset[int]] = [frozenset()]
        self._known: dict[frozenset[int], int] = {frozenset(): 0}
        self._unions: dict[tuple[int, int], int] = {}
        self._size = 0

    def of(self, members: frozenset[int]) -> int:
        """The number of a set."""
        found = self._known.get(members)
        if found is None:
            self._size += len(members)
            if self._size > CONSEQUENCES.set_members:
                raise BudgetError(
                    f"the sets of causes have more than {CONSEQUENCES.set_members:,} members"
                )
            found = self._known[members] = len(self.members)
            self.members.append(members)
        return found

    def union(self, one: int, other: int) -> int:
        """The union of two sets."""
        if one == other or other == 0:
            return one
        if one == 0:
            return other
        pair = (one, other) if one < other else (other, one)
        found = self._unions.get(pair)
        if found is None:
            found = self._unions[pair] = self.of(self.members[one] | self.members[other])
        return found

    def within(self, one: int, other: int) -> bool:
        """Whether a set is a subset of another."""
        return one == other or self.members[one] <= self.members[other]

    def unions(self, one: I64, other: I64) -> I64:
        """The unions of sets in pairs; each distinct pair once."""
        pairs = one << np.int64(32) | other
        each, index = np.unique(pairs, return_inverse=True)
        made = [self.union(pair >> 32, pair & 0xFFFFFFFF) for pair in each.tolist()]
        found: I64 = np.array(made, np.int64)[index]
        return found

    def subsets(self, one: I64, other: I64) -> Bools:
        """Whether the first set of each pair is a subset of the second."""
        pairs = one << np.int64(32) | other
        each, index = np.unique(pairs, return_inverse=True)
        made = [self.within(pair >> 32, pair & 0xFFFFFFFF) for pair in each.tolist()]
        found: Bools = np.array(made, np.bool_)[index]
        return found
