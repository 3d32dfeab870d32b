"""A page of another site cannot make a browser change anything, or log anyone in or out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest
from server.conftest import Client, basic

FORM = "application/x-www-form-urlencoded"
FOREIGN = [
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {"origin": "http://localhost:1"},
    {"sec_fetch_site": "cross-site"},
    {"sec_fetch_site": "same-site", "origin": "http://localhost:1"},
]


def changes(client: Client, **headers: str) -> list[int]:
    """The statuses of all ways to change the store."""
    clear = {"method": "POST", "body": urlencode({"update": "CLEAR ALL"}), "content_type": FORM}
    put = {"method": "PUT", "body": "", "content_type": "text/turtle"}
    return [
        client.ask("/update", **clear, **headers).status,
        client.ask("/sparql", **clear, **headers).status,
        client.update("CLEAR ALL", **headers).status,
        client.ask("/store?default", **put, **headers).status,
        client.ask("/store/new", **put, **headers).status,
        client.ask("/store?default", method="DELETE", **headers).status,
    ]


@pytest.mark.parametrize("foreign", FOREIGN)
def test_changes__from_other_sites_are_refused(
    serving: Callable[..., Client], foreign: dict[str, str]
) -> None:
    client = serving(update=True)
    before = len(client.store)
    assert changes(client, **foreign) == [403] * 6
    assert len(client.store) == before


@pytest.mark.parametrize("foreign", FOREIGN)
def test_changes__from_other_sites_are_refused_with_a_session_or_a_remembered_password(
    serving: Callable[..., Client], users: Path, foreign: dict[str, str]
) -> None:
    client = serving(users=users, update=True)
    sent = {"method": "POST", "content_type": "application/json"}
    body = json.dumps({"name": "wim", "password": "wim-secret"})
    session = client.ask("/api/login", body=body, **sent).headers["set-cookie"].partition(";")[0]
    before = len(client.store)
    for known in ({"cookie": session}, {"authorization": basic("wim")}):
        assert changes(client, **known, **foreign) == [403] * 6
    assert len(client.store) == before


def test_changes__cors_does_not_lend_sessions_to_other_sites(
    serving: Callable[..., Client], users: Path
) -> None:
    client = serving(users=users, update=True, cors=True)
    foreign = {"origin": "http://a.example", "sec_fetch_site": "cross-site"}
    assert client.update("CLEAR ALL", authorization=basic("wim"), **foreign).status == 403
    # A token is never sent by a browser of itself: the page knows it.
    assert client.update("CLEAR ALL", authorization="Bearer ts_wim", **foreign).status == 200


def test_login_and_logout__from_other_sites_are_refused(
    serving: Callable[..., Client], users: Path
) -> None:
    client = serving(users=users)
    body = json.dumps({"name": "wim", "password": "wim-secret"})
    for foreign in FOREIGN:
        sent = {"method": "POST", "body": body, **foreign}
        assert client.ask("/api/login", content_type="application/json", **sent).status == 403
        assert client.ask("/api/logout", **sent).status == 403
    # A form needs no permission of the server to be sent; it is not accepted from any site.
    form = {"method": "POST", "body": body, "content_type": "text/plain"}
    assert client.ask("/api/login", **form).status == 415


def test_get__never_changes_anything(serving: Callable[..., Client]) -> None:
    client = serving(update=True)
    before = len(client.store)
    for path in ("/update", "/sparql", "/query"):
        assert client.ask(path, {"update": "CLEAR ALL"}).status in (400, 405)
    assert client.query("CLEAR ALL").status == 400
    assert len(client.store) == before


def test_queries__of_other_sites_are_refused_but_links_work(client: Client) -> None:
    asked = {"query": "ASK {}"}
    image = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors", "sec_fetch_dest": "image"}
    assert client.ask("/query", asked, **image).status == 403
    frame = {**image, "sec_fetch_mode": "navigate", "sec_fetch_dest": "iframe"}
    assert client.ask("/query", asked, **frame).status == 403
    link = {**image, "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}
    assert client.ask("/query", asked, **link).status == 200
    assert client.ask("/query", asked, **{**image, "sec_fetch_site": "same-origin"}).status == 200


def test_changes__of_the_own_page_and_of_programs_are_allowed(
    serving: Callable[..., Client],
) -> None:
    client = serving(update=True)
    own = {"origin": f"http://localhost:{client.port}", "sec_fetch_site": "same-origin"}
    assert client.update("CLEAR ALL", **own).status == 200
    assert client.update("CLEAR ALL").status == 200


def test_changes__of_the_own_page_behind_a_proxy_that_changes_the_host_are_allowed(
    serving: Callable[..., Client],
) -> None:
    client = serving(update=True)
    page = {"origin": "https://data.example.org", "sec_fetch_site": "same-origin"}
    assert client.update("CLEAR ALL", **page).status == 200
    old_browser = {"origin": "https://data.example.org"}
    assert client.update("CLEAR ALL", **old_browser).status == 403
