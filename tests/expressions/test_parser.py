"""Tokens and the grammar of expressions, their errors, and printing."""

from __future__ import annotations

import random

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fuzzing import each_seed

from tests.expressions.random_expressions import Maker
from tests.terms.strategies import simple_terms, triples
from triplestore.errors import ParseError, TimeLimitError
from triplestore.expressions.functions import FUNCTIONS, OPERATORS, is_deterministic
from triplestore.expressions.text import term_parser
from triplestore.expressions.text.expression_parser import parse_expression
from triplestore.expressions.text.expression_printer import Namer, expression_text
from triplestore.expressions.text.term_parser import MOST_NESTED, did_you_mean
from triplestore.expressions.text.tokens import END, Tokens
from triplestore.expressions.tree import (
    Call,
    Constant,
    Variable,
    constants_of,
    depth_of,
    substitute,
    variables_of,
)
from triplestore.operators.context import Context, running
from triplestore.terms.term_keys import key_of
from triplestore.terms.vocabulary import XSD


def shape(text: str) -> str:
    """The structure of an expression, numbers as they are written."""
    return str(parse_expression(text)).replace(f"^^<{XSD}integer>", "").replace('"', "")


# --- tokens --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("?x<=5", ["x", "<=", "5"]),
        ("<http://a/b> < <c>", ["http://a/b", "<", "c"]),
        ("?a <?b", ["a", "<", "b"]),
        ("1.5 1. .5 1e5 1.e5 5.", ["1.5", "1", ".", ".5", "1e5", "1.e5", "5", "."]),
        ("123.5e0 12.75 99", ["123.5e0", "12.75", "99"]),
        ("a:b. a:b.c a: :b", ["a:b", ".", "a:b.c", "a:", ":b"]),
        (r"a:b\-c a:b%20c", [r"a:b\-c", "a:b%20c"]),
        ("_:b1. _:a.b", ["b1", ".", "a.b"]),
        ("\"a\\\"b\" 'c' '''d'e''' \"\"\"f\n\"\"\"", ['"a\\"b"', "'c'", "'''d'e'''", '"""f\n"""']),
        ("@en-us @ar--rtl", ["en-us", "ar--rtl"]),
        ("<<( :a :b :c )>>", ["<<(", ":a", ":b", ":c", ")>>"]),
        (":-5 :p? ?x", [":", "-", "5", ":p", "?", "x"]),
        ("a # comment\nb", ["a", "b"]),
    ],
)
def test_tokens__of_all_kinds(text: str, texts: list[str]) -> None:
    assert Tokens(text).texts[:-1] == texts


def test_tokens__an_arrow_is_one_sign_in_rules_only() -> None:
    assert Tokens(":- :a", slash_comments=True).texts == [":-", ":a", ""]
    assert Tokens(":- :a").texts == [":", "-", ":a", ""]


def test_tokens__a_block_of_data_is_one_token() -> None:
    tokens = Tokens("a { b:c } d", blocks=[(3, 8)])
    assert tokens.texts == ["a", "{", " b:c ", "}", "d", ""]
    assert tokens.starts == [0, 2, 3, 8, 10, 11]


def test_tokens__slashes_begin_a_comment_in_rules_only() -> None:
    assert Tokens("a // b\nc", slash_comments=True).texts == ["a", "c", ""]
    assert Tokens("a // b\nc").texts == ["a", "/", "/", "b", "c", ""]


@given(st.text(st.sampled_from("abc:?<>\"'\\ \n.#-_@1e(){}[]/|&") | st.characters(), max_size=40))
def test_tokens__every_text_has_some(text: str) -> None:
    tokens = Tokens(text)
    assert tokens.kinds[-1] == END
    assert len(tokens.kinds) == len(tokens.texts) == len(tokens.starts)
    for start, part in zip(tokens.starts, tokens.texts, strict=True):
        assert text[start : start + len(part)] == part
    assert tokens.starts == sorted(tokens.starts)


