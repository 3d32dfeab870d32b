"""The papers' scalability experiment: growing deletions, and where rematerialising overtakes.

For each strategy the break-even point is searched: the number of facts whose deletion takes as long
as rematerialising the rest. Then all strategies take turns in deleting and asserting nested sets of
sizes around those points.
"""

from __future__ import annotations

import argparse
from typing import Any

from bench.experiments import Choice, Timing, break_even, choices, nested_sizes
from bench.harness import Case, Harness, machine, run_once
from bench.inputs.datasets import Dataset, dataset, draw
from bench.literature import Figures, break_even_table, large_table
from bench.report import BenchReport, Plot, ReportTable
from bench.runs.maintained import AUTO, INCREMENTAL, REMATERIALISE, Done, Maintained
from bench.workload import Workload
from bench.workloads.maintenance import Turns, add_options, claim_choices

Timings = dict[str, dict[int, float]]
"""Strategy -> number of facts -> seconds."""


class Trial:
    """Deletes prefixes of one random order of the facts, and asserts them again."""

    def __init__(self, data: str, strategies: list[str], seconds: float) -> None:
        kept = Maintained(dataset(data))
        kept.reason()
        self.columns = kept.columns()
        self.facts = len(self.columns[0])
        self.order = draw("uniform", self.columns, self.facts, 1)
        self.kept = kept
        self.turns = Turns(kept, strategies, seconds)
        self.take(min(1000, self.facts // 2), 0)  # warms up

    def take(self, size: int, turn: int) -> dict[str, tuple[Done, Done]]:
        """The updates of each strategy: deleting this many facts, and asserting them again."""
        rows = self.order[:size]
        return self.turns.take(turn, self.kept.quads(column[rows] for column in self.columns))


def search(data: str, strategy: str, seconds: float) -> dict[str, Any]:
    """In a child: the break-even point of one strategy."""
    trial = Trial(data, [strategy, REMATERIALISE], seconds)
    tried: dict[int, dict[str, float]] = {}

    def of(name: str) -> Timing:
        def timing(size: int) -> float:
            if size not in tried:
                done = trial.take(size, len(tried))
                tried[size] = {name: pair[0].seconds for name, pair in done.items()}
            return tried[size].get(name, float("inf"))

        return timing

    point = break_even(of(strategy), of(REMATERIALISE), trial.facts)
    reason = trial.turns.absent.get(strategy) or out_of_time(tried, seconds)
    return {"point": point, "facts": trial.facts, "tried": tried, "absent": reason}


def out_of_time(tried: dict[int, dict[str, float]], seconds: float) -> str | None:
    """Why a search did not finish, if one of the two exceeded its time for a size.

    >>> out_of_time({500: {"dred": 1.0, "rematerialise": 2.0}, 750: {"dred": 9.0}}, 10)
    'out of its 10 s after 1 sizes'
    >>> out_of_time({500: {"dred": 1.0, "rematerialise": 2.0}}, 10)
    """
    measured = sum(len(done) == 2 for done in tried.values())
    return None if measured == len(tried) else f"out of its {seconds:g} s after {measured} sizes"


def sweep(data: str, strategies: list[str], sizes: list[int], seconds: float) -> dict[str, Any]:
    """In a child: all strategies on all sizes."""
    trial = Trial(data, strategies, seconds)
    deleted: dict[str, list[float]] = {name: [] for name in strategies}
    added: dict[str, list[float]] = {name: [] for name in strategies}
    for turn, size in enumerate(sizes):
        for name, (gone, back) in trial.take(size, turn).items():
            deleted[name].append(gone.seconds)
            added[name].append(back.seconds)
    return {"delete": deleted, "add": added, "absent": trial.turns.absent}


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    report = BenchReport(
        "scalability", WORKLOAD.summary, machine(("triplestore", "numpy", "numba"))
    )
    absent = ReportTable("Not measured", ["run", "why"])
    shares: dict[str, Figures] = {}
    ties: dict[str, tuple[float, Figures]] = {}
    picked: list[Choice] = []
    for data in map(dataset, given.data):
        points, facts = find_points(data, given, harness, report, absent)
        if not points:
            continue
        shares[data.name] = {name: point / facts for name, point in points.items()}
        sizes = nested_sizes(points.values(), given.sets)
        found = child(
            "sweep", data, given, harness, report, strategies=given.strategies, sizes=sizes
        )
        for strategy, reason in found["absent"].items():
            absent.add(f"{strategy} on {data.name}", reason)
        deleted, added = (
            {name: dict(zip(sizes, times, strict=False)) for name, times in found[part].items()}
            for part in ("delete", "add")
        )
        for verb, timings in (("Deleting", deleted), ("Adding", added)):
            report.tables.append(sizes_table(f"{verb}, {data.name}", timings, sizes, facts))
            plot(report, f"{verb.lower()}-{data.name}", f"{verb} facts, {data.name}", timings)
            for size in sizes:
                at = {name: times[size] for name, times in timings.items() if size in times}
                picked += choices(f"{data.name}, {verb.lower()} {size:,}", at)
        largest = max(sizes)
        ties[data.name] = (
            largest / facts,
            {name: t[largest] for name, t in deleted.items() if name != AUTO and largest in t},
        )
    report.tables += [break_even_table(shares, list(INCREMENTAL)), large_table(ties)]
    if absent.rows:
        report.tables.append(absent)
    claim_choices(picked, report)
    return report


def find_points(
    data: Dataset,
    given: argparse.Namespace,
    harness: Harness,
    report: BenchReport,
    absent: ReportTable,
) -> tuple[dict[str, int], int]:
    """The break-even points of the strategies, and the number of facts."""
    points: dict[str, int] = {}
    facts = 0
    for strategy in given.strategies:
        if strategy in (REMATERIALISE, AUTO):
            continue
        found = child("search", data, given, harness, report, strategy=strategy)
        facts = found["facts"]
        if found["absent"]:
            absent.add(f"break-even of {strategy} on {data.name}", found["absent"])
        else:
            points[strategy] = found["point"]
    return points, facts


def child(
    function: str,
    data: Dataset,
    given: argparse.Namespace,
    harness: Harness,
    report: BenchReport,
    **more: Any,
) -> dict[str, Any]:
    """One run."""
    arguments = {"data": data.name, "seconds": given.seconds, **more}
    label = f"{function} on {data.name} {more.get('strategy', '')}"
    found = run_once(Case(f"{__name__}:{function}", arguments, label))
    report.runs.append({"label": label, "main": "", "runs": [found]})
    harness.say(f"{label}: {found.get('point', 'done')}")
    return found


def sizes_table(title: str, timings: Timings, sizes: list[int], facts: int) -> ReportTable:
    table = ReportTable(
        title,
        ["facts", "share", *(f"{name} ms" for name in timings)],
        note="Nested sets: each contains the smaller ones.",
    )
    for size in sizes:
        row = (times[size] * 1e3 if size in times else None for times in timings.values())
        table.add(size, f"{size / facts:.1%}", *row)
    return table


def plot(report: BenchReport, name: str, title: str, timings: Timings) -> None:
    lines = {s: [(float(n), t) for n, t in times.items()] for s, times in timings.items()}
    lines = {name: points for name, points in lines.items() if points}
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
