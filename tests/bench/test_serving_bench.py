"""The bench of servers: both give the same answers, and the load is what it says."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

pytest.importorskip("starlette", reason="the extra `server` is not installed")

import pyoxigraph

from bench.inputs import lubm
from bench.serving.load_client import loaded
from bench.serving.workload import OURS, PEER, measure, point_queries
from triplestore import Store


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store of each server, of one department."""
    folder = tmp_path_factory.mktemp("serving")
    data = "".join(lubm.ntriples_lines(next(lubm.universities(1))))
    with Store(folder / OURS) as store:
        store.load(data, "nt")
    peer = pyoxigraph.Store(str(folder / PEER))
    peer.load(data.encode(), pyoxigraph.RdfFormat.N_TRIPLES)
    peer.flush()
    del peer
    return folder


@contextmanager
def server(peer: str, folder: Path) -> Iterator[int]:
    command = [sys.executable, "-m", "bench.serving.server_process", peer, str(folder / peer)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdin is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.stdin.close()
        assert process.wait(30) == 0
        process.stdout.close()


def test_servers__give_the_same_answers(stores: Path) -> None:
    queries = point_queries(20)
    found: dict[str, list[set[str]]] = {}
    for peer in (OURS, PEER):
        with server(peer, stores) as port:
            found[peer] = [courses(port, query) for query in queries]
    assert found[OURS] == found[PEER]
    assert min(map(len, found[OURS])) >= 1


def courses(port: int, query: str) -> set[str]:
    with urlopen(f"http://localhost:{port}/query?{urlencode({'query': query})}") as answer:
        rows = json.load(answer)["results"]["bindings"]
    return {row["course"]["value"] for row in rows}


def test_load__counts_the_requests_of_all_clients(stores: Path) -> None:
    with server(OURS, stores) as port:
        times, whole, size = asyncio.run(loaded(port, point_queries(10), 3, 0.2))
    assert len(times) >= 3 and size > 0
    assert 0 < max(times) <= whole


def test_load__an_error_is_not_a_fast_answer(stores: Path) -> None:
    with server(OURS, stores) as port, pytest.raises(RuntimeError, match="400"):
        asyncio.run(loaded(port, ["nonsense"], 1, 1.0))


def test_measure__has_times_rates_and_memory(stores: Path) -> None:
    found = measure(PEER, str(stores / PEER), 2, 0.2)
    assert 0 < found["p50 ms"] <= found["p99 ms"]
    assert found["memory MB"] > 10
    assert found["requests per second"] == pytest.approx(1e6 / found["µs per request"])
