"""Queries where equals are rewritten: the bags of the whole closure, or one answer for a class."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from pyoxigraph import Quad
from support.fuzzing import each_seed

from tests.ontologies.random_ontologies import EQUALITY, INDIVIDUALS, PROPERTIES, make_pool
from triplestore import Store
from triplestore.errors import UsageError

PREFIXES = """PREFIX : <http://ex.org/> PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
"""

A, B = (str(term) for term in INDIVIDUALS[:2])
P, Q = (str(term) for term in PROPERTIES[:2])
QUERIES = [
    "SELECT * { ?s ?p ?o }",
    "SELECT * { ?s owl:sameAs ?o }",
    f"SELECT * {{ {A} ?p ?o }}",
    f"SELECT * {{ ?s ?p {B} }}",
    f"SELECT * {{ ?x {P} ?y . ?y {Q} ?z }}",
    f"SELECT ?x {{ ?x {P} ?y . ?x {Q} ?z }}",
    f"SELECT * {{ ?x {P}|{Q} ?y OPTIONAL {{ ?y {Q} ?z }} }}",
    f"SELECT * {{ ?x {P}+ ?y }}",
    "SELECT * { ?x owl:sameAs* ?y }",
    f"SELECT * {{ ?x {P} ?y FILTER NOT EXISTS {{ ?y {Q} ?x }} }}",
    f"SELECT * {{ ?x {P} ?y MINUS {{ ?x {Q} ?z }} }}",
    "SELECT ?p (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?m) { ?s ?p ?o } GROUP BY ?p",
    "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
    f"SELECT ?x (COUNT(?y) AS ?n) {{ ?x {P} ?y }} GROUP BY ?x HAVING (COUNT(?y) > 1)",
    f"SELECT * {{ ?x {P} ?y FILTER(STR(?x) < STR(?y)) }}",
    f"SELECT * {{ ?x {P} ?y FILTER(?x = {A} || ?y != {B}) }}",
    "SELECT DISTINCT ?s { ?s ?p ?o FILTER(isBlank(?s)) }",
    "SELECT * { ?x a ?c . ?y a ?c }",
    "SELECT ?c (COUNT(?x) AS ?n) { ?x a ?c } GROUP BY ?c",
    f"SELECT * {{ VALUES ?x {{ {A} {B} }} ?x ?p ?y }}",
    f"SELECT * {{ ?x {P} ?y {{ SELECT ?y {{ ?y ?q ?z }} }} }}",
    f"CONSTRUCT {{ ?y {Q} ?x }} WHERE {{ ?x {P} ?y }}",
]


def stores_of(seed: int) -> tuple[Store, Store]:
    """Two stores of the same random data, one for each mode."""
    pool = make_pool(Random(seed), EQUALITY, 40)
    stores = (Store(), Store())
    for store, mode in zip(stores, ("rules", "rewrite"), strict=True):
        store.extend(Quad(*fact) for fact in pool)
        store.reason("owl-rl", equality=mode)
    return stores


@each_seed(range(2))
def test_queries__give_the_same_bags_as_under_rules(seed: int) -> None:
    rules, rewritten = stores_of(seed)
    for query in QUERIES:
        for facts in ("all", "explicit", "inferred"):
            found = [
                Counter(map(str, store.query(PREFIXES + query, facts=facts)))
                for store in (rules, rewritten)
            ]
            assert found[0] == found[1], query


@pytest.mark.parametrize("where", [f"{A} {P} ?o", "?s ?p ?o", f"?s {P} {B}"])
def test_updates__delete_and_insert_what_is_stated(where: str) -> None:
    stores = stores_of(5)
    for store in stores:
        store.update(f"{PREFIXES} DELETE {{ {where} }} INSERT {{ :new :p :x }} WHERE {{ {where} }}")
    first, second = (sorted(map(str, store)) for store in stores)
    assert first == second


def test_representatives__one_answer_for_each_class() -> None:
    store = Store()
    store.load(
        """@prefix : <http://ex.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
        :a owl:sameAs :b . :b owl:sameAs :c . :x owl:sameAs :y . :b :p :y . :c :p :z .""",
        "turtle",
    )
    store.reason("owl-rl", equality="rewrite")
    query = "SELECT ?s ?o { ?s :p ?o }"
    assert len(list(store.query(query))) == 3 * 3
    found = store.query(query, equality="representatives")
    assert {tuple(str(term)[-2] for term in row) for row in found} == {("a", "x"), ("a", "z")}
    count = "SELECT (COUNT(*) AS ?n) { ?s :p ?o }"
    ((number,),) = store.query(count, equality="representatives")
    assert number.value == "2"
    assert store.query("ASK { :c :p :y }", equality="representatives")
    found = store.query("SELECT ?o { :c :p ?o }", equality="representatives", facts="explicit")
    assert {str(row[0])[-2] for row in found} == {"x", "z"}
    with pytest.raises(UsageError, match='"representatives"'):
        store.query(query, equality="one")


def test_representatives__are_all_where_nothing_is_rewritten() -> None:
    store = Store()
    store.load("<http://ex.org/a> <http://ex.org/p> <http://ex.org/b> .", "turtle")
    assert len(list(store.query("SELECT * { ?s ?p ?o }", equality="representatives"))) == 1
