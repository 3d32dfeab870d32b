"""clingo: a solver of logic programs, whose grounder computes the closure of plain rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.reasoners.program import datalog
from bench.reasoners.task import Task


class ClingoSession:
    def __init__(self, task: Task) -> None:
        import clingo

        self.task = task
        # Without messages about each relation that no fact or rule concludes.
        self.control = clingo.Control(message_limit=0)
        self.text = "\n".join(datalog(clause, "X", "not ") for clause in task.clauses())

    def parse(self) -> None:
        self.control.add("base", [], self.text)

    def load(self) -> None:
        """Facts are read into the program; clingo reads no CSV."""
        self.control.load(str(self.task.folder / "facts.lp"))

    def reason(self) -> None:
        self.control.ground([("base", [])])

    def inside(self) -> Mapping[str, float]:
        return {}

    def count(self) -> int:
        return len(self.control.symbolic_atoms)

    def contents(self) -> set[tuple[Any, ...]]:
        symbols = (atom.symbol for atom in self.control.symbolic_atoms if atom.is_fact)
        return {(s.name, *(argument.number for argument in s.arguments)) for s in symbols}


class Clingo:
    name = "clingo"
    packages = ("clingo",)
    modules = ("clingo",)
    rdf = False

    def refuses(self, task: Task) -> str | None:
        return None

    def start(self) -> None:
        import clingo

        control = clingo.Control()
        control.add("base", [], "p(1).")
        control.ground([("base", [])])

    def open(self, task: Task) -> ClingoSession:
        return ClingoSession(task)
