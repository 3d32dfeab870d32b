"""The command `triplestore mcp`: real processes over standard input and over HTTP."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp_server.agent_client import text_of

from triplestore import Store

REPOSITORY = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Store(tmp_path / "store") as store:
        store.load("@prefix ex: <http://ex.org/> . ex:ada ex:knows ex:bob .", "ttl")
    return tmp_path / "store"


def command(path: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "triplestore", "mcp", "-l", str(path), *more]


def test_mcp__over_standard_input_answers_and_ends(path: Path) -> None:
    name, *arguments = command(path, "--allow-update")
    server = StdioServerParameters(command=name, args=arguments, env=ENVIRONMENT)

    async def run() -> tuple[set[str], str, int]:
        async with Client(server) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            found = await client.call_tool("query", {"query": "SELECT ?x { ex:ada ex:knows ?x }"})
            await client.call_tool("update", {"update": "INSERT DATA { ex:bob ex:knows ex:ada }"})
            data = await client.call_tool("query", {"query": "SELECT * { ?x ?y ?z }"})
            return tools, text_of(found), (data.structured_content or {})["count"]

    tools, text, count = anyio.run(run)
    assert "update" in tools and "preview_update" in tools
    assert text == "prefixes: ex: <http://ex.org/>\n?x\nex:bob\n(1 row)"
    assert count == 2
    with Store(path) as store:  # the lock is free, and the commit is durable
        assert len(store) == 2


def test_mcp__of_a_store_that_does_not_exist_says_so(tmp_path: Path) -> None:
    run = subprocess.run(
        command(tmp_path / "none"), capture_output=True, text=True, env=ENVIRONMENT
    )
    assert run.returncode == 1
    assert "triplestore: " in run.stderr and "none" in run.stderr
    assert run.stdout == ""


@pytest.fixture
def served(path: Path) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        command(path, "--http", str(port)), stderr=subprocess.PIPE, env=ENVIRONMENT
    )
    try:
        for _ in range(600):
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield port
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert process.returncode == 0


def status_of(port: int, headers: dict[str, str]) -> int:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    given = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/mcp", body, {**given, **headers})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_mcp__over_http_answers_this_machine_only(served: int) -> None:
    async def run() -> str:
        async with Client(f"http://127.0.0.1:{served}/mcp") as client:
            return text_of(await client.call_tool("query", {"query": "ASK { ex:ada ?p ex:bob }"}))

    assert anyio.run(run) == "true"
    own = f"http://localhost:{served}"
    assert status_of(served, {"Origin": own, "Host": f"localhost:{served}"}) not in (403, 421)
    assert status_of(served, {"Origin": "http://evil.example"}) == 403
    assert status_of(served, {"Origin": "http://localhost:1"}) == 403
    assert status_of(served, {"Origin": "null"}) == 403
    assert status_of(served, {"Host": f"evil.example:{served}"}) == 421
    with socket.socket() as client:  # nothing listens at other addresses of the machine
        client.settimeout(5)
        assert client.connect_ex(("127.0.0.2", served)) != 0
