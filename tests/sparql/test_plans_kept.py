"""Plans that are kept: they give what new ones would, to one query at a time, and pin nothing."""

from __future__ import annotations

import gc
import threading
import weakref

import pyoxigraph as ox
import pytest

import triplestore
from triplestore.errors import TimeLimitError
from triplestore.sparql.thresholds import SPARQL

E = "http://e/"
PAIRS = "SELECT ?x ?y { ?x <http://e/knows> ?y }"
OLDER = "SELECT ?x ?a { ?x <http://e/age> ?a FILTER(?a > 20) } ORDER BY ?a"


@pytest.fixture
def store() -> triplestore.Store:
    made = triplestore.Store()
    lines = [f"<{E}{i}> <{E}knows> <{E}{(i * 7) % 40}> ." for i in range(40)]
    lines += [f"<{E}{i}> <{E}age> {i} ." for i in range(40)]
    made.load("\n".join(lines), "ttl")
    return made


def answers(store: triplestore.Store, text: str, **options: object) -> list[object]:
    return [tuple(row) for row in store.query(text, **options)]


def test_the_same_text__is_planned_once(store, planned):
    first = answers(store, OLDER)
    assert [answers(store, OLDER) for _ in range(3)] == [first] * 3
    assert len(first) == 19 and len(planned) == 1
    for text in ("ASK { ?x <http://e/knows> ?x }", f"CONSTRUCT {{ ?y a ?x }} {{ {PAIRS} }}"):
        planned.clear()
        results = [store.query(text) for _ in range(3)]
        sizes = {result if isinstance(result, bool) else len(result) for result in results}
        assert len(sizes) == 1
        before = len(planned)
        del results
        result = store.query(text)
        assert isinstance(result, bool) or len(result)
        assert len(planned) == before


def test_results_that_are_open__have_plans_of_their_own(store, planned):
    one, other = iter(store.query(PAIRS)), iter(store.query(PAIRS))
    taken = [(tuple(next(one)), tuple(next(other))) for _ in range(40)]
    assert all(a == b for a, b in taken) and len(planned) == 2


def test_a_result_that_lives__keeps_its_figures(store):
    first = store.query(PAIRS)
    assert len(first) == 40
    for _ in range(3):
        assert len(store.query(PAIRS)) == 40
    assert "rows 40" in first.explain()
    again = store.query(PAIRS)
    assert "rows 40" in again.explain() and "rows 80" not in again.explain()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT (NOW() AS ?n) { ?x <http://e/age> 3 }",
        "SELECT (RAND() AS ?n) { ?x <http://e/age> 3 }",
        "SELECT (STRUUID() AS ?n) { ?x <http://e/age> 3 }",
        "SELECT (BNODE() AS ?n) { ?x <http://e/age> 3 }",
        "SELECT ?x { ?x <http://e/age> ?a FILTER(EXISTS { ?x <http://e/knows> ?x } || ?a > 38) }",
        "SELECT ?x { ?x <http://e/age> ?a FILTER NOT EXISTS"
        " { ?y <http://e/age> 30 MINUS { ?y <http://e/knows> ?x } } }",
    ],
)
def test_what_may_differ_the_next_time__is_planned_anew(store, planned, text):
    for _ in range(2):
        answers(store, text)
    assert len(planned) == 2


def test_other_questions__have_other_plans(store, planned):
    store.update(f"INSERT DATA {{ GRAPH <{E}g> {{ <{E}a> <{E}knows> <{E}b> }} }}")
    graph = ox.NamedNode(f"{E}g")
    for options, count in (
        ({}, 40),
        ({"default_graph": graph}, 1),
        ({"facts": "inferred"}, 0),
        ({"use_default_graph_as_union": True}, 41),
    ):
        for _ in range(2):
            assert len(answers(store, PAIRS, **options)) == count
    values = {"x": ox.NamedNode(f"{E}1")}
    assert len(answers(store, PAIRS, substitutions=values)) == 1
    assert len(answers(store, PAIRS)) == 40


def test_a_change__is_seen_at_once_and_lets_the_old_state_go(store):
    old = weakref.ref(store._view().plans)
    tables = weakref.ref(store._view().dictionary)
    assert len(answers(store, PAIRS)) == 40 and len(store._view().plans) == 1
    open_ = store.query(PAIRS)  # a result does not keep what other results left
    gc.disable()
    try:
        store.update(f"INSERT DATA {{ <{E}a> <{E}knows> <{E}b> }}")
        assert len(answers(store, PAIRS)) == 41
        assert old() is None and tables() is not None
    finally:
        gc.enable()
    assert len(open_) == 40
    with store.transaction() as change:
        change.update(f"INSERT DATA {{ <{E}b> <{E}knows> <{E}c> }}")
        assert len([*change.query(PAIRS)]) == 42
        change.update(f"DELETE WHERE {{ <{E}b> <{E}knows> <{E}c> }}")
        assert len([*change.query(PAIRS)]) == 41


def test_limits__are_those_of_the_query_that_runs(store):
    cross = "SELECT (COUNT(*) AS ?n) { ?a <http://e/age> ?x . ?b <http://e/age> ?y FILTER(?x<?y) }"
    assert answers(store, cross)[0][0].value == "780"
    assert len(store._view().plans) == 1
    with pytest.raises(TimeLimitError):
        answers(store, cross, timeout=0.0)
    assert answers(store, cross)[0][0].value == "780"


def test_a_plan__is_given_back_only_when_it_ran_to_its_end(store):
    kept = store._view().plans
    result = store.query(PAIRS)
    next(result)
    del result
    assert len(kept) <= 1  # one block was all: it may have ended
    aborted = store.query(PAIRS)
    del aborted
    assert len(answers(store, PAIRS)) == 40


def test_slow_plans__are_not_kept(store, tune):
    tune(SPARQL, plan_seconds=0.0)
    answers(store, PAIRS)
    assert len(store._view().plans) == 0


def test_plans_that_hold_much__are_not_kept(store, tune):
    optional = "SELECT * { ?x <http://e/age> 3 OPTIONAL { ?x <http://e/knows> ?y . ?y ?p ?z } }"
    assert len(answers(store, optional)) == 2 and len(store._view().plans) == 1
    tune(SPARQL, plan_bytes=3)
    assert len(answers(store, optional)) == 2 and len(store._view().plans) == 0


def test_so_many_plans__are_kept(store, tune):
    tune(SPARQL, plans=5)
    for i in range(20):
        assert len(answers(store, f"{PAIRS} LIMIT {i}")) == i
    assert len(store._view().plans) == 5


def test_threads__share_kept_plans(store):
    texts = [OLDER, PAIRS, f"{PAIRS} ORDER BY ?y LIMIT 7"]
    expected = [answers(store, text) for text in texts]
    wrong: list[str] = []

    def ask() -> None:
        for _ in range(60):
            for text, rows in zip(texts, expected, strict=True):
                if answers(store, text) != rows:
                    wrong.append(text)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_prefixes__are_part_of_what_is_asked(store):
    text = "SELECT ?y { ?x p:knows ?y }"
    assert len(answers(store, text, prefixes={"p": E})) == 40
    assert len(answers(store, text, prefixes={"p": "http://other/"})) == 0
