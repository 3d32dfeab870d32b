"""Tests of texts on many terms at once: the same as on one after the other."""

from __future__ import annotations

import numpy as np
import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triplestore.expressions import evaluate_columns
from triplestore.expressions.library import text_tests
from triplestore.expressions.query_terms import QueryTerms
from triplestore.expressions.text.expression_parser import parse_expression
from triplestore.expressions.thresholds import EXPRESSIONS
from triplestore.operators.frame import Frame
from triplestore.terms.dictionary import Dictionary

XSD = "http://www.w3.org/2001/XMLSchema#"
WORDS = ["", "ab", "Ab", "bab", 'a"@b', 'x"^^<y', "äb", "ab\nb", "日本ab", "b", "a.b", "ﬀ", "İb"]
TERMS = [
    *(ox.Literal(word) for word in WORDS),
    *(ox.Literal(word, language="en") for word in WORDS),
    *(ox.Literal(word, datatype=ox.NamedNode(XSD + "token")) for word in WORDS[:6]),
    ox.Literal(17),
    ox.NamedNode("http://e/ab"),
    ox.NamedNode("http://e/äb"),
    ox.BlankNode("ab"),
]
TEXTS = [
    f"{function}({argument}, {other})"
    for argument in ("?x", "STR(?x)", "LCASE(?x)", "LCASE(STR(?x))", "STR(UCASE(?x))", "UCASE(?x)")
    for function, other in [
        ("CONTAINS", '"ab"'),
        ("CONTAINS", '""'),
        ("STRSTARTS", '"a"'),
        ("STRENDS", '"b"'),
        ("STRENDS", '"B"'),
        ("STRENDS", '"ä"@en'),
        ("REGEX", '"^a"'),
        ("REGEX", '"B$", "i"'),
        ("REGEX", '"a.b", "q"'),
        ("REGEX", '"^b$", "m"'),
        ("REGEX", '"["'),
        ("REGEX", '"a", "z"'),
    ]
] + ['REGEX(STR(?x), "1")', "CONTAINS(?x, ?x)", 'CONTAINS(STR(LANG(?x)), "e")']


def both_ways(
    text: str, terms: list[object], unbound: bool, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[bytes | None], list[bytes | None]]:
    dictionary = Dictionary()
    ids = dictionary.encode(terms)
    if unbound:
        ids = np.append(ids, np.uint32(0))
    scope = evaluate_columns.Scope(QueryTerms(dictionary))
    frame = Frame.of(x=ids)
    expression = parse_expression(text)
    short = scope.terms.keys(evaluate_columns.column(expression, frame, scope))
    with monkeypatch.context() as patch:
        patch.setattr(text_tests, "test_of", lambda node: None)
        long = scope.terms.keys(evaluate_columns.column(expression, frame, scope))
    return short, long


@pytest.mark.parametrize("text", TEXTS)
def test_texts__are_tested_as_one_by_one(text, monkeypatch):
    ascii_ = [ox.Literal(word) for word in WORDS if word.isascii()] * 3
    for terms, unbound in ((TERMS, False), (TERMS, True), (ascii_, False), (ascii_, True)):
        short, long = both_ways(text, terms, unbound, monkeypatch)
        assert short == long
    assert len(TERMS) > EXPRESSIONS.scalar_rows


@settings(max_examples=60, deadline=None)
@given(
    words=st.lists(st.text('ab"@^<é\U0001f600 \n', max_size=6), min_size=17, max_size=30),
    part=st.text('ab"@é', max_size=3),
    kind=st.sampled_from(["plain", "en", "token"]),
    function=st.sampled_from(["CONTAINS", "STRSTARTS", "STRENDS", "REGEX"]),
)
def test_texts__of_any_words(words, part, kind, function):
    made = {
        "plain": ox.Literal,
        "en": lambda word: ox.Literal(word, language="en"),
        "token": lambda word: ox.Literal(word, datatype=ox.NamedNode(XSD + "token")),
    }[kind]
    quoted = str(ox.Literal(part))
    with pytest.MonkeyPatch.context() as patch:
        terms = [made(word) for word in words]
        short, long = both_ways(f"{function}(STR(?x), {quoted})", terms, False, patch)
    assert short == long
    python = {
        "CONTAINS": lambda word: part in word,
        "STRSTARTS": lambda word: word.startswith(part),
        "STRENDS": lambda word: word.endswith(part),
    }
    if function in python:
        assert [key[1:5] == b"true" for key in short if key] == list(map(python[function], words))


def test_texts__the_short_way_is_taken(monkeypatch):
    asked = []
    tested = text_tests.tested
    monkeypatch.setattr(text_tests, "tested", lambda *given: asked.append(1) or tested(*given))
    short, _ = both_ways('REGEX(LCASE(STR(?x)), "AB", "i")', TERMS, False, monkeypatch)
    assert asked and sum(key is not None and key[1:5] == b"true" for key in short) > 9


LISTS = [
    '?x IN ("ab", "b", <http://e/ab>, "ab"@en)',
    '?x NOT IN ("ab", <http://e/ab>)',
    '?x IN ("ab", 17, "b"@en, <http://e/a>)',
    'STR(?x) IN ("ab", "http://e/ab", "17")',
    '?x IN ("ab", 1/0)',
    '?x IN (?x, "ab")',
    '?x IN ("ab"^^<http://www.w3.org/2001/XMLSchema#token>, "b")',
    'STRLEN(STR(?x)) IN ("2", 2)',
    "?x = <http://e/ab>",
    "<http://e/ab> != ?x",
    "?x != <http://e/nowhere>",
    "STR(?x) = <http://e/ab>",
]


@pytest.mark.parametrize("text", LISTS)
@pytest.mark.parametrize("kinds", ["all", "texts", "unbound"])
def test_lists__are_looked_up_as_one_by_one(text, kinds, monkeypatch):
    odd = ox.Literal("x", datatype=ox.NamedNode("http://e/unknown"))
    terms = [t for t in [*TERMS, odd] if kinds == "all" or not getattr(t, "datatype", None)]
    texts_ = [ox.Literal(word) for word in WORDS] * 2
    dictionary = Dictionary()
    ids = dictionary.encode(terms if kinds == "all" else [*terms, *texts_])
    if kinds == "unbound":
        ids = np.append(ids, np.uint32(0))
    scope = evaluate_columns.Scope(QueryTerms(dictionary))
    frame = Frame.of(x=ids)
    expression = parse_expression(text)
    together = scope.terms.keys(evaluate_columns.column(expression, frame, scope))
    with EXPRESSIONS.changed(scalar_rows=10**6):
        single = scope.terms.keys(evaluate_columns.column(expression, frame, scope))
    assert together == single and len(frame) > EXPRESSIONS.scalar_rows
