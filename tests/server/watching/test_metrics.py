"""What `/metrics`, `/health` and `/ready` say."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from server.conftest import SEES, SLOW, Client, in_background, wait_until

from triplestore import Store

LINE = re.compile(r'^[a-z_]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? [0-9.e+-]+$')


def numbers(client: Client) -> dict[str, float]:
    reply = client.ask("/metrics")
    assert reply.status == 200
    assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = [line for line in reply.text.splitlines() if not line.startswith("#")]
    assert all(LINE.match(line) for line in lines), lines
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_metrics__count_requests_rows_and_times(serving: Callable[..., Client]) -> None:
    client = serving(update=True)
    for _ in range(3):
        assert client.query(SEES).status == 200
    client.query("SELECT nonsense")
    client.update("INSERT DATA { :x :y :z }")
    client.ask("/nowhere/1")
    client.ask("/nowhere/2", method="BREW")
    found = numbers(client)
    of_query = 'endpoint="/query",method="GET"'
    assert found[f'triplestore_requests_total{{{of_query},status="200"}}'] == 3
    assert found[f'triplestore_requests_total{{{of_query},status="400"}}'] == 1
    other = 'triplestore_requests_total{endpoint="other",method="other",status="404"}'
    assert found[other] == 1
    assert not [name for name in found if "nowhere" in name]
    assert found["triplestore_rows_total"] == 3
    assert found['triplestore_request_seconds_count{endpoint="/query"}'] == 4
    assert found['triplestore_request_seconds_bucket{endpoint="/query",le="+Inf"}'] == 4
    assert found['triplestore_commits_total{store=""}'] == client.store.commit
    assert found['triplestore_quads{store="",facts="asserted"}'] == client.store.count("explicit")
    assert found['triplestore_quads{store="",facts="inferred"}'] == client.store.count("inferred")
    assert found["process_resident_memory_bytes"] > 1e6


def test_metrics__queries_that_run_and_wait(serving: Callable[..., Client]) -> None:
    client = serving(threads=1, wait=5.0, grace=0.2, seconds=2.0)
    threads = [in_background(client, SLOW) for _ in range(3)]
    wait_until(lambda: numbers(client)["triplestore_queries_waiting"] == 2)
    assert numbers(client)["triplestore_queries_running"] == 1
    client.end()
    for thread in threads:
        thread.join()


def test_metrics__open_snapshots(serving: Callable[..., Client]) -> None:
    client = serving()
    name = 'triplestore_open_snapshots{store=""}'
    held = client.store.snapshot()
    assert numbers(client)[name] == 1
    assert len(held) > 0
    del held
    assert numbers(client)[name] == 0


def test_metrics__buckets_never_fall(serving: Callable[..., Client]) -> None:
    client = serving()
    client.query(SEES)
    found = numbers(client)
    counts = [count for name, count in found.items() if 'bucket{endpoint="/query"' in name]
    assert counts == sorted(counts) and len(counts) == 15


def test_ready__needs_the_store(serving: Callable[..., Client], tmp_path: Path) -> None:
    path = tmp_path / "s"
    with Store(path) as store:
        store.load("<http://e/a> <http://e/p> 1 .", "ttl")
    client = serving(Store.read_only(path))
    assert (client.ask("/ready").status, client.ask("/health").status) == (200, 200)
    shutil.rmtree(path)
    reply = client.ask("/ready")
    assert reply.status == 503
    assert json.loads(reply.text)["status"] == "not ready"
