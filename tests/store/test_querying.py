"""Queries of one form, prepared queries, and what a solution gives by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Variable

from triplestore import Solutions, Store, Triples
from triplestore.errors import QuerySyntaxError, UsageError
from triplestore.store.querying import Querying

DATA = "@prefix : <http://ex.org/> . :ada :sees :bob . :bob :sees :cy . :g { :x :y :z }"
OF_FORM = {
    "SELECT": "SELECT ?x { ?x :sees ?y }",
    "ASK": "ASK { ?x :sees :cy }",
    "CONSTRUCT": "CONSTRUCT { ?y :seenBy ?x } WHERE { ?x :sees ?y }",
    "DESCRIBE": "DESCRIBE :ada",
}


@pytest.fixture(params=["store", "snapshot", "transaction"])
def reading(request: pytest.FixtureRequest) -> Iterator[Querying]:
    store = Store()
    store.load(DATA, "trig")
    if request.param == "transaction":
        with store.transaction() as transaction:
            yield transaction
    else:
        yield store if request.param == "store" else store.snapshot()


def method(reading: Querying, form: str) -> Callable[..., Any]:
    return getattr(reading, form.lower())  # type: ignore[no-any-return]


@pytest.mark.parametrize("form", OF_FORM)
@pytest.mark.parametrize("own", OF_FORM)
def test_forms__are_answered_or_named(reading: Querying, form: str, own: str) -> None:
    ask, text = method(reading, form), OF_FORM[own]
    if form == own:
        assert type(ask(text)) is type(reading.query(text))
        assert str(ask(text)) == str(reading.query(text))
        return
    article = "an" if own == "ASK" else "a"
    for _ in range(2):  # the second time the plan may be known
        with pytest.raises(UsageError, match=rf"this is {article} {own} query, not .* {form}"):
            ask(text)
    with pytest.raises(UsageError, match=rf"call {own.lower()}\(\), or query\(\)"):
        ask(text)


def test_forms__know_an_update_and_a_text_that_is_neither(reading: Querying) -> None:
    with pytest.raises(QuerySyntaxError, match="this is an update"):
        reading.select("INSERT DATA { :a :b :c }")
    with pytest.raises(QuerySyntaxError):
        reading.ask("nonsense")


def test_forms__a_similar_text_of_another_form_is_told(reading: Querying) -> None:
    assert reading.ask("ASK { ?x :sees :cy }")
    with pytest.raises(UsageError, match="this is an ASK query"):
        reading.select("ASK { ?x :sees :bob }")


def test_forms__take_the_options_of_query(reading: Querying) -> None:
    bob = NamedNode("http://ex.org/bob")
    found = reading.select("SELECT ?y { ?x :sees ?y }", substitutions={"x": bob})
    assert isinstance(found, Solutions)
    assert [row["y"].value for row in found] == ["http://ex.org/cy"]
    found = reading.select("SELECT ?y { ?x :sees ?y }", substitutions={Variable("x"): bob})
    assert len(found) == 1
    graph = NamedNode("http://ex.org/g")
    assert reading.ask("ASK { :x :y :z }", default_graph=graph)
    assert not reading.ask("ASK { ?s ?p ?o }", facts="inferred")
    made = reading.construct("CONSTRUCT WHERE { ?s ex:sees ?o }", prefixes={"ex": "http://ex.org/"})
    assert isinstance(made, Triples)
    assert len(made) == 2
    with pytest.raises(TypeError, match="nonsense"):
        reading.describe("DESCRIBE :ada", nonsense=1)  # type: ignore[call-arg]


def test_prepared__takes_values_by_name_and_by_variable(reading: Querying) -> None:
    sees = reading.prepare("SELECT ?y { ?x :sees ?y }", timeout=5)
    ada, bob = (NamedNode(f"http://ex.org/{name}") for name in ("ada", "bob"))
    assert len(sees(x=ada)) == 1  # type: ignore[arg-type]
    assert list(sees({Variable("x"): bob})) == list(sees({"x": bob}))  # type: ignore[arg-type]
    assert list(sees({Variable("x"): bob}, x=ada)) == list(sees(x=ada))  # type: ignore[arg-type]


def test_solution__get_gives_a_default_where_there_is_no_value(reading: Querying) -> None:
    text = "SELECT ?x ?none { ?x :sees :cy OPTIONAL { ?x :hears ?none } }"
    (row,) = reading.select(text)
    assert row.get("x") == row["x"]
    assert row.get(Variable("x")) == row["x"]
    assert row.get("none") is None
    assert row.get("none", Literal("-")) == Literal("-")
    assert row.get("misspelt", 5) == 5
    with pytest.raises(KeyError):
        row["misspelt"]
