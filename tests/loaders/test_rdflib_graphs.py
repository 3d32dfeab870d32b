"""Graphs and datasets of rdflib, loaded."""

from __future__ import annotations

from typing import Any

import pyoxigraph as ox
import pytest

from triplestore.errors import CancelledError, UsageError
from triplestore.loaders.rdflib_graphs import is_rdflib_graph, load_rdflib
from triplestore.loaders.report import Loaded
from triplestore.terms.dictionary import Dictionary

rdflib = pytest.importorskip("rdflib")

TURTLE = """
@prefix : <http://e.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:a :p :b, 1, 1.5, true, "x", "y"@en-GB, "2024-01-01"^^xsd:date, [ :q "in" ] .
:ä :p "é\\n\\"q\\"" .
"""
TRIG = "@prefix : <http://e.org/> . :a :p :b . :g { :c :p :d . :a :p :b } GRAPH _:n { :e :p 7 }"
EX = rdflib.Namespace("http://e.org/")


def quads(loaded: Loaded, dictionary: Dictionary) -> set[ox.Quad]:
    loaded.add_terms(dictionary)
    columns = [dictionary.terms(column) for column in (loaded.s, loaded.p, loaded.o)]
    graphs = [dictionary.term(g) if g else ox.DefaultGraph() for g in loaded.g.tolist()]
    return {ox.Quad(*row) for row in zip(*columns, graphs, strict=True)}


def canonical(found: Any) -> ox.Dataset:
    dataset = ox.Dataset(found)
    dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return dataset


def load(graph: Any, **reading: Any) -> set[ox.Quad]:
    dictionary = Dictionary()
    loaded = load_rdflib(graph, dictionary, **reading)
    found = quads(loaded, dictionary)
    assert len(found) == len(loaded) == loaded.files[0].statements
    assert loaded.has_named == any(q.graph_name != ox.DefaultGraph() for q in found)
    return found


def test_graph__gives_its_triples() -> None:
    graph = rdflib.Graph().parse(data=TURTLE, format="turtle")
    assert canonical(load(graph)) == canonical(ox.parse(TURTLE, ox.RdfFormat.TURTLE))
    assert load(rdflib.Graph()) == set()


def test_graph__goes_to_a_named_graph() -> None:
    graph = rdflib.Graph().add((EX.a, EX.p, EX.b))
    (quad,) = load(graph, to_graph=ox.NamedNode(EX.g))
    assert quad.graph_name == ox.NamedNode(EX.g)


def test_graph__blank_nodes_keep_their_labels() -> None:
    graph = rdflib.Graph().add((rdflib.BNode("n1"), EX.p, EX.b))
    assert load(graph) == load(graph)
    ((subject, *_),) = load(graph)
    assert subject == ox.BlankNode("n1")


@pytest.mark.parametrize("name", ["Dataset", "ConjunctiveGraph"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_dataset__gives_its_quads(name: str) -> None:
    graph = getattr(rdflib, name)()
    graph.parse(data=TRIG, format="trig")
    assert canonical(load(graph)) == canonical(ox.parse(TRIG, ox.RdfFormat.TRIG))
    moved = load(graph, to_graph=ox.NamedNode(EX.h))
    assert {str(q.graph_name)[:14] for q in moved if q.graph_name == ox.NamedNode(EX.h)}
    with pytest.raises(UsageError, match="a triple in the named graph"):
        load(graph, named_graphs="refuse")


def test_prefixes__only_those_that_are_used() -> None:
    graph = rdflib.Graph()
    graph.bind("e", EX)
    graph.add((EX.a, rdflib.RDFS.label, rdflib.Literal(5)))
    found = load_rdflib(graph, Dictionary()).prefixes
    assert found == {
        "e": str(EX),
        "rdfs": str(rdflib.RDFS),
        "xsd": "http://www.w3.org/2001/XMLSchema#",
    }


def test_known_terms__keep_their_ids() -> None:
    dictionary = Dictionary()
    known = dictionary.encode([ox.NamedNode(EX.b)])
    loaded = load_rdflib(rdflib.Graph().add((EX.a, EX.p, EX.b)), dictionary)
    assert loaded.o.tolist() == known.tolist()


def test_faults() -> None:
    graph = rdflib.Graph().add((rdflib.Literal("x"), EX.p, EX.b))
    with pytest.raises(UsageError, match="a triple that is not RDF"):
        load(graph)
    with pytest.raises(UsageError, match="named_graphs is 'keep' or 'refuse'"):
        load(rdflib.Graph(), named_graphs="drop")
    with pytest.raises(CancelledError):
        load_rdflib(graph, Dictionary(), cancel=lambda: True)


def test_is_rdflib_graph__knows_subclasses_too() -> None:
    class Own(rdflib.Graph):
        pass

    assert is_rdflib_graph(Own())
    assert is_rdflib_graph(rdflib.Dataset())
    assert not is_rdflib_graph(rdflib.URIRef("http://e.org/"))
