"""A scheme beside the tables it belongs to: whose closure it is, and whether that is written out.

Start reading at `Attached`. Tables are values, and so are schemes. A scheme that is attached to
tables is right for these and no others, whatever becomes of the transaction that made them; tables
without one (those of a store that was just opened) are no less right: the scheme can be built of
what they hold.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import NamedTuple, TypeAlias, cast

from triplestore.closures.chains.regular_closure import RegularClosure
from triplestore.closures.scheme import Scheme
from triplestore.closures.transitive.transitive_closure import TransitiveClosure
from triplestore.closures.unions.union_of import UnionOf

TRANSITIVE, SYMMETRIC, CHAINS, UNION = "transitive", "symmetric", "chain", "union"
LEAP = "leap"

CLOSED = (TRANSITIVE, SYMMETRIC)
"""The kinds that are one closure."""


class Structure(NamedTuple):
    """What the recursive rules of some relations come to: one closure, seen from two sides.

    kind       TRANSITIVE, SYMMETRIC (and transitive), CHAINS: of a regular system of chains, or
               UNION: of the relations that its one-step chains lead through, and its own rows,
               LEAP: one rule says it is transitive, and others are in between
    relations  their names
    turned     for each of them, whether its pairs are those of the closure turned around
    chains     of CHAINS and UNION: (relation, steps as (relation, whether it is turned around))
    """

    kind: str
    relations: tuple[bytes, ...]
    turned: tuple[bool, ...]
    chains: tuple[tuple[bytes, tuple[tuple[bytes, bool], ...]], ...] = ()

    @property
    def is_union(self) -> bool:
        """Whether it is a union of other relations, and no closure."""
        return self.kind == UNION


class Ground(NamedTuple):
    """What a transitive relation that other rules go through is the closure of.

    sure   of the edges that come from outside: stated, or derived by rules that are not recursive
    every  of these and of edges that other recursive rules derive: of all that it takes
    rules  the recursive rules of its stratum (their signatures), on which it depends what is sure
    """

    sure: TransitiveClosure
    every: TransitiveClosure
    rules: frozenset[Hashable]

    def nbytes(self) -> int:
        """The memory it takes."""
        every = 0 if self.every is self.sure else self.every.nbytes()
        return self.sure.nbytes() + every


class Attached(NamedTuple):
    """The closure of some relations.

    ids         of the relations, in the order of `structure.relations`
    scheme      of chains all their relations, of a union what its parts are, of leaps a ground,
                else one closure (see `chains`, `union`, `ground` and `closure`)
    compressed  whether the tables hold its edges only; if not, all pairs are rows
    """

    structure: Structure
    ids: tuple[int, ...]
    scheme: Scheme | RegularClosure | UnionOf | Ground
    compressed: bool

    @property
    def closure(self) -> Scheme:
        """The scheme of a structure that is one closure."""
        assert self.structure.kind not in (CHAINS, UNION, LEAP)
        return cast("Scheme", self.scheme)  # the structure says which of the two it is

    @property
    def chains(self) -> RegularClosure:
        """The scheme of a structure of chains."""
        assert self.structure.kind == CHAINS
        return cast("RegularClosure", self.scheme)  # the structure says which of the two it is

    @property
    def union(self) -> UnionOf:
        """What the parts of a structure are that is a union."""
        assert self.structure.kind == UNION
        return cast("UnionOf", self.scheme)  # the structure says which of them it is

    @property
    def ground(self) -> Ground:
        """What the relation of a structure of leaps is the closure of."""
        assert self.structure.kind == LEAP
        return cast("Ground", self.scheme)  # the structure says which of them it is

    def closures(self) -> Iterator[tuple[int, Scheme | UnionOf, bool]]:
        """The relations of which the pairs are no rows: (id, pairs, whether they are turned)."""
        if self.compressed:
            scheme = self.union if self.structure.kind == UNION else self.closure
            for name, turned in zip(self.ids, self.structure.turned, strict=True):
                yield name, scheme, turned


Schemes: TypeAlias = Mapping[int, Attached]
"""By the id of the first relation; leaps by `leap_key` of it, which is nothing else's key."""


def leap_key(relation: int) -> int:
    """Where the ground of a relation is kept: below all ids.

    >>> leap_key(7), leap_key(leap_key(7))
    (-8, 7)
    """
    return ~relation
