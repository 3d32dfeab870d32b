"""Stores and query results as DataFrames, and flat tables as triples."""

from __future__ import annotations

import datetime
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.spark.test_parse import TRIG, TURTLE
from tests.terms.strategies import terms as any_terms
from triplestore import Store
from triplestore.errors import UsageError
from triplestore.loaders.spark.frames import ntriples_array, query_frame, read_triples
from triplestore.loaders.spark.importing.sources import SourceOptions
from triplestore.loaders.spark.importing.statements import read_statements
from triplestore.loaders.spark.importing.table_columns import Property, columns_to_triples
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.term_keys import key_of, to_ntriples


@settings(max_examples=50)
@given(terms=st.lists(any_terms, max_size=8))
def test_ntriples_array__is_to_ntriples(terms: list[Any]) -> None:
    dictionary = Dictionary()
    keys = [key_of(term) for term in terms]
    keys += [b"\x03\xef\xbf\xbe", b'\x05"^^<x:>', b'\x04"\n"@en', b"\x01http://e/\\", b"\x03"]
    ids = np.concatenate([dictionary.encode_keys(keys), np.zeros(1, np.uint32)])
    written = ntriples_array(dictionary, ids).to_pylist()
    assert written == [*(to_ntriples(key).decode() for key in keys), None]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "db"
    with Store(path) as made:
        made.load(TURTLE, "ttl")
        made.load(TRIG, "trig")
        lines = (f"<http://e/{n}> <http://e/p> <http://e/{n + 1}> .\n" for n in range(50))
        made.load("".join(lines), "nt")
        made.add_rules("[?y, <http://e/q>, ?x] :- [?x, <http://e/p>, ?y] .")
    return path


def quads(rows: Any) -> Counter[tuple[str, ...]]:
    return Counter(tuple(row) for row in rows)


@pytest.mark.parametrize("facts", ["all", "explicit", "inferred"])
def test_read_triples__all_that_a_store_shows(spark: Any, store: Path, facts: str) -> None:
    frame = read_triples(spark, store, facts=facts, task_rows=7)
    found = quads(frame.collect())
    with Store.read_only(store) as opened:
        graphs = [
            quad.graph_name for quad in opened.quads_for_pattern(None, None, None, facts=facts)
        ]
        wanted = Counter(
            (
                str(quad.subject),
                str(quad.predicate),
                str(quad.object),
                None if str(quad.graph_name) == "DEFAULT" else str(quad.graph_name),
            )
            for quad in opened.quads_for_pattern(None, None, None, facts=facts)
        )
    assert len(graphs) > 10
    assert found == wanted


def test_read_triples__reads_back_as_the_same_nodes(spark: Any, store: Path) -> None:
    frame = read_triples(spark, store, facts="explicit")
    kept = read_statements(spark, frame, SourceOptions(keep_labels=True)).rows.collect()
    found = Counter(tuple(None if cell is None else bytes(cell) for cell in row) for row in kept)
    wanted: Counter[Any] = Counter()
    with Store.read_only(store) as opened:
        for quad in opened.quads_for_pattern(None, None, None, facts="explicit"):
            graph = None if str(quad.graph_name) == "DEFAULT" else key_of(quad.graph_name)
            wanted[(*map(key_of, (quad.subject, quad.predicate, quad.object)), graph)] += 1
    assert found == wanted


def test_query_frame__typed_columns_and_terms(spark: Any, store: Path) -> None:
    text = "SELECT ?x (STRLEN(STR(?x)) AS ?n) { ?x <http://e/p> <http://e/1> }"
    frame = query_frame(spark, store, text)
    assert [(name, kind) for name, kind in frame.dtypes] == [("x", "string"), ("n", "bigint")]
    assert [tuple(row) for row in frame.collect()] == [("http://e/0", 10)]
    with Store.read_only(store) as opened:
        terms = query_frame(spark, opened, text, typed=False).collect()
    assert terms[0].x == "<http://e/0>"
    with pytest.raises(UsageError, match="SELECT"):
        query_frame(spark, store, "ASK {}")


