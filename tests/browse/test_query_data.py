"""Answers of queries as data: pages, marks and advice."""

from __future__ import annotations

import json

import pytest
from browse.random_stores import EX, ex, inferred, random_store, triples, value
from pyoxigraph import Quad

from triplestore import Store
from triplestore.browse.query_page import query_data as query_data_module
from triplestore.browse.query_page.plan_data import plan_data
from triplestore.browse.query_page.query_data import AskedQuery, query_data
from triplestore.browse.term_data import plain_term
from triplestore.browse.thresholds import BROWSE
from triplestore.errors import ParseError, TimeLimitError, UsageError

QUERIES = [
    "SELECT * { ?x a ?c }",
    "SELECT ?x { ?x a :C1 }",
    "SELECT ?x ?y { ?x :p0 ?y . ?y a :C1 }",
    "SELECT ?c (COUNT(*) AS ?n) { ?x a ?c } GROUP BY ?c",
    "SELECT ?x (STR(?x) AS ?t) { ?x a :C2 }",
    "SELECT ?x ?y { ?x a :C1 OPTIONAL { ?x :p0 ?y } }",
    "SELECT DISTINCT ?c { ?x a ?c } ORDER BY ?c LIMIT 3 OFFSET 1",
]


def plain(row) -> tuple:
    return tuple(None if term is None else json.dumps(plain_term(term)) for term in row)


