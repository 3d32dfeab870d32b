"""Chunks of statements in few rows of many bytes: the output of the parsing tasks.

Start at `Chunks`. Spark needs about a microsecond to take a row through a stage, as long as parsing
a statement takes. Therefore a row here holds thousands of terms or statements, as bytes which Spark
only moves. A chunk has its distinct terms in the order of their keys, and its statements as numbers
of these terms, from 1 on. The rows of a table of chunks (`SCHEMA`) are:

    column         terms                      statements                 note
    chunk, place   place orders the rows of a chunk, terms first
    first, bytes   the first key; all bytes
    keys, sizes    keys; their lengths
    numbers                                   all of s, of p, of o
    graphs                                    of g; null if all are 0
    file           0; the file of a part that was cut                    its file
    note                                                                 see notes.py

Lengths and numbers have 32 bits; number 0 is the default graph. Always true: each term occurs once
in a chunk, so a term of half of all statements costs no more than others; a chunk has statements of
one task only, and its number depends on the task only, so a task that is repeated gives the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from triplestore.loaders.spark.jobs.workers import Batches, task_number
from triplestore.loaders.spark.session import settings
from triplestore.loaders.spark.thresholds import SPARK
from triplestore.terms.collector import TermCollector
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.sort_terms import sorted_terms
from triplestore.terms.spans import I64, U8, U32, Spans, copy_texts, offsets_of, spans_of_keys

SCHEMA = (
    "chunk long, place long, first binary, bytes long, keys binary, sizes binary, "
    "numbers binary, graphs binary, file int, note string"
)
"""The schema of chunks, as text for Spark."""

_CHUNKS_OF_TASK = 1 << 32
_ROWS_OF_BATCH = 16
_ROWS_AT_ONCE = "spark.sql.execution.arrow.maxRecordsPerBatch"  # that a worker gets
_PARQUET = {
    "parquet.block.size": str(1 << 24),  # Spark reads so much as a whole
    "parquet.enable.dictionary": "false",  # no block repeats
}


Ranks = tuple[int, int, Any]
"""The ranks of some terms of a chunk: their range, a place that orders them in it, and 32 bits of
each."""


class Chunks:
    """The statements that a task reads, given to Spark chunk by chunk.

    default  the key of the graph for statements of the default graph, if there is one
    """

    def __init__(self, default: bytes | None) -> None:
        self._default = None if default is None else spans_of_keys([default])
        self._number = task_number() * _CHUNKS_OF_TASK
        self._file = 0
        self._clear()

    def _clear(self) -> None:
        self._rows = 0
        self._collector = TermCollector(Dictionary())
        self._columns: list[list[U32]] = [[], [], [], []]

    def add(self, terms: Spans, rows: U32) -> None:
        """Add statements as rows of numbers (from 1; s, p, o, g) of these terms."""
        if len(rows) == 0:
            return
        numbers = np.zeros(len(terms.starts) + 1, np.uint32)
        numbers[1:] = self._collector.add(*terms)
        if self._default is not None and not rows[:, 3].all():
            numbers[0] = self._collector.add(*self._default)[0]
        for column, found in zip(self._columns, rows.T, strict=True):
            column.append(numbers[found])
        self._rows += len(rows)

    def full(self) -> Batches:
        """The batches of the chunk, if it is large."""
        if self._rows >= SPARK.chunk_rows or self._collector.text_bytes >= SPARK.chunk_bytes:
            yield from self.finish()

    def begin(self, file: int = 0) -> Batches:
        """The batches of the chunk; after it come statements of this file only, if it is not 0."""
        yield from self.finish()
        self._file = file

    def finish(self) -> Batches:
        """The batches of the chunk, after which another begins."""
        if self._rows:
            common = {"chunk": self._number, "file": self._file}
            yield from batches_of(({**common, **row} for row in self._written()), SCHEMA)
            self._number += 1
            self._clear()

    def _written(self) -> Iterator[dict[str, Any]]:
        ranks, keys, offsets = ordered_keys(self._collector)
        place = 0
        for place, (_, block) in enumerate(key_blocks(keys, offsets), 1):
            length = int.from_bytes(block["sizes"][:4], "little")
            size = len(block["keys"])
            yield {"place": place, "first": block["keys"][:length], "bytes": size, **block}
        columns = [np.concatenate(parts) for parts in self._columns]
        for lo in range(0, self._rows, SPARK.block_rows):
            *numbers, graphs = (ranks[column[lo : lo + SPARK.block_rows]] for column in columns)
            place += 1
            named = graphs.tobytes() if graphs.any() else None
            yield {"place": place, "numbers": np.concatenate(numbers).tobytes(), "graphs": named}


def ordered_keys(collector: TermCollector) -> tuple[U32, U8, I64]:
    """The rank (from 1) of each number of a collector, and the keys in their order with offsets.

    >>> collector = TermCollector(Dictionary())
    >>> collector.add(*spans_of_keys([b"\\x01b", b"\\x03a", b"\\x01a"])).tolist()
    [1, 2, 3]
    >>> ranks, keys, offsets = ordered_keys(collector)
    >>> ranks.tolist(), keys.tobytes(), offsets.tolist()
    ([0, 2, 3, 1], b'\\x01a\\x01b\\x03a', [0, 2, 4, 6])
    """
    spans = collector.spans()
    count = len(spans.starts)
    ends = offsets_of(spans.lengths)
    order = sorted_terms(spans.buf, ends, spans.kinds, np.arange(count, dtype=np.uint32))
    ranks = np.zeros(count + 1, np.uint32)
    ranks[order + np.int64(1)] = np.arange(1, count + 1, dtype=np.uint32)
    lengths = spans.lengths[order]
    offsets = offsets_of(lengths + 1).astype(np.int64)
    keys = np.empty(int(offsets[-1]), np.uint8)
    keys[offsets[:-1]] = spans.kinds[order]
    copy_texts(spans.buf, spans.starts[order], lengths, keys, offsets[:-1] + 1)
    return ranks, keys, offsets


def key_blocks(keys: U8, offsets: I64) -> Iterator[tuple[int, dict[str, bytes]]]:
    """Keys in blocks for one row each: the number of keys before it, and its columns."""
    lo, count = 0, len(offsets) - 1
    while lo < count:
        end = offsets[lo] + SPARK.block_bytes
        hi = max(lo + 1, int(offsets.searchsorted(end, "right")) - 1)
        sizes = np.diff(offsets[lo : hi + 1]).astype(np.uint32)
        block = keys[int(offsets[lo]) : int(offsets[hi])]
        yield lo, {"keys": block.tobytes(), "sizes": sizes.tobytes()}
        lo = hi


def note_batch(file: int, notes: Sequence[str]) -> Any:
    """Notes about a file as a batch."""
    return pa.RecordBatch.from_pylist(
        [{"file": file, "note": note} for note in notes], _arrow(SCHEMA)
    )


def ids_of(ranks: Iterable[Ranks], before: Sequence[int]) -> I64:
    """The ids of a chunk's terms by their numbers; 0 for number 0.

    before  for each range, the number of terms in the ranges before it

    >>> ids_of([(1, 0, np.array([3], np.uint32)), (0, 0, np.array([1, 5], np.uint32))], [0, 7])
    array([ 0,  1,  5, 10])
    """
    parts = [
        numbers_in(found).astype(np.int64) + before[number]
        for number, _, found in sorted(ranks, key=lambda each: each[:2])
    ]
    return np.concatenate([np.zeros(1, np.int64), *parts])


def columns_of(numbers: Any, graphs: Any) -> list[U32]:
    """The columns s, p, o, g of a row of statements."""
    columns = list(numbers_in(numbers).reshape(3, -1))
    named = np.zeros(len(columns[0]), np.uint32) if graphs is None else numbers_in(graphs)
    return [*columns, named]


def write_rows(rows: Any, place: str) -> Any:
    """Write a table with rows of bytes, from tables of other rows; returns it."""
    rows.write.mode("overwrite").options(**_PARQUET).parquet(place)
    return rows.sparkSession.read.schema(rows.schema).parquet(place)


def write_from_rows(rows: Any, place: str) -> Any:
    """Write a table made from a table with rows of bytes; returns it."""
    with settings(rows.sparkSession, {_ROWS_AT_ONCE: str(_ROWS_OF_BATCH)}):
        return write_rows(rows, place)


# -- reading and writing rows of bytes -------------------------------------------------------------


def batches_of(rows: Iterable[Mapping[str, Any]], schema: str) -> Batches:
    """Rows in batches of a few; columns that a row does not have are null."""
    waiting: list[Mapping[str, Any]] = []
    for row in rows:
        waiting.append(row)
        if len(waiting) == _ROWS_OF_BATCH:
            yield pa.RecordBatch.from_pylist(waiting, _arrow(schema))
            waiting = []
    if waiting:
        yield pa.RecordBatch.from_pylist(waiting, _arrow(schema))


def rows_of(batches: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """The rows of batches; bytes are not copied."""
    for batch in batches:
        names = batch.schema.names
        for cells in zip(*batch.columns, strict=True):
            yield {
                name: cell.as_buffer() if pa.types.is_binary(cell.type) else cell.as_py()
                for name, cell in zip(names, cells, strict=True)
            }


def numbers_in(cell: Any) -> U32:
    """The numbers of 32 bits in some bytes."""
    return np.frombuffer(cell, np.uint32)


def spans_in(keys: Any, sizes: Any) -> tuple[U8, I64]:
    """The bytes of some keys, and their offsets."""
    offsets: NDArray[np.int64] = offsets_of(numbers_in(sizes)).astype(np.int64)
    return np.frombuffer(keys, np.uint8), offsets


def binary_array(keys: U8, offsets: I64) -> pa.Array:
    """Some keys as a binary column; copies only the offsets."""
    own = pa.py_buffer(offsets.astype(np.int32))
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, [None, own, pa.py_buffer(keys)])


_TYPES = {
    "int": pa.int32(),
    "long": pa.int64(),
    "binary": pa.binary(),
    "string": pa.string(),
}


def _arrow(schema: str) -> pa.Schema:
    fields = (field.split() for field in schema.split(", "))
    return pa.schema([(name, _TYPES[kind]) for name, kind in fields])
