"""Merging layers: several neighbours of a stack become one that says the same.

Start reading at `merge_layers`. The newest word on a row wins; at the bottom of the stack, where
there is nothing left to remove, removed rows vanish. Nets add up, so totals stay exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplestore.tables.layer import Layer
from triplestore.tables.order import Order, make_order
from triplestore.tables.rows import I64, Bools
from triplestore.tables.table import EMPTY_FACTS, EMPTY_QUADS, Table, add_nets, split_status
from triplestore.tables.tuples import TupleRun


def merge_layers(layers: Sequence[Layer], bottom: bool) -> Layer:
    """One layer for these neighbours, oldest first; `bottom` if the first has none below it."""
    if len(layers) == 1 and not bottom:
        return layers[0]
    facts = _merge_tables([layer.facts for layer in layers], EMPTY_FACTS, bottom)
    quads = _merge_tables([layer.quads for layer in layers], EMPTY_QUADS, bottom)
    tuples = {}
    for name in dict.fromkeys(name for layer in layers for name in layer.tuples):
        run = _merge_tuples([ly.tuples[name] for ly in layers if name in ly.tuples], bottom)
        if len(run):
            tuples[name] = run
    return Layer(facts, quads, tuples).prepare()


def _merge_tables(tables: list[Table], empty: Table, bottom: bool) -> Table:
    filled = [table for table in tables if len(table)]
    if not filled:
        return empty
    if len(filled) == 1 and not (bottom and _may_have_removed(filled[0])):
        return filled[0]
    forward = _merge_orders([table.forward for table in filled], bottom)
    backward = _merge_orders([table.backward for table in filled], bottom)
    nets = add_nets([table.nets for table in filled], forward.names)
    by_graph, graph_nets = None, None
    if empty.wide:
        graph_orders = [table.by_graph for table in filled if table.by_graph is not None]
        by_graph = _merge_orders(graph_orders, bottom)
        old_nets = [table.graph_nets for table in filled if table.graph_nets is not None]
        graph_nets = add_nets(old_nets, by_graph.names)
    return Table.of(forward, backward, nets, by_graph, graph_nets)


def _may_have_removed(table: Table) -> bool:
    return table.forward.status is not None or table.forward.uniform == 0


def _merge_orders(orders: list[Order], bottom: bool) -> Order:
    """All rows one after the other, sorted; the last of equal rows is the newest."""
    names = np.concatenate([np.repeat(o.names, np.diff(o.starts)) for o in orders])
    keys = np.concatenate([order.keys.all() for order in orders])
    status = np.concatenate([order.statuses(0, len(order)) for order in orders])
    extra = _concat([None if order.extra is None else order.extra.all() for order in orders])
    count = None
    if any(order.count is not None for order in orders):
        count = np.concatenate([order.counts(0, len(order)) for order in orders])
    columns = (keys, names) if extra is None else (extra, keys, names)
    sort = np.lexsort(columns)
    kept = sort[_last_of_equal_rows([column[sort] for column in columns])]
    if bottom:
        kept = kept[status[kept] != 0]
    mixed, uniform = split_status(status[kept])
    return make_order(
        names[kept],
        keys[kept],
        None if extra is None else extra[kept],
        mixed,
        uniform,
        None if count is None else count[kept],
    )


def _last_of_equal_rows(columns: list[NDArray[Any]]) -> Bools:
    last = np.zeros(len(columns[0]), dtype=np.bool_)
    last[-1:] = True
    for column in columns:
        last[:-1] |= column[1:] != column[:-1]
    return last


def _concat(arrays: list[NDArray[Any] | None]) -> NDArray[Any] | None:
    filled = [array for array in arrays if array is not None]
    return np.concatenate(filled) if filled else None


def _merge_tuples(runs: list[TupleRun], bottom: bool) -> TupleRun:
    keys, positions = newest_positions(runs)
    status = np.concatenate([run.statuses() for run in runs])[positions]
    count = None
    if any(run.count is not None for run in runs):
        count = np.concatenate([run.counts() for run in runs])[positions]
    if bottom:
        held = status != 0
        keys, status = keys[held], status[held]
        count = None if count is None else count[held]
    explicit = sum(run.explicit for run in runs)
    inferred = sum(run.inferred for run in runs)
    return TupleRun.of(runs[0].arity, keys, status, count, explicit, inferred)


def newest_positions(runs: list[TupleRun]) -> tuple[NDArray[Any], I64]:
    """The keys of the union, and where in the concatenation of the runs the newest of each is."""
    keys = np.concatenate([run.keys for run in runs])
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    last = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=last[:-1])
    return keys[last], order[last]
