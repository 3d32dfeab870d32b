"""Functions of strings on many terms at once: the same as on one after the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triplestore.errors import BudgetError, UsageError
from triplestore.expressions import column_evaluation, evaluate_columns, text_columns
from triplestore.expressions.columns import text_patterns
from triplestore.expressions.columns.text_functions import TEXT_FUNCTIONS
from triplestore.expressions.columns.text_patterns import letters_of
from triplestore.expressions.library.numbers import ExpressionError
from triplestore.expressions.library.regex import compiled
from triplestore.expressions.query_terms import QueryTerms
from triplestore.expressions.shapes import Shapes
from triplestore.expressions.text.expression_parser import parse_expression
from triplestore.expressions.thresholds import EXPRESSIONS
from triplestore.kernels.jit import is_loaded, plain_python
from triplestore.operators.context import Context, running
from triplestore.operators.frame import Frame
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.thresholds import TERMS as SIZES

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


@pytest.fixture(autouse=True)
def by_kernels(tune: Callable[..., None]) -> None:
    """Few texts are enough for kernels."""
    tune(SIZES, warm_rows=1, warm_texts=1, cold_texts=1)


def both_ways(
    text: str, terms: list[object], unbound: bool = False, parts: int = 1
) -> tuple[list[bytes | None], list[bytes | None]]:
    """The values for terms by columns and one by one; `parts` segments of the dictionary."""
    dictionary = Dictionary()
    with SIZES.changed(sealed_batch=1):
        for part in range(parts):
            dictionary.encode(terms[part::parts])
    ids = dictionary.encode(terms)
    if unbound:
        ids = np.append(ids, np.uint32(0))
    scope = evaluate_columns.Scope(QueryTerms(dictionary))
    frame = Frame.of(x=ids, y=np.roll(ids, 1))
    expression = parse_expression(text)
    with EXPRESSIONS.changed(scalar_rows=-1):
        short = scope.terms.keys(evaluate_columns.column(expression, frame, scope))
    with EXPRESSIONS.changed(scalar_rows=10**6):
        long = scope.terms.keys(evaluate_columns.column(expression, frame, scope))
    return short, long


@pytest.mark.parametrize("text", TEXTS)
def test_texts__are_tested_as_one_by_one(text):
    ascii_ = [ox.Literal(word) for word in WORDS if word.isascii()] * 3
    for terms, unbound in ((TERMS, False), (TERMS, True), (ascii_, False), (ascii_, True)):
        short, long = both_ways(text, terms, unbound)
        assert short == long


FUNCTIONS = [
    *(
        f"{name}(?x)"
        for name in ["STR", "LANG", "LANGDIR", "DATATYPE", "HASLANG", "STRLEN", "UCASE", "LCASE"]
    ),
    *(
        f"{name}(?x, ?y)"
        for name in ["CONTAINS", "STRSTARTS", "STRENDS", "STRBEFORE", "STRAFTER", "CONCAT"]
    ),
    *(
        f"SUBSTR(?x, {at})"
        for at in ("1", "2", "-1", "0, 3", "2, 1", "2, 0", "2, -4", "1.0", '"a"')
    ),
    "SUBSTR(?x, STRLEN(?x))",
    'STRBEFORE(?x, "b")',
    'STRAFTER(?x, "b"@en)',
    'STRAFTER(STR(?x), "")',
    'STRBEFORE("cab", ?x)',
    'CONCAT(?x, "-", STR(?y))',
    "CONCAT(?x, ?x, ?x)",
    "CONCAT(LANG(?x), UCASE(?x))",
    'LCASE(UCASE(STRAFTER(STR(?x), "a")))',
    'LANGMATCHES(LANG(?x), "en")',
    'LANG(?x) = "en"',
    'LANG(?x) < "en"',
    "DATATYPE(?x) != <http://www.w3.org/2001/XMLSchema#token>",
    "DATATYPE(?x) IN (<http://www.w3.org/2001/XMLSchema#string>)",
    "STR(?x) = STR(?y)",
    "STR(?x) <= STR(?y)",
    "UCASE(?x) = ?y",
    "SUBSTR(?x, 1, 1) > LCASE(?y)",
    '?x < "b"',
    '"b" >= STR(?x)',
    '?x < "b"@en',
    '?x >= "b"@ar',
    "UCASE(?x) < UCASE(?y)",
    "LCASE(?x) >= ?y",
    '?x < "b"@fr',
    '?x = "ab"',
    '?x != "ab"@en',
    "MD5(UCASE(STR(?x)))",
    'STRLEN(STRBEFORE(STR(?x), "b")) + 1',
    '<http://www.w3.org/2001/XMLSchema#integer>(CONTAINS(?x, "a"))',
    'IF(STR(?x) = "", UCASE(?y), LCASE(?y))',
    "COALESCE(STRLEN(?x), STR(?x))",
    'UCASE(?x) IN ("AB", ?y)',
    '!STRBEFORE(?x, "b")',
    'STRLANG(LCASE(?x), "de")',
]


@pytest.mark.parametrize("text", FUNCTIONS)
@pytest.mark.parametrize("parts", [1, 3])
def test_functions__are_computed_as_one_by_one(text, parts):
    odd = [
        ox.Literal("x", datatype=ox.NamedNode("http://e/unknown")),
        ox.Literal("ab", language="ar", direction=ox.BaseDirection.RTL),
        ox.Triple(ox.NamedNode("http://e/a"), ox.NamedNode("http://e/p"), ox.Literal("ab")),
    ]
    for terms in (TERMS + odd, [ox.Literal(word) for word in WORDS]):
        for unbound in (False, True):
            short, long = both_ways(text, terms, unbound, parts)
            assert short == long


def test_functions__each_with_a_form_for_columns_is_tested():
    asked = " ".join([*FUNCTIONS, *TEXTS, "HASLANGDIR("])
    assert all(f"{name}(" in asked for name in TEXT_FUNCTIONS)


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
    with SIZES.changed(warm_rows=1, warm_texts=1, cold_texts=1):
        short, long = both_ways(f"{function}(STR(?x), {quoted})", [made(word) for word in words])
    assert short == long
    python = {
        "CONTAINS": lambda word: part in word,
        "STRSTARTS": lambda word: word.startswith(part),
        "STRENDS": lambda word: word.endswith(part),
    }
    if function in python:
        assert [key[1:5] == b"true" for key in short if key] == list(map(python[function], words))


PATTERNS = [
    *("ab", "^ab", "b$", "^ab$", "", "^", "$", "^$", "a.b", "^a.*b", "ab*", "^ab?", "a+b$", "b+"),
    *(
        "a{2}",
        "a{,2}b",
        "(ab)",
        "^(a|b)b",
        "a|^b",
        "^a|b$",
        r"a\.b",
        r"^\^",
        r"b\$",
        r"a\$$",
        r"\\$",
    ),
    *(
        "[ab]b",
        "[^a]b$",
        r"\p{L}b",
        r"[\]a]b",
        r"a\nb",
        "ä",
        "^ä",
        "日本",
        "a}b",
        "x]",
        "a{b",
        "k",
        "S",
    ),
]
SUBJECTS = [
    *WORDS,
    "aab",
    "a$",
    "^",
    "a\\",
    "ABAB",
    "äB",
    "KELVIN \u212a",
    "\u017fharp",
    "]b",
    "a}b",
    "x]",
]


@pytest.mark.parametrize("flags", ["", "i", "m", "s", "q", "x", "iq", "im"])
def test_patterns__match_as_one_by_one(flags):
    terms = [ox.Literal(word) for word in SUBJECTS] + [ox.NamedNode("http://e/ab"), *TERMS[13:20]]
    for pattern in PATTERNS:
        quoted = str(ox.Literal(pattern))
        short, long = both_ways(f"REGEX(?x, {quoted}, {ox.Literal(flags)!s})", terms)
        assert short == long, pattern


def test_patterns__of_letters_alone_need_no_regular_expression(monkeypatch):
    monkeypatch.setattr(text_patterns, "_try", None)
    for pattern in ("ab", "^a", "b$", r"a\.b"):
        short, long = both_ways(f"REGEX(STR(?x), {ox.Literal(pattern)!s})", TERMS)
        assert short == long


LOCAL = ["a.b", "[^a]", r"\S+", "(?:a|b)b", "b.*a", r"\P{L}", r"[^\w]", "[$^].", "a{2,}"]
AROUND = ["^a.", ".b$", r"\b.b", "(^|b)a.", r".\B", ".*", "x?", "a|$", "(?:)"]


@pytest.mark.parametrize("pattern", LOCAL + AROUND)
@pytest.mark.parametrize("tried", [2, 3, 10**6])
def test_patterns__in_many_texts_at_once(pattern, tried, monkeypatch):
    monkeypatch.setattr(text_patterns, "_TRIED", tried)
    together = []
    real = text_patterns._found_together
    monkeypatch.setattr(
        text_patterns, "_found_together", lambda *given: together.append(1) or real(*given)
    )
    terms = [ox.Literal(word) for word in SUBJECTS]
    for flags in ("", "s", "i"):
        short, long = both_ways(f"REGEX(?x, {ox.Literal(pattern)}, {ox.Literal(flags)})", terms)
        assert short == long
    assert bool(together) == (pattern in LOCAL)


@settings(max_examples=200, deadline=None)
@given(pattern=st.text("ab.^$*+?\\[]{}1|()", max_size=7), word=st.text("ab.$\n", max_size=6))
def test_letters__are_in_every_text_that_matches(pattern, word):
    try:
        matches = compiled(pattern, "").occurs_in(word.encode())
    except (ExpressionError, UsageError):
        return
    needed = letters_of(pattern)
    has = word.startswith(needed.prefix) and word.endswith(needed.suffix)
    has = has and all(part in word for part in needed.inside)
    assert has or not matches
    assert matches or not (has and needed.alone)


PREFIXES = ["", "a", "ab", "x", "http://e/", "z", "ä", 'a"', "\U0010ffff"]


@pytest.mark.parametrize("parts", [1, 2, 3])
@pytest.mark.parametrize("kinds", ["strings", "tagged", "typed", "IRIs", "all"])
def test_prefixes__are_ranges_of_ids(kinds, parts, monkeypatch):
    asked = []
    real = column_evaluation.starting_with
    monkeypatch.setattr(
        column_evaluation, "starting_with", lambda *given: asked.append(real(*given)) or asked[-1]
    )
    terms = {
        "strings": [ox.Literal(word) for word in SUBJECTS],
        "tagged": [ox.Literal(word, language=tag) for word in SUBJECTS for tag in ("de", "en")],
        "typed": TERMS[26:33],
        "IRIs": [ox.NamedNode(f"http://e/{i}") for i in range(40)],
        "all": TERMS,
    }[kinds]
    terms = sorted(terms, key=lambda term: str(term).encode()) if kinds != "all" else terms
    for prefix in PREFIXES:
        quoted = ox.Literal(prefix)
        for text in (f"STRSTARTS(?x, {quoted})", f"STRSTARTS(STR(?x), {quoted})"):
            for unbound in (False, True):
                short, long = both_ways(text, terms, unbound, parts)
                assert short == long
        pattern = ox.Literal("^" + prefix)
        short, long = both_ways(f"REGEX(STR(?x), {pattern})", terms, False, parts)
        assert short == long
    sealed = is_loaded()  # without kernels the terms stay in the live table, where none is sorted
    assert any(found is not None for found in asked) or kinds == "all" or not sealed


def test_texts__of_too_many_datatypes_are_taken_one_by_one(monkeypatch):
    monkeypatch.setattr("triplestore.expressions.shapes._MOST_ENDS", 3)
    terms = [ox.Literal("a", datatype=ox.NamedNode(f"http://e/{i}")) for i in range(20)]
    for text in ("STRLEN(STR(?x))", "DATATYPE(?x)", 'LANG(?x) = ""', 'CONCAT(STR(?x), "b")'):
        short, long = both_ways(text, terms)
        assert short == long and None not in short


@pytest.mark.skipif(plain_python(), reason="minutes for megabytes of text in plain Python")
def test_long_parts__are_searched_in_linear_time():
    limits = Context(seconds=20)
    terms = [ox.Literal("a" * size) for size in (100, 5_000_000, 5_000_001)] * 6
    terms += [ox.Literal("b" + "a" * 2_000_000), ox.Literal("a" * 70 + "b"), ox.Literal("ab")]
    part = ox.Literal("a" * 100_000 + "b")
    with running(limits):
        for text in (f"CONTAINS(?x, {part})", f"STRBEFORE(?x, {part})", "CONTAINS(?x, ?y)"):
            short, long = both_ways(text, terms)
            assert short == long


def test_texts__are_charged_to_the_budget():
    dictionary = Dictionary()
    ids = dictionary.encode([ox.Literal(f"{i} " + "a" * 1000) for i in range(1000)])
    scope = evaluate_columns.Scope(QueryTerms(dictionary))
    expression = parse_expression("STRLEN(UCASE(CONCAT(?x, ?x)))")
    context = Context(budget=10**7)
    with running(context):
        assert evaluate_columns.evaluate(expression, Frame.of(x=ids), scope).values[0] == 2004
    assert context.used == 0 and context.peak > 4 * 10**6
    with running(Context(budget=10**6)), pytest.raises(BudgetError):
        evaluate_columns.evaluate(expression, Frame.of(x=ids), scope)


def test_texts__without_compiled_kernels_are_taken_one_by_one(monkeypatch):
    monkeypatch.setattr(text_columns, "is_loaded", lambda: False)
    assert text_columns.worth_texts(10**6)
    monkeypatch.setattr(text_columns, "is_installed", lambda: False)
    assert not text_columns.worth_texts(10**6)


def test_shapes__keep_their_numbers():
    shapes = Shapes()
    assert shapes.of_key(b'\x05a"^^<http://e/t>') == (8, b"a")
    assert [shapes.of_key(key)[0] for key in (None, b"\x01a", b'\x04b"c"@en')] == [0, 1, 9]
    assert shapes.key(8, b"b") == b'\x05b"^^<http://e/t>' and shapes.key(0, b"") is None


def test_texts__of_more_datatypes_than_there_are_shapes_are_left_to_others():
    keys = [b'\x05a"^^<http://e/%d>' % number for number in range(1 << 16)]
    shapes = Shapes()
    assert text_columns.texts_of(keys, np.arange(len(keys)), shapes) is None
    assert shapes.is_full and len(shapes) < 6000


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
def test_lists__are_looked_up_as_one_by_one(text, kinds):
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
