"""Several stores in one server, each under its name."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from triplestore import Store
from triplestore.errors import UsageError
from triplestore.server import create_app
from triplestore.server.access.passwords import token_hash
from triplestore.server.access.users_file import UserRecord, read_users, write_users

from .conftest import SEES, SLOW, Client, basic, example, wait_until


@pytest.fixture
def both() -> dict[str, Store]:
    empty = Store()
    return {"family": example(), "empty": empty}


def test_stores__each_answers_under_its_name(
    serving: Callable[..., Client], both: dict[str, Store]
) -> None:
    client = serving(both, update=True)
    first = client.ask("/family/query", {"query": SEES}, accept="text/csv")
    assert (first.status, first.text) == (200, "y\r\nhttp://ex.org/bob\r\n")
    assert client.ask("/empty/query", {"query": SEES}, accept="text/csv").text == "y\r\n"
    body = {"method": "POST", "content_type": "application/sparql-update"}
    assert client.ask("/empty/update", body="INSERT DATA { <a> <b> 1 }", **body).status == 200
    assert (len(both["empty"]), len(both["family"])) == (1, 6)
    assert client.ask("/query", {"query": SEES}).status == 404
    assert client.ask("/none/query", {"query": SEES}).status == 404


def test_stores__graphs_have_addresses_below_the_name(
    serving: Callable[..., Client], both: dict[str, Store]
) -> None:
    client = serving(both, update=True)
    put = {"method": "PUT", "body": "<> <http://e/p> 1 .", "content_type": "text/turtle"}
    assert client.ask("/empty/store/a%20b/1", **put).status == 201
    (quad,) = both["empty"]
    address = f"http://localhost:{client.port}/empty/store/a%20b/1"
    assert quad.graph_name.value == quad.subject.value == address
    assert client.ask("/empty/store/a%20b/1", accept="text/turtle").status == 200
    assert client.ask("/empty/store/other").status == 404
    assert client.ask("/empty/store/x?default").status == 400


def test_stores__the_index_lists_them(
    serving: Callable[..., Client], both: dict[str, Store]
) -> None:
    client = serving(both)
    assert client.ask("/").text == "Stores served here\n/family/\n/empty/\n"
    assert "/query" in client.ask("/family/").text
    assert json.loads(client.ask("/api/session").text)["stores"] == ["family", "empty"]
    assert json.loads(client.ask("/family/api/session").text)["store"] == "family"


def test_stores__health_and_metrics_are_of_all(
    serving: Callable[..., Client], both: dict[str, Store]
) -> None:
    client = serving(both)
    assert (client.ask("/health").status, client.ask("/ready").status) == (200, 200)
    client.ask("/family/query", {"query": SEES})
    text = client.ask("/metrics").text
    assert 'triplestore_quads{store="family",facts="asserted"} 4' in text
    assert 'triplestore_quads{store="empty",facts="asserted"} 0' in text
    assert 'triplestore_requests_total{endpoint="/query",method="GET",status="200"} 1' in text


def test_stores__a_user_may_be_kept_to_some(
    serving: Callable[..., Client], both: dict[str, Store], users: Path
) -> None:
    known = read_users(users)
    rita = known.named("rita")
    assert rita is not None
    only = UserRecord("rita", "read", rita.password, rita.tokens, ("empty",))
    write_users(users, known.changed(only))
    client = serving(both, users=users)
    asked = {"query": SEES}
    assert client.ask("/empty/query", asked, authorization=basic("rita")).status == 200
    refused = client.ask("/family/query", asked, authorization=basic("rita"))
    unknown = client.ask("/none/query", asked, authorization=basic("rita"))
    assert (refused.status, refused.body) == (unknown.status, unknown.body) == (404, b"Not Found\n")
    assert client.ask("/family/query", asked, authorization=basic("wim")).status == 200
    assert "family" not in client.ask("/", authorization=basic("rita")).text
    session = json.loads(client.ask("/api/session", authorization=basic("rita")).text)
    assert session["stores"] == ["empty"]
    metrics = client.ask("/metrics", authorization=basic("rita"))
    assert metrics.status == 403


def test_stores__an_administrator_of_some_does_not_see_queries_of_others(
    serving: Callable[..., Client], both: dict[str, Store], users: Path
) -> None:
    known = read_users(users)
    only = UserRecord("bea", "admin", None, {"t": token_hash("ts_bea")}, ("empty",))
    write_users(users, known.changed(only))
    client = serving(both, users=users, grace=0.2, seconds=20.0)

    def listed(name: str, store: str) -> list[dict[str, str]]:
        reply = client.ask(f"/{store}/api/queries", authorization=f"Bearer ts_{name}")
        found: list[dict[str, str]] = json.loads(reply.text)
        return found

    def stop(name: str, store: str, query: str) -> int:
        path = f"/{store}/api/queries/{query}"
        return client.ask(path, method="DELETE", authorization=f"Bearer ts_{name}").status

    asking = threading.Thread(
        target=lambda: client.ask("/family/query", {"query": SLOW}, authorization="Bearer ts_rita")
    )
    asking.start()
    wait_until(lambda: len(listed("ann", "family")) == 1)
    query = listed("ann", "family")[0]["id"]
    assert (listed("bea", "empty"), stop("bea", "empty", query)) == ([], 404)
    assert (stop("wim", "family", query), stop("rita", "family", query)) == (404, 200)
    asking.join()


def test_stores__without_login_no_name_is_told(
    serving: Callable[..., Client], both: dict[str, Store], users: Path
) -> None:
    client = serving(both, users=users)
    for path in ("/", "/api/session", "/ready", "/health"):
        assert "family" not in client.ask(path).text
    assert client.ask("/family/query", {"query": SEES}).status == 401
    assert client.ask("/family/", {"query": SEES}).status == 200


@pytest.mark.parametrize("name", ["query", "api", "page", "a/b", "", ".", "a b", "é"])
def test_stores__what_cannot_be_a_name(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name of a store"):
        create_app({name: Store()})
