"""The closure of LUBM under the rules of its ontology, beside other reasoners, at several sizes.

All reasoners get the same integers in files. Reading the rules, reading the integers, and reasoning
are measured separately.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bench.harness import REPOSITORY, Harness, machine
from bench.inputs.data import InputFile, lubm_department, lubm_file, original_lubm10, shared_data
from bench.reasoners import REASONERS
from bench.reasoners.runs import OURS, Compared, compare, table_of, with_import
from bench.reasoners.task import Task, columns_of_file, is_made, make_task
from bench.report import BenchReport, Plot, ReportTable, slope
from bench.workload import Workload, names, numbers

RULES = REPOSITORY / "bench" / "rules" / "lubm.dlog"
TASKS = REPOSITORY / "build" / "bench" / "data" / "tasks"
PEER = "Nemo"
CLOSURE_OF_LUBM10 = 1_737_937


def ontology() -> Path | None:
    """LUBM's ontology from the shared data, for OWL reasoners; None without it."""
    path = shared_data() / "lubm" / "univ-bench.owl"
    return path if path.exists() else None


def task_of(source: InputFile) -> Task:
    """The task of a file, made if it does not exist yet."""
    from triplestore.datalog.text import read

    rules = RULES.read_text()
    folder = TASKS / source.path.stem
    if is_made(folder) and (folder / "rules.dlog").read_text() == rules:
        return Task.open(folder)
    (folder / "task.json").unlink(missing_ok=True)
    columns = columns_of_file(source.path, source.format, read(rules))
    return make_task(folder, source.name, rules, columns, data=source.path, ontology=ontology())


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    packages = sorted({package for name in given.reasoners for package in REASONERS[name].packages})
    report = BenchReport("closure", WORKLOAD.summary, machine(packages))
    sources = [lubm_department(), *(lubm_file(size) for size in given.sizes)]
    if original := original_lubm10():
        sources.append(original)
    compared = {
        source.name: compare(task_of(source), given.reasoners, harness, report, given.seconds)
        for source in sources
    }
    report.tables.append(
        table_of("Closure under the 93 rules of LUBM's ontology", compared.values())
    )
    generated = [compared[lubm_file(size).name] for size in sorted(given.sizes)]
    report.tables.append(growth(generated, given.reasoners, report))
    for each in compared.values():
        make_claims(each, report)
    if original and 10 in given.sizes:
        claim_ratios(compared[original.name], report)
    return report


def growth(runs: list[Compared], reasoners: list[str], report: BenchReport) -> ReportTable:
    """The cost of one more fact, for each reasoner."""
    table = ReportTable(
        "Reasoning as the input grows",
        ["reasoner", "µs per fact of the closure, size by size", "slope, µs per fact", "fixed s"],
    )
    lines = {}
    for name in reasoners:
        points = [
            (float(r["facts"]), r.least("reason s"))
            for compared in runs
            if (r := compared.results.get(name))
        ]
        if len(points) < 2:
            continue
        lines[name] = [(facts / 1e6, seconds) for facts, seconds in points]
        each = [seconds / facts * 1e6 for facts, seconds in points]
        rise, fixed = slope(points)
        table.add(name, ", ".join(f"{cost:.3f}" for cost in each), rise * 1e6, fixed)
        if name == OURS:
            report.claim(
                "the cost of a fact is flat: at the largest size at most 1.25 times that of the "
                "size before",
                f"{each[-1] / each[-2]:.2f}",
                each[-1] <= 1.25 * each[-2],
            )
    if lines:
        report.plots.append(
            Plot("growth", "Closure of LUBM", "million facts", "seconds of reasoning", lines, True)
        )
    return table


def make_claims(compared: Compared, report: BenchReport) -> None:
    name = compared.task.name
    if len(compared.results) > 1:
        report.claim(f"{name}: all reasoners with rules find the same facts", "", compared.agree())


def claim_ratios(compared: Compared, report: BenchReport) -> None:
    """The claims about the original LUBM(10)."""
    ours, peer = compared.results.get(OURS), compared.results.get(PEER)
    name = compared.task.name
    if ours:
        report.claim(
            f"{name}: the closure has {CLOSURE_OF_LUBM10:,} facts",
            f"{ours['facts']:,}",
            ours["facts"] == CLOSURE_OF_LUBM10,
        )
    if not (ours and peer):
        return
    for what, wanted, faster in (
        ("with the import of the same integers", 10, with_import(peer) / with_import(ours)),
        ("without", 4, peer.least("reason s") / ours.least("reason s")),
    ):
        report.claim(
            f"{name}: at least {wanted} times as fast as {PEER} {what}",
            f"{faster:.1f}",
            faster >= wanted,
        )


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", type=numbers, default=[1, 10, 50], help="universities (1,10,50)")
    parser.add_argument("--reasoners", type=names, default=list(REASONERS), help="who is measured")
    parser.add_argument("--seconds", type=float, default=300, help="that a run may take (300)")


WORKLOAD = Workload(
    "closure",
    "The closure of LUBM under its ontology's rules: time, memory and growth, beside other "
    "reasoners.",
    options,
    run,
)
