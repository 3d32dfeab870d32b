"""The dictionary and the encoding: dense ids in the order of keys for any chunks and ranges."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")
import pyarrow as pa
from support.spark_rows import Row, some_rows

from triplestore.errors import CorruptError, StorageError
from triplestore.loaders.spark.importing.chunks import (
    SCHEMA,
    Chunks,
    batches_of,
    write_from_rows,
    write_rows,
)
from triplestore.loaders.spark.importing.encode import encode, encoded
from triplestore.loaders.spark.importing.number_terms import (
    count_terms,
    cut_blocks,
    number_ranges,
    numbered,
    ordered_terms,
)
from triplestore.loaders.spark.importing.parquet_parts import (
    MAX_TERMS,
    check_room,
    read_blocks,
    read_chunks,
)
from triplestore.loaders.spark.thresholds import SPARK
from triplestore.terms.spans import spans_of_keys

KEYS = st.binary(max_size=6).map(lambda text: b"\x01" + text)
ROWS = st.lists(st.tuples(KEYS, KEYS, KEYS, st.one_of(st.none(), KEYS)), min_size=1, max_size=60)
SMALL = {"block_rows": 7, "block_bytes": 16}


def chunks_of(rows: Sequence[Row], sizes: Sequence[int]) -> list[Any]:
    """Batches of chunks with these numbers of rows, in turn."""
    made, at, chunks = [], 0, Chunks(None)
    while at < len(rows):
        part = rows[at : at + sizes[len(made) % len(sizes)]]
        keys = sorted({key for row in part for key in row if key is not None}, reverse=True)
        number = {None: 0, **{key: i for i, key in enumerate(keys, 1)}}
        numbers = np.array([[number[key] for key in row] for row in part], np.uint32)
        chunks.add(spans_of_keys(keys), numbers)
        made.append(list(chunks.finish()))
        at += len(part)
    return [batch for batches in made for batch in batches]


def read(batches: Iterable[Any]) -> list[dict[str, Any]]:
    """Rows of batches, with bytes."""
    return [row for batch in batches for row in batch.to_pylist()]


def back(keys: Sequence[bytes], rows: Sequence[Sequence[int | None]]) -> list[Row]:
    """Rows of ids as keys."""
    return [tuple(None if i in (None, 0) else keys[i - 1] for i in row) for row in rows]


def as_sorted(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row[:3], row[3] or b""))


@given(
    rows=ROWS,
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=3),
    ends=st.sets(KEYS, max_size=4).map(sorted),
)
def test_ids__are_ranks_of_keys_for_any_chunks_and_ranges(
    rows: list[Row], sizes: list[int], ends: list[bytes]
) -> None:
    with SPARK.changed(**SMALL):
        batches = chunks_of(rows, sizes)
        blocks = [row for row in read(batches) if row["keys"] is not None]
        cut = read(cut_blocks(ends, batches_of(blocks, SCHEMA)))
        cut.sort(key=lambda row: (row["range"], row["chunk"], row["place"]))
        ordered = read(number_ranges(batches_of(cut, CUT)))
    counts = [0] * (len(ends) + 1)
    keys: list[bytes] = []
    for row in ordered:
        if row["keys"] is not None:
            assert row["place"] == counts[row["range"]]
            counts[row["range"]] += len(row["sizes"]) // 4
            keys += keys_in(row)
    assert keys == sorted({key for row in rows for key in row if key is not None})
    before = [0, *np.cumsum(counts).tolist()]
    found = []
    for chunk in {row["chunk"] for row in blocks}:
        ranks = [row for row in ordered if row["chunk"] == chunk]
        own = [
            {**row, "range": None}
            for row in read(batches)
            if row["chunk"] == chunk and row["numbers"] is not None
        ]
        both = batches_of([*random.Random(1).sample(ranks, len(ranks)), *own], BOTH)
        for batch in encoded(before, both):
            found += back(keys, [tuple(row.values()) for row in batch.to_pylist()])
    assert as_sorted(found) == as_sorted(rows)


CUT = "range int, chunk long, place long, keys binary, sizes binary"
BOTH = "chunk long, range int, place long, numbers binary, graphs binary"


def keys_in(row: dict[str, Any]) -> list[bytes]:
    data, ends = row["keys"], np.cumsum(np.frombuffer(row["sizes"], np.uint32))
    return [data[lo:hi] for lo, hi in zip([0, *ends.tolist()[:-1]], ends.tolist(), strict=True)]


@pytest.mark.parametrize(("partitions", "chunk"), [(1, 1000), (4, 17)])
def test_stages__number_and_encode_for_any_partitioning(
    spark: Any, tmp_path: Path, partitions: int, chunk: int
) -> None:
    rows = some_rows()
    random.Random(partitions).shuffle(rows)
    with SPARK.changed(**SMALL):  # here; the workers have other blocks
        cells = [
            tuple(row.values())
            for row in pa.Table.from_batches(chunks_of(rows, [chunk])).to_pylist()
        ]
    places = [f"file://{tmp_path}/{name}" for name in ("chunks", "terms")]
    parsed = write_rows(spark.createDataFrame(cells, SCHEMA).repartition(3), places[0])
    with SPARK.changed(**SMALL):
        ordered = write_from_rows(ordered_terms(parsed, partitions), places[1])
    counts = count_terms(ordered)
    assert 1 <= len(counts.ranges) <= partitions
    ids = {row["id"]: bytes(row["key"]) for row in numbered(ordered, counts).collect()}
    keys = [ids[i + 1] for i in range(len(ids))]
    assert keys == sorted({key for row in rows for key in row if key is not None})
    triples = encode(parsed, ordered, counts, 4).collect()
    assert as_sorted(back(keys, triples)) == as_sorted(rows)
    # The driver reads the same from the files.
    known = read_blocks(places[1], counts.ranges, counts.terms)
    assert [bytes([kind]) for kind in known.kinds] == [key[:1] for key in keys]
    assert known.texts.tobytes() == b"".join(key[1:] for key in keys)
    tables = {places[0]: ()}
    made = read_chunks(tables, places[1], counts.ranges, len(rows))
    assert made.g is not None
    columns = (made.s, made.p, made.o, made.g)
    same = back(keys, list(zip(*(column.tolist() for column in columns), strict=True)))
    assert as_sorted(same) == as_sorted(rows)
    for total in (len(rows) - 1, len(rows) + 1):
        with pytest.raises(CorruptError, match="run the job again"):
            read_chunks(tables, places[1], counts.ranges, total)


def test_room__more_terms_than_32_bits_number_are_refused() -> None:
    check_room(MAX_TERMS)
    with pytest.raises(StorageError, match="write Parquet tables with 64-bit ids"):
        check_room(MAX_TERMS + 1)
