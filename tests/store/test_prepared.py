"""Queries prepared once and asked with other values."""

from __future__ import annotations

import pytest

from triplestore import Literal, NamedNode, Store
from triplestore.errors import TripleStoreError
from triplestore.sparql import engine as sparql

EX = "http://ex.org/"
DATA = "@prefix : <http://ex.org/> . :ada :age 36 ; :sees :bob . :bob :age 4 ; :sees :cy ."


@pytest.fixture
def store() -> Store:
    store = Store()
    store.load(DATA, "ttl")
    return store


def test_prepare__answers_for_other_values_and_for_the_state_of_then(store: Store) -> None:
    sees = store.prepare("SELECT ?y { ?x :sees ?y }")
    ada = NamedNode(EX + "ada")
    assert [s["y"] for s in sees(x=ada)] == [NamedNode(EX + "bob")]
    assert [s["y"] for s in sees({"x": NamedNode(EX + "bob")})] == [NamedNode(EX + "cy")]
    assert len(sees()) == 2
    store.update("DELETE WHERE { :ada :sees ?y }")
    assert len(sees(x=ada)) == 0


def test_prepare__reads_the_text_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    older = store.prepare(
        "ASK { ?x :age ?age FILTER(?age > ?least) }", prefixes={"un": "http://u/"}
    )
    monkeypatch.setattr(sparql, "parse_query", lambda *_, **__: pytest.fail("parsed again"))
    integer = NamedNode("http://www.w3.org/2001/XMLSchema#integer")
    assert older(least=Literal("30", datatype=integer)) is True
    assert older(least=Literal("40", datatype=integer)) is False


def test_prepare__says_at_once_what_is_wrong(store: Store) -> None:
    with pytest.raises(TripleStoreError, match="1:21"):
        store.prepare("SELECT ?x { ?x :age }")


def test_prepare__keeps_its_options(store: Store) -> None:
    assert len(store.prepare("SELECT * { ?s ?p ?o }", facts="inferred")()) == 0
    assert len(store.snapshot().prepare("SELECT * { ?s ?p ?o }")()) == 4
