"""Queries that would take too much are stopped, in whatever operator, and leave nothing behind."""

from __future__ import annotations

import threading
import time

import pytest

from triplestore import Store
from triplestore.errors import BudgetError, CancelledError, TimeLimitError
from triplestore.store.arguments import QueryOptions
from triplestore.store.run_query import query as ask

GREEDY = {
    "product": "SELECT * { ?a :p ?b . ?c :p ?d . ?e :p ?f }",
    "count": "SELECT (COUNT(*) AS ?n) { ?a :p ?b . ?c :p ?d . ?e :p ?f }",
    "distinct": "SELECT DISTINCT ?a ?c ?e { ?a :p ?b . ?c :p ?d . ?e :p ?f }",
    "order": "SELECT * { ?a :v ?b . ?c :v ?d . ?e :v ?f } ORDER BY ?b ?d",
    "first": "SELECT * { ?a :v ?b . ?c :v ?d . ?e :v ?f } ORDER BY ?b ?d LIMIT 5",
    "group": "SELECT ?a ?c (COUNT(*) AS ?n) { ?a :p ?b . ?c :p ?d . ?e :p ?f } GROUP BY ?a ?c ?e",
    "sum": "SELECT (SUM(?b * ?d) AS ?n) { ?a :v ?b . ?c :v ?d . ?e :v ?f }",
    "path": "SELECT * { ?a (:p|^:p)+ ?b . ?c (:p|^:p)+ ?d . ?e (:p/:p)* ?f }",
    "optional": "SELECT * { ?a :v ?b . ?c :v ?d OPTIONAL { ?e :v ?f FILTER(?b + ?d + ?f = 7) } }",
    "minus": "SELECT * { ?a :p ?b . ?c :p ?d . ?e :p ?f MINUS { ?a :q ?b } }",
    "exists": "SELECT * { ?a :v ?b . ?c :v ?d FILTER EXISTS { ?e :v ?f FILTER(?f > ?b + ?d) } }",
    "exists one by one": "SELECT * { ?a :v ?b FILTER EXISTS { ?c :v ?d . ?x :v ?y "
    "OPTIONAL { ?e :v ?f FILTER(?f = ?b) } FILTER(?f + ?d + ?y = 0.5) } }",
    "unbound": "SELECT * { { ?a :p ?b } UNION { ?c :p ?b } { ?a :p ?d } UNION { ?c :p ?d } "
    "{ ?a :p ?e } UNION { ?c :p ?e } }",
    "bind": "SELECT * { ?a :v ?b . ?c :v ?d . ?e :v ?f BIND(CONCAT(STR(?b), STR(?d)) AS ?g) }",
    "filter": "SELECT * { ?a :v ?b . ?c :v ?d . ?e :v ?f FILTER(?b + ?d + ?f = 0.5) }",
    "construct": "CONSTRUCT { ?a :x ?d } { ?a :p ?b . ?c :p ?d . ?e :p ?f }",
    "any predicate": "SELECT * { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f }",
}


@pytest.fixture(scope="module")
def store() -> Store:
    made = Store()
    size = 1500
    lines = [f"<http://e/{i}> <http://e/p> <http://e/{i * 7 % size}> ." for i in range(size)]
    lines += [f"<http://e/{i}> <http://e/p> <http://e/{i * 11 % size}> ." for i in range(size)]
    integer = "<http://www.w3.org/2001/XMLSchema#integer>"
    lines += [f'<http://e/{i}> <http://e/v> "{i % 997}"^^{integer} .' for i in range(size)]
    made.load("\n".join(lines), "nt")
    made.bind("", "http://e/")
    return made


@pytest.mark.parametrize("name", GREEDY)
def test_query__is_stopped_at_its_time(store: Store, name: str) -> None:
    began = time.monotonic()
    with pytest.raises((TimeLimitError, BudgetError)):
        len(ask(store._view(), GREEDY[name], QueryOptions(timeout=0.15, budget=300_000_000)))
    assert time.monotonic() - began < 5  # on a machine that does other things, too
    assert len(store.query("SELECT * { ?x :p <http://e/7> }")) > 0


@pytest.mark.parametrize("name", GREEDY)
def test_query__is_stopped_at_its_memory(store: Store, name: str) -> None:
    with pytest.raises((TimeLimitError, BudgetError)):
        len(ask(store._view(), GREEDY[name], QueryOptions(timeout=2.0, budget=200_000)))


HELD = ["product", "distinct", "order", "group", "sum", "path", "unbound", "bind", "construct"]


@pytest.mark.parametrize("name", HELD)
def test_query__memory_counts_where_much_is_held(store: Store, name: str) -> None:
    with pytest.raises(BudgetError, match="budget"):
        len(ask(store._view(), GREEDY[name], QueryOptions(budget=2_000_000)))


def test_query__is_cancelled_by_another_thread(store: Store) -> None:
    flag = threading.Event()
    timer = threading.Timer(0.1, flag.set)
    timer.start()
    with pytest.raises(CancelledError):
        len(store.query(GREEDY["count"], cancel=flag))
    timer.join()


def test_query__limit_stops_the_work(store: Store) -> None:
    found = ask(
        store._view(),
        "SELECT * { ?a :p ?b . ?c :p ?d . ?e :p ?f } LIMIT 3",
        QueryOptions(timeout=5.0),
    )
    assert len(found) == 3


def test_query__an_ask_stops_at_the_first(store: Store) -> None:
    text = "ASK { ?a :p ?b . ?c :p ?d . ?e :p ?f . ?g :p ?h }"
    assert ask(store._view(), text, QueryOptions(timeout=5.0, budget=100_000_000)) is True


def test_solutions__come_before_all_is_computed(store: Store) -> None:
    result = ask(store._view(), GREEDY["product"], QueryOptions(budget=50_000_000))
    assert next(result) is not None
    assert next(result) != next(result)
