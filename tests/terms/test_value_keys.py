"""Keys order values, exact ones decide, and whole columns compare as terms do."""

from __future__ import annotations

import itertools
import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.terms.literals import Literals, typed_texts
from triplestore.terms.values import value_keys, xsd
from triplestore.terms.values.compare_values import ASK, UNORDERED, compare_values
from triplestore.terms.values.encode_values import ValueColumn
from triplestore.terms.values.value_keys import (
    CLASS_OF,
    DATATYPES,
    EXACT,
    LANG,
    SPACE_OF,
    STRING,
    TYPED,
    ZONED_OR_MINUS,
    Class,
    class_of,
    compare,
    datatype_of,
    doubles_of,
    entry_of,
    key_of_double,
    keys_of_doubles,
    same_value,
    split_typed,
    value_of,
)
from triplestore.terms.values.xsd import XSD


def key(lexical: str, name: str) -> bytes:
    return bytes([TYPED]) + f'{lexical}"^^<{XSD}{name}>'.encode()


def check_pair(left: bytes, right: bytes) -> None:
    """What the module promises of two literals that have a value."""
    a, b = entry_of(left), entry_of(right)
    x, y = value_of(bytes([TYPED]) + left), value_of(bytes([TYPED]) + right)
    if x is None or y is None:
        assert a.mark == 0 or b.mark == 0
        return
    order = xsd.compare(x, y)
    same_class = CLASS_OF[a.mark] == CLASS_OF[b.mark]
    same_space = SPACE_OF[a.mark] == SPACE_OF[b.mark]
    assert same_space == (x.space == y.space)
    if x.identity == y.identity:
        assert same_class and a.key == b.key
    if order == 0 and same_space:
        assert same_class and a.key == b.key
    if same_class and class_of(a.mark) != Class.DURATION and order is not None and order:
        assert a.key <= b.key if order < 0 else a.key >= b.key
    if same_class and same_space:
        if a.mark & b.mark & EXACT:
            nan = a.key == value_keys.NAN_KEY and class_of(a.mark) == Class.NUMERIC
            assert (a.key == b.key) == (order == 0) or nan
            if not (a.mark | b.mark) & ZONED_OR_MINUS:
                assert (a.key == b.key) == (x.identity == y.identity)
        if a.detail >= 0 and b.detail >= 0:
            assert ((a.key, a.detail) == (b.key, b.detail)) == (x.identity == y.identity)


@given(typed_texts, typed_texts)
@settings(max_examples=1000)
def test_entry_of__orders_and_identifies_as_values_do(left: bytes, right: bytes) -> None:
    check_pair(left, right)


def test_entry_of__orders_and_identifies_as_values_do_in_each_class() -> None:
    literals = Literals(random.Random(5))
    by_class: dict[int, list[bytes]] = {}
    for text in (literals.typed() for _ in range(5000)):
        by_class.setdefault(int(CLASS_OF[entry_of(text).mark]), []).append(text)
    assert set(by_class) == set(Class)
    for texts in by_class.values():
        for pair in itertools.combinations(texts[:60], 2):
            check_pair(*pair)


def test_entry_of__tells_decimals_beyond_a_double_apart() -> None:
    for least in (10**15 - 3, 2**53 - 3, 10**16 - 3, 10**18, 2**63, 10**19 - 3, 10**30):
        texts = [key(str(least + i), "integer")[1:] for i in range(7)]
        texts += [key(f"{least + i}.5", "decimal")[1:] for i in range(3)]
        for pair in itertools.combinations(texts, 2):
            check_pair(*pair)
            assert not same_value(*(bytes([TYPED]) + text for text in pair))


def test_entry_of__tells_all_offsets_of_one_instant_apart() -> None:
    zones = ["12:00:00Z", "12:00:00+00:00", "13:00:00+01:00", "02:00:00-10:00", "22:00:00-14:00"]
    days = [31 if zone.startswith("22") else 1 for zone in zones]
    months = ["1999-12" if day == 31 else "2000-01" for day in days]
    texts = [
        key(f"{month}-{day:02}T{zone}", "dateTime")[1:]
        for month, day, zone in zip(months, days, zones, strict=True)
    ]
    assert len({entry_of(text).key for text in texts}) == 1
    assert len({entry_of(text).detail for text in texts}) == 4
    for pair in itertools.product(texts, repeat=2):
        check_pair(*pair)


@given(typed_texts)
def test_entry_of__knows_datatype_and_space(text: bytes) -> None:
    mark = entry_of(text).mark
    value = value_of(bytes([TYPED]) + text)
    assert (mark != 0) == (value is not None)
    if value is not None:
        assert datatype_of(mark) == split_typed(text)[1]
        assert SPACE_OF[mark] == value.space


