"""Sessions of the page: start at `Sessions.begin`.

Always true: sessions are in memory only and expire; the server keeps hashes of their keys.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable

_MOST = 10_000


class Sessions:
    """The users who are logged in, by the hash of the key in their cookie.

    >>> sessions = Sessions(seconds=60)
    >>> key = sessions.begin("ada")
    >>> sessions.name_of(key)
    'ada'
    >>> sessions.end(key)
    >>> sessions.name_of(key)
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._found: OrderedDict[bytes, tuple[str, float]] = OrderedDict()

    def begin(self, name: str) -> str:
        """Begin a session; its key goes into the cookie."""
        key = secrets.token_urlsafe(32)
        self._found[_hash(key)] = (name, self._clock() + self.seconds)
        if len(self._found) > _MOST:
            self._found.popitem(last=False)
        return key

    def name_of(self, key: str) -> str | None:
        """The name of the user of a session; None if it has ended."""
        name, until = self._found.get(_hash(key), (None, 0.0))
        if name is not None and self._clock() >= until:
            self.end(key)
            return None
        return name

    def end(self, key: str) -> None:
        """End a session."""
        self._found.pop(_hash(key), None)


def _hash(key: str) -> bytes:
    """Looking up a hash instead of the key tells nothing by its time."""
    return hashlib.sha256(key.encode()).digest()
