"""Look-ups: single patterns through `quads_for_pattern`, whole scans, and columns of ids."""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.harness import Case, Harness, Result, machine
from bench.inputs import lubm
from bench.peers import PEERS, Lookup
from bench.report import BenchReport, ReportTable, ratio
from bench.workload import Workload, make_store

OURS, PEER = "triplestore", "pyoxigraph"
ABSENT = "http://bench.example/absent"

# Patterns from a statement's terms and an absent term.
SHAPES: dict[str, Callable[[Any, Any, Any, Any], Lookup]] = {
    "s p o": lambda s, p, o, absent: (s, p, o),
    "s p ?": lambda s, p, o, absent: (s, p, None),
    "s ? ?": lambda s, p, o, absent: (s, None, None),
    "? p o": lambda s, p, o, absent: (None, p, o),
    "? ? o": lambda s, p, o, absent: (None, None, o),
    "s p o, absent": lambda s, p, o, absent: (s, p, absent),
}
SCANS = ("advisor", "takesCourse")

# Properties whose objects have thousands of subjects; their look-ups would be scans.
FREQUENT = ("#type>", "#memberOf>", "#telephone>", "#name>", "#researchInterest>")


def sample(count: int) -> list[tuple[Any, Any, Any]]:
    """Statements with rare terms, the same for every peer."""
    import pyoxigraph

    lines = [
        line
        for line in lubm.ntriples_lines(next(lubm.universities(1)))
        if not any(name in line for name in FREQUENT)
    ]
    chosen = random.Random(1).sample(lines, count)
    quads = pyoxigraph.parse("".join(chosen), format=pyoxigraph.RdfFormat.N_TRIPLES)
    return [(quad.subject, quad.predicate, quad.object) for quad in quads]


