"""The length of the way of one fact through the code: files, calls, and changes of package.

Start at `main`. Each operation is run several times on a small store under OWL 2 RL, then once more
under `sys.setprofile`. A change of package is a call whose caller is in another top-level package
(`store`, `reasoning`, `relations`, ...); calls of numpy and other libraries in between do not
count.

    python -m bench.paths            the table
    python -m bench.paths --files    also the files of each operation, with their calls
    python -m bench.paths --seconds  also the CPU time of each operation, the best of many
    python -m bench.paths --report   also write bench/results/paths.{json,md}, with the CPU times
"""

from __future__ import annotations

import argparse
import gc
import itertools
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import triplestore
from bench.harness import REPOSITORY, machine
from bench.report import BenchReport, ReportTable
from triplestore import NamedNode, Quad, Store
from triplestore.sparql.results.solutions import Solutions

PREFIX = """@prefix : <http://ex.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
AXIOMS = """
:Person a owl:Class . :Student rdfs:subClassOf :Person . :Teacher rdfs:subClassOf :Person .
:Professor rdfs:subClassOf :Teacher . :Course a owl:Class .
:Student owl:disjointWith :Course .
:takes rdfs:domain :Student ; rdfs:range :Course ; owl:inverseOf :takenBy .
:teaches rdfs:subPropertyOf :worksOn . :worksOn rdfs:domain :Person .
:partOf a owl:TransitiveProperty . :knows a owl:SymmetricProperty .
:advisor a owl:FunctionalProperty .
:Chair owl:equivalentClass
  [ owl:intersectionOf ( :Person [ a owl:Restriction ; owl:onProperty :headOf ;
                                   owl:someValuesFrom :Department ] ) ] .
"""
PEOPLE = 300
SUMMARY = "The way of one fact through the code, under OWL 2 RL"
RUNS = 300
"""Number of runs of an operation, of which the fastest counts."""

ROOTS = [Path(triplestore.__file__).parent]
ROOTS += [ROOTS[0].parent / name for name in ("loaders", "ontologies")]


@dataclass
class Trace:
    """The calls during a run."""

    files: Counter[str] = field(default_factory=Counter)
    changes: int = 0
    known: dict[str, tuple[str, str] | None] = field(default_factory=dict)

    def place(self, file: str) -> tuple[str, str] | None:
        """The package and the module of a file; None for other libraries."""
        if file not in self.known:
            self.known[file] = _place(file)
        return self.known[file]

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Count a call."""
        if event != "call":
            return
        here = self.place(frame.f_code.co_filename)
        if here is None:
            return
        self.files[here[1]] += 1
        caller = frame.f_back
        while caller is not None:
            above = self.place(caller.f_code.co_filename)
            if above is not None:
                self.changes += above[0] != here[0]
                return
            caller = caller.f_back


def _place(file: str) -> tuple[str, str] | None:
    path = Path(file)
    for root in ROOTS:
        if path.is_relative_to(root):
            inner = path.relative_to(root)
            if root.name != "triplestore":
                return root.name, f"{root.name}/{inner}"
            return inner.parts[0].removesuffix(".py"), str(inner)
    return None


def make_store() -> Store:
    """A small store with a closure under OWL 2 RL."""
    lines = [PREFIX, AXIOMS]
    for i in range(PEOPLE):
        lines.append(f":s{i} a :Student ; :takes :c{i % 20} ; :advisor :t{i % 30} .")
        lines.append(f":t{i % 30} a :Professor ; :teaches :c{i % 20} ; :knows :t{i % 7} .")
        lines.append(f":d{i % 10} :partOf :d{i % 10 + 1} .")
    store = Store()
    store.load("\n".join(lines), "ttl")
    store.reason("owl-rl")
    return store


def operations() -> list[tuple[str, Callable[[Store], None], Callable[[Store], None]]]:
    """For each operation its name, an unmeasured preparation, and the operation."""
    fact = ":new1 :takes :c1 ."
    quad = Quad(*(NamedNode(f"http://ex.org/{name}") for name in ("new1", "takes", "c1")))
    delete = f"PREFIX : <http://ex.org/> DELETE DATA {{ {fact} }}"
    asked = itertools.count()  # a text that was asked before is neither parsed nor planned again

    def query(store: Store) -> None:
        n = next(asked)
        pattern = f"?y WHERE {{ :s{n % PEOPLE} :takes ?x{n} . ?x{n} :takenBy ?y }}"
        found = store.query(f"PREFIX : <http://ex.org/> SELECT {pattern}")
        assert isinstance(found, Solutions) and list(found)

    def state(store: Store) -> None:
        store.add(quad)

    def take_back(store: Store) -> None:
        store.remove(quad)

    return [
        ("load one fact", take_back, lambda store: _void(store.load(PREFIX + fact, "ttl"))),
        ("add(quad)", take_back, lambda store: _void(store.add(quad))),
        ("DELETE DATA one fact", state, lambda store: _void(store.update(delete))),
        ("remove(quad)", state, lambda store: _void(store.remove(quad))),
        ("query", state, query),
    ]


def _void(_: object) -> None:
    return None


def watched(store: Store, before: Callable[[Store], None], act: Callable[[Store], None]) -> Trace:
    """The trace of one warm run."""
    for _ in range(5):
        before(store)
        act(store)
    before(store)
    trace = Trace()
    sys.setprofile(trace)
    try:
        act(store)
    finally:
        sys.setprofile(None)
    return trace


def seconds(store: Store, before: Callable[[Store], None], act: Callable[[Store], None]) -> float:
    """CPU time of one run, the best of many."""
    best = float("inf")
    gc.collect()
    gc.disable()
    for _ in range(RUNS):
        before(store)
        start = time.process_time_ns()
        act(store)
        best = min(best, time.process_time_ns() - start)
    gc.enable()
    return best / 1e9


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=SUMMARY)
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--seconds", action="store_true")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--note", default="", help="a remark about the machine, for the report")
    given = parser.parse_args()
    print(f"{'operation':<22} {'files':>6} {'calls':>6} {'changes of package':>19}")
    table = ReportTable(SUMMARY, ["operation", "files", "calls", "changes of package", "ms"])
    store = make_store()
    for name, before, act in operations():
        trace = watched(store, before, act)
        took = seconds(store, before, act) * 1e3 if given.seconds or given.report else None
        files, calls = len(trace.files), sum(trace.files.values())
        table.add(name, files, calls, trace.changes, took)
        shown = "" if took is None else f" {took:9.3f} ms"
        print(f"{name:<22} {files:>6} {calls:>6} {trace.changes:>19}{shown}")
        for file, count in sorted(trace.files.items()) if given.files else ():
            print(f"    {count:>5} {file}")
    if given.report:
        about = {**machine(("triplestore", "numpy", "numba")), "note": given.note}
        table.note = f"CPU time, the best of {RUNS} runs."
        BenchReport("paths", SUMMARY, about, [table]).write(REPOSITORY / "bench" / "results")


if __name__ == "__main__":
    main()
