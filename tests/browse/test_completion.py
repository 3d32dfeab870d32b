"""Completion: what is offered where, and that any text has a place."""

from __future__ import annotations

import random

import pytest
from browse.random_stores import EX

from triplestore import Store
from triplestore.browse.query_page.completion import complete
from triplestore.browse.query_page.place_in_query import place_in_query

DATA = f"""@prefix : <{EX}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix other: <http://other.org/ns#> .
:Cat rdfs:subClassOf :Animal ; rdfs:label "house cat"@en , "Katze"@de .
:Car rdfs:label "motor car" .
:tom a :Cat ; :name "Tom" ; :likes :kit . :kit a :Cat ; :name "Kit" ; :likes :tom .
:herbie a :Car ; :doors 2 . :spot a :Animal . :a :likes :tom . other:thing other:links :Cat .
:tomato :name 1 , 2 , 3 , 4 , 5 , 6 , 7 , 8 , 9 , 10 , 11 , 12 .
<http://xmlns.com/foaf/0.1/Person> a rdfs:Class . :me a <http://xmlns.com/foaf/0.1/Person> .
"""


@pytest.fixture(scope="module")
def store() -> Store:
    made = Store()
    made.load(DATA, "ttl")
    made.reason("rdfs")
    return made


def offered(store: Store, text: str, *kinds: str) -> list[str]:
    """What is offered at the mark |."""
    offset = text.index("|") if "|" in text else len(text)
    items = complete(store, text.replace("|", ""), offset)["items"]
    return [item["insert"] for item in items if not kinds or item["kind"] in kinds]


def test_class__after_a(store):
    assert offered(store, "SELECT * { ?x a ")[:2] == [":Animal", ":Cat"]
    assert offered(store, "SELECT * { ?x a :Ca", "class") == [":Cat", ":Car"]
    assert offered(store, "SELECT * { ?x rdf:type Kat", "class") == [":Cat"], "by label"
    assert offered(store, "SELECT * { ?x a likes", "class") == []
    assert offered(store, "SELECT * { :Cat rdfs:subClassOf an", "class") == [":Animal"]


def test_property__where_one_stands(store):
    found = offered(store, "SELECT * { ?x ", "property")
    assert set(found[:3]) <= {"rdf:type", ":likes", ":name", "rdfs:label", "rdfs:subClassOf"}
    assert offered(store, "SELECT * { ?x :na", "property") == [":name"]
    found = offered(store, "SELECT * { ?x a :Car ; ", "property")
    assert set(found) == {"rdf:type", ":doors"}
    assert ":doors" not in offered(store, "SELECT * { ?x a :Cat ; ", "property")
    assert offered(store, "SELECT * { ?x a :Car . ?x do", "property") == [":doors"]
    assert offered(store, "SELECT * { ?x :likes/:na", "property") == [":name"]
    assert offered(store, "SELECT * { ?x ^:li", "property") == [":likes"]


def test_property__the_class_may_come_later(store):
    found = offered(store, "SELECT * { ?x | . ?x a :Car }", "property")
    assert set(found) == {"rdf:type", ":doors"}


def test_object__what_occurs_with_the_property_comes_first(store):
    assert offered(store, "SELECT * { ?x :likes ")[:2] == [":tom", ":kit"]
    assert offered(store, "SELECT * { ?x :likes :to", "individual") == [":tom", ":tomato"]
    assert offered(store, "SELECT * { ?x :p ?y . :to", "individual") == [":tomato", ":tom"]


def test_counts__are_members_and_triples(store):
    found = complete(store, "SELECT * { ?x a :Cat", 20)["items"]
    assert [(item["insert"], item["count"]) for item in found] == [(":Cat", 2)]
    (only,) = complete(store, "SELECT * { ?x :likes", 20)["items"]
    assert only["count"] == 3


def test_variables__those_of_the_text(store):
    text = "SELECT ?cat { ?cat a :Cat ; :name ?name . ?c| } ORDER BY ?car"
    assert offered(store, text) == ["?cat", "?car"]
    assert offered(store, "SELECT ?x { ?x ?y ?z FILTER( ")[:3] == ["?x", "?y", "?z"]


def test_replaced__is_the_whole_name(store):
    text = "SELECT * { ?x :na| :Tom"
    found = complete(store, text.replace("|", ""), text.index("|"))
    assert (found["from"], found["to"]) == (14, 17)
    found = complete(store, "SELECT * { ?x :name }", 16)  # within the name
    assert (found["from"], found["to"]) == (14, 19)


def test_keywords__by_place(store):
    assert offered(store, "SEL")[0] == "SELECT"
    assert offered(store, "SELECT * { ?x :p ?y . OPT") == ["OPTIONAL"]
    assert "LIMIT" in offered(store, "SELECT * { } LIM")
    assert offered(store, "SELECT * { FILTER(STRLE") == ["STRLEN("]
    assert "SELECT" not in offered(store, "SELECT * { ?x ")


