"""Random ontologies of OWL 2 EL, and axioms as triples."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from tests.ontologies.el.oracle import BOTTOM, TOP, Axiom, Class
from triplestore.terms.vocabulary import OWL, RDF, RDFS, XSD

E = "http://e/"


def name(text: str) -> NamedNode:
    """A name of the namespace of the tests."""
    return NamedNode(E + text)


def owl(text: str) -> NamedNode:
    """A word of OWL."""
    return NamedNode(OWL + text)


_TYPE, _FIRST, _REST, _NIL = (NamedNode(RDF + one) for one in ("type", "first", "rest", "nil"))
_SUB, _SUB_ROLE, _DOMAIN, _RANGE = (
    NamedNode(RDFS + one) for one in ("subClassOf", "subPropertyOf", "domain", "range")
)
_WORDS = {"sub": _SUB, "eq": owl("equivalentClass"), "disjoint": owl("disjointWith")}
_KINDS = {"transitive": owl("TransitiveProperty"), "reflexive": owl("ReflexiveProperty")}


class RandomEL:
    """Makes axioms of few names, so that much follows."""

    def __init__(self, seed: int, individuals: bool = True) -> None:
        self.random = random.Random(seed)
        self.classes = list("ABCDEFG")[: self.random.randint(3, 7)]
        self.roles = list("rst")[: self.random.randint(1, 3)]
        self.individuals = list("ab") if individuals and self.random.random() < 0.5 else []

    def ontology(self) -> list[Axiom]:
        """Different axioms, in a random order."""
        wanted = self.random.randint(4, 16)
        return list(dict.fromkeys(self.axiom() for _ in range(wanted)))

    def expression(self, depth: int = 2) -> Class:
        """A random class expression."""
        pick = self.random.random()
        if depth == 0 or pick < 0.45:
            return self.random.choice(self.classes)
        if pick < 0.62:
            one, other = self.expression(depth - 1), self.expression(depth - 1)
            return one if one == other else ("and", one, other)
        if pick < 0.9:
            return ("some", self.random.choice(self.roles), self.expression(depth - 1))
        if pick < 0.93:
            return ("self", self.random.choice(self.roles))
        if pick < 0.96 and self.individuals:
            role, one = self.random.choice(self.roles), self.random.choice(self.individuals)
            return ("some", role, ("one", one))
        return self.random.choice([TOP, BOTTOM, *self.classes])

    def axiom(self) -> Axiom:
        """A random axiom."""
        kinds = ["sub"] * 12 + ["eq"] * 4 + ["disjoint", "role", "role", "chain", "transitive"]
        kinds += ["reflexive", "domain", "range"]
        if self.individuals:
            kinds += ["type", "type", "fact", "fact"]
        kind, role = self.random.choice(kinds), self.random.choice
        if kind in _WORDS:
            return (kind, self.expression(), self.expression())
        if kind == "role":
            return (kind, role(self.roles), role(self.roles))
        if kind == "chain":
            links = tuple(role(self.roles) for _ in range(self.random.randint(2, 4)))
            return (kind, links, role(self.roles))
        if kind in _KINDS:
            return (kind, role(self.roles))
        if kind in ("domain", "range"):
            return (kind, role(self.roles), self.expression(1))
        if kind == "type":
            return (kind, role(self.individuals), self.expression())
        return (kind, role(self.roles), role(self.individuals), role(self.individuals))


class Writer:
    """Axioms as triples, with blank nodes of their own."""

    def __init__(self, label: str = "n") -> None:
        self._numbers = count()
        self._label = label

    def triples(self, axiom: Axiom) -> list[Triple]:
        """The triples of an axiom."""
        return list(self._axiom(axiom))

    def _node(self) -> BlankNode:
        return BlankNode(f"{self._label}{next(self._numbers)}")

    def _axiom(self, axiom: Axiom) -> Iterator[Triple]:
        match axiom:
            case (("sub" | "eq" | "disjoint") as kind, left, right):
                found: list[Triple] = []
                yield Triple(self._class(left, found), _WORDS[kind], self._class(right, found))
                yield from found
            case ("role", sub, sup):
                yield Triple(name(sub), _SUB_ROLE, name(sup))
            case ("chain", links, role):
                found = []
                head = self._list([name(link) for link in links], found)
                yield Triple(name(role), owl("propertyChainAxiom"), head)
                yield from found
            case (("transitive" | "reflexive") as kind, role):
                yield Triple(name(role), _TYPE, _KINDS[kind])
            case (("domain" | "range") as kind, role, class_):
                found = []
                word = _DOMAIN if kind == "domain" else _RANGE
                yield Triple(name(role), word, self._class(class_, found))
                yield from found
            case ("type", individual, class_):
                found = []
                yield Triple(name(individual), _TYPE, self._class(class_, found))
                yield from found
            case ("fact", role, one, other):
                yield Triple(name(one), name(role), name(other))

    def _class(self, expression: Class, found: list[Triple]) -> NamedNode | BlankNode:
        if isinstance(expression, str):
            return name(expression)
        if expression in (TOP, BOTTOM):
            return owl("Thing" if expression == TOP else "Nothing")
        node = self._node()
        match expression:
            case ("and", *operands):
                cells = [self._class(one, found) for one in operands]
                found.append(Triple(node, owl("intersectionOf"), self._list(cells, found)))
            case ("some", role, ("one", individual)):
                found.append(Triple(node, owl("onProperty"), name(role)))
                found.append(Triple(node, owl("hasValue"), name(individual)))
            case ("some", role, filler):
                found.append(Triple(node, owl("onProperty"), name(role)))
                found.append(Triple(node, owl("someValuesFrom"), self._class(filler, found)))
            case ("self", role):
                true = Literal("true", datatype=NamedNode(XSD + "boolean"))
                found.append(Triple(node, owl("onProperty"), name(role)))
                found.append(Triple(node, owl("hasSelf"), true))
            case ("one", individual):
                found.append(Triple(node, owl("oneOf"), self._list([name(individual)], found)))
        return node

    def _list(self, items: list[NamedNode | BlankNode], found: list[Triple]) -> BlankNode:
        cells = [self._node() for _ in items]
        for cell, item, rest in zip(cells, items, [*cells[1:], _NIL], strict=True):
            found += [Triple(cell, _FIRST, item), Triple(cell, _REST, rest)]
        return cells[0]
