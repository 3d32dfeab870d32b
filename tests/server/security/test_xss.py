"""Literals and IRIs with scripts stay data: no answer of the server is run by a browser."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from urllib.parse import quote

import pytest
from server.conftest import Client

from triplestore import Store
from triplestore.server.negotiation import QUADS, RESULTS, TRIPLES

SCRIPT = "<script>alert(1)</script>"
XHTML = "http://www.w3.org/1999/xhtml"
DATA = f"""
<http://ex.org/a> <http://ex.org/p> "{SCRIPT}" , "]]>{SCRIPT}" , "'-alert(1)-'" .
<http://ex.org/a> <http://ex.org/see> <javascript:alert(1)> , <data:text/html,x> .
<javascript:alert(2)> <{XHTML}script> "alert(3)" .
"""


@pytest.fixture
def hostile(serving: Callable[..., Client]) -> Client:
    store = Store()
    store.load(DATA, "ttl")
    store.bind("h", XHTML)
    return serving(store)


def is_inert(headers: dict[str, str]) -> None:
    assert "html" not in headers["content-type"] and "svg" not in headers["content-type"]
    assert headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in headers["content-security-policy"]
    assert "default-src 'none'" in headers["content-security-policy"]


@pytest.mark.parametrize("media_type", [*dict(RESULTS), "text/html", "*/*", "text/html,*/*;q=0.1"])
def test_solutions__are_never_a_page(hostile: Client, media_type: str) -> None:
    reply = hostile.query("SELECT * { ?s ?p ?o }", accept=media_type)
    is_inert(reply.headers)
    assert reply.status == (406 if media_type == "text/html" else 200)


@pytest.mark.parametrize("media_type", [*dict(TRIPLES), "text/html, */*;q=0.1"])
def test_triples__are_never_a_page(hostile: Client, media_type: str) -> None:
    reply = hostile.query("CONSTRUCT WHERE { ?s ?p ?o }", accept=media_type)
    is_inert(reply.headers)
    assert reply.status == 200


@pytest.mark.parametrize("media_type", [*dict(QUADS), "text/xml"])
def test_graphs__are_never_a_page(hostile: Client, media_type: str) -> None:
    graph = {} if media_type in dict(QUADS) else {"default": ""}
    reply = hostile.ask("/store", graph, accept=media_type)
    is_inert(reply.headers)
    assert reply.status == 200


def test_xml__has_no_element_of_html(hostile: Client) -> None:
    for text in ("CONSTRUCT WHERE { ?s ?p 'alert(3)' }", "SELECT * { ?s ?p ?o }"):
        reply = hostile.query(text, accept="text/xml")
        tags = {element.tag for element in ET.fromstring(reply.text).iter()}
        assert not [tag for tag in tags if tag.startswith(f"{{{XHTML}}}")]
        is_inert(reply.headers)  # a sandbox, if it had


def test_xml__literals_are_escaped(hostile: Client) -> None:
    reply = hostile.query("SELECT ?o { ?s ?p ?o }", accept="text/xml")
    texts = [element.text for element in ET.fromstring(reply.text).iter()]
    assert SCRIPT in texts and SCRIPT not in reply.text


def test_json__literals_and_iris_are_what_they_were(hostile: Client) -> None:
    reply = hostile.query("SELECT ?o { ?s ?p ?o }", accept="application/json")
    values = {row["o"]["value"] for row in json.loads(reply.text)["results"]["bindings"]}
    assert {SCRIPT, "javascript:alert(1)"} <= values


@pytest.mark.parametrize(
    "path",
    [
        f"/query?query={quote(SCRIPT)}",
        f"/query?query=ASK%20%7B%7D&facts={quote(SCRIPT)}",
        f"/store?graph={quote('http://e/' + 'x')}{quote('</pre>' + SCRIPT)}",
        f"/api/{quote(SCRIPT)}",
        f"/{quote(SCRIPT)}",
    ],
)
def test_errors__repeat_nothing_as_a_page(hostile: Client, path: str) -> None:
    reply = hostile.ask(path, accept="text/html")
    assert reply.status in (400, 404)
    is_inert(reply.headers)


def test_headers__take_nothing_of_a_path(serving: Callable[..., Client]) -> None:
    client = serving(update=True)
    odd = quote('a"\r\nset-cookie: x=1')
    body = {"method": "POST", "body": "<a> <b> <c> .", "content_type": "text/turtle"}
    reply = client.ask(f"/store/{odd}", **body)
    assert "set-cookie" not in reply.headers
    named = client.ask("/store", **body)
    assert named.headers["location"].startswith(f"http://localhost:{client.port}/store/")
