"""Subscriptions: what a commit of one fact costs when it changes the rows of ten queries.

Each course has ten subscriptions, one of each kind in `KINDS`. A student takes a course and leaves
it again, so each commit changes the rows of the ten queries about that course. The time above the
commit is that from its return until all ten differences are delivered; the commit itself is
compared with one without subscriptions. Commits do not wait for the disk.
"""

from __future__ import annotations

import argparse
import time
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from bench.harness import Case, Harness, Result, machine
from bench.inputs.datasets import dataset
from bench.inputs.lubm import UNIV_BENCH
from bench.report import BenchReport, ReportTable
from bench.workload import Workload, copy_store, fresh_folder, numbers, quantile

KINDS = {
    "pattern": "SELECT ?x { ?x u:takesCourse COURSE }",
    "join": "SELECT ?x ?n { ?x u:takesCourse COURSE ; a u:Student ; u:name ?n }",
    "OPTIONAL": "SELECT ?x ?y { ?x u:takesCourse COURSE OPTIONAL { ?x u:advisor ?y } }",
    "NOT EXISTS": "SELECT ?x { ?x u:takesCourse COURSE FILTER NOT EXISTS { ?x u:teacherOf ?y } }",
    "FILTER": "SELECT ?x ?n { ?x u:takesCourse COURSE ; u:emailAddress ?n "
    "FILTER(CONTAINS(?n, 'Student')) }",
    "UNION": "SELECT ?x { { ?x u:takesCourse COURSE } UNION { ?x u:teacherOf COURSE } }",
    "GROUP BY": "SELECT ?d (COUNT(?x) AS ?n) { ?x u:takesCourse COURSE ; u:memberOf ?d } "
    "GROUP BY ?d",
    "long join": "SELECT ?x ?t ?e { ?x u:takesCourse COURSE ; u:memberOf ?d . "
    "?t u:teacherOf COURSE ; u:worksFor ?e }",
    "DISTINCT": "SELECT DISTINCT ?d ?n { ?x u:takesCourse COURSE ; u:memberOf ?d ; u:name ?n }",
    "MINUS": "SELECT ?x ?d { ?x u:takesCourse COURSE ; u:memberOf ?d "
    "MINUS { ?x a u:GraduateStudent } }",
}
WARM = 20  # commits before those that are measured: kernels are loaded, plans are made
SECONDS = 60.0


def build(data: str, folder: str) -> dict[str, Any]:
    """In a child: a store with rules, left in a folder."""
    from triplestore import Store

    source = dataset(data)
    with Store(folder) as store:
        store.load(path=source.path, format=source.format)
        store.reason(rules=source.program())
        store.bind("u", UNIV_BENCH)
        return {"quads": len(store)}


