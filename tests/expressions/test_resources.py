"""`?x = ?y` of stored terms, where ids decide, against the comparison of terms."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.fuzzing import each_seed

from triplestore.expressions.column_operators import compare
from triplestore.expressions.compare_terms import equal
from triplestore.expressions.library.numbers import ExpressionError
from triplestore.expressions.query_terms import QueryTerms
from triplestore.expressions.vectors import Ids, known
from triplestore.terms import Dictionary, TermSegment

INTEGER = b'"^^<http://www.w3.org/2001/XMLSchema#integer>'
RESOURCES = [b"\1http://e/a", b"\1http://e/b", b"\2a", b"\2b"]
LITERALS = [b"\3a", b"\3b", b'\4a"@en', b"\x051" + INTEGER, b"\x0501" + INTEGER, b"\5a" + INTEGER]


def equal_keys(left: bytes | None, right: bytes | None) -> bool | None:
    if left is None or right is None:
        return None
    try:
        return equal(left, right)
    except ExpressionError:
        return None


@pytest.mark.parametrize("left", [RESOURCES, RESOURCES[:2], LITERALS, RESOURCES + LITERALS])
@pytest.mark.parametrize("sign", ["=", "!="])
@each_seed(range(8))
def test_equality__is_that_of_each_pair_of_terms(left: list[bytes], sign: str, seed: int) -> None:
    rng = random.Random(seed)
    dictionary = Dictionary()
    rest = set(RESOURCES + LITERALS)
    for _ in range(rng.randrange(3)):
        part = sorted(rng.sample(sorted(rest), rng.randrange(1, len(rest) + 1)))
        rest.difference_update(part)
        dictionary.add_segment(TermSegment.from_keys(dictionary.size + 1, part))
        if not rest:
            break
    terms = QueryTerms(dictionary)  # the others are terms of the query
    unbound = [None] if rng.random() < 0.5 else []
    one = [rng.choice(left + unbound) for _ in range(20)]
    other = [rng.choice(rng.choice([left, RESOURCES + LITERALS]) + unbound) for _ in range(20)]
    found = compare(sign, Ids(terms.encode_keys(one)), Ids(terms.encode_keys(other)), terms)
    wanted = [equal_keys(a, b) for a, b in zip(one, other, strict=True)]
    valid = known(found)
    assert valid.tolist() == [answer is not None for answer in wanted]
    answers = np.array([answer is (sign == "=") for answer in wanted])
    assert found.values[valid].tolist() == answers[valid].tolist()
