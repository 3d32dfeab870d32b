"""Texts that differ from a text by their constants, at random."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

from triplestore.expressions.text.tokens import (
    DECIMAL,
    DOUBLE,
    INTEGER,
    IRI,
    PREFIXED,
    STRING,
    Tokens,
)
from triplestore.sparql.cache.slots import exchangeable
from triplestore.sparql.cache.text_shapes import TextShapes
from triplestore.sparql.engine import prepared
from triplestore.sparql.syntax.parser import parse_query

_NUMBERS = (INTEGER, DECIMAL, DOUBLE)


def constants(text: str) -> list[tuple[int, int, str]]:
    """Where the constants of a text begin and end, and their sort; prefixes are left alone."""
    tokens = Tokens(text)
    found = []
    for at, kind in enumerate(tokens.kinds):
        start, end = tokens.start(at), tokens.starts[at] + len(tokens.texts[at]) + (kind == IRI)
        if at >= 2 and tokens.texts[at - 2].upper() == "PREFIX":
            continue
        if at >= 1 and tokens.texts[at - 1].upper() == "PREFIX":
            continue
        if kind == STRING:
            found.append((start, end, "string"))
        elif kind in _NUMBERS:
            found.append((start, end, str(kind)))
        elif kind in (IRI, PREFIXED):
            found.append((start, end, "iri"))
    return found


def _free(text: str) -> set[str]:
    """The constants that plans should be able to exchange: mostly these are."""
    shape = TextShapes().read(text, {}, None)
    if shape is None:
        return set()
    free = exchangeable(shape, lambda other: prepared(parse_query(other))).numbers
    tokens = [token for token in shape.tokens if token is not None]
    return {token for token, n in zip(tokens, shape.numbers, strict=True) if n in free}


def exchanged(rng: random.Random, text: str, pool: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Texts with other constants without end: some of the pool, some of the text, some kept."""
    places = constants(text)
    own = {text[start:end]: sort for start, end, sort in places}
    free = _free(text)
    while True:
        chosen = {}
        changes, wild = rng.choice([0.3, 0.7]), rng.choice([0.0, 0.0, 0.0, 0.2])
        for token, sort in own.items():
            others = [*pool.get(sort, ()), *(t for t, s in own.items() if s == sort)]
            change = rng.random() < (changes if token in free else wild)
            chosen[token] = rng.choice(others) if change else token
        made, done = "", 0
        for start, end, _ in places:
            token = text[start:end]
            apart = wild and rng.random() < 0.1
            made += text[done:start] + (token if apart else chosen[token])
            done = end
        yield made + text[done:]
