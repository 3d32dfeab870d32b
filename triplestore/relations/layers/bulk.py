"""Bulk layers: many rows of one status at once, in any order, with repetitions.

Start reading at `bulk_layer`. Facts: count the names, move each name's rows together as packed
keys, sort each name's range, drop repetitions; swap the keys and sort again for the other order.
Quads the same with the graph beside the key; their order by graph is a stable regrouping of the
first order. Large inputs are worked on by threads, small ones without compiled kernels.

Cost: 24 bytes a row beside the input at the peak (of which 16 are the result), 30 ns a row and
thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor

import numpy as np

from triplestore.checked_columns import Column
from triplestore.kernels.parallel import thread_count
from triplestore.relations.changes import GRAPHS, ChangedRows, TupleName
from triplestore.relations.layers.layer import Layer
from triplestore.relations.layers.sort_rows import (
    GroupedRows,
    count_distinct,
    group_rows,
    sort_rows,
    swapped,
    turned_rows,
    wide_rows,
)
from triplestore.relations.layers.sorted_order import Order
from triplestore.relations.layers.table import (
    EMPTY_FACTS,
    EMPTY_QUADS,
    DistinctCounts,
    Nets,
    Table,
    count_nets,
    sums,
)
from triplestore.relations.layers.wide_rows import TupleRun
from triplestore.relations.packed_keys import I64, NO_IDS, SHIFT, U8, U32, U64
from triplestore.relations.status import EXPLICIT, INFERRED
from triplestore.relations.tables import Tables


def bulk_layer(
    p: U32,
    s: U32,
    o: U32,
    g: U32 | None = None,
    status: int = EXPLICIT,
    *,
    below: Tables | None = None,
    graphs: U32 | None = None,
    threads: int | None = None,
) -> Layer:
    """A layer of many rows of one status, given in any order and with repetitions.

    Rows with g = 0 (all, without `g`) are facts of the default graph, the others quads. Their
    graphs exist from then on, and so do those in `graphs`. If the store has rows already, pass them
    as `below`: rows that have this status there are left out, and the totals stay exact.
    """
    if len(p) and not p.all():
        raise AssertionError("id 0 stands for no term, and cannot be a predicate")
    named = NO_IDS if graphs is None else np.unique(graphs)
    threads = threads or thread_count()
    with ThreadPoolExecutor(threads) as pool:
        quads = EMPTY_QUADS
        if g is not None and g.any():
            in_graph = g != 0
            rows = wide_rows(p[in_graph], s[in_graph], o[in_graph], g[in_graph])
            assert rows.extra is not None
            named = np.union1d(named, rows.extra)
            quads = _quad_table(rows, status, below)
            p, s, o = p[~in_graph], s[~in_graph], o[~in_graph]
        facts = EMPTY_FACTS
        if len(p):
            rows = sort_rows(group_rows(p, s, o, pool, threads), pool)
            facts = _fact_table(rows, status, below, pool)
        tuples = _graphs_run(named, below)
        return Layer(facts, quads, tuples)


def bulk_of_relations(
    relations: Mapping[int, Sequence[tuple[U32, U32 | int]]],
    status: int = EXPLICIT,
    *,
    below: Tables | None = None,
    threads: int | None = None,
) -> Layer:
    """The layer of facts that are given by predicate, as pieces (subjects, objects or one object).

    The same as `bulk_layer` of all rows together, without the columns of all being written first.
    """
    given = {name: pieces for name, pieces in sorted(relations.items()) if any(map(_size, pieces))}
    if 0 in given:
        raise AssertionError("id 0 stands for no term, and cannot be a predicate")
    if not given:
        return Layer()
    sizes = [sum(map(_size, pieces)) for pieces in given.values()]
    starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    names = np.array(list(given), dtype=np.uint32)
    keys = np.empty(int(starts[-1]), dtype=np.uint64)
    with ThreadPoolExecutor(threads or thread_count()) as pool:
        bounds = zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
        jobs = [
            pool.submit(_pack_pieces, pieces, keys[lo:hi])
            for pieces, (lo, hi) in zip(given.values(), bounds, strict=True)
        ]
        for job in jobs:
            job.result()
        rows = sort_rows(GroupedRows(names, starts, keys, None, np.zeros(0, dtype=np.int64)), pool)
        return Layer(_fact_table(rows, status, below, pool))


def _size(piece: tuple[U32, U32 | int]) -> int:
    return len(piece[0])


def _pack_pieces(pieces: Sequence[tuple[U32, U32 | int]], out: U64) -> None:
    """Write the rows of some pieces as keys, one after the other."""
    at = 0
    for first, second in pieces:
        part = out[at : at + len(first)]
        part[:] = first
        part <<= SHIFT
        part |= np.uint64(second) if isinstance(second, int) else second
        at += len(first)


def _fact_table(rows: GroupedRows, status: int, below: Tables | None, pool: Executor) -> Table:
    before = None
    if below is not None and below.total():
        before = _statuses_below(rows, below)
        rows, before = _without(rows, before, status)
    if len(rows.keys) == 0:
        return EMPTY_FACTS
    backward = turned_rows(rows, pool)
    forward_order, backward_order = _order(rows, status), _order(backward, status)
    nets = _nets(forward_order, before)
    distinct = DistinctCounts.known(rows.firsts, backward.firsts)
    return Table(forward_order, backward_order, nets, distinct)


def _quad_table(rows: GroupedRows, status: int, below: Tables | None) -> Table:
    assert rows.extra is not None
    before = None
    if below is not None and below.quad_total():
        before = _statuses_below(rows, below)
        rows, before = _without(rows, before, status)
        if len(rows.keys) == 0:
            return EMPTY_QUADS
    backward = wide_rows(rows.row_names(), *swapped(rows).columns())
    graph_rows, positions = rows.by_graph()
    forward_order, backward_order = _order(rows, status), _order(backward, status)
    by_graph = _order(graph_rows, status)
    return Table(
        forward_order,
        backward_order,
        _nets(forward_order, before),
        DistinctCounts.known(rows.firsts, backward.firsts),
        by_graph,
        _nets(by_graph, None if before is None else before[positions]),
    )


def _order(rows: GroupedRows, status: int) -> Order:
    extra = None if rows.extra is None else Column.of(rows.extra)
    return Order(rows.names, rows.starts, Column.of(rows.keys), extra, uniform=status)


def _nets(order: Order, before: U8 | None) -> Nets:
    nets = count_nets(order)
    if before is None:
        return nets
    return Nets(
        order.names,
        nets.explicit - sums(before == EXPLICIT, order.starts),
        nets.inferred - sums(before == INFERRED, order.starts),
    )


def _statuses_below(rows: GroupedRows, below: Tables) -> U8:
    """The statuses that these rows have in the layers below."""
    before = np.zeros(len(rows.keys), dtype=np.uint8)
    bounds = zip(
        rows.names.tolist(), rows.starts[:-1].tolist(), rows.starts[1:].tolist(), strict=True
    )
    for name, lo, hi in bounds:
        keys = rows.keys[lo:hi]
        if rows.extra is None:
            before[lo:hi] = below.stored_relation(name).status_of_keys(keys)
        else:
            before[lo:hi] = below.quads(name).status_of_keys(keys, rows.extra[lo:hi])
    return before


def _without(rows: GroupedRows, before: U8, status: int) -> tuple[GroupedRows, U8]:
    """The rows that do not have this status already."""
    changed = before != status
    if changed.all():
        return rows, before
    sizes = sums(changed, rows.starts)
    kept = sizes > 0
    starts = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes[kept])))
    keys: U64 = rows.keys[changed]
    extra = None if rows.extra is None else rows.extra[changed]
    names = rows.names[kept]
    firsts: I64 = count_distinct(keys, starts)
    return GroupedRows(names, starts, keys, extra, firsts), before[changed]


def _graphs_run(named: U32, below: Tables | None) -> dict[TupleName, TupleRun]:
    """The named graphs that did not exist before."""
    if below is not None and len(named):
        named = named[~below.tuples(*GRAPHS).contains((named,))]
    return {GRAPHS: TupleRun.build(ChangedRows.of((named,)))} if len(named) else {}
