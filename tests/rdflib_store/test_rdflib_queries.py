"""Queries, updates, functions and LOAD of rdflib over our store have the results of rdflib."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rdflib", reason="the extra `rdflib` is not installed")

from rdflib import RDFS, Dataset, Graph, Literal, URIRef
from rdflib.compare import isomorphic
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID, ConjunctiveGraph
from rdflib.plugins.sparql import prepareQuery

from tests.rdflib_store.rdflib_helpers import EX, LITERALS, both, example, quads, triples
from triplestore import NamedNode, Store, TripleStoreError
from triplestore.rdflib_store import TripleStore

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.mark.parametrize(
    ("text", "bindings"),
    [
        ("SELECT ?x ?n { ?x ex:p ?n }", {}),
        ("SELECT ?x ?y { ?x ex:q ?y OPTIONAL { ?x ex:name ?n } FILTER(!BOUND(?n)) }", {}),
        ("SELECT ?x ?n { ?x ex:p ?n }", {"x": EX.b}),
        ("SELECT ?n { ?x ex:p ?n FILTER(?n > ?least) }", {"least": Literal(0)}),
        ("SELECT ?x { ?x ex:p ?n }", {"n": Literal(5)}),
        ("SELECT (SUM(?n) AS ?sum) { ?x ex:p ?n }", {}),
        ("SELECT ?g ?n { GRAPH ?g { ?x ex:p ?n } }", {}),
        ("ASK { ex:a ex:q ex:c }", {}),
        ("ASK { ex:a ex:q ?y }", {"y": EX.a}),
    ],
)
def test_query__gives_what_rdflib_gives(text: str, bindings: dict[str, Any]) -> None:
    theirs, ours = (example(store).query(text, initBindings=bindings) for store in STORES)
    assert theirs.type == ours.type
    if theirs.type == "ASK":
        assert bool(theirs) == bool(ours)
        return
    assert theirs.vars == ours.vars
    rows = [sorted(map(tuple, result), key=repr) for result in (theirs, ours)]
    assert rows[0] == rows[1]
    assert len(theirs) == len(ours)


STORES = ("default", "triplestore")


def test_query__of_prepared_text_with_its_own_prefixes() -> None:
    asked = prepareQuery("SELECT ?n { ?x e:p ?n }", initNs={"e": EX})
    results = [example(store).query(asked, initBindings={"x": EX.b}) for store in STORES]
    assert [[int(row.n) for row in result] for result in results] == [[1], [1]]


def test_query__runs_on_our_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = example("triplestore")
    monkeypatch.setattr("rdflib.plugins.sparql.processor.SPARQLProcessor.query", None)
    assert len(dataset.query("SELECT * { ?s ?p ?o }")) == 7
    assert len(dataset.graph(EX.g).query("SELECT * { ?s ?p ?o }")) == 1
    union = Dataset(store=dataset.store, default_union=True)
    assert len(union.query("SELECT * { ?s ?p ?o }")) == 8


def test_query__constructs_graphs() -> None:
    results = [
        example(store).query("CONSTRUCT { ?y ex:by ?x } WHERE { ?x ex:q ?y }").graph
        for store in STORES
    ]
    assert isomorphic(*results)
    assert len(results[1]) == 3


def test_query__results_are_serialized() -> None:
    result = example("triplestore").query("SELECT ?n { ex:b ex:p ?n }")
    assert result.serialize(format="csv") == b"n\r\n1\r\n"


def test_query__errors_have_a_place() -> None:
    with pytest.raises(SyntaxError, match="input:1:"):
        example("triplestore").query("SELECT * { ?s ?p }")


@pytest.mark.parametrize(
    ("text", "bindings"),
    [
        ("DELETE DATA { ex:a ex:p 0 }", {}),
        ("DELETE { ?x ex:p ?n } INSERT { ?x ex:r ?n } WHERE { ?x ex:p ?n FILTER(?n > 0) }", {}),
        ("INSERT { ?x ex:r 1 } WHERE { ?x ex:p ?n }", {"n": Literal(1)}),
        ("INSERT DATA { GRAPH ex:new { ex:x ex:p 5 } } ; CLEAR GRAPH ex:g", {}),
        ("DELETE WHERE { ?x ex:q ?y }", {}),
    ],
)
def test_update__does_what_rdflib_does(text: str, bindings: dict[str, Any]) -> None:
    theirs, ours = map(example, STORES)
    for dataset in (theirs, ours):
        dataset.update(text, initBindings=bindings)
    assert quads(theirs) == quads(ours)


def test_update__inserts_data() -> None:
    results = []
    for store in STORES:
        graph = Graph(store=store)
        graph.update("PREFIX ex: <http://ex.org/> INSERT DATA { ex:x ex:p 5, _:b . _:b ex:p 'é' }")
        results.append(graph)
    assert isomorphic(*results)
    dataset = example("triplestore")  # over its own store, rdflib itself cannot do this
    dataset.update("INSERT DATA { ex:x ex:p 5 }")
    assert (EX.x, EX.p, Literal(5)) in dataset


def test_update__of_a_named_graph_stays_in_it() -> None:
    theirs, ours = map(example, STORES)
    for dataset in (theirs, ours):
        dataset.graph(EX.g).update("INSERT DATA { ex:x ex:p 5 }", initNs={"ex": EX})
        dataset.graph(EX.g).update("DELETE { ?x ?p 7 } WHERE { ?x ?p 7 }")
    assert quads(theirs) == quads(ours)


def test_conjunctive_graphs__see_all_graphs() -> None:
    results = []
    for store in STORES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            graph = ConjunctiveGraph(store=store)
        graph.add((EX.a, EX.p, EX.b))
        graph.get_context(EX.g).add((EX.a, EX.p, EX.c))
        graph.get_context(EX.g).add((EX.a, EX.p, EX.b))
        found = graph.query("SELECT ?o { ?s ?p ?o }")
        results.append(
            (
                len(graph),
                triples(graph),
                sorted(str(row.o) for row in found),
                len(graph.get_context(EX.g)),
            )
        )
    assert results[0] == results[1]
    assert results[1][0] == 2


def test_our_own_store__is_behind_it() -> None:
    store = Store()
    store.load("<http://ex.org/a> <http://ex.org/p> 1 .", "ttl")
    graph = Graph(TripleStore(store), identifier=DATASET_DEFAULT_GRAPH_ID)
    assert list(graph) == [(EX.a, EX.p, Literal(1))]
    graph.add((EX.b, EX.p, Literal(2)))
    behind = graph.store
    assert isinstance(behind, TripleStore)
    assert len(list(behind.store.quads_for_pattern(NamedNode(str(EX.b)), None, None))) == 1


# --- what rdflib allows beyond the standards -----------------------------------------------------


def test_relative_iris__stay_as_they_are(tmp_path: Path) -> None:
    theirs, ours = both(lambda store: Graph(store=store))
    for graph in (theirs, ours):
        graph.add((URIRef("pizza"), URIRef("../likes"), URIRef("")))
        graph.add((EX.a, EX.p, URIRef("#x")))
    assert triples(ours) == triples(theirs)
    text = "SELECT ?s ?o { ?s <../likes> ?o }"
    assert list(ours.query(text)) == list(theirs.query(text)) == [(URIRef("pizza"), URIRef(""))]
    for graph in (theirs, ours):
        graph.update("DELETE { <pizza> ?p ?o } INSERT { <pasta> ?p ?o } WHERE { <pizza> ?p ?o }")
    assert triples(ours) == triples(theirs)
    kept = Graph(TripleStore(tmp_path / "s"))
    kept.add((URIRef("a"), URIRef("b"), URIRef("c")))
    kept.close()
    assert list(Graph(TripleStore(tmp_path / "s"))) == [(URIRef("a"), URIRef("b"), URIRef("c"))]


def test_invalid_iris__are_refused() -> None:
    with pytest.raises(TripleStoreError, match="not a valid RDF term"):
        Graph(store="triplestore").add((URIRef("http://e/a b"), EX.p, EX.b))


def test_usual_prefixes__need_no_declaration() -> None:
    graph = Graph(store="triplestore")
    graph.add((EX.a, RDFS.label, Literal("a")))
    found = graph.query("SELECT ?s { ?s rdfs:label ?l ; ex:q* ?s }", initNs={"ex": EX})
    assert list(found) == [(EX.a,)]
    assert len(graph.query("SELECT ?s { ?s rdfs:label ?l }", initNs={"rdfs": EX})) == 0


@pytest.fixture
def shout() -> Any:
    """A function of a user that makes strings loud."""
    from rdflib.plugins.sparql.operators import (
        register_custom_function,
        unregister_custom_function,
    )

    def shout(text: Literal) -> Literal:
        if text.datatype is not None:
            raise TypeError("not a string")
        return Literal(text.upper(), lang=text.language)

    register_custom_function(EX.shout, shout)
    yield shout
    unregister_custom_function(EX.shout, shout)


def test_custom_functions__run_on_our_engine(shout: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs, ours = both(lambda store: Graph(store=store))
    for graph in (theirs, ours):
        for literal in LITERALS:
            graph.add((EX.a, EX.p, literal))
    text = f"SELECT ?l ?m {{ ?s ?p ?l BIND(<{EX.shout}>(?l) AS ?m) }}"
    assert set(ours.query(text)) == set(theirs.query(text))
    monkeypatch.setattr("rdflib.plugins.sparql.processor.SPARQLProcessor.query", None)
    assert len(ours.query(text)) == len(LITERALS)


def test_raw_custom_functions__are_evaluated_by_rdflib() -> None:
    from rdflib.plugins.sparql import operators

    operators.register_custom_function(EX.raw, lambda expr, ctx: Literal(len(expr.expr)), raw=True)
    try:
        graph = Graph(store="triplestore")
        found = list(graph.query(f"SELECT (<{EX.raw}>(1, 2) AS ?n) {{}}"))
        assert found == [(Literal(2),)]
    finally:
        operators.unregister_custom_function(EX.raw)


@pytest.mark.parametrize("bindings", [{}, {"x": EX.a}])
@pytest.mark.parametrize("named", [False, True])
def test_load__reads_what_is_allowed_only(
    tmp_path: Path, bindings: dict[str, Any], named: bool
) -> None:
    (tmp_path / "a.ttl").write_text("<http://e/a> <http://e/p> 1 .")
    store = TripleStore()
    graph = Graph(store, EX.g) if named else Graph(store)
    text = f"LOAD <{(tmp_path / 'a.ttl').as_uri()}>"
    with pytest.raises(TripleStoreError, match="not allowed"):
        graph.update(text, initBindings=bindings)
    assert len(graph) == 0
    store.load_from = [tmp_path.as_uri()]
    graph.update(text, initBindings=bindings)
    assert len(graph) == 1


def test_n3__is_read_unless_it_has_formulas() -> None:
    graph = Graph(store="triplestore")
    graph.parse(data="@prefix : <http://e/> . :a :p 1 ; = :b .", format="n3")
    assert len(graph) == 2
    with pytest.raises(TripleStoreError, match="formula"):
        graph.parse(data="@prefix : <http://e/> . { :a :p 1 } :says :b .", format="n3")


# --- SERVICE -------------------------------------------------------------------------------------


def test_service__asks_what_is_allowed() -> None:
    pytest.importorskip("starlette", reason="the extra `server` is not installed")
    from tests.support.endpoints import served_endpoint
    from triplestore import Store
    from triplestore.errors import ServiceError

    other = Store()
    other.load("<http://e/a> <http://e/p> 1 .", "ttl")
    graph = Graph(store="triplestore")
    with served_endpoint(other) as place:
        text = f"SELECT ?y {{ SERVICE <{place}> {{ ?x <http://e/p> ?y }} }}"
        with pytest.raises(ServiceError, match="is not allowed"):
            list(graph.query(text))
        graph.store.allow_service = [place]
        assert [int(row.y) for row in graph.query(text)] == [1]
        graph.update(f"INSERT {{ <http://e/b> <http://e/q> ?y }} WHERE {text[10:]}")
        assert len(graph) == 1


def test_service__is_not_left_to_rdflib() -> None:
    graph = Graph(store="triplestore")
    text = "SELECT * { SERVICE <http://127.0.0.1:9/> { ?x <relative> ?y } }"
    with pytest.raises(ValueError, match="rdflib itself would evaluate"):
        graph.query(text)
    with pytest.raises(ValueError, match="rdflib itself would evaluate"):
        graph.update(f"INSERT {{ <http://e/b> <http://e/q> ?y }} WHERE {text[9:]}")
    assert len(graph.query("SELECT * { ?x <relative> ?y }")) == 0
