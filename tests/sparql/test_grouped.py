"""MIN and MAX of stored terms against what `expressions.aggregates` finds by looking at each."""

from __future__ import annotations

import random

import numpy as np
import pyoxigraph as ox
import pytest
from support.fuzzing import each_seed

from triplestore import Store
from triplestore.expressions.aggregates import aggregate
from triplestore.expressions.query_terms import QueryTerms
from triplestore.expressions.vectors import Ids, ids_of
from triplestore.operators.context import Context
from triplestore.sparql.evaluate import grouped
from triplestore.sparql.evaluate.extremes import firsts
from triplestore.sparql.evaluate.ranks import ranks_of
from triplestore.terms.dictionary import Dictionary

XSD = "http://www.w3.org/2001/XMLSchema#"


def typed(text: str, datatype: str) -> ox.Literal:
    return ox.Literal(text, datatype=ox.NamedNode(XSD + datatype))


NUMBERS = [
    *(typed(text, "decimal") for text in ("1.5", "1.50", "-2.25", "0.1", "300.75")),
    *(typed(text, "integer") for text in ("1", "01", "-7", "123456789012345678901")),
    *(typed(text, "decimal") for text in ("1.0000000000000000001", "0.99999999999999999999")),
    *(typed(text, "double") for text in ("1e0", "NaN", "-INF")),
]
OTHERS = [
    *(ox.NamedNode(f"http://e/{name}") for name in "abc"),
    *(ox.Literal(text) for text in ("", "a", "b")),
    ox.Literal("a", language="en"),
    ox.BlankNode("n"),
    ox.Literal(True),
    typed("2001-01-01", "date"),
    typed("2001-01-01Z", "date"),
    typed("2001-01-01", "nothing"),
]


@pytest.mark.parametrize(
    "terms", [NUMBERS[:5], NUMBERS[:9], NUMBERS[:11], NUMBERS, NUMBERS + OTHERS, OTHERS]
)
@pytest.mark.parametrize("function", ["min", "max"])
@each_seed(range(5))
def test_extremes__are_those_of_each_term(
    terms: list[ox.Literal], function: str, seed: int
) -> None:
    rng = random.Random(seed)
    dictionary = Dictionary()
    known = dictionary.encode(rng.sample(terms, len(terms)))
    ids = np.array([rng.choice(known.tolist()) for _ in range(40)], np.uint32)
    groups = np.array([rng.randrange(12) for _ in ids])
    asked = QueryTerms(dictionary)
    ranks = ranks_of(Ids(ids), asked, Context())
    found = firsts(ids, ranks if function == "min" else -ranks, groups, 12, asked)
    wanted = ids_of(aggregate(function, Ids(ids), groups, 12, asked), asked)
    assert asked.keys(found) == asked.keys(wanted)


def test_firsts__of_many_groups_with_equal_terms_are_found_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dictionary = Dictionary()
    ids = dictionary.encode([typed(text, "integer") for text in ("1", "01", "+1", "001")])
    asked = QueryTerms(dictionary)
    looked_up: list[int] = []
    keys = asked.keys
    monkeypatch.setattr(asked, "keys", lambda ids: looked_up.append(len(ids)) or keys(ids))
    groups = np.arange(400) // 4
    found = firsts(np.tile(ids, 100), np.zeros(400, np.int64), groups, 100, asked)
    assert asked.term(int(found[0])) == typed("+1", "integer") and set(found.tolist()) == {ids[2]}
    assert looked_up == [4]  # not once for each group, which took hours for a million of them


def test_min__of_decimals_of_each_group_as_they_are_written() -> None:
    store = Store()
    store.load(
        """@prefix : <http://e/> . :a :p 2.50, 2.5, 10.0 . :b :p 3.10 . :c :p 1.0, :x .
        :d :p 7 . :e :q 1 .""",
        "turtle",
    )
    text = "SELECT ?s (MIN(?o) AS ?n) (MAX(?o) AS ?m) { ?s <http://e/p> ?o } GROUP BY ?s"
    rows = {row["s"].value[-1]: (row["n"].value, row["m"].value) for row in store.query(text)}
    assert rows == {
        "a": ("2.5", "10.0"),
        "b": ("3.10", "3.10"),
        "c": ("http://e/x", "1.0"),
        "d": ("7", "7"),
    }


def test_counts__of_many_groups_are_those_of_bincount() -> None:
    from triplestore.operators.operator import Account
    from triplestore.sparql.evaluate.grouped import _Counts

    context = Context()
    counts = _Counts(Account(context))
    chance = np.random.default_rng(7)
    every = [chance.integers(0, size, 10) for size in (5, 30, 500, 501, 5_000)]
    for size, numbers in zip((5, 30, 500, 501, 5_000), every, strict=True):
        counts.add(numbers, size)
    assert (counts.of(5_000) == np.bincount(np.concatenate(every), minlength=5_000)).all()
    assert 40_000 <= context.used <= 64_000


def test_rows_of_many_blocks__are_gathered_in_order() -> None:
    from triplestore.operators import FilterRows, Frame, Values

    for size in (7, 8, 9, 64, 65, 130):
        values = Values(Frame.of(x=list(range(size))))
        plan = FilterRows(values, lambda frame: np.ones(frame.rows, np.bool_))
        assert plan.run(Context(block_rows=1)).to_rows() == [(i,) for i in range(size)]


@pytest.mark.parametrize("expression", ["?o", "?o + 1", "ABS(?o) * 2", "?o > 1", "STR(?o)"])
@pytest.mark.parametrize("function", ["SUM", "AVG"])
def test_sum_of_all_rows__computes_each_value_once(
    expression: str, function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store()
    triples = "".join(f"<http://e/{i}> <http://p> {i * 7 % 30 - 9}.5 .\n" for i in range(1500))
    store.load(triples, "turtle")
    text = f"SELECT ({function}({expression}) AS ?n) {{ ?s <http://p> ?o }}"
    (fast,) = store.query(text)
    with monkeypatch.context() as patch:
        patch.setattr(grouped, "_each_value_once", lambda *_: None)
        (slow,) = store.query(text + " # by each row")
    assert fast["n"] == slow["n"]
    assert (fast["n"] is None) == (expression in ("?o > 1", "STR(?o)"))
