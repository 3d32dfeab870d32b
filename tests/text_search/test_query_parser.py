"""Text queries as trees, and the places of mistakes."""

from __future__ import annotations

import pytest

from triplestore.errors import UsageError
from triplestore.text_search.query_parser import parse_text_query
from triplestore.text_search.query_tree import (
    Boosted,
    Clauses,
    Everything,
    Fuzzy,
    Occurs,
    Phrase,
    TextNode,
    Word,
    WordExpression,
    WordPattern,
)
from triplestore.text_search.thresholds import TEXT

A, B, C = Word("a"), Word("b"), Word("c")
MUST, NOT, SHOULD = Occurs.MUST, Occurs.MUST_NOT, Occurs.SHOULD


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a", A),
        ("  a  ", A),
        ("a b", Clauses(((SHOULD, A), (SHOULD, B)))),
        ("+a -b", Clauses(((MUST, A), (NOT, B)))),
        ("a NOT b", Clauses(((SHOULD, A), (NOT, B)))),
        ("a !b", Clauses(((SHOULD, A), (NOT, B)))),
        ("-a", Clauses(((NOT, A),))),
        ("a AND b", Clauses(((MUST, A), (MUST, B)))),
        ("a && b", Clauses(((MUST, A), (MUST, B)))),
        ("a || b", Clauses(((SHOULD, A), (SHOULD, B)))),
        (
            "a AND b OR c",
            Clauses(((SHOULD, Clauses(((MUST, A), (MUST, B)))), (SHOULD, C))),
        ),
        ("a OR NOT b", Clauses(((SHOULD, A), (SHOULD, Clauses(((NOT, B),)))))),
        ("(a b) c", Clauses(((SHOULD, Clauses(((SHOULD, A), (SHOULD, B)))), (SHOULD, C)))),
        ('"a b"', Phrase("a b")),
        ('"a b"~3', Phrase("a b", 3)),
        ('"a b"*', Phrase("a b", prefix=True)),
        (r'"a \"b\""', Phrase('a "b"')),
        ("ab*", WordPattern(("ab", None))),
        ("a?b*c", WordPattern(("a", False, "b", None, "c"))),
        (r"a\*", Word("a*")),
        ("ab~", Fuzzy("ab", 2)),
        ("ab~1", Fuzzy("ab", 1)),
        ("ab~0.5", Fuzzy("ab", 2)),
        ("/ab+/", WordExpression("ab+", 0)),
        (r"/a\/b/", WordExpression("a/b", 0)),
        ("*", Everything()),
        ("*:*", Everything()),
        ("a^2", Boosted(A, 2.0)),
        ('"a b"~1^.5', Boosted(Phrase("a b", 1), 0.5)),
        ("(a)^3", Boosted(A, 3.0)),
        ("well-known", Word("well-known")),
        ("C++", Word("C++")),
        ("12:30", Word("12:30")),
        ("http://e.org/x", Word("http://e.org/x")),
        (r"a\:b", Word("a:b")),
        ("ANDROID", Word("ANDROID")),
        ("and", Word("and")),
    ],
)
def test_parse__reads_the_syntax_of_lucene(text: str, tree: TextNode) -> None:
    assert parse_text_query(text) == tree


@pytest.mark.parametrize(
    ("text", "problem", "place"),
    [
        ("", "a word is missing", 1),
        ("a AND", "a word is missing after AND", 6),
        ("OR a", "OR needs a word before it", 1),
        ("a AND OR b", "OR needs a word before it", 7),
        ("x (a b", "the bracket is not closed", 3),
        ("a ) b", "this bracket closes nothing", 3),
        ("a ()", "the brackets are empty", 3),
        ('a "b', "the quotes are not closed", 3),
        ("a /b", "the '/' of the regular expression is not closed", 3),
        ("a^x", "a number is missing after '^'", 3),
        ("a~b", "a number is missing after '~'", 3),
        ("a~5", "at most 2 changed letters", 2),
        ("a +", "a word is missing", 3),
        ("--a", "a clause is negated twice", 2),
        ("a\\", "a character is missing after the backslash", 3),
        ("title:a", "fields are not known", 1),
        ("a ^2", "'^' is not expected here", 3),
    ],
)
def test_parse__says_what_is_wrong_and_where(text: str, problem: str, place: int) -> None:
    with pytest.raises(UsageError) as error:
        parse_text_query(text)
    first, shown, mark = str(error.value).split("\n")
    assert problem in first
    assert first.endswith(f"at character {place}:")
    assert shown == f"  {text}"
    assert mark.index("^") - 2 == place - 1


def test_parse__limits_size_and_depth() -> None:
    with pytest.raises(UsageError, match="at most 10,000 characters"):
        parse_text_query("a" * (TEXT.query_size + 1))
    with pytest.raises(UsageError, match="nested more than 50 deep"):
        parse_text_query("(" * 60 + "a" + ")" * 60)
    with pytest.raises(UsageError, match="more than 1,000 parts"):
        parse_text_query("a " * 1001)
