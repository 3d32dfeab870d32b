"""Encoding: statements as numbers of the terms of their chunk become statements as ids, or as keys.

Start reading at `encode`. The terms of a chunk are sorted, so the ranks that the ranges give for it
are its ids, one range after the other (`chunks.ids_of`). A store is assembled by the driver, which
looks the ids up itself (`parquet_parts.read_chunks`): that is faster than Spark's rows. Tables and
closures use DataFrames. They are shuffled by chunk, never by term, so a frequent term does no harm.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sf

from triplestore.loaders.spark.importing.chunks import (
    Ranks,
    binary_array,
    columns_of,
    ids_of,
    rows_of,
    spans_in,
)
from triplestore.loaders.spark.importing.number_terms import TermCounts
from triplestore.loaders.spark.jobs.workers import Batches, mapped
from triplestore.terms.spans import U32

_NAMES = ("s", "p", "o", "g")
_IDS = "s long, p long, o long, g long"
_KEYS = "s binary, p binary, o binary, g binary"
_BATCH_BYTES = 1 << 26


def encode(parsed: Any, ordered: Any, counts: TermCounts, partitions: int) -> Any:
    """The statements as ids (s, p, o, g; g null in the default graph), with repetitions."""
    none = sf.lit(None)
    statements = parsed.where("numbers IS NOT NULL").select(
        "chunk", none.cast("int").alias("range"), "place", "numbers", "graphs"
    )
    ranks = ordered.where("numbers IS NOT NULL").select(
        "chunk", "range", "place", "numbers", none.cast("binary").alias("graphs")
    )
    rows = ranks.unionByName(statements).repartition(partitions, "chunk")
    by_chunk = rows.sortWithinPartitions("chunk", sf.isnull("range"))
    return mapped(by_chunk, partial(encoded, counts.ranges), _IDS)


def encoded(before: Sequence[int], batches: Batches) -> Batches:
    """Rows of chunks, their ranks first, as ids."""
    chunk, ranks, ids = None, list[Ranks](), np.zeros(1, np.int64)
    for row in rows_of(batches):
        if row["chunk"] != chunk:
            chunk, ranks, ids = row["chunk"], [], np.zeros(1, np.int64)
        if row["range"] is not None:
            ranks.append((row["range"], row["place"], row["numbers"]))
            continue
        if ranks:
            ids, ranks = ids_of(ranks, before), []
        *columns, graphs = columns_of(row["numbers"], row["graphs"])
        arrays = [pa.array(ids[column]) for column in columns]
        arrays.append(pa.array(ids[graphs], mask=graphs == 0))
        yield pa.RecordBatch.from_arrays(arrays, names=_NAMES)


def decode(parsed: Any) -> Any:
    """The statements as keys (s, p, o, g; g null in the default graph)."""
    rows = parsed.where("note IS NULL").select(
        "chunk", "place", "keys", "sizes", "numbers", "graphs"
    )
    by_chunk = rows.repartition("chunk").sortWithinPartitions("chunk", "place")
    return mapped(by_chunk, decoded, _KEYS)


def decoded(batches: Batches) -> Batches:
    """Rows of chunks, their terms first, as keys."""
    chunk, parts = None, list[pa.Array]()
    for row in rows_of(batches):
        if row["chunk"] != chunk:
            chunk, parts = row["chunk"], []
        if row["keys"] is not None:
            parts.append(binary_array(*spans_in(row["keys"], row["sizes"])))
        elif row["numbers"] is not None:
            parts = [pa.concat_arrays(parts)]
            yield from _taken(parts[0], columns_of(row["numbers"], row["graphs"]))


def _taken(keys: pa.Array, columns: Sequence[U32]) -> Iterator[pa.RecordBatch]:
    """The keys of statements; a batch has at most about `_BATCH_BYTES`, or one row."""
    sizes = np.diff(np.frombuffer(keys.buffers()[1], np.int32, len(keys) + 1), prepend=0)
    ends = np.cumsum(sum(sizes[column].astype(np.int64) for column in columns))
    start = 0
    while start < len(ends):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(ends.searchsorted(before + _BATCH_BYTES, "right")))
        chosen = [column[start:stop].astype(np.int64) - 1 for column in columns]
        arrays = [keys.take(pa.array(places, mask=places < 0)) for places in chosen]
        yield pa.RecordBatch.from_arrays(arrays, names=_NAMES)
        start = stop
