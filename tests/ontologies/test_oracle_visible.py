"""What of a closure a store lists, how lists are read, and which literals are one value."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal

from tests.ontologies.oracle import Graph, close, rdfs, term, triples, turtle
from tests.ontologies.oracle.values import belongs, identity


def inferred(text: str) -> set[tuple[object, ...]]:
    closure = close(turtle(text))
    return closure.visible() - set(closure.explicit)


def test_visible__has_what_is_stated_and_what_is_new() -> None:
    closure = close(turtle("ex:C rdfs:subClassOf ex:D , owl:Thing . ex:a a ex:C , owl:Thing ."))
    assert closure.visible() == {*closure.explicit, *triples("ex:a a ex:D")}


@pytest.mark.parametrize(
    "text",
    [
        "ex:a ex:p ex:b .",  # sameAs of each with itself
        "ex:C a owl:Class .",  # reflexive, below owl:Thing, above owl:Nothing
        "ex:p a owl:ObjectProperty .",
        "[] owl:onProperty ex:p ; owl:someValuesFrom owl:Thing . ex:a ex:p ex:b .",
        'ex:a ex:p "x" . ex:p rdfs:range xsd:string .',  # literals as subjects
        "ex:a ex:p 1 , 01 , 1.0 .",  # variants of a value
        "ex:p rdfs:label 'p' .",  # axiomatic
    ],
)
def test_visible__leaves_out_what_is_trivial(text: str) -> None:
    assert {fact for fact in inferred(text) if fact[2] != term("rdfs:Datatype")} == set()


def test_visible__has_members_of_named_classes_and_subclasses_of_anonymous_ones() -> None:
    text = """ex:C rdfs:subClassOf _:u . _:u owl:unionOf ( ex:D ) ; rdfs:subClassOf ex:E .
        ex:a a ex:C ."""
    assert inferred(text) == set(
        triples("""ex:a a ex:E . ex:C rdfs:subClassOf ex:E . ex:D rdfs:subClassOf _:u .
            ex:D rdfs:subClassOf ex:E""")
    )


def test_visible__has_no_resources_under_rdfs() -> None:
    facts = turtle("ex:a ex:p ex:b .")
    closure = close(facts, rdfs(facts))
    assert closure.visible() - set(facts) == set(triples("ex:p a rdf:Property"))


def test_lists__are_read_in_all_ways() -> None:
    graph = Graph(
        triples("""ex:l rdf:first ex:a . ex:l rdf:first ex:b . ex:l rdf:rest ex:m .
            ex:m rdf:first ex:c . ex:m rdf:rest rdf:nil . ex:m rdf:rest ex:l""")
    )
    a, b, c = (term(f"ex:{name}") for name in "abc")
    assert set(graph.lists(term("ex:l"))) == {(a, c), (b, c)}
    assert list(graph.lists(term("ex:c"))) == []
    assert list(graph.lists(term("rdf:nil"))) == [()]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("1", "'01'^^xsd:int", True),
        ("1", "1.0", True),
        ("1", "1e0", False),
        ("'1'^^xsd:float", "'1'^^xsd:double", False),
        ("'a'", "'a'^^xsd:token", True),
        ("'a'@en", "'a'@EN", True),
        ("'a'@en", "'a'", False),
        ("'0'^^xsd:double", "'-0'^^xsd:double", False),
        ("'x'^^xsd:int", "'x'^^xsd:integer", False),
    ],
)
def test_identity__is_that_of_values(one: str, other: str, same: bool) -> None:
    assert (identity(term(one)) == identity(term(other))) == same


@pytest.mark.parametrize(
    ("literal", "datatype", "expected"),
    [
        ("1", "xsd:byte", True),
        ("1.0", "xsd:integer", True),
        ("1.5", "xsd:integer", False),
        ("-1", "xsd:nonNegativeInteger", False),
        ("1", "xsd:double", False),
        ("1e0", "xsd:double", True),
        ("'a b'", "xsd:token", True),
        ("'a  b'", "xsd:token", False),
        ("'a b'", "xsd:NCName", False),
        ("'a'@en", "xsd:string", False),
        ("'a'@en", "rdf:PlainLiteral", True),
        ("'a'", "xsd:anyURI", False),
        ("'2001-01-01T00:00:00Z'^^xsd:dateTime", "xsd:dateTimeStamp", True),
        ("'2001-01-01T00:00:00'^^xsd:dateTime", "xsd:dateTimeStamp", False),
        ("'2001-01-01'^^xsd:date", "xsd:dateTime", False),
        ("'ff'^^xsd:hexBinary", "xsd:base64Binary", False),
        ("true", "xsd:boolean", True),
        ("true", "xsd:string", False),
        ("'x'^^xsd:int", "rdfs:Literal", False),
        ("'x'^^ex:d", "xsd:string", None),
        ("'x'^^ex:d", "rdfs:Literal", True),
        ("'x'", "ex:d", None),
    ],
)
def test_belongs__by_value(literal: str, datatype: str, expected: bool | None) -> None:
    one = term(literal)
    assert isinstance(one, Literal)
    assert belongs(one, term(datatype)) is expected


def test_visible__has_facts_with_literals_in_the_forms_that_led_to_them() -> None:
    text = "ex:a ex:p 1 . ex:b ex:p 1.0 . ex:p rdfs:subPropertyOf ex:q ."
    assert inferred(text) == set(triples("ex:a ex:q 1 . ex:b ex:q 1.0"))
