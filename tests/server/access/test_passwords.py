"""Hashes of passwords and tokens, and the file of users."""

from __future__ import annotations

from pathlib import Path

import pytest

from triplestore.errors import MissingError, UsageError
from triplestore.server.access.passwords import (
    ScryptCost,
    check_hash,
    is_password,
    new_token,
    password_hash,
    token_hash,
)
from triplestore.server.access.users_file import UserRecord, Users, read_users, write_users

CHEAP = ScryptCost(n=16, r=1, p=1)


def test_password__only_the_same_text_passes() -> None:
    kept = password_hash("pässwort", CHEAP)
    assert is_password("pässwort", kept)
    for wrong in ("", "passwort", "pässwort ", "PÄSSWORT"):
        assert not is_password(wrong, kept)


def test_password__two_hashes_of_one_password_differ() -> None:
    assert password_hash("x", CHEAP) != password_hash("x", CHEAP)


def test_password__the_usual_cost_needs_32_mib() -> None:
    cost = ScryptCost()
    assert 128 * cost.n * cost.r == 32 << 20
    assert password_hash("x").startswith("scrypt$32768$8$3$")


@pytest.mark.parametrize(
    "kept", ["", "secret", "scrypt$16$1$1$!!$!!", "scrypt$16$1$1$AAAA$AAAA", "bcrypt$1$1$1$AAAA$AA"]
)
def test_check_hash__refuses_other_texts(kept: str) -> None:
    with pytest.raises(UsageError, match="triplestore users add"):
        check_hash(kept)


def test_check_hash__refuses_a_cost_that_would_stop_the_server() -> None:
    kept = password_hash("x", CHEAP).split("$")
    with pytest.raises(UsageError):
        check_hash("$".join(["scrypt", "1073741824", *kept[2:]]))


def test_tokens__are_long_and_all_different() -> None:
    made = {new_token() for _ in range(100)}
    assert len(made) == 100
    assert min(map(len, made)) > 40
    assert len({token_hash(one) for one in made}) == 100


def test_users__are_read_as_they_were_written(tmp_path: Path) -> None:
    users = Users({})
    users = users.changed(UserRecord("ada", "admin", password_hash("x", CHEAP)))
    odd = 'o\'brien "q" \\ é'
    hashed = {"lap top": token_hash("ts_1"), "ci": token_hash("ts_2")}
    users = users.changed(UserRecord(odd, "read", None, hashed, ("museum",)))
    path = tmp_path / "users.toml"
    write_users(path, users)
    assert read_users(path) == users
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]
    write_users(path, users.without(odd))
    assert list(read_users(path).records) == ["ada"]
    found = users.with_token(token_hash("ts_2"))
    assert found is not None and found.name == odd
    assert users.with_token(token_hash("ts_3")) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[users.a]\nrole = 'owner'", "user 'a': 'owner' is not a role"),
        ("[users.a]", "None is not a role"),
        ("[users.a]\nrole = 'read'\npassword = 'x'", "not a hash"),
        ("[users.a]\nrole = 'read'\npasword = 'x'", "unknown key 'pasword'"),
        ("[users.'a:b']\nrole = 'read'", "cannot be a name"),
        ("[user.a]\nrole = 'read'", "may only have tables"),
        ("[users", "is not a file of users"),
        ("users = 3", "is not a file of users"),
        ("[users]\na = 3", "a user is a table"),
    ],
)
def test_users__what_is_wrong_with_a_file_is_said(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "users.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=words.replace("[", r"\[")):
        read_users(path)


def test_users__a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MissingError):
        read_users(tmp_path / "none.toml")


def test_users__a_file_that_all_may_change_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "users.toml"
    write_users(path, Users({}))
    path.chmod(0o666)
    with pytest.raises(UsageError, match="chmod 600"):
        read_users(path)
