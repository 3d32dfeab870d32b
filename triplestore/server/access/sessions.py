"""Sessions of the page: start at `Sessions.begin`.

Always true: sessions are in memory only and expire; the server keeps hashes of their keys.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeAlias

_MOST = 10_000

_Holder: TypeAlias = tuple[str, str | None]


class Sessions:
    """The users who are logged in, by the hash of the key in their cookie.

    >>> sessions = Sessions(seconds=60)
    >>> key = sessions.begin("ada", "scrypt$...")
    >>> sessions.holder_of(key)
    ('ada', 'scrypt$...')
    >>> sessions.end(key)
    >>> sessions.holder_of(key)
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._found: OrderedDict[bytes, tuple[_Holder, float]] = OrderedDict()

    def begin(self, name: str, password: str | None) -> str:
        """Begin a session of a user with this hash of a password; its key is for the cookie."""
        key = secrets.token_urlsafe(32)
        self._found[_hash(key)] = ((name, password), self._clock() + self.seconds)
        if len(self._found) > _MOST:
            self._found.popitem(last=False)
        return key

    def holder_of(self, key: str) -> _Holder | None:
        """The name of the user, and the hash of the password then; None if the session ended."""
        found = self._found.get(_hash(key))
        if found is None:
            return None
        if self._clock() >= found[1]:
            self.end(key)
            return None
        return found[0]

    def end(self, key: str) -> None:
        """End a session."""
        self._found.pop(_hash(key), None)


def _hash(key: str) -> bytes:
    """Looking up a hash instead of the key tells nothing by its time."""
    return hashlib.sha256(key.encode()).digest()
