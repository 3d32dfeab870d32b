"""A union that is described by the names of its parts, and read from the tables it belongs to.

Start reading at `UnionOf`. A closure depends on its edges only; a union depends on the current rows
of its parts. So only the names of the parts and the number of pairs are kept. Tables ask `over` for
a view of their own relations.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeAlias

from triplestore.closures.unions.union_view import UnionView
from triplestore.relations.pair_relation import Inverse, PairRelation

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
    """A view whose parts are looked up when something is first asked."""

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
