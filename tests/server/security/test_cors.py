"""Pages of other sites read nothing, unless the server was told to let them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from server.conftest import SEES, Client, basic

ALLOWS = "access-control-allow-origin"
FOREIGN = {"origin": "http://a.example"}


@pytest.mark.parametrize("path", ["/query", "/store", "/health", "/api/session", "/", "/metrics"])
def test_without_cors__no_answer_is_for_other_sites(client: Client, path: str) -> None:
    reply = client.ask(path, {"query": SEES}, **FOREIGN)
    assert not [name for name in reply.headers if name.startswith("access-control")]
    assert reply.headers["cross-origin-resource-policy"] == "same-origin"


def test_without_cors__preflights_are_not_answered(client: Client) -> None:
    asked = {**FOREIGN, "access_control_request_method": "POST"}
    reply = client.ask("/query", method="OPTIONS", **asked)
    assert reply.status != 200 and ALLOWS not in reply.headers


def test_with_cors__answers_are_for_all_but_never_with_what_browsers_remember(
    serving: Callable[..., Client], users: Path
) -> None:
    client = serving(cors=True, users=users)
    reply = client.ask("/query", {"query": SEES}, authorization=basic("rita"), **FOREIGN)
    # With `*` a browser does not show the answer to a page that has sent cookies or passwords.
    assert reply.headers[ALLOWS] == "*"
    assert "access-control-allow-credentials" not in reply.headers
    assert reply.headers["cross-origin-resource-policy"] == "cross-origin"


def test_with_cors__preflights_allow_queries_but_not_deleting(
    serving: Callable[..., Client],
) -> None:
    client = serving(cors=True)
    asked = {**FOREIGN, "access_control_request_headers": "authorization"}
    post = client.ask("/query", method="OPTIONS", access_control_request_method="POST", **asked)
    assert post.status == 200
    assert "authorization" in post.headers["access-control-allow-headers"]
    delete = client.ask("/store", method="OPTIONS", access_control_request_method="DELETE", **asked)
    assert delete.status == 400
