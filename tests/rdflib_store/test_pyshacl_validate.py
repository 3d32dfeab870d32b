"""`validate` of this package beside that of pySHACL."""

from __future__ import annotations

from pathlib import Path

import pytest
import rdflib
from rdflib.compare import isomorphic

from triplestore import Store
from triplestore.errors import UsageError
from triplestore.rdflib_store import TripleStore, validate

DATA = """@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Pilot rdfs:subClassOf :Human . :ada a :Pilot ; :knows [ a :Human ] ."""
SHAPES = """@prefix : <http://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
:S sh:targetClass :Human ; sh:property :P .
:P sh:path :name ; sh:minCount 1 ; sh:message "no name" ; sh:severity sh:Warning ."""
ONTOLOGY = """@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:knows rdfs:range :Named ."""


def graph(text: str) -> rdflib.Graph:
    return rdflib.Graph().parse(data=text, format="turtle")


def test_answers__are_those_of_pyshacl() -> None:
    pyshacl = pytest.importorskip("pyshacl", reason="pySHACL is what this compares with")
    data = DATA.replace("[ a :Human ]", ":bob . :bob a :Human")  # it copies blank nodes
    ours = validate(graph(data), shacl_graph=graph(SHAPES))
    theirs = pyshacl.validate(graph(data), shacl_graph=graph(SHAPES))
    assert ours[0] is theirs[0] is False
    assert isomorphic(ours[1], theirs[1])
    assert sorted(ours[2].splitlines()) == sorted(theirs[2].splitlines())
    assert validate(graph(DATA), shacl_graph=graph(SHAPES), allow_warnings=True)[0]


@pytest.mark.parametrize("way", ["graph", "text", "path", "store", "plugin", "snapshot"])
def test_data__come_from_anywhere(way: str, tmp_path: Path) -> None:
    store = Store()
    store.load(DATA, "ttl")
    (tmp_path / "data.ttl").write_text(DATA)
    data = {
        "graph": graph(DATA),
        "text": DATA,
        "path": str(tmp_path / "data.ttl"),
        "store": store,
        "plugin": rdflib.Graph(TripleStore(store)),
        "snapshot": store.snapshot(),
    }[way]
    conforms, report, _ = validate(data, shacl_graph=SHAPES)
    severity = rdflib.URIRef("http://www.w3.org/ns/shacl#resultSeverity")
    assert (conforms, len(list(report.subject_objects(severity)))) == (False, 2)
    assert len(store) == 4


def test_rules__are_applied_if_wanted() -> None:
    rule = """ :S sh:rule [ sh:subject sh:this ; sh:predicate :name ; sh:object "made" ] .
        :S sh:targetClass :Pilot ."""
    assert not validate(graph(DATA), shacl_graph=SHAPES + rule)[0]
    _, report, _ = validate(graph(DATA), shacl_graph=SHAPES + rule, advanced=True)
    focus = rdflib.URIRef("http://www.w3.org/ns/shacl#focusNode")
    assert rdflib.URIRef("http://example.org/ada") not in set(report.objects(None, focus))


def test_inference_and_ontology__change_nothing_in_a_store() -> None:
    store = Store()
    store.load(DATA, "ttl")
    shapes = SHAPES.replace("targetClass :Human", "targetClass :Named")
    assert validate(store, shacl_graph=shapes, ont_graph=ONTOLOGY)[0]
    assert not validate(store, shacl_graph=shapes, ont_graph=ONTOLOGY, inference="rdfs")[0]
    assert len(store) == 4
    with pytest.raises(UsageError, match="inference"):
        validate(store, inference="owl")
    with pytest.raises(UsageError, match="shape_graph"):
        validate(store, shape_graph=shapes)
