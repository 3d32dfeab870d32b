"""Cold: whole processes, from their start to the answer, beside peers."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from bench.harness import REPOSITORY, Harness, MeasurementError, machine
from bench.inputs.data import lubm_file
from bench.report import BenchReport, Plot, ReportTable
from bench.workload import Workload, make_store, names

OURS = "triplestore"

TEN = """@prefix : <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Pump rdfs:subClassOf :Machine . :part a owl:TransitiveProperty . :part rdfs:range :Machine .
:feeds rdfs:domain :Pump . :a a :Pump . :a :part :b . :b :part :c . :c :part :d .
:e :feeds :a . :f :part :a .
"""
ASK_TEN = "SELECT ?x { <http://example.org/a> <http://example.org/part> ?x }"
ASK_LUBM = """PREFIX u: <http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl#>
SELECT ?x { ?x a u:GraduateStudent ; u:takesCourse
<http://www.Department0.University0.edu/GraduateCourse0> }"""


class Task(NamedTuple):
    """The same work as a program for each peer, and the number of lines that it prints."""

    title: str
    programs: dict[str, str]


_OURS = "from triplestore import Store\nstore = Store()\n"
_OXIGRAPH = "from pyoxigraph import RdfFormat, Store\nstore = Store()\n"
_RDFLIB = "import rdflib\ngraph = rdflib.Graph()\n"
_ROWS = "print(len(list(store.query(query))))\n"
_RDFLIB_ROWS = "print(len(list(graph.query(query))))\n"
_OWLRL = "import owlrl\nowlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)\n"

TASKS = {
    "ten": Task(
        "ten triples, one query",
        {
            OURS: _OURS + 'store.load(path=ten, format="turtle")\n' + _ROWS,
            "pyoxigraph": _OXIGRAPH + "store.load(path=ten, format=RdfFormat.TURTLE)\n" + _ROWS,
            "rdflib": _RDFLIB + 'graph.parse(ten, format="turtle")\n' + _RDFLIB_ROWS,
        },
    ),
    "reason": Task(
        "ten triples, OWL 2 RL, one query",
        {
            OURS: _OURS + 'store.load(path=ten, format="turtle")\nstore.reason("owl-rl")\n' + _ROWS,
            "owlrl": _RDFLIB + 'graph.parse(ten, format="turtle")\n' + _OWLRL + _RDFLIB_ROWS,
        },
    ),
    "load": Task(
        "LUBM(1), one query",
        {
            OURS: _OURS + 'store.load(path=lubm, format="ntriples")\n' + _ROWS,
            "pyoxigraph": _OXIGRAPH
            + "store.bulk_load(path=lubm, format=RdfFormat.N_TRIPLES)\n"
            + _ROWS,
            "rdflib": _RDFLIB + 'graph.parse(lubm, format="nt")\n' + _RDFLIB_ROWS,
        },
    ),
    "open": Task(
        "a store with LUBM(1) is opened, one query",
        {
            OURS: "from triplestore import Store\nstore = Store.read_only(ours)\n" + _ROWS,
            "pyoxigraph": "from pyoxigraph import Store\nstore = Store.read_only(oxigraph)\n"
            + _ROWS,
        },
    ),
}


class Fresh(NamedTuple):
    """What one process took."""

    cpu: float
    wall: float
    printed: str


def fresh(python: str, program: str, names: dict[str, str]) -> Fresh:
    """Run a program in a process of its own; the names are its variables."""
    given = "".join(f"{name} = {value!r}\n" for name, value in names.items())
    read, written = os.pipe()
    start = time.perf_counter()
    # -P: an installed package is measured, and not the checkout in the current folder.
    child = os.posix_spawn(
        python,
        [python, "-P", "-c", given + program],
        os.environ | {"PYTHONPATH": str(REPOSITORY) if python == sys.executable else ""},
        file_actions=[(os.POSIX_SPAWN_DUP2, written, 1)],
    )
    os.close(written)
    with os.fdopen(read) as output:
        printed = output.read().strip()
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - start
    if status:
        raise MeasurementError(f"this program failed, see its message above:\n{program}")
    return Fresh(usage.ru_utime + usage.ru_stime, wall, printed)


def least(runs: Iterable[Fresh]) -> Fresh:
    """The least of each number."""
    every = list(runs)
    return Fresh(
        min(run.cpu for run in every),
        min(run.wall for run in every),
        every[0].printed,
    )


def run(given: argparse.Namespace, harness: Harness) -> BenchReport:
    packages = ["numpy", "pyoxigraph", "rdflib", "owlrl"]
    report = BenchReport("cold", WORKLOAD.summary, machine(packages))
    table = ReportTable(
        "Whole processes",
        ["task", "peer", "CPU s", "wall s", "CPU, ours to it"],
        note=f"The least of {given.repeats * 5} runs, in turns. Files are in the operating "
        "system's memory, and compiled kernels on disk. `python` alone is the least that any of "
        "them can take. Where CPU is more than wall, threads of numpy's library for matrices wait "
        "actively: 0.05 to 0.1 s at each import of numpy.",
    )
    python = given.python or sys.executable
    bars: dict[str, list[tuple[float, float]]] = {}
    with harness.temporary() as folder:
        known = make_inputs(folder)
        bare = least(fresh(python, "pass", {}) for _ in range(given.repeats * 5))
        table.add("nothing", "python", bare.cpu, bare.wall, None)
        for at, name in enumerate(given.tasks):
            asked = {"query": ASK_TEN if name in ("ten", "reason") else ASK_LUBM}
            found = measure(TASKS[name], python, known | asked, given.repeats * 5)
            answers = {result.printed for result in found.values()}
            report.claim(
                f"{TASKS[name].title}: all print the same", ", ".join(answers), len(answers) == 1
            )
            for peer, result in found.items():
                ratio = found[OURS].cpu / result.cpu
                table.add(TASKS[name].title, peer, result.cpu, result.wall, ratio)
                bars.setdefault(peer, []).append((at, result.cpu))
    report.tables.append(table)
    report.plots.append(Plot("tasks", "CPU of whole processes", "task", "CPU s", bars))
    return report


def make_inputs(folder: Path) -> dict[str, str]:
    """The files and stores of the programs, by the names of their variables."""
    files = {"ten": folder / "ten.ttl", "lubm": lubm_file(1).path}
    files["ten"].write_text(TEN)
    for name, peer in (("ours", OURS), ("oxigraph", "pyoxigraph")):
        files[name] = folder / name
        make_store(peer, 1, files[name])
    return {name: str(path) for name, path in files.items()}


def measure(task: Task, python: str, known: dict[str, str], rounds: int) -> dict[str, Fresh]:
    """Each peer's least numbers, measured in turns."""
    runs: dict[str, list[Fresh]] = {peer: [] for peer in task.programs}
    for _ in range(rounds):
        for peer, program in task.programs.items():
            runs[peer].append(fresh(python, program, known))
    return {peer: least(every) for peer, every in runs.items()}


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tasks", type=names, default=list(TASKS), help=", ".join(TASKS))
    parser.add_argument(
        "--python", help="the interpreter of an environment with a wheel (default: this one)"
    )


WORKLOAD = Workload(
    "cold", "Whole processes from start to answer: few triples, LUBM(1), opening", options, run
)
