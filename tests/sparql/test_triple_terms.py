"""Triple terms in queries and updates, one property at a time."""

from __future__ import annotations

import pyoxigraph as ox
import pytest

from triplestore import Store
from triplestore.errors import QuerySyntaxError
from triplestore.sparql.syntax.parser import parse_query, parse_update
from triplestore.sparql.syntax.query_printer import write

PREFIX = "PREFIX : <http://e/> PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> "
DATA = """@prefix : <http://e/> .
:a :knows :b ~ :k1 {| :since 2001 ; :by :x |} .
:a :knows :c ~ :k2 {| :since 2005 |} .
:b :knows :c .
:log :has <<( :b :knows <<( :a :knows :b )>> )>> .
"""


@pytest.fixture
def store() -> Store:
    made = Store()
    made.load(DATA, "ttl")
    return made


def rows(store: Store, text: str) -> list[tuple[str, ...]]:
    return sorted(tuple(map(str, row)) for row in store.query(PREFIX + text))


def test_annotation__joins_the_triple_with_its_reifier(store: Store) -> None:
    found = rows(store, "SELECT ?o ?y { :a :knows ?o {| :since ?y |} FILTER(?y < 2003) }")
    assert [row[0] for row in found] == ["<http://e/b>"]


def test_reified_triple__needs_no_assertion(store: Store) -> None:
    store.update(PREFIX + "DELETE DATA { :a :knows :b }")
    assert rows(store, "SELECT ?r { << :a :knows :b ~ ?r >> :by :x }") == [("<http://e/k1>",)]
    assert rows(store, "SELECT ?r { :a :knows :b ~ ?r }") == []


def test_kept_plans__are_asked_with_other_constants(store: Store) -> None:
    text = PREFIX + "SELECT ?r {{ ?r rdf:reifies <<( {} :knows {} )>> }}"
    for _ in range(3):
        for subject, object_, wanted in (
            (":a", ":b", ["k1"]), (":a", ":c", ["k2"]), (":b", ":c", []), (":a", ":nothing", []),
        ):  # fmt: skip
            found = [row["r"].value for row in store.query(text.format(subject, object_))]
            assert found == [f"http://e/{name}" for name in wanted]
    text = PREFIX + "SELECT ?o {{ ?r rdf:reifies <<( {} :knows ?o )>> ; :since {} }}"
    for _ in range(3):
        for year, wanted in ((2001, "b"), (2005, "c")):
            (row,) = store.query(text.format(":a", year))
            assert row["o"].value == f"http://e/{wanted}"


def test_given_values__replace_variables_in_triple_terms(store: Store) -> None:
    text = PREFIX + "SELECT ?r { ?r rdf:reifies <<( ?s :knows ?o )>> }"
    found = store.query(text, substitutions={ox.Variable("o"): ox.NamedNode("http://e/c")})
    assert [str(row["r"]) for row in found] == ["<http://e/k2>"]


def test_paths__end_at_triple_terms(store: Store) -> None:
    assert rows(store, "SELECT ?s { ?s :has|:none <<( ?b :knows <<( ?a ?p ?b )>> )>> }") == [
        ("<http://e/log>",)
    ]
    assert rows(store, "SELECT ?o { :log :has+ <<( ?b :knows <<( ?s ?p ?o )>> )>> }") == [
        ("<http://e/b>",)
    ]


def test_groups__have_triple_terms_as_keys(store: Store) -> None:
    text = "SELECT (COUNT(?r) AS ?n) { ?r ?p ?t FILTER(isTRIPLE(?t)) } GROUP BY (SUBJECT(?t))"
    assert [row[0][:3] for row in rows(store, text)] == ['"1"', '"2"']


def test_graphs__have_triple_terms_of_their_own() -> None:
    store = Store()
    store.load(
        "@prefix : <http://e/> . :g { :x :p <<( :a :b 1 )>> } :h { :y :p <<( :a :b 1 )>> , 5 }",
        "trig",
    )
    assert rows(store, "SELECT ?g ?x { GRAPH ?g { ?x :p <<( :a ?p 1 )>> } }") == [
        ("<http://e/g>", "<http://e/x>"), ("<http://e/h>", "<http://e/y>"),
    ]  # fmt: skip
    assert rows(store, "SELECT ?x { GRAPH :h { ?x :p <<( ?a ?p 1 )>> } }") == [("<http://e/y>",)]
    assert rows(store, "SELECT ?x { ?x :p <<( ?a ?p 1 )>> }") == []


