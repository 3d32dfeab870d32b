"""rdflib's graphs over our store behave as over its own store in memory."""

from __future__ import annotations

import random
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rdflib", reason="the extra `rdflib` is not installed")

from rdflib import RDF, RDFS, XSD, BNode, Dataset, Graph, Literal, Namespace, URIRef
from rdflib.collection import Collection
from rdflib.compare import isomorphic
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID, ConjunctiveGraph
from rdflib.plugins.sparql import prepareQuery
from rdflib.store import NO_STORE, VALID_STORE
from support.fuzzing import each_seed

from triplestore import NamedNode, Store, TripleStoreError
from triplestore.rdflib_store import TripleStore
from triplestore.rdflib_store.plugin import MAX_PENDING

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

EX = Namespace("http://ex.org/")
NODES = [EX.a, EX.b, EX.c, BNode("x"), BNode("y")]
PROPERTIES = [EX.p, EX.q, RDF.type]
LITERALS = [
    Literal("a"),
    Literal("a", lang="en"),
    Literal("a", lang="fr-be"),
    Literal("1", datatype=XSD.integer),
    Literal("01", datatype=XSD.integer, normalize=False),
    Literal("x", datatype=EX.d),
    Literal('say "hi"\n\\ \u00e9 \U0001f600'),
    Literal("2020-01-01", datatype=XSD.date),
    Literal(1.5),
    Literal(True),
]
GRAPHS = [EX.g, EX.h]


def both(make: Callable[[Any], Graph]) -> tuple[Graph, Graph]:
    """The same kind of graph over rdflib's store and over ours."""
    return make("default"), make("triplestore")


def quads(dataset: Dataset, pattern: Any = None) -> list[Any]:
    found = list(dataset.quads(pattern or (None, None, None, None)))
    assert len(set(found)) == len(found)
    return sorted(found, key=repr)


def triples(graph: Graph, pattern: Any = (None, None, None)) -> list[Any]:
    found = list(graph.triples(pattern))
    assert len(set(found)) == len(found)
    return sorted(found, key=repr)


def the_same(one: Graph, other: Graph) -> bool:
    """True if graphs, or all graphs of datasets, are the same but for blank nodes."""
    if not isinstance(one, Dataset) or not isinstance(other, Dataset):
        return bool(isomorphic(one, other))
    parts = [{g.identifier: Graph() + g for g in dataset.graphs()} for dataset in (one, other)]
    names = sorted(parts[0])
    return names == sorted(parts[1]) and all(
        isomorphic(parts[0][name], parts[1][name]) for name in names
    )


# --- the same operations -------------------------------------------------------------------------


