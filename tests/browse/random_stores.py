"""Small random stores, and what is in them by plain loops over quads."""

from __future__ import annotations

import random
from collections.abc import Iterable

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad

from triplestore import Store

EX = "http://ex.org/"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"

TYPE, LABEL = NamedNode(RDF + "type"), NamedNode(RDFS + "label")
SUB_CLASS, SUB_PROPERTY = NamedNode(RDFS + "subClassOf"), NamedNode(RDFS + "subPropertyOf")
EQUIVALENT = NamedNode(OWL + "equivalentClass")
SAME = NamedNode(OWL + "sameAs")


def ex(name: object) -> NamedNode:
    return NamedNode(f"{EX}{name}")


def random_store(
    seed: int, *regimes: str, commits: int = 3, graphs: bool = True, equality: str | None = None
) -> Store:
    """Classes, properties, labels and facts, some in named graphs, over several commits."""
    pick = random.Random(seed)
    store = Store()
    store.bind("", EX)
    for _ in range(commits):
        store.extend(random_quads(pick, graphs))
        present = [quad for quad in store if quad in store and pick.random() < 0.1]
        store.remove_all(present)
    if regimes:
        store.reason(*regimes, equality=equality)
    return store


def random_quads(pick: random.Random, graphs: bool = True) -> list[Quad]:
    found = []
    classes = [ex(f"C{i}") for i in range(7)] + [BlankNode("x"), NamedNode(OWL + "Thing")]
    properties = [ex(f"p{i}") for i in range(4)]
    things = [ex(f"i{i}") for i in range(8)] + [BlankNode("y")]
    for _ in range(12):
        s, p, o = pick.choice(
            [
                (pick.choice(classes[:-1]), SUB_CLASS, pick.choice(classes)),
                (pick.choice(classes[:7]), SUB_CLASS, pick.choice(classes)),
                (pick.choice(classes[:7]), EQUIVALENT, pick.choice(classes[:7])),
                (pick.choice(properties), SUB_PROPERTY, pick.choice(properties)),
                (pick.choice(things), TYPE, pick.choice(classes[:7])),
                (pick.choice(things), SAME, pick.choice(things)),
                (pick.choice(things), pick.choice(properties), pick.choice(things)),
                (pick.choice(things), pick.choice(properties), Literal(pick.randint(0, 3))),
                (pick.choice(things), LABEL, Literal(f"thing {pick.randint(0, 9)}", language="en")),
            ]
        )
        named = graphs and pick.random() < 0.2
        found.append(Quad(s, p, o, ex(f"g{pick.randint(0, 1)}") if named else DefaultGraph()))
    return found


def told(store: Store) -> set[Quad]:
    return set(store.quads_for_pattern(None, None, None, facts="explicit"))


def triples(quads: Iterable[Quad]) -> set[tuple]:
    return {(quad.subject, quad.predicate, quad.object) for quad in quads}


def inferred(store: Store) -> set[tuple]:
    """The triples that hold and that no graph asserts."""
    return triples(store) - triples(told(store))


def value(term: dict) -> str:
    return str(term["value"])
