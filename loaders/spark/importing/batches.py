"""Terms and rows as record batches of Arrow: the output of the parsing tasks.

Start at `statement_batches`. A batch has the columns of `SCHEMA`: the keys of the terms (see
terms/term_keys.py; bulk loads number terms in the order of these bytes), `g` null for the default
graph, the number of the file, and a note, which is null for statements. A row with a note has no
terms: it is a fault, or describes a part of a file (see notes.py). Always true: a batch has at most
about `BATCH_BYTES`, or one row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from triplestore.terms.spans import Spans, copy_texts

SCHEMA = "s binary, p binary, o binary, g binary, file int, note string"
"""The schema of the batches, as text for Spark."""

BATCH_BYTES = 1 << 26

_NAMES = ["s", "p", "o", "g", "file", "note"]


def keys_array(terms: Spans) -> Any:
    """The keys of terms as one Arrow array.

    >>> from triplestore.terms.spans import spans_of_keys
    >>> keys_array(spans_of_keys([b"\\x01http://a", b"\\x03"])).to_pylist()
    [b'\\x01http://a', b'\\x03']
    """
    count = len(terms.starts)
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(terms.lengths + 1, out=offsets[1:])
    data = np.empty(int(offsets[-1]), np.uint8)
    data[offsets[:-1]] = terms.kinds
    copy_texts(terms.buf, terms.starts, terms.lengths, data, offsets[:-1] + 1)
    return pa.Array.from_buffers(
        pa.large_binary(), count, [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    )


def statement_batches(
    terms: Spans, rows: NDArray[np.uint32], file: int, default: bytes | None
) -> Iterator[Any]:
    """Rows of term numbers (from 1; s, p, o, g) as batches; `default` is the key for g = 0."""
    if len(rows) == 0:
        return
    keys = keys_array(terms)
    if default is not None:
        keys = pa.concat_arrays([keys, pa.array([default], pa.large_binary())])
    sizes = np.zeros(len(keys) + 1, np.int64)
    sizes[1:] = np.diff(np.frombuffer(keys.buffers()[1], np.int64, len(keys) + 1))
    ends = np.cumsum(sizes[rows].sum(axis=1))
    start = 0
    while start < len(rows):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(ends.searchsorted(before + BATCH_BYTES, "right")))
        yield _batch(keys, rows[start:stop], file, default is not None)
        start = stop


def _batch(keys: Any, rows: NDArray[np.uint32], file: int, has_default: bool) -> Any:
    count = len(rows)
    columns = [_taken(keys, rows[:, column] - np.uint32(1)) for column in range(3)]
    graphs = rows[:, 3].astype(np.int64) - 1
    if has_default:
        graphs[graphs < 0] = len(keys) - 1
    if (graphs < 0).all():
        columns.append(pa.nulls(count, pa.binary()))
    else:
        columns.append(_taken(keys, graphs, graphs < 0))
    columns.append(pa.array(np.full(count, file, np.int32)))
    columns.append(pa.nulls(count, pa.string()))
    return pa.RecordBatch.from_arrays(columns, names=_NAMES)


def _taken(keys: Any, places: NDArray[Any], absent: NDArray[np.bool_] | None = None) -> Any:
    return keys.take(pa.array(places, mask=absent)).cast(pa.binary())


def note_batch(file: int, notes: Sequence[str]) -> Any:
    """Notes about a file as a batch."""
    count = len(notes)
    nothing = pa.nulls(count, pa.binary())
    columns = [nothing, nothing, nothing, nothing]
    columns += [pa.array(np.full(count, file, np.int32)), pa.array(notes, pa.string())]
    return pa.RecordBatch.from_arrays(columns, names=_NAMES)
