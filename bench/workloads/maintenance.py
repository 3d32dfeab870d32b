"""The papers' robustness experiment: a thousand facts deleted, then asserted again, many times.

For each strategy, on samples drawn uniformly and by random walks: seconds, rule instances by phase,
rows fetched. All strategies take turns on one store, each sample beginning with another strategy,
so a slower phase of the machine affects all of them.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from bench.experiments import Choice, choices, geometric_mean, mean_interval
from bench.harness import Case, Harness, machine, run_once
from bench.inputs.datasets import KINDS, dataset, draw
from bench.literature import Figures, counters_table, deletion_table
from bench.report import BenchReport, ReportTable, format_number, ratio
from bench.runs.maintained import AUTO, REMATERIALISE, STRATEGIES, Done, Maintained
from bench.workload import Workload, names, numbers
from triplestore.errors import TimeLimitError, TripleStoreError

BOTH = ("delete", "add")

Found = dict[str, Any]
"""What was measured of a strategy: kind -> operation -> name of a number -> its values."""


def measure(
    data: str, strategies: list[str], kinds: list[str], samples: int, facts: int, seconds: float
) -> dict[str, Any]:
    """In a child: all strategies on all samples, or on as many as each has the seconds for."""
    kept = Maintained(dataset(data))
    closed = kept.reason()
    columns = kept.columns()
    turns = Turns(kept, strategies, seconds / len(kinds))
    found: dict[str, Found] = {name: {} for name in strategies}
    for kind in kinds:
        turns.begin()
        parts: dict[str, list[tuple[Done, Done]]] = {name: [] for name in strategies}
        for seed in range(-1, samples):  # the first one warms up
            rows = draw(kind, columns, facts, seed + 1)
            done = turns.take(seed + 1, kept.quads(column[rows] for column in columns))
            for name, pair in done.items():
                if seed >= 0:
                    parts[name].append(pair)
        for name, pairs in parts.items():
            if pairs:
                both = zip(BOTH, zip(*pairs, strict=True), strict=True)
                found[name][kind] = {operation: collected(list(done)) for operation, done in both}
    return {
        "closure": turns.before[0],
        "inferred": turns.before[1],
        "closed s": closed.seconds,
        "found": {name: f for name, f in found.items() if len(f) == len(kinds)},
        "absent": turns.absent,
    }


class Turns:
    """Strategies that delete the same facts and assert them again, one after the other.

    A strategy leaves out samples that its seconds do not suffice for; the earlier ones count.
    """

    def __init__(self, kept: Maintained, strategies: list[str], seconds: float) -> None:
        self.kept = kept
        self.strategies = strategies
        self.seconds = seconds
        self.absent: dict[str, str] = {}
        self.before = self.counts()
        self.begin()

    def begin(self) -> None:
        """Samples of another kind: for each strategy that has not failed, all its seconds again."""
        going = [name for name in self.strategies if name not in self.absent]
        self.left = dict.fromkeys(going, self.seconds)
        self.last = dict.fromkeys(going, 0.0)

    def counts(self) -> tuple[int, int]:
        return self.kept.count(), self.kept.count("inferred")

    def take(self, turn: int, quads: list[Any]) -> dict[str, tuple[Done, Done]]:
        """What each strategy took to delete and to add; not those without time for it."""
        found: dict[str, tuple[Done, Done]] = {}
        first = turn % len(self.strategies)
        for name in self.strategies[first:] + self.strategies[:first]:
            if name in self.absent or self.left[name] < self.last[name]:
                continue
            start = time.perf_counter()
            try:
                self.kept.use(name, self.seconds)
                found[name] = (self.kept.remove(quads), self.kept.add(quads))
            except TripleStoreError as error:
                late = isinstance(error, TimeLimitError)
                self.absent[name] = f"over {self.seconds:g} s" if late else str(error)[:60]
                self.repair(quads)
            self.last[name] = time.perf_counter() - start
            self.left[name] -= self.last[name]
            if self.counts() != self.before:
                raise AssertionError(f"{name}, turn {turn}: not as it was before")
        return found

    def repair(self, quads: list[Any]) -> None:
        self.kept.use(AUTO)
        self.kept.add(quads)


def collected(done: list[Done]) -> Found:
    """Numbers of several updates, each as a list; the mean of the instances of each phase."""
    phases = sorted({phase for each in done for phase in each.instances})
    return {
        "seconds": [each.seconds for each in done],
        "commit": [each.commit for each in done],
        "inferred": [each.inferred for each in done],
        "derivations": [each.derivations for each in done],
        "phases": {
            phase: sum(each.instances.get(phase, 0) for each in done) / len(done)
            for phase in phases
        },
        "fetched": sum(each.fetched for each in done) / len(done),
        "strategies": sorted({name for each in done for name in each.strategies}),
    }


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    report = BenchReport(
        "maintenance", WORKLOAD.summary, machine(("triplestore", "numpy", "numba"))
    )
    picked: list[Choice] = []
    ratios: dict[str, tuple[Figures, Figures]] = {}
    for place, data in enumerate(given.data):
        facts = given.facts[min(place, len(given.facts) - 1)]
        known, absent = measured(data, facts, given, harness, report)
        for kind in given.kinds:
            for operation in BOTH:
                report.tables.append(strategies_table(data, kind, operation, known, absent, facts))
                means = seconds_of(known, kind, operation)
                picked += choices(f"{data}, {kind}, {operation}", means)
        claim_agreement(data, known, report)
        claim_share(data, known, report)
        if known and "uniform" in given.kinds:
            instances = {
                name: mean_interval(found["uniform"]["delete"]["derivations"]).value
                for name, found in known.items()
            }
            label = data if facts == 1000 else f"{data}, {facts:,} facts"
            ratios[label] = (seconds_of(known, "uniform", "delete"), instances)
    report.tables += [
        deletion_table(ratios),
        counters_table({name: seconds for name, (seconds, _) in ratios.items()}),
    ]
    claim_choices(picked, report)
    return report


def measured(
    data: str, facts: int, given: argparse.Namespace, harness: Harness, report: BenchReport
) -> tuple[dict[str, Found], dict[str, str]]:
    """The results of each strategy, and the reasons for missing ones."""
    arguments = {
        "data": data,
        "strategies": given.strategies,
        "kinds": given.kinds,
        "samples": given.samples,
        "facts": facts,
        "seconds": given.seconds,
    }
    case = Case(f"{__name__}:measure", arguments, f"{data}, all strategies")
    found = run_once(case)
    report.runs.append({"label": case.label, "main": "closed s", "runs": [found]})
    harness.say(f"{case.label}: done")
    return found["found"], found["absent"]


def seconds_of(known: dict[str, Found], kind: str, operation: str) -> Figures:
    return {
        name: mean_interval(found[kind][operation]["seconds"]).value
        for name, found in known.items()
    }


def strategies_table(
    data: str,
    kind: str,
    operation: str,
    known: dict[str, Found],
    absent: dict[str, str],
    facts: int,
) -> ReportTable:
    verb = {"delete": "Deleting", "add": "Adding"}[operation]
    table = ReportTable(
        f"{verb} {facts:,} facts, {kind} samples, {data}",
        [
            "strategy",
            "samples",
            "ms",
            "ms of the commit",
            "faster than rematerialising by",
            "instances",
            "by phase",
            "rows fetched",
        ],
        note="Means with 95 % intervals.",
    )
    scratch = known.get(REMATERIALISE)
    for name, found in known.items():
        part = found[kind][operation]
        mean = mean_interval([s * 1e3 for s in part["seconds"]])
        base = scratch and mean_interval([s * 1e3 for s in scratch[kind][operation]["seconds"]])
        label = f"{name} ({', '.join(part['strategies'])})" if name == AUTO else name
        table.add(
            label,
            len(part["seconds"]),
            str(mean),
            str(mean_interval([s * 1e3 for s in part["commit"]])),
            ratio(mean.value, base.value) if base and name != REMATERIALISE else None,
            str(mean_interval(part["derivations"])),
            ", ".join(f"{phase} {format_number(n)}" for phase, n in part["phases"].items()),
            part["fetched"],
        )
    for name, reason in absent.items():
        table.add(f"{name}: {reason}", *[None] * 7)
    return table


def claim_agreement(data: str, known: dict[str, Found], report: BenchReport) -> None:
    """All strategies must add and remove the same facts in their common samples."""
    changes = {
        tuple(
            tuple(found[kind][name]["inferred"][:shared])
            for kind in sorted(found)
            for name in BOTH
            for shared in [min(len(f[kind][name]["inferred"]) for f in known.values())]
        )
        for found in known.values()
    }
    if len(known) > 1:
        report.claim(
            f"{data}: all strategies change the same inferred facts", "", len(changes) == 1
        )


def claim_share(data: str, known: dict[str, Found], report: BenchReport) -> None:
    """On 50 universities the best strategy is to take under 2 % of rematerialising."""
    if REMATERIALISE not in known or "uniform" not in known[REMATERIALISE]:
        return
    means = seconds_of(known, "uniform", "delete")
    scratch = means.pop(REMATERIALISE)
    if means and data == "lubm50":
        best = min(means, key=means.__getitem__)
        share = means[best] / scratch
        report.claim(
            f"{data}: the best strategy deletes in under 2 % of the time of rematerialising",
            f"{best}: {share:.2%}",
            share < 0.02,
        )


def claim_choices(picked: list[Choice], report: BenchReport) -> None:
    """`auto` beside the best strategy of each case."""
    if not picked:
        return
    table = ReportTable(
        "The time of `auto` beside the best strategy",
        ["case", "best", "best ms", "auto ms", "auto / best"],
    )
    for choice in picked:
        table.add(choice.where, choice.name, choice.best * 1e3, choice.auto * 1e3, choice.ratio)
    report.tables.append(table)
    mean = geometric_mean([choice.ratio for choice in picked])
    report.claim("auto / best: geometric mean at most 1.25", f"{mean:.2f}", mean <= 1.25)
    long = [choice for choice in picked if choice.best > 0.005]
    if long:
        worst = max(long, key=lambda choice: choice.ratio)
        report.claim(
            "auto / best: at most 2 where the best takes over 5 ms",
            f"{worst.ratio:.2f} ({worst.where})",
            worst.ratio <= 2,
        )


def options(parser: argparse.ArgumentParser) -> None:
    add_options(parser, data=["lubm10", "recursive", "lubm50"])
    parser.add_argument("--samples", type=int, default=30, help="of each kind (30)")
    parser.add_argument(
        "--facts",
        type=numbers,
        default=[1000],
        help="in a sample (1000); with commas, for each input, the last for all others",
    )
    parser.add_argument("--kinds", type=names, default=list(KINDS), help="of samples")


def add_options(parser: argparse.ArgumentParser, data: list[str]) -> None:
    """The options of all experiments on maintenance."""
    parser.add_argument("--data", type=names, default=data, help=",".join(data))
    parser.add_argument("--strategies", type=names, default=list(STRATEGIES), help="to be measured")
    parser.add_argument(
        "--seconds", type=float, default=300, help="limit of a strategy on one input (300)"
    )


WORKLOAD = Workload(
    "maintenance",
    "A thousand facts deleted and asserted again under every strategy, beside rematerialising.",
    options,
    run,
)
