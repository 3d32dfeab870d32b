"""A union of relations, as a view over its parts and its own rows.

Start at `UnionView`. A look-up asks every part and unites the answers; only the own rows are
stored. Parts may be closures. Full scans merge the sorted streams of the parts (`merged`).

Counting reads pairs only where parts may overlap: all pairs of the largest part count, and those of
other parts that no larger part has. Parts without a common subject or a common object are disjoint;
a closure whose edges are in another transitive relation is contained in that relation.

A closure depends on its edges only; a union depends on the current rows of its parts. So tables
keep a `UnionOf`: the names of the parts and the number of pairs. Tables ask its `over` for a view
of their own relations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np

from triplestore.closures.symmetric_transitive.symmetric_closure import SymmetricClosure
from triplestore.closures.thresholds import CLOSURES
from triplestore.closures.transitive.transitive_closure import TransitiveClosure
from triplestore.relations.facts.sorted_arrays import member, sorted_distinct
from triplestore.relations.packed_keys import (
    I64,
    NO_IDS,
    NO_KEYS,
    U32,
    U64,
    Bools,
    high,
    low,
    pack,
    swap,
)
from triplestore.relations.pair_relation import (
    BLOCK,
    Inverse,
    PairRelation,
    SortedRelation,
    inverse,
)

_SAMPLE = 256
_LOOK_UPS = 4  # looking up one pair in another part costs as much as merging this many


class UnionView(PairRelation):
    """All pairs of any part, and the own keys; immutable.

    keys   the own rows, sorted and distinct; they may be in parts as well

    >>> import numpy as np
    >>> one, other = np.array([1 << 32 | 5], np.uint64), np.array([1 << 32 | 7], np.uint64)
    >>> view = UnionView([SortedRelation(one), SortedRelation(np.concatenate((one, other)))], other)
    >>> view.count(), view.match(0, np.array([1], np.uint32))[1].tolist()
    (2, [5, 7])
    """

    def __init__(self, parts: Sequence[PairRelation], keys: U64 = NO_KEYS) -> None:
        self._own = SortedRelation(keys)
        self._parts: tuple[PairRelation, ...] = (*parts, self._own) if len(keys) else tuple(parts)

    @property
    def parts(self) -> tuple[PairRelation, ...]:
        """The parts, and the own rows if there are any."""
        return self._parts

    def nbytes(self) -> int:
        """The memory of its own rows; that of the parts is theirs."""
        return self._own.nbytes()

    def contains_keys(self, keys: U64) -> Bools:
        """Which of these pairs are in the relation."""
        found = np.zeros(len(keys), dtype=np.bool_)
        for part in self.parts:
            open_ones = (~found).nonzero()[0]
            found[open_ones] = part.contains_keys(keys[open_ones])
        return found

    def match(self, place: int, values: U32) -> tuple[I64, U32]:
        """The pairs with these ids in one place: (position in `values`, id in the other place)."""
        return _united([part.match(place, values) for part in self.parts])

    def match_counts(self, place: int, values: U32) -> I64:
        """The number of pairs with each of these ids; ids in several parts are looked up there."""
        return _counts(self.parts, place, values)

    def distinct(self, column: int) -> U32:
        """The ids that occur in this column, increasing."""
        found = [part.distinct(column) for part in self.parts]
        return sorted_distinct(np.concatenate(found)) if found else NO_IDS

    def blocks(self, size: int = BLOCK, *, swapped: bool = False) -> Iterator[U64]:
        """All pairs in order, merged from the streams of the parts."""
        each = max(1, size // max(1, len(self._needed)))
        return merged([part.blocks(each, swapped=swapped) for part in self._needed])

    def count(self) -> int:
        """The number of pairs, computed once; pairs that may be in several parts are looked up."""
        return self._count

    @cached_property
    def _count(self) -> int:
        total = sum(part.count() for part in self._needed)
        rest = [_Overlap(part, self._needed[:place]) for place, part in enumerate(self._needed)]
        if _LOOK_UPS * sum(shared.candidates for shared in rest) > total:
            return sum(map(len, self.blocks()))
        return total - sum(shared.count() for shared in rest)

    @cached_property
    def _needed(self) -> list[PairRelation]:
        """The parts without those contained in others; the largest first."""
        parts = sorted(self.parts, key=lambda part: -part.count())
        needed: list[PairRelation] = []
        for part in parts:
            if part.count() and not any(is_within(part, other) for other in needed):
                needed.append(part)
        return needed


def is_within(part: PairRelation, other: PairRelation) -> bool:
    """Whether `part` is known to be contained in `other`; False if unknown.

    If a closed relation contains the edges of another, it contains all pairs of its closure.
    """
    if part is other:
        return True
    if isinstance(part, Inverse):
        return is_within(part.of, inverse(other))
    if isinstance(part, SortedRelation):
        return _has_all(other, part.keys)
    closed = other.of if isinstance(other, Inverse) else other
    if not isinstance(closed, SymmetricClosure | TransitiveClosure):
        return False
    if isinstance(part, SymmetricClosure):
        return _has_all(other, part.edges) and _has_all(other, swap(part.edges))
    return isinstance(part, TransitiveClosure) and _has_all(other, part.edges)


def _has_all(relation: PairRelation, keys: U64) -> bool:
    """Whether all keys are in the relation; a sample is tried first, since mostly all or none
    are."""
    some = keys[:: max(1, len(keys) // _SAMPLE)]
    return bool(relation.contains_keys(some).all() and relation.contains_keys(keys).all())


def _united(found: list[tuple[I64, U32]]) -> tuple[I64, U32]:
    """The answers of several parts for the same ids, united."""
    some = [pairs for pairs in found if len(pairs[0])]
    if len(some) == 1:
        return some[0]
    keys = unite(pack(owners.astype(np.uint32), others) for owners, others in some)
    return high(keys).astype(np.int64), low(keys)


def _counts(parts: Sequence[PairRelation], place: int, values: U32) -> I64:
    """How many pairs of any part have each of these ids in one place."""
    total = np.zeros(len(values), dtype=np.int64)
    having = np.zeros(len(values), dtype=np.int64)
    for part in parts:
        counts = part.match_counts(place, values)
        total += counts
        having += counts > 0
    several = (having > 1).nonzero()[0]
    for at, stop in _batches(total[several]):
        chosen = several[at:stop]
        owners, _ = _united([part.match(place, values[chosen]) for part in parts])
        total[chosen] = np.bincount(owners, minlength=len(chosen))
    return total


class _Overlap:
    """The pairs of `part` that some of the others have.

    They are among the pairs with a subject, or an object, that others have too. `candidates` is the
    estimated number of these, for the place where it is smaller.
    """

    def __init__(self, part: PairRelation, others: Sequence[PairRelation]) -> None:
        rivals = [other for other in others if _may_share(part, other)]
        self.candidates = 0
        self._part, self._rivals, self._place = part, rivals, 0
        if rivals:
            guesses = [_guess(part, rivals, place) for place in (0, 1)]
            self.candidates = min(guesses)
            self._place = guesses.index(self.candidates)

    def count(self) -> int:
        """The number of pairs; all candidates are looked up."""
        if not self.candidates:
            return 0
        part, rivals, place, common = self._part, UnionView(self._rivals), self._place, 0
        ids = part.distinct(place)
        ids = ids[member(ids, rivals.distinct(place))]
        for at, stop in _batches(part.match_counts(place, ids)):
            some = ids[at:stop]
            owners, ends = part.match(place, some)
            keys = pack(ends, some[owners]) if place else pack(some[owners], ends)
            common += int(rivals.contains_keys(keys).sum())
        return common


def _guess(part: PairRelation, others: Sequence[PairRelation], place: int) -> int:
    """About how many pairs of `part` have an id in one place that others have too: at least 1."""
    ids = part.distinct(place)
    some = ids[:: max(1, len(ids) // _SAMPLE)]
    shared = np.zeros(len(some), dtype=np.bool_)
    for other in others:
        shared |= member(some, other.distinct(place))
    pairs = int(part.match_counts(place, some[shared]).sum())
    return max(1, pairs * len(ids) // len(some))


def _may_share(part: PairRelation, other: PairRelation) -> bool:
    """False if the two have no id in common in one of the places."""
    return all(_meet(part.distinct(place), other.distinct(place)) for place in (0, 1))


def _meet(one: U32, other: U32) -> bool:
    """Whether two sorted arrays share an id; a sample is tried first."""
    if len(one) > len(other):
        one, other = other, one
    some = one[:: max(1, len(one) // _SAMPLE)]
    return bool(member(some, other).any() or member(one, other).any())


def _batches(sizes: I64) -> Iterator[tuple[int, int]]:
    """Ranges of nodes that have about `looked_up_pairs` pairs together."""
    ends = np.cumsum(sizes)
    at = 0
    while at < len(sizes):
        before = int(ends[at - 1]) if at else 0
        stop = max(at + 1, int(ends.searchsorted(before + CLOSURES.looked_up_pairs, side="right")))
        yield at, stop
        at = stop


def unite(arrays: Iterable[U64]) -> U64:
    """The union of sorted arrays of distinct keys; the smallest are united first."""
    todo = sorted((array for array in arrays if len(array)), key=len)
    if len(todo) > 1 and sum(map(len, todo)) < CLOSURES.kernel_rows:
        return sorted_distinct(np.concatenate(todo))
    while len(todo) > 1:
        todo[:2] = [_unite(todo[0], todo[1])]
        todo.sort(key=len)
    return todo[0] if todo else NO_KEYS


def _unite(left: U64, right: U64) -> U64:
    if left[-1] < right[0]:
        return np.concatenate((left, right))
    if right[-1] < left[0]:
        return np.concatenate((right, left))
    from triplestore.kernels.rows.sorted_sets import unite as unite_keys

    out = np.empty(len(left) + len(right), dtype=np.uint64)
    return out[: unite_keys(left, right, out)]


def merged(streams: Sequence[Iterator[U64]]) -> Iterator[U64]:
    """The distinct keys of all streams, in order.

    streams  of non-empty blocks, increasing over the whole of each stream

    >>> one, other = (iter([np.array(keys, np.uint64)]) for keys in ([1, 5, 9], [4, 5, 20]))
    >>> [block.tolist() for block in merged([one, other])]
    [[1, 4, 5, 9], [20]]
    """
    heads: list[tuple[U64, Iterator[U64]]] = []
    for stream in streams:
        block = next(stream, None)
        if block is not None:
            heads.append((block, stream))
    while len(heads) > 1:
        bound = min(block[-1] for block, _ in heads)  # no later block has a key up to this
        taken: list[U64] = []
        left: list[tuple[U64, Iterator[U64]]] = []
        for block, stream in heads:
            stop = int(block.searchsorted(bound, side="right"))
            taken.append(block[:stop])
            rest = block[stop:] if stop < len(block) else next(stream, None)
            if rest is not None:
                left.append((rest, stream))
        yield unite(taken)
        heads = left
    for block, stream in heads:
        yield block
        yield from stream


UnionPart: TypeAlias = tuple[int, bool]
"""A relation, and whether it is turned around."""

ReadRelation: TypeAlias = Callable[[int, bool], PairRelation]
"""The pairs of a relation; if the second argument is true, only those stored as rows."""


class UnionOf:
    """The union of the rows of a relation and all pairs of others.

    own    the relation whose rows belong to the union
    parts  the others
    pairs  the number of pairs; None if they were not counted yet
    """

    __slots__ = ("own", "pairs", "parts")

    def __init__(self, own: int, parts: tuple[UnionPart, ...], pairs: int | None = None) -> None:
        self.own = own
        self.parts = parts
        self.pairs = pairs

    def over(self, read: ReadRelation) -> UnionView:
        """The union as a relation."""
        return UnionOver(self, read)

    def nbytes(self) -> int:
        """It takes no memory beside its parts."""
        return 0


class UnionOver(UnionView):
    """A view whose parts are looked up at its first use."""

    def __init__(self, union: UnionOf, read: ReadRelation) -> None:
        self._union = union
        self._read = read

    @property
    def parts(self) -> tuple[PairRelation, ...]:
        """The rows of the relation and the other relations; unions of unions are flattened."""
        return self._found

    @cached_property
    def _found(self) -> tuple[PairRelation, ...]:
        found: dict[tuple[int, bool], PairRelation] = {}
        sources = [(self._read(self._union.own, True), False)]
        sources += [(self._read(name, False), turned) for name, turned in self._union.parts]
        for relation, turned in sources:
            base, around = _unturned(relation, turned)
            for part in base.parts if isinstance(base, UnionView) else (base,):
                plain, way = _unturned(part, around)
                found[id(plain), way] = Inverse(plain) if way else plain
        return tuple(found.values())

    def nbytes(self) -> int:
        """It takes no memory of its own."""
        return 0

    def count(self) -> int:
        """The number of pairs, counted at most once."""
        known = self._union.pairs
        if known is None:
            known = self._union.pairs = super().count()
        return known


def _unturned(relation: PairRelation, turned: bool) -> tuple[PairRelation, bool]:
    """The relation without its outer `Inverse`, and whether it is turned around then."""
    return (relation.of, not turned) if isinstance(relation, Inverse) else (relation, turned)
