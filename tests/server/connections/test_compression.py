"""Answers compressed by gzip and zstd."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import time
from collections.abc import AsyncIterator, Callable
from urllib.parse import urlencode

import pytest
from server.conftest import SEES, Client, numbers_query
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from triplestore.loaders.compression import zstd
from triplestore.server import app
from triplestore.server.connections.compression import encoding_for

LONG = numbers_query(2)


def unpacked(encoding: str, data: bytes) -> bytes:
    return gzip.decompress(data) if encoding == "gzip" else zstd().decompress(data)


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_answers__are_the_same_when_unpacked(client: Client, encoding: str) -> None:
    plain = client.query(LONG)
    assert "content-encoding" not in plain.headers and len(plain.body) > 300_000
    reply = client.ask("/query", {"query": LONG}, accept="text/csv", accept_encoding=encoding)
    assert reply.headers["content-encoding"] == encoding
    assert unpacked(encoding, reply.body) == plain.body
    assert len(reply.body) * 3 < len(plain.body)
    assert {"accept", "accept-encoding"} <= set(reply.headers["vary"].lower().split(", "))


def test_answers__short_ones_are_not_compressed(client: Client) -> None:
    reply = client.ask("/query", {"query": SEES}, accept="text/csv", accept_encoding="gzip")
    assert "content-encoding" not in reply.headers
    assert reply.text == "y\r\nhttp://ex.org/bob\r\n"
    assert int(reply.headers["content-length"]) == len(reply.body)
    assert "accept-encoding" in reply.headers["vary"].lower()


def test_answers__of_middle_size_are_compressed_as_one(client: Client) -> None:
    text = "SELECT * { VALUES ?x { " + " ".join(f"'{n:0100}'" for n in range(50)) + " } }"
    reply = client.ask("/query", {"query": text}, accept="text/csv", accept_encoding="gzip")
    assert reply.headers["content-encoding"] == "gzip"
    assert len(gzip.decompress(reply.body).splitlines()) == 51


@pytest.mark.parametrize(
    ("header", "encoding"),
    [
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip;q=1.0, zstd;q=0.1", "gzip"),
        ("zstd;q=0, gzip", "gzip"),
        ("identity", None),
        ("*", "zstd"),
        ("*;q=0", None),
        ("gzip;q=nonsense", None),
        ("br", None),
    ],
)
def test_encoding__is_what_the_client_prefers(header: str, encoding: str | None) -> None:
    assert encoding_for(header) == encoding


def test_head__is_not_compressed(client: Client) -> None:
    reply = client.ask("/query", {"query": LONG}, method="HEAD", accept_encoding="gzip")
    assert (reply.status, reply.body) == (200, b"")
    assert "content-encoding" not in reply.headers


def test_answers__that_break_off_are_not_complete_when_compressed(
    serving: Callable[..., Client],
) -> None:
    serving().query(LONG)
    client = serving(seconds=1.0)
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        client.ask("/query", {"query": numbers_query(4)}, accept_encoding="gzip")


def test_streams_of_events__are_sent_at_once_and_as_they_are(
    serving: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def events(request: Request) -> Response:
        async def pieces() -> AsyncIterator[bytes]:
            yield b"data: first\n\n"
            await asyncio.sleep(30)

        return StreamingResponse(pieces(), media_type="text/event-stream")

    def routes(_: object) -> list[BaseRoute]:
        return [Route("/events", events)]

    monkeypatch.setattr(app, "ROUTES", [routes, *app.ROUTES])
    client = serving(grace=0.2)
    connection = client.connection()
    connection.request("GET", "/events", headers={"accept-encoding": "gzip, zstd"})
    began = time.monotonic()
    answer = connection.getresponse()
    assert answer.readline() == b"data: first\n"
    assert time.monotonic() - began < 10  # it did not wait for the end
    assert answer.getheader("content-encoding") is None
    connection.close()
    answer.close()


def test_pieces__are_sent_as_they_are_made(client: Client) -> None:
    connection = client.connection()
    parameters = urlencode({"query": numbers_query(4)})  # 8.1 billion rows
    headers = {"accept": "text/csv", "accept-encoding": "gzip"}
    connection.request("GET", f"/query?{parameters}", headers=headers)
    answer = connection.getresponse()
    assert answer.read(1000)
    connection.close()
    answer.close()
