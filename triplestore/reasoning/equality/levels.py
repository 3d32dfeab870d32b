"""In which order things were found to be the same: levels of equalities.

Start reading at `EqualityLevels`. Level 0 are asserted equalities, level 1 values of functional
properties, both asserted; each level above are the equalities that rules find where only those
below are known (a *world*: tables of representatives of smaller classes, closed again in memory).
So a proof of an equality needs equalities of lower levels only, and proofs cannot go in circles.
Most classes come from level 0, for which nothing is computed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from triplestore.reasoning.drop_inferences import changes_to_asserted
from triplestore.reasoning.equality.classes import asserted_equalities, keep_connected
from triplestore.reasoning.equality.scoped_rows import AssertedInScope, scope_name
from triplestore.relations import EXPLICIT, Layer, Tables
from triplestore.relations.packed_keys import NO_KEYS, U64, Bools, high, in_sorted, low, pack
from triplestore.relations.views.equality import Classes, Equality, representatives

if TYPE_CHECKING:
    from triplestore.terms import Dictionary


class EqualityLevels:
    """The equalities of a state, level by level.

    close   the closure of tables of representatives with asserted facts only
    words   properties that mean something to the rules
    """

    def __init__(
        self,
        tables: Tables,
        equality: Equality,
        dictionary: Dictionary,
        close: Callable[[Tables], Tables],
        words: np.ndarray,
    ) -> None:
        self.stored = tables.with_schemes({})
        self.told = AssertedInScope(self.stored, dictionary)
        self.classes = equality.classes
        self.same_as = equality.same_as
        self._dictionary = dictionary
        self._close = close
        self._words = words
        self._edges: list[U64] = []
        self._found: list[Classes] = []
        self._closed: dict[int, Tables] = {}
        self._final = equality.tables

    def edges(self, level: int) -> U64:
        """The equalities of a level, sorted; pairs within a class."""
        while len(self._edges) <= level:
            self._edges.append(self._next())
        return self._edges[level]

    def known(self, level: int) -> Classes:
        """The classes that levels up to this one make."""
        while len(self._found) <= level:
            edges = [self.edges(n) for n in range(len(self._found) + 1)]
            found = keep_connected(self.classes, np.concatenate(edges), self._dictionary)
            self._found.append(self.classes if found == self.classes else found)
        return self._found[level]

    def closed(self, level: int) -> Tables:
        """The world in which these classes are known."""
        classes = self.known(level)
        if classes is self.classes:
            return self._final
        if level not in self._closed:
            stated = self.stored.push(Layer.build(changes_to_asserted(self.stored)))
            told = scope_name(self._dictionary)
            images = representatives(stated, classes, self.same_as, told)
            self._closed[level] = self._close(images)
        return self._closed[level]

    def _next(self) -> U64:
        level = len(self._edges)
        if level == 0:
            keys = self.told.relation(self.same_as).keys(where=EXPLICIT)
        elif level == 1:
            keys = asserted_equalities(self.told, self._dictionary, self._words)
        else:
            keys = self.closed(level - 1).relation(self.same_as).keys()
        one, other = high(keys), low(keys)
        same = self.classes.representatives(one) == self.classes.representatives(other)
        return np.unique(keys[same & (one != other)])

    def level_of(self, one: int, other: int, most: int) -> int:
        """The first level that makes two members of a class the same."""
        pair = np.array([one, other], dtype=np.uint32)
        for level in range(most + 1):
            first, second = self.known(level).representatives(pair).tolist()
            if first == second:
                return level
            if self.known(level) is self.classes:
                break
        raise AssertionError("two members of a class are not connected")

    def path(self, one: int, other: int, level: int) -> list[int]:
        """The members on a shortest way from one to another by equalities up to a level."""
        edges = np.concatenate([NO_KEYS, *(self.edges(n) for n in range(level + 1))])
        head = self.classes.representatives(np.array([one], dtype=np.uint32))
        here = edges[self.classes.representatives(high(edges)) == head]
        both = np.unique(np.concatenate((here, pack(low(here), high(here)))))
        before = {other: other}
        waiting = deque([other])
        while waiting and one not in before:
            at = waiting.popleft()
            for node in _seconds(both, at):
                if node not in before:
                    before[node] = at
                    waiting.append(node)
        found = [one]
        while found[-1] != other:
            found.append(before[found[-1]])
        return found

    def has(self, keys: U64, level: int) -> Bools:
        """Which pairs are equalities of a level."""
        return in_sorted(keys, self.edges(level))


def _seconds(keys: U64, first: int) -> Iterator[int]:
    """The second ids of sorted pairs with this first one."""
    lo, hi = np.searchsorted(keys, np.array([first << 32, (first + 1) << 32], dtype=np.uint64))
    yield from low(keys[lo:hi]).tolist()