def test_tokens__many_words_with_dots_between_are_read_once() -> None:
    for text in ("a." * 50_000, "a-" * 50_000):  # the square of their number would take minutes
        assert len(Tokens(text).kinds) == 100_001
    prefix = "a." * 100 + "b:c"
    assert Tokens(prefix).texts == [prefix, ""]


def test_places__count_lines_and_columns_from_one() -> None:
    tokens = Tokens("a\nbc\r\n  d")
    assert [tokens.place(start) for start in tokens.starts] == [(1, 1), (2, 1), (3, 3), (3, 4)]


# --- grammar -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("?x + 2 * ?y > 7", ">(+(?x, *(2, ?y)), 7)"),
        ("1 - 2 - 3", "-(-(1, 2), 3)"),
        ("1-5", "-(1, 5)"),
        ("1 - -5", "-(1, -5)"),
        ("1 -5*2", "-(1, *(5, 2))"),
        ("- 5", "NEG(5)"),
        ("-?x", "NEG(?x)"),
        ("+?x / 2", "/(POS(?x), 2)"),
        ("!?a || ?b && ?c || ?d", "||(!(?a), &&(?b, ?c), ?d)"),
        ("(?a || ?b) || ?c", "||(||(?a, ?b), ?c)"),
        ("?a = ?b && ?c != ?d", "&&(=(?a, ?b), !=(?c, ?d))"),
        ("?x in (1, 2) || ?x NOT in ()", "||(IN(?x, 1, 2), NOT IN(?x))"),
        ("strlen(Str(?x))", "STRLEN(STR(?x))"),
        ("URI(?x)", "IRI(?x)"),
        ("isURI(?x)", "ISIRI(?x)"),
        ("xsd:integer(?x)", f"{XSD}integer(?x)"),
        ("true", f"true^^<{XSD}boolean>"),
        ("'a'@EN", "a@en"),
        ("$x", "?x"),
    ],
)
def test_expression__is_read_as_sparql_does(text: str, wanted: str) -> None:
    assert shape(text) == wanted


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("?x + ", (1, 6), "expected a constant or a variable or function"),
        ("STRLENGTH(?x)", (1, 1), "unknown function STRLENGTH (did you mean STRLEN?)"),
        ("1 +\n SUBSTR(?x)", (2, 2), "SUBSTR takes 2 to 3 arguments, not 1"),
        ("xsd:intege(3)", (1, 1), "did you mean integer?"),
        ("foo:bar", (1, 1), "unknown prefix 'foo:'"),
        ("1 < 2 < 3", (1, 7), "put one in parentheses"),
        ("(1", (1, 3), "expected ')'"),
        ("1 2", (1, 3), "expected an operator or the end, found '2'"),
        ('"abc', (1, 1), "is not closed on this line"),
        ('"a\\d"', (1, 1), "'\\d' is not an escape"),
        ('"\\uD800"', (1, 1), "is not a character"),
        ("<a b>", (1, 1), "expected a constant"),
        ("<relative>", (1, 1), "is not an absolute IRI"),
        ('"a"@toolonglanguagetag', (1, 4), "is not a language tag"),
        ('"a"^^"b"', (1, 6), "the IRI of a datatype"),
        ("<<( 1 <http://a> 2 )>>", (1, 1), "a triple term consists of"),
        ("EXISTS", (1, 1), "expected an expression"),
    ],
)
def test_errors__say_where_and_what(text: str, place: tuple[int, int], message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_expression(text)
    assert message in str(caught.value)
    assert (caught.value.lineno, caught.value.offset) == place


def test_errors__of_names_come_all_at_once() -> None:
    with pytest.raises(ParseError, match=r"unknown prefix 'a:'.*unknown function NO.*STR takes 1"):
        parse_expression("a:b + NO() + STR()")


@pytest.mark.parametrize("text", ["(" * 5000 + "?x", "!" * 5000 + "?x", "1" + " + 1" * 5000])
def test_deep_nesting__is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="deep"):
        parse_expression(text)


def test_long_alternatives__are_one_call() -> None:
    found = parse_expression(" || ".join(["?x = 1"] * 5000))
    assert isinstance(found, Call) and len(found.arguments) == 5000
    assert depth_of(found) == 2 < MOST_NESTED


