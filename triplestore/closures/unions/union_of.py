"""A union that is said by the names of its parts, and read from whatever tables it stands beside.

Start at `UnionOf`. A closure is what it is by its edges; a union is what its parts are at the time.
So nothing of it is kept but which parts it has and how many pairs there are: tables ask `over` for
a view of their own relations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from triplestore.closures.scheme import Readable
    from triplestore.closures.unions.union_view import UnionView

Part: TypeAlias = tuple[int, bool]
"""A relation, and whether it is turned around."""

Read: TypeAlias = "Callable[[int, bool], tuple[Readable, bool]]"
"""The pairs of a relation (or only those written as rows), and whether they are turned around."""


class UnionOf:
    """The union of the rows of a relation and all pairs of others.

    own    the relation, of which the rows belong to the union
    parts  the others
    pairs  how many there are in all; None if nobody has counted them
    """

    __slots__ = ("own", "pairs", "parts")

    def __init__(self, own: int, parts: tuple[Part, ...], pairs: int | None = None) -> None:
        self.own = own
        self.parts = parts
        self.pairs = pairs

    def over(self, read: Read) -> UnionView:
        """The union as relations are that can be read."""
        from triplestore.closures.unions.union_view import UnionOver

        return UnionOver(self, read)

    def nbytes(self) -> int:
        """Nothing beside what the parts take."""
        return 0
