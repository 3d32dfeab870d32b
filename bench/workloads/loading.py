"""Loading: from a file to a durable store, parse to fsync.

Start-up (imports, reading compiled kernels) and the load are measured separately. The cost of one
more triple is the slope of a line through the times of several sizes, without the fixed part.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.child import Clock
from bench.harness import Case, Harness, Result, folder_bytes, machine, sync_folder
from bench.inputs.data import InputFile, lubm_file, original_lubm10
from bench.peers import PEERS
from bench.report import BenchReport, Plot, ReportTable, ratio, slope
from bench.workload import Workload, fresh_folder, names, numbers

OURS = "triplestore"
PEER = "pyoxigraph"


def measure(peer: str, path: str, format: str, folder: str) -> dict[str, Any]:
    """In a child: one load."""
    adapter, clock = PEERS[peer], Clock()
    with clock.part("start"):
        adapter.open(None).close()
    with clock.part("warm"):
        adapter.warm_up()
    with fresh_folder(folder) as own:
        target = own / "store"
        with clock.part("load"):
            handle = adapter.open(target if adapter.durable else None)
            handle.load(Path(path), format)
            if adapter.durable:
                sync_folder(target)
        triples = handle.count()
        handle.close()
        disk = folder_bytes(target) if adapter.durable else 0
    return {"triples": triples, "disk bytes": disk, **clock.seconds}


def inputs(given: argparse.Namespace) -> list[InputFile]:
    chosen = [lubm_file(size) for size in given.sizes]
    middle = sorted(given.sizes)[len(given.sizes) // 2]
    if middle == 10 and (original := original_lubm10()):
        chosen.append(original)
    chosen.append(lubm_file(middle, shuffle=True))
    chosen.append(lubm_file(middle, format="turtle"))
    return chosen


def cases(source: InputFile, given: argparse.Namespace, folder: Path) -> list[Case]:
    return [
        Case(
            f"{__name__}:measure",
            {
                "peer": peer,
                "path": str(source.path),
                "format": source.format,
                "folder": str(folder),
            },
            f"{peer}: {source.name}",
        )
        for peer in given.peers
        if source.universities * 130_000 <= PEERS[peer].largest
    ]


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    versions = sorted({package for peer in given.peers for package in PEERS[peer].packages})
    report = BenchReport("loading", WORKLOAD.summary, machine(versions))
    measured: dict[str, dict[str, Result]] = {}
    with harness.temporary() as folder:
        for source in inputs(given):
            results = harness.compare(cases(source, given, folder), main="load s")
            report.keep(results)
            measured[source.name] = {str(r.case.arguments["peer"]): r for r in results}
    report.tables += [load_table(measured, given.peers), start_table(measured)]
    report.tables.append(slope_table(measured, given, report))
    make_claims(measured, report)
    return report


def load_table(measured: dict[str, dict[str, Result]], peers: list[str]) -> ReportTable:
    table = ReportTable(
        "Load, parse to fsync",
        [
            "input",
            "peer",
            "triples",
            "load s",
            "with start s",
            "CPU s",
            "M triples/s",
            "peak MB",
            "disk MB",
            "triplestore is faster by",
            "peak compared",
        ],
        note="Best of the runs. With start: with imports and first use (see below). CPU counts all "
        "threads. rdflib keeps its graph in memory only.",
    )
    for name, by_peer in measured.items():
        ours = by_peer.get(OURS)
        for peer in peers:
            if (result := by_peer.get(peer)) is None:
                continue
            table.add(
                name,
                peer,
                result["triples"],
                result["load s"],
                result["start s"] + result["warm s"] + result["load s"],
                result["load cpu s"],
                result["triples"] / result["load s"] / 1e6,
                result["peak bytes"] / 1e6,
                result["disk bytes"] / 1e6 or None,
                ratio(ours["load s"], result["load s"]) if ours and peer != OURS else None,
                ratio(ours["peak bytes"], result["peak bytes"]) if ours and peer != OURS else None,
            )
    return table


def start_table(measured: dict[str, dict[str, Result]]) -> ReportTable:
    table = ReportTable(
        "Before the load",
        ["peer", "import and open s", "first use s"],
        note="First use: numba is imported and compiled kernels are read from their cache, by two "
        "small loads. A process that loads one file pays both columns once.",
    )
    by_peer: dict[str, list[Result]] = {}
    for results in measured.values():
        for peer, result in results.items():
            by_peer.setdefault(peer, []).append(result)
    for peer, found in by_peer.items():
        table.add(
            peer,
            min(result.least("start s") for result in found),
            min(result.least("warm s") for result in found),
        )
    return table


def points(
    measured: dict[str, dict[str, Result]], sizes: list[int], peer: str
) -> list[tuple[float, float]]:
    found = [measured[lubm_file(size).name].get(peer) for size in sorted(sizes)]
    return [(result["triples"], result["load s"]) for result in found if result is not None]


def slope_table(
    measured: dict[str, dict[str, Result]], given: argparse.Namespace, report: BenchReport
) -> ReportTable:
    table = ReportTable(
        "Cost of one more triple (N-Triples in file order)",
        ["peer", "sizes", "µs per triple", "fixed s", "µs per triple between successive sizes"],
    )
    lines = {}
    for peer in given.peers:
        line = points(measured, given.sizes, peer)
        if len(line) < 2:
            continue
        lines[peer] = [(x / 1e6, y) for x, y in line]
        rise, fixed = slope(line)
        steps = between(line)
        table.add(
            peer,
            len(line),
            rise * 1e6,
            fixed,
            ", ".join(f"{step * 1e6:.3f}" for step in steps),
        )
        if peer == OURS and len(steps) > 1:
            report.claim(
                "the slope is flat: the last step costs at most 1.25 times the first",
                f"{steps[-1] / steps[0]:.2f}",
                steps[-1] <= 1.25 * steps[0],
            )
    if lines:
        report.plots.append(Plot("slope", "Loading N-Triples", "million triples", "seconds", lines))
    return table


def between(line: list[tuple[float, float]]) -> list[float]:
    """Seconds per triple between one size and the next."""
    return [(y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in pairwise(line)]


def make_claims(measured: dict[str, dict[str, Result]], report: BenchReport) -> None:
    for name, by_peer in measured.items():
        if OURS not in by_peer or PEER not in by_peer:
            continue
        ours, peer = by_peer[OURS], by_peer[PEER]
        wanted = 1.5 if "Turtle" in name else 5.0
        faster = peer["load s"] / ours["load s"]
        report.claim(
            f"{name}: at least {wanted:g} times as fast as {PEER}'s bulk load",
            f"{faster:.2f}",
            faster >= wanted,
        )
        if "Turtle" not in name and ours["triples"] > 1_000_000:  # for less, numba itself is larger
            share = ours["peak bytes"] / peer["peak bytes"]
            report.claim(
                f"{name}: at most half of {PEER}'s peak memory", f"{share:.2f}", share <= 0.5
            )
        if ours["triples"] != peer["triples"]:
            report.claim(f"{name}: the same number of triples", str(ours["triples"]), False)


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", type=numbers, default=[1, 10, 50], help="universities (1,10,50)")
    parser.add_argument("--peers", type=names, default=list(PEERS), help="who is measured")


WORKLOAD = Workload(
    "loading",
    "LUBM-like N-Triples in file order and in random order, and Turtle, into a durable store.",
    options,
    run,
)
