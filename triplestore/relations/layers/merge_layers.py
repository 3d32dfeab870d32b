"""Merges neighbouring layers of a stack into one equivalent layer.

Start reading at `merge_layers`. The newest entry for a row wins; at the bottom of the stack deleted
rows are dropped. Nets add up, so totals stay exact. Large orders are merged by kernels in pieces of
some milliseconds that let other threads run. Small ones, as every commit makes them, are merged by
one kernel if numba is loaded already, and otherwise sorted by numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplestore.checked_columns import Column
from triplestore.kernels.jit import is_loaded
from triplestore.kernels.rows.merge import combine, merge_by_plan, plan_merge
from triplestore.relations.layers.layer import Layer
from triplestore.relations.layers.sorted_order import Order, make_order
from triplestore.relations.layers.table import (
    EMPTY_FACTS,
    EMPTY_QUADS,
    Nets,
    Table,
    add_nets,
    split_status,
)
from triplestore.relations.layers.wide_rows import TupleRun
from triplestore.relations.packed_keys import I64, NO_IDS, NO_STATUS, U8, U32, Bools, frozen
from triplestore.relations.thresholds import RELATIONS

Pause = Callable[[], object]
"""Called between pieces of work; what it raises ends the merge."""


def merge_layers(layers: Sequence[Layer], bottom: bool, *, pause: Pause = lambda: None) -> Layer:
    """One layer for these neighbours, oldest first; `bottom` if the first has none below it.

    `pause` is called every few milliseconds of a large merge, and may raise to give it up.
    """
    if len(layers) == 1 and not bottom:
        return layers[0]
    facts = _merge_tables([layer.facts for layer in layers], EMPTY_FACTS, bottom, pause)
    quads = _merge_tables([layer.quads for layer in layers], EMPTY_QUADS, bottom, pause)
    tuples = {}
    for name in dict.fromkeys(name for layer in layers for name in layer.tuples):
        run = _merge_tuples([ly.tuples[name] for ly in layers if name in ly.tuples], bottom)
        if len(run):
            tuples[name] = run
    return Layer(facts, quads, tuples).prepare()


def _merge_tables(tables: list[Table], empty: Table, bottom: bool, pause: Pause) -> Table:
    filled = [table for table in tables if len(table)]
    if not filled:
        return empty
    if len(filled) == 1 and not (bottom and _may_have_removed(filled[0])):
        return filled[0]
    small = (
        len(filled) == 2 and not empty.wide and sum(map(len, filled)) <= RELATIONS.merged_at_once
    )
    if small and is_loaded():
        return _combined(filled[0], filled[1], bottom)
    forward = _merge_orders([table.forward for table in filled], bottom, pause)
    backward = _merge_orders([table.backward for table in filled], bottom, pause)
    nets = add_nets([table.nets for table in filled], forward.names)
    if not empty.wide:
        return Table.of(forward, backward, nets)
    by_graph = _merge_orders([t.by_graph for t in filled if t.by_graph is not None], bottom, pause)
    graph_nets = [table.graph_nets for table in filled if table.graph_nets is not None]
    return Table.of(forward, backward, nets, by_graph, add_nets(graph_nets, by_graph.names))


def _may_have_removed(table: Table) -> bool:
    return table.forward.status is not None or table.forward.uniform == 0


def _merge_orders(orders: list[Order], bottom: bool, pause: Pause) -> Order:
    """The two neighbours that are smallest together become one, until one is left."""
    while len(orders) > 1:
        sizes = [len(one) + len(two) for one, two in pairwise(orders)]
        at = sizes.index(min(sizes))
        drop = bottom and len(orders) == 2
        merge = _merge_small if sizes[at] < RELATIONS.kernel_rows else _merge_large
        orders[at : at + 2] = [merge(orders[at], orders[at + 1], drop, pause)]
    only = orders[0]
    if bottom and (only.statuses(0, len(only)) == 0).any():
        # There was only one order, so its deleted rows were not dropped yet.
        merge = _merge_small if len(only) < RELATIONS.kernel_rows else _merge_large
        only = merge(only, _no_rows_like(only), True, pause)
    return only


def _no_rows_like(order: Order) -> Order:
    extra = None if order.extra is None else Column.of(NO_IDS)
    empty = np.zeros(0, dtype=np.uint64)
    return Order(order.names[:0], np.zeros(1, np.int64), Column.of(empty), extra)


# -- small --------------------------------------------------------------------------------------


def _combined(old: Table, new: Table, drop: bool) -> Table:
    """Two small tables of facts as one."""
    forward, nets = _combined_order(old.forward, new.forward, old.nets, new.nets, drop)
    backward, _ = _combined_order(old.backward, new.backward, old.nets, new.nets, drop)
    return Table.of(forward, backward, nets)


def _combined_order(
    old: Order, new: Order, old_nets: Nets, new_nets: Nets, drop: bool
) -> tuple[Order, Nets]:
    most, rows = len(old.names) + len(new.names), len(old) + len(new)
    counted = old.count is not None or new.count is not None
    names, starts = np.empty(most, np.uint32), np.empty(most + 1, np.int64)
    keys, status = np.empty(rows, np.uint64), np.empty(rows, np.uint8)
    count = np.empty(rows if counted else 0, np.uint32)
    explicit, inferred = np.empty(most, np.int64), np.empty(most, np.int64)
    made = combine(
        *_arrays_to_combine(old, old_nets),
        *_arrays_to_combine(new, new_nets),
        drop,
        names,
        starts,
        keys,
        status,
        count,
        explicit,
        inferred,
    )
    left = int(starts[made])
    names = names[:made]
    mixed, uniform = split_status(status[:left])
    order = Order(
        names,
        starts[: made + 1],
        Column(keys[:left]),
        None,
        None if mixed is None else Column(mixed),
        uniform,
        Column(count[:left]) if counted else None,
    )
    return order, Nets(names, frozen(explicit[:made]), frozen(inferred[:made]))


def _arrays_to_combine(order: Order, nets: Nets) -> tuple[Any, I64, Any, U8, U32, I64, I64]:
    return (
        order.names,
        order.starts,
        order.keys.all(),
        order.statuses(0, len(order)),
        NO_IDS if order.count is None else order.count.all(),
        nets.explicit,
        nets.inferred,
    )


def _merge_small(old: Order, new: Order, drop: bool, pause: Pause) -> Order:
    """All rows one after the other, sorted; the last of equal rows is the newest."""
    both = old, new
    names = np.concatenate([np.repeat(order.names, order.sizes()) for order in both])
    keys = np.concatenate([order.keys.all() for order in both])
    status = np.concatenate([order.statuses(0, len(order)) for order in both])
    columns = [keys, names]
    if old.extra is not None and new.extra is not None:
        columns.insert(0, np.concatenate((old.extra.all(), new.extra.all())))
    sort = np.lexsort(columns)
    kept = sort[_last_of_equal_rows([column[sort] for column in columns])]
    if drop:
        kept = kept[status[kept] != 0]
    count = None
    if old.count is not None or new.count is not None:
        count = np.concatenate([order.counts(0, len(order)) for order in both])[kept]
    mixed, uniform = split_status(status[kept])
    extra = columns[0][kept] if len(columns) == 3 else None
    return make_order(names[kept], keys[kept], extra, mixed, uniform, count)


def _last_of_equal_rows(columns: list[NDArray[Any]]) -> Bools:
    last = np.zeros(len(columns[0]), dtype=np.bool_)
    last[-1:] = True
    for column in columns:
        last[:-1] |= column[1:] != column[:-1]
    return last


# -- large --------------------------------------------------------------------------------------


def _merge_large(old: Order, new: Order, drop: bool, pause: Pause) -> Order:
    """By a plan that is made and followed piece by piece."""
    names = np.union1d(old.names, new.names)
    merge = _Merge(old, new, drop, len(names))
    state = np.zeros(4, dtype=np.int64)
    plan = np.empty(min(RELATIONS.piece_rows, len(old) + len(new)), dtype=np.uint8)
    old_starts, new_starts = _starts_of(old, names), _starts_of(new, names)
    while state[0] < len(names):
        i, j = int(state[1]), int(state[2])
        plan_merge(
            *merge.old_arrays, old_starts, *merge.new_arrays, new_starts, plan, merge.sizes, state
        )
        merge.follow(plan[: state[3]], slice(i, int(state[1])), slice(j, int(state[2])))
        pause()
    return merge.result(names)


def _starts_of(order: Order, names: NDArray[Any]) -> I64:
    """The directory of an order for these names; the order may lack some of them."""
    sizes = np.zeros(len(names) + 1, dtype=np.int64)
    sizes[1 + names.searchsorted(order.names)] = np.diff(order.starts)
    return np.cumsum(sizes)


class _Merge:
    """The columns of a merge in progress."""

    def __init__(self, old: Order, new: Order, drop: bool, names: int) -> None:
        self.old, self.new = old, new
        size = len(old) + len(new)
        self.sizes = np.zeros(names, dtype=np.int64)
        self.rows = 0
        # Pages of these that are never reached cost nothing.
        self.keys = np.empty(size, dtype=np.uint64)
        self.extra = None if old.extra is None else np.empty(size, dtype=np.uint32)
        uniform = old.status is None and new.status is None and old.uniform == new.uniform
        self.status = None if uniform else np.empty(size, dtype=np.uint8)
        counted = old.count is not None or new.count is not None
        self.count = np.empty(size, dtype=np.uint32) if counted else None
        self.old_arrays = _arrays(old, drop)
        self.new_arrays = _arrays(new, drop)

    def follow(self, plan: U8, old: slice, new: slice) -> None:
        """Copy the rows of one piece of the plan, column by column."""
        rows = self.rows
        self.rows += int(
            merge_by_plan(plan, self.old.keys[old], self.new.keys[new], self.keys[rows:])
        )
        if self.extra is not None and self.old.extra is not None and self.new.extra is not None:
            merge_by_plan(plan, self.old.extra[old], self.new.extra[new], self.extra[rows:])
        if self.status is not None:
            before = self.old.statuses(old.start, old.stop)
            after = self.new.statuses(new.start, new.stop)
            merge_by_plan(plan, before, after, self.status[rows:])
        if self.count is not None:
            before_count = self.old.counts(old.start, old.stop)
            after_count = self.new.counts(new.start, new.stop)
            merge_by_plan(plan, before_count, after_count, self.count[rows:])

    def result(self, names: NDArray[Any]) -> Order:
        """The merged order; names without rows are left out."""
        kept = self.sizes > 0
        starts = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(self.sizes[kept])))
        status, uniform = None, self.old.uniform
        if self.status is not None:
            status, uniform = split_status(self.status[: self.rows])
        return Order(
            names[kept],
            starts,
            Column.of(self.keys[: self.rows]),
            None if self.extra is None else Column.of(self.extra[: self.rows]),
            None if status is None else Column.of(status),
            uniform,
            None if self.count is None else Column.of(self.count[: self.rows]),
        )


def _arrays(order: Order, drop: bool) -> tuple[NDArray[np.uint64], U32, U8]:
    """Keys, extra column (or nothing) and statuses (or nothing, if no row is dropped)."""
    may_drop = drop and (order.status is not None or order.uniform == 0)
    return (
        order.keys.all(),
        NO_IDS if order.extra is None else order.extra.all(),
        order.statuses(0, len(order)) if may_drop else NO_STATUS,
    )


# -- tuples -------------------------------------------------------------------------------------


def _merge_tuples(runs: list[TupleRun], bottom: bool) -> TupleRun:
    keys, positions = _newest_positions(runs)
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


def _newest_positions(runs: list[TupleRun]) -> tuple[NDArray[Any], I64]:
    """The keys of the union, and where in the concatenation of the runs the newest of each is."""
    keys = np.concatenate([run.keys for run in runs])
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    last = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=last[:-1])
    return keys[last], order[last]
