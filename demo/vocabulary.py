"""Shared names of the demo, and short ways to write quads."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad

T = TypeVar("T")

BASE = "https://transit.example/"
PREFIXES = {
    "": BASE + "ontology#",
    "area": BASE + "area/",
    "stop": BASE + "stop/",
    "line": BASE + "line/",
    "graph": BASE + "graph/",
    "vehicle": BASE + "vehicle/",
    "thesaurus": BASE + "thesaurus/",
    "register": BASE + "register/",
    "owl": "http://www.w3.org/2002/07/owl#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}

Term = NamedNode | BlankNode | Literal


def name(short: str) -> NamedNode:
    """The node of a prefixed name, such as `stop:12` or `:Stop`."""
    prefix, _, local = short.partition(":")
    return NamedNode(PREFIXES[prefix] + local)


def shorten(term: object) -> str:
    """A readable term: prefixed names, literals without the datatype's IRI."""
    if isinstance(term, NamedNode):
        for prefix, start in PREFIXES.items():
            local = term.value.removeprefix(start)
            if local != term.value and "/" not in local:
                return f"{prefix}:{local}"
        return f"<{term.value}>"
    if isinstance(term, Literal):
        if term.language:
            return f'"{term.value}"@{term.language}'
        if term.datatype != name("xsd:string"):
            return term.value
        return f'"{term.value}"'
    return "default graph" if isinstance(term, DefaultGraph) else str(term)


def typed(value: object, datatype: str) -> Literal:
    """A literal of an XSD datatype, such as `typed("2021-03-04", "date")`."""
    return Literal(str(value), datatype=name(f"xsd:{datatype}"))


class Writer:
    """Collects the quads of one file, graph by graph."""

    def __init__(self) -> None:
        self.quads: list[Quad] = []
        self.graph: NamedNode | DefaultGraph = DefaultGraph()

    def say(self, subject: NamedNode | BlankNode, **statements: Term | Sequence[Term]) -> None:
        """Assert properties of this project's ontology, or `a=` for the type."""
        for key, value in statements.items():
            predicate = name("rdf:type") if key == "a" else name(f":{key}")
            self.state(subject, predicate, value)

    def state(
        self, subject: NamedNode | BlankNode, predicate: NamedNode, value: Term | Sequence[Term]
    ) -> None:
        for each in value if isinstance(value, Sequence) else (value,):
            self.quads.append(Quad(subject, predicate, each, self.graph))

    def label(self, subject: NamedNode, by_language: dict[str, str]) -> None:
        """Add labels, one for each language."""
        for language, text in by_language.items():
            self.state(subject, name("rdfs:label"), Literal(text, language=language))


class Chance:
    """Random choices that are equal on every machine and in every version of Python."""

    def __init__(self, seed: str) -> None:
        self._roll = random.Random(seed).random

    def number(self, low: int, high: int) -> int:
        """A number from low to high, both included."""
        return low + int(self._roll() * (high - low + 1))

    def one_of(self, choices: Sequence[T]) -> T:
        return choices[int(self._roll() * len(choices))]

    def some_of(self, choices: Sequence[T], count: int) -> list[T]:
        """`count` different items, in random order."""
        left = list(choices)
        return [left.pop(int(self._roll() * len(left))) for _ in range(min(count, len(left)))]

    def happens(self, share: float) -> bool:
        return self._roll() < share
