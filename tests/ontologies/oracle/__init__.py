"""What ontologies mean, in plain Python: the judge of `triplestore.ontologies`.

`close(facts)` is the closure under all OWL 2 RL/RDF rules over generalised triples (a literal may
stand anywhere), with literals matched by value; `closure.visible()` is what a store lists of it.

    >>> from tests.ontologies.oracle import close, turtle
    >>> closure = close(turtle("ex:C rdfs:subClassOf ex:D . ex:a a ex:C ."))
    >>> [str(fact[2]) for fact in closure.visible() - set(closure.explicit)]
    ['<http://example.org/D>']
"""

from __future__ import annotations

from pyoxigraph import RdfFormat, parse

from .closing import OWL_RL, Closure, RuleSet
from .graph import Graph
from .owl_rl import RULE_IDS, Violation
from .rdfs import rdfs
from .skos import SKOS
from .vocabulary import TURTLE_PREFIXES, Fact, Term, term, triple, triples

__all__ = [
    "OWL_RL",
    "RULE_IDS",
    "SKOS",
    "Closure",
    "Fact",
    "Graph",
    "RuleSet",
    "Term",
    "Violation",
    "close",
    "rdfs",
    "term",
    "triple",
    "triples",
    "turtle",
]

close = Closure


def turtle(text: str) -> list[Fact]:
    """The triples of a Turtle text, with the usual prefixes; blank nodes keep their labels."""
    quads = parse(TURTLE_PREFIXES + text, format=RdfFormat.TURTLE)
    return [(quad.subject, quad.predicate, quad.object) for quad in quads]
