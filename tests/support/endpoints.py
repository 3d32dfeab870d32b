"""Stores served on free ports of this machine, and endpoints that misbehave."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from triplestore import Store
from triplestore.network.services import Address


@contextmanager
def served_endpoint(store: Store, **settings: Any) -> Iterator[str]:
    """The address of the endpoint of a store, while it is served."""
    from triplestore.server import Settings
    from triplestore.server.serving import AnnouncedServer, configured

    config = configured(store, Settings(hosts=frozenset(), **settings))
    config.port, config.log_level = 0, "error"
    server = AnnouncedServer(config, lambda address: None)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.005)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/sparql"
    finally:
        server.should_exit = True
        thread.join(20)


def resolver(places: dict[str, str]) -> Callable[[str, int], list[Address]]:
    """Finds the hosts of a table at other addresses of this machine."""

    def resolve(host: str, port: int) -> list[Address]:
        if host not in places:
            raise socket.gaierror(f"no such host: {host}")
        target = urlsplit(places[host])
        address = (target.hostname, target.port)
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", address)]

    return resolve


class Misbehaving(ThreadingHTTPServer):
    """Answers each request by a function of its path's first word."""

    daemon_threads = True

    def __init__(self, answers: dict[str, Callable[[Conversation], None]]) -> None:
        super().__init__(("127.0.0.1", 0), Conversation)
        self.answers = answers
        self.ending = threading.Event()
        self.asked: list[tuple[str, str]] = []
        self.here = f"http://127.0.0.1:{self.server_port}/"


class Conversation(BaseHTTPRequestHandler):
    """One request; `text` is the query that it sends."""

    server: Misbehaving
    text = ""

    def do_GET(self) -> None:
        self._answer(urlsplit(self.path).query)

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])).decode())

    def _answer(self, form: str) -> None:
        self.text = parse_qs(form).get("query", [""])[0]
        self.server.asked.append((self.command, self.text))
        name = urlsplit(self.path).path.strip("/").partition("/")[0]
        with suppress(OSError):
            self.server.answers[name](self)

    def begin(self, status: int = 200, kind: str = "json", **headers: str) -> None:
        """Send the head."""
        self.send_response(status)
        media_type = kind if "/" in kind else f"application/sparql-results+{kind}"
        self.send_header("Content-Type", media_type)
        for header, value in headers.items():
            self.send_header(header.replace("_", "-"), value)
        self.end_headers()

    def write(self, body: str | bytes) -> None:
        """Send a part of the body."""
        self.wfile.write(body.encode() if isinstance(body, str) else body)

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""


@contextmanager
def misbehaving(answers: dict[str, Callable[[Conversation], None]]) -> Iterator[Misbehaving]:
    """A server with these answers, while it runs."""
    with Misbehaving(answers) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.ending.set()
            server.shutdown()
            thread.join()
