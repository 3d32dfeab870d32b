"""Results of shapes in a comparison: the hook for a package that knows them.

`ShapeResults` is a function that gives the results of a state as texts, one for each result, equal
for equal results. A comparison calls it once with each state, if it is given one, and reports what
came and what went. Nothing of it is blamed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TypeAlias

from triplestore.store.state_view import StateView

ShapeResults: TypeAlias = "Callable[[StateView], Iterable[str]]"
"""The results of shapes in a state, such as `:Person node :ada: less than 1 name`."""


def changed_results(
    results: ShapeResults | None, before: StateView, after: StateView
) -> list[tuple[bool, str]]:
    """The results that came (True) and those that went (False), sorted."""
    if results is None:
        return []
    was, now = Counter(results(before)), Counter(results(after))
    came = [(True, text) for text in sorted((now - was).elements())]
    return came + [(False, text) for text in sorted((was - now).elements())]
