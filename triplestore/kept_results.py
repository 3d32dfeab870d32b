"""Results of a function, kept by its arguments up to a total weight.

`functools.lru_cache` limits the number of results, but not their size: the rules of an axiom with a
list of 3,000 classes take as much memory as those of 3,000 small axioms.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, Generic, TypeVar

R = TypeVar("R")


class KeptResults(Generic[R]):
    """A function that remembers its results; see `kept`."""

    def __init__(self, function: Callable[..., R], most: int, weight: Callable[[R], int]) -> None:
        update_wrapper(self, function)
        self._function = function
        self._most = most
        self._weight = weight
        self._results: dict[tuple[Any, ...], R] = {}
        self.weight = 0
        self.misses = 0

    def __call__(self, *arguments: Any) -> R:
        """The result for these arguments, computed unless it is kept."""
        found = self._results.get(arguments)
        if found is not None:
            return found
        made = self._function(*arguments)
        self.misses += 1
        weight = self._weight(made)
        if self.weight + weight > self._most:  # begin anew: what is in use comes back at once
            self._results.clear()
            self.weight = 0
        self.weight += weight
        self._results[arguments] = made
        return made


def kept(most: int, weight: Callable[[Any], int]) -> Callable[[Callable[..., R]], KeptResults[R]]:
    """Keep the results of a function of hashable arguments, but not None.

    most    maximum total weight; all results are dropped where one more would exceed it
    weight  of one result

    >>> @kept(most=100, weight=len)
    ... def repeated(text, times):
    ...     print("computed")
    ...     return text * times
    >>> repeated("ab", 2), repeated("ab", 2)
    computed
    ('abab', 'abab')
    """
    return lambda function: KeptResults(function, most, weight)
