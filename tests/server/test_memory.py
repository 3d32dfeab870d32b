"""Memory of queries that were refused or stopped goes back to the system."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest

from triplestore import Store
from triplestore.server import memory

from .conftest import Client, wait_until

MB = 1 << 20
SORTED = "SELECT * { ?a <http://e/p> ?x . ?b <http://e/p> ?x } ORDER BY ?b ?a"

pytestmark = pytest.mark.skipif(memory._trim() is None, reason="needs glibc, which returns memory")


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def highest() -> Iterator[list[int]]:
    """The largest memory of the process during a block."""
    found, done = [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            found[0] = max(found[0], resident())

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield found
    finally:
        done.set()
        thread.join()


@pytest.fixture(scope="module")
def pairs() -> Store:
    """A store in which `SORTED` has 18 million rows."""
    store = Store()
    store.load("\n".join(f"<http://e/{n}> <http://e/p> {n % 200} ." for n in range(60_000)), "ttl")
    return store


def test_memory__of_a_refused_query_goes_back(serving: Callable[..., Client], pairs: Store) -> None:
    client = serving(pairs, memory=400 * MB)
    client.query("ASK {}")
    before = resident()
    for _ in range(2):
        with highest() as peak:
            assert client.query(SORTED).status == 503
        assert peak[0] > before + 200 * MB
        wait_until(lambda: resident() < before + 150 * MB)


def test_memory__of_a_stopped_query_goes_back(serving: Callable[..., Client], pairs: Store) -> None:
    client = serving(pairs, memory=4000 * MB)
    client.query("ASK {}")
    before = resident()
    connection = client.connection()
    connection.request("GET", "/query?" + urlencode({"query": SORTED}))
    wait_until(lambda: resident() > before + 200 * MB)
    connection.close()
    wait_until(lambda: client.running() == 0)
    wait_until(lambda: resident() < before + 150 * MB)


def test_release__returns_what_threads_have_freed() -> None:
    before = resident()

    def use() -> None:
        kept = [bytes(1000) for _ in range(300_000)]
        assert len(kept) == 300_000
        del kept
        memory.release_memory()

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    time.sleep(0.01)
    assert resident() < before + 100 * MB
