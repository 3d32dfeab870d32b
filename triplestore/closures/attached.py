"""Schemes attached to tables: which relations they are the closure of, and how that is stored.

Start reading at `Attached`. Tables and schemes are immutable values. A scheme that is attached to
tables is valid for exactly these. Tables without their scheme (those of a store that was just
opened) are complete as well: the scheme can be built from their rows (`kinds.py`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from triplestore.closures.scheme import Scheme

if TYPE_CHECKING:
    from triplestore.closures.chains.regular_closure import RegularClosure
    from triplestore.closures.transitive.transitive_closure import TransitiveClosure
    from triplestore.closures.union_view import UnionOf

TRANSITIVE, SYMMETRIC, CHAINS, UNION = "transitive", "symmetric", "chain", "union"
LEAP = "leap"

CLOSED = (TRANSITIVE, SYMMETRIC)
"""The kinds that consist of one closure."""


class Structure(NamedTuple):
    """The structure that the recursive rules of some relations define.

    kind       TRANSITIVE; SYMMETRIC (and transitive); CHAINS: a regular system of chains; UNION: of
               the relations of its one-step chains and its own rows; LEAP: transitive by one rule,
               with other rules in between
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
    """The closures of a transitive relation that other recursive rules depend on.

    sure   of the edges from outside: asserted, or derived by rules that are not recursive
    every  of these and of the edges that other recursive rules derive
    rules  the recursive rules of its stratum (their signatures), on which `sure` depends
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
    scheme      all relations of chains, the parts of a union, the ground of leaps, else one
                closure (see `chains`, `union`, `ground` and `closure`)
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
        return cast("Scheme", self.scheme)  # by `structure.kind`

    @property
    def chains(self) -> RegularClosure:
        """The scheme of a structure of chains."""
        assert self.structure.kind == CHAINS
        return cast("RegularClosure", self.scheme)  # by `structure.kind`

    @property
    def union(self) -> UnionOf:
        """The parts of a structure that is a union."""
        assert self.structure.kind == UNION
        return cast("UnionOf", self.scheme)  # by `structure.kind`

    @property
    def ground(self) -> Ground:
        """The closures of the relation of a structure of leaps."""
        assert self.structure.kind == LEAP
        return cast("Ground", self.scheme)  # by `structure.kind`

    def closures(self) -> Iterator[tuple[int, Scheme | UnionOf, bool]]:
        """The relations whose pairs are not stored as rows: (id, pairs, whether they are
        turned)."""
        if self.compressed:
            scheme = self.union if self.structure.kind == UNION else self.closure
            for name, turned in zip(self.ids, self.structure.turned, strict=True):
                yield name, scheme, turned


Schemes: TypeAlias = Mapping[int, Attached]
"""Schemes by the id of the first relation; leaps by the `leap_key` of it."""


def leap_key(relation: int) -> int:
    """The key of the ground of a relation: less than all ids.

    >>> leap_key(7), leap_key(leap_key(7))
    (-8, 7)
    """
    return ~relation
