"""Random requests from odd parts are answered, never by a fault of the server."""

from __future__ import annotations

import random
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from server.conftest import Client

METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "QUERY"]
PATHS = [
    "/",
    "/query",
    "/update",
    "/sparql",
    "/store",
    "/store/a",
    "/store/%00",
    "/store/%ff%fe",
    "/store/a%0d%0ab",
    "/store/ä",
    "/store/../x",
    "/api/session",
    "/api/login",
    "/api/logout",
    "//x",
    "/metrics",
    "/health",
    "/ready",
    "/query/",
    "/%ff",
    "/page/../query",
]
PARAMETERS = [
    "?",
    "?query=%ff",
    "?query=ASK{}",
    "?graph=%ff",
    "?graph=x",
    "?default",
    "?facts=",
    "?graph=http://e/a%0d%0a",
    "?default&graph=",
    "?update=CLEAR%20ALL",
    "?query=ASK%20%7B%7D&default-graph-uri=%00",
    "?&&&&&&&&&&",
    "?query=ASK%20%7B%7D&query=x",
]
HEADERS = """Accept: ,;q=
Accept: text/*;q=abc
Accept-Encoding: gzip;q=0.5,*;q=0
Accept-Encoding: ÿ
Authorization: Basic ÿ
Authorization: Basic Og==
Authorization: Basic cml0YTpyaXRhLXNlY3JldA==
Authorization: Bearer ÿ
Content-Encoding: x
Content-Length: 5
Content-Type: a;b
Content-Type: application/json
Content-Type: application/sparql-query
Content-Type: application/x-www-form-urlencoded
Content-Type: multipart/form-data
Content-Type: multipart/form-data; boundary=x
Content-Type: text/turtle
Content-Type: ÿ
Cookie: ÿ
Expect: 100-continue
Origin: http://[
Origin: null
Origin: ÿ
Range: x
Sec-Fetch-Site: x
Traceparent: ÿ
Transfer-Encoding: chunked
X-Forwarded-For: ÿ
X-Forwarded-Proto: ÿ""".splitlines()
BODIES = ["", "hello", "5\r\nhello\r\n0\r\n\r\n", '{"name":"x","password":"y"}', "query=ASK{}"]


def odd_request(chance: random.Random) -> str:
    headers = chance.sample(HEADERS, chance.randint(0, 5))
    path = chance.choice(PATHS) + chance.choice(["", *PARAMETERS])
    head = f"{chance.choice(METHODS)} {path} HTTP/1.1"
    lines = [head, "Host: localhost", *headers, "Connection: close", "", chance.choice(BODIES)]
    return "\r\n".join(lines)


def status_of(client: Client, request: str) -> int | None:
    try:
        with socket.create_connection(("localhost", client.port), timeout=30) as connection:
            connection.sendall(request.encode("latin-1"))
            found = connection.recv(65536)
            while connection.recv(65536):
                pass
    except ConnectionResetError:
        return None
    return int(found.split(b" ", 2)[1]) if found else None


@pytest.mark.parametrize("with_login", [False, True])
def test_odd_requests__are_no_faults_of_the_server(
    serving: Callable[..., Client], users: Path, with_login: bool
) -> None:
    limits = {"stall_seconds": 0.2, "head_seconds": 0.5}
    login = {"users": users, "cors": True} if with_login else {}
    client = serving(update=True, **limits, **login)
    chance = random.Random(7)
    requests = [odd_request(chance) for _ in range(250)]
    statuses = [(status_of(client, request), request) for request in requests]
    assert [request for status, request in statuses if status == 500] == []
    assert len({status for status, _ in statuses}) > 6
    assert client.ask("/health").status == 200
