"""Passwords and tokens as they are kept in a file: start at `password_hash` and `is_password`.

Passwords are hashed by scrypt, which needs 32 MiB for each attempt, so that a stolen file is
expensive to search. Tokens are 32 random bytes: a plain SHA-256 cannot be searched.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from base64 import b64decode, b64encode

from triplestore.data_classes import data_class
from triplestore.errors import UsageError

TOKEN_PREFIX = "ts_"


@data_class
class ScryptCost:
    """The parameters of scrypt: memory is 128 * n * r bytes, time is proportional to n * r * p.

    The defaults are those that OWASP recommends for 32 MiB.
    """

    n: int = 1 << 15
    r: int = 8
    p: int = 3


def password_hash(password: str, cost: ScryptCost | None = None) -> str:
    """The text to keep for a password, with a salt of its own.

    >>> is_password("secret", password_hash("secret", ScryptCost(n=16)))
    True
    >>> is_password("Secret", password_hash("secret", ScryptCost(n=16)))
    False
    """
    cost = cost or ScryptCost()
    salt = os.urandom(16)
    parts = [cost.n, cost.r, cost.p, _text(salt), _text(_scrypt(password, salt, cost))]
    return "$".join(["scrypt", *map(str, parts)])


def is_password(password: str, kept: str) -> bool:
    """Whether a password is the one whose hash was kept; compares in constant time."""
    cost, salt, expected = _parts(kept)
    return hmac.compare_digest(_scrypt(password, salt, cost), expected)


def hash_of_nothing() -> str:
    """A hash that no password has, for names that are unknown.

    >>> check_hash(hash_of_nothing())
    """
    cost = ScryptCost()
    parts = [cost.n, cost.r, cost.p, _text(os.urandom(16)), _text(os.urandom(32))]
    return "$".join(["scrypt", *map(str, parts)])


def check_hash(kept: str) -> None:
    """Refuse a text that `password_hash` cannot have made.

    >>> check_hash("secret")
    Traceback (most recent call last):
    triplestore.errors.UsageError: not a hash of a password: make one with `triplestore users add`
    """
    _parts(kept)


def new_token() -> str:
    """A new token, which is shown once and not kept."""
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


def token_hash(token: str) -> str:
    """The text to keep for a token.

    >>> token_hash("ts_x")[:20]
    'sha256$12f43d32b7bd2'
    """
    return "sha256$" + hashlib.sha256(token.encode()).hexdigest()


def _scrypt(password: str, salt: bytes, cost: ScryptCost) -> bytes:
    memory = 128 * cost.r * (cost.n + cost.p + 2)
    return hashlib.scrypt(
        password.encode(), salt=salt, n=cost.n, r=cost.r, p=cost.p, maxmem=2 * memory, dklen=32
    )


def _parts(kept: str) -> tuple[ScryptCost, bytes, bytes]:
    try:
        kind, n, r, p, salt, expected = kept.split("$")
        cost = ScryptCost(int(n), int(r), int(p))
        known = kind == "scrypt" and cost.n * cost.r * cost.p <= 1 << 24
        if known and len(b64decode(expected, validate=True)) == 32:
            return cost, b64decode(salt, validate=True), b64decode(expected, validate=True)
    except ValueError:
        pass
    raise UsageError("not a hash of a password: make one with `triplestore users add`")


def _text(data: bytes) -> str:
    return b64encode(data).decode()