def measure(store: str, folder: str, subscriptions: int, commits: int) -> dict[str, Any]:
    """In a child: commits with subscriptions, and then without them."""
    from pyoxigraph import NamedNode, Quad

    from triplestore import Store

    with (
        fresh_folder(folder) as own,
        Store(copy_store(Path(store), own / "s"), durability="flush") as s,
    ):
        courses = [row["c"] for row in s.select("SELECT DISTINCT ?c { ?x u:takesCourse ?c }")]
        courses = sorted(courses, key=str)[: max(1, subscriptions // len(KINDS))]
        people = s.select("SELECT DISTINCT ?x { ?x a u:UndergraduateStudent } LIMIT 200")
        takes = NamedNode(UNIV_BENCH + "takesCourse")
        pairs = islice(zip(cycle([row["x"] for row in people]), cycle(courses)), commits)
        quads = [Quad(x, takes, c) for x, c in pairs]
        quads = [quad for quad in quads if quad not in s]
        found: dict[str, Any] = {"quads": len(s), "subscriptions": subscriptions}
        start = time.perf_counter()
        kinds = islice(cycle(KINDS.values()), subscriptions)
        texts = [
            text.replace("COURSE", str(courses[number // len(KINDS)]))
            for number, text in enumerate(kinds)
        ]
        called: list[int] = []
        followed = [
            s.subscribe(text, lambda changes: called.append(changes.commit)) for text in texts
        ]
        found["subscribe ms"] = 1e3 * (time.perf_counter() - start) / max(1, len(texts))
        hub: Any = s._hub
        found |= _timed("followed", s, quads, hub)
        found["changed"] = len(called) / (2 * len(quads))
        for subscription in followed:
            subscription.close()
        time.sleep(1)
        found |= _timed("bare", s, quads, None)
        return found


def _timed(name: str, store: Any, quads: list[Any], hub: Any) -> dict[str, float]:
    """Each quad added and removed; with a hub, also the time until all is delivered."""
    seconds: dict[str, list[float]] = {"commit": [], "after": [], "cpu": []}
    for number, quad in enumerate(quads):
        for write in (store.add, store.remove):
            used = time.process_time()
            start = time.perf_counter()
            write(quad)
            middle = time.perf_counter()
            if hub is not None and not hub.wait_for(store.commit, SECONDS):
                raise AssertionError("a commit was not delivered")
            end = time.perf_counter()
            if number >= WARM:
                seconds["commit"].append(middle - start)
                seconds["after"].append(end - middle)
                seconds["cpu"].append(time.process_time() - used)
    found = {}
    for part, values in seconds.items():
        values.sort()
        found[f"{name} {part} ms"] = 1e3 * quantile(values, 0.5)
        found[f"{name} {part} least ms"] = 1e3 * values[0]
        found[f"{name} {part} p95 ms"] = 1e3 * quantile(values, 0.95)
    return found


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    report = BenchReport("subscriptions", WORKLOAD.summary, machine(("triplestore", "numpy")))
    with harness.temporary() as folder:
        by_count = [(given.size, count) for count in sorted(given.subscriptions)]
        by_size = [(size, given.fixed) for size in sorted(given.sizes)]
        wanted = list(dict.fromkeys([*by_count, *by_size]))
        cases = {}
        for size, count in wanted:
            place = folder / f"lubm{size}"
            if not place.exists():
                arguments = {"data": f"lubm{size}", "folder": str(place)}
                harness.compare([Case(f"{__name__}:build", arguments, f"lubm{size}")], "quads", 1)
            arguments = {
                "store": str(place),
                "folder": str(folder),
                "subscriptions": count,
                "commits": given.commits,
            }
            label = f"{count} subscriptions on lubm{size}"
            cases[size, count] = Case(f"{__name__}:measure", arguments, label)
        measured = harness.compare(cases.values(), main="followed after ms")
        results = dict(zip(cases, measured, strict=True))
    report.keep(list(results.values()))
    title = f"Growth with the number of subscriptions, LUBM({given.size})"
    report.tables.append(_table(title, [results[key] for key in by_count]))
    title = f"Growth with the store, {given.fixed:,} subscriptions"
    report.tables.append(_table(title, [results[key] for key in by_size]))
    asked = results.get((given.size, given.fixed))
    if asked is not None:
        above = _above(asked)
        report.claim(
            f"{given.fixed:,} subscriptions on LUBM({given.size}): a commit of one fact that "
            "changes ten of them takes under 5 ms on top of the commit (median)",
            f"{above:.2f} ms",
            above < 5,
        )
    return report


def _above(result: Result) -> float:
    """The time above a commit without subscriptions."""
    best = result.best
    return float(best["followed after ms"] + best["followed commit ms"] - best["bare commit ms"])


def _table(title: str, results: list[Result]) -> ReportTable:
    table = ReportTable(
        title + ", in milliseconds",
        [
            "subscriptions",
            "facts",
            "changed",
            "commit, bare",
            "commit, followed",
            "delivered after",
            "least",
            "p95",
            "above bare",
            "CPU above bare",
            "subscribing, each",
        ],
        note="Changed: subscriptions whose rows a commit changes. Delivered after: from the return "
        "of the commit until the last difference is queued (median, least, 95th percentile). CPU: "
        "the time of all threads, which other processes on the machine disturb less.",
    )
    for result in results:
        best = result.best
        table.add(
            best["subscriptions"],
            best["quads"],
            best["changed"],
            best["bare commit ms"],
            best["followed commit ms"],
            best["followed after ms"],
            best["followed after least ms"],
            best["followed after p95 ms"],
            _above(result),
            best["followed cpu ms"] - best["bare cpu ms"],
            best["subscribe ms"],
        )
    return table


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--subscriptions", type=numbers, default=[10, 100, 1000, 10_000], help="numbers of them"
    )
    parser.add_argument("--size", type=int, default=10, help="universities for these (10)")
    parser.add_argument("--sizes", type=numbers, default=[1, 10, 50], help="universities (1,10,50)")
    parser.add_argument("--fixed", type=int, default=1000, help="subscriptions for these (1000)")
    parser.add_argument("--commits", type=int, default=120, help="facts added and removed (120)")


WORKLOAD = Workload(
    "subscriptions",
    "What a commit of one fact costs above itself when it changes the rows of ten live queries.",
    options,
    run,
)
