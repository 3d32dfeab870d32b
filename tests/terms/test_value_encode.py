"""The kernel gives what xsd.py gives, on every shape of literal, valid and broken."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.fuzzing import each_seed

from tests.terms.literals import Literals, typed_texts
from triplestore.kernels.terms import value_keys as kernel
from triplestore.terms.thresholds import TERMS
from triplestore.terms.values import encode_values, value_keys
from triplestore.terms.values.encode_values import Encoded, encode_rows, encode_texts
from triplestore.terms.values.value_keys import DATATYPES, entry_of
from triplestore.terms.values.xsd import XSD


@pytest.fixture(autouse=True, scope="module")
def always_by_kernel():
    with TERMS.changed(kernel_literals=0):
        yield


def rows(encoded: Encoded) -> list[tuple[int, int, int]]:
    return list(zip(*(column.tolist() for column in encoded), strict=True))


def expected(text: bytes) -> tuple[int, int, int]:
    mark, key, detail = entry_of(text)
    return mark, key, detail if detail >= 0 else int(kernel.NO_DETAIL)


def assert_same(texts: list[bytes]) -> None:
    for text, row in zip(texts, rows(encode_texts(texts)), strict=True):
        assert row == expected(text), text


def of(lexical: str, name: str) -> bytes:
    return f'{lexical}"^^<{XSD}{name}>'.encode()


@given(st.lists(typed_texts, min_size=1, max_size=20))
@settings(max_examples=400)
def test_encode_texts__is_entry_of(texts: list[bytes]) -> None:
    assert_same(texts)


@given(
    st.from_regex(r"[+-]?[0-9]{0,25}\.?[0-9]{0,25}([eE][+-]?[0-9]{1,3})?", fullmatch=True),
    st.sampled_from(["decimal", "double", "float", "integer", "long"]),
)
@settings(max_examples=1000)
def test_encode_texts__is_entry_of_numerals(lexical: str, name: str) -> None:
    assert_same([of(lexical, name)])


@given(
    st.from_regex(
        r"([0-9]{4}(-[01][0-9](-[0-3][0-9])?)?)?T?([0-2][0-9]:[0-5][0-9]:[0-5][0-9](\.[0-9]{1,8})?)?"
        r"(Z|[+-][01][0-9]:[0-5][0-9])?",
        fullmatch=True,
    ),
    st.sampled_from(["dateTime", "dateTimeStamp", "date", "time", "gYear", "gYearMonth"]),
)
@settings(max_examples=1000)
def test_encode_texts__is_entry_of_times(lexical: str, name: str) -> None:
    assert_same([of(lexical, name)])


def test_encode_texts__is_entry_of_at_the_limits_of_exact_arithmetic() -> None:
    mantissas = [
        1,
        3,
        7,
        10**15 - 1,
        10**15 + 1,
        2**53 - 1,
        2**53,
        2**53 + 1,
        2**54 + 2,
        10**19 - 1,
    ]
    texts = [
        of(f"{mantissa}e{sign}{power}", name)
        for mantissa in mantissas
        for power in range(18, 26)
        for sign in "+-"
        for name in ("double", "float")
    ]
    zeros = ["0" * count for count in range(18, 26)]
    texts += [of(f"{mantissa}{some}", "decimal") for mantissa in mantissas for some in zeros]
    texts += [of(f"-0.{some}{mantissa}", "decimal") for mantissa in mantissas for some in zeros]
    assert_same(texts)


def test_encode_texts__is_entry_of_many() -> None:
    literals = Literals(random.Random(11))
    assert_same([literals.typed() for _ in range(20_000)])


@pytest.mark.long
@each_seed(range(40))
def test_encode_texts__is_entry_of_millions(seed: int) -> None:
    literals = Literals(random.Random(seed))
    assert_same([literals.typed() for _ in range(100_000)])


@pytest.mark.parametrize(
    ("lexical", "name"),
    [
        ("123", "integer"),
        ("12345678901234567890123", "integer"),
        ("-9223372036854775808", "long"),
        ("-12.345", "decimal"),
        ("0.1234567890123456789012345", "decimal"),
        ("-1.5e-7", "double"),
        ("0.1234567890123456789e-300", "double"),
        ("51.507222", "float"),
        ("NaN", "float"),
        ("-INF", "double"),
        ("true", "boolean"),
        ("2004-04-12T13:20:00.123456-05:00", "dateTime"),
        ("2004-04-12T13:20:00Z", "dateTimeStamp"),
        ("2004-02-29", "date"),
        ("13:20:00", "time"),
        ("2004Z", "gYear"),
        ("2004-04", "gYearMonth"),
        ("http://example.org/", "anyURI"),
        ("300", "byte"),
        ("x", "double"),
        ("", "decimal"),
    ],
)
def test_kernel__does_common_literals_itself(lexical: str, name: str, monkeypatch) -> None:
    text = of(lexical, name)
    wanted = expected(text)
    monkeypatch.setattr(encode_values, "entry_of", None)
    assert rows(encode_texts([text])) == [wanted]


def test_kernel__leaves_what_it_might_round_twice(monkeypatch) -> None:
    left = []
    monkeypatch.setattr(encode_values, "entry_of", lambda text: left.append(text) or entry_of(text))
    texts = [
        of("1.00000017881393432617187499", "float"),  # next to the middle of two floats
        of("1e-40", "float"),
        of("-1e-400", "double"),
        of("1" + 25 * "0", "integer"),
    ]
    assert_same(texts)
    assert left == texts


def test_encode_rows__takes_rows_in_any_order() -> None:
    texts = [b"1", of("1", "int"), b"http://example.org/", b'1"@en', of("2.5", "decimal")]
    lengths = np.array([len(text) for text in texts])
    buf = np.frombuffer(b"".join(texts), dtype=np.uint8)
    starts = np.cumsum(lengths) - lengths
    for order in ([1, 4], [4, 1], [4, 4], []):
        found = encode_rows(buf, starts, lengths, np.array(order, dtype=np.int64))
        assert rows(found) == [expected(texts[i]) for i in order]


def test_kernel__works_in_chunks(tune) -> None:
    tune(TERMS, literal_rows=7)
    assert_same([of(str(i), "integer") for i in range(100)])


def test_kernel__has_the_forms_of_value_keys() -> None:
    forms = {name: DATATYPES.index(XSD + iri) for name, iri in {
        "INTEGER": "integer", "DECIMAL": "decimal", "FLOAT": "float", "DOUBLE": "double",
        "BOOLEAN": "boolean", "DATETIME": "dateTime", "DATE": "date", "TIME": "time",
        "G_YEAR": "gYear", "G_YEAR_MONTH": "gYearMonth", "STAMP": "dateTimeStamp",
        "ANY_URI": "anyURI",
    }.items()}  # fmt: skip
    assert {name: getattr(kernel, name) for name in forms} == forms
    assert kernel.EXACT == value_keys.EXACT
    assert kernel.ZONED_OR_MINUS == value_keys.ZONED_OR_MINUS
    assert len(DATATYPES) <= value_keys.FORM_BITS  # the last number is that of LEFT
