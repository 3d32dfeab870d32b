"""The dictionary and the encoding on Spark: dense ids in the order of keys, whatever the parts."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")
from support.spark_rows import Row, frame_of, rows_of, some_rows

from triplestore.errors import StorageError
from triplestore.loaders.spark.importing.collect import collected
from triplestore.loaders.spark.importing.encode import encode
from triplestore.loaders.spark.importing.number_terms import (
    check_hashes,
    count_terms,
    numbered,
    ordered_terms,
)
from triplestore.loaders.spark.importing.parquet_parts import MAX_TERMS, check_room
from triplestore.loaders.spark.jobs.stages import Stages


def encoded(
    spark: Any, place: Path, rows: list[Row], partitions: int, ranges: int, chunk_rows: int = 1000
) -> tuple[list[bytes], list[tuple[bytes, bytes, bytes, bytes | None]], Any]:
    """Keys in the order of their ids, and the rows put back into keys by them."""
    stages = Stages(spark, str(place))
    frame = frame_of(spark, rows, partitions)
    gathered, _ = stages.table("c", 0, lambda: collected(frame, chunk_rows=chunk_rows))
    ordered, _ = stages.table("t", 0, lambda: ordered_terms(gathered, ranges))
    counts = count_terms(ordered)
    terms = numbered(spark, ordered, counts)
    keys = {row["id"]: bytes(row["key"]) for row in terms.select("id", "key").collect()}
    assert sorted(keys) == list(range(1, counts.terms + 1))
    check_hashes(terms)
    triples = encode(gathered, terms, counts, 4).collect()
    back = [
        (keys[r["s"]], keys[r["p"]], keys[r["o"]], None if r["g"] is None else keys[r["g"]])
        for r in triples
    ]
    return [keys[i + 1] for i in range(len(keys))], back, counts


def as_sorted(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row[:3], row[3] or b""))


@pytest.mark.parametrize(("partitions", "ranges", "chunk"), [(1, 1, 1000), (4, 3, 17)])
def test_numbering__is_dense_and_in_key_order_for_any_partitioning(
    spark: Any, tmp_path: Path, partitions: int, ranges: int, chunk: int
) -> None:
    rows = some_rows()
    random.Random(partitions).shuffle(rows)
    keys, back, _ = encoded(spark, tmp_path, rows, partitions, ranges, chunk)
    assert keys == sorted({key for row in rows for key in row if key is not None})
    assert as_sorted(back) == as_sorted(rows)


def test_encoding__a_term_in_half_of_all_rows_is_common(spark: Any, tmp_path: Path) -> None:
    lines = [
        f"<http://ex.org/{i}> <http://ex.org/p> <http://ex.org/{'hot' if i % 2 else i}> ."
        for i in range(400)
    ]
    rows = rows_of("\n".join(lines))
    _, back, counts = encoded(spark, tmp_path, rows, 2, 2)
    assert as_sorted(back) == as_sorted(rows)
    assert (counts.predicates, counts.graphs, counts.uses) == (1, 0, 1200)


def test_hashes__two_terms_with_one_hash_are_refused_by_name(spark: Any, tmp_path: Path) -> None:
    stages = Stages(spark, str(tmp_path))
    frame = frame_of(spark, some_rows(40))
    gathered, _ = stages.table("c", 0, lambda: collected(frame, bits=4))
    ordered, _ = stages.table("t", 0, lambda: ordered_terms(gathered, 2))
    terms = numbered(spark, ordered, count_terms(ordered))
    with pytest.raises(StorageError, match="have the same 128-bit hash"):
        check_hashes(terms)


def test_room__more_terms_than_32_bits_number_are_refused() -> None:
    check_room(MAX_TERMS)
    with pytest.raises(StorageError, match="write Parquet tables with 64-bit ids"):
        check_room(MAX_TERMS + 1)
