"""What the tests of readers share: Turtle in, axioms and bare axioms out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyoxigraph import NamedNode, RdfFormat, parse

from triplestore.ontologies.model.axioms import Axiom
from triplestore.ontologies.model.expressions import Expression, Triple
from triplestore.ontologies.model.ontology import Ontology
from triplestore.ontologies.read import read_ontology
from triplestore.terms import vocabulary as iri

PREFIXES = {
    "": "http://example.org/",
    "rdf": iri.RDF,
    "rdfs": iri.RDFS,
    "owl": iri.OWL,
    "xsd": iri.XSD,
    "swrl": "http://www.w3.org/2003/11/swrl#",
    "swrlb": "http://www.w3.org/2003/11/swrlb#",
}
HEADER = "".join(f"@prefix {prefix}: <{name}> .\n" for prefix, name in PREFIXES.items())


def n(name: str) -> NamedNode:
    """A name of the examples, or `prefix:name`."""
    prefix, _, local = name.rpartition(":")
    return NamedNode(PREFIXES[prefix] + local)


def triples(turtle: str) -> list[Triple]:
    """The triples of Turtle with the usual prefixes."""
    quads = parse(HEADER + turtle, format=RdfFormat.TURTLE)
    return [(quad.subject, quad.predicate, quad.object) for quad in quads]


def read(turtle: str) -> Ontology:
    """The ontology of Turtle with the usual prefixes."""
    return read_ontology(triples(turtle))


def bare(thing: Any) -> Any:
    """An axiom or expression without the nodes and triples it was read from."""
    if isinstance(thing, tuple):
        return tuple(map(bare, thing))
    if not isinstance(thing, Expression | Axiom):
        return thing
    said = {name: bare(getattr(thing, name)) for name in type(thing).__match_args__}
    if isinstance(thing, Expression):
        return replace(thing, node=None, own=(), **said)
    return replace(thing, own=(), annotations=(), **said)


def bare_axioms(ontology: Ontology) -> list[Any]:
    """The axioms of an ontology without where they were read from."""
    return [bare(axiom) for axiom in ontology.axioms]


def codes(ontology: Ontology) -> list[str]:
    """The codes of an ontology's problems, in order of the alphabet."""
    return sorted(problem.code for problem in ontology.problems)
