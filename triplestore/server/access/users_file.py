"""The file of users: start at `read_users` and `write_users`.

    [users.ada]
    role = "write"
    password = "scrypt$..."
    stores = ["museum"]          # only these stores; without it, all

    [users.ada.tokens]
    laptop = "sha256$..."

Always true: the file holds no password and no token, only hashes of them.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from triplestore.data_classes import data_class
from triplestore.errors import UsageError, unreadable
from triplestore.server.access.passwords import check_hash

ROLES = ("read", "write", "admin")
"""What users may do; each role includes those before it."""


def includes(role: str, needed: str) -> bool:
    """Whether a role includes another.

    >>> includes("admin", "write"), includes("read", "write")
    (True, False)
    """
    return ROLES.index(role) >= ROLES.index(needed)


@data_class
class UserRecord:
    """One user.

    password  the hash of the password; None if there are only tokens
    tokens    the hashes of the tokens, by their names
    stores    the stores that the user may see; empty for all
    """

    name: str
    role: str
    password: str | None = None
    tokens: Mapping[str, str] = field(default_factory=dict)
    stores: tuple[str, ...] = ()


@data_class
class Users:
    """All users, by name and by the hashes of their tokens."""

    records: Mapping[str, UserRecord]

    def named(self, name: str) -> UserRecord | None:
        """The user with a name."""
        return self.records.get(name)

    def with_token(self, hashed: str) -> UserRecord | None:
        """The user who has the token with this hash."""
        found = (one for one in self.records.values() if hashed in one.tokens.values())
        return next(found, None)

    def changed(self, record: UserRecord) -> Users:
        """The same users with one of them added or replaced."""
        return Users({**self.records, record.name: record})

    def without(self, name: str) -> Users:
        """The same users without one of them."""
        return Users({key: one for key, one in self.records.items() if key != name})


def check_name(name: str) -> str:
    """The name of a user, if it can be one.

    >>> check_name("ada:x")
    Traceback (most recent call last):
    triplestore.errors.UsageError: 'ada:x' cannot be a name of a user: use printable characters \
without ':'
    """
    if not name or ":" in name or not name.isprintable() or name != name.strip():
        raise UsageError(
            f"{name!r} cannot be a name of a user: use printable characters without ':'"
        )
    return name


def check_role(role: object) -> str:
    """A role, if it is one."""
    if role not in ROLES:
        raise UsageError(f"{role!r} is not a role: use one of {', '.join(ROLES)}")
    return str(role)


def read_users(path: Path) -> Users:
    """The users of a file."""
    try:
        text = path.read_bytes()
        if os.name == "posix" and path.stat().st_mode & 0o002:
            raise UsageError(f"{path} can be changed by every user of this machine: chmod 600 it")
        data = tomllib.loads(text.decode())
    except OSError as error:
        raise unreadable(path, error) from None
    except ValueError as error:  # also if it is not UTF-8
        if isinstance(error, UsageError):
            raise
        raise UsageError(f"{path} is not a file of users: {error}") from None
    listed = data.get("users", {})
    if not isinstance(listed, dict) or set(data) - {"users"}:
        raise UsageError(f"{path} is not a file of users: it may only have tables [users.NAME]")
    return Users({name: _record(path, name, given) for name, given in listed.items()})


def _record(path: Path, name: str, given: Any) -> UserRecord:
    try:
        check_name(name)
        if not isinstance(given, dict):
            raise UsageError("a user is a table [users.NAME]")
        unknown = set(given) - {"role", "password", "tokens", "stores"}
        if unknown:
            raise UsageError(f"unknown key {sorted(unknown)[0]!r}")
        role, password = check_role(given.get("role")), given.get("password")
        if password is not None:
            check_hash(str(password))
        tokens, stores = given.get("tokens", {}), given.get("stores", [])
        if not isinstance(tokens, dict) or not isinstance(stores, list):
            raise UsageError("tokens must be a table and stores a list of names")
        hashed = {str(key): str(value) for key, value in tokens.items()}
        return UserRecord(name, role, password, hashed, tuple(map(str, stores)))
    except UsageError as error:
        raise UsageError(f"{path}: user {name!r}: {error}") from None


def write_users(path: Path, users: Users) -> None:
    """Replace the file of users at once; only its owner may read it."""
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write("\n".join(_lines(users)))
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _lines(users: Users) -> Iterator[str]:
    yield "# Users of a server: change this file with `triplestore users`.\n"
    for record in users.records.values():
        name = _key(record.name)
        yield f"[users.{name}]"
        yield f"role = {_quoted(record.role)}"
        if record.password is not None:
            yield f"password = {_quoted(record.password)}"
        if record.stores:
            yield f"stores = [{', '.join(map(_quoted, record.stores))}]"
        yield ""
        if record.tokens:
            yield f"[users.{name}.tokens]"
            yield from (f"{_key(key)} = {_quoted(kept)}" for key, kept in record.tokens.items())
            yield ""


def _key(text: str) -> str:
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else _quoted(text)


def _quoted(text: str) -> str:
    """A text as TOML; JSON's escapes are among TOML's."""
    return json.dumps(text, ensure_ascii=False)