def test_columns_to_triples__datatypes_templates_nulls_and_arrays(spark: Any) -> None:
    table = spark.createDataFrame(
        [
            (
                "a b/ü", 'say "hi"\\\n', 5, True, 1.5, float("inf"), Decimal("0.0000001"),
                datetime.date(2020, 1, 2),
                datetime.datetime(2020, 1, 2, 3, 4, 5, 6, datetime.UTC), b"\x01\xff",
                ["x", None, "y"], [1, 2], ("chat", None, "fr"),
            ),
            ("b", None, None, None, None, None, None, None, None, None, None, [], None),
            (None, "x", 1, None, None, None, None, None, None, None, None, None, None),
        ],
        "id string, name string, n int, b boolean, f float, d double, m decimal(20,7), day date, "
        "at timestamp, raw binary, tags array<string>, friends array<int>, "
        "label struct<value: string, datatype: string, lang: string>",
    )  # fmt: skip
    names = ["name", "n", "b", "f", "d", "m", "day", "at", "raw", "label"]
    frame = columns_to_triples(
        table,
        subject="http://e/{id}",
        type="http://e/Thing",
        graph="http://e/g",
        properties={
            **{name: f"http://e/{name}" for name in names},
            "tags": Property("http://e/tag", lang="en"),
            "friends": Property("http://e/friend", template="http://e/{id}/{friends}"),
        },
    )
    statements = read_statements(spark, frame)
    rows = statements.rows.collect()
    found = {
        (bytes(row.s)[1:].decode(), bytes(row.p)[10:].decode(), to_ntriples(bytes(row.o)).decode())
        for row in rows
    }
    assert {bytes(row.g) for row in rows} == {b"\x01http://e/g"}
    assert statements.errors.collect() == []
    xsd = "http://www.w3.org/2001/XMLSchema#"
    subject = "http://e/a%20b%2F%C3%BC"
    assert found == {
        (subject, "name", '"say \\"hi\\"\\\\\\n"'),
        (subject, "n", f'"5"^^<{xsd}integer>'),
        (subject, "b", f'"true"^^<{xsd}boolean>'),
        (subject, "f", f'"1.5"^^<{xsd}float>'),
        (subject, "d", f'"INF"^^<{xsd}double>'),
        (subject, "m", f'"0.0000001"^^<{xsd}decimal>'),
        (subject, "day", f'"2020-01-02"^^<{xsd}date>'),
        (subject, "at", f'"2020-01-02T03:04:05.000006Z"^^<{xsd}dateTime>'),
        (subject, "raw", f'"01FF"^^<{xsd}hexBinary>'),
        (subject, "label", '"chat"@fr'),
        (subject, "tag", '"x"@en'),
        (subject, "tag", '"y"@en'),
        (subject, "friend", f"<{subject}/1>"),
        (subject, "friend", f"<{subject}/2>"),
        (subject, "w.w3.org/1999/02/22-rdf-syntax-ns#type", "<http://e/Thing>"),
        ("http://e/b", "w.w3.org/1999/02/22-rdf-syntax-ns#type", "<http://e/Thing>"),
    }


def test_columns_to_triples__refuses_missing_columns(spark: Any) -> None:
    table = spark.createDataFrame([("a", {"x": 1})], "id string, m map<string, int>")
    with pytest.raises(UsageError, match="no column nothing"):
        columns_to_triples(table, subject="http://e/{nothing}", properties={"id": "http://e/p"})
    with pytest.raises(UsageError, match="which is not supported"):
        columns_to_triples(table, subject="http://e/{id}", properties={"m": "http://e/p"})
    with pytest.raises(UsageError, match="not an IRI"):
        columns_to_triples(table, subject="http://e/{id}", properties={"id": "p"})


def test_typed_columns__are_terms(spark: Any) -> None:
    table = spark.sql(
        "SELECT struct('uri' AS type, 'http://e/s' AS value) AS s, '<http://e/p>' AS p, 2.50BD AS o"
    )
    [row] = read_statements(spark, table).rows.collect()
    xsd = b"http://www.w3.org/2001/XMLSchema#"
    assert tuple(map(bytes, row[:3])) == (
        b"\x01http://e/s",
        b"\x01http://e/p",
        b'\x052.50"^^<' + xsd + b"decimal>",
    )
