"""Ontologies with data, from files to the closure: beside other reasoners, and under changes.

All read the same files of N-Triples. Reading and reasoning are measured separately.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec

from bench.harness import Case, Harness, Result, machine
from bench.inputs import ontology_files
from bench.inputs.ontology_files import THESAURI, OntologyInput
from bench.reasoners.base import take_turns
from bench.report import BenchReport, ReportTable, ratio
from bench.runs.ontology_runs import LARGEST, MODULES, SESSIONS
from bench.workload import Workload, names, numbers

OURS, PEER = "triplestore", "reasonable"
ONCE_IS_ENOUGH = 20.0
"""Seconds beyond which a run is not repeated."""

UNIV_BENCH = "http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl#"


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    report = BenchReport(
        "ontologies", WORKLOAD.summary, machine(["triplestore", *given.reasoners[1:]])
    )
    lubm = [ontology_files.lubm(size) for size in sorted(given.sizes)]
    inputs = [*lubm, ontology_files.original_lubm()]
    inputs += [ontology_files.relations(edges) for edges in sorted(given.edges)]
    inputs += [ontology_files.thesaurus(name) for name in THESAURI]
    table = ReportTable("From files to the closure", COLUMNS, note=NOTE)
    for each in inputs:
        if each is not None:
            results, absent = compare(each, given, harness)
            report.keep(list(results.values()))
            add_rows(table, each, results, absent)
            claim_ratio(each, results, report)
    report.tables.append(table)
    report.tables.append(changes_table([each for each in lubm if each], harness, report))
    return report


def compare(
    each: OntologyInput, given: argparse.Namespace, harness: Harness
) -> tuple[dict[str, Result], dict[str, str]]:
    """The runs of each reasoner, turn by turn, and the reasons for missing ones."""
    absent = {name: why for name in given.reasoners if (why := refusal(name, each))}
    results = {
        name: Result(_case(name, each, harness, given.seconds), "total s")
        for name in given.reasoners
        if name not in absent
    }
    absent |= take_turns(results, harness, given.seconds, ONCE_IS_ENOUGH)
    return results, absent


def refusal(name: str, each: OntologyInput) -> str | None:
    """Why a reasoner is not run; None if it is."""
    if find_spec(MODULES[name]) is None:
        return "not installed"
    if name != OURS and each.regime != "owl-rl":
        return f"has no rules for {each.regime}"
    if each.statements > LARGEST.get(name, each.statements):
        return f"takes many minutes above {LARGEST[name]:,} statements"
    return None


def _case(name: str, each: OntologyInput, harness: Harness, seconds: float) -> Case:
    arguments = {
        "reasoner": name,
        "files": [str(path) for path in each.files],
        "regime": each.regime,
        "folder": str(harness.folder),
        "seconds": seconds,
    }
    return Case("bench.runs.ontology_runs:closure", arguments, f"{name}: {each.name}")


COLUMNS = [
    "input",
    "reasoner",
    "statements",
    "closure",
    "load s",
    "reason s",
    "total s",
    "CPU s",
    "peak MB",
    "ours is faster by",
    "by CPU s",
    "reasoning only",
]
NOTE = (
    "CPU seconds are those of all threads: they tell less of what else the machine does. "
    "Best of the runs by the sum of load and reason; within a process that has done a small "
    "closure before. Closures differ: triplestore does not list what is trivial, reasonable has "
    "hardly any rules that conclude axioms and types everything as owl:Thing, owlrl lists all."
)


def add_rows(
    table: ReportTable, each: OntologyInput, results: dict[str, Result], absent: dict[str, str]
) -> None:
    ours = results.get(OURS)
    for name, result in results.items():
        beside: list[str | None] = [None, None, None]
        if ours and name != OURS:
            parts = ("total s", "total cpu s", "reason s")
            beside = [ratio(ours[part], result[part]) for part in parts]
        table.add(
            each.name,
            name,
            each.statements,
            result["closure"],
            result["load s"],
            result["reason s"],
            result["total s"],
            result["total cpu s"],
            result["closure peak bytes"] / 1e6,
            *beside,
        )
    for name, why in absent.items():
        table.add(each.name, f"{name}: {why}", each.statements, *[None] * (len(COLUMNS) - 3))


def claim_ratio(each: OntologyInput, results: dict[str, Result], report: BenchReport) -> None:
    ours, peer = results.get(OURS), results.get(PEER)
    if ours and peer and each.name.startswith("LUBM") and each.statements > 1_000_000:
        for what, part in (("by the clock", "total s"), ("by CPU seconds", "total cpu s")):
            faster = peer[part] / ours[part]
            claim = f"from files to the closure at least 30 times as fast as {PEER}, {what}"
            report.claim(
                f"{each.name}: {claim}",
                f"{faster:.1f}",
                faster >= 30,
            )


STEPS = ["instance removed", "instance added", "axiom added", "axiom removed"]


def changes_table(
    inputs: list[OntologyInput], harness: Harness, report: BenchReport
) -> ReportTable:
    """Single changes of data and of the ontology, beside reasoning again."""
    columns = ["input", "class", "closure", "reasoning again, ms", *(f"{s}, ms" for s in STEPS)]
    note = (
        "One commit each, in memory, best of five. The axiom puts a new class above one that has "
        "many members (Person: all people) or few (Lecturer)."
    )
    table = ReportTable("Single changes", columns, note=note)
    for each in inputs:
        for name in ("Person", "Lecturer"):
            arguments = {
                "files": [str(path) for path in each.files],
                "regime": each.regime,
                "folder": str(harness.folder),
                "below": UNIV_BENCH + name,
                "of": UNIV_BENCH + "UndergraduateStudent",
                "repeats": 5,
            }
            case = Case(
                "bench.runs.ontology_runs:changes", arguments, f"changes: {each.name}, {name}"
            )
            (result,) = harness.compare([case], "axiom added", repeats=1)
            report.keep([result])
            table.add(
                each.name,
                name,
                result["closure"],
                result["reason s"] * 1e3,
                *(result[step] * 1e3 for step in STEPS),
            )
            if name == "Lecturer":
                cheaper = result["reason s"] / result["axiom added"]
                report.claim(
                    f"{each.name}: an axiom about few costs less than reasoning again",
                    f"{cheaper:.0f} times less",
                    cheaper > 1,
                )
    return table


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", type=numbers, default=[1, 10, 50], help="universities (1,10,50)")
    parser.add_argument(
        "--edges", type=numbers, default=[1000, 10_000, 100_000], help="of the Relations Ontology"
    )
    parser.add_argument("--reasoners", type=names, default=list(SESSIONS), help="who is measured")
    parser.add_argument("--seconds", type=float, default=300, help="that a run may take (300)")


WORKLOAD = Workload(
    "ontologies",
    "Ontologies with data, from files to the closure: LUBM, the OBO Relations Ontology, thesauri; "
    "beside other reasoners, and under single changes.",
    options,
    run,
)
