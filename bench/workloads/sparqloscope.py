"""Sparqloscope: about a hundred queries, one for each feature of SPARQL, over a bibliography.

The templates are others' (`bench/queries/sparqloscope.py` says where they are read), the graph is
generated. Every system runs in a process of its own, with the graph in memory; servers that run
already are named with `--endpoints`. Times are CPU milliseconds.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bench.harness import Case, Harness, MeasurementError, Result, machine, run_once
from bench.queries.answers import same
from bench.queries.asking import QUERIES
from bench.queries.engines import ENGINES, installed
from bench.queries.sparqloscope import templates_path
from bench.report import BenchReport, ReportTable
from bench.workload import Workload

OURS, ORACLE = "triplestore", "pyoxigraph"
WAYS = ("unseen", "seen", "first")
MEAN = 1.0
"""Maximum geometric mean of all queries, in milliseconds."""
WORST, NOTABLE = 3.0, 2.0
"""Maximum ratio to the best peer, of queries that take more than these milliseconds."""

Times = dict[str, dict[str, Any]]


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    templates_path()
    report = BenchReport("sparqloscope", WORKLOAD.summary, machine((OURS, *given.peers)))
    peers = [name for name in given.peers if installed(name)]
    with harness.temporary() as folder:
        made = run_once(
            Case(
                "bench.queries.asking:prepare",
                {"size": given.size, "folder": str(folder)},
                "graph and queries",
            )
        )
        groups = {name: group for name, group, _ in json.loads((folder / QUERIES).read_text())}
        results = harness.compare(_cases(given, peers, folder), main="load cpu s")
    report.keep(results)
    times = {result.case.label: least(result) for result in results}
    title = f"{made['triples']:,} triples"
    report.tables += [
        means(title, times, groups),
        worst(times, groups),
        every(times, groups),
    ]
    claims(times, report)
    return report


def _cases(given: argparse.Namespace, peers: Iterable[str], folder: Path) -> list[Case]:
    shared = {"folder": str(folder), "seconds": given.seconds, "limit": given.limit}
    shared["only"] = given.only
    cases = [
        Case("bench.queries.asking:ask_all", {"name": name, **shared}, name)
        for name in (OURS, *peers)
    ]
    for text in given.endpoints:
        name, _, rest = text.partition("=")
        url, _, process = rest.rpartition(",")
        if not url or not process.isdigit():
            raise MeasurementError(f"--endpoints {text}: write NAME=URL,PROCESS")
        of = {"name": name, "endpoint": url, "process": int(process), **shared}
        cases.append(Case("bench.queries.asking:ask_all", of, name))
    return cases


def least(result: Result) -> Times:
    """The least of each time over the runs, for each query; answers are those of the first."""
    found: Times = {}
    for query, first in result.runs[0]["queries"].items():
        runs = [run["queries"][query] for run in result.runs]
        good = [run for run in runs if "error" not in run]
        found[query] = dict(first)
        if good:
            ways = [way for way in WAYS if way in good[0]]
            found[query] = {**good[0], **{way: min(run[way] for run in good) for way in ways}}
    return found


def mean(times: Mapping[str, Any], queries: Iterable[str], way: str) -> float | None:
    """The geometric mean of some queries; those without an answer do not count.

    >>> mean({"a": {"seen": 1.0}, "b": {"seen": 4.0}, "c": {"error": "slow"}}, "abc", "seen")
    2.0
    """
    logs = [math.log(max(times[one][way], 1e-3)) for one in queries if way in times.get(one, {})]
    return math.exp(sum(logs) / len(logs)) if logs else None


def means(title: str, times: Mapping[str, Times], groups: Mapping[str, str]) -> ReportTable:
    """A row for each group, and one for all."""
    peers = [name for name in times if name != OURS]
    columns = ("group", "queries", "first ms", "seen ms", "unseen ms")
    table = ReportTable(f"Geometric means: {title}", (*columns, *(f"{p} unseen ms" for p in peers)))
    asked = [query for query in groups if query in times[OURS]]
    for group in [*dict.fromkeys(groups[query] for query in asked), None]:
        some = [query for query in asked if group in (None, groups[query])]
        table.add(
            group or "all",
            len(some),
            *(mean(times[OURS], some, way) for way in ("first", "seen", "unseen")),
            *(mean(times[peer], some, "unseen") for peer in peers),
        )
    table.note = (
        "CPU of the process, all threads together; ours as Arrow columns, the peers' rows or "
        "columns. First: of a query in the process, whatever is made on demand included. Unseen: "
        "with new names of variables. Seen: the same text again. Queries that a system did not "
        "answer do not count in its mean."
    )
    return table


def rivals(times: Mapping[str, Times], query: str) -> dict[str, float]:
    """The peers' times of an unseen text, where their answer is right."""
    right = times[OURS][query].get("answer")
    return {
        peer: found[query]["unseen"]
        for peer, found in times.items()
        if peer != OURS and "answer" in found.get(query, {}) and right
        if same(right, found[query]["answer"])
    }


