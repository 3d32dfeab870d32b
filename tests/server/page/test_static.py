"""The files of the page over HTTP: their headers, and what stands in for them."""

from __future__ import annotations

import asyncio
import gzip
from dataclasses import dataclass
from pathlib import Path

import pytest
from server.conftest import Client
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Message

from triplestore.server.page.static import asset_routes, page_or

SCRIPT = "let a = 1;" * 100


async def plain(request: Request) -> Response:
    return PlainTextResponse("for programs\n")


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        packed = self.headers.get("content-encoding") == "gzip"
        return (gzip.decompress(self.body) if packed else self.body).decode()


class Site:
    """The page of a folder, asked without a network."""

    def __init__(self, bundle: Path) -> None:
        routes = [Route("/", page_or(plain, bundle)), *asset_routes(bundle)]
        self._app = Starlette(routes=routes)

    def get(self, path: str, **headers: str) -> Answer:
        given = {"accept_encoding": "gzip", **headers}
        pairs = [(k.replace("_", "-").encode(), v.encode()) for k, v in given.items()]
        scope = {"type": "http", "method": "GET", "path": path, "query_string": b""}
        said: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": b""}

        async def send(message: Message) -> None:
            said.append(message)

        asyncio.run(self._app({**scope, "headers": pairs}, receive, send))
        found = {name.decode(): value.decode() for name, value in said[0]["headers"]}
        return Answer(said[0]["status"], found, b"".join(m.get("body", b"") for m in said[1:]))


@pytest.fixture
def built(tmp_path: Path) -> Site:
    (tmp_path / "page").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html>")
    (tmp_path / "page" / "main-1a2b.js").write_text(SCRIPT)
    (tmp_path / "page" / "licenses.txt").write_text("MIT")
    (tmp_path / "page" / "secret.py").write_text("1")
    return Site(tmp_path)


HTML = "text/html,application/xhtml+xml,*/*;q=0.8"


def test_index__browsers_get_the_page_and_programs_get_text(built: Site) -> None:
    page = built.get("/", accept=HTML)
    assert page.text == "<!doctype html>"
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    other = built.get("/")
    assert other.text == "for programs\n"
    assert "accept" in other.headers["vary"] and "accept" in page.headers["vary"]


def test_index__without_a_build_says_how_to_get_one(tmp_path: Path) -> None:
    said = Site(tmp_path).get("/", accept=HTML)
    assert said.headers["content-type"].startswith("text/plain")
    assert said.text.startswith("for programs\n") and "make ui" in said.text


def test_headers__allow_nothing_from_elsewhere_and_no_frame(built: Site) -> None:
    for path in ("/", "/page/main-1a2b.js"):
        headers = built.get(path, accept=HTML).headers
        policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
        assert policy["default-src"] == policy["script-src"] == policy["style-src"] == "'self'"
        assert policy["frame-ancestors"] == policy["object-src"] == policy["base-uri"] == "'none'"
        assert "unsafe" not in headers["content-security-policy"]


def test_files__are_kept_for_ever_and_compressed(built: Site) -> None:
    packed = built.get("/page/main-1a2b.js")
    assert packed.headers["content-encoding"] == "gzip" and packed.text == SCRIPT
    assert int(packed.headers["content-length"]) < len(SCRIPT)
    assert "immutable" in packed.headers["cache-control"]
    plain_form = built.get("/page/main-1a2b.js", accept_encoding="identity")
    assert "content-encoding" not in plain_form.headers and plain_form.text == SCRIPT


def test_licenses__are_served_and_asked_for_each_time(built: Site) -> None:
    said = built.get("/page/licenses.txt")
    assert said.text == "MIT" and said.headers["content-type"].startswith("text/plain")
    assert said.headers["cache-control"] == "no-cache"


def test_index__is_asked_for_each_time_and_answered_briefly(built: Site) -> None:
    first = built.get("/", accept=HTML)
    assert first.headers["cache-control"] == "no-cache"
    again = built.get("/", accept=HTML, if_none_match=first.headers["etag"])
    assert again.status == 304 and again.body == b""


@pytest.mark.parametrize(
    "path", ["/page/none.js", "/page/secret.py", "/page/../index.html", "/page/..", "/page/%2e%2e"]
)
def test_files__nothing_but_the_page_is_read(built: Site, path: str) -> None:
    answer = built.get(path)
    assert answer.status == 404
    assert "<!doctype" not in answer.text


def test_server__has_the_page_in_front_of_its_endpoints(client: Client) -> None:
    assert client.ask("/").text.startswith("SPARQL over HTTP")
    answer = client.ask("/", accept="text/html", accept_encoding="gzip")
    text = gzip.decompress(answer.body).decode() if "content-encoding" in answer.headers else ""
    assert 'id="app"' in text or b"make ui" in answer.body
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