FORMS = (
    " integer long int short byte nonNegativeInteger positiveInteger unsignedLong unsignedInt"
    " unsignedShort unsignedByte nonPositiveInteger negativeInteger decimal float double boolean"
    " dateTime dateTime date date time time gYear gYear gYearMonth gYearMonth gMonth gMonth"
    " gMonthDay gMonthDay gDay gDay dateTimeStamp duration duration duration yearMonthDuration"
    " yearMonthDuration dayTimeDuration hexBinary base64Binary anyURI string normalizedString token"
    " language Name NCName NMTOKEN langString PlainLiteral PlainLiteral"
)


def test_forms__are_those_on_disk() -> None:
    """Marks are stored: a form may be appended, but none may change its number."""
    assert " ".join(name.rpartition("#")[2] for name in DATATYPES) == FORMS
    assert Class.LANG_TEXT == 26


@given(st.lists(st.floats(), min_size=1))
def test_keys_of_doubles__order_and_come_back(numbers: list[float]) -> None:
    array = np.array(numbers)
    keys = keys_of_doubles(array)
    assert keys.tolist() == [key_of_double(number) for number in numbers]
    np.testing.assert_array_equal(doubles_of(keys), np.where(array == 0, 0, array))
    for a, b in itertools.product(range(len(numbers)), repeat=2):
        if numbers[a] < numbers[b]:
            assert keys[a] < keys[b]


def test_same_value__is_identity_for_terms_of_any_kind() -> None:
    string, english = bytes([STRING]) + b"a", bytes([LANG]) + b'a"@en'
    plain = "http://www.w3.org/1999/02/22-rdf-syntax-ns#PlainLiteral"
    assert same_value(string, key("a", "NCName"))
    assert same_value(key("a", "NCName"), key("a", "token"))
    assert not same_value(string, english)
    assert not same_value(string, key("a", "anyURI"))
    assert same_value(english, bytes([TYPED]) + f'a@en"^^<{plain}>'.encode())
    assert not same_value(bytes([LANG]) + b'a"@en--ltr', english)
    assert not same_value(key("x", "int"), key("x", "integer"))  # ill-typed: only themselves
    assert same_value(key("x", "int"), key("x", "int"))
    assert not same_value(bytes([1]) + b"a", string)
    assert compare(string, key("b", "token")) == -1
    assert compare(bytes([1]) + b"a", string) is None


PLAIN = [bytes([STRING]) + b"a", bytes([LANG]) + b'a"@en', bytes([1]) + b"http://a"]


def check_columns(left: list[bytes], right: list[bytes]) -> int:
    """Compare columns, and give how many rows are left to the terms."""
    found = compare_values(ValueColumn.of(left), ValueColumn.of(right)).tolist()
    for a, b, order in zip(left, right, found, strict=True):
        if order != ASK:
            exact = compare(a, b)
            assert order == (UNORDERED if exact is None else exact), (a, b)
    return found.count(ASK)


@given(st.lists(st.tuples(*[typed_texts.map(bytes([TYPED]).__add__) | st.sampled_from(PLAIN)] * 2)))
@settings(max_examples=500)
def test_compare_values__is_compare_or_asks(pairs: list[tuple[bytes, bytes]]) -> None:
    check_columns([a for a, _ in pairs], [b for _, b in pairs])


def test_compare_values__is_compare_or_asks_in_each_class() -> None:
    literals = Literals(random.Random(6))
    by_class: dict[int, list[bytes]] = {}
    for text in (literals.typed() for _ in range(5000)):
        group = int(CLASS_OF[entry_of(text).mark]) - 1 >> 1  # zoned and local in one
        by_class.setdefault(group, []).append(bytes([TYPED]) + text)
    for keys in by_class.values():
        pairs = list(itertools.product(keys[:50], repeat=2))
        check_columns([a for a, _ in pairs], [b for _, b in pairs])


def test_compare_values__asks_for_next_to_nothing_of_common_literals() -> None:
    shapes = [
        [key(f"{n}", "integer") for n in range(40)],
        [key(f"{n}.25", "decimal") for n in range(40)],
        [key(f"{n}.1", "float") for n in range(40)],
        [key(f"{n}.1e0", "double") for n in range(40)],
    ]
    numbers = list(itertools.chain(*shapes))
    pairs = list(itertools.product(numbers, repeat=2))
    assert check_columns([a for a, _ in pairs], [b for _, b in pairs]) == 0
    for name, zone in (("dateTime", ""), ("dateTime", "Z"), ("dateTime", "+02:00")):
        times = [key(f"2020-01-{d:02}T12:00:00{zone}", name) for d in range(1, 29)]
        pairs = list(itertools.product(times, [*times, key("2020-01-03T12:00:00Z", name)]))
        assert check_columns([a for a, _ in pairs], [b for _, b in pairs]) == 0
