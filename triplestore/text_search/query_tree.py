"""A text query as data: what `query_parser` makes of its text, and `compile_query` reads."""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

from triplestore.data_classes import data_class


class Occurs(Enum):
    """What a clause of a group says about the texts that match."""

    SHOULD = "should"
    MUST = "must"
    MUST_NOT = "must not"


@data_class
class Word:
    """A word, or several that are written together (`well-known`): those are a phrase."""

    text: str


@data_class
class Phrase:
    """Words in this order; the last one may be a prefix.

    slop  how many words may stand between them
    """

    text: str
    slop: int = 0
    prefix: bool = False


@data_class
class WordPattern:
    """A word with `*` for any characters and `?` for one; other characters stand for themselves.

    parts  texts, and `*` or `?` as None and False
    """

    parts: tuple[str | bool | None, ...]


@data_class
class Fuzzy:
    """A word of which at most `distance` letters are changed."""

    text: str
    distance: int


@data_class
class WordExpression:
    """A regular expression that a whole word matches."""

    text: str
    at: int


@data_class
class Everything:
    """Any text."""


@data_class
class Boosted:
    """A part whose score is multiplied."""

    part: TextNode
    factor: float


@data_class
class Clauses:
    """A group of clauses: all MUST match, none of MUST_NOT; without MUST one of SHOULD."""

    parts: tuple[tuple[Occurs, TextNode], ...]


TextNode: TypeAlias = (
    Word | Phrase | WordPattern | Fuzzy | WordExpression | Everything | Boosted | Clauses
)