def measure(peer: str, folder: str, shape: str, calls: int) -> dict[str, Any]:
    """In a child: the look-ups of one shape, after a first round as warm-up."""
    import pyoxigraph

    absent = pyoxigraph.NamedNode(ABSENT)
    patterns = [SHAPES[shape](*terms, absent) for terms in sample(min(calls, 1000))]
    handle = PEERS[peer].open(Path(folder))
    found = sum(handle.look_up(pattern) for pattern in patterns)
    rounds = max(1, calls // len(patterns))
    start = time.perf_counter()
    for _ in range(rounds):
        for pattern in patterns:
            handle.look_up(pattern)
    seconds = time.perf_counter() - start
    handle.close()
    return {"µs": seconds / (rounds * len(patterns)) * 1e6, "found": found / len(patterns)}


def measure_scan(peer: str, folder: str, name: str) -> dict[str, Any]:
    """In a child: all statements of one property, as quads of terms."""
    import pyoxigraph

    handle = PEERS[peer].open(Path(folder))
    start = time.perf_counter()
    found = handle.look_up((None, pyoxigraph.NamedNode(lubm.UNIV_BENCH + name), None))
    seconds = time.perf_counter() - start
    handle.close()
    return {"µs": seconds / found * 1e6, "found": found}


def measure_columns(folder: str) -> dict[str, Any]:
    """In a child: scans and batches of look-ups with columns of ids, beside plain arrays.

    Every scanned column is read once (xor of all its ids), and so are plain arrays of the same
    size, which show the speed of memory.
    """
    import numpy as np
    from pyoxigraph import NamedNode

    from triplestore import Store

    store = Store.read_only(folder)
    takes, advisor = (NamedNode(lubm.UNIV_BENCH + n) for n in ("takesCourse", "advisor"))
    found: dict[str, Any] = {}

    def timed(name: str, work: Callable[[], int]) -> None:
        work()  # reads the files into memory, imports the kernels
        start = time.perf_counter()
        count = work()
        found[name] = (time.perf_counter() - start) / count * 1e9
        found[f"{name}, count"] = count

    def scan(predicate: NamedNode | None) -> int:
        count = 0
        for rows in store.rows_for_pattern(predicate=predicate):
            np.bitwise_xor.reduce(rows.subject)
            np.bitwise_xor.reduce(rows.object)
            count += rows.size
        return count

    def bare(predicate: NamedNode | None) -> Callable[[], int]:
        size = sum(rows.size for rows in store.rows_for_pattern(predicate=predicate))
        columns = [np.arange(size, dtype=np.uint32) for _ in range(2)]

        def work() -> int:
            for column in columns:
                np.bitwise_xor.reduce(column)
            return size

        return work

    timed("scan of one property, per row", lambda: scan(takes))
    timed("... of plain arrays of that size", bare(takes))
    timed("scan of everything, per row", lambda: scan(None))
    timed("... of plain arrays of the size of everything", bare(None))
    subjects = np.unique(np.concatenate([r.subject for r in store.rows_for_pattern(None, advisor)]))
    shuffled = np.random.default_rng(1).permutation(subjects)
    timed(
        "objects of many subjects, sorted, per object",
        lambda: len(store.objects_of(subjects, takes)[1]),
    )
    timed(
        "objects of many subjects, in random order",
        lambda: len(store.objects_of(shuffled, takes)[1]),
    )
    terms = store.terms(shuffled[:100_000])
    timed("ids of terms, per term", lambda: len(store.lookup_ids(terms)))
    timed("terms of ids, per term", lambda: len(store.terms(shuffled[:100_000])))
    found["main"] = sum(value for name, value in found.items() if "count" not in name)
    store.close()
    return found


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    packages = sorted({*PEERS[OURS].packages, *PEERS[PEER].packages})
    report = BenchReport("lookups", WORKLOAD.summary, machine(packages))
    columns = ["look-up", "found", f"{OURS} µs", f"{PEER} µs", f"{PEER} takes"]
    single = ReportTable(
        "Point look-ups, per call", columns, note="`list` of the result of `quads_for_pattern`."
    )
    scans = ReportTable("Scans of one property, per quad of terms", columns)
    with harness.temporary() as folder:
        for peer in (OURS, PEER):
            make_store(peer, given.universities, folder / peer)
        for shape in SHAPES:
            ours, other = compare(
                "measure", {"shape": shape, "calls": given.calls}, folder, harness
            )
            report.keep([ours, other])
            add_row(single, shape, ours, other)
            times = ours["µs"] / other["µs"]
            report.claim(
                f"a look-up `{shape}` takes at most 10 times pyoxigraph's",
                f"{times:.2f}",
                times <= 10,
            )
        for name in SCANS:
            ours, other = compare("measure_scan", {"name": name}, folder, harness)
            report.keep([ours, other])
            add_row(scans, f"? {name} ?", ours, other)
        columns_case = Case(
            f"{__name__}:measure_columns", {"folder": str(folder / OURS)}, "columns of ids"
        )
        (columns_found,) = harness.compare([columns_case], main="main")
        report.keep([columns_found])
    report.tables += [single, scans, columns_table(columns_found)]
    return report


def columns_table(result: Result) -> ReportTable:
    table = ReportTable(
        "Columns of ids",
        ["what", "count", "ns each", "M/s"],
        note="Each after a first round. Scanned columns are read through once, as are the plain "
        "arrays of the same size beside them.",
    )
    for name in result.best:
        if f"{name}, count" in result.best:
            each = result.least(name)
            table.add(name, result[f"{name}, count"], each, 1e3 / each)
    return table


def compare(
    function: str, arguments: dict[str, Any], folder: Path, harness: Harness
) -> tuple[Result, Result]:
    cases = [
        Case(
            f"{__name__}:{function}",
            {"peer": peer, "folder": str(folder / peer), **arguments},
            f"{peer}: {' '.join(map(str, arguments.values()))}",
        )
        for peer in (OURS, PEER)
    ]
    ours, other = harness.compare(cases, main="µs")
    if ours["found"] != other["found"]:
        raise AssertionError(f"{cases[0].label}: found {ours['found']}, not {other['found']}")
    return ours, other


def add_row(table: ReportTable, name: str, ours: Result, other: Result) -> None:
    table.add(name, ours["found"], ours["µs"], other["µs"], ratio(ours["µs"], other["µs"]))


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--universities", type=int, default=8, help="in the store (8: 1 M triples)")
    parser.add_argument("--calls", type=int, default=5000, help="of each look-up (5000)")


WORKLOAD = Workload(
    "lookups",
    "Patterns answered one by one and in bulk, by the same store opened in a fresh process.",
    options,
    run,
)
