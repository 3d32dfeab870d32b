"""Names in the namespaces of RDF, RDFS and OWL that do not exist: mostly typing errors.

Start at `report_unknown`.
"""

from __future__ import annotations

from difflib import get_close_matches

from pyoxigraph import NamedNode

from triplestore.ontologies.model.schema_graph import SchemaGraph
from triplestore.terms import Term, vocabulary
from triplestore.terms.vocabulary import OWL, RDF, RDFS

from .problems import Problems, show

NAMESPACES = (RDF, RDFS, OWL)
KNOWN = {
    name: name[len(namespace) :]
    for name in vars(vocabulary).values()
    if isinstance(name, str)
    for namespace in NAMESPACES
    if name.startswith(namespace) and name != namespace
}
KNOWN |= {RDF + name: name for name in ("langRange", "CompoundLiteral")}
SHOWN = 3
"""Maximum number of triples given as examples."""


def report_unknown(graph: SchemaGraph, problems: Problems) -> None:
    """Report predicates and classes that look like the vocabulary's and are not in it."""
    for predicate in graph.predicates():
        if _is_unknown(predicate):
            _report(predicate, graph, problems, "predicate")
    for cls in graph.classes():
        if _is_unknown(cls):
            _report(cls, graph, problems, "class")


def _is_unknown(term: Term) -> bool:
    if not isinstance(term, NamedNode) or not term.value.startswith(NAMESPACES):
        return False
    return term.value not in KNOWN and not term.value.startswith(RDF + "_")


def _report(term: Term, graph: SchemaGraph, problems: Problems, what: str) -> None:
    triples = tuple((graph.having(term) if what == "predicate" else graph.typed(term))[:SHOWN])
    assert isinstance(term, NamedNode)
    local = term.value.rpartition("#")[2]
    by_local = {known.lower(): name for name, known in KNOWN.items()}
    close = get_close_matches(local.lower(), by_local, n=1, cutoff=0.75)
    meant = f"did you mean {show(NamedNode(by_local[close[0]]))}? " if close else ""
    message = f"{show(term)} is used as a {what}, and does not exist"
    problems.report("unknown-name", message, triples, f"{meant}it was taken as an ordinary name")
