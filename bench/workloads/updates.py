"""Single facts added and removed in stores of growing size, and the cost of one step of rules.

The cost of a step is measured from outside: a fact at the bottom of a hierarchy is inferred for
each level, by one evaluation of the family of subclass rules per level; the cost is the slope over
the levels.
"""

from __future__ import annotations

import argparse
from typing import Any

from bench.harness import Case, Harness, Result, machine
from bench.inputs.datasets import dataset, draw
from bench.report import BenchReport, Plot, ReportTable, slope
from bench.runs.maintained import AUTO, Maintained
from bench.workload import Workload, numbers, quantile


def measure(data: str, strategy: str, facts: int) -> dict[str, Any]:
    """In a child: facts deleted and asserted again, one in a commit."""
    kept = Maintained(dataset(data))
    kept.reason(strategy)
    before = kept.count()
    columns = kept.columns()
    rows = draw("uniform", columns, facts, 1)
    quads = kept.quads(column[rows] for column in columns)
    found: dict[str, Any] = {"facts": len(columns[0]), "closure": before}
    seconds: dict[str, list[float]] = {}
    for quad in quads:
        for name, done in (("remove", kept.remove([quad])), ("add", kept.add([quad]))):
            seconds.setdefault(name, []).append(done.seconds)
            seconds.setdefault(f"{name}, commit", []).append(done.commit)
    if kept.count() != before:
        raise AssertionError("not as it was before")
    for name, values in seconds.items():
        values.sort()
        found[f"{name} µs"] = quantile(values, 0.5) * 1e6
        found[f"{name} p95 µs"] = quantile(values, 0.95) * 1e6
    return found


def climb(levels: int, repeats: int) -> dict[str, Any]:
    """In a child: a fact at the bottom of this many levels, added and removed."""
    kept = Maintained(dataset(f"deep-{levels}"))
    kept.reason(AUTO)
    quads = kept.quads(column[:1] for column in kept.columns())
    best = {"remove": float("inf"), "add": float("inf")}
    for _ in range(repeats):
        for name, done in (("remove", kept.remove(quads)), ("add", kept.add(quads))):
            best[name] = min(best[name], done.seconds)
    return {"levels": levels, "closure": kept.count(), **best}


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    report = BenchReport("updates", WORKLOAD.summary, machine(("triplestore", "numpy", "numba")))
    cases = [
        Case(
            f"{__name__}:measure",
            {"data": f"lubm{size}", "strategy": AUTO, "facts": given.facts},
            f"single facts, lubm{size}",
        )
        for size in sorted(given.sizes)
    ]
    sizes = harness.compare(cases, main="remove µs")
    report.keep(sizes)
    report.tables.append(single_table(sizes, report))
    steps = harness.compare(
        [
            Case(f"{__name__}:climb", {"levels": levels, "repeats": 5}, f"{levels} levels")
            for levels in sorted(given.levels)
        ],
        main="add",
    )
    report.keep(steps)
    report.tables.append(steps_table(steps))
    return report


def single_table(results: list[Result], report: BenchReport) -> ReportTable:
    table = ReportTable(
        "One fact in a commit, in memory (µs)",
        ["store", "facts", "closure", *(f"{verb}{part}" for verb in VERBS for part in PARTS)],
        note="Median and 95 % quantile. Commit: the whole transaction, without an fsync.",
    )
    for result in results:
        table.add(
            str(result.case.arguments["data"]),
            result["facts"],
            result["closure"],
            *(result[f"{verb}{part} µs"] for verb in VERBS for part in PARTS),
        )
    lines = {
        verb: [(float(r["facts"]), r[f"{verb}, commit µs"]) for r in results] for verb in VERBS
    }
    report.plots.append(Plot("single", "One fact in a commit", "facts in the store", "µs", lines))
    first, last = results[0], results[-1]
    for verb in VERBS:
        name = f"{verb}, commit µs"
        report.claim(
            f"{verb} a fact: under 1 ms before its fsync at the largest size",
            f"{last[name]:.0f} µs",
            last[name] < 1000,
        )
        report.claim(
            f"{verb} a fact: the cost does not grow with the store (at most 1.5 times)",
            f"{last[name] / first[name]:.2f}",
            last[name] <= 1.5 * first[name],
        )
    return table


VERBS = ("remove", "add")
PARTS = ("", " p95", ", commit", ", commit p95")


def steps_table(results: list[Result]) -> ReportTable:
    table = ReportTable(
        "One fact through a deep hierarchy",
        ["update", *(f"{r['levels']:,} levels, ms" for r in results), "µs per level", "fixed µs"],
        note="A level is one step: one evaluation of one family of rules, its conclusions stored.",
    )
    for verb in VERBS:
        points = [(float(r["levels"]), r.least(verb)) for r in results]
        rise, fixed = slope(points)
        table.add(verb, *(seconds * 1e3 for _, seconds in points), rise * 1e6, fixed * 1e6)
    return table


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", type=numbers, default=[1, 10, 50], help="universities (1,10,50)")
    parser.add_argument("--facts", type=int, default=300, help="updates of each kind (300)")
    parser.add_argument(
        "--levels", type=numbers, default=[500, 1000, 2000, 4000], help="of the hierarchy"
    )


WORKLOAD = Workload(
    "updates",
    "Single facts in stores of growing size, and the cost of one step of rules.",
    options,
    run,
)
