"""The runs of quads: rows of a packed key and a graph, as `graphs.py` reads them."""

from __future__ import annotations

import numpy as np

from triplestore.checked_columns import Column
from triplestore.relations.layers.layer import Layer
from triplestore.relations.layers.sorted_order import Order, SortedRun
from triplestore.relations.packed_keys import I64, U8, U32, Bools, Keys, high, key_of, low, pack

SUBJECT, OBJECT, GRAPH = 0, 1, 2
"""The columns of a relation of quads."""


def order_by_graph(layer: Layer) -> Order:
    """The quads of a layer by graph and predicate."""
    assert layer.quads.by_graph is not None
    return layer.quads.by_graph


def extra_of(order: Order) -> Column:
    """The graphs of the rows of an order."""
    assert order.extra is not None
    return order.extra


def graph_places(names: Keys, graph: int) -> tuple[int, int]:
    """Where in the directory by graph the predicates of one graph stand."""
    lo = int(names.searchsorted(np.uint64(graph << 32)))
    return lo, int(names.searchsorted(np.uint64(graph << 32 | 0xFFFFFFFF), "right"))


def graphs_with(layer: Layer, name: int) -> U32:
    """The graphs in which a predicate occurs in a layer."""
    order = order_by_graph(layer)
    return high(order.names[low(order.names) == name])


def wide_part(run: SortedRun, lo: int, hi: int) -> tuple[Keys, U8]:
    """Some rows of a run as keys of three columns, and their statuses."""
    keys = run.keys[lo:hi]
    wide = key_of((high(keys), low(keys), extra_of(run.order)[lo:hi]))
    return wide, run.statuses(lo, hi)


def bounds_of_many(run: SortedRun, order: int, given: dict[int, U32]) -> tuple[I64, I64]:
    """Where in a run the rows with the given subjects, or objects, or both lie."""
    if SUBJECT in given and OBJECT in given:
        keys = pack(given[SUBJECT], given[OBJECT])
        lo = run.keys.search_many(keys, run.lo, run.hi)
        return lo, run.keys.search_many(keys, run.lo, run.hi, "right")
    return run.bounds_many(given[order])


def find_wide(run: SortedRun, keys: Keys, graphs: U32) -> tuple[I64, Bools]:
    """Where the row (key, graph) is in the run, and whether it is there."""
    lo = run.keys.search_many(keys, run.lo, run.hi)
    hi = run.keys.search_many(keys, run.lo, run.hi, "right")
    extra = extra_of(run.order)
    top = hi.copy()
    # A binary search in [lo, hi) for each row: the graphs of one triple are sorted.
    while True:
        open_ = np.flatnonzero(lo < hi)
        if len(open_) == 0:
            break
        middle = (lo[open_] + hi[open_]) >> 1
        less = extra.take(middle) < graphs[open_]
        lo[open_[less]] = middle[less] + 1
        hi[open_[~less]] = middle[~less]
    inside = np.flatnonzero(lo < top)
    found = np.zeros(len(keys), dtype=np.bool_)
    found[inside] = extra.take(lo[inside]) == graphs[inside]
    return lo, found
