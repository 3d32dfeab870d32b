"""Validation over HTTP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from triplestore import Store

from .conftest import served

SHAPES = """@prefix : <http://ex.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:S sh:targetClass :Cat ; sh:property [ sh:path :name ; sh:minCount 1 ] ."""
TURTLE = "text/turtle"


def store_with_a_cat() -> Store:
    store = Store()
    store.load("@prefix : <http://ex.org/> . :tom a :Cat .", "ttl")
    return store


@pytest.mark.parametrize("accept", ["application/json", "text/turtle", "text/html", "text/plain"])
def test_post_of_shapes__is_answered_with_a_report(accept: str) -> None:
    with served(store_with_a_cat()) as client:
        reply = client.ask(
            "/validate", method="POST", body=SHAPES, content_type=TURTLE, accept=accept
        )
    assert (reply.status, reply.media_type) == (200, accept)
    if accept == "application/json":
        assert json.loads(reply.text)["counts"] == {"Violation": 1}
    else:
        assert "has fewer than 1 value" in reply.text


def test_watched_shapes__are_read() -> None:
    store = store_with_a_cat()
    with served(store) as client:
        assert client.ask("/validate").status == 404
        store.watch_shapes(SHAPES)
        reply = client.ask("/validate", accept="application/json")
        assert json.loads(reply.text)["conforms"] is False
        store.update("INSERT DATA { <http://ex.org/tom> <http://ex.org/name> 'Tom' }")
        reply = client.ask("/validate?watched=shapes", accept="application/json")
        assert json.loads(reply.text)["conforms"] is True


def test_wrong_shapes__are_refused(tmp_path: Path) -> None:
    hidden = tmp_path / "hidden.ttl"
    hidden.write_text(SHAPES)
    with served(store_with_a_cat()) as client:

        def post(body: str, content_type: str = TURTLE) -> tuple[int, str]:
            reply = client.ask(
                "/validate",
                method="POST",
                body=body,
                content_type=content_type,
                accept="application/json",
            )
            return reply.status, reply.text

        assert post("nonsense")[0] == 400
        assert post(SHAPES + " :S sh:minCount 1 .")[0] == 400
        assert post(SHAPES, "text/csv")[0] == 415
        # A client must not have files of the server read.
        status, text = post(SHAPES + f" :o owl:imports <{hidden.as_uri()}> .")
        assert (status, json.loads(text)["missingImports"]) == (200, [hidden.as_uri()])


def test_strict_watch__refuses_an_update() -> None:
    store = Store()
    store.watch_shapes(SHAPES, strict="Violation")
    with served(store, update=True) as client:
        reply = client.update("INSERT DATA { <http://ex.org/tom> a <http://ex.org/Cat> }")
    assert reply.status == 409
    assert "has fewer than 1 value" in reply.text