def test_did_you_mean__names_only_what_is_near() -> None:
    assert did_you_mean("STRLN", FUNCTIONS) == " (did you mean STRLEN?)"
    assert did_you_mean("QQQQ", FUNCTIONS) == ""


def test_functions__that_are_not_deterministic_are_known() -> None:
    assert [name for name in FUNCTIONS if not is_deterministic(name)] == [
        "RAND",
        "NOW",
        "UUID",
        "STRUUID",
        "BNODE",
    ]
    assert is_deterministic(XSD + "integer")
    assert all(is_deterministic(name) for name in OPERATORS)


# --- printing ------------------------------------------------------------------------------------

PREFIXES = {"ex": "http://example.org/", "xsd": XSD, "": "http://e/"}


@given(simple_terms | triples)
def test_terms__read_back_as_they_were_printed(term: ox.NamedNode) -> None:
    constant = Constant(key_of(term))
    for namer in (Namer(), Namer(PREFIXES)):
        text = namer.term(constant)
        if constant.kind == 1 and "\\u" in text:
            continue  # an IRI that is none: rules cannot name it
        assert parse_expression(text, PREFIXES) == constant


def is_proper(key: bytes) -> bool:
    """False for literals that cannot be written: of a relative datatype, or typed as strings."""
    return key[0] != 5 or (b"<http://" in key and not key.endswith(b"#string>"))


@each_seed(range(300))
def test_expressions__read_back_as_they_were_printed(seed: int) -> None:
    expression = Maker(random.Random(seed), awkward=True).any(5)
    if not all(is_proper(constant.key) for constant in constants_of(expression)):
        return
    for namer in (Namer(), Namer(PREFIXES)):
        text = expression_text(expression, namer)
        assert parse_expression(text, PREFIXES) == expression, text


@pytest.mark.parametrize(
    "text",
    [
        "?a - (?b - ?c)",
        "?a - ?b - ?c",
        "(?a || ?b) && ?c",
        "-(5) * -5",
        "-(-?x)",
        "!(?a = ?b)",
        "?a / (?b * ?c)",
        "(?a || ?b) || ?c",
        "(?a < ?b) = ?c",
        "!!?x",
        "-(?a + ?b)",
        "-(-(5))",
    ],
)
def test_parentheses__stand_only_where_they_must(text: str) -> None:
    assert expression_text(parse_expression(text), Namer()) == text


# --- the tree ------------------------------------------------------------------------------------


def test_tree__is_walked_from_left_to_right() -> None:
    found = parse_expression("IF(?a, 1, ?b + ?a) = STR(2)")
    assert [v.name for v in variables_of(found)] == ["a", "b", "a"]
    assert [str(c)[1] for c in constants_of(found)] == ["1", "2"]


def test_substitute__replaces_variables_everywhere() -> None:
    found = substitute(parse_expression("?a + STR(?b)"), {Variable("b"): Variable("c")})
    assert str(found) == "+(?a, STR(?c))"


def test_did_you_mean__is_within_the_limits() -> None:
    """Prefixes and functions may be many, and as long as the text."""
    names = [f"{'abcdefgh' * 11}{number}x" for number in range(5000)]
    assert did_you_mean(names[7][1:], names) == f" (did you mean {names[7]}?)"
    assert did_you_mean(names[-1][1:], reversed(names)) == f" (did you mean {names[-1]}?)"
    with running(Context(seconds=-1)), pytest.raises(TimeLimitError):
        did_you_mean("hgfedcba" * 11, names)


def test_did_you_mean__names_of_any_size_take_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []
    monkeypatch.setattr(
        term_parser, "get_close_matches", lambda name, *_, **__: compared.append(name) or []
    )
    assert did_you_mean("STRLEN" * 100_000, FUNCTIONS) == "" and not compared
    with pytest.raises(ParseError, match="unknown function STRLENSTRLEN"):
        parse_expression(f"{'STRLEN' * 100_000}(1)")
    assert not compared and did_you_mean("STRLENGTH", FUNCTIONS) == "" and compared
