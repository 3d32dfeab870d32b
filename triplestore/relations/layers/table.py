"""One table of a layer: the same rows in their orders, with totals and statistics by relation.

Start reading at `Table`. Facts and quads are tables; they differ in the extra column (the graph),
and in a third order, by graph, that only quads have. `build` takes rows with their statuses from a
commit, in any order; bulk loads and merges put tables together from orders that are already sorted.

Always true: `forward` and `backward` have the same directory; `explicit` and `inferred` say
how many more rows of a relation have that status with this layer on top of the ones below it than
without it (the *nets*: their sums over a stack are exact totals); `firsts` and `seconds` are the
numbers of distinct ids in the rows of this layer.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from triplestore.checked_columns import Column
from triplestore.data_classes import data_class
from triplestore.relations.changes import ChangedRows
from triplestore.relations.layers.sort_rows import count_distinct
from triplestore.relations.layers.sorted_order import Order, empty_order, make_order, sorting_order
from triplestore.relations.packed_keys import I64, U8, U64, Bools, frozen, pack
from triplestore.relations.status import EXPLICIT, INFERRED


class Nets:
    """How many more rows of each name are explicit, and inferred, than without this layer."""

    __slots__ = ("_total", "explicit", "inferred", "names")

    def __init__(self, names: NDArray[np.generic], explicit: I64, inferred: I64) -> None:
        self.names = names
        self.explicit = explicit
        self.inferred = inferred
        self._total: tuple[int, int] | None = None

    def of(self, place: int) -> tuple[int, int]:
        """The nets of the name at this place."""
        return int(self.explicit[place]), int(self.inferred[place])

    def total(self) -> tuple[int, int]:
        """The sums over all names."""
        total = self._total  # read in every commit
        if total is None:
            total = self._total = int(self.explicit.sum()), int(self.inferred.sum())
        return total


class DistinctCounts:
    """The number of distinct ids in front, for each relation of two orders: counted on demand. The
    small layers that the next commit replaces never need it."""

    __slots__ = ("_counts", "_orders")

    def __init__(self, forward: Order, backward: Order) -> None:
        self._orders: list[Order | None] = [forward, backward]
        self._counts: list[I64 | None] = [None, None]

    @classmethod
    def known(cls, firsts: I64, seconds: I64) -> DistinctCounts:
        """Counts that are known already."""
        counts = cls.__new__(cls)
        counts._orders = [None, None]
        counts._counts = [frozen(firsts), frozen(seconds)]
        return counts

    def of(self, column: int) -> I64:
        """The numbers of distinct first (0) or second (1) ids."""
        counts, order = self._counts[column], self._orders[column]
        if counts is None:
            assert order is not None
            counts = frozen(count_distinct(order.keys.all(), order.starts))
            self._counts[column] = counts
        return counts


@data_class
class Table:
    """Rows (name | first, second[, extra]) in two orders, and by graph where there are graphs."""

    forward: Order
    backward: Order
    nets: Nets
    distinct: DistinctCounts
    by_graph: Order | None = None
    graph_nets: Nets | None = None

    def __len__(self) -> int:
        return len(self.forward)

    @property
    def firsts(self) -> I64:
        """For each relation the number of distinct first ids in this layer."""
        return self.distinct.of(0)

    @property
    def seconds(self) -> I64:
        """For each relation the number of distinct second ids in this layer."""
        return self.distinct.of(1)

    @property
    def wide(self) -> bool:
        """True for quads."""
        return self.by_graph is not None

    @property
    def nbytes(self) -> int:
        """Size of all columns."""
        directory = len(self.nets.names)
        size = 8 * 4 * directory  # nets and distinct counts
        size += self.forward.nbytes + self.backward.nbytes
        if self.by_graph is not None and self.graph_nets is not None:
            nets = self.graph_nets
            size += self.by_graph.nbytes + nets.explicit.nbytes + nets.inferred.nbytes
        return size

    @classmethod
    def build(cls, rows: ChangedRows) -> Table:
        """The table of some changed facts (p, s, o) or quads (p, s, o, g)."""
        wide = len(rows.columns) == 4
        if len(rows) == 0:
            return EMPTY_QUADS if wide else EMPTY_FACTS
        if len(rows) == 1 and not wide:
            return _one_fact(rows)
        names, first, second, *rest = rows.columns
        extra = rest[0] if rest else None
        status, uniform = split_status(rows.status)
        forward_keys, backward_keys = pack(first, second), pack(second, first)
        forward = _sorted_order(names, forward_keys, extra, status, uniform, rows.count)
        backward = _sorted_order(names, backward_keys, extra, status, uniform)
        nets = _nets_of(names, forward.names, rows.status, rows.previous)
        by_graph = graph_nets = None
        if extra is not None:
            graph_names = pack(extra, names)
            by_graph = _sorted_order(graph_names, forward_keys, None, status, uniform)
            graph_nets = _nets_of(graph_names, by_graph.names, rows.status, rows.previous)
        return cls.of(forward, backward, nets, by_graph, graph_nets)

    @classmethod
    def of(
        cls,
        forward: Order,
        backward: Order,
        nets: Nets,
        by_graph: Order | None = None,
        graph_nets: Nets | None = None,
    ) -> Table:
        """The table of these orders; distinct ids are counted when they are asked for."""
        distinct = DistinctCounts(forward, backward)
        return cls(forward, backward, nets, distinct, by_graph, graph_nets)

    def place(self, name: int) -> int:
        """Where in the directory this relation stands, or -1."""
        return self.forward.place(name)

    def by_first(self) -> tuple[Order, I64]:
        """The rows by first id, and how many first ids each relation has."""
        return self.forward, self.firsts

    def by_second(self) -> tuple[Order, I64]:
        """The rows by second id, and how many second ids each relation has."""
        return self.backward, self.seconds

    def validate(self) -> None:
        """Check what is always true (reads everything)."""
        self.forward.validate()
        self.backward.validate()
        assert np.array_equal(self.forward.names, self.backward.names)
        assert np.array_equal(self.forward.starts, self.backward.starts)
        if self.by_graph is not None:
            self.by_graph.validate()
            assert len(self.by_graph) == len(self)


def split_status(status: U8) -> tuple[U8 | None, int]:
    """(None, the status) if all rows have the same status, else (status column, EXPLICIT)."""
    if len(status) == 0:
        return None, EXPLICIT
    first = int(status[0])
    if (status == first).all():
        return None, first
    return status, EXPLICIT


def count_nets(order: Order) -> Nets:
    """The nets of the rows of a lowest layer: the numbers of rows by status."""
    names, starts = order.names, order.starts
    if order.status is None:
        sizes = np.diff(starts)
        zeros = np.zeros(len(sizes), dtype=np.int64)
        explicit = sizes if order.uniform == EXPLICIT else zeros
        inferred = sizes if order.uniform == INFERRED else zeros
        return Nets(names, frozen(explicit), frozen(inferred))
    status = order.status.all()
    return Nets(
        names,
        frozen(sums(status == EXPLICIT, starts)),
        frozen(sums(status == INFERRED, starts)),
    )


def add_nets(parts: list[Nets], names: NDArray[np.generic]) -> Nets:
    """The nets of several layers together, for these names (names without rows are left out)."""
    explicit = np.zeros(len(names), dtype=np.int64)
    inferred = np.zeros(len(names), dtype=np.int64)
    for part in parts:
        if len(part.names) == 0 or len(names) == 0:
            continue
        place = np.minimum(names.searchsorted(part.names), len(names) - 1)
        known = names[place] == part.names
        explicit[place[known]] += part.explicit[known]
        inferred[place[known]] += part.inferred[known]
    return Nets(names, frozen(explicit), frozen(inferred))


def sums(flags: Bools, starts: I64) -> I64:
    """For each range of rows how many of the flags are set."""
    if len(starts) == 1:
        return np.zeros(0, dtype=np.int64)
    return np.add.reduceat(flags, starts[:-1], dtype=np.int64)


def _one_fact(rows: ChangedRows) -> Table:
    """The table of one fact, as in most commits."""
    names, first, second = rows.columns
    uniform, before = int(rows.status[0]), int(rows.previous[0])
    explicit = int(uniform == EXPLICIT) - int(before == EXPLICIT)
    inferred = int(uniform == INFERRED) - int(before == INFERRED)
    nets = Nets(names, frozen(np.array([explicit])), frozen(np.array([inferred])))
    count = None if rows.count is None else Column(rows.count)
    forward = Order(names, _ONE, Column(pack(first, second)), None, None, uniform, count)
    backward = Order(names, _ONE, Column(pack(second, first)), None, None, uniform)
    return Table.of(forward, backward, nets)


_ONE = frozen(np.array([0, 1], dtype=np.int64))


def _sorted_order(
    names: NDArray[np.generic],
    keys: U64,
    extra: NDArray[np.uint32] | None,
    status: U8 | None,
    uniform: int,
    count: NDArray[np.uint32] | None = None,
) -> Order:
    if len(keys) == 1:
        order: slice | I64 = slice(None)
    else:
        order = sorting_order(names, keys, extra)
    return make_order(
        names[order],
        keys[order],
        None if extra is None else extra[order],
        None if status is None else status[order],
        uniform,
        None if count is None else count[order],
    )


def _nets_of(
    of_rows: NDArray[np.generic], names: NDArray[np.generic], status: U8, previous: U8
) -> Nets:
    if len(names) == 1:
        explicit = np.array([_more(status, previous, EXPLICIT)], dtype=np.int64)
        inferred = np.array([_more(status, previous, INFERRED)], dtype=np.int64)
    else:
        place = names.searchsorted(of_rows)
        explicit = _more_by_place(place, len(names), status, previous, EXPLICIT)
        inferred = _more_by_place(place, len(names), status, previous, INFERRED)
    return Nets(names, frozen(explicit), frozen(inferred))


def _more(status: U8, previous: U8, value: int) -> int:
    return int(np.count_nonzero(status == value)) - int(np.count_nonzero(previous == value))


def _more_by_place(place: I64, size: int, status: U8, previous: U8, value: int) -> I64:
    now = np.bincount(place[status == value], minlength=size)
    before = np.bincount(place[previous == value], minlength=size)
    return now - before


def _empty(wide: bool) -> Table:
    zeros = np.zeros(0, dtype=np.int64)
    forward, backward = empty_order(wide), empty_order(wide)
    nets = Nets(forward.names, zeros, zeros)
    distinct = DistinctCounts.known(zeros, zeros)
    if not wide:
        return Table(forward, backward, nets, distinct)
    by_graph = empty_order(name_type=np.uint64)
    graph_nets = Nets(by_graph.names, zeros, zeros)
    return Table(forward, backward, nets, distinct, by_graph, graph_nets)


EMPTY_FACTS = _empty(wide=False)
EMPTY_QUADS = _empty(wide=True)