class Dice:
    """Random operations, the same ones for two datasets."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def triple(self, holes: float = 0.0) -> Any:
        choices = (NODES, PROPERTIES, NODES + LITERALS)
        return tuple(
            None if self.random.random() < holes else self.random.choice(terms) for terms in choices
        )

    def graph(self) -> Any:
        return self.random.choice([*GRAPHS, DATASET_DEFAULT_GRAPH_ID])

    def operation(self) -> Callable[[Dataset], object]:
        kind = self.random.choice(["add"] * 5 + ["remove", "remove", "pattern", "addN", "graph"])
        triple, graph = self.triple(), self.graph()
        pattern = self.triple(0.6)
        everywhere = self.random.random() < 0.3
        if kind == "add":
            return lambda dataset: dataset.add((*triple, graph))
        if kind == "remove":
            return lambda dataset: dataset.remove((*triple, None if everywhere else graph))
        if kind == "pattern":
            return lambda dataset: dataset.remove((*pattern, None if everywhere else graph))
        if kind == "addN":
            many = [(*self.triple(), self.graph()) for _ in range(5)]
            return lambda dataset: dataset.addN(
                [(s, p, o, dataset.get_context(g)) for s, p, o, g in many]
            )
        if self.random.random() < 0.5:
            return lambda dataset: dataset.remove_graph(graph)
        return lambda dataset: dataset.graph(graph)


@pytest.mark.parametrize("union", [False, True])
@each_seed(range(12))
def test_datasets__random_operations(seed: int, union: bool) -> None:
    dice = Dice(seed)
    theirs, ours = both(lambda store: Dataset(store=store, default_union=union))
    for _ in range(60):
        operation = dice.operation()
        operation(theirs)
        operation(ours)
        if dice.random.random() < 0.3:
            pattern, graph = dice.triple(0.6), dice.graph()
            assert quads(theirs, (*pattern, None)) == quads(ours, (*pattern, None))
            assert quads(theirs, (*pattern, graph)) == quads(ours, (*pattern, graph))
            assert triples(theirs, pattern) == triples(ours, pattern)
            assert len(theirs) == len(ours)
            assert len(theirs.graph(graph)) == len(ours.graph(graph))
            triple = dice.triple()
            assert (triple in theirs) == (triple in ours)
    assert quads(theirs) == quads(ours)
    names = [{graph.identifier for graph in dataset.graphs()} for dataset in (theirs, ours)]
    assert names[0] == names[1]


@each_seed(range(6))
def test_graphs__random_operations(seed: int) -> None:
    dice = Dice(seed)
    theirs, ours = both(lambda store: Graph(store=store))
    for _ in range(60):
        triple, pattern = dice.triple(), dice.triple(0.6)
        for graph in (theirs, ours):
            graph.add(triple)
        if dice.random.random() < 0.2:
            theirs.remove(pattern)
            ours.remove(pattern)
        assert triples(theirs, pattern) == triples(ours, pattern)
        assert len(theirs) == len(ours)
    assert set(theirs.subjects()) == set(ours.subjects())
    assert set(theirs.predicate_objects(EX.a)) == set(ours.predicate_objects(EX.a))
    assert isomorphic(theirs, ours)


@pytest.mark.parametrize("make", [Graph, ConjunctiveGraph, Dataset])
@pytest.mark.parametrize("form", ["turtle", "xml", "json-ld", "trig", "nquads"])
def test_documents__are_read_and_written(make: Callable[..., Graph], form: str) -> None:
    source = Dataset()
    source.add((EX.a, EX.p, Literal("x", lang="de")))
    source.add((EX.a, EX.q, BNode()))
    if form in ("trig", "nquads", "json-ld") and make is not Graph:
        source.add((EX.b, EX.p, Literal(5), EX.g))
    text = source.serialize(format=form)
    theirs, ours = both(lambda store: make(store=store))
    for graph in (theirs, ours):
        graph.parse(data=text, format=form)
    assert the_same(theirs, ours)
    if make is Graph and form in ("trig", "nquads"):
        return  # rdflib does not write one graph so that it is read back as one
    again = make().parse(data=ours.serialize(format=form), format=form)
    assert the_same(theirs, again)
    assert len(ours) == len(source)


# --- one by one ----------------------------------------------------------------------------------


def test_terms__come_back_as_they_went_in() -> None:
    graph = Graph(store="triplestore")
    for literal in LITERALS:
        graph.add((EX.a, EX.p, literal))
    found = set(graph.objects(EX.a, EX.p))
    assert found == set(LITERALS)
    kept = {(str(o), o.language, o.datatype) for o in found if isinstance(o, Literal)}
    assert kept == {(str(o), o.language, o.datatype) for o in LITERALS}
    node = BNode()
    graph.add((node, EX.p, node))
    assert (node, EX.p, node) in graph


def test_strings__of_both_spellings_are_one_literal() -> None:
    graph = Graph(store="triplestore")
    graph.add((EX.a, EX.p, Literal("a", datatype=XSD.string)))
    assert list(graph.objects()) == [Literal("a")]
    assert (EX.a, EX.p, Literal("a", datatype=XSD.string)) in graph


@pytest.mark.parametrize(
    "triple",
    [(Literal("a"), EX.p, EX.a), (EX.a, BNode(), EX.a), (EX.a, URIRef("not an iri"), EX.a)],
)
def test_what_is_no_rdf__is_refused_and_not_found(triple: Any) -> None:
    graph = Graph(store="triplestore")
    with pytest.raises(TripleStoreError):
        graph.add(triple)
    assert triple not in graph
    graph.remove(triple)
    assert len(graph) == 0


def test_add_and_subtract__graphs() -> None:
    for store in ("default", "triplestore"):
        graph, other = Graph(store=store), Graph()
        other.add((EX.a, EX.p, EX.b)).add((EX.b, EX.p, EX.c))
        graph += other
        assert len(graph) == 2
        graph -= [(EX.a, EX.p, EX.b)]
        assert list(graph) == [(EX.b, EX.p, EX.c)]
        assert len(graph + other) == 2
        graph.set((EX.b, EX.p, EX.d))
        assert list(graph) == [(EX.b, EX.p, EX.d)]


def test_remove__by_pattern() -> None:
    graph = Graph(store="triplestore")
    for node in (EX.a, EX.b):
        graph.add((node, EX.p, EX.c)).add((node, EX.q, EX.c))
    graph.remove((None, EX.p, None))
    assert triples(graph) == [(EX.a, EX.q, EX.c), (EX.b, EX.q, EX.c)]
    graph.remove((None, None, None))
    assert len(graph) == 0


def test_contexts__two_of_one_store() -> None:
    store = TripleStore()
    one, two = Graph(store, identifier=EX.g), Graph(store, identifier=EX.h)
    one.add((EX.a, EX.p, EX.b))
    two.add((EX.a, EX.p, EX.b)).add((EX.a, EX.p, EX.c))
    assert (len(one), len(two)) == (1, 2)
    whole = Dataset(store=store)
    assert {graph.identifier for graph in store.contexts((EX.a, EX.p, EX.b))} == {EX.g, EX.h}
    ((_, contexts),) = store.triples((EX.a, EX.p, EX.b))
    assert {graph.identifier for graph in contexts} == {EX.g, EX.h}
    one.remove((EX.a, None, None))
    assert (len(one), len(two), len(whole.store)) == (0, 2, 2)


def test_graphs_without_names__do_not_mix() -> None:
    store = TripleStore()
    one, two = Graph(store), Graph(store)
    one.add((EX.a, EX.p, EX.b))
    two.add((EX.a, EX.p, EX.c))
    assert list(one) == [(EX.a, EX.p, EX.b)]
    assert list(two) == [(EX.a, EX.p, EX.c)]
    assert store.store.query("ASK { <http://ex.org/a> <http://ex.org/p> <http://ex.org/b> }")


def test_collections_and_resources__work() -> None:
    graph = Graph(store="triplestore")
    items = Collection(graph, BNode(), [Literal(n) for n in range(5)])
    items.append(EX.a)
    assert [str(item) for item in items][-1] == str(EX.a)
    assert len(items) == 6
    graph.add((EX.a, RDFS.subClassOf, EX.b)).add((EX.b, RDFS.subClassOf, EX.c))
    assert list(graph.transitive_objects(EX.a, RDFS.subClassOf)) == [EX.a, EX.b, EX.c]
    assert {o for _, o in graph.subject_objects(RDFS.subClassOf * "+")} == {EX.b, EX.c}
    assert list(graph.triples_choices((EX.a, [RDFS.subClassOf, EX.p], None)))


def test_prefixes__are_bound_as_in_memory_and_kept(tmp_path: Path) -> None:
    theirs, ours = both(lambda store: Graph(store=store))
    for graph in (theirs, ours):
        graph.bind("ex", EX)
        graph.bind("other", EX, override=False)
        graph.bind("ex", URIRef("http://elsewhere.org/"))
        graph.bind("again", EX)
    assert dict(theirs.namespaces()) == dict(ours.namespaces())
    graph = Graph(TripleStore(tmp_path / "s"))
    graph.bind("ex", EX)
    graph.add((EX.a, EX.p, EX.b))
    graph.close()
    with Store(tmp_path / "s") as store:
        assert dict(store.prefixes) == {"ex": "http://ex.org/"}


# --- directories and commits ---------------------------------------------------------------------


def test_open__keeps_what_was_added(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    assert Graph(store="triplestore").open(path) == NO_STORE
    graph = Graph(store="triplestore")
    assert graph.open(path, create=True) == VALID_STORE
    graph.add((EX.a, EX.p, EX.b))
    graph.close()
    again = Graph(store="triplestore")
    assert again.open(path) == VALID_STORE
    assert list(again) == [(EX.a, EX.p, EX.b)]
    again.close()
    with Store(path) as store:
        assert [str(quad.graph_name) for quad in store] == ["DEFAULT"]
    Graph(store="triplestore").destroy(path)
    assert not Path(path).exists()


def test_open__does_not_lose_what_is_in_memory(tmp_path: Path) -> None:
    graph = Graph(store="triplestore")
    graph.add((EX.a, EX.p, EX.b))
    with pytest.raises(TripleStoreError, match="lost"):
        graph.open(str(tmp_path / "s"), create=True)
    assert len(graph) == 1


@pytest.mark.parametrize("empty", [False, True])
def test_open__that_finds_no_store_refuses_what_would_be_lost(tmp_path: Path, empty: bool) -> None:
    path = tmp_path / "s"
    if empty:
        path.mkdir()
    graph = Graph(store="triplestore")
    graph.bind("ex", EX)
    assert graph.open(str(path)) == NO_STORE
    for use in (
        lambda: graph.add((EX.a, EX.p, EX.b)),
        lambda: graph.addN([(EX.a, EX.p, EX.b, graph)]),
        lambda: graph.parse(data="<http://e/a> <http://e/p> 1 .", format="turtle"),
        lambda: graph.update("INSERT DATA { <http://e/a> <http://e/p> 1 }"),
        lambda: graph.bind("other", "http://other.org/"),
        lambda: graph.remove((None, None, None)),
        lambda: len(graph),
        graph.commit,
    ):
        with pytest.raises(TripleStoreError, match="create=True"):
            use()
    assert path.exists() == empty
    assert graph.open(str(path), create=True) == VALID_STORE
    graph.add((EX.a, EX.p, EX.b))
    graph.close()
    with Store(path) as store:
        assert len(store) == 1 and store.prefixes["ex"] == str(EX)


def test_close__where_no_store_was_found_is_no_error(tmp_path: Path) -> None:
    graph = Graph(store="triplestore")
    assert graph.open(str(tmp_path / "s")) == NO_STORE
    graph.close()


@pytest.mark.parametrize("end", ["", "del graph", "raise SystemExit(3)"])
def test_what_waits__is_committed_when_the_process_ends(tmp_path: Path, end: str) -> None:
    program = f"""
