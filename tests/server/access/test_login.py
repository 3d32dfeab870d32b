"""Logins over HTTP: passwords, tokens and sessions, and what each role may do."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from server.conftest import CHEAP, SEES, Client, Reply, basic

from triplestore.server.access import control
from triplestore.server.access.passwords import password_hash
from triplestore.server.access.users_file import read_users, write_users

ADD = "INSERT DATA { :new :sees :ada }"


@pytest.fixture
def guarded(serving: Callable[..., Client], users: Path) -> Client:
    return serving(users=users, update=True)


def log_in(client: Client, name: str, password: str | None = None, **headers: str) -> Reply:
    body = json.dumps({"name": name, "password": password or f"{name}-secret"})
    sent = {"content_type": "application/json", **headers}
    return client.ask("/api/login", method="POST", body=body, **sent)


def cookie(reply: Reply) -> str:
    return reply.headers["set-cookie"].partition(";")[0]


@pytest.mark.parametrize("path", ["/query", "/sparql", "/store", "/update", "/elsewhere", "/api/x"])
def test_without_login__every_path_is_refused(guarded: Client, path: str) -> None:
    for method in ("GET", "POST", "PUT", "DELETE"):
        reply = guarded.ask(path, {"query": SEES}, method=method)
        assert (reply.status, "ada" in reply.text) == (401, False)


def test_without_login__the_answer_names_the_ways_to_log_in(guarded: Client) -> None:
    asked = guarded.query(SEES).headers["www-authenticate"]
    assert asked.startswith("Basic realm=") and "Bearer" in asked
    # A browser would show a form of its own to the page for this.
    reply = guarded.ask("/api/store")
    assert "Basic" not in reply.headers["www-authenticate"]
    assert json.loads(reply.text) == {"error": {"message": "log in to use this server"}}


@pytest.mark.parametrize("path", ["/health", "/"])
def test_without_login__what_is_public_tells_nothing_of_the_data(
    guarded: Client, path: str
) -> None:
    reply = guarded.ask(path)
    assert reply.status == 200
    assert "quads" not in reply.text and "commit" not in reply.text


def test_password__right_and_wrong(guarded: Client) -> None:
    assert guarded.query(SEES, authorization=basic("rita")).status == 401  # a parameter, not sent
    asked = {"query": SEES}
    assert guarded.ask("/query", asked, authorization=basic("rita")).status == 200
    for wrong in (
        basic("rita", "wim-secret"),
        basic("rita", ""),
        basic("unknown", "rita-secret"),
        "Basic !!!",
        "Basic " + base64.b64encode(b"rita").decode(),
        "Digest x",
        "Bearer ts_none",
        "Bearer",
    ):
        reply = guarded.ask("/query", asked, authorization=wrong)
        assert (reply.status, "bob" in reply.text) == (401, False)


def test_token__stands_for_its_user(guarded: Client) -> None:
    reply = guarded.ask("/query", {"query": SEES}, authorization="Bearer ts_rita")
    assert (reply.status, "bob" in reply.text) == (200, True)


@pytest.mark.parametrize(("name", "status"), [("rita", 403), ("wim", 200), ("ann", 200)])
def test_roles__who_may_change(guarded: Client, name: str, status: int) -> None:
    before = len(guarded.store)
    reply = guarded.update(ADD, authorization=basic(name))
    assert reply.status == status
    put = {"method": "PUT", "body": "<a> <b> <c> .", "content_type": "text/turtle"}
    changed = guarded.ask("/store", {"graph": "http://e/g"}, **put, authorization=basic(name))
    assert changed.status == (201 if status == 200 else 403)
    assert (len(guarded.store) > before) == (status == 200)


def test_roles__the_server_must_allow_updates_too(
    serving: Callable[..., Client], users: Path
) -> None:
    reply = serving(users=users).update(ADD, authorization=basic("ann"))
    assert reply.status == 403
    assert "--allow-update" in reply.text


def test_session__is_begun_used_and_ended(guarded: Client) -> None:
    reply = log_in(guarded, "wim")
    assert reply.status == 200
    assert json.loads(reply.text)["role"] == "write"
    attributes = reply.headers["set-cookie"].lower()
    for needed in ("httponly", "samesite=strict", "path=/", "max-age="):
        assert needed in attributes
    assert "wim" not in attributes and "secure" not in attributes.replace("wim-secret", "")
    key = cookie(reply)
    assert guarded.ask("/query", {"query": SEES}, cookie=key).status == 200
    assert guarded.update(ADD, cookie=key).status == 200
    session = json.loads(guarded.ask("/api/session", cookie=key).text)
    assert (session["user"], session["login"], session["update"]) == ("wim", True, True)
    assert guarded.ask("/api/logout", method="POST", cookie=key).status == 200
    assert guarded.ask("/query", {"query": SEES}, cookie=key).status == 401


def test_session__a_new_login_has_a_new_key(guarded: Client) -> None:
    first, second = cookie(log_in(guarded, "wim")), cookie(log_in(guarded, "wim"))
    assert first != second
    fixed = first.partition("=")[0] + "=chosen-by-another"
    assert cookie(log_in(guarded, "wim", cookie=fixed)) not in (fixed, first, second)


def test_session__wrong_logins_are_refused(guarded: Client) -> None:
    assert log_in(guarded, "wim", "x").status == 401
    form = {"content_type": "application/x-www-form-urlencoded"}
    assert log_in(guarded, "wim", **form).status == 415
    half = r'{"name": "\ud800", "password": "x"}'
    deep = "[" * 9000
    for body in ("", "[]", '{"name": "wim"}', '{"name": 1, "password": "x"}', half, deep):
        sent = {"method": "POST", "body": body, "content_type": "application/json"}
        assert guarded.ask("/api/login", **sent).status == 400
    assert log_in(guarded, "wim", origin="http://evil.example").status == 403


def test_session__before_a_login_it_says_only_that_one_is_needed(guarded: Client) -> None:
    found = json.loads(guarded.ask("/api/session").text)
    assert found["login"] and found["user"] is None and found["role"] is None
    assert found["store"] is None and found["stores"] == []


def test_session__without_users_everyone_is_let_in(serving: Callable[..., Client]) -> None:
    found = json.loads(serving().ask("/api/session").text)
    assert (found["login"], found["role"], found["update"]) == (False, "read", False)
    found = json.loads(serving(update=True).ask("/api/session").text)
    assert (found["role"], found["update"]) == ("admin", True)


def test_session__expires(serving: Callable[..., Client], users: Path) -> None:
    client = serving(users=users, session_seconds=0.3)
    key = cookie(log_in(client, "wim"))
    assert client.ask("/query", {"query": SEES}, cookie=key).status == 200
    time.sleep(0.35)
    assert client.ask("/query", {"query": SEES}, cookie=key).status == 401


def test_users__who_are_removed_lose_sessions_tokens_and_known_passwords(
    guarded: Client, users: Path
) -> None:
    key = cookie(log_in(guarded, "wim"))
    ways = [{"cookie": key}, {"authorization": basic("wim")}, {"authorization": "Bearer ts_wim"}]
    for way in ways:
        assert guarded.ask("/query", {"query": SEES}, **way).status == 200
    write_users(users, read_users(users).without("wim"))
    time.sleep(1.1)
    for way in ways:
        assert guarded.ask("/query", {"query": SEES}, **way).status == 401
    assert guarded.ask("/query", {"query": SEES}, authorization=basic("ann")).status == 200


def test_users__a_new_password_ends_sessions_and_known_passwords(
    guarded: Client, users: Path
) -> None:
    key = cookie(log_in(guarded, "wim"))
    ways = [{"cookie": key}, {"authorization": basic("wim")}]
    for way in ways:
        assert guarded.ask("/query", {"query": SEES}, **way).status == 200
    known = read_users(users)
    wim = known.named("wim")
    assert wim is not None
    write_users(users, known.changed(replace(wim, password=password_hash("new-secret", CHEAP))))
    time.sleep(1.1)
    for way in ways:
        assert guarded.ask("/query", {"query": SEES}, **way).status == 401
    new = basic("wim", "new-secret")
    assert guarded.ask("/query", {"query": SEES}, authorization=new).status == 200


def test_users__a_broken_file_leaves_them_as_they_were(guarded: Client, users: Path) -> None:
    users.write_text("[users")
    time.sleep(1.1)
    assert guarded.ask("/query", {"query": SEES}, authorization=basic("ann")).status == 200


def test_guesses__are_slowed_down(guarded: Client) -> None:
    assert guarded.ask("/query", {"query": SEES}, authorization=basic("ann")).status == 200
    statuses = [log_in(guarded, "wim", f"guess {n}").status for n in range(8)]
    assert statuses[:5] == [401] * 5
    assert 429 in statuses[5:]
    reply = log_in(guarded, "wim")
    assert reply.status == 429
    assert int(reply.headers["retry-after"]) >= 1
    # Others who are known already are not affected.
    assert guarded.ask("/query", {"query": SEES}, authorization=basic("ann")).status == 200
    assert guarded.ask("/query", {"query": SEES}, authorization="Bearer ts_wim").status == 200


def test_password__is_hashed_once_for_many_requests(
    guarded: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed = []

    def slow(password: str, kept: str) -> bool:
        hashed.append(password)
        time.sleep(0.2)
        return password == "rita-secret"

    monkeypatch.setattr(control, "is_password", slow)
    statuses: list[int] = []

    def ask() -> None:
        reply = guarded.ask("/query", {"query": SEES}, authorization=basic("rita"))
        statuses.append(reply.status)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert guarded.ask("/health").status == 200  # the event loop is free
    for thread in threads:
        thread.join()
    ask()
    assert statuses == [200] * 9
    assert hashed == ["rita-secret"]


def test_unknown_names__cost_as_much_as_wrong_passwords(
    guarded: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed = []

    def noted(password: str, kept: str) -> bool:
        hashed.append(kept.split("$")[0])
        return False

    monkeypatch.setattr(control, "is_password", noted)
    for name in ("unknown", "rita"):
        assert guarded.ask("/query", {"query": SEES}, authorization=basic(name)).status == 401
    assert hashed == ["scrypt", "scrypt"]
