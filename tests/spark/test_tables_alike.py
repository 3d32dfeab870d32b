"""Tables by way of Spark and on this machine give the same triples."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pytest

from triplestore.loaders.spark.importing.table_columns import Property, columns_to_triples
from triplestore.loaders.tabular import TableOptions, load_table
from triplestore.terms.dictionary import Dictionary

E = "http://e.org/"
ROWS: list[dict[str, Any]] = [
    {
        "id": f"a b/{chr(code)}~*+%",
        "n": code * (-1) ** code,
        "s": f'te"xt \\ {chr(code)}\n',
        "ok": code % 2 == 0,
        "d": Decimal(code) / 1000,
        "day": datetime.date(2000, 1, 1) + datetime.timedelta(code),
        "b": bytes([code % 256, 255]),
        "k": ["x", f"{code}"],
    }
    for code in (*range(33, 127), 0xE9, 0x20AC, 0x1D11E)
] + [dict.fromkeys(("n", "s", "ok", "d", "day", "b", "k")) | {"id": "nulls"}]
PLAIN = ("n", "s", "ok", "d", "day", "b", "k")
SCHEMA = (
    "id string, n bigint, s string, ok boolean, d decimal(12,3), day date, b binary, "
    "k array<string>"
)


def said() -> dict[str, Any]:
    return {
        **{name: E + name for name in PLAIN},
        "id": Property(E + "self", template=E + "x/{id}?n={n}"),
    }


def test_load_table__gives_the_triples_of_columns_to_triples(spark: Any) -> None:
    pa = pytest.importorskip("pyarrow")
    frame = spark.createDataFrame([tuple(row.values()) for row in map(ordered, ROWS)], SCHEMA)
    made = columns_to_triples(frame, subject=E + "{id}", properties=said(), type=E + "T")
    expected = {(row.s, row.p, row.o) for row in made.collect()}
    kinds = {"n": pa.int64(), "d": pa.decimal128(12, 3), "day": pa.date32(), "b": pa.binary(),
             "ok": pa.bool_(), "k": pa.list_(pa.string())}  # fmt: skip
    columns = {
        name: pa.array([row[name] for row in ROWS], kinds.get(name, pa.string()))
        for name in ordered(ROWS[0])
    }
    dictionary = Dictionary()
    options = TableOptions(subject=E + "{id}", properties=said(), type=E + "T")
    loaded = load_table(columns, dictionary, options)
    loaded.add_terms(dictionary)
    terms = [map(str, dictionary.terms(column)) for column in (loaded.s, loaded.p, loaded.o)]
    found = set(zip(*terms, strict=True))
    assert found == expected
    assert len(found) > 800


def ordered(row: dict[str, Any]) -> dict[str, Any]:
    """A row with its columns in the order of the schema."""
    return {name: row[name] for name in ("id", *PLAIN)}
