"""Federation: bound joins of rows of one store with another that a server serves.

Each of the rows has one value at the endpoint, which has ten times as many. The peers ask the same
endpoint, our server; what counts is the processor time of the asking process, and the number of
requests is that of the server.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, cast

from bench.harness import REPOSITORY, Case, Harness, machine
from bench.report import BenchReport, ReportTable
from bench.workload import Workload, numbers

OURS, OXIGRAPH, RDFLIB = "triplestore", "pyoxigraph", "rdflib"


def _lines(count: int, verb: str) -> str:
    return "".join(f"<http://e/{n}> <http://e/{verb}> <http://e/{n * 7}> .\n" for n in range(count))


def measure(peer: str, rows: int, batch: int, folder: str) -> dict[str, Any]:
    """In a child: an endpoint in another process, and a join with it."""
    from triplestore import Store

    place = str(Path(folder) / f"endpoint{rows}")
    if not Path(place).exists():
        with Store(place) as store:
            store.load(_lines(10 * rows, "q"), "nt")
    command = [sys.executable, "-m", "bench.serving.server_process", OURS, place]
    server = subprocess.Popen(
        command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None and server.stdin is not None
    try:
        endpoint = f"http://127.0.0.1:{int(server.stdout.readline())}/query"
        text = f"SELECT * {{ ?x <http://e/p> ?y SERVICE <{endpoint}> {{ ?y <http://e/q> ?z }} }}"
        ask = _asker(peer, _lines(rows, "p"), endpoint, batch)
        ask(text)
        used, start = time.process_time(), time.perf_counter()
        count = ask(text)
        seconds, cpu = time.perf_counter() - start, time.process_time() - used
    finally:
        server.stdin.close()
        server.wait(30)
        server.stdout.close()
    wanted = sum(7 * n < 10 * rows for n in range(rows))
    assert count == wanted, f"{peer}: {count} rows instead of {wanted}"
    return {"cpu ms": 1e3 * cpu, "ms": 1e3 * seconds, "rows": count}


def _asker(peer: str, data: str, endpoint: str, batch: int) -> Any:
    if peer == OXIGRAPH:
        import pyoxigraph

        oxigraph = pyoxigraph.Store()
        oxigraph.load(data.encode(), pyoxigraph.RdfFormat.N_TRIPLES)
        return lambda text: len(list(cast(Any, oxigraph.query(text))))
    if peer == RDFLIB:
        import rdflib

        graph = rdflib.Graph()
        graph.parse(data=data, format="nt")
        return lambda text: len(list(graph.query(text)))
    from triplestore import Services, Store

    store, services = Store(), Services([endpoint], batch=batch)
    store.load(data, "nt")
    return lambda text: len(list(store.select(text, allow_service=services).tuples()))


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    packages = (OURS, OXIGRAPH, RDFLIB, "starlette", "uvicorn", "numpy")
    report = BenchReport("federation", WORKLOAD.summary, machine(packages))
    table = ReportTable(
        "A join of rows with an endpoint on this machine",
        ["rows", "asked by", "rows sent at most", "CPU ms", "ms"],
        note="The second run in a process. CPU: of the asking process.",
    )
    with harness.temporary() as folder:
        cases = []
        for rows in given.rows:
            wanted = [(OURS, batch) for batch in given.batches]
            wanted += [(OXIGRAPH, 0)] + ([(RDFLIB, 0)] if rows <= given.rdflib_rows else [])
            for peer, batch in wanted:
                arguments = {"peer": peer, "rows": rows, "batch": batch, "folder": str(folder)}
                label = f"{rows} rows, {peer} {batch or ''}".strip()
                cases.append(Case(f"{__name__}:measure", arguments, label))
        results = harness.compare(cases, main="cpu ms")
    for result in results:
        asked = result.case.arguments
        best = result.best
        sent = asked["batch"] if asked["peer"] == OURS else "as it does"
        table.add(asked["rows"], asked["peer"], sent, best["cpu ms"], best["ms"])
    report.tables.append(table)
    report.keep(list(results))
    return report


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", type=numbers, default=[1000, 10000], help="rows to join")
    parser.add_argument("--batches", type=numbers, default=[100, 1000], help="rows of a request")
    parser.add_argument("--rdflib-rows", type=int, default=1000, help="most rows for rdflib")


WORKLOAD = Workload(
    "federation", "bound joins of 10,000 rows with an endpoint (SERVICE)", options, run
)
