"""Facts of one closure that are not in another, as a set that is not written out.

Start reading at `DifferenceSet`. An update may change billions of pairs of a closure. Look-ups are
answered from the closures before and after, and all pairs are streamed in blocks. Once all keys
were asked for, they are kept and answer look-ups. `KeySet` has the same reading methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np

from triplestore.relations.facts.fact_sets import KeySet
from triplestore.relations.packed_keys import I64, NO_KEYS, U32, U64, Bools, pack


class PairLookup(Protocol):
    """What a difference needs of each side: a `PairRelation` has it, and so has `StoredPairs`."""

    def match(self, place: int, values: U32) -> tuple[I64, U32]:
        """The pairs with these ids in one place: (number of the value, id in the other place)."""

    def contains_keys(self, keys: U64) -> Bools:
        """Which of these pairs there are."""


class DifferenceSet:
    """The pairs of `these` that are not among `others`.

    count   how many there are
    stream  lists them, sorted, in blocks
    """

    __slots__ = ("_count", "_others", "_stream", "_these", "_written")

    def __init__(
        self,
        these: PairLookup,
        others: PairLookup,
        count: int,
        stream: Callable[[], Iterator[U64]],
    ) -> None:
        self._these, self._others = these, others
        self._count, self._stream = count, stream
        self._written: KeySet | None = None

    def __len__(self) -> int:
        return self._count

    def copied(self) -> DifferenceSet:
        """The set itself, as it never changes."""
        return self

    def blocks(self) -> Iterator[U64]:
        """All pairs as sorted keys, in blocks."""
        return self._stream() if self._written is None else iter((self._written.keys(),))

    def keys(self) -> U64:
        """All pairs, sorted and written out."""
        if self._written is None:
            blocks = list(self._stream())
            self._written = KeySet(np.concatenate(blocks) if blocks else NO_KEYS)
        return self._written.keys()

    def contains(self, keys: U64) -> Bools:
        """Which of these pairs, in any order, are in the set."""
        if self._written is not None:
            return self._written.contains(keys)
        found: Bools = self._these.contains_keys(keys)
        (places,) = found.nonzero()
        if len(places):
            found[places] = ~self._others.contains_keys(keys[places])
        return found

    def match(self, place: int, values: U32) -> tuple[I64, U32]:
        """The pairs with these ids in one place: (number of the value, id in the other place)."""
        if self._written is not None:
            return self._written.match(place, values)
        index, other = self._these.match(place, values)
        if len(index) == 0:
            return index, other
        given = values[index]
        keys = pack(given, other) if place == 0 else pack(other, given)
        keep = ~self._others.contains_keys(keys)
        return index[keep], other[keep]
