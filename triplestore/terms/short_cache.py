"""A cache of results for short arguments: start at `cache_of_short`.

A cache that is bounded by the number of its entries alone may hold any amount of memory, if whoever
asks chooses long arguments. What is always true: such a cache holds at most `maxsize` times some
hundred bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

LONGEST = 256
"""Bytes, or characters, of an argument whose result is kept."""

_Text = TypeVar("_Text", str, bytes)
_Result = TypeVar("_Result")


def cache_of_short(
    maxsize: int,
) -> Callable[[Callable[[_Text], _Result]], Callable[[_Text], _Result]]:
    """Keep the results of a function of one text, unless the text is long.

    >>> @cache_of_short(8)
    ... def doubled(text):
    ...     return [text, text]
    >>> doubled("a") is doubled("a"), doubled("a" * 1000) is doubled("a" * 1000)
    (True, False)
    """

    def of(function: Callable[[_Text], _Result]) -> Callable[[_Text], _Result]:
        kept = lru_cache(maxsize)(function)

        @wraps(function)
        def called(text: _Text) -> _Result:
            return kept(text) if len(text) <= LONGEST else function(text)

        return called

    return of
