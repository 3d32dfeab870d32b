"""Commits: ten thousand durable commits of one triple each, beside a bare write and fsync.

The two take turns in one loop, so other work of the disk affects both. The cost of a commit is its
quantile minus that of the bare loop. The same loop without waiting for the disk
(`durability="flush"`) is compared with pyoxigraph's `add`, which does not wait either.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

from bench.harness import Case, Harness, machine
from bench.peers import PEERS
from bench.report import BenchReport, ReportTable, ratio
from bench.workload import Workload, copy_store, fresh_folder, make_store, numbers, quantile

OURS, PEER = "triplestore", "pyoxigraph"
RECORD = b"x" * 256  # about the size of a commit of one new triple


def measure(
    peer: str, store: str | None, folder: str, commits: int, durability: str, bare: bool
) -> dict[str, Any]:
    """In a child: the loop, on a copy of a store (or on an empty one)."""
    import pyoxigraph

    predicate = pyoxigraph.NamedNode("http://bench.example/p")
    with fresh_folder(folder) as own:
        target = own / "store" if store is None else copy_store(Path(store), own / "store")
        handle = PEERS[peer].open(target, durability)
        before = handle.count()
        bare_file = os.open(own / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        bare_seconds, seconds = [], []
        for i in range(commits):
            subject = pyoxigraph.NamedNode(f"http://bench.example/s{i}")
            value = pyoxigraph.Literal(f"value {i}")
            start = time.perf_counter()
            if bare:
                os.write(bare_file, RECORD)
                os.fsync(bare_file)
            middle = time.perf_counter()
            handle.add(subject, predicate, value)
            end = time.perf_counter()
            bare_seconds.append(middle - start)
            seconds.append(end - middle)
        start = time.perf_counter()
        handle.close()
        closing = time.perf_counter() - start
        os.close(bare_file)
        handle = PEERS[peer].open(target, durability)
        after = handle.count()
        handle.close()
    if after - before != commits:
        raise AssertionError(f"{peer}: {commits} commits left {after - before} triples")
    bare_seconds.sort()
    return {
        "seconds": sum(seconds),
        "close s": closing,
        **{f"commit {name}": value for name, value in shape(sorted(seconds)).items()},
        **{f"bare {name}": value for name, value in shape(bare_seconds).items()},
    }


def shape(seconds: list[float]) -> dict[str, float]:
    return {
        "median": quantile(seconds, 0.5),
        "p99": quantile(seconds, 0.99),
        "max": seconds[-1],
        "mean": sum(seconds) / len(seconds),
    }


def case(peer: str, store: Path | None, folder: Path, commits: int, durability: str) -> Case:
    bare = durability == "commit"
    arguments = {
        "peer": peer,
        "store": None if store is None else str(store),
        "folder": str(folder),
        "commits": commits,
        "durability": durability,
        "bare": bare,
    }
    return Case(f"{__name__}:measure", arguments, f"{peer}, {durability}")


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    packages = sorted({*PEERS[OURS].packages, *PEERS[PEER].packages})
    report = BenchReport("commits", WORKLOAD.summary, machine(packages))
    durable = ReportTable(
        f"{given.commits:,} durable commits of one triple, in milliseconds",
        [
            "store of triples",
            "commit median",
            "bare median",
            "above bare",
            "commit p99",
            "bare p99",
            "above bare, p99",
            "slowest",
            "close",
        ],
        note="Bare: write 256 bytes and fsync, in the same loop on the same disk.",
    )
    flushed = ReportTable(
        f"{given.commits:,} commits that do not wait for the disk, in microseconds",
        ["store of triples", "peer", "median", "p99", "mean", "triplestore is faster by"],
    )
    with harness.temporary() as folder:
        for size in sorted(given.sizes):
            stores: dict[str, Path | None] = {OURS: None, PEER: None}
            triples = 0
            if size:
                for peer in stores:
                    stores[peer] = place = folder / f"{peer}-{size}"
                    triples = make_store(peer, size, place)
            measure_durable(durable, stores[OURS], triples, folder, given, harness, report)
            measure_flushed(flushed, stores, triples, folder, given, harness, report)
    report.tables += [durable, flushed]
    return report


def measure_durable(
    table: ReportTable,
    store: Path | None,
    triples: int,
    folder: Path,
    given: argparse.Namespace,
    harness: Harness,
    report: BenchReport,
) -> None:
    (result,) = harness.compare(
        [case(OURS, store, folder, given.commits, "commit")], main="commit median"
    )
    report.keep([result])
    best = result.best
    median = 1e3 * (best["commit median"] - best["bare median"])
    tail = 1e3 * (best["commit p99"] - best["bare p99"])
    table.add(
        triples,
        1e3 * best["commit median"],
        1e3 * best["bare median"],
        median,
        1e3 * best["commit p99"],
        1e3 * best["bare p99"],
        tail,
        1e3 * best["commit max"],
        1e3 * best["close s"],
    )
    report.claim(
        f"a durable commit on {triples:,} triples costs at most 0.5 ms above a bare fsync (median)",
        f"{median:.3f} ms",
        median <= 0.5,
    )
    report.claim(
        f"... and at most 5 ms above it at the 99th percentile ({triples:,} triples)",
        f"{tail:.3f} ms",
        tail <= 5,
    )


def measure_flushed(
    table: ReportTable,
    stores: dict[str, Path | None],
    triples: int,
    folder: Path,
    given: argparse.Namespace,
    harness: Harness,
    report: BenchReport,
) -> None:
    results = harness.compare(
        [case(peer, store, folder, given.commits, "flush") for peer, store in stores.items()],
        main="commit median",
    )
    report.keep(results)
    ours = results[0]["commit median"]
    for result in results:
        peer = str(result.case.arguments["peer"])
        table.add(
            triples,
            peer,
            1e6 * result["commit median"],
            1e6 * result["commit p99"],
            1e6 * result["commit mean"],
            ratio(ours, result["commit median"]) if peer != OURS else None,
        )


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sizes",
        type=numbers,
        default=[0, 8, 76],
        help="universities in the store (0,8,76: empty, 1 and 10 M triples)",
    )
    parser.add_argument("--commits", type=int, default=10_000, help="how many (10000)")


WORKLOAD = Workload(
    "commits",
    "Commits of one triple each, on stores of growing size.",
    options,
    run,
)
