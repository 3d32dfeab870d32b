"""Compaction: one layer without removed rows, one term segment without unused terms.

Start reading at `compact`. Terms are renumbered in the order of their old ids. Since that keeps the
order of ids, every sorted column stays sorted: renumbering is one pass over each column. The price:
ids change, so the values in `meta` must not contain ids.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from triplestore.checked_columns import Column
from triplestore.relations import GRAPHS, Layer, Tables, merge_layers
from triplestore.relations.layers.sorted_order import Order
from triplestore.relations.layers.table import Nets, Table
from triplestore.relations.layers.wide_rows import TupleRun
from triplestore.relations.packed_keys import high, key_of, low, pack
from triplestore.storage.record import restored
from triplestore.storage.state import State
from triplestore.terms import Dictionary, TermSegment
from triplestore.terms.triples.complete_parts import complete_parts
from triplestore.terms.triples.part_columns import PartColumns

_PIECE = 1 << 20  # keys renumbered at a time


def compact(state: State) -> State:
    """The same facts in one layer and one term segment, with a new dictionary."""
    layers = state.tables.layers
    layer = merge_layers(layers, bottom=True) if layers else Layer()
    if state.term_count == 0:
        tables = restored(_tables_of(layer), Dictionary(), state.meta)
        return replace(state, dictionary=Dictionary(), tables=tables)
    segment = state.dictionary.segment_of(1, state.term_count)
    triples = state.dictionary.know_parts(segment)
    used = _with_parts(_used_ids(layer, state.term_count), triples)
    used[list(state.tables.closed)] = True  # some of them have no rows
    if not used[1:].all():
        new_ids = np.cumsum(used, dtype=np.uint32)
        segment = _kept_terms(segment, used)
        segment.triples = triples.among(used).renumbered(new_ids)
        layer = _renumber_layer(layer, new_ids)
    dictionary = Dictionary([segment] if segment.count else [])
    if not triples.is_whole:  # an older version wrote these terms
        segment.triples = None
        complete_parts(dictionary, segment)
        dictionary = Dictionary([dictionary.segment_of(1, dictionary.size)])
    tables = restored(_tables_of(layer), dictionary, state.meta)
    return State(state.commit, dictionary, dictionary.size, tables, state.meta)


def _tables_of(layer: Layer) -> Tables:
    return Tables([layer] if layer.rows else [], sealed=True)


def _used_ids(layer: Layer, term_count: int) -> NDArray[np.bool_]:
    """Which ids occur in any row; id 0 counts as unused."""
    used = np.zeros(term_count + 1, dtype=np.bool_)
    for table in (layer.facts, layer.quads):
        used[table.forward.names] = True
        for keys in _pieces(table.forward.keys):
            used[high(keys)] = used[low(keys)] = True
        if table.forward.extra is not None:
            used[table.forward.extra.all()] = True
    for (name, _), run in layer.tuples.items():
        used[name] = True
        for column in run.columns():
            used[column] = True
    used[0] = False
    return used


def _with_parts(used: NDArray[np.bool_], triples: PartColumns) -> NDArray[np.bool_]:
    """The used ids with the parts of used triple terms, and the parts of those."""
    ids, *parts = triples.columns()
    before = -1
    while before != (before := int(np.count_nonzero(used))):
        for column in parts:
            used[column[used[ids]]] = True
        used[0] = False
    return used


def _kept_terms(segment: TermSegment, used: NDArray[np.bool_]) -> TermSegment:
    spans = segment.all_spans()
    kept = used[1:]
    return TermSegment.build(
        1, spans.buf, spans.starts[kept], spans.lengths[kept], spans.kinds[kept], spans.hashes[kept]
    )


def _renumber_layer(layer: Layer, new_ids: NDArray[np.uint32]) -> Layer:
    """A layer with other ids; `new_ids` grows with the id, so that no order changes."""
    tuples = {}
    for (name, arity), run in layer.tuples.items():
        keys = key_of(tuple(np.ascontiguousarray(new_ids[column]) for column in run.columns()))
        counts = None if run.count is None else run.counts()
        renamed = (name if (name, arity) == GRAPHS else int(new_ids[name]), arity)
        tuples[renamed] = TupleRun.of(
            arity, keys, run.statuses(), counts, run.explicit, run.inferred
        )
    facts = _renumber_table(layer.facts, new_ids)
    return Layer(facts, _renumber_table(layer.quads, new_ids), tuples).prepare()


def _renumber_table(table: Table, new_ids: NDArray[np.uint32]) -> Table:
    if len(table) == 0:
        return table
    forward = _renumber_order(table.forward, new_ids)
    graph_nets, by_graph = table.graph_nets, table.by_graph
    if by_graph is not None and graph_nets is not None:
        by_graph = _renumber_order(by_graph, new_ids)
        graph_nets = Nets(by_graph.names, graph_nets.explicit, graph_nets.inferred)
    return replace(
        table,
        forward=forward,
        backward=_renumber_order(table.backward, new_ids),
        nets=Nets(forward.names, table.nets.explicit, table.nets.inferred),
        by_graph=by_graph,
        graph_nets=graph_nets,
    )


def _renumber_order(order: Order, new_ids: NDArray[np.uint32]) -> Order:
    pairs_of_names = order.names.dtype == np.uint64
    names = _renumber_pairs(order.names, new_ids) if pairs_of_names else new_ids[order.names]
    keys = np.empty(len(order.keys), dtype=np.uint64)
    place = 0
    for piece in _pieces(order.keys):
        keys[place : place + len(piece)] = _renumber_pairs(piece, new_ids)
        place += len(piece)
    extra = order.extra
    if extra is not None:
        extra = Column.of(new_ids[extra.all()])
    return Order(
        names, order.starts, Column.of(keys), extra, order.status, order.uniform, order.count
    )


def _renumber_pairs(pairs: NDArray[np.uint64], new_ids: NDArray[np.uint32]) -> NDArray[np.uint64]:
    return pack(new_ids[high(pairs)], new_ids[low(pairs)])


def _pieces(keys: Column) -> list[NDArray[np.uint64]]:
    return [keys[start : start + _PIECE] for start in range(0, len(keys), _PIECE)]
