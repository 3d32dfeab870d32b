"""rdflib's graphs over our store behave as over its store in memory."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rdflib", reason="the extra `rdflib` is not installed")

from rdflib import RDFS, XSD, BNode, Dataset, Graph, Literal, URIRef
from rdflib.collection import Collection
from rdflib.compare import isomorphic
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID, ConjunctiveGraph
from support.fuzzing import each_seed

from tests.rdflib_store.rdflib_helpers import (
    EX,
    GRAPHS,
    LITERALS,
    NODES,
    PROPERTIES,
    both,
    example,
    quads,
    the_same,
    triples,
)
from triplestore import Store, TripleStoreError
from triplestore.rdflib_store import TripleStore

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

# --- the same operations -------------------------------------------------------------------------


class RandomOperations:
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
    dice = RandomOperations(seed)
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
    dice = RandomOperations(seed)
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
def test_terms_outside_of_rdf__are_refused_and_not_found(triple: Any) -> None:
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