def test_update__makes_and_removes_triple_terms(store: Store) -> None:
    store.update(
        PREFIX + "INSERT { ?s :said <<( ?s :met ?o )>> ~ _:n "
        "{| :part [ :of <<( ?s :q _:n )>> ] |} } WHERE { ?s :knows ?o }"
    )
    text = "SELECT ?s ?o { ?s :said <<( ?s :met ?o )>> ~ ?n . ?n :part/:of <<( ?s :q ?n )>> }"
    assert len(rows(store, text)) == 3
    store.update(PREFIX + "DELETE WHERE { ?s :said <<( ?s :met :c )>> }")
    assert len(rows(store, "SELECT ?s { ?s :said ?t }")) == 1


def test_new_nodes__of_a_template_are_those_in_its_triple_terms(store: Store) -> None:
    text = "CONSTRUCT { _:n :of ?o . :x :y <<( ?o :is _:n )>> } WHERE { :a :knows ?o }"
    made = Store()
    made.extend(ox.Quad(*triple) for triple in store.query(PREFIX + text))
    assert len(rows(made, "SELECT ?o { ?n :of ?o . :x :y <<( ?o :is ?n )>> }")) == 2


def test_values_and_expressions__make_triple_terms(store: Store) -> None:
    text = """SELECT ?r { VALUES ?t { <<( :a :knows :b )>> <<( :a :knows <<( :a a :b )>> )>> }
              ?r rdf:reifies ?t FILTER(?t = <<( :a :knows ?o )>>) :b :knows ?c BIND(:b AS ?o) }"""
    assert rows(store, text) == [("<http://e/k1>",)]
    text = """SELECT ?r { ?s :knows ?o BIND(<<( ?s :knows ?o )>> AS ?t) ?r rdf:reifies ?t }"""
    assert rows(store, text) == [("<http://e/k1>",), ("<http://e/k2>",)]


def test_order__is_by_subject_predicate_object() -> None:
    store = Store()
    text = (
        PREFIX + "SELECT ?t { VALUES ?t { <<( :b :p 1 )>> 7 <<( :a :p 10 )>> <<( :a :p 9.5 )>> } }"
    )
    found = [str(row["t"]) for row in store.query(text + " ORDER BY ?t")]
    assert [part.split()[-1][:4] for part in found] == ['"7"^', '"9.5', '"10"', '"1"^']
    assert found == [str(row["t"]) for row in store.query(text + " ORDER BY DESC(?t)")][::-1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT * { ?s :p/:q ?o ~ :r }", "a path cannot be annotated"),
        ("SELECT * { << ?s ?p (1) >> :q 1 }", "as object of a reified triple"),
        ("SELECT * { ?s ?p <<( ?s ?p ?o ) }", "at the end of a triple term"),
        ("SELECT * { VALUES ?t { <<( _:a :p 1 )>> } }", "does not name a resource"),
        ("SELECT * { BIND(<<( _:a :p ?o )>> AS ?t) }", "use a variable"),
        ("SELECT * { ?s ?p ?o {| :q 1 }", "or ';' after an object in an annotation"),
        ("VERSION 1.2 SELECT * { }", "after VERSION"),
    ],
)
def test_errors__say_what_is_expected(text: str, message: str) -> None:
    with pytest.raises(QuerySyntaxError, match="(?s).*" + message.replace("(", r"\(")):
        parse_query(PREFIX + text)


def test_delete_data__refuses_a_reifier_without_name() -> None:
    with pytest.raises(QuerySyntaxError, match="a reifier without a name is not allowed here"):
        parse_update(PREFIX + "DELETE DATA { :a :b :c {| :d 1 |} }")


def test_writing__gives_the_same_query() -> None:
    text = (
        PREFIX
        + """CONSTRUCT { ?s :q <<( ?s :r _:n )>> . _:n :t [] } WHERE {
        ?s :p+ <<( ?a ?b <<( ?s :c [] )>> )>> . << ?s ?p ?o ~ ?r >> :d 1 {| :e ?e |}
        OPTIONAL { ?s :z <<( ?a :b ?o )>> } } ORDER BY ?s LIMIT 5"""
    )
    found = parse_query(text)
    assert parse_query(write(found)) == found
    assert "<<( ?s :r _:n )>>" in write(found).replace("<http://e/r>", ":r")


def test_a_comparison_with_an_iri__is_no_reified_triple() -> None:
    assert parse_query("SELECT * { ?x ?y ?z FILTER(?x<<http://e/a>) }").pattern is not None
