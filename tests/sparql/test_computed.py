"""What queries do with computed terms, against the same done row by row in plain Python."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pyoxigraph as ox
import pytest
from support.fuzzing import seeds

from tests.sparql.computed import PREFIX, Bag, Table, place
from triplestore import Store
from triplestore.expressions.thresholds import EXPRESSIONS
from triplestore.sparql.thresholds import SPARQL
from triplestore.terms.term_keys import key_of


def answers(result: Any) -> Bag:
    """The bag of answers as keys."""
    return Counter(tuple(None if v is None else key_of(v) for v in row) for row in result)


@pytest.fixture(params=[False, True], ids=["one by one", "by columns"])
def ways(request: pytest.FixtureRequest, tune: Callable[..., None]) -> None:
    """With the short cut for few rows, and without it, in pieces of a few rows."""
    if request.param:
        tune(EXPRESSIONS, scalar_rows=-1)
        tune(SPARQL, piece_rows=8)


def made(seed: int) -> tuple[Table, Store]:
    """Rows, and a store that has them."""
    table, store = Table(random.Random(seed)), Store()
    store.update(table.data())
    return table, store


@pytest.mark.fuzz
@pytest.mark.usefixtures("ways")
def test_computed_terms__as_row_by_row() -> None:
    for seed in seeds(12):
        table, store = made(seed)
        for _ in range(8):
            text, wanted = table.case()
            found = answers(store.query(text))
            assert found == wanted, (
                f"seed {seed}: {text}\nmissing {wanted - found}\ntoo many {found - wanted}"
            )


@pytest.mark.fuzz
@pytest.mark.usefixtures("ways")
def test_order_of_computed_terms__as_row_by_row() -> None:
    for seed in seeds(10):
        table, store = made(seed)
        for _ in range(3):
            text, wanted = table.ordered()
            found = [None if x is None else key_of(x) for (x,) in store.query(text)]
            assert Counter(found) == Counter(wanted), f"seed {seed}: {text}"
            assert list(map(place, found)) == list(map(place, wanted)), f"seed {seed}: {text}"


@pytest.mark.fuzz
@pytest.mark.usefixtures("ways")
def test_stored_computed_terms__as_row_by_row() -> None:
    for seed in seeds(8):
        table, store = made(seed)
        text, wanted = table.inserted()
        before = len(store)
        store.update(text)
        assert set(answers(store.query(GOT))) == wanted, f"seed {seed}: {text}"
        assert len(store) == before + len(wanted)
        store.update(f"{PREFIX} DELETE WHERE {{ ?s :got ?x }}")
        rule, concluded = table.rule()
        store.reason(rules=rule)
        assert set(answers(store.query(GOT))) == concluded, f"seed {seed}: {rule}"


GOT = f"{PREFIX} SELECT ?s ?x {{ ?s :got ?x }}"

TEXTS = ["bob", "Bob", "BOB", "b c", ""]
FUNCTIONS = [
    "LCASE(STR(%s))",
    "UCASE(STR(%s))",
    "STR(%s)",
    "LANG(%s)",
    "DATATYPE(%s)",
    "MD5(STR(%s))",
]
FUNCTIONS += ["SUBSTR(STR(%s), 1, 1)", "STRLEN(STR(%s))", "IRI(CONCAT('http://e/', LANG(%s)))"]
FUNCTIONS += ["xsd:integer(STRLEN(STR(%s)))", "IF(LANG(%s) = 'en', 1, 2)", "STRAFTER(STR(%s), 'b')"]


@pytest.mark.usefixtures("ways")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_distinct_results_of_functions__as_pyoxigraph(function: str) -> None:
    rng = random.Random(function)
    ours, theirs = Store(), ox.Store()
    for number in range(60):
        object_ = ox.Literal(rng.choice(TEXTS), language=rng.choice([None, "en", "de"]))
        quad = ox.Quad(
            ox.NamedNode(f"http://e/{number}"), ox.NamedNode(f"http://e/p{number % 3}"), object_
        )
        ours.add(quad)
        theirs.add(quad)
    inner = function % "?o"
    for text in (
        f"SELECT ?p (COUNT(DISTINCT {inner}) AS ?n) {{ ?s ?p ?o }} GROUP BY ?p",
        f"SELECT (COUNT(DISTINCT {inner}) AS ?n) {{ ?s ?p ?o }}",
        f"SELECT (SUM(DISTINCT STRLEN(STR({inner}))) AS ?n) {{ ?s ?p ?o }}",
        f"SELECT (STRLEN(GROUP_CONCAT(DISTINCT STR({inner}))) AS ?n) {{ ?s ?p ?o }}",
        f"SELECT DISTINCT ({inner} AS ?x) {{ ?s ?p ?o }}",
        f"SELECT ?x (COUNT(*) AS ?n) {{ ?s ?p ?o }} GROUP BY ({inner} AS ?x)",
    ):
        text = f"PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> {text}"
        assert answers(ours.query(text)) == answers(theirs.query(text)), text


def test_aggregates_of_others__distinct_values_of_a_function() -> None:
    class Many:
        def __init__(self) -> None:
            self.count = 0

        def accumulate(self, value: object) -> None:
            self.count += 1

        def finish(self) -> ox.Literal:
            return ox.Literal(self.count)

    store = Store()
    store.update(f'{PREFIX} INSERT DATA {{ :a :n "Bob", "BOB", "bo" }}')
    text = f"{PREFIX} SELECT (:many(DISTINCT LCASE(?n)) AS ?m) {{ ?x :n ?n }}"
    (row,) = store.query(text, custom_aggregate_functions={ox.NamedNode("http://e/many"): Many})
    assert row["m"] == ox.Literal(2)


def test_exists__value_that_is_computed_inside() -> None:
    """The values are put into the pattern, as ?k is hidden in it: ?x still has to agree."""
    store = Store()
    store.update(f"{PREFIX} INSERT DATA {{ :r :row 0, 1 ; :b 1, 2, 10 }}")
    for inner in (
        "SELECT ?x { ?q :b 1 OPTIONAL { ?q :row ?k } BIND(?k + 1 AS ?x) }",
        "SELECT ?x { ?q :b 1 OPTIONAL { ?q :row ?k } } GROUP BY (?k + 1 AS ?x)",
        "SELECT (MAX(?k) + ?z AS ?x) { VALUES ?z { 0 1 } ?q :b 1 OPTIONAL { ?q :row ?k } } "
        "GROUP BY ?z",
    ):
        text = f"{PREFIX} SELECT ?x {{ ?r :b ?x BIND(?x AS ?k) FILTER EXISTS {{ {inner} }} }}"
        assert sorted(int(x.value) for (x,) in store.query(text)) == [1, 2], inner
        text = text.replace("EXISTS", "NOT EXISTS")
        assert [int(x.value) for (x,) in store.query(text)] == [10], inner
