"""A generated ontology in the shape of SNOMED CT: deep hierarchies, definitions with role groups.

Start at `snomed_like`. A part of the classes has a definition by a genus and one to three
restrictions, in a role group; the others have such restrictions as necessary conditions. Sites form
a part-of hierarchy with a transitive role, and one role goes along it, as in a right identity.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

E = "http://example.org/s/"
OWL = "http://www.w3.org/2002/07/owl#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
ROLES = 40


def snomed_like(classes: int, path: Path, seed: int = 7) -> Path:
    """Write an ontology with this many classes as N-Triples, unless the file is there."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        with part.open("w") as file:
            file.writelines(_Writer(classes, seed).lines())
        part.rename(path)
    return path


class _Writer:
    def __init__(self, classes: int, seed: int) -> None:
        self._random = random.Random(seed)
        self._count = classes
        self._sites = max(20, classes // 5)
        self._values = max(20, classes // 5)
        self._node = 0

    def lines(self) -> Iterator[str]:
        yield _triple(f"{E}partOf", f"{RDF}type", f"{OWL}TransitiveProperty")
        chain, rest = self._blank(), self._blank()
        yield f"<{E}r0> <{OWL}propertyChainAxiom> {chain} .\n"
        yield f"{chain} <{RDF}first> <{E}r0> .\n{chain} <{RDF}rest> {rest} .\n"
        yield f"{rest} <{RDF}first> <{E}partOf> .\n{rest} <{RDF}rest> <{RDF}nil> .\n"
        for role in range(1, ROLES):
            if role > 1:  # r0, which goes along partOf, has no others below
                yield _triple(f"{E}r{role}", f"{RDFS}subPropertyOf", f"{E}r{1 + role // 8}")
        for number in range(self._count):
            name = f"{E}c{number}"
            yield _triple(name, f"{RDF}type", f"{OWL}Class")
            yield from self._axioms(number, name)

    def _axioms(self, number: int, name: str) -> Iterator[str]:
        if number < self._sites:
            if number:
                yield _triple(name, f"{RDFS}subClassOf", self._above(0, number))
            if number % 2:
                whole = f"{E}c{number // 3}"
                yield from self._restriction(name, f"{RDFS}subClassOf", "partOf", whole)
        elif number < self._sites + self._values:
            yield from self._parents(name, self._sites, number)
        else:
            low = self._sites + self._values
            if self._random.random() < 0.35 and number > low:
                yield from self._definition(name, self._above(low, number))
            else:
                yield from self._parents(name, low, number)
                if self._random.random() < 0.6:
                    node = self._blank()
                    yield f"<{name}> <{RDFS}subClassOf> {node} .\n"
                    yield from self._group(node)

    def _above(self, low: int, number: int) -> str:
        """A parent: mostly among those of a tenth of the number, so that depth is logarithmic."""
        span = number - low
        return f"{E}c{low + int(span * self._random.random() ** 2 * 0.9)}"

    def _parents(self, name: str, low: int, number: int) -> Iterator[str]:
        if number == low:
            return
        for _ in range(1 if self._random.random() < 0.8 else 2):
            yield _triple(name, f"{RDFS}subClassOf", self._above(low, number))

    def _definition(self, name: str, genus: str) -> Iterator[str]:
        both, first, second, group = (self._blank() for _ in range(4))
        yield f"<{name}> <{OWL}equivalentClass> {both} .\n"
        yield f"{both} <{OWL}intersectionOf> {first} .\n{first} <{RDF}first> <{genus}> .\n"
        yield f"{first} <{RDF}rest> {second} .\n{second} <{RDF}first> {group} .\n"
        yield f"{second} <{RDF}rest> <{RDF}nil> .\n"
        yield from self._group(group)

    def _group(self, node: str) -> Iterator[str]:
        """A role group: an existential of an intersection of existentials."""
        inner = self._blank()
        yield f"{node} <{OWL}onProperty> <{E}group> .\n{node} <{OWL}someValuesFrom> {inner} .\n"
        yield f"{node} <{RDF}type> <{OWL}Restriction> .\n"
        cells = [self._blank() for _ in range(self._random.randint(2, 3))]
        yield f"{inner} <{OWL}intersectionOf> {cells[0]} .\n"
        for cell, rest in zip(cells, [*cells[1:], f"<{RDF}nil>"], strict=True):
            some = self._blank()
            yield f"{cell} <{RDF}first> {some} .\n{cell} <{RDF}rest> {rest} .\n"
            yield from self._some(some, *self._value())

    def _value(self) -> tuple[str, str]:
        role = self._random.randrange(ROLES)
        if role < ROLES // 4:
            return f"r{role}", f"{E}c{int(self._sites * self._random.random() ** 2)}"
        offset = int(self._values * self._random.random() ** 2)
        return f"r{role}", f"{E}c{self._sites + offset}"

    def _restriction(self, name: str, word: str, role: str, filler: str) -> Iterator[str]:
        node = self._blank()
        yield f"<{name}> <{word}> {node} .\n"
        yield from self._some(node, role, filler)

    def _some(self, node: str, role: str, filler: str) -> Iterator[str]:
        yield f"{node} <{RDF}type> <{OWL}Restriction> .\n{node} <{OWL}onProperty> <{E}{role}> .\n"
        yield f"{node} <{OWL}someValuesFrom> <{filler}> .\n"

    def _blank(self) -> str:
        self._node += 1
        return f"_:n{self._node}"


def _triple(s: str, p: str, o: str) -> str:
    return f"<{s}> <{p}> <{o}> .\n"
