"""Named graphs: quads of one predicate with their graphs, and the triples of one graph.

Start reading at `QuadRelation` (a relation of three columns: subject, object, graph) and
`GraphView` (one relation of two columns per predicate, for one graph). Quads have three orders: by
subject and by object within a predicate, with the graph as third column, and by (graph, predicate).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from triplestore.relations.layers.layer import Layer
from triplestore.relations.layers.quad_runs import (
    GRAPH,
    OBJECT,
    SUBJECT,
    bounds_of_many,
    extra_of,
    find_wide,
    graph_places,
    graphs_with,
    order_by_graph,
    wide_part,
)
from triplestore.relations.layers.sorted_order import (
    SortedRun,
    filter_keys,
    make_order,
    newest,
    ranges,
    windows,
)
from triplestore.relations.packed_keys import (
    I64,
    NO_IDS,
    U8,
    U32,
    U64,
    Columns,
    columns_of,
    distinct,
    high,
    key_of,
    low,
    pack,
    swap,
)
from triplestore.relations.relation import BLOCK, Answering
from triplestore.relations.status import EXPLICIT, HOLDS, INFERRED
from triplestore.relations.views.plain import PlainRelation


class QuadRelation(Answering):
    """The quads of one predicate: rows (subject, object, graph)."""

    __slots__ = ("_layers", "_runs", "explicit", "inferred", "name")

    arity = 3

    def __init__(self, name: int, layers: Sequence[Layer]) -> None:
        self.name = name
        forward, backward, self._layers = [], [], []
        self.explicit = self.inferred = 0
        for layer in layers:
            place = layer.quads.place(name)
            if place < 0:
                continue
            self._layers.append(layer)
            forward.append(layer.quads.forward.run(place))
            backward.append(layer.quads.backward.run(place))
            explicit, inferred = layer.quads.nets.of(place)
            self.explicit += explicit
            self.inferred += inferred
        self._runs: tuple[list[SortedRun], list[SortedRun]] = forward, backward

    def __repr__(self) -> str:
        return f"<quads of {self.name}: {len(self)} rows in {len(self._layers)} runs>"

    def graphs(self) -> U32:
        """The graphs in which the predicate occurs (or did, before rows were removed)."""
        found = [graphs_with(ly, self.name) for ly in self._layers]
        return distinct(np.sort(np.concatenate(found))) if found else NO_IDS

    def in_graph(self, graph: int) -> PlainRelation:
        """The triples of this predicate in one graph."""
        return GraphView(self._layers, graph).relation(self.name)

    # -- scans ----------------------------------------------------------------------------------

    def scan(
        self,
        where: int = HOLDS,
        *,
        order: int = SUBJECT,
        first: int | None = None,
        block_rows: int = BLOCK,
    ) -> Iterator[Columns]:
        """All rows in blocks of columns; see `Relation.scan`."""
        if order == GRAPH:
            graphs = self.graphs().tolist() if first is None else [first]
            for graph in graphs:
                for s, o in self.in_graph(graph).scan(where, block_rows=block_rows):
                    yield s, o, np.full(len(s), graph, dtype=np.uint32)
            return
        pieces = []
        for run in self._runs[order]:
            lo, hi = (run.lo, run.hi) if first is None else run.bounds(first)
            if lo < hi:
                pieces.append((run, lo, hi))
        for parts in windows(pieces, block_rows):
            keys = filter_keys(*newest([wide_part(*part) for part in parts]), where)
            if len(keys):
                one, two, graph = columns_of(keys, 3)
                yield (one, two, graph) if order == SUBJECT else (two, one, graph)

    def distinct(self, column: int, where: int = HOLDS) -> U32:
        """The ids that occur in this column, increasing."""
        heads = [distinct(block[column]) for block in self.scan(where, order=column)]
        return distinct(np.sort(np.concatenate(heads))) if heads else NO_IDS

    # -- batches --------------------------------------------------------------------------------

    def probe(
        self, columns: Sequence[int], values: Sequence[U32], where: int = HOLDS
    ) -> tuple[I64, Columns]:
        """The rows with these values; see `Relation.probe`."""
        return self._joined_blocks(columns, values, where)

    def _probe_group(
        self, columns: Sequence[int], values: Sequence[U32], where: int
    ) -> tuple[I64, Columns]:
        given = dict(zip(columns, values, strict=True))
        if set(given) == {GRAPH}:
            return self._probe_graphs(given[GRAPH], where)
        return self._probe_ids(given, where)

    def _probe_ids(self, given: dict[int, U32], where: int) -> tuple[I64, Columns]:
        """With a subject or an object given: by that order, then filtered by what else is given."""
        order = SUBJECT if SUBJECT in given else OBJECT
        parts = []
        for run in self._runs[order]:
            lo, hi = bounds_of_many(run, order, given)
            rows = ranges(lo, hi - lo)
            if len(rows) == 0:
                continue
            index = np.repeat(np.arange(len(lo), dtype=np.uint32), hi - lo)
            second = low(run.keys.take(rows))
            graph = extra_of(run.order).take(rows)
            status = run.statuses_at(rows)
            if GRAPH in given:
                same = graph == given[GRAPH][index]
                index, second, graph = index[same], second[same], graph[same]
                status = status[same]
            parts.append((key_of([index, second, graph]), status))
        free_of = {1 - order, GRAPH} - given.keys()
        if not parts:
            return np.zeros(0, dtype=np.int64), (NO_IDS,) * len(free_of)
        index, second, graph = columns_of(filter_keys(*newest(parts), where), 3)
        found = {1 - order: second, GRAPH: graph}
        return index.astype(np.int64), tuple(found[place] for place in sorted(free_of))

    def _probe_graphs(self, graphs: U32, where: int) -> tuple[I64, Columns]:
        index, subjects, objects = [], [], []
        for number, graph in enumerate(graphs.tolist()):
            keys = self.in_graph(graph).keys(where=where)
            index.append(np.full(len(keys), number, dtype=np.int64))
            subjects.append(high(keys))
            objects.append(low(keys))
        if not index:
            return np.zeros(0, dtype=np.int64), (NO_IDS, NO_IDS)
        return np.concatenate(index), (np.concatenate(subjects), np.concatenate(objects))

    def fanout(self, columns: Sequence[int], values: Sequence[U32]) -> I64:
        """For each i how many rows a probe looks at."""
        given = dict(zip(columns, values, strict=True))
        if set(given) == {GRAPH}:
            sizes = [self.in_graph(graph).stored_rows for graph in given[GRAPH].tolist()]
            return np.array(sizes, dtype=np.int64)
        order = SUBJECT if SUBJECT in given else OBJECT
        total = np.zeros(len(values[0]), dtype=np.int64)
        for run in self._runs[order]:
            lo, hi = bounds_of_many(run, order, given)
            total += hi - lo
        return total

    def status_of(self, rows: Columns) -> U8:
        """The statuses of these rows; 0 for those that do not hold."""
        return self.status_of_keys(pack(rows[0], rows[1]), rows[2])

    def status_of_keys(self, keys: U64, graphs: U32) -> U8:
        """The statuses of rows given as packed keys (subject, object) and graphs."""
        status = np.zeros(len(keys), dtype=np.uint8)
        open_ = np.arange(len(keys))
        for run in reversed(self._runs[SUBJECT]):
            places, found = find_wide(run, keys[open_], graphs[open_])
            status[open_[found]] = run.statuses_at(places[found])
            open_ = open_[~found]
            if len(open_) == 0:
                break
        return status

    def distinct_estimate(self, column: int) -> int:
        """About how many ids occur in this column; exact for graphs."""
        if column == GRAPH:
            known = len(self.graphs())
        else:
            tables = [layer.quads for layer in self._layers]
            counts = [quads.firsts if column == SUBJECT else quads.seconds for quads in tables]
            places = [quads.place(self.name) for quads in tables]
            known = sum(int(c[p]) for c, p in zip(counts, places, strict=True))
        return min(known, len(self))


class GraphView:
    """The triples of one named graph.

    >>> from triplestore.relations import ChangedRows, Changes, Layer, Tables
    >>> quads = ChangedRows.of(([9, 9], [1, 2], [5, 6], [70, 71]))
    >>> graph = Tables([Layer.build(Changes(quads=quads))]).graph(70)
    >>> len(graph), graph.names().tolist(), graph.relation(9).by_first(1).tolist()
    (1, [9], [5])
    """

    __slots__ = ("_layers", "graph")

    def __init__(self, layers: Sequence[Layer], graph: int) -> None:
        self.graph = graph
        self._layers = [layer for layer in layers if len(layer.quads)]

    def __len__(self) -> int:
        return self.count()

    def count(self, where: int = HOLDS) -> int:
        """How many triples of this graph hold with one of these statuses: exact."""
        total = 0
        for layer in self._layers:
            nets = layer.quads.graph_nets
            assert nets is not None
            lo, hi = graph_places(nets.names, self.graph)
            total += int(nets.explicit[lo:hi].sum()) if where & EXPLICIT else 0
            total += int(nets.inferred[lo:hi].sum()) if where & INFERRED else 0
        return total

    def names(self) -> U32:
        """The predicates of this graph's triples, increasing."""
        found = []
        for layer in self._layers:
            names = order_by_graph(layer).names
            lo, hi = graph_places(names, self.graph)
            found.append(low(names[lo:hi]))
        names = distinct(np.sort(np.concatenate(found))) if found else NO_IDS
        held = [len(self.relation(name)) > 0 for name in names.tolist()]
        return names[np.array(held, dtype=np.bool_)]

    def relation(self, name: int) -> PlainRelation:
        """The triples of this graph with this predicate; empty if there are none.

        There is no order by object within a graph: `by_second` and backward scans sort the
        relation's rows when they are first asked for.
        """
        wanted = self.graph << 32 | name
        forward = []
        explicit = inferred = 0
        for layer in self._layers:
            order, nets = order_by_graph(layer), layer.quads.graph_nets
            assert nets is not None
            place = order.place(wanted)
            if place < 0:
                continue
            forward.append(order.run(place))
            nets_here = nets.of(place)
            explicit, inferred = explicit + nets_here[0], inferred + nets_here[1]
        quads = QuadRelation(name, self._layers)
        return GraphRelation(quads, self.graph, tuple(forward), explicit, inferred)


