"""Lower and upper bounds of ontologies: what follows from which."""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode, RdfFormat, parse
from triplestore.ontologies.bounds import lower_bound, upper_bound
from triplestore.ontologies.read import read_ontology

from triplestore import Store

PREFIXES = """@prefix : <http://ex.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix rdf:
<http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")

# An ontology, data, and the class of which :a is a member in the lower bound, and in the upper one.
CASES = {
    "some on the left": (
        "[ owl:onProperty :p ; owl:someValuesFrom :B ] rdfs:subClassOf :C .",
        ":a :p :b . :b a :B .",
        (True, True),
    ),
    "some on the right": (
        """:A rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom :B ] .
        [ owl:onProperty :p ; owl:someValuesFrom :B ] rdfs:subClassOf :C .""",
        ":a a :A .",
        (False, True),
    ),
    "union on the right": (
        ":A rdfs:subClassOf [ owl:unionOf (:C :D) ] .",
        ":a a :A .",
        (False, True),
    ),
    "union on the left": (
        "[ owl:unionOf (:A :D) ] rdfs:subClassOf :C .",
        ":a a :A .",
        (True, True),
    ),
    "all on the left": (
        "[ owl:onProperty :p ; owl:allValuesFrom :B ] rdfs:subClassOf :C .",
        ":a :p :b . :b a :B .",
        (False, True),
    ),
    "self": (
        "[ owl:onProperty :p ; owl:hasSelf true ] rdfs:subClassOf :C .",
        ":a :p :a .",
        (True, True),
    ),
    "a named class with two definitions": (
        ":C owl:unionOf (:D) ; owl:hasSelf true ; owl:onProperty :p .",
        ":a :p :a .",
        (True, True),
    ),
    "one of on the right": (
        ":A rdfs:subClassOf [ owl:oneOf (:d) ] . ",
        ":a a :A . :d a :C .",
        (False, True),
    ),
    "equal by a functional property": (
        ":p a owl:FunctionalProperty .",
        ":b :p :a , :d . :d a :C .",
        (True, True),
    ),
    "disjoint union": (":C owl:disjointUnionOf (:A :B) .", ":a a :A .", (True, True)),
    "nothing": (":A rdfs:subClassOf :B .", ":a a :D .", (False, False)),
    "minimum": (
        """:A rdfs:subClassOf [ owl:onProperty :p ; owl:minCardinality 2 ] .
        [ owl:onProperty :p ; owl:minCardinality 1 ] rdfs:subClassOf :C .""",
        ":a a :A .",
        (False, True),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_bounds__are_below_and_above(name: str) -> None:
    axioms, data, expected = CASES[name]
    ontology = read_ontology(parse(PREFIXES + axioms, format=RdfFormat.TURTLE))
    found = []
    for bound in (lower_bound(ontology), upper_bound(ontology)):
        store = Store()
        store.load(PREFIXES + data, "turtle")
        store.reason(rules=bound.program)
        members = store.quads_for_pattern(None, TYPE, NamedNode("http://ex.org/C"))
        found.append(NamedNode("http://ex.org/a") in [quad.subject for quad in members])
    assert tuple(found) == expected


def test_bounds__are_marked_and_list_what_they_leave_out() -> None:
    axioms = ":A rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom :B ] ."
    ontology = read_ontology(parse(PREFIXES + axioms, format=RdfFormat.TURTLE))
    lower, upper = lower_bound(ontology), upper_bound(ontology)
    assert (lower.upper, upper.upper) == (False, True)
    assert [type(one.axiom).__name__ for one in lower.outside] == ["SubClassOf"]
    assert "someValuesFrom" in upper.outside[0].reason
