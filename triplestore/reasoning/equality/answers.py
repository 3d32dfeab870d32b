"""One answer for each class of equals: a state as its representatives.

Start reading at `of_representatives`. A query for representatives is asked of the tables that rules
see; the names in it stand for their classes, so that any member will do. Nothing else changes, and
the graphs that quads are in have stated triples in their own terms, as always.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from triplestore.errors import UsageError
from triplestore.relations.views.equality import Classes, equality_of

if TYPE_CHECKING:
    from triplestore.relations.packed_keys import U32
    from triplestore.store.readable import View
    from triplestore.terms import Dictionary

ALL, REPRESENTATIVES = "all", "representatives"
"""What a query may ask for: all that holds, or one answer for each class."""


class Standing:
    """A dictionary in which each name of a thing is that of its representative."""

    def __init__(self, dictionary: Dictionary, classes: Classes) -> None:
        self._dictionary = dictionary
        self._classes = classes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dictionary, name)

    def lookup_key(self, key: bytes) -> int:
        """The id of what stands for this; 0 if it is unknown."""
        return int(self.lookup_keys([key])[0])

    def lookup_keys(self, keys: Sequence[bytes]) -> U32:
        """The ids of what stands for these; 0 for those that are unknown."""
        return self._classes.representatives(self._dictionary.lookup_keys(keys))


def of_representatives(view: View, equality: str | None) -> View:
    """The state that such a query is asked of."""
    if equality not in (None, ALL, REPRESENTATIVES):
        raise UsageError(f'equality={equality!r} is not known: say "{ALL}" or "{REPRESENTATIVES}"')
    found = equality_of(view.tables)
    if found is None or equality != REPRESENTATIVES:
        return view
    dictionary = cast("Dictionary", Standing(view.dictionary, found.classes))
    return replace(view, dictionary=dictionary, tables=found.tables)
