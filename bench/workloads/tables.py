"""Flat tables as triples: `Store.load_table` from each of its sources, beside a loop over rows.

A table of people: a unique number, names of which a third repeat, ages, and employers as IRIs. The
wide one has a double, a date and a time too, of which nearly all differ.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.child import Clock
from bench.harness import Case, Harness, machine
from bench.report import BenchReport, ReportTable
from bench.workload import Workload, fresh_folder

NAMESPACE = "http://example.org/"
SUBJECT = NAMESPACE + "person/{id}"
EMPLOYER = NAMESPACE + "org/{employer}"
SOURCES = ("arrow", "pandas", "parquet", "csv", "rows")
NARROW, WIDE = ("id", "name", "age", "employer"), ("weight", "born", "seen")
LOOP_SHARE = 10
"""The loop over rows takes this share of the table: it would take a minute."""


def table(rows: int, wide: bool) -> Any:
    """The table, always the same."""
    import numpy as np
    import pyarrow as pa

    some = np.random.default_rng(1)
    columns = {
        "id": pa.array(np.arange(rows)),
        "name": pa.array([f"Name {i % (rows * 2 // 3 or 1)} of them" for i in range(rows)]),
        "age": pa.array(some.integers(0, 100, rows)),
        "employer": pa.array([f"org {i}" for i in some.integers(0, 1000, rows)]),
    }
    if wide:
        days = pa.array(some.integers(0, 20_000, rows).astype(np.int32), pa.int32())
        columns["weight"] = pa.array(some.random(rows) * 100)
        columns["born"] = days.cast(pa.date32())
        columns["seen"] = pa.array(some.integers(0, 1 << 50, rows), pa.timestamp("us"))
    return pa.table(columns)


def measure(source: str, rows: int, wide: bool, folder: str) -> dict[str, Any]:
    """In a child: one load into a durable store, kernels being warm."""
    from triplestore import Property, Store

    clock = Clock()
    names = [name for name in (*NARROW, *(WIDE if wide else ())) if name != "id"]
    properties: dict[str, str | Property] = {name: NAMESPACE + name for name in names}
    properties["employer"] = Property(NAMESPACE + "employer", EMPLOYER)
    with fresh_folder(folder) as own:
        count = rows // LOOP_SHARE if source == "rows" else rows
        given = prepared(source, table(count, wide), own)
        Store().load_table(table(20_000, wide), subject=SUBJECT, properties=properties)
        with Store(own / "store") as store, clock.part("load"):
            if source == "rows":
                store.extend(quads(given, properties))
            else:
                store.load_table(given, subject=SUBJECT, properties=properties)
            store.flush()
        with Store.read_only(own / "store") as store:
            triples = len(store)
    return {"rows": count, "triples": triples, **clock.seconds}


def prepared(source: str, made: Any, folder: Path) -> Any:
    """The table in the form that is measured."""
    if source == "pandas":
        return made.to_pandas()
    if source == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(made, folder / "t.parquet")
        return folder / "t.parquet"
    if source == "csv":
        import pyarrow.csv as csv

        csv.write_csv(made, folder / "t.csv")
        return folder / "t.csv"
    return made


def quads(made: Any, properties: dict[str, Any]) -> Iterator[tuple[Any, Any, Any]]:
    """What one writes without `load_table`: a loop over rows that makes terms."""
    from urllib.parse import quote

    from triplestore import Literal, NamedNode

    xsd = "http://www.w3.org/2001/XMLSchema#"
    predicates = {name: NamedNode(NAMESPACE + name) for name in properties}
    for row in made.to_pylist():
        subject = NamedNode(f"{NAMESPACE}person/{row['id']}")
        for name, predicate in predicates.items():
            value = row[name]
            if name == "employer":
                yield subject, predicate, NamedNode(f"{NAMESPACE}org/{quote(value)}")
            elif name in ("born", "seen"):
                kind = NamedNode(xsd + ("date" if name == "born" else "dateTime"))
                yield subject, predicate, Literal(value.isoformat(), datatype=kind)
            else:
                yield subject, predicate, Literal(value)


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    report = BenchReport("tables", WORKLOAD.summary, machine(["pyarrow", "pandas", "numpy"]))
    shown = ReportTable(
        "Into a durable store, from the table to fsync",
        [
            "table",
            "source",
            "rows",
            "triples",
            "load s",
            "CPU s",
            "M rows/CPU s",
            "M triples/CPU s",
        ],
        note="Best of the runs by CPU seconds. The loop over rows loads a tenth of the table.",
    )
    with harness.temporary() as folder:
        for wide in (False, True):
            name = "wide (6 properties)" if wide else "narrow (3 properties)"
            cases = [
                Case(
                    f"{__name__}:measure",
                    {"source": source, "rows": given.rows, "wide": wide, "folder": str(folder)},
                    f"{name}, {source}",
                )
                for source in SOURCES
            ]
            results = harness.compare(cases, main="load cpu s")
            report.keep(results)
            for source, result in zip(SOURCES, results, strict=True):
                cpu = result["load cpu s"]
                rows, triples = result["rows"], result["triples"]
                values = (
                    rows,
                    triples,
                    result["load s"],
                    cpu,
                    rows / cpu / 1e6,
                    triples / cpu / 1e6,
                )
                shown.add(name, source, *values)
                if source != "rows" and not wide:
                    speed = rows / cpu / 1e6
                    claim = f"{name} from {source}: a million rows a CPU second"
                    report.claim(claim, f"{speed:.2f}", speed >= 1)
    report.tables.append(shown)
    return report


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the table")


WORKLOAD = Workload(
    "tables",
    "Tables of people from Arrow, pandas, Parquet and CSV into a durable store.",
    options,
    run,
)