def bare(row) -> tuple:
    return tuple(
        None
        if term is None
        else json.dumps({k: v for k, v in term.items() if k not in ("short", "label")})
        for term in row
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("text", QUERIES)
def test_rows__are_those_of_the_query_and_marked(seed, text):
    store = random_store(seed, "owl-rl")
    found = query_data(store, AskedQuery(text, marked=True))
    rows = [bare(row) for row in found["rows"]]
    assert rows == [plain(row) for row in store.select(text).tuples()]
    whole = text.partition(" LIMIT")[0]
    asserted = {plain(row) for row in store.select(whole, facts="explicit").tuples()}
    if rows:
        assert found["inferred"] == [row not in asserted for row in rows]
    json.dumps(found)


def test_rows__pages_make_up_the_whole():
    store = random_store(2, "owl-rl", commits=6)
    text = "SELECT * { ?s ?p ?o } ORDER BY ?s ?p ?o"
    whole = query_data(store, AskedQuery(text, limit=10_000))
    pages, offset = [], 0
    while True:
        page = query_data(store, AskedQuery(text, offset=offset, limit=7))
        pages += page["rows"]
        offset += 7
        if not page["more"]:
            break
    assert pages == whole["rows"] and not whole["more"]


def test_rows__marks_are_unknown_for_a_limit_inside_and_for_too_many_answers():
    store = random_store(1, "owl-rl")
    inner = "SELECT * { { SELECT ?x { ?x a ?c } LIMIT 2 } }"
    assert query_data(store, AskedQuery(inner, marked=True))["inferred"] is None
    with BROWSE.changed(compared_rows=1):
        assert query_data(store, AskedQuery(QUERIES[0], marked=True))["inferred"] is None
    assert "inferred" not in query_data(store, AskedQuery(QUERIES[0]))


def test_rows__a_query_without_variables_is_marked():
    store = Store()
    prefix = f"@prefix : <{EX}> . "
    store.load(prefix + ":a a :A .", "ttl")
    store.reason(rules=prefix + ":B[?x] :- :A[?x] .")
    found = query_data(store, AskedQuery("SELECT * { :a a :B }", marked=True))
    assert (found["rows"], found["inferred"]) == ([[]], [True])


@pytest.mark.parametrize("seed", range(6))
def test_triples__are_marked_if_no_graph_asserts_them(seed):
    store = random_store(seed, "owl-rl")
    found = query_data(store, AskedQuery("CONSTRUCT WHERE { ?s ?p ?o }", limit=10_000))
    only_inferred = {plain(triple) for triple in inferred(store)}
    assert {bare(row[:3]) for row in found["triples"] if row[3]} == only_inferred & {
        bare(row[:3]) for row in found["triples"]
    }
    assert found["count"] == len(found["triples"])
    some = query_data(store, AskedQuery("CONSTRUCT WHERE { ?s ?p ?o }", limit=2, offset=1))
    assert some["triples"] == found["triples"][1:3] and some["more"]


def test_triples__that_the_query_makes_are_not_inferred():
    store = random_store(0)
    found = query_data(store, AskedQuery("CONSTRUCT { ?s :made ?s } { ?s ?p ?o }"))
    assert found["triples"] and not any(row[3] for row in found["triples"])


def test_answers__without_rows_have_advice():
    store = Store()
    store.load(f"@prefix : <{EX}> . :a :colour 1 .", "ttl")
    (advice,) = query_data(store, AskedQuery("SELECT * { ?x :color ?y }"))["advice"]
    assert "did you mean" in advice
    assert query_data(store, AskedQuery("SELECT * { ?x :colour ?y }"))["advice"] == []
    assert query_data(store, AskedQuery("ASK { ?x :color ?y }")) | {"seconds": 0} == {
        "advice": [],
        "kind": "boolean",
        "value": False,
        "more": False,
        "commit": store.commit,
        "seconds": 0,
    }


def test_answers__name_the_commit_that_they_are_of(monkeypatch):
    store = Store()
    store.add(Quad(ex("a"), ex("p"), ex("b")))
    plain_ask = query_data_module.ask

    def slow_ask(*given):
        store.add(Quad(ex("b"), ex("p"), ex("c")))  # while the query runs
        return plain_ask(*given)

    monkeypatch.setattr(query_data_module, "ask", slow_ask)
    found = query_data(store, AskedQuery("SELECT * { ?s ?p ?o }"))
    assert (len(found["rows"]), found["commit"], store.commit) == (1, 1, 2)


def test_answers__errors_are_those_of_the_query():
    with pytest.raises(ParseError) as raised:
        query_data(Store(), AskedQuery("SELECT {"))
    assert raised.value.lineno == 1
    with pytest.raises(UsageError):
        query_data(Store(), AskedQuery("ASK {}", limit=-1))
    store = Store()
    store.extend(Quad(ex(i), ex("p"), ex(i)) for i in range(200))
    product = " ".join(f"?a{n} ?b{n} ?c{n} ." for n in range(20))
    text = f"SELECT (COUNT(*) AS ?n) {{ {product} }}"
    with pytest.raises(TimeLimitError):
        query_data(store, AskedQuery(text, timeout=0.05))


def test_facts__only_those_asked_for_are_seen():
    store = random_store(3, "owl-rl")
    for facts in ("explicit", "inferred"):
        found = query_data(store, AskedQuery(QUERIES[0], facts, limit=10_000))
        expected = store.select(QUERIES[0], facts=facts)
        assert sorted(map(str, map(bare, found["rows"]))) == sorted(
            map(str, map(plain, expected.tuples()))
        )


def test_plan__is_a_tree_with_rows_and_times():
    store = random_store(0)
    found = plan_data(store, AskedQuery("SELECT * { ?x a ?c . ?x :p0 ?y }"))
    assert found["plan"]["rows"] == len(store.select("SELECT * { ?x a ?c . ?x :p0 ?y }"))
    assert found["plan"]["children"] and found["text"]
    without = plan_data(store, AskedQuery("SELECT * { ?x a ?c }"), analyze=False)
    assert "rows" not in without["plan"] and without["plan"]["label"]


@pytest.mark.parametrize("text", ["ASK { ?x a :C1 }", "ask{?x a :C1}", "DESCRIBE :i0"])
def test_plan__of_every_form(text):
    assert plan_data(random_store(0), AskedQuery(text))["plan"]["label"]


def test_plan__of_a_deep_query_is_cut():
    text = "SELECT * { ?a :p ?b " + "OPTIONAL { ?a :p ?b " * 60 + "}" * 61
    store = random_store(0)
    json.dumps(plan_data(store, AskedQuery(text), analyze=False))


def test_labels__are_given_with_terms():
    store = Store()
    rdfs = "http://www.w3.org/2000/01/rdf-schema#"
    store.load(f'@prefix : <{EX}> . :a <{rdfs}label> "An A" ; :p :a .', "ttl")
    (row,) = query_data(store, AskedQuery("SELECT ?x { ?x :p ?x }"))["rows"]
    assert (row[0]["label"], row[0]["short"], value(row[0])) == ("An A", ":a", EX + "a")
    assert len(triples(store)) == 2
