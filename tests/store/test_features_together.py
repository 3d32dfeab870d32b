"""Features that keep something beside the facts, in one store: none disturbs another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from triplestore import Literal, NamedNode, Quad, Store

PREFIX = """PREFIX : <http://ex.org/> PREFIX text: <http://jena.apache.org/text#>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
"""
DATA = """
:a :label "Solar panels"@en . :b :label "Wind farm"@en . :Pump rdfs:subClassOf :Machine .
:p1 a :Pump .
"""
SHAPES = """@prefix : <http://ex.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
:S sh:targetClass :Machine ; sh:property [ sh:path :tag ; sh:minCount 1 ] .
"""
SOLAR = 'SELECT ?x { ?x text:query "solar" }'
SAID = "SELECT ?s { ?r rdf:reifies <<( ?s ?p ?o )>> }"
MACHINES = "SELECT ?x { ?x a :Machine }"


def node(name: str) -> NamedNode:
    return NamedNode(f"http://ex.org/{name}")


def names(state: Any, query: str) -> list[str]:
    return sorted(row[0].value.rpartition("/")[2] for row in state.select(PREFIX + query))


@pytest.fixture(params=["memory", "disk"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return None if request.param == "memory" else tmp_path / "store"


def filled(path: Path | None) -> Store:
    store = Store(path)
    store.load(PREFIX + DATA, "ttl")
    store.reason("owl-rl")
    store.index_text([":label"])
    store.watch_shapes(SHAPES)
    if path is not None:
        store.keep_history(commits=100)
    return store


def test_branches__have_texts_shapes_and_triple_terms_of_their_own(path: Path | None) -> None:
    with filled(path) as store, store.branch() as branch:
        watch = store.watched_shapes["shapes"]
        branch.update(
            PREFIX + 'INSERT DATA { :c :label "solar cell"@en . :p2 a :Pump .'
            " :r rdf:reifies <<( :new1 a :New2 )>> }"
        )
        assert names(branch, SOLAR) == ["a", "c"]
        assert names(branch, SAID) == ["new1"]
        assert len(branch.validate(SHAPES).results) == 2
        assert (names(store, SOLAR), names(store, SAID)) == (["a"], [])
        assert len(watch.results) == 1
        branch.commit()
        assert (names(store, SOLAR), names(store, SAID)) == (["a", "c"], ["new1"])
        assert names(store, MACHINES) == ["p1", "p2"]
        assert len(watch.results) == 2
        assert store.verify(closure=True) == []


def test_strict_shapes__hold_for_branches_as_well(path: Path | None) -> None:
    with filled(path) as store:
        store.watch_shapes(SHAPES, strict="Violation")
        with store.branch() as branch, pytest.raises(Exception, match="tag"):
            branch.update(PREFIX + "INSERT DATA { :p2 a :Pump }")
        with store.branch() as branch:
            branch.update(PREFIX + "INSERT DATA { :p2 a :Pump ; :tag 2 }")
            store.update(PREFIX + "INSERT DATA { :p3 a :Pump ; :tag 3 }")
            branch.commit()
        assert names(store, MACHINES) == ["p1", "p2", "p3"]


def test_past_states__answer_with_texts_and_triple_terms_of_then(tmp_path: Path) -> None:
    with filled(tmp_path / "store") as store:
        then = store.commit
        store.update(PREFIX + 'INSERT DATA { :c :label "solar cell" . :p2 a :Pump }')
        store.update(PREFIX + "INSERT DATA { :r rdf:reifies <<( :p1 a :Pump )>> }")
        store.optimize()
        past = store.at(then)
        assert (names(past, SOLAR), names(past, MACHINES)) == (["a"], ["p1"])
        assert names(past, SAID) == []
        assert names(store, SAID) == ["p1"]


def test_rules_that_tag__heal_what_shapes_report_and_retract_finds_it(path: Path | None) -> None:
    with filled(path) as store:
        watch = store.watched_shapes["shapes"]
        assert len(watch.results) == 1
        store.add_rules(PREFIX + "CONSTRUCT { ?x :tag 'T' } WHERE { ?x a :Pump }")
        assert watch.conforms
        found = store.retract(Quad(node("p1"), node("tag"), Literal("T")))
        assert [len(each.quads) for each in found] == [1]


def test_reopened__everything_is_as_it_was(tmp_path: Path) -> None:
    with filled(tmp_path / "store") as store:
        store.update(PREFIX + "INSERT DATA { :r rdf:reifies <<( :p1 a :Pump )>> }")
    with Store(tmp_path / "store") as store:
        assert (names(store, SOLAR), names(store, SAID)) == (["a"], ["p1"])
        assert len(store.watched_shapes["shapes"].results) == 1
        assert [each.change.added for each in store.log()] == [1, 0]
        assert store.verify(closure=True) == []
