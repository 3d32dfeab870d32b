"""Peers that reason with an ontology over RDF: reasonable and owlrl, both OWL 2 RL.

They derive more than the rules of a task (their rules are the W3C's, over all triples), so their
times stand beside the others for orientation only, and their counts differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.reasoners.task import Task

NOT_RDF = "the task has no statements in RDF"


class ReasonableSession:
    def __init__(self, task: Task) -> None:
        import reasonable

        self.task = task
        self.reasoner = reasonable.PyReasoner()
        self.triples: list[Any] = []

    def parse(self) -> None:
        self.reasoner.load_file(str(self.task.folder / "ontology.ttl"))

    def load(self) -> None:
        self.reasoner.load_file(str(self.task.folder / "data.ttl"))

    def reason(self) -> None:
        self.triples = self.reasoner.reason()

    def inside(self) -> Mapping[str, float]:
        return {}

    def count(self) -> int:
        return len(self.triples)

    def contents(self) -> set[tuple[Any, ...]]:
        return {tuple(map(str, triple)) for triple in self.triples}


class Reasonable:
    name = "reasonable"
    packages = ("reasonable",)
    modules = ("reasonable",)
    rdf = True

    def refuses(self, task: Task) -> str | None:
        return None if task.rdf else NOT_RDF

    def start(self) -> None:
        import reasonable

        reasonable.PyReasoner()

    def open(self, task: Task) -> ReasonableSession:
        return ReasonableSession(task)


class OwlrlSession:
    def __init__(self, task: Task) -> None:
        import rdflib

        self.task = task
        self.graph = rdflib.Graph()

    def parse(self) -> None:
        self.graph.parse(self.task.folder / "ontology.ttl", format="nt")

    def load(self) -> None:
        self.graph.parse(self.task.folder / "data.ttl", format="nt")

    def reason(self) -> None:
        import owlrl

        owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(self.graph)

    def inside(self) -> Mapping[str, float]:
        return {}

    def count(self) -> int:
        return len(self.graph)

    def contents(self) -> set[tuple[Any, ...]]:
        return {tuple(map(str, triple)) for triple in self.graph}


class Owlrl:
    name = "owlrl"
    packages = ("owlrl", "rdflib")
    modules = ("owlrl", "rdflib")
    rdf = True

    largest = 20_000
    """Statements beyond which it takes minutes."""

    def refuses(self, task: Task) -> str | None:
        if not task.rdf:
            return NOT_RDF
        if task.facts > self.largest:
            return f"takes minutes above {self.largest:,} statements"
        return None

    def start(self) -> None:
        import owlrl

        assert owlrl.OWLRL_Semantics

    def open(self, task: Task) -> OwlrlSession:
        return OwlrlSession(task)
