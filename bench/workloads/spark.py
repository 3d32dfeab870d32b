"""Importing on Spark: cost per triple as sizes grow, stage by stage, with one and two workers.

The comparisons are the local loader, which does the same work in one process, and rdflib, which
only parses. All clusters are on this machine: its two workers share the disk and, on two cores,
leave no core for the driver. So the figures show the growth of cost and the amount of moved data,
not the speed of a cluster.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.harness import REPOSITORY, Case, Harness, Result, machine
from bench.inputs.data import InputFile, lubm_file
from bench.report import BenchReport, ReportTable, format_number, ratio
from bench.workload import Workload, names, numbers

PER_UNIVERSITY = 131_000
"""Approximate number of statements of a LUBM-like university."""

RULES = REPOSITORY / "bench" / "rules" / "lubm.dlog"
FLAT = 1.3
"""Cost per triple counts as flat if it grows by less than this factor from size to size."""


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    report = BenchReport(
        "spark", WORKLOAD.summary, machine(["pyspark", "pyarrow", "numpy", "rdflib"])
    )
    if lacking := what_is_missing():
        report.summary += f". Not measured: {lacking}"
        return report
    rules = str(RULES) if given.infer else None
    overview = ReportTable(
        "Importing LUBM-like N-Triples" + (" and inferring under its ontology" if rules else ""),
        ["", "statements", "s", "statements/s", "us each", "shuffled bytes each", "x local"],
        note="Time of the import alone: the session was up and warm. rdflib only parses. "
        "Local: one process, without Spark.",
    )
    stages = ReportTable(
        "Stage by stage",
        ["", "s", "us each", "shuffled MB", "bytes each", "written MB", "spilled MB", "skew"],
        note="Each: by statement of the input. Skew: rows of the largest task by the median one.",
    )
    flat: dict[int, list[float]] = {}
    with harness.temporary() as folder:
        for size in given.sizes:
            source = lubm_file(max(1, round(size / PER_UNIVERSITY)))
            results = measured(source, given, harness, folder, rules)
            report.keep(list(results.values()))
            show(overview, stages, results, source, flat)
            claim_equal(report, results, source)
    report.tables += [overview, stages]
    for workers, costs in flat.items():
        if len(costs) > 1:
            growth = max(b / a for a, b in pairwise(costs))
            said = " -> ".join(format_number(cost) for cost in costs) + " us"
            text = f"cost per statement is flat ({workers} workers)"
            report.claim(text, f"{said}, at most x {format_number(growth)}", growth < FLAT)
    return report


def what_is_missing() -> str:
    """Why nothing can be measured here; empty if something can."""
    from triplestore import TripleStoreError
    from triplestore.loaders.spark.java import find_java

    if find_spec("pyspark") is None:
        return "pyspark is not installed"
    try:
        find_java()
    except TripleStoreError as error:
        return str(error)
    return ""


def measured(
    source: InputFile, given: argparse.Namespace, harness: Harness, folder: Path, rules: str | None
) -> dict[str, Result]:
    """The results for one file by reader: `local`, `rdflib` or the number of workers."""
    common = {"path": str(source.path), "folder": str(folder)}
    cluster = {**common, "memory": given.memory, "partitions": given.partitions}
    cases = {
        "local": Case("bench.runs.spark:measure_local", {**common, "rules": rules}, "local loader")
    }
    for workers in given.workers:
        arguments = {**cluster, "workers": workers, "rules": rules}
        label = f"{workers} workers: {source.name}"
        cases[str(workers)] = Case("bench.runs.spark:measure_import", arguments, label)
    if source.universities * PER_UNIVERSITY <= given.most_for_rdflib * 1.1:
        arguments = {**cluster, "workers": max(given.workers)}
        cases["rdflib"] = Case("bench.runs.spark:measure_rdflib", arguments, "rdflib on Spark")
    found = harness.compare(cases.values(), main="import s")
    return dict(zip(cases, found, strict=True))


def show(
    overview: ReportTable,
    stages: ReportTable,
    results: dict[str, Result],
    source: InputFile,
    flat: dict[int, list[float]],
) -> None:
    local = float(results["local"]["import s"])
    statements = int(next(r for n, r in results.items() if n.isdigit())["statements"])
    for name, result in results.items():
        seconds = float(result["import s"])
        each = 1e6 * seconds / statements
        who = {"local": "local loader", "rdflib": "rdflib, parsing only"}.get(name)
        moved: float | None = None
        if name.isdigit():
            moved = sum(s["spark"]["shuffled_bytes"] for s in result["stages"]) / statements
            flat.setdefault(int(name), []).append(each)
            add_stages(stages, f"{source.universities} univ., {name} workers", result, statements)
        overview.add(
            f"{source.universities} universities, {who or f'{name} workers'}",
            *(statements, seconds, statements / seconds, each, moved, ratio(local, seconds)),
        )


def add_stages(table: ReportTable, where: str, result: Result, statements: int) -> None:
    for stage in result["stages"]:
        spark: dict[str, Any] = stage["spark"]
        seconds = float(stage["seconds"])
        moved = spark["shuffled_bytes"]
        table.add(
            f"{where}: {stage['stage']}" + (f" round {stage['round']}" if "round" in stage else ""),
            *(seconds, 1e6 * seconds / statements, moved / 1e6, moved / statements),
            *(spark["written_bytes"] / 1e6, spark["spilled_bytes"] / 1e6, spark["skew"]),
        )


def claim_equal(report: BenchReport, results: dict[str, Result], source: InputFile) -> None:
    digests = {n: r["digest"] for n, r in results.items() if n != "rdflib"}
    text = f"{source.universities} universities: Spark and local loader make the same store"
    said = ", ".join(f"{name}: {digest[:12]}" for name, digest in digests.items())
    report.claim(text, said, len(set(digests.values())) == 1)


def options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--sizes", type=sizes, default=[1_000_000, 10_000_000], help="1M,10M,50M")
    verb.add_argument("--workers", type=numbers, default=[1, 2], help="worker processes")
    verb.add_argument("--memory", type=int, default=2048, help="megabytes of each worker's heap")
    verb.add_argument("--partitions", type=int, default=8, help="parts of a shuffle")
    verb.add_argument("--infer", action="store_true", help="also the closure, on Spark and here")
    verb.add_argument(
        "--most-for-rdflib", type=int, default=1_000_000, help="statements that rdflib is given"
    )


def sizes(text: str) -> list[int]:
    """Numbers of statements: `1M,10M,500k`."""
    units = {"k": 1000, "M": 1_000_000}
    return [int(float(part.rstrip("kM")) * units.get(part[-1], 1)) for part in names(text)]


WORKLOAD = Workload(
    "spark", "importing on Spark, stage by stage, beside the local loader", options, run
)
