"""Limits of each client: start at `ClientLimits.enter`."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from triplestore.server.refusals import RefusedRequest

_MOST = 10_000


class ClientLimits:
    """How many queries one client (a user, or an address) has, and how often it asks.

    at_once   maximum number of queries that run or wait at the same time; 0 for no limit
    rate      maximum number of queries per second, on average; 0 for no limit

    >>> limits = ClientLimits(at_once=1, rate=0)
    >>> limits.enter("a"); limits.enter("b"); limits.leave("a"); limits.enter("a")
    >>> limits.enter("b")
    Traceback (most recent call last):
    triplestore.server.refusals.RefusedRequest: one client may have at most 1 query at a time
    """

    def __init__(
        self, at_once: int, rate: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._at_once, self._rate, self._clock = at_once, rate, clock
        self._counts: dict[str, int] = {}
        self._tokens: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self.refused = 0

    def enter(self, key: str, *, rated: bool = True) -> None:
        """Begin a query, or refuse it with 429; `rated` says whether the rate counts it."""
        count = self._counts.get(key, 0)
        if self._at_once and count >= self._at_once:
            queries = "query" if self._at_once == 1 else "queries"
            self._refuse(f"one client may have at most {self._at_once} {queries} at a time", 1)
        if self._rate and rated:
            self._take(key)
        self._counts[key] = count + 1

    def leave(self, key: str) -> None:
        """End a query."""
        count = self._counts.get(key, 0) - 1
        if count > 0:
            self._counts[key] = count
        else:
            self._counts.pop(key, None)

    def _take(self, key: str) -> None:
        """Take one from the client's bucket, which fills at the rate, up to two seconds' worth."""
        most = max(2 * self._rate, 1.0)
        now = self._clock()
        left, before = self._tokens.get(key, (most, now))
        left = min(most, left + (now - before) * self._rate)
        self._tokens[key] = (max(left - 1, 0.0) if left >= 1 else left, now)
        self._tokens.move_to_end(key)
        if len(self._tokens) > _MOST:
            self._tokens.popitem(last=False)
        if left < 1:
            wait = int((1 - left) / self._rate) + 1
            self._refuse(f"one client may send {self._rate:g} queries per second", wait)

    def _refuse(self, message: str, wait: int) -> None:
        self.refused += 1
        raise RefusedRequest(429, message, {"retry-after": str(wait)})
