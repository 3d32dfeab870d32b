"""What filters require of texts, beside the filters themselves on random texts."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from triplestore import Literal, NamedNode, Store
from triplestore.expressions.tree import Call, Constant, Expression, Variable
from triplestore.sparql.plan.required_texts import literal_runs, required_texts
from triplestore.sparql.thresholds import SPARQL

L = Variable("l")


def string(text: str) -> Constant:
    return Constant(b"\x03" + text.encode())


@pytest.mark.parametrize(
    ("pattern", "runs"),
    [
        ("abc", ["abc"]),
        ("^abc$", ["abc"]),
        ("abc?d", ["ab", "d"]),
        ("abc*", ["ab"]),
        ("abc+d", ["abc", "d"]),
        ("abc{2,3}d", ["ab", "d"]),
        ("ab.cd", ["ab", "cd"]),
        (r"ab\.cd", ["ab.cd"]),
        (r"ab\dcd", ["ab", "cd"]),
        (r"ab\p{Lu}cd", ["ab", "cd"]),
        ("ab(cd|ef)gh", ["ab", "gh"]),
        ("ab(c(d)[)])*gh", ["ab", "gh"]),
        ("ab[cd]ef", ["ab", "ef"]),
        (r"ab[^\]x]ef", ["ab", "ef"]),
        ("ab[a-z-[aeiou]]ef", ["ab", "ef"]),
        ("ab[]]ef", []),
        ("ab(?i)cd", []),
        ("ab|cd", []),
        ("ab(cd", []),
        ("ab)cd", []),
    ],
)
def test_runs__are_what_every_match_contains(pattern: str, runs: list[str]) -> None:
    assert literal_runs(pattern) == runs


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (Call("CONTAINS", (L, string("abcd"))), ("l", ["abcd"])),
        (Call("CONTAINS", (L, string("ab"))), None),
        (Call("STRSTARTS", (L, Constant(b'\x04abc"@en'))), ("l", ["abc"])),
        (Call("CONTAINS", (string("abcd"), L)), None),
        (Call("CONTAINS", (Call("STR", (L,)), string("abcd"))), None),
        (Call("CONTAINS", (Call("LCASE", (L,)), string("panel in"))), ("l", ["panel "])),
        (Call("REGEX", (L, string("abc.def"))), ("l", ["abc", "def"])),
        (Call("REGEX", (L, string("abc.dsef"), string("i"))), ("l", ["abc"])),
        (Call("REGEX", (L, string("abc"), string("x"))), None),
        (Call("REGEX", (L, L)), None),
        (Call("!", (Call("CONTAINS", (L, string("abcd"))),)), None),
        (Call("=", (L, string("abcd"))), None),
    ],
)
def test_filters__require_texts(
    condition: Expression, expected: tuple[str, list[str]] | None
) -> None:
    assert required_texts(condition) == expected


FILTERS = [
    'CONTAINS(?l, "{0}")',
    'CONTAINS(LCASE(?l), LCASE("{0}"))',
    'CONTAINS(LCASE(?l), "{0}")',
    'STRSTARTS(?l, "{0}")',
    'STRENDS(?l, "{0}")',
    'REGEX(?l, "{0}")',
    'REGEX(?l, "{0}", "i")',
    'REGEX(?l, "^{0}.*{1}", "i")',
    'REGEX(?l, "{0}?{1}+")',
    'REGEX(?l, "({0}|{1})")',
    'REGEX(STR(?l), "{0}")',
    'CONTAINS(?l, "{0}") && !CONTAINS(?l, "{1}")',
    'CONTAINS(?l, "{0}") || CONTAINS(?l, "{1}")',
    '!CONTAINS(?l, "{0}")',
    'CONTAINS(?l, "{0}"@en)',
]
PIECES = [
    "sun",
    "Sun",
    "\u017fun",
    "K",
    "\u212a",
    "\u0130x",
    "ax",
    "panel",
    "ss",
    "\u00df",
    " ",
    "12",
]


def part_of(text: str, random: Random) -> str:
    at = random.randrange(max(1, len(text) - 3))
    return text[at : at + random.randrange(2, 7)]


@pytest.mark.parametrize("properties", [None, ["http://ex.org/p"]])
def test_filters__have_the_same_answers_with_an_index(
    properties: list[str] | None, tune: Callable[..., None]
) -> None:
    tune(SPARQL, searched_rows=0.0, lookup_cost=0.01)
    pytest.importorskip("tantivy")
    random = Random(4)
    plain, indexed = Store(), Store()
    p, q = NamedNode("http://ex.org/p"), NamedNode("http://ex.org/q")
    quads, texts = [], list[str]()
    for n in range(400):
        text = "".join(random.choices(PIECES, k=random.randrange(1, 6)))
        texts.append(text)
        kinds = [
            Literal(text),
            Literal(text, language="en"),
            Literal(n),
            NamedNode("http://ex.org/sun"),
        ]
        quads.append(
            (NamedNode(f"http://ex.org/{n}"), random.choice([p, p, q]), random.choice(kinds))
        )
    plain.extend(quads)
    indexed.extend(quads)
    indexed.index_text(properties, languages=[], substrings=True)
    indexed.complete_text_index()
    used = 0
    for _ in range(60):
        one, other = (part_of(random.choice(texts), random) for _ in range(2))
        condition = random.choice(FILTERS).format(one, other)
        for name in ("ex:p", "ex:q", "?p"):
            text = (
                f"PREFIX ex: <http://ex.org/> SELECT ?x ?l {{ ?x {name} ?l FILTER({condition}) }}"
            )
            found = indexed.select(text)
            assert sorted(map(str, found)) == sorted(map(str, plain.select(text))), text
            used += "text candidates" in str(found.explain())
            inside = text.replace(f"?x {name} ?l", f"GRAPH ?g {{ ?x {name} ?l }}")
            assert len(indexed.select(inside)) == 0
    assert used > (30 if properties is None else 10)
