"""MIN, MAX and SAMPLE by ids and value keys, against what a look at each term finds."""

from __future__ import annotations

import random

import numpy as np
import pyoxigraph as ox
import pytest
from support.fuzzing import each_seed

from triplestore.expressions.compare_terms import order_key
from triplestore.expressions.query_terms import QueryTerms
from triplestore.operators.context import Context
from triplestore.sparql.evaluate.comparable_rows import by_key, by_value
from triplestore.sparql.evaluate.extremes import extreme_of_groups, least_keys
from triplestore.sparql.thresholds import SPARQL
from triplestore.terms import Dictionary, TermSegment
from triplestore.terms.term_keys import key_of
from triplestore.terms.thresholds import TERMS

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RTL = ox.BaseDirection.RTL


def typed(datatype: str, *texts: str) -> list[ox.Literal]:
    return [ox.Literal(text, datatype=ox.NamedNode(XSD + datatype)) for text in texts]


POOLS = {
    "strings": [ox.Literal(text) for text in ("", "a", "a ", "ab", "b", "\0", "é", "\U0001f600")],
    "languages": [
        *(ox.Literal(text, language="en") for text in ("", "a", "a ", "a!", 'a"', "ab", "b")),
        *(ox.Literal(text, language="en") for text in ("long text", "long text ", "long texts")),
        *(ox.Literal(text, language="de") for text in ("a", "b", "\0")),
        ox.Literal("a", language="en", direction=RTL),
        ox.Literal("b", language="en", direction=RTL),
        ox.Literal("a@en", datatype=ox.NamedNode(RDF + "PlainLiteral")),
    ],
    "resources": [ox.NamedNode(f"http://e/{x}") for x in "abcdef"] + [ox.BlankNode("a")],
    "numbers": [
        *typed("integer", "1", "01", "-7", "9007199254740993", "9007199254740992"),
        *typed("decimal", "1.0", "1.0000000000000000001", "0.99999999999999999999", "1.5", "1.50"),
        *typed("double", "1e0", "NaN", "-INF", "INF", "-0", "0"),
    ],
    "times": [
        *typed(
            "date", "2001-01-01", "2001-01-01Z", "2001-01-01+01:00", "2000-12-31", "-0001-01-01"
        ),
        *typed(
            "dateTime", "2001-01-01T00:00:00", "2001-01-01T00:00:00.0000001", "2001-01-01T01:00:00Z"
        ),
        *typed("gYear", "2001", "2001Z", "99999999999999"),
    ],
    "others": [
        *typed("boolean", "true", "0", "1"),
        *typed("duration", "P1M", "P30D", "P31D", "PT0S"),
        *typed("token", "a", "b"),
        *typed("anyURI", "a", "http://e/a"),
        *typed("hexBinary", "ff", "00"),
        *typed("nothing", "a", "b"),
        *typed("integer", "a"),
        ox.Literal("a", language="en"),
        ox.Literal("a ", language="en"),
        ox.Literal("b", language="de"),
        ox.Literal("a", language="en", direction=RTL),
        ox.Triple(ox.NamedNode("http://e/a"), ox.NamedNode("http://e/a"), ox.Literal("z")),
    ],
}
POOLS["all"] = [term for pool in POOLS.values() for term in pool]


def dictionary_of(terms: list[ox.Literal], rng: random.Random) -> Dictionary:
    """These terms in some sorted segments, one in no order, and live."""
    keys = [key_of(term) for term in terms]
    rng.shuffle(keys)
    cuts = sorted(rng.randrange(len(keys) + 1) for _ in range(3))
    dictionary = Dictionary()
    for number, part in enumerate(
        (keys[: cuts[0]], keys[cuts[0] : cuts[1]], keys[cuts[1] : cuts[2]])
    ):
        if part:
            listed = part if number == 1 else sorted(part)
            dictionary.add_segment(TermSegment.from_keys(dictionary.size + 1, listed))
    if rng.random() < 0.5:
        dictionary.encode_keys(keys[cuts[2] :])
    return dictionary


