"""Nemo: a rule engine in Rust, by its Python bindings."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from bench.reasoners.program import Relation, datalog
from bench.reasoners.task import Task


class NemoSession:
    def __init__(self, task: Task) -> None:
        clauses = task.clauses()
        self.task = task
        self.relations = task.relations(clauses)
        self.imports = [self.imported(relation) for relation in task.rows]
        # Relations without output would be neither read nor derived.
        outputs = [f"@output {relation.name} ." for relation in self.relations]
        self.text = "\n".join([*self.imports, *map(datalog, clauses), *outputs])
        self.engine: Any = None

    def parse(self) -> None:
        import nmo_python

        self.engine = nmo_python.NemoEngine(nmo_python.load_string(self.text))

    def imported(self, relation: Relation) -> str:
        path, columns = self.task.csv(relation), ", ".join(["int"] * relation.arity)
        return f'@import {relation.name} :- csv{{resource = "{path}", format = ({columns})}} .'

    def load(self) -> None:
        """Nothing: files are read when a rule needs them."""

    def reason(self) -> None:
        self.engine.reason()

    def inside(self) -> Mapping[str, float]:
        """The seconds of reading, measured with a second engine that only reads."""
        import nmo_python

        outputs = [f"@output {relation.name} ." for relation in self.task.rows]
        text = "\n".join([*self.imports, *outputs])
        engine = nmo_python.NemoEngine(nmo_python.load_string(text))
        start = time.perf_counter()
        engine.reason()
        return {"import": time.perf_counter() - start}

    def count(self) -> int:
        return sum(sum(1 for _ in self.engine.result(r.name)) for r in self.relations)

    def contents(self) -> set[tuple[Any, ...]]:
        return {(r.name, *row) for r in self.relations for row in self.engine.result(r.name)}


class Nemo:
    name = "Nemo"
    packages = ("nemo-python",)
    modules = ("nmo_python",)
    rdf = False

    def refuses(self, task: Task) -> str | None:
        return None

    def start(self) -> None:
        import nmo_python

        nmo_python.NemoEngine(nmo_python.load_string("p(1) ."))

    def open(self, task: Task) -> NemoSession:
        return NemoSession(task)
