"""Aggregates against plain Python, in any order of rows."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pyoxigraph as ox
import pytest
from support.fuzzing import each_seed

from tests.expressions.random_expressions import AWKWARD, COMMON, typed
from triplestore.errors import UsageError
from triplestore.expressions.aggregates import aggregate, total
from triplestore.expressions.compare_terms import greater, less, order_key
from triplestore.expressions.functions import AGGREGATES
from triplestore.expressions.library.numbers import (
    DECIMAL,
    INTEGER,
    ExpressionError,
    Number,
    divide,
    key_of_number,
    key_of_quotient,
    maybe_number,
    quotient,
)
from triplestore.expressions.query_terms import QueryTerms
from triplestore.expressions.text_columns import Texts, texts_of
from triplestore.expressions.thresholds import EXPRESSIONS
from triplestore.expressions.vectors import Coded, Ids, Numbers, Vector, coded, ids_of
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.segment import TermSegment
from triplestore.terms.term_keys import key_of, to_ntriples
from triplestore.terms.thresholds import TERMS

POOL = COMMON + AWKWARD


def result(
    function: str, keys: list[bytes | None], groups: list[int], count: int, **options: object
) -> list[bytes | None]:
    terms = QueryTerms(Dictionary())
    vector = Ids(terms.encode_keys(keys))
    found = aggregate(function, vector, np.array(groups, np.int64), count, terms, **options)
    assert len(found) == count
    return terms.keys(ids_of(found, terms))


def by_pyoxigraph(function: str, keys: list[bytes], distinct: bool) -> bytes | None:
    values = " ".join(f"({to_ntriples(key).decode()})" for key in keys)
    inner = f"{'DISTINCT ' if distinct else ''}?x"
    query = f"SELECT ({function}({inner}) AS ?r) {{ VALUES (?x) {{ {values} }} }}"
    (solution,) = ox.Store().query(query)
    return None if solution["r"] is None else key_of(solution["r"])


SAFE = [key for key in COMMON if key[0] != 2]


@each_seed(range(40))
def test_aggregates__are_what_pyoxigraph_computes(seed: int) -> None:
    source = random.Random(seed)
    for _ in range(10):
        one_type = source.random() < 0.7
        pool = [key for key in SAFE if b"integer" in key or b"decimal" in key] if one_type else SAFE
        keys = [source.choice(pool) for _ in range(source.randint(1, 6))]
        for function in ("count", "sum", "avg", "min", "max"):
            distinct = source.random() < 0.5
            (ours,) = result(function, keys, [0] * len(keys), 1, distinct=distinct)
            other = by_pyoxigraph(function, keys, distinct)
            if function in ("min", "max") and not one_type:
                continue  # the order of what does not compare is everybody's own
            a, b = (None if key is None else maybe_number(key) for key in (ours, other))
            if a is None or b is None:
                assert ours == other or function in ("sum", "avg"), (function, keys)
            else:
                assert a.rank == b.rank or function in ("min", "max")  # 2 or 2.0
                assert abs(float(a.value) - float(b.value)) < 1e-9, (function, keys)


@pytest.mark.parametrize("function", AGGREGATES)
@each_seed(range(6))
def test_aggregates__do_not_depend_on_the_order_of_rows(function: str, seed: int) -> None:
    source = random.Random(seed)
    pool = POOL if seed % 2 else [key for key in POOL if maybe_number(key)]
    keys: list[bytes | None] = [
        source.choice(pool) if source.random() < 0.95 else None for _ in range(60)
    ]
    groups = [source.randrange(8) for _ in keys]
    wanted = result(function, keys, groups, 9)
    for group in range(9):  # one group alone gives the same
        own = [key for key, other in zip(keys, groups, strict=True) if other == group]
        assert result(function, own, [0] * len(own), 1) == [wanted[group]]
    for _ in range(3):
        rows = list(zip(keys, groups, strict=True))
        source.shuffle(rows)
        assert result(function, [k for k, _ in rows], [g for _, g in rows], 9) == wanted


def number(text: str, kind: str = "integer") -> bytes:
    return typed(text, kind)


@pytest.mark.parametrize(
    ("function", "keys", "wanted"),
    [
        ("sum", [], number("0")),
        ("count", [], number("0")),
        ("avg", [], number("0")),
        ("min", [], None),
        ("sample", [], None),
        ("group_concat", [], b"\x03"),
        ("sum", [number("9" * 20), number("1")], number("1" + "0" * 20)),
        ("sum", [number("9007199254740993")] * 2, number("18014398509481986")),
        ("sum", [number("0.1", "decimal"), number("0.2", "decimal")], number("0.3", "decimal")),
        ("sum", [number("0.1", "decimal"), number("1e0", "double")], number("1.1E0", "double")),
        ("sum", [number(x, "double") for x in ("1e100", "1", "-1e100")], number("1.0E0", "double")),
        ("sum", [number(x, "double") for x in ("INF", "-INF")], number("NaN", "double")),
        ("sum", [number("1e308", "double")] * 2, number("INF", "double")),
        ("sum", [number("0.1", "float")] * 3, number("3.0E-1", "float")),
        ("sum", [number("1"), b"\x03a"], None),
        ("sum", [number("1"), None], None),
        ("count", [number("1"), None], number("1")),
        ("avg", [number("1"), number("2")], number("1.5", "decimal")),
        ("avg", [number("1"), number("1"), number("2")], number("1.333333333333333333", "decimal")),
        ("min", [number("10"), number("9"), number("9.0", "decimal")], number("9")),
        ("max", [number("10"), number("1e1", "double")], number("10")),
        ("min", [b"\x03b", number("1"), b"\x01http://e/"], b"\x01http://e/"),
        ("min", [number("1"), None], None),
        ("max", [number("1"), None], None),
        ("sample", [b"\x03b", b"\x03a", None], b"\x03a"),
        ("group_concat", [b"\x03b", b'\x04a"@en', number("1"), None], b"\x03b a 1"),
        ("group_concat", [b"\x02b"], None),
    ],
)
def test_aggregates__of_one_group(
    function: str, keys: list[bytes | None], wanted: bytes | None
) -> None:
    assert result(function, keys, [0] * len(keys), 1) == [wanted]


def test_group_concat__has_its_separator_and_a_fixed_order() -> None:
    keys: list[bytes | None] = [b"\x03c", b"\x03a", b"\x03c"]
    assert result("group_concat", keys, [0, 0, 0], 1, separator="") == [b"\x03acc"]
    assert result("group_concat", keys, [0, 0, 0], 1, separator=", ", distinct=True) == [
        b"\x03a, c"
    ]


def test_group_concat__of_many_rows_is_that_of_few(tune: Callable[..., None]) -> None:
    rng = random.Random(5)
    for _ in range(50):
        keys = [rng.choice([b"\x03a", b"\x03b", b'\x04a"@en', None]) for _ in range(40)]
        groups = [rng.randrange(2) for _ in keys]
        one_by_one = result("group_concat", keys, groups, 2, separator=", ")
        with EXPRESSIONS.changed(counted_rows=0):
            assert result("group_concat", keys, groups, 2, separator=", ") == one_by_one
    tune(EXPRESSIONS, counted_rows=0)
    assert result("group_concat", [b"\x03a", b"\x02b"] * 3, [0] * 6, 1) == [None]


def test_distinct__is_by_term_not_by_value() -> None:
    keys: list[bytes | None] = [number("1"), number("1"), number("01"), number("1.0", "decimal")]
    assert result("count", keys, [0] * 4, 1, distinct=True) == [number("3")]


def test_distinct__terms_that_a_function_gives_twice_are_one() -> None:
    """A vector may list a key more than once: codes that differ are not terms that differ."""
    terms = QueryTerms(Dictionary())
    twice = Coded([b"\x03bob", b"\x03bob", number("1"), number("1"), None], np.arange(5))
    groups = np.zeros(5, np.int64)
    for function, wanted in (
        ("count", number("2")),
        ("group_concat", b"\x03bob 1"),
        ("sample", b"\x03bob"),
    ):
        found = aggregate(function, twice, groups, 1, terms, distinct=True)
        assert terms.keys(ids_of(found, terms)) == [wanted]
    numbers = Coded(twice.keys[2:4], np.arange(2))
    for function in ("sum", "avg", "min", "max"):
        found = aggregate(function, numbers, groups[:2], 1, terms, distinct=True)
        assert terms.keys(ids_of(found, terms)) == [
            number("1", "decimal" if function == "avg" else "integer")
        ]


@pytest.mark.parametrize("rank", [1, 2, 4])
@pytest.mark.parametrize("function", ["sum", "min", "max", "avg", "count"])
def test_columns_of_numbers__have_a_fast_way_with_the_same_results(
    function: str, rank: int
) -> None:
    source = np.random.default_rng(rank)
    values = source.integers(-1000, 1000, 500)
    if rank == 4:
        values = values / 8
    vector: Vector = Numbers(rank, values, None, 2 if rank == 2 else 0)
    groups = source.integers(0, 20, 500)
    terms = QueryTerms(Dictionary())
    found = aggregate(function, vector, groups, 25, terms)
    slow = aggregate(function, coded(vector, terms), groups, 25, terms)
    for a, b in zip(*(terms.keys(ids_of(v, terms)) for v in (found, slow)), strict=True):
        assert (a and maybe_number(a)) == (b and maybe_number(b))


JOINED = [
    *(b"\3" + text for text in (b"", b"a", b"a ", b"ab", "\u00e9".encode())),
    *(b"\4" + text for text in (b'a"@en', b'a "@en', b'b"@de')),
    *(number(x) for x in ("1", "10", "2")),
    b"\1http://e/a",
    b"\1http://e/b",
]


@pytest.mark.parametrize("separator", ["", " ", ", "])
@pytest.mark.parametrize("is_distinct", [False, True])
@each_seed(range(30))
def test_group_concat__by_columns_is_that_of_each_term(
    tune: Callable[..., None], separator: str, is_distinct: bool, seed: int
) -> None:
    source = random.Random(seed)
    pool = [*JOINED, *([b"\2b"] if seed % 3 == 0 else [])]
    keys: list[bytes | None] = [source.choice(pool) for _ in range(source.randrange(20))]
    count = source.choice([1, 4])
    groups = np.array([source.randrange(count) for _ in keys], np.int64)
    dictionary = Dictionary()
    for _ in range(source.randrange(3)):
        new = [key for key in source.sample(pool, 5) if not dictionary.lookup_key(key)]
        if new:
            dictionary.add_segment(TermSegment.from_keys(dictionary.size + 1, sorted(new)))
    terms = QueryTerms(dictionary)
    vector: Vector = Ids(terms.encode_keys(keys))
    if seed % 2:
        plain = [b"\3" + (key or b"x")[1:] for key in keys]
        made = texts_of(plain, np.arange(len(plain)), terms.shapes)
        assert made is not None
        vector = made
    options = {"distinct": is_distinct, "separator": separator}
    found = []
    for rows in (0, 1 << 60):  # by kernels, and one term after the other
        tune(TERMS, warm_rows=rows, warm_texts=rows, cold_texts=rows)
        result = aggregate("group_concat", vector, groups, count, terms, **options)
        assert isinstance(result, Texts) == (rows == 0 and not (is_distinct and seed % 2))
        found.append(terms.keys(ids_of(result, terms)))
    assert found[0] == found[1]


SUMMED = {
    "integers": [number(x) for x in ("1", "01", "-7", "9007199254740993", "0")],
    "decimals": [number(x, "decimal") for x in ("0.1", "0.10", "-2.25", "7")],
    "doubles": [number(x, "double") for x in ("0.1", "1e16", "-1e16", "3e0", "-0")],
    "huge": [number(x, "double") for x in ("1.7e308", "-1.7e308", "1e300")],
    "special": [number(x, "double") for x in ("1", "INF", "-INF", "NaN")],
    "floats": [number(x, "float") for x in ("0.1", "16777216", "1", "3e38")],
    "strings": [number("1"), b"\x03a"],
}
SUMMED["mixed"] = [key for pool in SUMMED.values() for key in pool if key[0] == 5]


@pytest.mark.parametrize("pool", SUMMED)
@each_seed(range(30))
def test_sums_and_means__are_those_of_each_number(pool: str, seed: int) -> None:
    source = random.Random(seed)
    count = source.choice([1, 3])
    keys = [source.choice(SUMMED[pool]) for _ in range(source.randrange(9))]
    groups = [source.randrange(count) for _ in keys]
    times = [source.randint(1, 4) for _ in keys] if count == 1 else [1] * len(keys)
    for function in ("sum", "avg"):
        wanted: list[bytes | None] = []
        for group in range(count):
            members = zip(keys, groups, times, strict=True)
            numbers = [maybe_number(k) for k, g, n in members if g == group for _ in range(n)]
            proper = [n for n in numbers if n is not None]
            if len(proper) < len(numbers):
                wanted.append(None)
            elif function == "sum" or not numbers:
                wanted.append(key_of_number(total(proper)))
            else:
                mean = divide(total(proper), Number(INTEGER, len(proper)))
                wanted.append(key_of_number(mean))
        given = {"times": np.array(times, np.int64)} if count == 1 else {}
        assert result(function, keys, groups, count, **given) == wanted


def test_quotients__have_the_same_keys_from_whole_numbers() -> None:
    source = random.Random(1)
    for _ in range(2000):
        top = source.choice([0, source.randint(-(10**18), 10**18), source.randint(-9, 9)])
        under = source.choice([1, 3, 10**9, source.randint(1, 10**18)])
        wanted = key_of_number(Number(DECIMAL, quotient(top, under)))
        assert key_of_quotient(top, under) == wanted


def test_count_of_rows__needs_no_values() -> None:
    found = aggregate("count", None, np.array([0, 2, 2]), 4, QueryTerms(Dictionary()))
    assert isinstance(found, Numbers) and found.values.tolist() == [1, 0, 2, 0]


def test_order_key__agrees_with_less_and_is_total() -> None:
    keys = random.Random(1).sample(POOL, len(POOL))
    assert sorted(map(order_key, keys)) == sorted(map(order_key, POOL))  # of any two
    for a in POOL:
        for b in POOL:
            try:
                if b"NaN" not in a + b and less(a, b) and "uration" not in str(a):
                    assert order_key(a) <= order_key(b), (a, b)
                if b"NaN" not in a + b and greater(a, b) and "uration" not in str(a):
                    assert order_key(a) >= order_key(b), (a, b)
            except ExpressionError:
                continue


def test_unknown_aggregates__are_refused() -> None:
    with pytest.raises(UsageError, match="unknown aggregate median"):
        result("median", [b"\x03a"], [0], 1)
