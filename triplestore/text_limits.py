"""The maximum size of a query, an update, and a document of LOAD: start at `TextLimits`.

Always true: the limits are checked while a text is read, before any step whose time or memory grows
faster than the text.
"""

from __future__ import annotations

from triplestore.data_classes import data_class
from triplestore.errors import UsageError


@data_class
class TextLimits:
    """Limits of the text of a query or an update; callers may give others.

    size    characters
    tokens  words, names, numbers, strings, operators and brackets
    parts   triple patterns, steps of paths, groups, filters, keys, and expressions of SELECT,
            altogether; rows of VALUES, members of IN and templates are not counted

    document  bytes of a document that LOAD fetches from the network

    The maximum depth of parentheses, groups and operators is fixed, because Python's stack is
    limited: see `MOST_NESTED` and `MOST_DEEP`.

    >>> TextLimits(parts=0)
    Traceback (most recent call last):
    triplestore.errors.UsageError: the limit for parts must be at least 1, not 0
    """

    size: int = 64_000_000
    tokens: int = 8_000_000
    parts: int = 100_000
    document: int = 1 << 30

    def __post_init__(self) -> None:
        for name in ("size", "tokens", "parts", "document"):
            if getattr(self, name) < 1:
                raise UsageError(
                    f"the limit for {name} must be at least 1, not {getattr(self, name)}"
                )


DEFAULT = TextLimits()
