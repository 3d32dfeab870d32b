"""Minimal sets of facts whose removal ends a conclusion: start at `minimal_repairs`.

A *reason* is a set of asserted facts that is enough for the conclusion. A repair has a fact of
every reason: it is a hitting set. Reasons are not listed in advance, since there may be very many:
the conclusion is tried without some facts, and if it still holds, the next reason is read off its
proof (Reiter's tree of hitting sets, by size). A reason that was found before and has none of the
removed facts saves the trial.

Always true: each result ends the conclusion, and no proper subset of it does. If the search ends
without a bound, and rules only conclude more from more facts, these are all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from triplestore.data_classes import data_class
from triplestore.thread_limits import look

Fact = TypeVar("Fact", bound=Hashable)

Try = Callable[["frozenset[Fact]"], "frozenset[Fact] | None"]
"""A reason that is left when some facts are removed; None if the conclusion does not hold."""


@data_class
class HittingSets(Generic[Fact]):
    """The repairs in the order of their size, and whether the search was cut short.

    stuck  whether a reason has only facts that must stay
    """

    found: list[frozenset[Fact]]
    cut: bool
    stuck: bool


def minimal_repairs(
    attempt: Try[Fact], may_go: Callable[[Fact], bool], *, trials: int, most: int, largest: int
) -> HittingSets[Fact]:
    """The minimal sets of facts that may go and without which a conclusion does not hold.

    trials   maximum number of attempts
    most     maximum number of repairs
    largest  maximum number of facts of one

    >>> reasons = [frozenset("ab"), frozenset("bc")]
    >>> def attempt(gone):
    ...     return next((reason for reason in reasons if not reason & gone), None)
    >>> found = minimal_repairs(attempt, lambda _: True, trials=100, most=10, largest=5).found
    >>> [sorted(one) for one in found]
    [['b'], ['a', 'c']]
    """
    found: list[frozenset[Fact]] = []
    reasons: list[frozenset[Fact]] = []
    queue: deque[frozenset[Fact]] = deque([frozenset()])
    seen: set[frozenset[Fact]] = {frozenset()}
    cut = stuck = False
    while queue:
        look("looking for repairs")
        gone = queue.popleft()
        if any(one <= gone for one in found):
            continue
        reason = next((known for known in reasons if not known & gone), None)
        if reason is None:
            if not trials or len(found) >= most:
                cut = True
                break
            trials -= 1
            reason = attempt(gone)
            if reason is None:
                found.append(gone)
                continue
            reasons.append(reason)
        choices = [fact for fact in reason if may_go(fact) and fact not in gone]
        stuck |= not choices
        if choices and len(gone) >= largest:
            cut = True
            continue
        for fact in choices:
            further = gone | {fact}
            if further not in seen:
                seen.add(further)
                queue.append(further)
    return HittingSets(found, cut, stuck)
