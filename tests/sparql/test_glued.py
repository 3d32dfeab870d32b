"""Texts without white space between tokens: legal wherever the longest token that fits is clear.

The oracle is a slow tokenizer, made of the terminals of SPARQL's grammar: at each place the longest
one that matches is taken. Where it finds the same tokens with less white space, the algebra has to
be the same.
"""

from __future__ import annotations

import random
import re
from itertools import pairwise

import pytest
from support.fuzzing import seeds

from tests.sparql.random_texts import Texts
from triplestore.errors import QuerySyntaxError
from triplestore.expressions.functions import AGGREGATES, FUNCTIONS
from triplestore.sparql.syntax.parser import parse_query, parse_update

TEXT = (
    "SELECT CONSTRUCT DESCRIBE ASK BASE PREFIX DISTINCT REDUCED AS FROM NAMED WHERE GROUP BY "
    "HAVING ORDER ASC DESC LIMIT OFFSET VALUES LOAD SILENT INTO CLEAR DROP CREATE ADD MOVE COPY "
    "TO INSERT DELETE DATA WITH USING DEFAULT ALL GRAPH OPTIONAL SERVICE BIND UNDEF MINUS UNION "
    "FILTER IN NOT EXISTS SEPARATOR TRUE FALSE"
)
KEYWORDS = [
    *TEXT.split(),
    *(name for name in FUNCTIONS if ":" not in name),
    *(name.upper() for name in AGGREGATES),
]
BASE = "A-Za-z"  # the letters that the texts have
EXPONENT = "[eE][+-]?[0-9]+"
LOCAL = rf"(?:[{BASE}_:0-9](?:[{BASE}_:0-9.-]*[{BASE}_:0-9-])?)"
TERMINALS = [
    *(re.compile(re.escape(word), re.IGNORECASE) for word in KEYWORDS),
    re.compile("a"),
    re.compile(r'<[^\x00-\x20<>"{}|^`\\]*>'),
    re.compile(rf"(?:[{BASE}](?:[{BASE}0-9_.-]*[{BASE}0-9_-])?)?:{LOCAL}?"),
    re.compile(rf"_:[{BASE}_0-9](?:[{BASE}_0-9.-]*[{BASE}_0-9-])?"),
    re.compile(rf"[?$][{BASE}_0-9]+"),
    re.compile(rf"@[{BASE}]+(?:-[{BASE}0-9]+)*"),
    re.compile("[+-]?[0-9]+"),
    re.compile(r"[+-]?[0-9]*\.[0-9]+"),
    re.compile(rf"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+){EXPONENT}"),
    re.compile(r'"""(?:"{0,2}(?:[^"\\]|\\.))*"""', re.DOTALL),
    re.compile(r'"(?:[^"\\\n\r]|\\.)*"'),
    re.compile(r"'(?:[^'\\\n\r]|\\.)*'"),
    *map(re.compile, (r"\|\|", "&&", "!=", "<=", ">=", r"\^\^", r"[][(){}.;,=<>!+\-*/|^?&]")),
]


def terminals(text: str) -> list[str] | None:
    """The tokens of a text; None if it has others."""
    found, at = [], 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        matches = [match[0] for one in TERMINALS if (match := one.match(text, at))]
        if not matches:
            return None
        found.append(max(matches, key=len))
        at += len(found[-1])
    return found


def glued(rng: random.Random, tokens: list[str], less: float) -> str:
    """The tokens with as little white space as they can have, or a little more."""
    text = tokens[0]
    for before, token in pairwise(tokens):
        # a name may go on in the next token but one (`a.b`), so what there is so far is read again
        tail = text[-60:].split(" ")[-1]
        apart = terminals(tail)
        together = terminals(tail + token)
        clear = apart is not None and together == [*apart, token] and apart[-1:] == [before]
        text += token if clear and rng.random() < less else f" {token}"
    return text


@pytest.mark.fuzz
def test_tokens_without_white_space__mean_the_same() -> None:
    for seed in seeds(25):
        rng = random.Random(seed)
        made = Texts(rng)
        for text, parse in ((made.query(), parse_query), (made.update(), parse_update)):
            tokens = terminals(text)
            if tokens is None:
                continue
            less = rng.choice([0.5, 1.0])
            tight = glued(rng, tokens, less)
            if terminals(tight) != tokens:
                continue
            assert parse(tight) == parse(text), f"seed {seed}:\n{text}\n{tight}"


@pytest.mark.parametrize(
    ("tight", "text"),
    [
        ("ASK{FILTERsameTerm(?x,?y)}", "ASK { FILTER sameTerm(?x, ?y) }"),
        ("ASK{FILTERNOTEXISTS{}}", "ASK { FILTER NOT EXISTS { } }"),
        ("ASK{FILTER(?x NOTIN(1))}", "ASK { FILTER (?x NOT IN (1)) }"),
        (
            "SELECT?x{?x a?y}ORDERBYASC(?x)DESC(?y)LIMIT10OFFSET5",
            "SELECT ?x { ?x a ?y } ORDER BY ASC(?x) DESC(?y) LIMIT 10 OFFSET 5",
        ),
        ("SELECTDISTINCT?x{?x ?p true}", "SELECT DISTINCT ?x { ?x ?p true }"),
        ("ASK{?x atrue}", "ASK { ?x a true }"),
        (
            "SELECT(COUNT(DISTINCT?x)AS?n){?x a?y}GROUPBYSTR(?y)HAVINGCOUNT(?x)",
            "SELECT (COUNT(DISTINCT ?x) AS ?n) { ?x a ?y } GROUP BY STR(?y) HAVING COUNT(?x)",
        ),
        ("SELECT(1AS?x)FROMNAMED<http://e/>{}", "SELECT (1 AS ?x) FROM NAMED <http://e/> {}"),
        ("ASK{VALUES?x{truefalseUNDEF}}", "ASK { VALUES ?x { true false UNDEF } }"),
    ],
)
def test_keywords_without_white_space(tight: str, text: str) -> None:
    assert parse_query(tight) == parse_query(text)


def test_keywords_without_white_space__in_updates() -> None:
    for tight, text in (
        ("DELETEWHERE{?x ?y ?z}", "DELETE WHERE { ?x ?y ?z }"),
        ("INSERTDATA{}", "INSERT DATA { }"),
        ("CLEARSILENTDEFAULT;DROPALL", "CLEAR SILENT DEFAULT ; DROP ALL"),
        ("LOADSILENT<x:a>INTOGRAPH<x:b>", "LOAD SILENT <x:a> INTO GRAPH <x:b>"),
        ("ADDDEFAULTTO<x:b>", "ADD DEFAULT TO <x:b>"),
    ):
        assert parse_update(tight) == parse_update(text)


def test_thousands_of_words_without_white_space__are_read() -> None:
    many = "truefalse" * 3000
    assert len(parse_query(f"ASK {{ VALUES ?x {{ {many} }} }}").pattern.rows) == 6000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ASK { FILTER(STRLENGTH(?x)) }", "unknown function STRLENGTH .did you mean STRLEN"),
        ("ASK { FILTER(COUNTIF(?x)) }", "unknown function COUNTIF"),
        ("ASK { ?x a ?y FILERS(?x) }", "found 'FILERS'"),
        ("SELECTED ?x { }", "found 'SELECTED'"),
    ],
)
def test_words_that_are_none__are_named_whole(text: str, message: str) -> None:
    with pytest.raises(QuerySyntaxError, match=message):
        parse_query(text)