@pytest.mark.parametrize("few", [0, 64])
@pytest.mark.parametrize("pool", POOLS)
@each_seed(range(12))
def test_extremes__are_those_of_python(tune, pool: str, few: int, seed: int) -> None:
    rng = random.Random(seed)
    rows = rng.choice([0, 1 << 60])
    tune(TERMS, warm_rows=rows, warm_texts=rows, cold_texts=rows)
    tune(SPARQL, ranked_one_by_one=few, compared_stretches=rng.choice([1, 16]))
    terms = QueryTerms(dictionary_of(POOLS[pool], rng))
    keys = [key_of(rng.choice(POOLS[pool])) for _ in range(rng.choice([0, 1, 30]))]
    ids = terms.encode_keys(keys)
    count = rng.choice([1, 4])
    groups = np.array([rng.randrange(count) for _ in keys], np.int64)
    members = [[k for k, g in zip(keys, groups, strict=True) if g == at] for at in range(count)]

    def least(listed: list[bytes]) -> bytes | None:
        return min(listed, key=lambda key: (order_key(key), key), default=None)

    def greatest(listed: list[bytes]) -> bytes | None:
        best = max(map(order_key, listed), default=None)
        return min((key for key in listed if order_key(key) == best), default=None)

    found = [
        extreme_of_groups(ids, groups, count, terms, down, Context()) for down in (False, True)
    ]
    assert terms.keys(found[0]) == [least(listed) for listed in members]
    assert terms.keys(found[1]) == [greatest(listed) for listed in members]
    samples = least_keys(ids, groups, count, terms)
    assert terms.keys(samples) == [min(listed, default=None) for listed in members]


@pytest.mark.parametrize("pool", POOLS)
@each_seed(range(6))
def test_comparable_rows__are_all_rows_and_compare_as_terms_do(tune, pool: str, seed: int) -> None:
    rng = random.Random(seed)
    rows = rng.choice([0, 1 << 60])
    tune(TERMS, warm_rows=rows, warm_texts=rows, cold_texts=rows)
    terms = QueryTerms(dictionary_of(POOLS[pool], rng))
    keys = [key_of(rng.choice(POOLS[pool])) for _ in range(30)]
    ids = terms.encode_keys(keys)
    for parts_of, order in ((by_value, order_key), (by_key, lambda key: key)):
        parts = parts_of(ids, terms)
        every = np.arange(len(ids))
        rows = [part.of(every).tolist() for part in parts]
        assert sorted(row for own in rows for row in own) == every.tolist()
        placed = [
            (p.place, order(keys[r])) for p, own in zip(parts, rows, strict=True) for r in own
        ]
        for place, value in placed:
            assert all(value < other for another, other in placed if place < another)
        for part, own in zip(parts, rows, strict=True):
            if part.words is None:
                continue
            values = sorted(zip(part.words.tolist(), (order(keys[r]) for r in own), strict=True))
            assert [value for _, value in values] == sorted(value for _, value in values)
            for word, value in values:
                assert all(value < other for another, other in values if word < another)
            if part.exact:
                assert len({word for word, _ in values}) == len({value for _, value in values})


def test_sample_and_extremes__of_iris_add_no_terms() -> None:
    from triplestore import Store

    store = Store()
    store.load(
        "".join(f"<http://e/{i}> <http://p> <http://e/{i % 7}> .\n" for i in range(99)), "nt"
    )
    text = "SELECT ?o (SAMPLE(?s) AS ?a) (MIN(?s) AS ?b) (MAX(?s) AS ?c) { ?s ?p ?o } GROUP BY ?o"
    rows = {tuple(term.value[9:] for term in row) for row in store.query(text)}
    groups = [sorted(str(i) for i in range(99) if i % 7 == r) for r in range(7)]
    assert rows == {(str(r), own[0], own[0], own[-1]) for r, own in enumerate(groups)}
