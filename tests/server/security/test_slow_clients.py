"""Clients that send or read slowly, or open many connections, do not hold the server up."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from urllib.parse import quote

import pytest
from server.conftest import Client, numbers_query, wait_until

from triplestore.server import protocol


def connect(client: Client) -> socket.socket:
    return socket.create_connection(("localhost", client.port), timeout=30)


def rest(connection: socket.socket) -> bytes:
    found = b""
    try:
        while piece := connection.recv(65536):
            found += piece
    except ConnectionResetError:
        pass
    return found


def test_slow_head__ends_the_connection(serving: Callable[..., Client]) -> None:
    client = serving(head_seconds=0.3)
    with connect(client) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n")
        assert rest(connection).startswith(b"HTTP/1.1 408 ")


def test_slow_head__that_never_stops_coming_ends_too(serving: Callable[..., Client]) -> None:
    client = serving(head_seconds=0.5)
    with connect(client) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n")
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            for number in range(300):
                connection.sendall(f"X-{number}: y\r\n".encode())
                time.sleep(0.02)


def test_slow_head__of_a_second_request_ends_the_connection(
    serving: Callable[..., Client],
) -> None:
    client = serving(head_seconds=0.3)
    with connect(client) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
        connection.sendall(b"GET /health HTTP")
        assert rest(connection).endswith(b"nosniff\r\n\r\n")


def test_idle_connection__is_ended_without_a_word(serving: Callable[..., Client]) -> None:
    client = serving(head_seconds=0.3)
    with connect(client) as connection:
        assert rest(connection) == b""


def test_long_query__is_not_cut_by_the_limits_of_slow_clients(
    serving: Callable[..., Client],
) -> None:
    client = serving(head_seconds=0.2, stall_seconds=0.2, seconds=1.0)
    began = time.monotonic()
    text = "SELECT (COUNT(*) AS ?n) { " + " ".join(f"?a{n} ?b{n} ?c{n} ." for n in range(20)) + "}"
    assert client.query(text).status == 504
    assert time.monotonic() - began >= 1.0


HEAD = b"POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\n"


def test_slow_body__is_refused(serving: Callable[..., Client]) -> None:
    client = serving(stall_seconds=0.3)
    with connect(client) as connection:
        connection.sendall(HEAD + b"Content-Length: 100\r\n\r\nASK")
        assert rest(connection).startswith(b"HTTP/1.1 408 ")


def test_slow_body__that_drips_is_refused(
    serving: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "_SLOWEST", 100_000)
    client = serving(stall_seconds=0.4)
    with connect(client) as connection:
        connection.sendall(HEAD + b"Content-Length: 100000\r\n\r\nASK")
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            for _ in range(300):
                connection.sendall(b" ")
                time.sleep(0.02)


def test_slow_reader__is_cut_off(serving: Callable[..., Client]) -> None:
    client = serving(stall_seconds=0.5)
    with connect(client) as connection:
        query = quote(numbers_query(4))
        connection.sendall(f"GET /query?query={query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        wait_until(lambda: client.running() == 1)
        wait_until(lambda: client.running() == 0)  # although nothing was read
        assert not rest(connection).endswith(b"0\r\n\r\n")  # which ends a whole answer


def test_slow_readers__leave_the_server_to_others(serving: Callable[..., Client]) -> None:
    client = serving(stall_seconds=1.0, threads=2)
    query = quote(numbers_query(4))
    with ExitStack() as stack:
        for _ in range(2):
            slow = stack.enter_context(connect(client))
            head = f"GET /query?query={query} HTTP/1.1\r\nHost: localhost\r\n\r\n"
            slow.sendall(head.encode())
        wait_until(lambda: client.running() == 2)
        assert client.query("ASK {}").status == 200  # after the slow ones were cut off


def test_many_connections__beyond_the_maximum_are_closed(serving: Callable[..., Client]) -> None:
    client = serving(connections=5)
    with ExitStack() as stack:
        held = [stack.enter_context(connect(client)) for _ in range(5)]
        time.sleep(0.1)
        extra = stack.enter_context(connect(client))
        assert rest(extra) == b""
        held.pop().close()
        wait_until(lambda: answers(client))


def answers(client: Client) -> bool:
    try:
        return client.ask("/health").status == 200
    except OSError:
        return False