from rdflib import Graph, URIRef
graph = Graph(store="triplestore")
graph.open({str(tmp_path / "s")!r}, create=True)
graph.add((URIRef("http://ex.org/a"),) * 3)
{end}
"""
    subprocess.run([sys.executable, "-c", program], check=not end.startswith("raise"))
    with Store(tmp_path / "s") as store:
        assert len(store) == 1


def test_destroy__leaves_other_directories_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(TripleStoreError):
        TripleStore().destroy(str(tmp_path))
    assert (tmp_path / "file").exists()


def test_commits__are_made_of_many_additions() -> None:
    store = Store()
    graph = Graph(TripleStore(store))
    for number in range(100):
        graph.add((EX.a, EX.p, Literal(number)))
    assert (store.commit, len(store)) == (0, 0)
    assert len(graph) == 100
    assert store.commit == 1
    graph.add((EX.a, EX.p, EX.b))
    graph.commit()
    assert (store.commit, len(store)) == (2, 101)
    graph.add((EX.a, EX.p, EX.c))
    graph.rollback()
    assert len(graph) == 101
    for number in range(MAX_PENDING):
        graph.add((EX.a, EX.q, Literal(number)))
    assert len(store) == 101 + MAX_PENDING


def test_inferred_triples__are_seen_and_not_removed() -> None:
    store = Store()
    store.reason(rules="@prefix : <http://ex.org/> . :q[?y, ?x] :- :p[?x, ?y] .")
    graph = Graph(TripleStore(store))
    graph.add((EX.a, EX.p, EX.b))
    assert (EX.b, EX.q, EX.a) in graph
    graph.remove((EX.b, EX.q, EX.a))
    assert (EX.b, EX.q, EX.a) in graph
    graph.remove((EX.a, None, None))
    assert len(graph) == 0


def test_n_quads__read_into_a_graph_leave_what_is_there() -> None:
    graph = Graph(store="triplestore")
    graph.add((EX.a, EX.p, EX.b))
    graph.parse(data="<http://ex.org/a> <http://ex.org/p> <http://ex.org/c> .\n", format="nquads")
    assert len(graph) == 2


# --- SPARQL --------------------------------------------------------------------------------------


def example(store: Any) -> Dataset:
    dataset = Dataset(store=store)
    for number, node in enumerate((EX.a, EX.b, EX.c)):
        dataset.add((node, EX.p, Literal(number)))
        dataset.add((node, EX.q, NODES[number - 1]))
    dataset.add((EX.a, EX.name, Literal("A", lang="en")))
    dataset.add((EX.c, EX.p, Literal(7), EX.g))
    dataset.bind("ex", EX)
    return dataset


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


# --- names and terms -----------------------------------------------------------------------------


def test_blank_nodes__of_documents_name_graphs() -> None:
    dataset = Dataset(store="triplestore")
    dataset.parse(data="_:g { <http://ex.org/a> <http://ex.org/p> 1 }", format="trig")
    assert len(dataset.default_graph) == 0
    (graph,) = (graph for graph in dataset.graphs() if len(graph))
    assert isinstance(graph.identifier, BNode)


def test_terms__are_right_after_ids_have_changed(tmp_path: Path) -> None:
    graph = Graph(TripleStore(tmp_path / "s"))
    graph.add((EX.z, EX.p, Literal("gone")))
    for node in (EX.c, EX.b, EX.a):
        graph.add((node, EX.p, Literal(str(node))))
    graph.remove((EX.z, None, None))
    before = triples(graph)
    behind = graph.store
    assert isinstance(behind, TripleStore)
    behind.store.optimize()
    assert triples(graph) == before
    graph.close()


def test_values_of_bindings__are_terms_of_rdf() -> None:
    with pytest.raises(TripleStoreError):
        example("triplestore").query("ASK { ?x ?y ?z }", initBindings={"x": URIRef("no iri")})


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
