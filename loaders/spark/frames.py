"""The quads of a store, and the solutions of queries, as DataFrames.

Start at `read_triples` and `query_frame`. The store is on a path that all nodes see. Tasks read it
in parallel, as of one commit: each reads some predicates, or every n-th block of rows of a large
one. If the store is changed meanwhile, later tasks fail instead of mixing two states.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession

from triplestore.errors import StorageError, UsageError
from triplestore.loaders.spark.jobs.check_workers import check_workers
from triplestore.loaders.spark.jobs.workers import mapped
from triplestore.sparql.results.solutions import Solutions
from triplestore.store import Store
from triplestore.store.arguments import facts_mask
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.term_keys import IRI, STRING, TRIPLE, term_of, to_ntriples

SCHEMA = "s string, p string, o string, g string"
_BLOCK = 1 << 16
_TASK_ROWS = 1 << 21

# A share of a store: a predicate (by its key), and every `step`-th of its blocks from `first` on.
_Share = tuple[bytes, int, int]


def read_triples(
    spark: SparkSession,
    store: str | os.PathLike[str],
    *,
    facts: str = "all",
    task_rows: int = _TASK_ROWS,
) -> DataFrame:
    """The quads of a store as terms in N-Triples: columns s, p, o and g, null in the default graph.

    store : a directory that all nodes see under this name
    facts : "all", "explicit" (asserted) or "inferred"
    task_rows : approximate number of rows that one task reads

    Blank nodes have their labels in the store; `SourceOptions(keep_labels=True)` reads them back as
    the same nodes.
    """
    mask = facts_mask(facts)
    check_workers(spark)
    path = os.path.abspath(os.fspath(store))  # noqa: PTH100 - Path would follow links
    with Store.read_only(path) as opened:
        view = opened._view()
        commit = opened.commit
        totals: dict[int, int] = {}
        for name in view.tables.names().tolist():
            totals[name] = view.tables.relation_total(name, mask)
        for name in view.tables.quad_names().tolist():
            totals[name] = totals.get(name, 0) + view.tables.quads(name).count(mask)
        sizes = [(view.dictionary.key(name), totals[name]) for name in totals]
        # Other conclusions of rules are not RDF triples, and are omitted.
        tasks = _tasks([size for size in sizes if size[0][0] == IRI], task_rows)
    numbers = spark.range(0, len(tasks), 1, max(1, len(tasks)))
    return mapped(
        numbers, partial(_read, path, commit, facts, min(_BLOCK, task_rows), tasks), SCHEMA
    )


def query_frame(
    spark: SparkSession, store: Store | str | os.PathLike[str], query: str, *, typed: bool = True
) -> DataFrame:
    """The solutions of a SELECT query as a DataFrame with a column for each variable.

    The query runs here, in this process, and its solutions go to Spark through Arrow. A column of
    integers, doubles, booleans or times of one datatype has that type; others hold the texts of
    IRIs and literals. With `typed=False` all columns hold terms in N-Triples.
    """
    if not isinstance(store, Store):
        with Store.read_only(store) as opened:
            return query_frame(spark, opened, query, typed=typed)
    found = store.query(query)
    if not isinstance(found, Solutions):
        raise UsageError("query_frame takes SELECT queries; use read_triples for a store's quads")
    return _frame_of(spark, found.to_arrow(typed=typed))


def ntriples_array(dictionary: Dictionary, ids: NDArray[np.uint32]) -> Any:
    """The terms of ids as N-Triples, in an array of Arrow; null for 0.

    >>> from triplestore.terms.dictionary import Dictionary
    >>> ids = Dictionary()
    >>> some = ids.encode_keys([b"\\x01http://a", b'\\x05a"b"^^<http://t>', b'\\x04x"@en'])
    >>> ntriples_array(ids, some).to_pylist()
    ['<http://a>', '"a\\\\"b"^^<http://t>', '"x"@en']
    """
    data, offsets, kinds = dictionary.text(ids)
    buffers = [None, pa.py_buffer(np.ascontiguousarray(offsets, np.int64)), pa.py_buffer(data)]
    texts = pa.Array.from_buffers(pa.large_string(), len(ids), buffers)
    before, behind = _BEFORE.take(pa.array(kinds)), _BEHIND.take(pa.array(kinds))
    written = pc.binary_join_element_wise(before, texts, behind, _NOTHING)
    special = _need_escapes(texts, kinds)
    if len(special):
        values = [to_ntriples(dictionary.key(int(ids[i]))).decode() for i in special]
        mask = np.zeros(len(ids), bool)
        mask[special] = True
        written = pc.replace_with_mask(written, pa.array(mask), pa.array(values, pa.large_string()))
    return pc.if_else(pa.array(kinds == 0), None, written)


# By kind: nothing, IRI, blank node, string, with a language, typed, triple term.
_BEFORE = pa.array(["", "<", "_:", '"', '"', '"', ""], pa.large_string())
_BEHIND = pa.array(["", ">", "", '"', "", "", ""], pa.large_string())
_NOTHING = pa.scalar("", pa.large_string())
_IN_STRING = '[\\x00-\\x1f"\\\\\\x7f\ufffe\uffff]'
_IN_LITERAL = '[\\x00-\\x1f\\\\\\x7f\ufffe\uffff]|".*"'  # the last quote ends the lexical form
_IN_IRI = '[\\x00-\\x20<>"{}|^`\\\\]'


def _need_escapes(texts: Any, kinds: NDArray[np.uint8]) -> NDArray[np.int64]:
    """The terms with characters that N-Triples escapes."""
    found = []
    for low, high, pattern in (
        (IRI, IRI, _IN_IRI),
        (STRING, STRING, _IN_STRING),
        (STRING + 1, TRIPLE - 1, _IN_LITERAL),
    ):
        places = np.flatnonzero((kinds >= low) & (kinds <= high))
        if len(places):
            bad = pc.match_substring_regex(texts.take(pa.array(places)), f"(?s){pattern}")
            found.append(places[bad.to_numpy(zero_copy_only=False)])
    return np.sort(np.concatenate(found)) if found else np.zeros(0, np.int64)


def _tasks(sizes: Sequence[tuple[bytes, int]], task_rows: int) -> list[tuple[_Share, ...]]:
    """Shares of predicates with these numbers of rows, in tasks of about `task_rows`."""
    tasks: list[tuple[_Share, ...]] = []
    small: list[_Share] = []
    rows = 0
    for key, count in sizes:
        if count > task_rows:
            step = -(-count // task_rows)
            tasks += [((key, first, step),) for first in range(step)]
            continue
        if rows + count > task_rows and small:
            tasks.append(tuple(small))
            small, rows = [], 0
        small.append((key, 0, 1))
        rows += count
    return [*tasks, tuple(small)] if small else tasks


def _read(
    path: str,
    commit: int,
    facts: str,
    block_rows: int,
    tasks: Sequence[tuple[_Share, ...]],
    batches: Iterator[Any],
) -> Iterator[Any]:
    with Store.read_only(path) as store:
        if store.commit != commit:
            raise StorageError(
                f"{path} was changed while Spark was reading it (from commit {commit} to "
                f"{store.commit}): read it again, or read a backup"
            )
        dictionary = store._view().dictionary
        for batch in batches:
            for task in batch.column(0).to_pylist():
                for key, first, step in tasks[task]:
                    blocks = store.rows_for_pattern(
                        predicate=term_of(key), facts=facts, block_rows=block_rows
                    )
                    for index, rows in enumerate(blocks):
                        if index % step == first:
                            yield _batch(dictionary, rows)


def _batch(dictionary: Dictionary, rows: Sequence[NDArray[np.uint32]]) -> Any:
    ids, places = np.unique(np.concatenate(rows), return_inverse=True)
    terms = ntriples_array(dictionary, ids)
    columns = [
        terms.take(pa.array(part)).cast(pa.string()) for part in np.split(places.ravel(), len(rows))
    ]
    return pa.RecordBatch.from_arrays(columns, names=["s", "p", "o", "g"])


def _frame_of(spark: SparkSession, table: Any) -> DataFrame:
    if spark.version >= "4":
        return spark.createDataFrame(table)
    return spark.createDataFrame(table.to_pandas())  # before 4.0, Arrow only through pandas
