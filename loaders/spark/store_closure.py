"""The closure of an existing store, computed on Spark inside of the commit that changes it.

Start reading at `close_store`. The transaction asserts the new facts; then all asserted facts are
written to tables in the work directory, in the ids of the store. Spark computes the closure, and
its differences to the store are part of the commit. So a failed job leaves the store unchanged, and
the committed facts are those that this process would have inferred.

The facts pass through this process because a store is on one machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from triplestore.errors import CorruptError, UsageError
from triplestore.loaders.spark.closure.options import Options
from triplestore.loaders.spark.closure.programs import (
    Given,
    quads_of_ontologies,
    refuse_what_is_not_on_spark,
)
from triplestore.loaders.spark.importing.parquet_parts import read_rows
from triplestore.loaders.spark.importing.write_store import Extra
from triplestore.loaders.spark.jobs.stages import Stages
from triplestore.reasoning.closed_elsewhere import ClosedElsewhere, keys_of_terms, stated_rows
from triplestore.reasoning.program.graph_scope import DEFAULT
from triplestore.reasoning.program.settings import Regimes
from triplestore.relations import EXPLICIT, ChangedRows
from triplestore.storage.metadata import (
    FILES,
    GRAPH_FILES,
    PREFIXES,
    PROGRAM,
    REGIMES,
    TUNING,
    file_count,
    hidden_count,
)
from triplestore.store.writes.writer import TransactionWriter
from triplestore.terms import Dictionary

BATCH = 1 << 20
"""Number of terms or rows written at a time."""

FOR_CLOSURE = (PROGRAM, REGIMES, TUNING, FILES, GRAPH_FILES, PREFIXES)
"""The named values of a store that a closure needs."""

_ROWS = pa.schema([("s", pa.int64()), ("p", pa.int64()), ("o", pa.int64())])
_TERMS = pa.schema([("id", pa.int64()), ("key", pa.large_binary())])


def close_store(
    stages: Stages,
    writer: TransactionWriter,
    known: Any,
    *,
    reason: Sequence[str] = (),
    rules: Any = None,
    ontology: Any = None,
    options: Options,
) -> None:
    """Infer on Spark from the asserted facts of a transaction, and add the inferred facts to it.

    known  the identity of the transaction's changes and rules: if an earlier run of the job
        computed the same closure, it is used again
    """
    kept = {name: value for name, value in writer.kept.items() if name in FOR_CLOSURE}
    if not (reason or rules is not None or PROGRAM in kept or REGIMES in kept):
        return
    before = Regimes.of(kept)
    refuse_what_is_not_on_spark(before)
    if before.scope != DEFAULT:
        raise UsageError("a closure on Spark has the default graph only, but the store has a scope")
    dictionary, tables = writer.dictionary, writer.stated_tables()
    size = dictionary.size
    graphs = quads_of_ontologies(tables, dictionary, kept)
    made: list[Any] = []

    def closed() -> Any:
        from triplestore.loaders.spark.closure import close

        place = f"{stages.place}/asserted"
        spark = stages.spark
        _write(f"{place}/triples", _ROWS, lambda: _batches_of_rows(tables))
        _write(f"{place}/terms", _TERMS, lambda: _batches_of_terms(dictionary, size))
        made.append(
            close(
                spark,
                triples=spark.read.parquet(f"{place}/triples"),
                terms=spark.read.parquet(f"{place}/terms"),
                reason=reason,
                rules=rules,
                ontology=ontology,
                work=f"{stages.place}/rounds",
                given=Given(kept, _keys_of(dictionary, graphs)),
                options=options,
                progress=stages.told,
            )
        )
        return made[0].facts.selectExpr("s", "p", "o", "CAST(status AS int) status", "count")

    def figures(frame: Any) -> dict[str, Any]:
        closure = made[0]
        extra = Extra(closure.tuples, tuple(closure.new_keys), closure.meta).to_json()
        quads = [list(map(int, row)) for row in closure.quads.select("s", "p", "o", "g").collect()]
        closure.release()
        noted = {"rows": frame.count(), "figures": closure.figures}
        return {**noted, "_extra": extra, "_quads": quads}

    inputs = (known, writer.begun_at, size, tables.total(EXPLICIT))
    _, noted = stages.table("closure", inputs, closed, figures)
    extra = Extra.from_json(noted["_extra"])
    _take(writer, size, extra, np.array(noted["_quads"], np.uint32).reshape(-1, 4), graphs)
    rows = read_rows(f"{stages.place}/closure-{noted['mark']}")
    status = rows.status if rows.status is not None else EXPLICIT
    facts = ChangedRows.of((rows.p, rows.s, rows.o), status, 0, rows.count)
    writer.take_closure(ClosedElsewhere(facts, extra.tuples, extra.meta, hidden_count(extra.meta)))


def _take(writer: TransactionWriter, size: int, extra: Extra, quads: Any, before: Any) -> None:
    """Add new terms of rules, and change the quads in graphs of ontologies."""
    ids = writer.dictionary.encode_keys(list(extra.keys))
    if not np.array_equal(ids, np.arange(size + 1, size + 1 + len(ids), dtype=np.uint32)):
        raise CorruptError("the terms of the closure and of the store differ; run the job again")
    for add, some, other in ((False, before, quads), (True, quads, before)):
        rows = _only_in(some, other)
        s, p, o, g = (np.ascontiguousarray(column) for column in rows.T)
        writer.change_rows(np.full(len(rows), add), s, p, o, g)
    files = max(file_count(writer.kept), file_count(extra.meta))
    writer.keep({FILES: str(files).encode()})
    if GRAPH_FILES in extra.meta:
        writer.keep({GRAPH_FILES: extra.meta[GRAPH_FILES]})


def _only_in(rows: Any, others: Any) -> Any:
    """The rows (s, p, o, g) that are not in `others`."""
    known = set(map(tuple, others.tolist()))
    return rows[[tuple(row) not in known for row in rows.tolist()]] if len(rows) else rows


def _keys_of(dictionary: Dictionary, quads: Any) -> list[tuple[bytes, bytes, bytes, bytes]]:
    keys = {number: dictionary.key(number) for number in np.unique(quads).tolist()}
    return [(keys[s], keys[p], keys[o], keys[g]) for s, p, o, g in quads.tolist()]


# -- asserted facts, as tables --------------------------------------------------------------------


def _batches_of_rows(tables: Any) -> Iterator[pa.RecordBatch]:
    for name, (s, o) in stated_rows(tables.with_schemes({}), EXPLICIT):
        p = np.full(len(s), name, np.int64)
        yield pa.record_batch([s.astype(np.int64), p, o.astype(np.int64)], schema=_ROWS)


def _batches_of_terms(dictionary: Dictionary, size: int) -> Iterator[pa.RecordBatch]:
    for first in range(1, size + 1, BATCH):
        ids = np.arange(first, min(first + BATCH, size + 1), dtype=np.uint32)
        data, offsets = keys_of_terms(dictionary, ids)
        buffers = [None, pa.py_buffer(offsets.astype(np.int64)), pa.py_buffer(data)]
        keys = pa.Array.from_buffers(pa.large_binary(), len(ids), buffers)
        yield pa.record_batch([pa.array(ids.astype(np.int64)), keys], schema=_TERMS)


def _write(place: str, schema: pa.Schema, batches: Callable[[], Iterator[pa.RecordBatch]]) -> None:
    """Write a table of one file, which Spark reads with one task per block."""
    files, path = pafs.FileSystem.from_uri(place)
    files.create_dir(path)
    with (
        files.open_output_stream(f"{path}/part-0.parquet") as sink,
        pq.ParquetWriter(sink, schema, write_page_checksum=True) as writer,
    ):
        waiting: list[pa.RecordBatch] = []
        for batch in batches():
            waiting.append(batch)
            if sum(map(len, waiting)) >= BATCH:
                writer.write_table(pa.Table.from_batches(waiting))
                waiting = []
        writer.write_table(pa.Table.from_batches(waiting, schema))
