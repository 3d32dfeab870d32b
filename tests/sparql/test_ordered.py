"""ORDER BY against Python's sort by the same order of terms, and its first rows against all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triplestore.expressions.compare_terms import order_key
from triplestore.expressions.evaluate_columns import Evaluator, Scope
from triplestore.expressions.query_terms import QueryTerms
from triplestore.expressions.tree import Variable
from triplestore.operators import Context, Frame, Values
from triplestore.sparql.evaluate.ordered import Ordered
from triplestore.sparql.thresholds import SPARQL
from triplestore.terms import Dictionary, TermSegment
from triplestore.terms.term_keys import key_of

XSD = "http://www.w3.org/2001/XMLSchema#"
NUMBERS = [
    ox.Literal(text, datatype=ox.NamedNode(XSD + kind))
    for text, kind in [
        ("1", "integer"),
        ("01", "integer"),
        ("-5", "int"),
        ("1.0", "decimal"),
        ("2.5e0", "double"),
        ("99999999999999999999", "integer"),
    ]
]
OTHERS = [
    ox.BlankNode("b"),
    ox.NamedNode("http://e/b"),
    ox.NamedNode("http://e/a"),
    ox.Literal("b"),
    ox.Literal("ä"),
    ox.Literal(""),
    ox.Literal("b", language="en"),
    ox.Literal(True),
    ox.Literal("2020-01-01", datatype=ox.NamedNode(XSD + "date")),
    ox.Literal("2020-01-01Z", datatype=ox.NamedNode(XSD + "date")),
    ox.Literal("2019-01-01", datatype=ox.NamedNode(XSD + "date")),
    ox.Literal("b", datatype=ox.NamedNode(XSD + "token")),
    ox.Literal("NaN", datatype=ox.NamedNode(XSD + "double")),
    ox.Literal("x", datatype=ox.NamedNode("http://e/unknown")),
]
POOLS = {
    "numbers": NUMBERS,
    "exact": NUMBERS[:4],
    "IRIs": OTHERS[1:3],
    "strings": OTHERS[3:6],
    "all": NUMBERS + OTHERS,
}


def rank(term: Any) -> tuple[Any, ...]:
    return () if term is None else order_key(key_of(term))


def loaded(*loads: Iterable[Any]) -> Dictionary:
    """A dictionary with a segment for each load, in the order of keys."""
    dictionary = Dictionary()
    for terms in loads:
        keys = sorted({key for key in map(key_of, terms) if not dictionary.lookup_key(key)})
        if keys:
            dictionary.add_segment(TermSegment.from_keys(dictionary.size + 1, keys))
    return dictionary


@pytest.mark.parametrize("pool", POOLS)
@given(data=st.data(), descending=st.tuples(st.booleans(), st.booleans()))
def test_ordered__as_python_sorts_and_equal_rows_stay(
    pool: str, data: st.DataObject, descending: tuple[bool, bool]
) -> None:
    terms = st.sampled_from([None, *POOLS[pool]])
    rows = data.draw(st.lists(st.tuples(terms, terms), max_size=20))
    limit = data.draw(st.none() | st.integers(0, 25))
    loads = data.draw(st.lists(st.sets(st.sampled_from(POOLS[pool])), max_size=2))
    dictionary = loaded(*loads)  # further terms are live
    ids = [[dictionary.encode([t])[0] if t is not None else 0 for t in row] for row in rows]
    numbers = np.arange(len(rows), dtype=np.uint32)
    columns = [np.array([row[i] for row in ids], np.uint32) for i in (0, 1)]
    frame = Frame(("x", "y", "n"), [*columns, numbers], len(rows))
    scope = Scope(QueryTerms(dictionary))
    keys = [
        (Evaluator(Variable(name), scope), down, name)
        for name, down in zip("xy", descending, strict=True)
    ]
    context = Context(block_rows=3)
    few, held = data.draw(st.sampled_from([64, 0])), data.draw(st.sampled_from([5, 50]))
    with SPARQL.changed(ranked_one_by_one=few, sorted_candidates=held):
        found = Ordered(Values(frame), keys, scope.terms, limit).run(context)

    expected = list(range(len(rows)))
    for place in (1, 0):  # stable, also in reverse: the last key first
        expected.sort(key=lambda n: rank(rows[n][place]), reverse=descending[place])
    assert found["n"].tolist() == expected[:limit]
    assert context.used == 0


def test_ordered__candidates_that_are_not_the_first_are_dropped(
    tune: Callable[..., None],
) -> None:
    tune(SPARQL, sorted_candidates=50)
    dictionary = Dictionary()
    ids = dictionary.encode([ox.Literal(i * 7919 % 1000) for i in range(1000)])
    scope = Scope(QueryTerms(dictionary))
    keys = [(Evaluator(Variable("x"), scope), False, "x")]
    context = Context(block_rows=20, budget=60_000)
    frame = Frame(("x",), [ids], len(ids))
    found = Ordered(Values(frame), keys, scope.terms, 10).run(context)
    assert [t.value for t in dictionary.terms(found["x"])] == [str(i) for i in range(10)]
    assert context.used == 0


def test_ordered__many_terms_of_all_kinds() -> None:
    terms: list[Any] = [None]
    for i in range(2000):
        n = i * 7919 % 2003
        terms += [ox.NamedNode(f"http://e/{n}"), ox.Literal(f"é{n}"), ox.Literal(n)]
        terms += [ox.BlankNode(f"b{n}"), ox.Literal(n / 2), ox.Literal(str(n), language="en")]
    dictionary = Dictionary()
    ids = np.append(dictionary.encode([term for term in terms if term is not None]), np.uint32(0))
    shuffled = np.random.default_rng(1).permutation(ids)
    scope = Scope(QueryTerms(dictionary))
    keys = [(Evaluator(Variable("x"), scope), False, "x")]
    found = Ordered(Values(Frame(("x",), [shuffled], len(ids))), keys, scope.terms).run(Context())
    by = [rank(term) for term in dictionary.terms(found["x"])]
    assert by == sorted(map(rank, terms))
