"""Expressions and aggregates mean in rules what they mean in queries, along updates."""

from __future__ import annotations

from random import Random

from pyoxigraph import NamedNode, Quad
from support.fuzzing import each_seed

from tests.expressions.random_expressions import AWKWARD, COMMON
from triplestore import Store
from triplestore.sparql.results.solutions import Solutions
from triplestore.terms.term_keys import term_of
from triplestore.terms.vocabulary import XSD

EX = "http://ex.org/"
VALUES = [term_of(key) for key in dict.fromkeys(COMMON + AWKWARD)]
V = NamedNode(f"{EX}v")

OF_ONE = (
    "-?a", "!?a", "STR(?a)", "STRLEN(?a)", "UCASE(?a)", "ABS(?a)", "ROUND(?a)", "DATATYPE(?a)",
    "LANG(?a)", "YEAR(?a)", "TZ(?a)", "xsd:integer(?a)", "xsd:double(?a)", "xsd:date(?a)",
    "IRI(?a)", "SUBSTR(?a, 2)", "?a * 2.0", "1 / ?a", "COALESCE(?a + 1, 'none')",
)  # fmt: skip
OF_TWO = (
    "?a = ?b", "?a < ?b", "?a >= ?b", "SAMETERM(?a, ?b)", "?a + ?b", "?a / ?b", "?a && ?b",
    "?a || ?b", "?a IN (1, ?b)", "CONCAT(?a, ?b)", "CONTAINS(?a, ?b)", "IF(?a = ?b, 1, 2)",
)  # fmt: skip
AGGREGATES = (
    "count(*)", "count(?v)", "count(DISTINCT ?v)", "sum(?v)", "avg(DISTINCT ?v)", "min(?v)",
    "max(?v)", "min(STR(?v))", "max(?v + 1)", "sum(?v + 1)", "count(?v + 1)",
)  # fmt: skip
"""Those that have no choice among equal or unordered values."""


def rows(store: Store, query: str) -> set[tuple[object, ...]]:
    found = store.query(f"PREFIX : <{EX}> PREFIX xsd: <{XSD}> {query}", facts="explicit")
    assert isinstance(found, Solutions)
    return {row for row in found.tuples() if None not in row}


def relation(store: Store, name: str) -> set[tuple[object, ...]]:
    return set(store.tuples(NamedNode(EX + name)))


def filled(random: Random, size: int) -> list[Quad]:
    return [
        Quad(NamedNode(f"{EX}s{random.randrange(8)}"), V, random.choice(VALUES))
        for _ in range(size)
    ]


@each_seed(range(3))
def test_expressions__in_rules_are_those_of_queries(seed: int) -> None:
    store, random = Store(), Random(seed)
    rules = [
        f":b{n}[?x, ?a, ?y, ?r] :- :v[?x, ?a], :v[?y, ?b], BIND({text} AS ?r) . "
        f":f{n}[?x, ?a, ?y, ?b] :- :v[?x, ?a], :v[?y, ?b], FILTER({text}) ."
        for n, text in enumerate(OF_ONE + OF_TWO)
    ]
    store.reason(rules=f"@prefix : <{EX}> . " + " ".join(rules))
    quads = filled(random, 40)
    for added, removed in ((quads, []), (filled(random, 10), random.sample(quads, 20))):
        with store.transaction() as t:
            t.remove_all(removed)
            t.extend(added)
        pairs = "{ ?x :v ?a . ?y :v ?b "
        for n, text in enumerate(OF_ONE + OF_TWO):
            bound = rows(store, f"SELECT ?x ?a ?y ?r {pairs} BIND({text} AS ?r) }}")
            assert relation(store, f"b{n}") == bound, text
            kept = rows(store, f"SELECT ?x ?a ?y ?b {pairs} FILTER({text}) }}")
            assert relation(store, f"f{n}") == kept, text


@each_seed(range(12))
def test_aggregates__in_rules_are_those_of_queries(seed: int) -> None:
    store, random = Store(), Random(seed)
    rules = [
        f":g{n}[?x, ?r, ?r] :- AGGREGATE(:v[?x, ?v] ON ?x BIND {text} AS ?r) . "
        f":w{n}[:all, ?r, ?r] :- AGGREGATE(:v[?x, ?v] BIND {text} AS ?r) ."
        for n, text in enumerate(AGGREGATES)
    ]
    store.reason(rules=f"@prefix : <{EX}> . " + " ".join(rules))
    quads = filled(random, 20)
    for step in range(5):
        with store.transaction() as t:
            t.remove_all(random.sample(quads, 4) if step else [])
            t.extend(random.sample(quads, 4) if step else quads)
        for n, text in enumerate(AGGREGATES):
            each = rows(store, f"SELECT ?x ({text} AS ?r) {{ ?x :v ?v }} GROUP BY ?x")
            assert {row[:2] for row in relation(store, f"g{n}")} == each, text
            whole = rows(store, f"SELECT ({text} AS ?r) {{ ?x :v ?v }}")
            assert {row[1:2] for row in relation(store, f"w{n}")} == whole, text
