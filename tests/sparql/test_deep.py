"""Deep and long queries work, also from a deep stack, or are refused: the limit and the place."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.sparql.deep import algebra_of_depth, chain, nested, of_depth, of_length
from triplestore import Store
from triplestore.errors import BudgetError, QuerySyntaxError, TimeLimitError
from triplestore.operators.context import Context, current, running
from triplestore.operators.deep_calls import Elsewhere, on_new_stack
from triplestore.operators.operator import MOST_DEEP
from triplestore.sparql.syntax.parser import parse_query, parse_update
from triplestore.sparql.syntax.query_printer import write
from triplestore.thread_limits import limited, look

PREFIX = "PREFIX : <http://e/> "
FRAMES = 400
"""Number of calls on the caller's stack, of the 1,000 that Python has."""


@pytest.fixture(scope="module")
def store() -> Store:
    made = Store()
    made.update(
        f"{PREFIX} INSERT DATA {{ :a :p :b . :b :p :a . :a :n 1 . :b :n 2 . "
        "GRAPH :g { :a :p :b } }"
    )
    return made


def from_below(frames: int, function: Callable[[], Any]) -> Any:
    """What a function gives that is called deep in the stack."""
    return function() if frames == 0 else from_below(frames - 1, function)


def asked(store: Store, text: str) -> Any:
    """The result of a query, read and explained."""
    result = store.query(PREFIX + text, timeout=30)
    if isinstance(result, bool):
        return result
    rows = list(result)
    assert result.explain() and result.explain_json()
    return rows


@pytest.mark.parametrize(("name", "text"), [*of_depth(95)], ids=lambda value: str(value)[:30])
def test_brackets_95_deep__work(store: Store, name: str, text: str) -> None:
    from_below(FRAMES, lambda: asked(store, text))


@pytest.mark.parametrize(("name", "text"), [*of_depth(250)], ids=lambda value: str(value)[:30])
def test_brackets_250_deep__are_refused(store: Store, name: str, text: str) -> None:
    with pytest.raises(QuerySyntaxError, match=r"input:1:[0-9]+: nested more than 100 deep"):
        from_below(FRAMES, lambda: asked(store, text))


@pytest.mark.parametrize("n", [45, 290])
def test_flat_texts_of_deep_algebra__work(store: Store, n: int) -> None:
    for _, text in algebra_of_depth(n):
        from_below(FRAMES, lambda text=text: asked(store, text))


def test_flat_texts_of_deeper_algebra__are_refused(store: Store) -> None:
    for _, text in algebra_of_depth(1000):
        with pytest.raises(QuerySyntaxError, match=r"more than 300 nested|nested more than 300"):
            from_below(FRAMES, lambda text=text: asked(store, text))


@pytest.mark.parametrize(("name", "text"), [*of_length(700)], ids=lambda value: str(value)[:30])
def test_long_queries__work(store: Store, name: str, text: str) -> None:
    from_below(FRAMES, lambda: asked(store, text))


def test_deep_texts__read_back_as_they_were_written() -> None:
    texts = [*of_depth(45), *algebra_of_depth(100), *of_length(300)]
    for _, text in texts:
        query = from_below(FRAMES, lambda text=text: parse_query(PREFIX + text))
        written = from_below(FRAMES, lambda query=query: write(query))
        assert from_below(50, lambda w=written, q=query: parse_query(w) == q)


def test_deep_updates__work(store: Store) -> None:
    made = Store()
    made.update(f"{PREFIX} INSERT DATA {{ :a :p :a . :a :n 1 }}")
    where = f"?x :p ?y {chain(290, 'OPTIONAL { ?x :n ?y# }')}"
    text = f"{PREFIX} INSERT {{ ?x :q ?y7 }} WHERE {{ {where} }}"
    from_below(FRAMES, lambda: made.update(text))
    path = chain(300, ":p", "/")
    from_below(
        FRAMES, lambda: made.update(f"{PREFIX} INSERT {{ ?x :r ?y }} WHERE {{ ?x {path} ?y }}")
    )
    assert made.query(f"{PREFIX} ASK {{ :a :q 1 ; :r :a }}")
    assert write(parse_update(text)).count("OPTIONAL") == 290


