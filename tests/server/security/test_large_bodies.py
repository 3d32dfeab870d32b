"""Large requests are refused before they fill the memory."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Callable

import pytest
from server.conftest import Client

HEAD = "POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\n"


def first_line(client: Client, sent: bytes) -> str:
    with socket.create_connection(("localhost", client.port), timeout=30) as connection:
        connection.sendall(sent)
        return connection.recv(65536).decode().partition("\r\n")[0]


def test_declared_length__is_refused_before_the_body_is_sent(
    serving: Callable[..., Client],
) -> None:
    client = serving(body=1000)
    head = f"{HEAD}Content-Length: 1001\r\nExpect: 100-continue\r\n\r\n"
    assert first_line(client, head.encode()).startswith("HTTP/1.1 413")
    short = f"{HEAD}Content-Length: 6\r\nExpect: 100-continue\r\n\r\n"
    assert first_line(client, short.encode()) == "HTTP/1.1 100 Continue"


def test_body_without_length__is_refused_at_the_limit(serving: Callable[..., Client]) -> None:
    client = serving(body=1000)
    chunk = b"200\r\n" + b" " * 512 + b"\r\n"
    sent = f"{HEAD}Transfer-Encoding: chunked\r\n\r\n".encode() + chunk * 3
    assert first_line(client, sent).startswith("HTTP/1.1 413")


@pytest.mark.parametrize("path", ["/update", "/store?default", "/store/g", "/sparql"])
def test_every_path__has_the_limit(serving: Callable[..., Client], path: str) -> None:
    client = serving(body=1000, update=True)
    put = path.startswith("/store")
    reply = client.ask(
        path,
        method="PUT" if put else "POST",
        body="#" * 2000,
        content_type="text/turtle" if put else "application/sparql-update",
    )
    assert reply.status == 413
    assert "1,000 bytes" in reply.text


def test_login__has_a_small_limit_of_its_own(serving: Callable[..., Client], users: str) -> None:
    body = json.dumps({"name": "x" * 20_000, "password": "y"})
    sent = {"method": "POST", "body": body, "content_type": "application/json"}
    assert serving(users=users).ask("/api/login", **sent).status == 413


def test_compressed_bodies__are_refused(serving: Callable[..., Client]) -> None:
    client = serving(update=True)
    bomb = gzip.compress(b"#" * 10_000_000)
    headers = {"content_type": "application/sparql-update", "content_encoding": "gzip"}
    reply = client.ask("/update", method="POST", body=bomb, **headers)
    assert reply.status == 415
    assert "without compression" in reply.text


def test_heads__that_are_too_long_are_refused(client: Client) -> None:
    long = f"GET /health HTTP/1.1\r\nHost: localhost\r\nX: {'y' * 1_000_000}\r\n\r\n".encode()
    assert first_line(client, long).startswith("HTTP/1.1 400")
    path = f"GET /{'x' * 1_000_000} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    assert first_line(client, path).startswith("HTTP/1.1 400")


def test_nested_queries__are_refused(client: Client) -> None:
    deep = "ASK " + "{" * 20_000 + "}" * 20_000
    sent = {"method": "POST", "body": deep, "content_type": "application/sparql-query"}
    assert client.ask("/query", **sent).status == 400
    assert client.query("ASK {}").status == 200
