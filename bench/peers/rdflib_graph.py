"""rdflib: a graph of Python objects in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.peers.base import Lookup


def term(value: Any) -> Any:
    """The rdflib term that is written as this pyoxigraph term is; None stays None."""
    from rdflib.util import from_n3

    return None if value is None else from_n3(str(value))


class RdflibHandle:
    def __init__(self) -> None:
        import rdflib

        self.graph = rdflib.Graph()

    def load(self, path: Path, format: str) -> None:
        self.graph.parse(path, format={"ntriples": "nt", "turtle": "turtle"}[format])

    def count(self) -> int:
        return len(self.graph)

    def add(self, subject: Any, predicate: Any, object: Any) -> None:
        self.graph.add((term(subject), term(predicate), term(object)))

    def look_up(self, pattern: Lookup) -> int:
        subject, predicate, value = pattern
        return sum(1 for _ in self.graph.triples((term(subject), term(predicate), term(value))))

    def close(self) -> None:
        self.graph.close()


class RdflibGraph:
    name = "rdflib"
    packages = ("rdflib",)
    durable = False
    largest = 500_000

    def open(self, folder: Path | None, durability: str = "commit") -> RdflibHandle:
        return RdflibHandle()

    def warm_up(self) -> None:
        pass
