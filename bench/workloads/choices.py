"""The choices of `auto` beside each strategy that it may choose, from one fact to all facts.

For each input and size, facts are deleted and asserted again under each strategy, several times;
then under `auto`, first without learned costs (as in a store that was just opened), then
repeatedly. Times are CPU time of the engine only, so the machine may have other work.
"""

from __future__ import annotations

import argparse
import gc
from statistics import median
from typing import Any, TypeAlias

from bench.experiments import Choice, choices, geometric_mean
from bench.harness import Case, Harness, machine, run_once
from bench.inputs.datasets import dataset, draw
from bench.report import BenchReport, ReportTable
from bench.runs.maintained import AUTO, REMATERIALISE, Maintained
from bench.workload import Workload, names
from bench.workloads.maintenance import BOTH
from triplestore.errors import TripleStoreError

STRATEGIES = (REMATERIALISE, "dred_c", "fbf_c", "bf_c")
SHARES = (0.0, 0.001, 0.01, 0.05, 0.2, 0.5, 1.0)
FEW = (1, 3, 10, 100, 1000)
Pair: TypeAlias = tuple[float, float]
"""Seconds for deleting and for adding."""

WORTH = 0.005
"""Minimum seconds of the best strategy for a choice to count."""


def sizes_for(facts: int) -> list[int]:
    """Small numbers of facts, and shares of all facts.

    >>> sizes_for(100_000)
    [1, 3, 10, 100, 1000, 5000, 20000, 50000, 100000]
    """
    return sorted({*(n for n in FEW if n <= facts), *(int(facts * part) or 1 for part in SHARES)})


def measure(data: str, turns: int, seconds: float) -> dict[str, Any]:
    """In a child: every size of one input."""
    kept = Maintained(dataset(data))
    kept.reason()
    gc.disable()
    try:
        return _measured(kept, turns, seconds)
    finally:
        gc.enable()


def _measured(kept: Maintained, turns: int, seconds: float) -> dict[str, Any]:
    columns = kept.columns()
    facts = len(columns[0])
    order = draw("uniform", columns, facts, 1)
    found: dict[str, Any] = {}
    late: set[str] = set()
    for size in sizes_for(facts):
        quads = kept.quads(column[order[:size]] for column in columns)
        taken: dict[str, list[Pair]] = {}
        for name in (STRATEGIES * turns)[::-1]:
            if name not in late:
                try:
                    taken.setdefault(name, []).append(_both(kept, name, quads, seconds))
                except TripleStoreError:
                    late.add(name)
                    kept.use(AUTO)
                    kept.add(quads)
        kept.forget()
        taken[AUTO] = [_both(kept, AUTO, quads, None) for _ in range(2 * turns + 2)]
        kept.forget()
        kept.use(REMATERIALISE)
        kept.remove(quads)
        kept.use(AUTO)
        first = kept.add(quads).processor  # first addition without learned costs
        taken[AUTO][0] = (taken[AUTO][0][0], first)
        found[str(size)] = taken
    return {"facts": facts, "found": found, "late": sorted(late)}


def _both(kept: Maintained, name: str, quads: list[Any], limit: float | None) -> Pair:
    kept.use(name, limit)
    gc.collect()  # garbage collection is not measured
    return kept.remove(quads).processor, kept.add(quads).processor


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    report = BenchReport("choices", WORKLOAD.summary, machine(("triplestore", "numpy", "numba")))
    first: list[Choice] = []
    then: list[Choice] = []
    for data in given.data:
        arguments = {"data": data, "turns": given.turns, "seconds": given.seconds}
        found = run_once(Case(f"{__name__}:measure", arguments, data))
        report.runs.append({"label": data, "main": "", "runs": [found]})
        harness.say(f"{data}: done")
        for place, operation in enumerate(BOTH):
            title = f"{data}, {operation}, of {found['facts']:,} facts"
            table, one, other = choices_table(title, found["found"], place)
            report.tables.append(table)
            first += one
            then += other
    claim("nothing learned", first, report)
    claim("learned", then, report)
    return report


def choices_table(
    title: str, found: dict[str, Any], place: int
) -> tuple[ReportTable, list[Choice], list[Choice]]:
    """One operation of one input, with the first choice and the median of later ones."""
    table = ReportTable(
        title,
        ["facts", *(f"{name} ms" for name in STRATEGIES), "auto at first", "then", "worst then"],
        note="Processor time of the engine, the best run of each strategy; auto beside the best.",
    )
    first: list[Choice] = []
    then: list[Choice] = []
    for size, taken in found.items():
        best = {n: min(t[place] for t in times) for n, times in taken.items() if n != AUTO}
        auto = [times[place] for times in taken[AUTO]]
        where = f"{title.split(', of')[0]} {int(size):,}"
        at_first = choices(where, {**best, AUTO: auto[0]})
        later = choices(where, {**best, AUTO: median(auto[1:])})
        worst = max(auto[1:]) / min(best.values())
        milliseconds = (best[name] * 1e3 if name in best else None for name in STRATEGIES)
        table.add(int(size), *milliseconds, at_first[0].ratio, later[0].ratio, worst)
        first += at_first
        then += later
    return table, first, then


def claim(what: str, picked: list[Choice], report: BenchReport) -> None:
    """The claims about `auto` where the best strategy takes long."""
    long = [choice for choice in picked if choice.best > WORTH]
    if not long:
        return
    mean = geometric_mean([choice.ratio for choice in long])
    report.claim(f"{what}: geometric mean at most 1.25", f"{mean:.2f}", mean <= 1.25)
    worst = max(long, key=lambda choice: choice.ratio)
    text = f"{worst.ratio:.2f} ({worst.where}, best {worst.name})"
    report.claim(f"{what}: at most 2 where the best takes over 5 ms", text, worst.ratio <= 2)


def options(parser: argparse.ArgumentParser) -> None:
    inputs = ["lubm1", "recursive-200-1000", "sales-5000", "spread-20000", "lines-20000"]
    parser.add_argument("--data", type=names, default=inputs, help=",".join(inputs))
    parser.add_argument("--turns", type=int, default=3, help="of each strategy (3)")
    parser.add_argument("--seconds", type=float, default=2, help="maximum seconds of an update (2)")


WORKLOAD = Workload(
    "choices",
    "The choices of auto beside each strategy, from one fact to all facts.",
    options,
    run,
)
