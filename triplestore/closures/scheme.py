"""What a scheme is: a relation kept small, answered from its labels and never written out.

Start reading at `Scheme`. A scheme owns the closure of its *edges*, the facts that something else
states or derives. It is immutable: `changed` gives a new scheme, which shares what did not change,
and what was gained and lost, exactly. Readers of an old scheme go on undisturbed.

`Readable` is the reading side alone, which views over several relations have too. Pairs are packed
keys `first << 32 | second` everywhere (see `packed`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from triplestore.closures.packed_pairs import I64, NO_KEYS, U32, U64, Bools, frozen, swapped

BLOCK = 1 << 20
"""Pairs in one block of a stream, about: a block may be shorter, or longer by one node's pairs."""


class Budget(Protocol):
    """What may stop long work: called every few milliseconds, it raises when enough is enough."""

    def check(self) -> None:
        """Raise if the time or the memory allowed is spent, or the user interrupts."""


class Pairs(Protocol):
    """A set of pairs that can be counted and streamed."""

    def count(self) -> int:
        """How many pairs there are, without writing them out."""

    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """All pairs as packed keys, increasing over the whole stream, none twice; no empty block.

        swapped  the keys have the second id in front
        """


class Readable(Pairs, Protocol):
    """A relation that can be looked up from both sides.

    Nodes and keys are asked for in any order, repetitions allowed, and may be unknown. What
    `forward` and `backward` give is grouped by the place of the node asked for, in increasing order
    of these places; ids of one group are increasing and distinct.
    """

    def nbytes(self) -> int:
        """The memory it takes."""

    def contains(self, keys: U64) -> Bools:
        """Which of these pairs are in the relation."""

    def forward(self, nodes: U32) -> tuple[I64, U32]:
        """The pairs that begin with each node: (place in `nodes`, second id)."""

    def backward(self, nodes: U32) -> tuple[I64, U32]:
        """The pairs that end with each node: (place in `nodes`, first id)."""

    def forward_counts(self, nodes: U32) -> I64:
        """How many pairs begin with each node."""

    def backward_counts(self, nodes: U32) -> I64:
        """How many pairs end with each node."""

    def subjects(self) -> U32:
        """The first ids of all pairs, sorted and distinct."""

    def objects(self) -> U32:
        """The second ids of all pairs, sorted and distinct."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What a change of edges did to a closure: both sets are exact, and disjoint."""

    lost: Pairs
    gained: Pairs


class Scheme(Readable, Protocol):
    """The closure of some edges. Each also has `build(edges, budget)`."""

    @property
    def edges(self) -> U64:
        """The edges of which this is the closure: sorted, distinct."""

    def changed(
        self, removed: U64, added: U64, budget: Budget | None = None
    ) -> tuple[Self, Difference]:
        """The closure of the edges without `removed` and then with `added` (in any order).

        An edge that is removed without being there, or added though it is there, changes nothing;
        one in both arrays is there afterwards.
        """

    def path(self, start: int, end: int) -> list[int]:
        """The nodes of a shortest path of one or more edges; empty if there is none."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a closure would take, guessed from a sample without computing it.

    pairs       pairs in the closure
    row_bytes   what they take as rows in two sorted orders
    bytes       what the scheme takes
    exact       whether `pairs` is no guess
    """

    pairs: int
    row_bytes: int
    bytes: int
    exact: bool = False


class SortedPairs:
    """Few pairs, as a sorted array.

    >>> import numpy as np
    >>> some = SortedPairs(np.array([1 << 32 | 5, 2 << 32 | 3], np.uint64))
    >>> some.count(), [block.tolist() for block in some.blocks(swapped=True)]
    (2, [[12884901890, 21474836481]])
    """

    __slots__ = ("keys",)

    def __init__(self, keys: U64 = NO_KEYS) -> None:
        self.keys: U64 = frozen(keys)

    def count(self) -> int:
        """How many pairs there are."""
        return len(self.keys)

    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """The pairs in order, in pieces."""
        keys = _swapped(self.keys) if swapped else self.keys
        for at in range(0, len(keys), size):
            yield keys[at : at + size]


_swapped = swapped


def all_keys(pairs: Pairs) -> U64:
    """All pairs as one sorted array, for sets known to be small."""
    found = list(pairs.blocks())
    return np.concatenate(found) if found else NO_KEYS
