"""Texts of ASCII are read by an expression of their own, which finds what the one for all does."""

from __future__ import annotations

import re
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triplestore.errors import BudgetError, ParseError, TimeLimitError
from triplestore.expressions.text import tokens as module
from triplestore.expressions.text.tokens import BAD, PREFIXED, VARIABLE, Tokens
from triplestore.operators.context import Context, running
from triplestore.sparql.cache import text_shapes
from triplestore.text_limits import TextLimits

_PIECES = [
    *"abzAZ019_-.:?$%\\<>\"'@^{}[]()#/=!|&*+,; \t\n",
    *(
        "ex:a.b",
        "_:b.1",
        ":-",
        "//",
        "http://e/",
        "<<(",
        "%4f",
        "1.5e3",
        "'''",
        '"""',
        "--ltr",
        "\\u",
    ),
]
texts = st.lists(st.sampled_from(_PIECES), max_size=25).map("".join)


def matches(pattern: re.Pattern[str], text: str) -> list:
    return [(match.span(), match.lastindex, match.groups()) for match in pattern.finditer(text)]


@settings(max_examples=400, deadline=None)
@given(texts, st.booleans())
def test_tokens__of_ascii_as_of_any_text(text: str, rules: bool) -> None:
    assert text.isascii()
    by_all = module._pattern(rules, is_ascii=False)
    assert matches(module._pattern(rules, is_ascii=True), text) == matches(by_all, text)
    assert text_shapes._cut(True).split(text) == text_shapes._cut(False).split(text)


@pytest.mark.parametrize("name", ["é", "日本", "a\u00b7", "a\u0301", "\U00020000x"])
def test_tokens__names_of_other_scripts(name: str) -> None:
    found = Tokens(f"?{name} {name}:{name} ?a")
    assert found.kinds[:-1] == [VARIABLE, PREFIXED, VARIABLE]
    assert found.texts[:2] == [name, f"{name}:{name}"]


def test_tokens__what_no_name_has_is_bad() -> None:
    assert Tokens("a \u00d7 b").kinds[1] == BAD
    assert Tokens("a \x7f b").kinds[1] == BAD


GLUED = {
    "one word": "aTRUEa" * 5000,
    "many words": "aTRUE " * 5000,
    "words and numbers": "TRUE12FALSE3e4" * 5000,
}


@pytest.mark.parametrize("text", GLUED.values(), ids=GLUED)
def test_tokens__words_without_spaces_are_within_the_limits(text: str) -> None:
    for limits, error in (
        (Context(text=TextLimits(tokens=5000)), ParseError),
        (Context(seconds=-1), TimeLimitError),
        (Context(budget=1_000_000), BudgetError),
    ):
        with running(limits), pytest.raises(error):
            Tokens(text)


def test_tokens__a_word_that_is_cut_is_looked_at_while_it_is_cut() -> None:
    """None of it becomes a token, because the last part is not a word."""
    with running(Context(seconds=-1)), pytest.raises(TimeLimitError):
        Tokens("a" * 5000 + "x")


@pytest.mark.parametrize("comment", ["#\n", "# \r\n", "//\n"])
def test_tokens__comments_take_no_memory(comment: str) -> None:
    """Python kept 350 bytes for each as a place to come back to, which no limit counts."""
    Tokens("", slash_comments=True)
    tracemalloc.start()
    try:
        assert Tokens(comment * 20_000 + "?x", slash_comments=True).texts == ["x", ""]
        assert tracemalloc.get_traced_memory()[1] < 500_000
    finally:
        tracemalloc.stop()


@given(st.lists(st.sampled_from(["true", "UNDEF", "in", "12", "3e4"]), min_size=2, max_size=400))
def test_tokens__words_and_numbers_without_spaces(parts: list[str]) -> None:
    pairs = zip(["", *parts], parts, strict=False)
    apart = [part for before, part in pairs if not (before[-1:] + part[:1]).isdigit()]
    glued, spaced = Tokens("a" + "".join(apart)), Tokens("a " + " ".join(apart))
    assert (glued.kinds, glued.texts) == (spaced.kinds, spaced.texts)


def test_tokens__time_grows_with_the_words_without_spaces(monkeypatch: pytest.MonkeyPatch) -> None:
    """A word is not read again behind each number that it has."""
    read = 0
    read_on = Tokens._read_on

    def counted(self: Tokens, *arguments: object) -> int:
        nonlocal read
        read += 1
        return read_on(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Tokens, "_read_on", counted)
    assert len(Tokens("TRUE1" * 10_000).kinds) == 20_001
    assert read < 100
