"""Failed logins slow further ones down: start at `Failures.begin`.

Always true: an attempt counts as failed until it has succeeded, so that many attempts at once are
not better than one after the other.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv6Address, ip_address

from triplestore.data_classes import data_class


@data_class(frozen=False)
class _Record:
    """Failures of one address or name; attempts before `until` are refused."""

    count: int = 0
    until: float = 0.0
    last: float = 0.0


class Failures:
    """Counts failures of addresses and of names.

    free      failures without a wait; each further one doubles the wait
    longest   maximum seconds to wait
    forgotten seconds after which failures are forgotten

    >>> failures = Failures(free=1, clock=lambda: 0.0)
    >>> [failures.begin(["address"]) for _ in range(3)]
    [0.0, 1.0, 1.0]
    """

    def __init__(
        self,
        *,
        free: int = 5,
        longest: float = 60.0,
        forgotten: float = 900.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._free, self._longest, self._forgotten = free, longest, forgotten
        self._clock = clock
        self._found: OrderedDict[str, _Record] = OrderedDict()

    def begin(self, keys: list[str]) -> float:
        """Begin an attempt; the seconds to wait if it comes too early, otherwise 0."""
        now = self._clock()
        records = [self._record(key, now) for key in keys]
        wait = max(record.until - now for record in records)
        if wait > 0:
            return wait
        for record in records:
            record.count += 1
            record.last = now
            if record.count >= self._free:
                record.until = now + min(2.0 ** (record.count - self._free), self._longest)
        return 0.0

    def succeeded(self, keys: list[str]) -> None:
        """Forget the failures of a client that has logged in."""
        for key in keys:
            self._found.pop(key, None)

    def _record(self, key: str, now: float) -> _Record:
        record = self._found.get(key)
        if record is None or now - record.last > self._forgotten:
            record = self._found[key] = _Record()
            if len(self._found) > 10_000:
                self._found.popitem(last=False)
        self._found.move_to_end(key)
        return record


@lru_cache(1024)
def network_of(address: str) -> str:
    """What counts as one client: an IPv4 address, or the /64 network of an IPv6 address.

    >>> network_of("2001:db8::1:2:3:4"), network_of("192.0.2.7")
    ('2001:db8::/64', '192.0.2.7')
    """
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return f"{IPv6Address(int(parsed) >> 64 << 64)}/64"
    return str(parsed)
