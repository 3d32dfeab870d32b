"""Peers that reason with an ontology over RDF: reasonable and owlrl, both OWL 2 RL.

Start at `OwlPeer`. They derive more than the rules of a task (their rules are the W3C's, over all
triples), so their times stand beside the others for orientation only, and their counts differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from bench.reasoners.task import Task

NOT_RDF = "the task has no statements in RDF"


class OntologySession(Protocol):
    """One computation of the closure of files of N-Triples."""

    def load(self, path: str) -> None:
        """Read a file."""

    def reason(self, regime: str) -> None:
        """Compute the closure."""

    def count(self) -> int:
        """The number of triples."""


class ReasonableSession:
    def __init__(self) -> None:
        import reasonable

        self.reasoner = reasonable.PyReasoner()
        self.triples: list[Any] = []

    def load(self, path: str) -> None:
        self.reasoner.load_file(path)

    def reason(self, regime: str) -> None:
        self.triples = self.reasoner.reason()

    def count(self) -> int:
        return len(self.triples)


class OwlrlSession:
    def __init__(self) -> None:
        import rdflib

        self.triples = rdflib.Graph()

    def load(self, path: str) -> None:
        self.triples.parse(path, format="nt")

    def reason(self, regime: str) -> None:
        import owlrl

        owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(self.triples)

    def count(self) -> int:
        return len(self.triples)


class TaskSession:
    """The steps of a task, done by one of the sessions above."""

    def __init__(self, session: Any, folder: Path) -> None:
        self.session, self.folder = session, folder

    def parse(self) -> None:
        self.session.load(str(self.folder / "ontology.ttl"))

    def load(self) -> None:
        self.session.load(str(self.folder / "data.ttl"))

    def reason(self) -> None:
        self.session.reason("owl-rl")

    def inside(self) -> Mapping[str, float]:
        return {}

    def count(self) -> int:
        return int(self.session.count())

    def contents(self) -> set[tuple[Any, ...]]:
        return {tuple(map(str, triple)) for triple in self.session.triples}


@dataclass(frozen=True)
class OwlPeer:
    """An adapter; `largest` is the number of statements beyond which the peer takes minutes."""

    name: str
    packages: tuple[str, ...]
    session: Callable[[], OntologySession]
    largest: int | None = None
    rdf: bool = True

    @property
    def modules(self) -> tuple[str, ...]:
        return self.packages

    def refuses(self, task: Task) -> str | None:
        if not task.rdf:
            return NOT_RDF
        if self.largest is not None and task.facts > self.largest:
            return f"takes minutes above {self.largest:,} statements"
        return None

    def start(self) -> None:
        self.session()
        if self.name == "owlrl":
            import owlrl

            assert owlrl.OWLRL_Semantics

    def open(self, task: Task) -> TaskSession:
        return TaskSession(self.session(), task.folder)


REASONABLE = OwlPeer("reasonable", ("reasonable",), ReasonableSession)
OWLRL = OwlPeer("owlrl", ("owlrl", "rdflib"), OwlrlSession, largest=20_000)
