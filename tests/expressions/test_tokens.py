"""Texts of ASCII are read by an expression of their own, which finds what the one for all does."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triplestore.expressions.text import tokens as module
from triplestore.expressions.text.tokens import BAD, PREFIXED, VARIABLE, Tokens
from triplestore.sparql.cache import text_shapes

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
