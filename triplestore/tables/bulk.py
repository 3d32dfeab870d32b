"""Bulk layers: many rows of one status at once, in any order, with repetitions.

Start reading at `bulk_layer`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from triplestore.tables.changes import GRAPHS, ChangedRows
from triplestore.tables.layer import Layer
from triplestore.tables.rows import NO_STATUS, U8, U32, key_of, last_of_equals
from triplestore.tables.table import EMPTY_FACTS, EMPTY_QUADS, Table
from triplestore.tables.tuples import TupleRun

if TYPE_CHECKING:
    from triplestore.tables.tables import Tables


def bulk_layer(
    p: U32,
    s: U32,
    o: U32,
    g: U32 | None,
    status: int,
    *,
    below: Tables | None,
    graphs: U32 | None,
    threads: int,
) -> Layer:
    """The layer of these rows; see `Layer.bulk`."""
    quads, tuples = EMPTY_QUADS, {}
    named = np.zeros(0, dtype=np.uint32) if graphs is None else np.unique(graphs)
    if g is not None:
        in_graph = g != 0
        rows = _distinct_rows((p[in_graph], s[in_graph], o[in_graph], g[in_graph]))
        named = np.union1d(named, rows[3])
        quads = Table.build(_changed(rows, status, below))
        p, s, o = p[~in_graph], s[~in_graph], o[~in_graph]
    facts = EMPTY_FACTS
    if len(p):
        facts = Table.build(_changed(_distinct_rows((p, s, o)), status, below))
    if len(named):
        before = below.tuples(*GRAPHS).status_of((named,)) if below is not None else NO_STATUS
        new = named[before == 0] if below is not None else named
        if len(new):
            tuples[GRAPHS] = TupleRun.build(ChangedRows.of((new,)))
    return Layer(facts, quads, tuples).prepare()


def _distinct_rows(columns: tuple[U32, ...]) -> tuple[U32, ...]:
    order = np.lexsort(columns[::-1])
    keys = key_of(columns)[order]
    order = order[last_of_equals(keys)]
    return tuple(column[order] for column in columns)


def _changed(rows: tuple[U32, ...], status: int, below: Tables | None) -> ChangedRows:
    if below is None:
        return ChangedRows.of(rows, status)
    before: U8 = below.status_of_quads(*rows) if len(rows) == 4 else below.status_of_facts(*rows)
    changed = ChangedRows.of(rows, status, before)
    return changed.take(before != status)