def ratios(times: Mapping[str, Times]) -> dict[str, tuple[float, str]]:
    """Ours over the best peer's, and that peer, for each query."""
    found = {}
    for query, ours in times[OURS].items():
        others = rivals(times, query)
        if others and "unseen" in ours:
            best = min(others, key=others.__getitem__)
            found[query] = (ours["unseen"] / max(others[best], 1e-3), best)
    return found


def worst(times: Mapping[str, Times], groups: Mapping[str, str], count: int = 20) -> ReportTable:
    """Where ours is worst beside the best peer."""
    table = ReportTable(
        "Worst beside the best peer", ("query", "group", "unseen ms", "best ms", "peer", "times")
    )
    found = ratios(times)
    for query in sorted(found, key=lambda one: -found[one][0])[:count]:
        ratio, best = found[query]
        mine = times[OURS][query]["unseen"]
        table.add(query, groups[query], mine, times[best][query]["unseen"], best, ratio)
    return table


def every(times: Mapping[str, Times], groups: Mapping[str, str]) -> ReportTable:
    """All queries."""
    peers = [name for name in times if name != OURS]
    columns = ("query", "rows", "first ms", "seen ms", "unseen ms")
    table = ReportTable("Queries", (*columns, *(f"{p} unseen ms" for p in peers)))
    for query, ours in times[OURS].items():
        cells = [_cell(times[OURS], query, times[peer].get(query, {})) for peer in peers]
        rows = ours["answer"]["rows"] if "answer" in ours else ours.get("error")
        table.add(query, rows, *(ours.get(way) for way in ("first", "seen", "unseen")), *cells)
    return table


def _cell(ours: Times, query: str, found: Mapping[str, Any]) -> float | str | None:
    if "error" in found:
        return str(found["error"])
    if "answer" not in found or "answer" not in ours[query]:
        return None
    if same(ours[query]["answer"], found["answer"]):
        return float(found["unseen"])
    return f"{found['unseen']:.3g} (answers differ)"


def claims(times: Mapping[str, Times], report: BenchReport) -> None:
    ours, oracle = times[OURS], times.get(ORACLE, {})
    both = [q for q in ours if "answer" in ours[q] and "answer" in oracle.get(q, {})]
    differ = [q for q in both if not same(ours[q]["answer"], oracle[q]["answer"])]
    failed = [query for query, found in ours.items() if "error" in found]
    report.claim(
        f"answers equal {ORACLE}'s where it answers",
        f"{len(both) - len(differ)} of {len(both)}; {', '.join(differ + failed)}",
        not differ and not failed,
    )
    whole = mean(ours, ours, "unseen") or 0.0
    report.claim(
        f"geometric mean of unseen texts at most {MEAN} ms", f"{whole:.2f} ms", whole <= MEAN
    )
    for peer, found in times.items():
        if peer != OURS:
            common = [query for query in ours if "unseen" in found.get(query, {})]
            mine, its = mean(ours, common, "unseen") or 0.0, mean(found, common, "unseen") or 0.0
            text = f"{mine:.2f} and {its:.2f} ms over the {len(common)} that it answers"
            report.claim(f"ahead of {peer}", text, mine <= its)
    slow = {
        query: ratio
        for query, (ratio, _) in ratios(times).items()
        if ratio > WORST and ours[query]["unseen"] > NOTABLE
    }
    report.claim(
        f"no query over {NOTABLE} ms takes over {WORST:g} times the best peer's time",
        ", ".join(f"{query} {slow[query]:.1f}" for query in sorted(slow, key=lambda q: -slow[q])),
        not slow,
    )


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--size", type=int, default=25, help="publications in thousands (25)")
    parser.add_argument(
        "--peers",
        type=lambda text: [name for name in text.split(",") if name],
        default=[name for name in ENGINES if name != OURS],
        help="which of these, where installed: " + ", ".join(n for n in ENGINES if n != OURS),
    )
    parser.add_argument(
        "--endpoints",
        nargs="*",
        default=[],
        metavar="NAME=URL,PROCESS",
        help="servers with the graph loaded, and their process for its CPU time",
    )
    parser.add_argument("--seconds", type=float, default=0.3, help="for a way of a query (0.3)")
    parser.add_argument(
        "--limit",
        type=float,
        default=20.0,
        help="CPU seconds for a query of a library that can be copied (20)",
    )
    parser.add_argument("--only", default="", help="queries with this in their name")


WORKLOAD = Workload(
    "sparqloscope",
    "The queries of Sparqloscope over a generated bibliography, in CPU time, beside other stores.",
    options,
    run,
)
