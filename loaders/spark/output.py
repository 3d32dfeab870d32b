"""From terms and rows to a store: what the driver (or `pull`) assembles, in memory.

Start reading at `write_store`. One segment of terms and one layer of rows, made by the very
functions of the local loader (`TermSegment.of_arrays`, `Layer.bulk`), from columns that Spark has
numbered: so the files are those of a local load, byte by byte, whatever Spark's partitions were,
and statistics, characteristic sets and value columns need no second implementation. Costs some 40
bytes a row and twice the texts of the terms in memory; DESIGN-output.md says where that ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from triplestore.loaders.spark.parts import Keys, Rows

from triplestore.storage.files import Files
from triplestore.storage.making import make_store
from triplestore.tables import ChangedRows, Changes, Layer
from triplestore.tables.changes import TupleName
from triplestore.tables.rows import U32
from triplestore.terms import TermSegment
from triplestore.terms.dictionary import Dictionary


@dataclass(frozen=True, slots=True)
class Extra:
    """What a closure has beside rows of facts.

    tuples  rows of relations of users and helpers: columns, statuses and counts
    keys    terms that only rules name: they are numbered behind all others
    meta    named values of the store: the rules in force and how they are applied
    """

    tuples: Mapping[TupleName, ChangedRows] = field(default_factory=dict)
    keys: Sequence[bytes] = ()
    meta: Mapping[str, bytes] = field(default_factory=dict)


NOTHING_MORE = Extra()


def write_store(
    target: Path,
    keys: Keys,
    rows: Rows,
    meta: Mapping[str, bytes],
    *,
    extra: Extra = NOTHING_MORE,
    files: Files | None = None,
) -> None:
    """Write a new store with these terms (ids from 1 on) and rows.

    >>> import tempfile
    >>> from triplestore import Store
    >>> keys = Keys(np.frombuffer(b"http://ahttp://p", np.uint8), np.array([0, 8, 16], np.uint64),
    ...     np.array([1, 1], np.uint8))
    >>> one, two = np.array([1], np.uint32), np.array([2], np.uint32)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_store(Path(folder) / "db", keys, Rows(one, two, one, None), {})
    ...     print(*Store(Path(folder) / "db"))
    <http://a> <http://p> <http://a>
    """
    segments = segments_of(keys, extra.keys)
    del keys
    layers = [layer_of(rows, extra.tuples)]
    del rows
    make_store(target, segments, layers, {**meta, **extra.meta}, files=files)


def segments_of(keys: Keys, more: Sequence[bytes]) -> list[TermSegment]:
    """The segments of all terms; those that only rules name have one of their own."""
    # Loaded now, so that it does not depend on the process which of two layouts slots have.
    import triplestore.kernels.terms  # noqa: F401

    segments = []
    if len(keys.kinds):
        hashes = keys.spans().hashes
        segments.append(TermSegment.of_arrays(1, *keys, hashes))
    if more:
        first = len(keys.kinds) + 1
        known = Dictionary(segments)
        older = [segment.values for segment in segments]
        segments.append(TermSegment.from_keys(first, more, older, known))
    return segments


def layer_of(rows: Rows, tuples: Mapping[TupleName, ChangedRows]) -> Layer:
    """The layer of all rows."""
    if rows.status is None and not tuples:
        return Layer.bulk(rows.p, rows.s, rows.o, rows.g)
    status = np.ones(len(rows), np.uint8) if rows.status is None else rows.status
    facts = ChangedRows.of((rows.p, rows.s, rows.o), status, 0, rows.count)
    quads = ChangedRows.of(((), (), (), ()))
    graphs = ChangedRows.of(((),))
    if rows.g is not None:
        named = rows.g != 0
        columns = [_only(column, named) for column in (rows.p, rows.s, rows.o, rows.g)]
        quads = ChangedRows.of(columns)
        graphs = ChangedRows.of((np.unique(columns[3]),))
        facts = facts.take(~named)
    return Layer.build(Changes(facts, quads, graphs, tuples)).prepare()


def _only(column: U32, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> U32:
    picked: U32 = column[chosen]
    return picked
