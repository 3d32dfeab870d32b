"""Requests whose end is ambiguous are refused, and nothing after them is read."""

from __future__ import annotations

import socket

import pytest
from server.conftest import Client

HIDDEN = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def answers(client: Client, sent: str) -> str:
    """Everything the server sends until it ends the connection."""
    with socket.create_connection(("localhost", client.port), timeout=30) as connection:
        connection.sendall(sent.encode("latin-1"))
        found = b""
        try:
            while piece := connection.recv(65536):
                found += piece
        except ConnectionResetError:
            pass
        return found.decode()


def post(headers: str, body: str) -> str:
    head = "POST /query HTTP/1.1\r\nHost: localhost\r\n"
    return f"{head}Content-Type: application/sparql-query\r\n{headers}\r\n\r\n{body}{HIDDEN}"


@pytest.mark.parametrize(
    "sent",
    [
        post("Content-Length: 6\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
        post("Transfer-Encoding: chunked\r\nContent-Length: 6", "6\r\nASK {}\r\n0\r\n\r\n"),
        post("Content-Length: 6\r\nContent-Length: 7", "ASK {} "),
        post("Content-Length: 6, 7", "ASK {} "),
        post("Content-Length: +6", "ASK {}"),
        post("Content-Length: -1", ""),
        post("Content-Length: 0x6", "ASK {}"),
        post("Content-Length : 6", "ASK {}"),
        post("Content-Length: 5", "ASK {}").replace("HTTP/1.1", "HTTP/2.0"),
        post("Transfer-Encoding: chunked", "0\r\n\r\n").replace("HTTP/1.1", "HTTP/1.0", 1),
        post("Transfer-Encoding: xchunked", "0\r\n\r\n"),
        post("Transfer-Encoding: gzip, chunked", "0\r\n\r\n"),
        post("Transfer-Encoding : chunked", "0\r\n\r\n"),
        post("Transfer-Encoding: chunked", "6\r\nASK {}XX0\r\n\r\n"),
        post("Transfer-Encoding: chunked", "-6\r\nASK {}\r\n0\r\n\r\n"),
        post("Host: evil.example\r\nContent-Length: 6", "ASK {}"),
        post("X: a\rContent-Length: 6", "ASK {}"),
        post("X\0: a\r\nContent-Length: 6", "ASK {}"),
        "GET /health HTTP/1.1\r\n\r\n" + HIDDEN,
        "GET /health HTTP/9.9\r\nHost: localhost\r\n\r\n" + HIDDEN,
        "GET  /health HTTP/1.1\r\nHost: localhost\r\n\r\n" + HIDDEN,
    ],
)
def test_ambiguous_requests__are_refused_with_all_that_follows(client: Client, sent: str) -> None:
    found = answers(client, sent)
    assert found.split(" ", 2)[1] in ("400", "421", "501", "505")
    assert found.count("HTTP/1.1 ") <= 1
    assert '"status":"ok"' not in found


def test_clear_requests__follow_each_other(client: Client) -> None:
    found = answers(client, post("Content-Length: 6", "ASK {}"))
    assert found.count("HTTP/1.1 200") == 2
    chunked = answers(client, post("Transfer-Encoding: chunked", "6\r\nASK {}\r\n0\r\n\r\n"))
    assert chunked.count("HTTP/1.1 200") == 2


def test_websockets__are_not_spoken(client: Client) -> None:
    upgrade = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\n"
    found = answers(client, f"{upgrade}Upgrade: websocket\r\nSec-WebSocket-Key: eA==\r\n\r\n")
    assert "101" not in found.split("\r\n")[0]