# --- what they give ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [MOST_DEEP - 1, MOST_DEEP, MOST_DEEP + 1, 200, 701])
def test_long_paths__lead_where_they_should(n: int) -> None:
    made = Store()
    size = 1000
    made.load("\n".join(f"<x:{i}> <x:p> <x:{i + 1}> ." for i in range(size)), "nt")
    steps = chain(n, "<x:p>", "/")
    (row,) = made.query(f"SELECT ?y {{ <x:3> {steps} ?y }}")
    assert str(row["y"]) == f"<x:{3 + n}>"
    assert len(made.query(f"SELECT * {{ ?x {steps} ?y }}")) == size + 1 - n
    patterns = chain(n, "?x# <x:p> ?x## .")
    ends = {
        (str(r["x0"]), str(r[f"x{n}"])) for r in made.query(f"SELECT ?x0 ?x{n} {{ {patterns} }}")
    }
    assert ends == {(f"<x:{i}>", f"<x:{i + n}>") for i in range(size + 1 - n)}


def test_long_chains__give_first_rows_without_making_all(store: Store) -> None:
    """There are 2 ** 300 paths; three of them are asked for."""
    made = Store()
    made.update(f"{PREFIX} INSERT DATA {{ :a :p :a, :b . :b :p :a, :b }}")
    patterns = chain(300, "?x# :p ?x## .")
    found = made.query(f"{PREFIX} SELECT * {{ {patterns} }} LIMIT 3", timeout=30)
    assert len(list(found)) == 3
    assert made.query(f"{PREFIX} ASK {{ {patterns} }}", timeout=30)


# --- how they end --------------------------------------------------------------------------------


def test_long_plans__leave_no_threads(store: Store) -> None:
    made = Store()
    made.update(f"{PREFIX} INSERT DATA {{ :a :p :a, :b . :b :p :a, :b }}")
    patterns = PREFIX + f"SELECT ?x0 ?x300 {{ {chain(300, '?x# :p ?x## .')} }}"
    before = threading.active_count()
    rows = iter(made.query(patterns, timeout=60))
    next(rows)
    assert threading.active_count() > before  # or this test tests nothing
    del rows
    assert threading.active_count() == before
    with pytest.raises(TimeLimitError):
        list(made.query(patterns, timeout=0.2))
    assert threading.active_count() == before
    with pytest.raises(BudgetError):
        list(made.query(patterns, budget=2_000_000))
    assert threading.active_count() == before


def test_errors__arrive_from_another_stack() -> None:
    def fail() -> None:
        raise KeyError("here")

    with pytest.raises(KeyError, match="here"):
        on_new_stack(fail)
    text = f"SELECT * {{ {chain(300, '?x# :p ?x## .')} FILTER(NOSUCH(?x1)) }}"
    with pytest.raises(QuerySyntaxError, match="unknown function NOSUCH"):
        parse_query(PREFIX + text)


def test_threads__that_the_system_has_not_are_an_error_of_the_budget(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"ASK {{ ?x :p ?y {chain(700, 'FILTER NOT EXISTS { ?x :q ?z# }')} }}"
    most = threading.active_count() + 5
    begin = threading.Thread.start

    def start(self: threading.Thread) -> None:
        if threading.active_count() > most:
            raise RuntimeError("can't start new thread")
        begin(self)

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", start)
        with pytest.raises(BudgetError, match=r"no thread left.*make the query shorter"):
            asked(store, text)
    assert threading.active_count() <= most
    assert asked(store, text) is not None


def test_limits__of_both_kinds_hold_on_another_stack() -> None:
    class Limits:
        def look(self, about: object) -> None:
            raise TimeLimitError(f"no time for {about}")

        def needs(self, size: int) -> None:
            pass

    context = Context(budget=1000)
    with running(context), limited(Limits()):
        assert on_new_stack(current) is context
        with pytest.raises(TimeLimitError, match="no time for a list"):
            on_new_stack(look, "a list")
        numbers: Elsewhere[int] = Elsewhere(lambda: None, lambda items: items.close())
        with pytest.raises(TimeLimitError, match="no time for a number"):
            numbers.call(look, "a number")
        numbers.close()
    assert on_new_stack(current) is not context
    on_new_stack(look, "a list")


def test_explain__of_nested_calls_is_as_long_as_it_is_shown(store: Store) -> None:
    """The text of nested calls was made twice for each level."""
    text = f"SELECT * {{ ?x :n ?n BIND({nested(90, 'STR(', '?n', ')')} AS ?y) }}"
    assert "STR(STR(STR(" in store.query(PREFIX + text).explain()