class GraphRelation(PlainRelation):
    """The triples of one predicate in one graph.

    Quads have no order by object within a graph. A few look-ups by object go through the order by
    object within the predicate; scans and large batches sort the relation's rows once.
    """

    __slots__ = ("_graph", "_quads")

    def __init__(
        self,
        quads: QuadRelation,
        graph: int,
        forward: tuple[SortedRun, ...],
        explicit: int,
        inferred: int,
    ) -> None:
        super().__init__(quads.name, forward, (), explicit, inferred)
        self._quads = quads
        self._graph = graph

    def runs(self, order: int) -> tuple[SortedRun, ...]:
        """The runs of one order, oldest first."""
        if order and self._runs[0] and not self._runs[1]:
            backward = tuple(_reversed_run(run) for run in self._runs[0])
            self._runs = self._runs[0], backward
        return self._runs[order]

    def by_second(self, second: int, where: int = HOLDS) -> U32:
        """The first ids of the rows with this second id, increasing."""
        row = np.array([second], dtype=np.uint32), np.array([self._graph], dtype=np.uint32)
        _, (subjects,) = self._quads.probe((OBJECT, GRAPH), row, where)
        return subjects

    def probe_blocks(
        self,
        columns: Sequence[int],
        values: Sequence[U32],
        where: int = HOLDS,
        block_rows: int = BLOCK,
    ) -> Iterator[tuple[I64, Columns]]:
        """`probe` in pieces of about `block_rows`."""
        if tuple(columns) == (1,) and not self._runs[1] and 16 * len(values[0]) < len(self):
            graphs = np.full(len(values[0]), self._graph, dtype=np.uint32)
            wanted = (values[0], graphs)
            return self._quads.probe_blocks((OBJECT, GRAPH), wanted, where, block_rows)
        return super().probe_blocks(columns, values, where, block_rows)


def _reversed_run(run: SortedRun) -> SortedRun:
    keys = swap(run.keys[run.lo : run.hi])
    sort = np.argsort(keys)
    status = None if run.order.status is None else run.statuses(run.lo, run.hi)[sort]
    names = np.zeros(len(keys), dtype=np.uint32)
    return make_order(names, keys[sort], None, status, run.order.uniform).run(0)
