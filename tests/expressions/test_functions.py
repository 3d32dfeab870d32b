"""The table of functions: which of them tell IRIs and blank nodes apart."""

from __future__ import annotations

from random import Random

import pytest

from triplestore.expressions.evaluate_scalar import compile_scalar
from triplestore.expressions.functions import (
    CASTS,
    FUNCTIONS,
    IN_DATATYPE,
    OF_LITERALS,
    OPERATORS,
    SAME_VALUE,
    SWRLB,
    SYMBOL,
    Function,
    is_deterministic,
)
from triplestore.expressions.library.numbers import ExpressionError
from triplestore.expressions.tree import Call, Variable
from triplestore.terms.vocabulary import XSD

INTEGER = f"{XSD}integer"
NAMES = [f"\x01{iri}".encode() for iri in ("http://a/b", "http://a/c", "urn:x:1", INTEGER, XSD)]
NAMES += [b"\x02b", b"\x02c"]
LITERALS = [f"\x03{text}".encode() for text in ("", "a", "en", "ltr", "i", "http://a/")]
LITERALS += [b'\x04a"@en', b'\x04b"@ar--rtl']
LITERALS += [
    f'\x05{text}"^^<{XSD}{datatype}>'.encode()
    for text, datatype in (
        ("1", "integer"),
        ("2.5", "decimal"),
        ("true", "boolean"),
        ("false", "boolean"),
        ("2020-02-03", "date"),
        ("P1Y", "yearMonthDuration"),
    )
]
TRIPLES = [b"\x06<<( <http://a/b> <http://a/c> _:b )>>"]

ALL = {**FUNCTIONS, **OPERATORS, **CASTS}
SYNONYMS = {"URI": "IRI", "ISURI": "ISIRI"}

TELL_APART = {
    *("STR", "IRI", "URI", "STRDT", "ISIRI", "ISURI", "ISBLANK", "TRIPLE", "IF", "COALESCE"),
    *("=", "!=", "SAMETERM", "IN", "NOT IN", IN_DATATYPE, SAME_VALUE, SYMBOL),
    *(f"{XSD}string", f"{SWRLB}resolveURI", f"{SWRLB}anyURI"),
}
"""Functions that look at an IRI or blank node, or pass it on."""

GIVE_NAMES = {"SUBJECT", "PREDICATE", "OBJECT"}
"""Functions that are an error of all IRIs and blank nodes, but may give one."""

TRUE_OF_ALL = {"BOUND"}


def arities(function: Function) -> range:
    return range(function.least, min(function.most, max(function.least, 1) + 2) + 1)


def outcome(name: str, keys: list[bytes]) -> bytes | None:
    """The key of the result; None is an error."""
    places = {f"v{n}": n for n in range(len(keys))}
    call = Call(SYNONYMS.get(name, name), tuple(Variable(one) for one in places))
    try:
        return compile_scalar(call, places)(keys)
    except ExpressionError:
        return None


def tells_apart(name: str) -> str | None:
    """A call whose result depends on which IRI or blank node stands in one place."""
    random = Random(name)
    for arity in arities(ALL[name]):
        for place in range(arity):
            for _ in range(300 if arity > 1 else 1):
                row = [random.choice(LITERALS + NAMES + TRIPLES) for _ in range(arity)]
                rows = [[*row[:place], key, *row[place + 1 :]] for key in NAMES]
                if len({outcome(name, one) for one in rows}) > 1:
                    return f"{name}, argument {place + 1} of {arity}: {row}"
    return None


@pytest.mark.parametrize("name", sorted(OF_LITERALS))
def test_functions_of_literals__give_the_same_for_all_iris_and_blank_nodes(name: str) -> None:
    assert tells_apart(name) is None


@pytest.mark.parametrize("name", sorted(OF_LITERALS - {"||", "&&"}))
def test_functions_of_literals__are_an_error_or_false_of_an_iri(name: str) -> None:
    false = f'\x05false"^^<{XSD}boolean>'.encode()
    for arity in arities(ALL[name]):
        for place in range(arity):
            row = [LITERALS[1]] * arity
            row[place] = NAMES[0]
            assert outcome(name, row) in (None, false)


def test_functions__that_are_not_of_literals_are_known_one_by_one() -> None:
    others = {name for name in ALL if is_deterministic(name)} - OF_LITERALS
    assert others == TELL_APART | GIVE_NAMES | TRUE_OF_ALL


@pytest.mark.parametrize("name", sorted(TELL_APART))
def test_functions__that_are_not_of_literals_tell_names_apart(name: str) -> None:
    assert tells_apart(name) is not None
