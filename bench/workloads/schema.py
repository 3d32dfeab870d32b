"""Ontologies without data: their closure beside a peer's, and what a change of axioms costs."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path

from bench.harness import Case, Harness, MeasurementError, Result, machine
from bench.inputs.data import make_once, shared_data
from bench.inputs.ontology_files import KEPT, converted
from bench.reasoners.base import why_it_ended
from bench.report import BenchReport, ReportTable, ratio
from bench.runs.ontology_runs import wide
from bench.workload import Workload

OURS, PEER = "triplestore", "reasonable"

FILES = {
    "Pizza": "owl-real/pizza/pizza.owl",
    "Relations Ontology": "owl-real/obo-relations/ro.owl",
    "Sequence Ontology": "owl-real/so/so.owl",
    "DBpedia": "owl-real/dbpedia/dbo-snapshots.ttl",
    "OWL2Bench DL": "owl2bench/UNIV-BENCH-OWL2DL.owl",
    "PATO": "owl-el/pato.owl.gz",
    "GALEN": "owl-el/galen.owl.gz",
    "schema.org": "owl-real/schemaorg/schemaorg-all-https.ttl",
}
COLUMNS = ["ontology", "closure", "peer's closure", "close, CPU s", "faster by", "peak MB"]
COLUMNS += ["peer's peak MB", "5 removed", "5 stated again", "equivalent added", "removed"]
NOTE = (
    "CPU seconds, best of the runs. The last four columns are parts of the CPU time of the first "
    "closure: five triples of axioms, or one owl:equivalentProperty, in one commit. Closures "
    "differ: triplestore concludes axioms, reasonable has hardly any rules that do."
)


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    report = BenchReport("schema", WORKLOAD.summary, machine([OURS, PEER]))
    table = ReportTable("Closures of ontologies, and changes of axioms", COLUMNS, note=NOTE)
    for name, path in inputs(given.width).items():
        ours = harness.compare([_case(OURS, name, path, harness, given.seconds)], "reason cpu s")[0]
        peer = _peer(name, path, harness, given.seconds)
        report.keep([ours, *([peer] if peer else [])])
        add_row(table, name, ours, peer)
        if name.startswith("Wide"):
            part = ours.least("equivalent added cpu s") / ours["reason cpu s"]
            report.claim(
                f"{name}: one axiom costs less than half a closure", f"{part:.2f}", part < 0.5
            )
    report.tables.append(table)
    return report


def inputs(width: int) -> dict[str, Path]:
    """The ontologies that are there, as N-Triples, and one that is made."""
    found = {name: shared_data() / file for name, file in FILES.items()}
    made = KEPT / f"wide-{width}.ttl"
    make_once(made, lambda new: wide(new, 100, width))
    ready = {name: converted(path) for name, path in found.items() if path.exists()}
    return {**ready, f"Wide intersections, {width}": made}


def _case(reasoner: str, name: str, path: Path, harness: Harness, seconds: float) -> Case:
    arguments = {
        "reasoner": reasoner,
        "file": str(path),
        "folder": str(harness.folder),
        "seconds": seconds,
    }
    return Case("bench.runs.ontology_runs:pure", arguments, f"{reasoner}: {name}")


def _peer(name: str, path: Path, harness: Harness, seconds: float) -> Result | None:
    if find_spec(PEER) is None:
        return None
    try:
        return harness.compare([_case(PEER, name, path, harness, seconds)], "reason cpu s")[0]
    except MeasurementError as error:
        harness.say(f"{PEER}: {name}: {why_it_ended(error, seconds)}")
        return None


def add_row(table: ReportTable, name: str, ours: Result, peer: Result | None) -> None:
    steps = ("triples removed", "triples stated again", "equivalent added", "equivalent removed")
    whole = ours["reason cpu s"]
    table.add(
        name,
        ours["closure"],
        peer["closure"] if peer else None,
        whole,
        ratio(whole, peer["reason cpu s"]) if peer else None,
        ours["closure peak bytes"] / 1e6,
        peer["closure peak bytes"] / 1e6 if peer else None,
        *(f"{ours.least(f'{step} cpu s') / whole:.2f}" for step in steps),
    )


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--width", type=int, default=120, help="members of each wide intersection")
    parser.add_argument("--seconds", type=float, default=300, help="limit of one run")


WORKLOAD = Workload(
    "schema", "closures of ontologies without data, and changes of axioms", options, run
)
