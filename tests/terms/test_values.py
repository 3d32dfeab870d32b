"""Value tables and the stack of them, against a plain model: one parsed value for each term."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triplestore.checked_columns import Column
from triplestore.terms.values.canonical_ids import build_values
from triplestore.terms.values.segment_values import ValueTable
from triplestore.terms.values.value_keys import LANG, STRING, TYPED, Class, entry_of, value_of
from triplestore.terms.values.value_stack import LiveValues, ValueStack
from triplestore.terms.values.xsd import RDF, XSD


def typed(lexical: str, datatype: str) -> bytes:
    iri = datatype if ":" in datatype else XSD + datatype
    return bytes([TYPED]) + f'{lexical}"^^<{iri}>'.encode()


# Many variants of few values, ties of keys that are no ties of values, and terms without values.
LITERALS = [
    *(typed(x, t) for x in ("1", "01", "+1") for t in ("integer", "int", "byte", "decimal")),
    *(
        typed(x, t)
        for x in ("1", "1.0", "1e0", "0", "-0", "NaN", "INF")
        for t in ("double", "float")
    ),
    *(typed(x, "decimal") for x in ("1.0", "-0", "0.0", "0.1", "0.10", "0.10000000000000000001")),
    *(typed(str(10**18 + i), t) for i in range(4) for t in ("integer", "long")),
    *(typed(str(10**30 + i), "integer") for i in range(3)),
    typed(f"{10**30}.0", "decimal"),
    typed(f"{10**18}.0", "decimal"),
    typed("true", "boolean"),
    typed("1", "boolean"),
    *(typed("2000-01-01T" + x, "dateTime") for x in ("12:00:00Z", "12:00:00+00:00", "12:00:00")),
    *(typed("2000-01-01T" + x, "dateTime") for x in ("14:00:00+02:00", "14:00:00.0+02:00")),
    *(typed("1999-12-31T" + x, "dateTime") for x in ("22:00:00-14:00", "22:00:00.0-14:00")),
    typed("2000-01-01T12:00:00.000Z", "dateTimeStamp"),
    *(typed(x, "duration") for x in ("P1Y", "P12M", "P1Y1D", "P12M1D", "PT0S", "P0M", "P1D")),
    typed("P1Y", "yearMonthDuration"),
    typed("PT24H", "dayTimeDuration"),
    typed("P0M", "yearMonthDuration"),
    *(typed(x, "hexBinary") for x in ("ab", "AB", "ab" * 9, "AB" * 9)),
    *(typed("a" * n, t) for n in (1, 7, 9) for t in ("token", "NMTOKEN", "anyURI")),
    typed("", "token"),
    *(bytes([STRING]) + b"a" * n for n in (0, 1, 7, 8, 9)),
    typed("a@en", RDF + "PlainLiteral"),
    typed("a@", RDF + "PlainLiteral"),
    bytes([LANG]) + b'a"@en',
    bytes([LANG]) + b'a"@de',
    bytes([LANG]) + b'a"@en--ltr',
    typed("300", "byte"),
    typed("x", "integer"),
    typed("1", "http://example.org/unknown"),
    bytes([1]) + b"http://example.org/",
    bytes([2]) + b"b",
]


class Model:
    """All terms in order of ids, from 1 on; also the dictionary that tables look terms up in."""

    def __init__(self, keys: list[bytes]) -> None:
        self.keys = keys

    def key(self, id: int) -> bytes:
        return self.keys[id - 1]

    def lookup_keys(self, keys: list[bytes]) -> np.ndarray:
        return np.array([self.keys.index(k) + 1 if k in self.keys else 0 for k in keys], np.uint32)

    def canonical(self) -> list[int]:
        first: dict[object, int] = {}
        result = []
        for id, key in enumerate(self.keys, 1):
            value = value_of(key) if key[0] in (STRING, LANG, TYPED) else None
            result.append(id if value is None else first.setdefault(value.identity, id))
        return result

    def entries(self) -> list[tuple[int, int]]:
        return [entry_of(k[1:])[:2] if k[0] == TYPED else (0, 0) for k in self.keys]


def build(model: Model, first: int, stop: int, older: list[ValueTable]) -> ValueTable:
    keys = model.keys[first - 1 : stop - 1]
    lengths = np.array([len(key) - 1 for key in keys], dtype=np.int64)
    buf = np.frombuffer(b"".join(key[1:] for key in keys) or b"", dtype=np.uint8)
    kinds = np.array([key[0] for key in keys], dtype=np.uint8)
    return build_values(first, buf, np.cumsum(lengths) - lengths, lengths, kinds, older, model)


def check(stack: ValueStack, model: Model) -> None:
    ids = np.arange(1, len(model.keys) + 1, dtype=np.uint32)
    assert stack.canonical(ids).tolist() == model.canonical()
    assert stack.canonical(ids[::-1]).tolist() == model.canonical()[::-1]
    marks, keys = stack.values(ids)
    typed_terms = [i for i, key in enumerate(model.keys) if key[0] == TYPED]
    found = list(zip(marks.tolist(), keys.tolist(), strict=True))
    assert [found[i] for i in typed_terms] == [model.entries()[i] for i in typed_terms]


SPLITS = st.lists(st.integers(0, len(LITERALS)), max_size=4).map(sorted)


@pytest.mark.slow_kernels
@given(st.permutations(LITERALS), SPLITS, st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_value_stack__is_the_model_however_terms_are_split_into_segments(
    keys: list[bytes], splits: list[int], live: int
) -> None:
    model = Model(keys)
    bounds = [1, *(split + 1 for split in splits)]
    tables: list[ValueTable] = []
    for first, stop in itertools.pairwise(bounds):
        if first < stop:
            tables.append(build(model, first, stop, tables))
    values = LiveValues(model)
    for id in range(bounds[-1], len(keys) + 1):
        values.add(id, model.key(id), tables)
    check(ValueStack(tuple(tables), values), model)
    if tables:
        check(ValueStack((ValueTable.merge(tables),), values), model)
    values.truncate(bounds[-1] + live)
    for id in range(bounds[-1] + live + 1, len(keys) + 1):
        values.add(id, model.key(id), tables)
    check(ValueStack(tuple(tables), values), model)
    last = bounds[-1] + live
    if last <= len(keys):
        tables.append(build(model, bounds[-1], last + 1, tables))
        check(ValueStack(tuple(tables), values.after(last)), model)


def test_value_table__of_the_empty_string_after_the_empty_token() -> None:
    model = Model([typed("", "token"), bytes([STRING])])
    first = build(model, 1, 2, [])
    check(ValueStack((first, build(model, 2, 3, [first])), LiveValues(model)), model)


def test_value_table__comes_back_from_its_sections() -> None:
    model = Model(LITERALS)
    table = build(model, 1, len(LITERALS) + 1, [])
    sections = table.sections()
    again = ValueTable.from_sections(1, table.size, lambda name: Column.of(sections[name]))
    check(ValueStack((again,), LiveValues(model)), model)
    assert again.nbytes == sum(array.nbytes for array in sections.values())


def test_value_table__finds_terms_by_range_of_keys() -> None:
    keys = [typed(str(n), "integer") for n in (5, -3, 5, 7, 100, 6)] + [typed("5e0", "double")]
    keys = [*keys, typed("2000-01-01", "date")]
    table = build(Model(keys), 1, len(keys) + 1, [])
    key_of = {n: entry_of(typed(str(n), "integer")[1:]).key for n in (4, 5, 7)}
    assert table.candidates(Class.NUMERIC, key_of[5]).tolist() == [1, 3, 7]
    assert table.between(Class.NUMERIC, key_of[5], key_of[7]).tolist() == [1, 3, 7, 6, 4]
    assert table.candidates(Class.NUMERIC, key_of[4]).tolist() == []
    assert table.candidates(Class.BOOLEAN, 1).tolist() == []
    assert table.between(Class.DATE_LOCAL, 0, 2**64 - 1).tolist() == [8]


@pytest.mark.parametrize("count", [5, 100, 3000])
def test_value_table__searches_many_keys_in_each_of_its_ways(count: int) -> None:
    rng = np.random.default_rng(count)
    numbers = rng.integers(0, 3000, 4000)
    keys = [typed(f"{i}", "integer") for i in numbers]
    table = build(Model(keys), 1, len(keys) + 1, [])
    wanted = np.array([entry_of(typed(f"{i}", "int")[1:]).key for i in range(count)], np.uint64)
    lo, hi = table.search_many(Class.NUMERIC, wanted)
    assert (hi - lo).tolist() == np.bincount(numbers, minlength=3000)[:count].tolist()
    found = [
        sorted(table.ids_at(table.positions(np.arange(a, b)))) for a, b in zip(lo, hi, strict=True)
    ]
    assert found == [(np.flatnonzero(numbers == i) + 1).tolist() for i in range(count)]


@pytest.mark.parametrize("count", [9, 60])  # one by one, and side by side
def test_value_table__finds_keys_beside_its_samples(count: int) -> None:
    size = 1500
    table = build(Model([typed(f"{i}", "integer") for i in range(size)]), 1, size + 1, [])
    every = [i for step in range(0, size, 256) for i in (step - 1, step, step + 1) if i >= 0]
    for lo in range(0, len(every), 3):
        numbers = sorted({*every[lo : lo + 3], *range(700, 700 + count - 3)})
        wanted = np.array([entry_of(typed(f"{i}", "int")[1:]).key for i in numbers], np.uint64)
        left, right = table.search_many(Class.NUMERIC, wanted)
        assert left.tolist() == numbers
        assert right.tolist() == [i + 1 for i in numbers]


def test_value_table__costs_13_bytes_a_literal_in_a_run_and_17_scattered() -> None:
    numbers = [typed(f"{i}", "integer") for i in range(10_000)]
    other = [bytes([1]) + b"http://example.org/"]
    run = build(Model(other * 5 + numbers), 1, 10_006, [])
    assert run.nbytes < 13.1 * 10_000
    scattered = [key for number in numbers for key in (number, *other)]
    assert build(Model(scattered), 1, 20_001, []).nbytes < 17.1 * 10_000
    variants = [typed(f"{i}", "int") for i in range(10_000)]
    first = build(Model(numbers), 1, 10_001, [])
    second = build(Model(numbers + variants), 10_001, 20_001, [first])
    assert second.nbytes < 17.1 * 10_000
    assert second.canonical(np.array([10_001, 20_000], np.uint32)).tolist() == [1, 10_000]
