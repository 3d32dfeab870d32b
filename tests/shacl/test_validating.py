"""`Store.validate` and its report."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pyoxigraph as ox
import pytest

from triplestore import Store
from triplestore.errors import CancelledError, ShapesError, UsageError

PREFIXES = """@prefix : <http://example.org/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
"""
NAMED = ":S sh:targetClass :Person ; sh:property [ sh:path :name ; sh:minCount 1 ] ."


def store_of(data: str) -> Store:
    store = Store()
    store.load(PREFIXES + data, "ttl")
    return store


def found(store: Store, shapes: object, **options: object) -> list[str]:
    if isinstance(shapes, str):
        shapes = PREFIXES + shapes
    return [str(result) for result in store.validate(shapes, **options)]


def test_validate__sees_the_facts_that_it_is_told() -> None:
    store = store_of(":Pilot rdfs:subClassOf :Person . :ada a :Pilot .")
    store.reason(rules="@prefix : <http://example.org/> . :name[?x, ?x] :- :Pilot[?x] .")
    assert found(store, NAMED) == []
    assert found(store, NAMED, facts="explicit") == [
        "Violation: :ada :name: has fewer than 1 value"
    ]


def test_validate__reads_chosen_graphs() -> None:
    store = Store()
    a, b = ox.NamedNode("http://example.org/a"), ox.NamedNode("http://example.org/b")
    store.load(PREFIXES + ":ada a :Person .", "ttl", to_graph=a)
    store.load(PREFIXES + ':ada :name "Ada" .', "ttl", to_graph=b)
    assert found(store, NAMED) == []
    assert len(found(store, NAMED, default_graph=a)) == 1
    assert found(store, NAMED, default_graph=[a, b]) == []
    assert found(store, NAMED, use_default_graph_as_union=True) == []


@pytest.mark.parametrize("way", ["own", "graph", "text", "file", "store", "quads", "list"])
def test_shapes__come_from_anywhere(way: str, tmp_path: Path) -> None:
    store = store_of(":ada a :Person .")
    text = PREFIXES + NAMED
    shapes: object = text
    if way in ("own", "graph"):
        name = ox.NamedNode("http://example.org/shapes")
        store.load(text, "ttl", to_graph=name)
        shapes = None if way == "own" else name
    elif way == "file":
        shapes = tmp_path / "shapes.ttl"
        shapes.write_text(text)
    elif way == "store":
        shapes = store_of(NAMED)
    elif way == "quads":
        shapes = list(ox.parse(text, format=ox.RdfFormat.TURTLE))
    elif way == "list":
        shapes = [PREFIXES, text]
    assert found(store, shapes) == ["Violation: :ada :name: has fewer than 1 value"]


def test_shapes__among_many_data_are_only_those_that_describe_shapes() -> None:
    store = store_of(NAMED + " :ada a :Person . :Person rdfs:label 'x' .")
    store.extend(
        [
            (ox.NamedNode(f"http://e/{i}"), ox.NamedNode("http://e/p"), ox.Literal(i))
            for i in range(100)
        ]
    )
    assert len(found(store, None)) == 1


def test_imports__are_followed(tmp_path: Path) -> None:
    store = store_of(":ada a :Person .")
    inner = tmp_path / "inner.ttl"
    inner.write_text(PREFIXES + f"<http://example.org/inner> a owl:Ontology . {NAMED}")
    shapes = "<http://example.org/o> owl:imports <http://example.org/inner> ."
    expected = ["Violation: :ada :name: has fewer than 1 value"]
    assert found(store, shapes, imports=[inner]) == expected
    assert found(store, shapes, imports={"http://example.org/inner": inner}) == expected
    outer = tmp_path / "outer.ttl"
    outer.write_text(PREFIXES + "<> owl:imports <inner.ttl> .")
    assert found(store, outer) == expected
    store.load(inner.read_text(), "ttl", to_graph=ox.NamedNode("http://example.org/inner"))
    assert found(store, shapes) == expected


def test_imports__that_are_missing_are_named() -> None:
    shapes = PREFIXES + "<http://example.org/o> owl:imports <http://example.org/gone> ."
    report = Store().validate(shapes)
    assert report.missing_imports == ("http://example.org/gone",)
    assert "http://example.org/gone" in str(report)


def test_snapshot_and_transaction__validate_what_they_show() -> None:
    store = store_of("")
    before = store.snapshot()
    with store.transaction() as t:
        t.load(PREFIXES + ":ada a :Person .", "ttl")
        assert len(t.validate(PREFIXES + NAMED)) == 1
        assert store.validate(PREFIXES + NAMED).conforms
    assert before.validate(PREFIXES + NAMED).conforms
    assert not store.validate(PREFIXES + NAMED).conforms


def test_focus_nodes_and_shapes__can_be_chosen() -> None:
    store = store_of(":ada a :Person . :bob a :Person .")
    ada = ox.NamedNode("http://example.org/ada")
    more = NAMED + " :T sh:targetNode :ada ; sh:nodeKind sh:Literal ."
    assert len(found(store, more, focus_nodes=[ada])) == 2
    assert len(found(store, more, use_shapes=[ox.NamedNode("http://example.org/T")])) == 1
    with pytest.raises(ShapesError, match="no shape"):
        found(store, more, use_shapes=[ada])


RECURSIVE = """:S sh:targetClass :Person ; sh:property [ sh:path :friend ; sh:node :S ] ;
    sh:property [ sh:path :name ; sh:minCount 1 ] ."""


def test_recursive_shapes__hold_unless_something_speaks_against_them() -> None:
    store = store_of(
        """:a a :Person ; :name "a" ; :friend :b . :b :name "b" ; :friend :a .
        :c a :Person ; :name "c" ; :friend :d . :d :name "d" ; :friend :e . :e :friend :c ."""
    )
    assert found(store, RECURSIVE) == ["Violation: :c :friend :d: does not conform to :S"]
    with pytest.raises(ShapesError, match="negates"):
        found(store, ":S sh:targetClass :Person ; sh:not [ sh:path :friend ; sh:node :S ] .")


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ("sh:property [ sh:path ( :p ) ; sh:minCount 1 ]", "fewer than two"),
        ("sh:minCount 1", "needs sh:path"),
        ('sh:property [ sh:path :p ; sh:minCount "x" ]', "whole number"),
        ('sh:pattern "("', "sh:pattern"),
        ("sh:nodeKind sh:Iri", "sh:IRI"),
        ("sh:datatype xsd:int , xsd:byte", "give one"),
        ("sh:in ( 1 . )", None),
        ("sh:property :nothing", "sh:path"),
        ("sh:in :nolist", "is not a list"),
        ('sh:sparql [ sh:select "SELECT $this { $this ?p ?o MINUS { ?a ?b ?c } }" ]', "MINUS"),
        ('sh:sparql [ sh:select "SELEC" ]', None),
    ],
)
def test_wrong_shapes__are_errors_that_say_what_is_wrong(shape: str, message: str | None) -> None:
    store = store_of(":ada a :Person .")
    with pytest.raises((ShapesError, SyntaxError), match=message):
        found(store, f":S sh:targetClass :Person ; {shape} .")


def test_limits__stop_a_validation() -> None:
    class Set:
        def is_set(self) -> bool:
            return True

    store = store_of(":ada a :Person .")
    with pytest.raises(CancelledError):
        found(store, NAMED, cancel=Set())
    with pytest.raises(UsageError, match="facts"):
        found(store, NAMED, facts="some")


QUERY_SHAPES = """: sh:declare [ sh:prefix "" ; sh:namespace "http://example.org/"^^xsd:anyURI ] .
:S sh:targetClass :Person ; sh:sparql [ sh:prefixes : ; sh:message "{?value} is not {$this}" ;
    sh:select "SELECT $this ?value WHERE { $this :friend ?value FILTER (?value != $this) }" ] ."""


@pytest.mark.parametrize(
    "query",
    [
        "SELECT $this ?value WHERE { $this :friend ?value FILTER (?value != $this) }",
        "SELECT $this ?value WHERE { FILTER ($this != :x) { ?value ^:friend $this } "
        "FILTER (?value != $this) }",
        "SELECT $this ?value WHERE { $this :friend ?value FILTER (?value != $this) } LIMIT 5",
        "SELECT $this ?value WHERE { { SELECT $this ?value { $this :friend ?value } } "
        "FILTER (?value != $this) }",
    ],
)
def test_queries__give_the_same_however_they_are_evaluated(query: str) -> None:
    store = store_of(":a a :Person ; :friend :a , :b . :b a :Person ; :friend :c .")
    shapes = QUERY_SHAPES.replace(
        "SELECT $this ?value WHERE { $this :friend ?value FILTER (?value != $this) }", query
    )
    assert sorted(found(store, shapes)) == [
        "Violation: :a :b: http://example.org/b is not http://example.org/a",
        "Violation: :b :c: http://example.org/c is not http://example.org/b",
    ]


def test_query_target__selects_focus_nodes() -> None:
    store = store_of(":a :age 5 . :b :age 50 .")
    shapes = """: sh:declare [ sh:prefix "" ; sh:namespace "http://example.org/"^^xsd:anyURI ] .
    :S sh:target [ a sh:SPARQLTarget ; sh:prefixes : ;
        sh:select "SELECT ?this { ?this :age ?n FILTER (?n > 18) }" ] ;
        sh:property [ sh:path :vote ; sh:minCount 1 ] ."""
    assert found(store, shapes) == ["Violation: :b :vote: has fewer than 1 value"]


def test_report__is_written_in_every_format() -> None:
    store = store_of(":ada a :Person . :bob a :Person .")
    shapes = NAMED + ":T sh:targetNode :ada ; sh:severity sh:Info ; sh:datatype xsd:int ."
    report = store.validate(PREFIXES + shapes)
    assert report.counts == {"Violation": 2, "Info": 1}
    assert (report.has("warning"), report.has("Info"), report.conforms) == (True, True, False)
    made = json.loads(report.serialize("json"))
    assert made["results"][0]["focusNode"]["value"] == "http://example.org/ada"
    sarif = json.loads(report.serialize("sarif"))["runs"][0]
    assert [each["level"] for each in sarif["results"]] == ["error", "error", "note"]
    suite = ElementTree.fromstring(report.serialize("junit"))
    assert suite.get("failures") == "2"
    turtle = ox.parse(report.serialize("turtle"), format=ox.RdfFormat.TURTLE)
    nt = ox.parse(report.serialize("nt"), format=ox.RdfFormat.N_TRIPLES)
    assert len(list(turtle)) == len(list(nt)) == len(report.to_graph())
    assert report.serialize("text").count("\n") == 5
    assert "<table>" in report._repr_html_()
    assert "&lt;" not in report.first(1)[0].message
    with pytest.raises(UsageError, match="turtle"):
        report.serialize("xml")


def test_cause__has_the_asserted_triples_through_inference() -> None:
    store = store_of(
        """:Pump rdfs:subClassOf :Device . :p7 a :Pump ; :in :hall . :hall :ofSite :s1 , :s2 ."""
    )
    store.reason("owl-rl")
    shapes = """:S sh:targetClass :Device ;
        sh:property [ sh:path ( :in :ofSite ) ; sh:maxCount 1 ] ."""
    (result,) = store.validate(PREFIXES + shapes).results
    cause = result.why()
    assert [str(triple).replace("http://example.org/", ":") for triple in cause.triples] == [
        "<:Pump> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <:Device>",
        "<:hall> <:ofSite> <:s1>",
        "<:hall> <:ofSite> <:s2>",
        "<:p7> <:in> <:hall>",
        "<:p7> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <:Pump>",
    ]
    assert "made from rdfs:subClassOf[:Pump, :Device]" in str(cause)


def test_deep_shapes__are_refused_and_fifty_levels_work() -> None:
    def nested(levels: int) -> str:
        text = "sh:nodeKind sh:IRI"
        for _ in range(levels):
            text = f"sh:node [ {text} ]"
        return f":S sh:targetClass :Person ; {text} ."

    store = store_of(":ada a :Person .")
    assert found(store, nested(48)) == []
    with pytest.raises(ShapesError, match="levels deep"):
        found(store, nested(60))


def test_long_lists__are_tested_as_sets() -> None:
    store = store_of(":ada a :Person ; :likes :n5 , :x .")
    members = " ".join(f":n{i}" for i in range(100))
    targets = " , ".join(f":t{i}" for i in range(50))
    shapes = f""":S sh:targetNode :ada , {targets} ; sh:property [ sh:path :likes ;
        sh:in ( {members} ) ] ."""
    assert [text.partition(": is not one")[0] for text in found(store, shapes)] == [
        "Violation: :ada :likes :x"
    ]
