"""The papers' robustness experiment: a thousand facts deleted, then stated again, many times.

For each strategy, on samples drawn uniformly and by random walks: seconds, rule instances by phase,
rows fetched. One process for each strategy and input; all strategies get the same samples.
"""

from __future__ import annotations

import argparse
from typing import Any

from bench.datasets import KINDS, Dataset, dataset, draw
from bench.experiments import Choice, choices, geometric_mean, mean_interval
from bench.harness import Case, Harness, MeasurementError, machine, run_once
from bench.literature import Figures, counters_table, deletion_table
from bench.maintained import AUTO, REMATERIALISE, STRATEGIES, Done, Maintained
from bench.report import Report, Table, format_number, ratio
from bench.workloads.base import Workload, names

BOTH = ("delete", "add")

Found = dict[str, Any]
"""What a child measured: kind -> operation -> name of a number -> its values, sample by sample."""


def measure(
    data: str, strategy: str, kinds: list[str], samples: int, facts: int, seconds: float
) -> dict[str, Any]:
    """In a child: one strategy on all samples."""
    from bench.reasoners.base import limit

    limit(seconds)
    kept = Maintained(dataset(data))
    closed = kept.reason(strategy)
    before = kept.count(), kept.count("inferred")
    columns = kept.columns()
    found: Found = {}
    for kind in kinds:
        parts: dict[str, list[Done]] = {name: [] for name in BOTH}
        for seed in range(-1, samples):  # the first one warms up
            rows = draw(kind, columns, facts, seed + 1)
            quads = kept.quads(column[rows] for column in columns)
            gone, back = kept.remove(quads), kept.add(quads)
            if (kept.count(), kept.count("inferred")) != before:
                raise AssertionError(f"{strategy}, {kind} sample {seed}: not as it was before")
            if seed >= 0:
                parts["delete"].append(gone)
                parts["add"].append(back)
        found[kind] = {name: collected(done) for name, done in parts.items()}
    return {
        "closure": before[0],
        "inferred": before[1],
        "closed s": closed.seconds,
        "found": found,
        "s": sum(sum(found[kind][name]["seconds"]) for kind in kinds for name in BOTH),
    }


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


def run(given: argparse.Namespace, harness: Harness) -> Report:
    report = Report("maintenance", WORKLOAD.summary, machine(("triplestore", "numpy", "numba")))
    picked: list[Choice] = []
    ratios: dict[str, tuple[Figures, Figures]] = {}
    for data in given.data:
        known, absent = measured(dataset(data), given, harness, report)
        for kind in given.kinds:
            for operation in BOTH:
                report.tables.append(
                    strategies_table(data, kind, operation, known, absent, given.facts)
                )
                means = seconds_of(known, kind, operation)
                picked += choices(f"{data}, {kind}, {operation}", means)
        claim_agreement(data, known, report)
        claim_share(data, known, report)
        if known and "uniform" in given.kinds:
            instances = {
                name: mean_interval(found["uniform"]["delete"]["derivations"]).value
                for name, found in known.items()
            }
            ratios[data] = (seconds_of(known, "uniform", "delete"), instances)
    report.tables += [
        deletion_table(ratios),
        counters_table({name: seconds for name, (seconds, _) in ratios.items()}),
    ]
    claim_choices(picked, report)
    return report


def measured(
    data: Dataset, given: argparse.Namespace, harness: Harness, report: Report
) -> tuple[dict[str, Found], dict[str, str]]:
    """What each strategy's process found, and why some found nothing."""
    from bench.reasoners.base import why_it_ended

    known: dict[str, Found] = {}
    absent: dict[str, str] = {}
    for strategy in given.strategies:
        arguments = {
            "data": data.name,
            "strategy": strategy,
            "kinds": given.kinds,
            "samples": given.samples,
            "facts": given.facts,
            "seconds": given.seconds,
        }
        case = Case(f"{__name__}:measure", arguments, f"{strategy} on {data.name}")
        try:
            run = run_once(case)
        except MeasurementError as error:
            absent[strategy] = why_it_ended(error, given.seconds)
            harness.say(f"{case.label}: {absent[strategy]}")
            continue
        harness.say(f"{case.label}: {run['s']:.3g} s in all samples")
        report.runs.append({"label": case.label, "main": "s", "runs": [run]})
        known[strategy] = run["found"]
    return known, absent


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
) -> Table:
    verb = {"delete": "Deleting", "add": "Adding"}[operation]
    table = Table(
        f"{verb} {facts:,} facts, {kind} samples, {data}",
        [
            "strategy",
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
            str(mean),
            str(mean_interval([s * 1e3 for s in part["commit"]])),
            ratio(mean.value, base.value) if base and name != REMATERIALISE else None,
            str(mean_interval(part["derivations"])),
            ", ".join(f"{phase} {format_number(n)}" for phase, n in part["phases"].items()),
            part["fetched"],
        )
    for name, reason in absent.items():
        table.add(f"{name}: {reason}", *[None] * 6)
    return table


def claim_agreement(data: str, known: dict[str, Found], report: Report) -> None:
    """All strategies must have added and removed the same facts."""
    changes = {
        str([found[kind][name]["inferred"] for kind in sorted(found) for name in BOTH])
        for found in known.values()
    }
    if len(known) > 1:
        report.claim(
            f"{data}: all strategies change the same inferred facts", "", len(changes) == 1
        )


def claim_share(data: str, known: dict[str, Found], report: Report) -> None:
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


def claim_choices(picked: list[Choice], report: Report) -> None:
    """`auto` beside the best strategy of each case."""
    if not picked:
        return
    table = Table(
        "What `auto` takes, beside the best strategy",
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
    parser.add_argument("--facts", type=int, default=1000, help="in a sample (1000)")
    parser.add_argument("--kinds", type=names, default=list(KINDS), help="of samples")


def add_options(parser: argparse.ArgumentParser, data: list[str]) -> None:
    """The options of all experiments on maintenance."""
    parser.add_argument("--data", type=names, default=data, help=",".join(data))
    parser.add_argument("--strategies", type=names, default=list(STRATEGIES), help="to be measured")
    parser.add_argument(
        "--seconds", type=float, default=600, help="that one strategy may take on one input (600)"
    )


WORKLOAD = Workload(
    "maintenance",
    "A thousand facts deleted and stated again under every strategy, beside rematerialising.",
    options,
    run,
)
