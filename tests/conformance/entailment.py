"""Whether a graph entails another: blank nodes of the other are mapped to whatever there is."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyoxigraph as ox

from tests.ontologies.oracle import Fact, Graph, Term, term
from tests.ontologies.oracle.patterns import Atom, ordered, solutions

ONTOLOGY = term("owl:Ontology")
TYPE = term("rdf:type")
FORMATS = {
    ".nt": ox.RdfFormat.N_TRIPLES,
    ".ttl": ox.RdfFormat.TURTLE,
    ".rdf": ox.RdfFormat.RDF_XML,
    ".owl": ox.RdfFormat.RDF_XML,
}


def read_facts(path: Path, base: str = "http://example.org/tests/") -> list[Fact]:
    """The triples of a file."""
    quads = ox.parse(path=str(path), format=FORMATS[path.suffix], base_iri=base)
    return [(quad.subject, quad.predicate, quad.object) for quad in quads]


def entails(graph: Graph, conclusion: Iterable[Fact]) -> bool:
    """True if the graph has the conclusion, its blank nodes standing for anything."""
    atoms = tuple(_atom(fact) for fact in conclusion)
    return next(solutions(graph, ordered(atoms), {}), None) is not None


def missing(graph: Graph, conclusion: Iterable[Fact]) -> list[Fact]:
    """The triples of a conclusion that are not in the graph, each tested alone."""
    return [fact for fact in conclusion if not entails(graph, [fact])]


def without_header(facts: list[Fact]) -> list[Fact]:
    """The facts without what they say about the document itself."""
    headers = {fact[0] for fact in facts if fact[1] == TYPE and fact[2] == ONTOLOGY}
    return [fact for fact in facts if fact[0] not in headers]


def _atom(fact: Fact) -> Atom:
    s, p, o = (_variable(one) for one in fact)
    return (s, p, o)


def _variable(one: Term) -> Term | str:
    return f"?{one.value}" if isinstance(one, ox.BlankNode) else one
