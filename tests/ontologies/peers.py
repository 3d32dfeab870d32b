"""Other reasoners for OWL 2 RL, asked for the closure of some facts: owlrl and reasonable."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from tests.ontologies.oracle import Fact, Term


def closed_by_owlrl(facts: Iterable[Fact]) -> set[Fact]:
    import owlrl
    import rdflib

    graph = rdflib.Graph()
    for fact in facts:
        graph.add(tuple(map(_to_rdflib, fact)))
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
    return {_fact(found) for found in graph}


def closed_by_reasonable(facts: Iterable[Fact]) -> set[Fact]:
    import reasonable

    reasoner = reasonable.PyReasoner()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "facts.ttl"
        path.write_text("".join(f"{s} {p} {o} .\n" for s, p, o in facts), encoding="utf-8")
        reasoner.load_file(str(path))
    return {_fact(found) for found in reasoner.reason()}


def _fact(found: tuple[Any, Any, Any]) -> Fact:
    s, p, o = map(_from_rdflib, found)
    return (s, p, o)


def _to_rdflib(one: Term) -> Any:
    import rdflib

    if isinstance(one, ox.NamedNode):
        return rdflib.URIRef(one.value)
    if isinstance(one, ox.BlankNode):
        return rdflib.BNode(one.value)
    if one.language is not None:
        return rdflib.Literal(one.value, lang=one.language)
    return rdflib.Literal(one.value, datatype=rdflib.URIRef(one.datatype.value), normalize=False)


def _from_rdflib(one: Any) -> Term:
    import rdflib

    if isinstance(one, rdflib.URIRef):
        return ox.NamedNode(str(one))
    if isinstance(one, rdflib.BNode):
        return ox.BlankNode(str(one))
    if one.language:
        return ox.Literal(str(one), language=one.language)
    if one.datatype is None:
        return ox.Literal(str(one))
    return ox.Literal(str(one), datatype=ox.NamedNode(str(one.datatype)))
