"""The papers' scalability experiment: growing deletions, and where rematerialising overtakes.

For each strategy the break-even point is searched: how many facts can be deleted in the time that
rematerialising what is left takes. Then every strategy deletes and states again nested sets of
sizes around those points.
"""

from __future__ import annotations

import argparse
from typing import Any

from bench.datasets import Dataset, dataset, draw
from bench.experiments import Choice, break_even, choices, nested_sizes
from bench.harness import Case, Harness, MeasurementError, machine, run_once
from bench.literature import Figures, break_even_table, large_table
from bench.maintained import AUTO, INCREMENTAL, REMATERIALISE, Maintained
from bench.report import Plot, Report, Table
from bench.workloads.base import Workload
from bench.workloads.maintenance import add_options, claim_choices

Timings = dict[str, dict[int, float]]
"""Strategy -> number of facts -> seconds."""


class Trial:
    """Deletes prefixes of one random order of the facts, and states them again."""

    def __init__(self, data: str) -> None:
        self.kept = Maintained(dataset(data))
        self.kept.reason(REMATERIALISE)
        self.columns = self.kept.columns()
        self.facts = len(self.columns[0])
        self.order = draw("uniform", self.columns, self.facts, 1)
        self.before = self.kept.count()
        self.added: dict[int, float] = {}

    def delete(self, strategy: str, size: int) -> float:
        """Seconds of one deletion; the facts are stated again afterwards."""
        rows = self.order[:size]
        quads = self.kept.quads(column[rows] for column in self.columns)
        self.kept.use(strategy)
        seconds = self.kept.remove(quads).seconds
        self.added[size] = self.kept.add(quads).seconds
        if self.kept.count() != self.before:
            raise AssertionError(f"{strategy}, {size} facts: not as it was before")
        return seconds


def search(data: str, strategy: str, seconds: float) -> dict[str, Any]:
    """In a child: the break-even point of one strategy."""
    from bench.reasoners.base import limit

    limit(seconds)
    trial = Trial(data)
    trial.delete(strategy, min(1000, trial.facts // 2))  # warms up
    tried: list[list[float]] = []

    def scratch(size: int) -> float:
        tried.append([size, trial.delete(REMATERIALISE, size)])
        return tried[-1][1]

    point = break_even(lambda size: trial.delete(strategy, size), scratch, trial.facts)
    return {"point": point, "facts": trial.facts, "tried": tried}


def sweep(data: str, strategy: str, sizes: list[int], seconds: float) -> dict[str, Any]:
    """In a child: one strategy on all sizes."""
    from bench.reasoners.base import limit

    limit(seconds)
    trial = Trial(data)
    trial.delete(strategy, min(sizes))
    deleted = [trial.delete(strategy, size) for size in sizes]
    return {"delete": deleted, "add": [trial.added[size] for size in sizes]}


def run(given: argparse.Namespace, harness: Harness) -> Report:
    report = Report("scalability", WORKLOAD.summary, machine(("triplestore", "numpy", "numba")))
    absent = Table("Not measured", ["run", "why"])
    shares: dict[str, Figures] = {}
    ties: dict[str, tuple[float, Figures]] = {}
    picked: list[Choice] = []
    for data in map(dataset, given.data):
        points, facts = find_points(data, given, harness, report, absent)
        if not points:
            continue
        shares[data.name] = {name: point / facts for name, point in points.items()}
        sizes = nested_sizes(points.values(), given.sets)
        deleted, added = {}, {}
        for strategy in given.strategies:
            found = child("sweep", data, strategy, given, harness, report, absent, sizes=sizes)
            if found:
                deleted[strategy] = dict(zip(sizes, found["delete"], strict=True))
                added[strategy] = dict(zip(sizes, found["add"], strict=True))
        for verb, timings in (("Deleting", deleted), ("Adding", added)):
            report.tables.append(sizes_table(f"{verb}, {data.name}", timings, sizes, facts))
            plot(report, f"{verb.lower()}-{data.name}", f"{verb} facts, {data.name}", timings)
            for size in sizes:
                at = {name: times[size] for name, times in timings.items()}
                picked += choices(f"{data.name}, {verb.lower()} {size:,}", at)
        largest = max(sizes)
        ties[data.name] = (
            largest / facts,
            {name: times[largest] for name, times in deleted.items() if name != AUTO},
        )
    report.tables += [break_even_table(shares, list(INCREMENTAL)), large_table(ties)]
    if absent.rows:
        report.tables.append(absent)
    claim_choices(picked, report)
    return report


def find_points(
    data: Dataset, given: argparse.Namespace, harness: Harness, report: Report, absent: Table
) -> tuple[dict[str, int], int]:
    """The break-even points of the strategies, and the number of facts there are."""
    points: dict[str, int] = {}
    facts = 0
    for strategy in given.strategies:
        if strategy in (REMATERIALISE, AUTO):
            continue
        if found := child("search", data, strategy, given, harness, report, absent):
            points[strategy], facts = found["point"], found["facts"]
    return points, facts


def child(
    function: str,
    data: Dataset,
    strategy: str,
    given: argparse.Namespace,
    harness: Harness,
    report: Report,
    absent: Table,
    **more: Any,
) -> dict[str, Any] | None:
    """One run; None if it failed or took too long, and a row of `absent` says so."""
    from bench.reasoners.base import why_it_ended

    arguments = {"data": data.name, "strategy": strategy, "seconds": given.seconds, **more}
    case = Case(f"{__name__}:{function}", arguments, f"{function}: {strategy} on {data.name}")
    try:
        found = run_once(case)
    except MeasurementError as error:
        absent.add(case.label, why_it_ended(error, given.seconds))
        harness.say(": ".join(map(str, absent.rows[-1])))
        return None
    report.runs.append({"label": case.label, "main": "", "runs": [found]})
    harness.say(f"{case.label}: {found.get('point', 'done')}")
    return found


def sizes_table(title: str, timings: Timings, sizes: list[int], facts: int) -> Table:
    table = Table(
        title,
        ["facts", "share", *(f"{name} ms" for name in timings)],
        note="Nested sets: each holds the smaller ones.",
    )
    for size in sizes:
        row = (times[size] * 1e3 for times in timings.values())
        table.add(size, f"{size / facts:.1%}", *row)
    return table


def plot(report: Report, name: str, title: str, timings: Timings) -> None:
    lines = {s: [(float(n), t) for n, t in times.items()] for s, times in timings.items()}
    if lines:
        report.plots.append(Plot(name, title, "facts", "seconds", lines, logarithmic=True))


def options(parser: argparse.ArgumentParser) -> None:
    add_options(parser, data=["lubm10", "recursive"])
    parser.add_argument("--sets", type=int, default=12, help="nested sets of facts, at most (12)")


WORKLOAD = Workload(
    "scalability",
    "Growing deletions and additions under every strategy, and their break-even points.",
    options,
    run,
)