def test_prefixes__declared_where_that_is_needed(store):
    assert offered(store, "PREFIX fo") == ["foaf: <http://xmlns.com/foaf/0.1/>"]
    (item,) = complete(store, "SELECT * { ?x a fo", 18)["items"][:1]
    assert item["insert"] == "foaf:"
    assert item["declare"] == "PREFIX foaf: <http://xmlns.com/foaf/0.1/>\n"
    found = complete(store, "SELECT * { ?x a Pers", 20)["items"]
    assert [(one["insert"], one["declare"][:12]) for one in found] == [
        ("foaf:Person", "PREFIX foaf:")
    ]
    own = "PREFIX f: <http://xmlns.com/foaf/0.1/> SELECT * { ?x a Pers"
    assert [one.get("declare") for one in complete(store, own, len(own))["items"]] == [None]
    assert offered(store, own) == ["f:Person"]
    assert offered(store, "PREFIX n: <http://other.org/ns#> SELECT * { ?x n:li") == ["n:links"]


def test_names__whole_iris(store):
    assert offered(store, "SELECT * { ?x a <http://ex.org/Ca", "class") == [":Cat", ":Car"]


@pytest.mark.parametrize(
    "text",
    ['SELECT * { ?x :name "To', "SELECT * { ?x :name 'To", 'SELECT * { ?x :name """a\nb'],
)
def test_nothing__within_a_string(store, text):
    assert offered(store, text) == []


def test_nothing__within_a_comment_or_number_or_unknown_prefix(store):
    assert offered(store, "SELECT * { # ?x a") == []
    assert offered(store, "SELECT * { ?x ?y 12") == []
    assert offered(store, "SELECT * { ?x nix:a") == []


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("", "clause"),
        ("SELECT ", "clause"),
        ("SELECT * { ", "subject"),
        ("SELECT * { ?x ", "predicate"),
        ("SELECT * { ?x :p ", "object"),
        ("SELECT * { ?x :p ?y ", "end"),
        ("SELECT * { ?x :p ?y . ", "subject"),
        ("SELECT * { ?x :p ?y ; ", "predicate"),
        ("SELECT * { ?x :p ?y , ", "object"),
        ("SELECT * { ?x :p [ ", "predicate"),
        ("SELECT * { ?x :p [ :q ?z ] ", "end"),
        ("SELECT * { [ :q ?z ] ", "predicate"),
        ("SELECT * { ?x :p ( ?y ) ", "end"),
        ("SELECT * { ?x :p ( ", "object"),
        ("SELECT * { ?x :p/", "predicate"),
        ("SELECT * { ?x :p* ", "object"),
        ("SELECT * { ?x (:p|:q) ", "object"),
        ("SELECT * { FILTER(", "expression"),
        ("SELECT * { FILTER(?x = 1) ", "subject"),
        ("SELECT * { FILTER(?x = 1 && (?y > 2)) ?x ", "predicate"),
        ("SELECT * { BIND(1 AS ?x) ?x ", "predicate"),
        ("SELECT * { FILTER NOT EXISTS { ?x ", "predicate"),
        ("SELECT * { ?a :p ?b OPTIONAL { ", "subject"),
        ("SELECT * { ?a :p ?b OPTIONAL { ?x :p 1 } ", "subject"),
        ("SELECT * { GRAPH ", "graph"),
        ("SELECT * { GRAPH ?g { ?x ", "predicate"),
        ("SELECT * FROM ", "graph"),
        ("SELECT * { VALUES ?x { ", "subject"),
        ("SELECT * { ?x :p 1.5 . ?y ", "predicate"),
        ('SELECT * { ?x :p "a"@en . ?y ', "predicate"),
        ('SELECT * { ?x :p "1"^^xsd:int . ?y ', "predicate"),
        ("SELECT * { ?x :p ?y } ", "clause"),
        ("PREFIX ", "declaration"),
        ("INSERT DATA { :a ", "predicate"),
    ],
)
def test_place__what_is_expected(text, role):
    assert place_in_query(text, len(text)).role == role


@pytest.mark.parametrize("seed", range(20))
def test_place__any_text_has_one(store, seed):
    pick = random.Random(seed)
    pieces = ["SELECT", "?x", ":a", "a", "_:b", "1", "@", "é", "\\", " ", "\n", *"{}()[]<>\"'#.;^"]
    for _ in range(40):
        text = "".join(pick.choice(pieces) for _ in range(25))
        offset = pick.randint(0, len(text))
        found = complete(store, text, offset)
        assert 0 <= found["from"] <= offset <= found["to"] <= len(text)


def test_place__a_long_text_takes_little_time_and_no_recursion(store):
    text = "SELECT * { " + "?x :name ?y . { " * 20_000
    assert place_in_query(text, len(text)).role == "subject"
    text = '"' * 5000 + "<" * 5000 + "(" * 5000 + "a" * 5000
    complete(store, text, len(text))


def test_completion__follows_commits():
    store = Store()
    store.load(DATA, "ttl")
    assert offered(store, "SELECT * { ?x a :Do") == []
    store.load(f"@prefix : <{EX}> . :rex a :Dog .", "ttl")
    assert offered(store, "SELECT * { ?x a :Do") == [":Dog"]
