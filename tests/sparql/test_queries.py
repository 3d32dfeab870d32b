"""Queries of a store: forms, graphs, statuses of facts, EXISTS, blank nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyoxigraph as ox
import pytest

from triplestore import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Store
from triplestore.errors import BudgetError, ParseError, UsageError
from triplestore.sparql.plan.planner import ALL_OFF, PlanOptions
from triplestore.store.arguments import QueryOptions
from triplestore.store.run_query import query as ask

EX = "http://ex.org/"
DATA = """@prefix : <http://ex.org/> .
:ada :knows :bob, :cy ; :age 36 ; :name "Ada"@en .
:bob :knows :cy ; :age 41 .
:cy :name "Cy" ; :home [ :town "Rome" ; :near [ :town "Ostia" ] ] .
"""
GRAPHS = """@prefix : <http://ex.org/> .
:g { :ada :likes :tea . :bob :likes :rum . :ada :knows :dan }
:h { :ada :likes :tea . :dan :likes :rum . }
:empty { }
"""


@pytest.fixture
def store() -> Store:
    made = Store()
    made.load(DATA, "ttl")
    made.load(GRAPHS, "trig")
    made.add_graph(NamedNode(EX + "empty"))
    return made


@pytest.fixture(params=[PlanOptions(), ALL_OFF], ids=["optimised", "as written"])
def options(request: pytest.FixtureRequest) -> Iterator[PlanOptions]:
    yield request.param


def rows(store: Store, text: str, **arguments: Any) -> list[tuple[str, ...]]:
    """Solutions as sorted tuples of short texts."""
    result = ask(store._view(), text, QueryOptions(**arguments))
    assert not isinstance(result, bool)
    return sorted(tuple(map(short, row)) for row in result)


def short(value: Any) -> str:
    if value is None:
        return "-"
    return "_" if isinstance(value, BlankNode) else value.value.removeprefix(EX)


# --- graphs --------------------------------------------------------------------------------------


def test_graph__a_variable_takes_every_graph(store: Store, options: PlanOptions) -> None:
    found = rows(store, "SELECT ?g ?x { GRAPH ?g { ?x :likes :rum } }", planning=options)
    assert found == [("g", "bob"), ("h", "dan")]


def test_graph__without_a_pattern_lists_the_graphs(store: Store, options: PlanOptions) -> None:
    assert rows(store, "SELECT ?g { GRAPH ?g { } }", planning=options) == [
        ("empty",),
        ("g",),
        ("h",),
    ]
    assert ask(store._view(), "ASK { GRAPH :empty { } }", QueryOptions(planning=options)) is True
    assert ask(store._view(), "ASK { GRAPH :nowhere { } }", QueryOptions(planning=options)) is False


def test_graph__groups_are_counted_in_each_graph(store: Store, options: PlanOptions) -> None:
    text = "SELECT ?g ?n { GRAPH ?g { { SELECT (COUNT(*) AS ?n) { ?x :likes ?y } } } }"
    assert rows(store, text, planning=options) == [
        ("empty", "0"),
        ("g", "2"),
        ("h", "2"),
    ]


def test_graph__its_variable_has_no_value_inside(store: Store, options: PlanOptions) -> None:
    text = "SELECT * { GRAPH ?g { ?x :likes :rum FILTER(!BOUND(?g)) } }"
    assert len(rows(store, text, planning=options)) == 2


def test_graph__a_variable_that_the_pattern_binds_is_the_graph(store: Store) -> None:
    store.add(Quad(NamedNode(EX + "g"), NamedNode(EX + "p"), Literal(1), NamedNode(EX + "g")))
    store.add(Quad(NamedNode(EX + "h"), NamedNode(EX + "p"), Literal(2), NamedNode(EX + "g")))
    assert rows(store, "SELECT ?g ?o { GRAPH ?g { ?g :p ?o } }") == [("g", "1")]


def test_from__merges_graphs(store: Store, options: PlanOptions) -> None:
    text = "SELECT ?x ?y FROM :g FROM :h { ?x :likes ?y }"
    assert rows(store, text, planning=options) == [
        ("ada", "tea"),
        ("bob", "rum"),
        ("dan", "rum"),
    ]
    assert rows(store, "SELECT ?p FROM :g FROM :h { :ada ?p ?y }", planning=options) == [
        ("knows",),
        ("likes",),
    ]
    assert rows(store, "SELECT * FROM :nowhere { ?x ?p ?y }", planning=options) == []
    assert rows(store, "SELECT * FROM :g { GRAPH ?g { ?x ?p ?y } }", planning=options) == []


def test_from_named__limits_graph(store: Store, options: PlanOptions) -> None:
    text = "SELECT ?g ?x FROM NAMED :h { GRAPH ?g { ?x :likes ?y } }"
    assert rows(store, text, planning=options) == [("h", "ada"), ("h", "dan")]
    assert rows(store, "SELECT * FROM NAMED :h { ?x :knows ?y }", planning=options) == []


def test_query__union_of_all_graphs_as_default_graph(store: Store) -> None:
    text = "SELECT ?y { :ada (:knows|:likes) ?y }"
    assert rows(store, text) == [("bob",), ("cy",)]
    found = rows(store, text, use_default_graph_as_union=True)
    assert found == [("bob",), ("cy",), ("dan",), ("tea",)]
    assert rows(store, text, default_graph=NamedNode(EX + "g")) == [("dan",), ("tea",)]
    both = [NamedNode(EX + "g"), NamedNode(EX + "h")]
    assert rows(store, text, default_graph=both) == [("dan",), ("tea",)]
    named = rows(store, "SELECT ?g { GRAPH ?g {} }", named_graphs=[NamedNode(EX + "h")])
    assert named == [("h",)]


@pytest.mark.parametrize("clause", ["", "FROM :g", "FROM NAMED :g", "FROM :g FROM NAMED :g"])
@pytest.mark.parametrize("default", [None, "h"])
@pytest.mark.parametrize("named", [None, "h"])
def test_query__graphs_asked_for_go_before_from_as_for_pyoxigraph(
    store: Store, clause: str, default: str | None, named: str | None
) -> None:
    arguments: dict[str, Any] = {}
    if default is not None:
        arguments["default_graph"] = NamedNode(EX + default)
    if named is not None:
        arguments["named_graphs"] = [NamedNode(EX + named)]
    peer = ox.Store()
    peer.extend(store)
    for pattern in ("?x :likes ?y", "GRAPH ?g { ?x :likes ?y }"):
        text = f"SELECT ?x ?y {clause} {{ {pattern} }}"
        found = peer.query(text, prefixes={"": EX}, **arguments)
        assert isinstance(found, ox.QuerySolutions)
        expected = sorted((short(row["x"]), short(row["y"])) for row in found)
        assert rows(store, text, **arguments) == expected


def test_query__pseudo_graphs_say_which_facts_beside_a_graph_that_is_asked_for(
    inferring: Store,
) -> None:
    text = "SELECT ?x FROM <http://www.ontotext.com/implicit> { ?x :r ?y }"
    own, other = DefaultGraph(), NamedNode(EX + "nowhere")
    assert rows(inferring, text, default_graph=own) == [("a",)]
    assert rows(inferring, text, default_graph=other) == []


# --- inference -----------------------------------------------------------------------------------


@pytest.fixture
def inferring() -> Store:
    made = Store()
    made.load("@prefix : <http://ex.org/> . :a :p :b . :b :p :c . :a :q :c . :a :n 5 .", "ttl")
    made.reason(
        rules="@prefix : <http://ex.org/> . :q[?x, ?z] :- :p[?x, ?y], :p[?y, ?z] ."
        " :r[?x, ?y] :- :q[?x, ?y] . :of[?y, ?x] :- :n[?x, ?y] ."
    )
    return made


def test_facts__explicit_and_inferred_ones_are_all(inferring: Store) -> None:
    text = "SELECT ?x ?y { ?x (:p|:q|:r) ?y }"
    assert rows(inferring, text) == [("a", "b"), ("a", "c"), ("a", "c"), ("b", "c")]
    assert rows(inferring, text, facts="explicit") == [("a", "b"), ("a", "c"), ("b", "c")]
    assert rows(inferring, text, facts="inferred") == [("a", "c")]
    with pytest.raises(UsageError, match="facts"):
        ask(inferring._view(), text, QueryOptions(facts="some"))


def test_facts__pseudo_graphs_say_which(inferring: Store) -> None:
    explicit, implicit = "<http://www.ontotext.com/explicit>", "<http://www.ontotext.com/implicit>"
    assert rows(inferring, f"SELECT ?x FROM {implicit} {{ ?x :r ?y }}") == [("a",)]
    assert rows(inferring, f"SELECT ?x FROM {explicit} {{ ?x :r ?y }}") == []
    both = f"SELECT ?x FROM {explicit} FROM {implicit} {{ ?x :r|:q ?y }}"
    assert rows(inferring, both) == [("a",), ("a",)]


def test_facts__what_is_no_triple_of_rdf_is_not_shown(
    inferring: Store, options: PlanOptions
) -> None:
    assert inferring.count() == len(rows(inferring, "SELECT * { ?s ?p ?o }", planning=options)) == 5
    assert rows(inferring, "SELECT * { ?s :of ?o }", planning=options) == []
    assert rows(inferring, "SELECT * { :a :n ?n . ?n :of ?o }", planning=options) == []
    assert rows(inferring, "SELECT * { ?s ?p :a }", planning=options) == []


def test_query__a_transaction_sees_what_follows_from_its_writes(inferring: Store) -> None:
    with inferring.transaction() as t:
        t.add((NamedNode(EX + "c"), NamedNode(EX + "p"), NamedNode(EX + "d")))
        found = t.query("PREFIX : <http://ex.org/> SELECT ?x { ?x :r :d }")
        assert [row["x"] for row in found] == [NamedNode(EX + "b")]
    before = inferring.snapshot()
    inferring.clear()
    assert len(before.query("SELECT * { ?s ?p ?o }")) == 8
    assert len(inferring.query("SELECT * { ?s ?p ?o }")) == 0


# --- EXISTS --------------------------------------------------------------------------------------


def test_exists__a_filter_inside_may_look_outside(store: Store, options: PlanOptions) -> None:
    text = """SELECT ?x { ?x :age ?a FILTER NOT EXISTS { ?y :age ?b FILTER(?b > ?a) } }"""
    assert rows(store, text, planning=options) == [("bob",)]


def test_exists__deep_inside_too(store: Store, options: PlanOptions) -> None:
    text = """SELECT ?x { ?x :age ?a
              FILTER EXISTS { ?y :knows ?z OPTIONAL { ?y :age ?b FILTER(?b > ?a) }
                              FILTER(?b > 1) } }"""
    assert rows(store, text, planning=options) == [("ada",)]


def test_exists__with_unbound_variables(store: Store, options: PlanOptions) -> None:
    text = """SELECT ?x ?n { ?x :knows ?y OPTIONAL { ?y :name ?n }
              FILTER EXISTS { ?z :name ?n } }"""
    # Where ?n is unbound, any name will do.
    assert rows(store, text, planning=options) == [
        ("ada", "-"),
        ("ada", "Cy"),
        ("bob", "Cy"),
    ]


def test_exists__in_expressions(store: Store, options: PlanOptions) -> None:
    text = """SELECT ?x ?k (IF(EXISTS { ?x :name ?n }, "yes", "no") AS ?m)
              { ?x :age ?a BIND(EXISTS { ?x :knows :bob } AS ?k) }
              ORDER BY (EXISTS { ?x :name ?n })"""
    assert rows(store, text, planning=options) == [("ada", "true", "yes"), ("bob", "false", "no")]


def test_exists__of_something_else_altogether(store: Store, options: PlanOptions) -> None:
    assert (
        len(rows(store, "SELECT * { ?x :age ?a FILTER EXISTS { :cy :name ?n } }", planning=options))
        == 2
    )
    assert (
        rows(store, "SELECT * { ?x :age ?a FILTER EXISTS { :bob :name ?n } }", planning=options)
        == []
    )


# --- forms ---------------------------------------------------------------------------------------


def test_describe__is_the_concise_bounded_description(store: Store) -> None:
    found = ask(store._view(), "DESCRIBE :cy")
    assert len(found) == 5
    assert {short(triple.predicate) for triple in found} == {"name", "home", "town", "near"}
    assert len(ask(store._view(), "DESCRIBE ?x :nowhere { ?x :age 41 }")) == 2


def test_construct__new_blank_nodes_for_each_solution(store: Store) -> None:
    found = list(
        ask(store._view(), "CONSTRUCT { [] :of ?x ; :is ?x . :all :of :them } { ?x :age ?a }")
    )
    nodes = {triple.subject for triple in found if isinstance(triple.subject, BlankNode)}
    assert len(found) == 5
    assert len(nodes) == 2


def test_construct__leaves_out_what_is_no_triple(store: Store) -> None:
    found = list(ask(store._view(), "CONSTRUCT { ?n :of ?x . ?x ?n 1 . ?x :y ?z } { ?x :name ?n }"))
    assert found == []


def test_construct__gives_each_triple_once(store: Store) -> None:
    assert len(ask(store._view(), "CONSTRUCT { :a :b ?y } { ?x :knows ?y }")) == 2


def test_bnode__the_same_label_is_the_same_node_in_one_solution(store: Store) -> None:
    text = """SELECT (BNODE("l") AS ?a) (BNODE(STR("l")) AS ?b) (BNODE("m") AS ?c) (BNODE() AS ?d)
              { ?x :age ?y }"""
    found = [row.as_dict() for row in ask(store._view(), text)]
    assert all(row["a"] == row["b"] for row in found)
    assert len({row[name] for row in found for name in "acd"}) == 6


def test_service__is_refused(store: Store) -> None:
    with pytest.raises(UsageError, match="SERVICE"):
        list(store.query("SELECT * { SERVICE <http://ex.org/sparql> { ?x ?y ?z } }"))


def test_query__mistakes_say_where(store: Store) -> None:
    with pytest.raises(ParseError) as caught:
        store.query("SELECT * { ?x :p }")
    assert caught.value.lineno == 1


def test_query__of_terms_that_the_store_has_not(store: Store, options: PlanOptions) -> None:
    assert rows(store, "SELECT * { :nobody :knows ?x }", planning=options) == []
    assert rows(store, "SELECT ?x { :nobody :knows* ?x }", planning=options) == [("nobody",)]
    assert rows(store, "SELECT ?x { VALUES ?x { :nobody } ?x :knows* ?y }", planning=options) == []
    text = "SELECT ?x ?y { VALUES ?x { :nobody :ada } OPTIONAL { ?x :age ?y } }"
    assert rows(store, text, planning=options) == [("ada", "36"), ("nobody", "-")]


def test_aggregates__of_nothing_and_of_errors(store: Store, options: PlanOptions) -> None:
    text = """SELECT (COUNT(*) AS ?n) (SUM(?a) AS ?s) (MIN(?a) AS ?m) (AVG(?a) AS ?v)
              (GROUP_CONCAT(?a) AS ?c) (SAMPLE(?a) AS ?p) { ?x :nothing ?a }"""
    assert rows(store, text, planning=options) == [("0", "0", "-", "0", "", "-")]
    text = "SELECT ?x (COUNT(*) AS ?n) { ?x :nothing ?a } GROUP BY ?x"
    assert rows(store, text, planning=options) == []
    text = "SELECT (SUM(?o) AS ?s) (MAX(?o) AS ?m) (COUNT(?o) AS ?n) { :ada :age|:name ?o }"
    assert rows(store, text, planning=options) == [("-", "Ada", "2")]


# --- closures that are not written out -----------------------------------------------------------

CLOSURES = """@prefix : <http://ex.org/> .
:p[?x, ?z] :- :p[?x, ?y], :p[?y, ?z] .
:e[?x, ?z] :- :e[?x, ?y], :e[?y, ?z] .
:e[?x, ?y] :- :e[?y, ?x] .
"""
ABOUT_CLOSURES = [
    "?x :p ?y",
    "?x :p+ ?y",
    "?x :p* ?y",
    ":n2 ^:p+ ?y",
    "?x (:p|:e)+ :n9",
    "?x :e+ ?y",
    "?x :p ?y . ?y :e ?z",
    ":n1 ?p ?o",
    "?s ?p :n5",
    "?x :p ?y FILTER NOT EXISTS { ?y :p ?z }",
]


@pytest.mark.parametrize("facts", ["all", "explicit", "inferred"])
def test_query__closures_answer_alike_however_they_are_kept(facts: str) -> None:
    found = []
    for schemes in ("compressed", "plain"):
        made = Store()
        edges = " ".join(f":n{i} :p :n{i + 1} ." for i in range(12))
        made.load(f"@prefix : <{EX}> . {edges} :n3 :p :n3 . :n1 :e :n5 . :n5 :e :n9 .", "ttl")
        made.reason(rules=CLOSURES, tuning={"schemes": schemes})
        texts = [f"SELECT * {{ {text} }}" for text in ABOUT_CLOSURES]
        found.append([rows(made, text, facts=facts) for text in texts])
    assert found[0] == found[1]
    assert any(found[0])
    if facts == "explicit":
        made.reason("none")
        assert found[0] == [rows(made, f"SELECT * {{ {text} }}") for text in ABOUT_CLOSURES]


def test_query__the_memory_of_the_machine_is_the_default_budget(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triplestore.store.run_query.default_budget", lambda: 1000)
    with pytest.raises(BudgetError):
        len(store.query("SELECT * { ?a ?p ?b . ?c ?q ?d }"))


# --- values for variables, functions in Python ---------------------------------------------------


def given(store: Store, text: str, **values: Any) -> list[tuple[str, ...]]:
    return rows(store, text, substitutions=values)


def test_substitutions__are_in_the_answers(store: Store, options: PlanOptions) -> None:
    ada, bob = NamedNode(EX + "ada"), NamedNode(EX + "bob")
    text = "SELECT ?x ?y { ?x :knows ?y }"
    assert given(store, text, x=ada) == [("ada", "bob"), ("ada", "cy")]
    assert given(store, text, y=bob) == [("ada", "bob")]
    assert given(store, text, x=bob, y=ada) == []
    assert given(store, "SELECT ?y { ?x :knows ?y }", x=bob) == [("cy",)]
    assert rows(store, text) == [("ada", "bob"), ("ada", "cy"), ("bob", "cy")]


def test_substitutions__reach_filters_exists_and_groups(store: Store) -> None:
    text = "SELECT ?x { ?x :age ?a FILTER(?a > ?least) }"
    assert given(store, text, least=Literal(40)) == [("bob",)]
    assert given(store, text) == []
    text = "SELECT ?x { ?x :age ?a FILTER NOT EXISTS { ?x :knows ?who } }"
    assert given(store, text, who=NamedNode(EX + "bob")) == [("bob",)]
    text = "SELECT ?x (COUNT(*) AS ?n) { ?x :knows ?y } GROUP BY ?x"
    assert given(store, text, x=NamedNode(EX + "ada")) == [("ada", "2")]
    text = "SELECT ?x ?y { VALUES (?x ?y) { (:ada 1) (:bob 2) (UNDEF 3) } }"
    assert given(store, text, x=NamedNode(EX + "bob")) == [("bob", "2"), ("bob", "3")]


def test_substitutions__leave_variables_of_sub_queries_alone(store: Store) -> None:
    text = "SELECT ?x ?n { ?x :age ?a { SELECT (COUNT(*) AS ?n) { ?x :knows ?y } } }"
    assert given(store, text, x=NamedNode(EX + "bob")) == [("bob", "3")]
    text = "SELECT ?x ?n { { SELECT ?x (COUNT(*) AS ?n) { ?x :knows ?y } GROUP BY ?x } }"
    assert given(store, text, x=NamedNode(EX + "bob")) == [("bob", "1")]


def test_substitutions__in_templates_and_descriptions(store: Store) -> None:
    view, bob = store._view(), NamedNode(EX + "bob")
    (triple,) = ask(
        view, "CONSTRUCT { ?x :old ?a } { ?x :age ?a }", QueryOptions(substitutions={"x": bob})
    )
    assert triple.subject == bob
    assert len(ask(view, "DESCRIBE ?x", QueryOptions(substitutions={"x": bob}))) == 2
    with pytest.raises(UsageError, match="computes"):
        ask(view, "SELECT (1 AS ?x) {}", QueryOptions(substitutions={"x": bob}))


def test_substitutions__a_blank_node_is_that_node(store: Store) -> None:
    node = next(iter(store.query("SELECT ?h { :cy :home ?h }")))["h"]
    assert given(store, "SELECT ?t { ?h :town ?t }", h=node) == [("Rome",)]


def test_custom_functions__take_and_give_terms(store: Store) -> None:
    def older(age: Literal, years: Literal) -> Literal | None:
        return Literal(int(age.value) + int(years.value)) if age.value != "41" else None

    text = "SELECT ?x (:older(?a, 10) AS ?b) { ?x :age ?a }"
    functions = {NamedNode(EX + "older"): older}
    assert rows(store, text, custom_functions=functions) == [("ada", "46"), ("bob", "-")]
    with pytest.raises(UsageError, match="unknown function"):
        rows(store, text)


def test_custom_aggregates__of_each_group(store: Store) -> None:
    class Longest:
        def __init__(self) -> None:
            self.value = ""

        def accumulate(self, term: Any) -> None:
            self.value = max(self.value, term.value, key=len)

        def finish(self) -> Literal:
            return Literal(self.value)

    text = "SELECT ?x (:longest(STR(?o)) AS ?l) { ?x ?p ?o FILTER(ISLITERAL(?o)) } GROUP BY ?x"
    aggregates = {EX + "longest": Longest}
    found = rows(store, text, custom_aggregate_functions=aggregates)
    assert ("ada", "Ada") in found
    assert ("cy", "Cy") in found


def test_query__merges_of_graphs_are_shared_between_queries_of_one_state(store: Store) -> None:
    text = "SELECT ?x ?y { ?x :likes ?y }"
    union = {"use_default_graph_as_union": True}
    before = rows(store, text, **union)
    assert rows(store, text, **union) == before
    assert rows(store, "SELECT ?x ?y FROM :h { ?x :likes ?y }") == [("ada", "tea"), ("dan", "rum")]
    store.add(Quad(NamedNode(EX + "cy"), NamedNode(EX + "likes"), NamedNode(EX + "gin")))
    assert rows(store, text, **union) == sorted([*before, ("cy", "gin")])
    assert rows(store, text, facts="inferred", **union) == []
    assert rows(store, text, **union) == sorted([*before, ("cy", "gin")])


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("EXISTS { ?x :name ?n }", ["ada"]),
        ("NOT EXISTS { ?x :name ?n }", ["bob"]),
        ("!EXISTS { ?x :name ?n }", ["bob"]),
        ("!(NOT EXISTS { ?x :name ?n })", ["ada"]),
        ("!(!EXISTS { ?x :name ?n })", ["ada"]),
        ("EXISTS { ?x :name ?n } || ?a > 40", ["ada", "bob"]),
        ("EXISTS { ?x :name ?n } && NOT EXISTS { ?x :knows :bob }", []),
    ],
)
def test_exists__denied_and_combined(
    store: Store, options: PlanOptions, condition: str, expected: list[str]
) -> None:
    text = f"SELECT ?x {{ ?x :age ?a FILTER({condition}) }}"
    assert rows(store, text, planning=options) == [(name,) for name in expected]


# --- scopes of variables and repetitions ---------------------------------------------------------


def test_filter__sees_what_its_own_group_binds(store: Store, options: PlanOptions) -> None:
    text = "SELECT ?x ?a { { ?x :knows ?y FILTER(!BOUND(?a)) } ?x :age ?a }"
    assert rows(store, text, planning=options) == [("ada", "36"), ("ada", "36"), ("bob", "41")]
    text = "SELECT ?x ?a { { ?x :knows ?y FILTER(?a > 1) } ?x :age ?a }"
    assert rows(store, text, planning=options) == []


def test_distinct__counts_columns_that_are_not_needed(store: Store, options: PlanOptions) -> None:
    text = "SELECT ?x { { SELECT DISTINCT ?x ?y { ?x :knows ?y . ?x :age ?a } } }"
    assert rows(store, text, planning=options) == [("ada",), ("ada",), ("bob",)]
    text = "SELECT (COUNT(*) AS ?n) { { SELECT DISTINCT ?x ?y { ?x :knows ?y } } }"
    assert rows(store, text, planning=options) == [("3",)]


def test_solutions__come_as_often_as_patterns_match(store: Store, options: PlanOptions) -> None:
    text = "SELECT ?x { ?x :knows ?y . ?x :age ?a . ?z :knows :cy }"
    assert rows(store, text, planning=options) == [("ada",)] * 4 + [("bob",)] * 2
    text = "SELECT ?x (COUNT(*) AS ?n) { ?x :age ?a . ?x :knows ?y . ?z :knows :cy } GROUP BY ?x"
    assert rows(store, text, planning=options) == [("ada", "4"), ("bob", "2")]
    text = "SELECT (COUNT(DISTINCT *) AS ?n) { ?x :age ?a . ?x :knows ?y . ?z :knows :cy }"
    assert rows(store, text, planning=options) == [("6",)]


def test_graph__of_any_predicate(store: Store, options: PlanOptions) -> None:
    texts = {
        "?x ?p :tea": [("g", "ada"), ("h", "ada")],
        ":dan ?p ?x": [("h", "rum")],
        "?x ?p ?y . ?z ?p ?y FILTER(?x != ?z)": [],
        ":ada ?p ?x . ?p ?q ?r": [],
        "?x ?p ?y . ?y ?q ?z": [],
        "?x :knows ?y . ?x ?p :tea": [("g", "ada")],
        "?y :likes :tea . ?y ?p ?x": [("g", "dan"), ("g", "tea"), ("h", "tea")],
    }
    for pattern, expected in texts.items():
        text = f"SELECT ?g ?x {{ GRAPH ?g {{ {pattern} }} }}"
        assert rows(store, text, planning=options) == expected, pattern
    found = rows(store, "SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } }", planning=options)
    quads = store.quads_for_pattern(None, None, None)
    named = [q for q in quads if isinstance(q.graph_name, NamedNode)]
    assert found == sorted(
        tuple(map(short, (q.graph_name, q.subject, q.predicate, q.object))) for q in named
    )


def test_exists__what_is_optional_inside_may_be_anything(
    store: Store, options: PlanOptions
) -> None:
    # ?y is that of the solution, so ?x :knows ?y need not hold for the pattern to have solutions.
    for inner in (
        "?z :name ?n OPTIONAL { ?z :knows ?y }",
        "?z :age ?b OPTIONAL { ?z :knows ?y } FILTER(?b > 40)",
        "{ ?z :age ?b OPTIONAL { ?z :knows ?y } } { ?z :age ?c }",
    ):
        text = f"SELECT ?x ?y {{ ?x :knows ?y FILTER EXISTS {{ {inner} }} }}"
        assert len(rows(store, text, planning=options)) == 3, inner


def test_exists__values_are_nothing_that_minus_has_in_common(
    store: Store, options: PlanOptions
) -> None:
    text = "SELECT ?x { ?x :age ?a FILTER EXISTS { ?x :knows ?y MINUS { ?x :name ?n } } }"
    assert rows(store, text, planning=options) == [("ada",), ("bob",)]
    text = "SELECT ?x { ?x :age ?a FILTER EXISTS { ?x :knows ?y MINUS { ?y :name ?n } } }"
    assert rows(store, text, planning=options) == [("ada",)]


def test_path__that_leads_nowhere_ends_the_join(store: Store, options: PlanOptions) -> None:
    text = "SELECT * { :nobody :knows+ ?x . ?x ?p ?y . ?x ?p :cy }"
    assert rows(store, text, planning=options) == []
    text = "SELECT * { { ?x :nothing ?y } UNION { ?z :nothing ?y } ?x ?p ?q . ?z ?p ?q }"
    assert rows(store, text, planning=options) == []
