"""The parser against those of rdflib (the same algebra) and pyoxigraph (the same texts refused)."""

from __future__ import annotations

import logging
import random
from itertools import pairwise
from pathlib import Path

import pyoxigraph as ox
import pytest

from sparql.random_texts import Texts
from triplestore.errors import QuerySyntaxError
from triplestore.expressions.text.tokens import Tokens
from triplestore.sparql.syntax.parser import parse_query, parse_update
from triplestore.sparql.syntax.query_printer import write

rdflib_algebra = pytest.importorskip("sparql.rdflib_algebra", reason="rdflib is not installed")

# Queries of the W3C that rdflib reads in another way, or not at all.
RDFLIB_DIFFERS = {
    "syntax-general-04.rq": "reads the sign of a number as that of a path",
    "syntax-general-07.rq": "reads the sign of a number as that of a path",
    "syntax-general-10.rq": "reads the sign of a number as that of a path",
    "syntax-general-08.rq": "refuses negative decimals",
    "syn-05.rq": "SELECT * selects the variables of filters",
    "syn-07.rq": "SELECT * selects the variables of filters",
    "syntax-minus-01.rq": "SELECT * selects the variables in MINUS",
    "syntax-bindings-02a.rq": "VALUES () {} is left out",
    "syntax-bindings-03a.rq": "fails on VALUES () { () }",
    "syntax-bindings-05a.rq": "SELECT * leaves out the variables of VALUES behind the WHERE",
    "syntax-form-describe01.rq": "fails on a DESCRIBE without WHERE",
    "nps_a_inverse.rq": "loses ^p in negated sets",
    "nps_direct_and_inverse.rq": "loses ^p in negated sets",
    "nps_inverse.rq": "loses ^p in negated sets",
    "syn-pname-05.rq": "keeps the escapes of names",
    "syn-pname-06.rq": "keeps the escapes of names",
    "syn-pname-07.rq": "keeps the escapes of names",
}


def same_algebra(text: str, base: str | None = None) -> None:
    ours = rdflib_algebra.of_ours(parse_query(text, base=base))
    assert ours == rdflib_algebra.of_rdflib(text, base)


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, logger="rdflib")


def w3c_queries(shared_data: Path) -> list[Path]:
    root = shared_data / "w3c-rdf-tests" / "sparql"
    found = []
    for folder in ("sparql10", "sparql11"):
        for file in sorted((root / folder).rglob("*.rq")):
            if file.name in RDFLIB_DIFFERS or "SERVICE" in file.read_text("utf-8"):
                continue
            try:
                parse_query(file.read_text("utf-8"), base="http://e/")
            except QuerySyntaxError:
                continue  # the tests of conformance say which are to be refused
            found.append(file)
    return found


def test_w3c_queries__are_the_same_algebra_as_to_rdflib(
    shared_data: Path, request: pytest.FixtureRequest
) -> None:
    files = w3c_queries(shared_data)
    assert len(files) > 700
    for file in files if request.config.getoption("--long") else files[::10]:
        same_algebra(file.read_text("utf-8"), "http://e/")


@pytest.mark.parametrize("block", range(2))
def test_random_queries__are_the_same_algebra_as_to_rdflib(block: int) -> None:
    for seed in range(block * 8, block * 8 + 8):
        same_algebra(Texts(random.Random(seed), plain=True).query())


@pytest.mark.long
@pytest.mark.parametrize("block", range(40))
def test_random_queries__are_the_same_algebra_as_to_rdflib_many(block: int) -> None:
    for seed in range(1000 + block * 50, 1050 + block * 50):
        same_algebra(Texts(random.Random(seed), plain=True).query())


# --- refused by both -----------------------------------------------------------------------------


def mutated(rng: random.Random, text: str) -> str:
    """The text with one token left out, put in or exchanged."""
    tokens = Tokens(text)
    places = [tokens.start(at) for at in range(len(tokens.kinds))]
    parts = [text[start:end] for start, end in pairwise(places)]
    at = rng.randrange(len(parts))
    other = f" {rng.choice(parts)} "
    parts[at : at + 1] = rng.choice([[], [other, parts[at]], [other]])
    return "".join(parts)


# What pyoxigraph says of texts that the specification allows (a variable selected twice), and what
# we say of those that it forbids (aggregates in GROUP BY, a space behind the sign of a number that
# stands as a term) and pyoxigraph bears.
OTHERS_REFUSE = ("Duplicated variable name",)
OTHERS_BEAR = ("GROUP BY comes before aggregates", "found '-'", "found '+'")


def both_read_or_refuse(text: str) -> None:
    ours = theirs = ""
    try:
        parse_query(text)
    except QuerySyntaxError as error:
        ours = str(error)
    try:
        ox.Store().query(text)
    except SyntaxError as error:
        theirs = str(error)
    except RuntimeError:
        pass  # it was read, and could not be evaluated
    if theirs and any(reason in theirs for reason in OTHERS_REFUSE):
        return
    if ours and any(reason in ours for reason in OTHERS_BEAR):
        return
    assert bool(ours) == bool(theirs), f"{text}\nwe: {ours}\npyoxigraph: {theirs}"


@pytest.mark.parametrize("block", range(2))
def test_changed_texts__are_refused_by_us_as_by_pyoxigraph(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        rng = random.Random(seed)
        both_read_or_refuse(mutated(rng, Texts(rng).query()))


@pytest.mark.long
@pytest.mark.parametrize("block", range(40))
def test_changed_texts__are_refused_by_us_as_by_pyoxigraph_many(block: int) -> None:
    for seed in range(1000 + block * 200, 1200 + block * 200):
        rng = random.Random(seed)
        text = Texts(rng).query()
        both_read_or_refuse(text)
        for _ in range(3):
            both_read_or_refuse(mutated(rng, text))


# --- written and read again ----------------------------------------------------------------------


def reads_back(seed: int) -> None:
    texts = Texts(random.Random(seed))
    query = parse_query(texts.query())
    assert parse_query(write(query)) == query, write(query)
    update = parse_update(texts.update())
    assert parse_update(write(update)) == update, write(update)


@pytest.mark.parametrize("block", range(2))
def test_random_texts__read_back_as_they_were_written(block: int) -> None:
    for seed in range(block * 60, block * 60 + 60):
        reads_back(seed)


@pytest.mark.long
@pytest.mark.parametrize("block", range(20))
def test_random_texts__read_back_as_they_were_written_many(block: int) -> None:
    for seed in range(1000 + block * 300, 1300 + block * 300):
        reads_back(seed)
