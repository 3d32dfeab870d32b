"""The first stage: statements become rows of hashes, and terms are gathered task by task.

Start reading at `collected`. Its input is rows of keys (binary columns s, p, o, g; g null in the
default graph), its output one table with two kinds of rows:

    kind  columns
    0     s1 s2 p1 p2 o1 o2 g1 g2   a statement: the hashes of its terms
    1     key h1 h2 uses roles      a term of a chunk of the task, with the number of its uses

Always true: each term occurs once in each chunk of a task (a map-side distinct), so a term of half
of all statements costs no more than others. Only the rows of terms have strings; they are shuffled
once, in the next stage. Both kinds are in one table because that is one pass over the input; the
columns of the other kind are null, which takes no room in Parquet.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from triplestore.loaders.spark.jobs.workers import mapped
from triplestore.loaders.spark.thresholds import SPARK
from triplestore.terms.collector import TermCollector
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.spans import I64, U8, copy_texts, offsets_of, with_hashes

BITS = 128

STATEMENT, TERM = 0, 1
AS_SUBJECT, AS_PREDICATE, AS_OBJECT, AS_GRAPH = 1, 2, 4, 8

_OUT = 1 << 16  # rows of a batch that is returned to Spark

_ROLES = (("s", AS_SUBJECT), ("p", AS_PREDICATE), ("o", AS_OBJECT), ("g", AS_GRAPH))
_TERMS = {
    "key": pa.binary(),
    "h1": pa.int64(),
    "h2": pa.int64(),
    "uses": pa.int64(),
    "roles": pa.int32(),
}
_HASHES = {f"{role}{half}": pa.int64() for role, _ in _ROLES for half in (1, 2)}
ARROW = pa.schema({"kind": pa.int32(), **_TERMS, **_HASHES})
SCHEMA = "kind int, key binary, h1 long, h2 long, uses long, roles int, " + ", ".join(
    f"{name} long" for name in _HASHES
)


def collected(rows: Any, *, salt: int = 0, bits: int = BITS, chunk_rows: int | None = None) -> Any:
    """The table of statements as hashes, and of terms, of a DataFrame of keys."""
    return mapped(
        rows,
        partial(collect_batches, salt=salt, bits=bits, chunk_rows=chunk_rows or SPARK.chunk_rows),
        SCHEMA,
    )


def collect_batches(
    batches: Iterator[pa.RecordBatch], *, salt: int, bits: int, chunk_rows: int
) -> Iterator[pa.RecordBatch]:
    """The work of `collected` in one task."""
    chunk = _Chunk()
    for batch in batches:
        chunk.add(batch)
        if chunk.rows >= chunk_rows or chunk.text_bytes >= SPARK.chunk_bytes:
            yield from chunk.batches(salt, bits)
            chunk = _Chunk()
    yield from chunk.batches(salt, bits)


class _Chunk:
    """Statements of a task, and their distinct terms."""

    def __init__(self) -> None:
        self.rows = 0
        self._collector = TermCollector(Dictionary())
        self._columns: list[list[NDArray[np.uint32]]] = [[], [], [], []]

    @property
    def text_bytes(self) -> int:
        return self._collector.text_bytes

    def add(self, batch: pa.RecordBatch) -> None:
        """Add the statements of a batch."""
        if batch.num_rows == 0:
            return
        for numbers, (role, _) in zip(self._columns, _ROLES, strict=True):
            place = batch.schema.get_field_index(role)
            column = batch.column(place) if place >= 0 else pa.nulls(batch.num_rows, pa.binary())
            numbers.append(self._numbers(column))
        self.rows += batch.num_rows

    def _numbers(self, column: pa.Array) -> NDArray[np.uint32]:
        """The numbers of the terms of a column; 0 where it is null."""
        out = np.zeros(len(column), np.uint32)
        valid = column.is_valid().to_numpy(zero_copy_only=False)
        if valid.any():
            buf, starts, stops = key_spans(column)
            starts, stops = starts[valid], stops[valid]
            spans = with_hashes(buf, starts + 1, stops - starts - 1, buf[starts])
            out[valid] = self._collector.add(*spans)
        return out

    def batches(self, salt: int, bits: int) -> Iterator[pa.RecordBatch]:
        """The rows of this chunk: first its terms, then its statements."""
        if self.rows == 0:
            return
        buf, offsets = _keys(self._collector)
        hashes = hash_keys(buf, offsets[:-1], offsets[1:], salt=salt, bits=bits)
        columns = [np.concatenate(parts) for parts in self._columns]
        yield from self._terms(buf, offsets, hashes, columns)
        found = np.concatenate([np.zeros((1, 2), np.int64), hashes])
        for lo in range(0, self.rows, _OUT):
            made: dict[str, Any] = {}
            for (role, _), numbers in zip(_ROLES, columns, strict=True):
                part = numbers[lo : lo + _OUT]
                none = part == 0 if role == "g" else None
                for half in (0, 1):
                    made[f"{role}{half + 1}"] = pa.array(found[part, half], mask=none)
            yield _batch(STATEMENT, min(_OUT, self.rows - lo), made)

    def _terms(
        self, buf: U8, offsets: I64, hashes: I64, columns: list[NDArray[np.uint32]]
    ) -> Iterator[pa.RecordBatch]:
        count = len(hashes)
        uses, roles = np.zeros(count, np.int64), np.zeros(count, np.int32)
        for (_, bit), numbers in zip(_ROLES, columns, strict=True):
            used = np.bincount(numbers, minlength=count + 1)[1:]
            uses += used
            roles |= np.where(used > 0, np.int32(bit), np.int32(0))
        for lo in range(0, count, _OUT):
            part = slice(lo, lo + _OUT)
            own = offsets[lo : min(lo + _OUT, count) + 1]
            made = {
                "key": binary_array(buf, own),
                "h1": pa.array(np.ascontiguousarray(hashes[part, 0])),
                "h2": pa.array(np.ascontiguousarray(hashes[part, 1])),
                "uses": pa.array(uses[part]),
                "roles": pa.array(roles[part]),
            }
            yield _batch(TERM, len(own) - 1, made)


def hash_keys(buf: U8, starts: I64, stops: I64, *, salt: int = 0, bits: int = BITS) -> I64:
    """The hashes of keys as rows of two 64-bit numbers; `buf[starts[i]:stops[i]]` is key i.

    BLAKE2b, because collisions cannot be constructed; by chance, one among 2^32 terms has a
    probability of 10^-19. `number_terms` looks for collisions nevertheless. Costs about 0.7
    microseconds per distinct term of a task.

    salt  another value gives other hashes
    bits  number of bits that are kept; tests of collisions keep fewer than 128

    >>> two = hash_keys(np.frombuffer(b"aab", np.uint8), np.array([0, 1, 2]), np.array([1, 2, 3]))
    >>> bool((two[0] == two[1]).all()), bool((two[0] == two[2]).any())
    (True, False)
    """
    data = buf.tobytes()
    seed = salt.to_bytes(8, "little")
    places = zip(starts.tolist(), stops.tolist(), strict=True)
    digests = [blake2b(data[lo:hi], digest_size=16, salt=seed).digest() for lo, hi in places]
    hashes: NDArray[np.int64] = np.frombuffer(b"".join(digests), "<i8").reshape(-1, 2)
    if bits < BITS:
        low = np.int64((1 << min(bits, 63)) - 1)
        hashes = np.stack([hashes[:, 0] & low, np.zeros(len(hashes), np.int64)], axis=1)
    return hashes


def key_spans(column: pa.Array) -> tuple[U8, I64, I64]:
    """The bytes of a binary column, and the beginning and end of each value in them."""
    column = column.cast(pa.large_binary())
    _, offsets, data = column.buffers()
    places = np.frombuffer(offsets, np.int64, len(column) + 1, column.offset * 8)
    buf = np.zeros(1, np.uint8) if data is None or not data.size else np.frombuffer(data, np.uint8)
    return buf, places[:-1], places[1:]


def binary_array(buf: U8, offsets: I64) -> pa.Array:
    """The binary column of the texts between these offsets; copies only the offsets."""
    own = pa.py_buffer((offsets - offsets[0]).astype(np.int32))
    data = pa.py_buffer(buf[int(offsets[0]) : int(offsets[-1])])
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, [None, own, data])


def _keys(collector: TermCollector) -> tuple[U8, I64]:
    """The keys of all terms of a collector, one after the other, and their offsets."""
    spans = collector.spans()
    offsets = offsets_of(spans.lengths + 1).astype(np.int64)
    buf = np.empty(int(offsets[-1]), np.uint8)
    buf[offsets[:-1]] = spans.kinds
    copy_texts(spans.buf, spans.starts, spans.lengths, buf, offsets[:-1] + 1)
    return buf, offsets


def _batch(kind: int, rows: int, columns: dict[str, pa.Array]) -> pa.RecordBatch:
    """A batch of one kind; the columns of the other kind are null."""
    arrays = []
    for field in ARROW:
        if field.name == "kind":
            arrays.append(pa.array(np.full(rows, kind, np.int32)))
        elif field.name in columns:
            arrays.append(columns[field.name].cast(field.type))
        else:
            arrays.append(pa.nulls(rows, field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=ARROW)
