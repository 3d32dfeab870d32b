"""Hostile queries end within their limits: a few of the list, and random ones.

`python -m tests.sparql.hostile_run` runs the whole list. Times are those of the processor, so that
other work on the machine does not count, and bounds are generous: it is about what never ends.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import pytest
from support.fuzzing import seeds

from tests.sparql.hostile import DATA
from tests.sparql.hostile_run import Found, asked, warm
from triplestore import Store, TextLimits
from triplestore.errors import BudgetError, ParseError, TimeLimitError
from triplestore.operators.context import Context, running

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")

SECONDS, MEMORY = 0.3, 100_000_000
LIMITS = ("--seconds", SECONDS, "--memory", MEMORY, "--most", 20, "--processor")
SHORT = [
    "regex (a+)+$",
    "regex (a|aa)*b",
    "regex nested counts",
    "replace words",
    "concat doubled",
    "order by big strings",
    "group_concat",
    "encode big for uri",
    "number of ten million digits",
    "division of decimals",
    "values of a million rows",
    "in of 300,000",
    "20,000 patterns",
    "path of 100,000 |",
    "30,000 unions",
    "100,000 expressions in SELECT",
    "300,000 prefixes",
    "an iri of 10 MB",
    "exists by substitution",
    "closure of 33,000 different |",
    "90,000 filters over a union",
    "sample of pairs",
]


def check(found: Found) -> None:
    assert found.is_regular, found
    assert found.cpu < SECONDS + 2, found
    assert found.grown < 2 * MEMORY, found


def test_hostile__ends_within_its_limits() -> None:
    every = asked(*SHORT, *LIMITS)
    assert {found.name for found in every} == set(SHORT)
    for found in every:
        check(found)


def test_hostile__ends_soon_after_ctrl_c() -> None:
    names = ["regex many states", "replace words", "concat for each row", "100,000 ||", "uuids"]
    for found in asked(*names, "--memory", 1 << 30, "--interrupt", 0.3, "--most", 20):
        assert found.is_regular, found
        assert found.cpu < 3, found


@pytest.fixture(scope="module")
def numbers() -> Iterator[Store]:
    store = DATA["numbers"]()
    warm(store)
    yield store


@pytest.mark.fuzz
def test_random_hostile__ends_within_its_limits() -> None:
    waiting = seeds(12)
    while some := list(islice(waiting, 12)):
        for found in asked("--random", *some, *LIMITS):
            check(found)


def test_text_limits__are_adjustable() -> None:
    store = Store()
    text = "SELECT * { ?x ?p 1, 2, 3 }"
    assert len(store.query(text)) == 0
    with pytest.raises(ParseError, match="more than 2 parts"):
        store.query("SELECT * { ?x ?p 1, 2, 3 . }", limits=TextLimits(parts=2))
    with pytest.raises(ParseError, match="more than the limit of 20"):
        store.query("SELECT * { ?y ?p 1, 2, 3 }", limits=TextLimits(size=20))
    with pytest.raises(ParseError, match="more than the limit of 20"):
        store.update("INSERT DATA { <a:b> <a:b> <a:b> }", limits=TextLimits(size=20))
    many = " ".join(map(str, range(10_000)))
    with pytest.raises(ParseError, match="more than 5,000 words"):
        store.query(f"SELECT * {{ VALUES ?x {{ {many} }} }}", limits=TextLimits(tokens=5000))
    assert len(store.query(f"SELECT * {{ VALUES ?x {{ {many} }} }}")) == 10_000


def test_made_terms__are_charged_and_stay_so() -> None:
    store = Store()
    text = 'SELECT (CONCAT(?x, ?x) AS ?y) { VALUES ?n { 1 2 3 } BIND("%s" AS ?x) }' % ("a" * 50_000)
    assert len(store.query(text, budget=10_000_000)) == 3
    with pytest.raises(BudgetError):
        len(store.query(text.replace("1 2 3", " ".join(map(str, range(300)))), budget=100_000))


def test_exists__is_asked_row_by_row_only_where_all_else_holds(
    monkeypatch: pytest.MonkeyPatch, numbers: Store
) -> None:
    from triplestore.sparql.plan import exists

    asked = 0
    evaluate = exists._Substituting._evaluate

    def counted(self: exists._Substituting, row: tuple[int, ...]) -> bool:
        nonlocal asked
        asked += 1
        return evaluate(self, row)

    monkeypatch.setattr(exists._Substituting, "_evaluate", counted)
    text = """SELECT ?a { ?a :v ?b . ?a :t ?t FILTER(CONTAINS(?t, "number 77 "))
        FILTER EXISTS { ?e :v 9000 OPTIONAL { ?e :d ?g FILTER(?g > ?b) } FILTER(BOUND(?g)) } }"""
    assert len(numbers.query(text)) == 1
    assert asked == 1


def test_parts_of_groups__have_the_names_behind_them() -> None:
    from triplestore.sparql.plan.groups import _NamesBehind

    class Item(NamedTuple):
        names: frozenset[str]

    items = [Item(frozenset(names)) for names in ("ab", "bc", "", "cd", "b")]
    behind = _NamesBehind(items)  # type: ignore[arg-type]
    for place in range(len(items)):
        expected = frozenset().union(*(item.names for item in items[place + 1 :]))
        assert behind and behind.top() == expected and behind.pop() == expected
    assert not behind


def test_walks_of_long_expressions__look_at_the_limits() -> None:
    from triplestore.expressions import tree
    from triplestore.sparql.algebra.variables import exists_in

    x = tree.Variable("x")
    long = tree.Call("||", tuple(tree.Call("!", (x,)) for _ in range(tree.MANY + 1)))
    walks = [tree.variables_of, tree.calls_of, tree.constants_of, exists_in]
    with running(Context(seconds=-1)):
        for walk in walks:
            assert list(walk(long.arguments[0])) is not None
            with pytest.raises(TimeLimitError):
                list(walk(long))
        for count in (tree.depth_of, tree.has_exists):
            with pytest.raises(TimeLimitError):
                count(long)
