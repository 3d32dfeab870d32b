"""A relation that is the union of others, kept as a view over them and its own rows.

Start at `UnionView`. A look-up asks every part and unites what they give; nothing is kept beside
the own rows. What a part has is not repeated, however it is kept: parts are read by their readable
side alone, and may be closures. Full scans merge the sorted streams of the parts.

Counting looks at pairs only where parts may overlap: all pairs of the largest part count, and of
the others those that no larger part has. Parts whose subjects or whose objects have nothing in
common are disjoint; a closure whose edges lie in another transitive relation is contained in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from triplestore.closures.packed_pairs import (
    I64,
    NO_IDS,
    NO_KEYS,
    U32,
    U64,
    Bools,
    first,
    member,
    pack,
    second,
    sorted_distinct,
    swap,
)
from triplestore.closures.scheme import BLOCK, Difference, Pairs, Readable
from triplestore.closures.symmetric_transitive.symmetric_closure import SymmetricClosure
from triplestore.closures.transitive.transitive_closure import TransitiveClosure
from triplestore.closures.unions.union_rows import Inverse, Rows
from triplestore.closures.unions.union_streams import merged, unite

if TYPE_CHECKING:
    from triplestore.closures.unions.union_of import Read, UnionOf

_SAMPLE = 256
_LOOK_UPS = 4  # looking a pair up in another part costs as much as merging so many


class UnionView:
    """All pairs that some part has, or that are among the own keys; immutable as the parts are.

    keys   the own rows, sorted and distinct; they may be in parts as well

    >>> import numpy as np
    >>> one, other = np.array([1 << 32 | 5], np.uint64), np.array([1 << 32 | 7], np.uint64)
    >>> view = UnionView([Rows(one), Rows(np.concatenate((one, other)))], other)
    >>> view.count(), view.forward(np.array([1], np.uint32))[1].tolist()
    (2, [5, 7])
    """

    def __init__(self, parts: Sequence[Readable], keys: U64 = NO_KEYS) -> None:
        self._own = Rows(keys)
        self._parts: tuple[Readable, ...] = (*parts, self._own) if len(keys) else tuple(parts)

    @property
    def parts(self) -> tuple[Readable, ...]:
        """The parts, and the own rows if there are any."""
        return self._parts

    def nbytes(self) -> int:
        """The memory of its own rows; that of the parts is theirs."""
        return self._own.nbytes()

    def contains(self, keys: U64) -> Bools:
        """Which of these pairs are in the relation."""
        found = np.zeros(len(keys), dtype=np.bool_)
        for part in self.parts:
            open_ones = (~found).nonzero()[0]
            found[open_ones] = part.contains(keys[open_ones])
        return found

    def forward(self, nodes: U32) -> tuple[I64, U32]:
        """The pairs that begin with each node: (place in `nodes`, second id)."""
        return _united([part.forward(nodes) for part in self.parts])

    def backward(self, nodes: U32) -> tuple[I64, U32]:
        """The pairs that end with each node: (place in `nodes`, first id)."""
        return _united([part.backward(nodes) for part in self.parts])

    def forward_counts(self, nodes: U32) -> I64:
        """How many pairs begin with each node; those of nodes in several parts are looked at."""
        return _counts(self.parts, nodes)

    def backward_counts(self, nodes: U32) -> I64:
        """How many pairs end with each node; those of nodes in several parts are looked at."""
        return _counts([Inverse(part) for part in self.parts], nodes)

    def subjects(self) -> U32:
        """The first ids, sorted and distinct."""
        return _united_ids([part.subjects() for part in self.parts])

    def objects(self) -> U32:
        """The second ids, sorted and distinct."""
        return _united_ids([part.objects() for part in self.parts])

    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """All pairs in order, merged from the streams of the parts."""
        each = max(1, size // max(1, len(self._needed)))
        return merged([part.blocks(each, swapped=swapped) for part in self._needed])

    def count(self) -> int:
        """How many pairs there are: those that may be in several parts are looked at, once."""
        return self._count

    @cached_property
    def _count(self) -> int:
        total = sum(part.count() for part in self._needed)
        rest = [_Overlap(part, self._needed[:place]) for place, part in enumerate(self._needed)]
        if _LOOK_UPS * sum(shared.candidates for shared in rest) > total:
            return sum(map(len, self.blocks()))
        return total - sum(shared.count() for shared in rest)

    @cached_property
    def _needed(self) -> list[Readable]:
        """The parts without those that others contain; the largest first."""
        parts = sorted(self.parts, key=lambda part: -part.count())
        needed: list[Readable] = []
        for part in parts:
            if part.count() and not any(is_within(part, other) for other in needed):
                needed.append(part)
        return needed


class UnionOver(UnionView):
    """A view over parts that are looked for when something is first asked."""

    def __init__(self, union: UnionOf, read: Read) -> None:
        self._union = union
        self._read = read

    @property
    def parts(self) -> tuple[Readable, ...]:
        """The rows of the relation and the other relations, as they are read."""
        return self._found

    @cached_property
    def _found(self) -> tuple[Readable, ...]:
        found: dict[tuple[int, bool], Readable] = {}
        read = self._read
        sources = [(*read(self._union.own, True), False)]
        sources += [(*read(name, False), turned) for name, turned in self._union.parts]
        for pairs, turned, again in sources:
            inner = pairs.parts if isinstance(pairs, UnionView) else (pairs,)
            for part in inner:  # unions of unions are one
                around = turned != again
                found[id(part), around] = Inverse(part) if around else part
        return tuple(found.values())

    def nbytes(self) -> int:
        """Nothing of its own."""
        return 0

    def count(self) -> int:
        """How many pairs there are; counted once, if nobody knew."""
        known = self._union.pairs
        if known is None:
            known = self._union.pairs = super().count()
        return known


def is_within(part: Readable, other: Readable) -> bool:
    """Whether `part` is known to be contained in `other`: a False says nothing.

    What a closed relation has of the edges of another, it has of all their closure.
    """
    if part is other:
        return True
    if isinstance(part, Inverse):
        return is_within(part.of, other.of if isinstance(other, Inverse) else Inverse(other))
    if isinstance(part, Rows):
        return _has_all(other, part.keys)
    closed = other.of if isinstance(other, Inverse) else other
    if not isinstance(closed, SymmetricClosure | TransitiveClosure):
        return False
    if isinstance(part, SymmetricClosure):
        return _has_all(other, part.edges) and _has_all(other, swap(part.edges))
    return isinstance(part, TransitiveClosure) and _has_all(other, part.edges)


def _has_all(relation: Readable, keys: U64) -> bool:
    """Whether all keys are in the relation: some of them first, since most are in none or all."""
    some = keys[:: max(1, len(keys) // _SAMPLE)]
    return bool(relation.contains(some).all() and relation.contains(keys).all())


def union_difference(
    before: UnionView, after: UnionView, changes: Sequence[Difference]
) -> Difference:
    """What the changes of its parts did to a union: exact, and counted by streaming the changes.

    changes  of the parts and of the own rows; those of one part may be in several pieces
    """
    lost = _Remaining([change.lost for change in changes], after)
    gained = _Remaining([change.gained for change in changes], before)
    return Difference(lost, gained)


class _Remaining:
    """The pairs of some sets that a relation does not have."""

    def __init__(self, sets: Sequence[Pairs], taken: Readable) -> None:
        self._sets, self._taken = sets, taken

    @cached_property
    def _count(self) -> int:
        return sum(map(len, self.blocks()))

    def count(self) -> int:
        """How many pairs there are, found by streaming them the first time."""
        return self._count

    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """The pairs in order."""
        each = max(1, size // max(1, len(self._sets)))
        for block in merged([pairs.blocks(each, swapped=swapped) for pairs in self._sets]):
            taken = self._taken.contains(swap(block) if swapped else block)
            if not taken.all():
                yield block[~taken]


def _united(found: list[tuple[I64, U32]]) -> tuple[I64, U32]:
    """What several parts gave for the same nodes, as one part would give it."""
    some = [pairs for pairs in found if len(pairs[0])]
    if len(some) == 1:
        return some[0]
    keys = unite(pack(owners.astype(np.uint32), others) for owners, others in some)
    return first(keys).astype(np.int64), second(keys)


def _united_ids(arrays: list[U32]) -> U32:
    return sorted_distinct(np.concatenate(arrays)) if arrays else NO_IDS


def _counts(parts: Sequence[Readable], nodes: U32) -> I64:
    """How many pairs of any part begin with each node."""
    total = np.zeros(len(nodes), dtype=np.int64)
    having = np.zeros(len(nodes), dtype=np.int64)
    for part in parts:
        counts = part.forward_counts(nodes)
        total += counts
        having += counts > 0
    several = (having > 1).nonzero()[0]
    for at, stop in _batches(total[several]):
        chosen = several[at:stop]
        owners, _ = _united([part.forward(nodes[chosen]) for part in parts])
        total[chosen] = np.bincount(owners, minlength=len(chosen))
    return total


class _Overlap:
    """The pairs of `part` that some of the others have.

    They are among those that begin with a subject, or end with an object, that others have too.
    `candidates` guesses from some nodes how many these are, on the side where they are fewer.
    """

    def __init__(self, part: Readable, others: Sequence[Readable]) -> None:
        rivals = [other for other in others if _may_share(part, other)]
        self.candidates = 0
        self._part: Readable = part
        self._rivals: Sequence[Readable] = rivals
        if not rivals:
            return
        back, back_rivals = Inverse(part), [Inverse(rival) for rival in rivals]
        there, here = _guess(part, rivals), _guess(back, back_rivals)
        if here < there:
            self._part, self._rivals = back, back_rivals
        self.candidates = min(here, there)

    def count(self) -> int:
        """How many pairs it has: all candidates are looked up."""
        if not self.candidates:
            return 0
        part, rivals, common = self._part, UnionView(self._rivals), 0
        subjects = part.subjects()
        subjects = subjects[member(subjects, rivals.subjects())]
        for at, stop in _batches(part.forward_counts(subjects)):
            nodes = subjects[at:stop]
            owners, ends = part.forward(nodes)
            common += int(rivals.contains(pack(nodes[owners], ends)).sum())
        return common


def _guess(part: Readable, others: Sequence[Readable]) -> int:
    """About how many pairs of `part` begin with a subject of others: at least 1."""
    subjects = part.subjects()
    some = subjects[:: max(1, len(subjects) // _SAMPLE)]
    shared = np.zeros(len(some), dtype=np.bool_)
    for other in others:
        shared |= member(some, other.subjects())
    pairs = int(part.forward_counts(some[shared]).sum())
    return max(1, pairs * len(subjects) // len(some))


def _may_share(part: Readable, other: Readable) -> bool:
    """False if the two have no subject or no object in common."""
    return _meet(part.subjects(), other.subjects()) and _meet(part.objects(), other.objects())


def _meet(one: U32, other: U32) -> bool:
    """Whether two sorted arrays share an id: some ids first, since most share many or none."""
    if len(one) > len(other):
        one, other = other, one
    some = one[:: max(1, len(one) // _SAMPLE)]
    return bool(member(some, other).any() or member(one, other).any())


def _batches(sizes: I64) -> Iterator[tuple[int, int]]:
    """Ranges of nodes that have about a block of pairs together."""
    ends = np.cumsum(sizes)
    at = 0
    while at < len(sizes):
        before = int(ends[at - 1]) if at else 0
        stop = max(at + 1, int(ends.searchsorted(before + BLOCK, side="right")))
        yield at, stop
        at = stop
