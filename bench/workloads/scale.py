"""Growing stores: the same work on 10 to 900 universities, per fact and as growth.

Each size is generated, loaded, closed under OWL 2 RL, and then opened for writes and for queries
by fresh processes. 900 universities are 165 million facts.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.harness import Case, Harness, MeasurementError, Result, machine
from bench.inputs import lubm
from bench.inputs.data import read_through, shared_data
from bench.queries.lubm import queries
from bench.report import BenchReport, Plot, ReportTable
from bench.runs import scaling
from bench.workload import Workload, numbers

FLAT = 1.3
"""What a number per fact may grow by from the smallest store to the largest."""


@dataclass(frozen=True)
class Measured:
    """One size: its universities, and the results of its parts."""

    universities: int
    built: Result
    written: Result
    asked: Result

    @property
    def facts(self) -> int:
        return int(self.built["facts"])


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    packages = ("triplestore", "numpy", "numba")
    report = BenchReport("scale", WORKLOAD.summary, machine(packages))
    ontology = shared_data() / "lubm" / "univ-bench.owl"
    if not ontology.exists():
        raise MeasurementError(
            f"the ontology of LUBM is in the shared data, which lacks {ontology}"
        )
    sizes = [measure(size, ontology, harness, report) for size in sorted(given.sizes)]
    report.tables += [build_table(sizes), write_table(sizes), query_table(sizes)]
    claim(report, sizes)
    if len(sizes) > 1:
        report.tables.append(growth_table(sizes, report))
        report.plots.append(plot(sizes))
    return report


def measure(size: int, ontology: Path, harness: Harness, report: BenchReport) -> Measured:
    """Make one store, and run all parts; its files are removed afterwards."""
    said = f"{size} universities"
    with harness.temporary() as folder:
        data, store = folder / "data.nt", str(folder / "store")
        lubm.write(data, size)
        read_through(data)
        given = {"data": str(data), "ontology": str(ontology), "folder": store}
        built = Case(f"{scaling.__name__}:build", given, f"build, {said}")
        (made,) = harness.compare([built], main="load cpu s", repeats=1)
        data.unlink()
        asked = Case(
            f"{scaling.__name__}:ask",
            {"folder": store, "ontology": str(ontology)},
            f"queries, {said}",
        )
        (answered,) = harness.compare([asked], main="again cpu s")
        written = Result(asked, "first fact cpu s")
        for number in range(harness.repeats):
            case = Case(
                f"{scaling.__name__}:write",
                {"folder": store, "ontology": str(ontology), "universities": size, "run": number},
                f"writes, {said}",
            )
            (one,) = harness.compare([case], main=written.main, repeats=1)
            written = Result(case, written.main, [*written.runs, *one.runs])
    report.keep([made, written, answered])
    return Measured(size, made, written, answered)


def build_table(sizes: list[Measured]) -> ReportTable:
    table = ReportTable(
        "Load and close under OWL 2 RL",
        [
            "universities",
            "asserted",
            "with inferred",
            "load CPU s",
            "load s",
            "close CPU s",
            "close s",
            "merge CPU s",
            "peak MB",
            "disk MB",
            "disk, bytes a fact",
        ],
        note="Merge: what is left of the work behind the commits.",
    )
    for one in sizes:
        made = one.built
        table.add(
            one.universities,
            made["asserted"],
            made["facts"],
            *(made[f"{part} {kind}"] for part in ("load", "close") for kind in ("cpu s", "s")),
            made["merge cpu s"],
            made["peak bytes"] / 1e6,
            made["disk bytes"] / 1e6,
            made["disk bytes"] / one.facts,
        )
    return table


WRITES = {
    "open": "open",
    "first fact": "first fact",
    "first removal": "its removal",
    "first thousand removed": "first 1,000 removed",
    "second thousand removed": "1,000 others removed",
    "second thousand added": "these added",
}


def write_table(sizes: list[Measured]) -> ReportTable:
    table = ReportTable(
        "Writes after opening, in milliseconds of CPU",
        ["universities", *WRITES.values(), "fact added", "fact removed", "peak MB"],
        note="In the order of columns, in a process that has loaded modules and kernels before; "
        f"the last two are medians of {scaling.SINGLE} commits. The store's files are in the "
        "operating system's memory. The same in wall time is in the JSON.",
    )
    for one in sizes:
        cells = [one.written.least(f"{name} cpu s") * 1000 for name in WRITES]
        single = [one.written.least(f"{name} cpu s") * 1000 for name in ("add", "remove")]
        table.add(one.universities, *cells, *single, one.written["peak bytes"] / 1e6)
    return table


def query_table(sizes: list[Measured]) -> ReportTable:
    table = ReportTable(
        "LUBM's queries as Arrow, in milliseconds of CPU",
        ["query", *(f"{one.universities}, {when}" for one in sizes for when in WHEN)],
        note="First: the first time in a process, with the checksums of what is read. Again: the "
        "best of three more runs. The last row has the geometric means.",
    )
    columns = [[time_of(one, query, when) for query in queries()] for one in sizes for when in WHEN]
    for name, *cells in zip(queries(), *columns, strict=True):
        table.add(name, *cells)
    table.add("mean", *map(mean, columns))
    return table


WHEN = ("first", "again")


def time_of(one: Measured, query: str, when: str) -> float:
    """The least CPU milliseconds of a query."""
    return min(float(run["queries"][query][when][0]) for run in one.asked.runs) * 1000


def mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


PER_FACT: dict[str, Callable[[Measured], float]] = {
    "load, µs a fact asserted": lambda one: one.built["load cpu s"] * 1e6 / one.built["asserted"],
    "close, µs a fact": lambda one: one.built["close cpu s"] * 1e6 / one.facts,
    "merge, µs a fact": lambda one: one.built["merge cpu s"] * 1e6 / one.facts,
    "disk, bytes a fact": lambda one: one.built["disk bytes"] / one.facts,
    "peak memory of the load, bytes a fact": lambda one: one.built["peak bytes"] / one.facts,
    "first fact, ms": lambda one: one.written.least("first fact cpu s") * 1e3,
    "first 1,000 removed, ms": lambda one: one.written.least("first thousand removed cpu s") * 1e3,
    "single fact added, ms": lambda one: one.written.least("add cpu s") * 1e3,
    "single fact removed, ms": lambda one: one.written.least("remove cpu s") * 1e3,
}
KEPT_FLAT = [name for name in PER_FACT if name.startswith(("load", "close", "single"))]


def growth_table(sizes: list[Measured], report: BenchReport) -> ReportTable:
    first, last = sizes[0], sizes[-1]
    table = ReportTable(
        "Growth, in CPU time",
        ["", *(str(one.universities) for one in sizes), "growth"],
        note="Growth: the last column divided by the first.",
    )
    for name, of in PER_FACT.items():
        growth = of(last) / of(first)
        table.add(name, *map(of, sizes), growth)
        if name in KEPT_FLAT:
            report.claim(
                f"{name}: at most {FLAT} times as much at {last.universities} universities as at "
                f"{first.universities}",
                f"{growth:.2f}",
                growth <= FLAT,
            )
    return table


def claim(report: BenchReport, sizes: list[Measured]) -> None:
    """The limits of the largest store."""
    last = sizes[-1]
    for name, part, limit in (
        ("the first fact after opening", "first fact", 50),
        ("the first 1,000 removed facts", "first thousand removed", 500),
    ):
        found = last.written.least(f"{part} cpu s") * 1000
        report.claim(
            f"{name}: under {limit} ms with {last.facts / 1e6:.0f} M facts",
            f"{found:.1f} ms",
            found < limit,
        )


def plot(sizes: list[Measured]) -> Plot:
    lines = {
        name: [(one.facts / 1e6, of(one)) for one in sizes]
        for name, of in PER_FACT.items()
        if name.endswith("ms")
    }
    return Plot("writes", "Writes after opening", "million facts", "ms of CPU", lines, True)


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sizes",
        type=numbers,
        default=[10, 50, 100],
        help="universities (also 300 and 900, which take 7 and 20 GB of disk)",
    )


WORKLOAD = Workload(
    "scale",
    "Growing stores: load, close, open, first writes, single facts, queries, memory and disk.",
    options,
    run,
)
