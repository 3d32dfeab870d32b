"""Lower and upper bounds of ontologies: what follows from which."""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode, RdfFormat, parse

from triplestore import Store
from triplestore.ontologies.bounds import lower_bound, upper_bound
from triplestore.ontologies.read import read_ontology

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
    "nested on the right": (
        """:A rdfs:subClassOf [ owl:intersectionOf (:B [ owl:unionOf
        (:C [ owl:onProperty :p ; owl:someValuesFrom :D ]) ]) ] .""",
        ":a a :A .",
        (False, True),
    ),
    "defined as a union": (
        ":D owl:equivalentClass [ owl:unionOf (:B :C) ] .",
        ":a a :D .",
        (False, True),
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


# What not even the upper bound has: a class of which :a is no member in it.
NOT_ABOVE = {
    "a union on the left": (
        "[ owl:unionOf (:A :C) ] rdfs:subClassOf :D .",
        ":a a :A .",
    ),
    "a union on the right, of one of its members": (
        ":B rdfs:subClassOf [ owl:unionOf (:A :C) ] .",
        ":a a :A .",
    ),
    "all values on the left": (
        "[ owl:onProperty :p ; owl:allValuesFrom :C ] rdfs:subClassOf :D .",
        ":b :p :a .",
    ),
    "an enumeration on the left": (
        "[ owl:oneOf (:d :e) ] rdfs:subClassOf :D .",
        ":a a :A . :d a :C .",
    ),
}


@pytest.mark.parametrize("name", NOT_ABOVE)
def test_upper_bound__does_not_turn_around_what_an_expression_says(name: str) -> None:
    axioms, data = NOT_ABOVE[name]
    bound = upper_bound(read_ontology(parse(PREFIXES + axioms, format=RdfFormat.TURTLE)))
    store = Store()
    store.load(PREFIXES + data, "turtle")
    store.reason(rules=bound.program)
    assert not store.query("ASK { :a a :C }")


def test_upper_bound__of_complements_is_consistent() -> None:
    axioms = (
        ":A rdfs:subClassOf [ owl:complementOf :C ] . [ owl:complementOf :D ] rdfs:subClassOf :E ."
    )
    bound = upper_bound(read_ontology(parse(PREFIXES + axioms, format=RdfFormat.TURTLE)))
    store = Store()
    store.load(PREFIXES + ":a a :D . :b a :A , :C .", "turtle")
    store.reason(rules=bound.program)
    assert store.query("ASK { :a a :E }")
    (violation,) = store.violations()
    assert violation.constraint == "cls-com"


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
