"""Layers: some rows and their statuses, frozen, in all the orders in which rows are looked up.

Start reading at `Layer`. Stores are stacks of layers, oldest to newest, in which the newest entry
for a row wins. A commit makes one small layer (`Layer.build`), a bulk load one large one
(`bulk_layer`), and merging one of several (`merge_layers`). A layer comes from arrays in
memory or from the sections of a file; nothing else in the package can tell the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from numpy.typing import NDArray

from triplestore.checked_columns import Column
from triplestore.relations.changes import GRAPHS, Changes, TupleName
from triplestore.relations.layers.characteristic_sets import CharacteristicSets
from triplestore.relations.layers.sorted_order import Order
from triplestore.relations.layers.table import EMPTY_FACTS, EMPTY_QUADS, DistinctCounts, Nets, Table
from triplestore.relations.layers.wide_rows import TupleRun
from triplestore.relations.status import EXPLICIT
from triplestore.relations.thresholds import RELATIONS

Get = Callable[[str], Column]


class Layer:
    """Facts, quads and tuples of one layer, and the characteristic sets of their terms.

    `rows` is the number of its rows, removed ones included.
    """

    __slots__ = ("_objects", "_subjects", "facts", "quads", "rows", "tuples")

    def __init__(
        self,
        facts: Table = EMPTY_FACTS,
        quads: Table = EMPTY_QUADS,
        tuples: Mapping[TupleName, TupleRun] | None = None,
        subjects: CharacteristicSets | None = None,
        objects: CharacteristicSets | None = None,
    ) -> None:
        self.facts = facts
        self.quads = quads
        self.tuples: Mapping[TupleName, TupleRun] = {} if tuples is None else tuples
        self.rows = len(facts) + len(quads) + sum(len(run) for run in self.tuples.values())
        self._subjects = subjects
        self._objects = objects

    @classmethod
    def build(cls, changes: Changes) -> Layer:
        """The layer of one commit's changes."""
        tuples = {name: TupleRun.build(rows) for name, rows in changes.tuples.items() if len(rows)}
        if len(changes.graphs):
            tuples[GRAPHS] = TupleRun.build(changes.graphs)
        return cls(Table.build(changes.facts), Table.build(changes.quads), tuples)

    @property
    def nbytes(self) -> int:
        """Size of all columns, statistics and characteristic sets."""
        size = self.facts.nbytes + self.quads.nbytes
        size += sum(run.nbytes for run in self.tuples.values())
        size += self._subjects.nbytes if self._subjects is not None else 0
        return size + (self._objects.nbytes if self._objects is not None else 0)

    @property
    def subjects(self) -> CharacteristicSets:
        """The predicates with which a term occurs as subject, in facts and quads of this layer."""
        if self._subjects is None:
            self._subjects = CharacteristicSets.build(
                [self.facts.by_first(), self.quads.by_first()]
            )
        return self._subjects

    @property
    def objects(self) -> CharacteristicSets:
        """The predicates with which a term occurs as object, in facts and quads of this layer."""
        if self._objects is None:
            self._objects = CharacteristicSets.build(
                [self.facts.by_second(), self.quads.by_second()]
            )
        return self._objects

    def prepare(self) -> Layer:
        """The layer itself; if it is large, all that is otherwise computed on demand is there."""
        if self.rows >= RELATIONS.kept_sets_rows:
            for table in (self.facts, self.quads):
                _ = table.firsts, table.seconds
            self._prepare_sets()
        return self

    def _prepare_sets(self) -> None:
        """Both roles at the same time, unless that would take much memory."""
        if (
            self._subjects is None
            and self._objects is None
            and self.rows <= RELATIONS.both_sets_rows
        ):
            with ThreadPoolExecutor(1) as pool:
                other = pool.submit(lambda: self.objects)
                _ = self.subjects
                other.result()
        _ = self.subjects, self.objects

    @property
    def meta(self) -> dict[str, Any]:
        """What `from_sections` needs beside the sections, fit for JSON."""
        return {
            "rows": self.rows,
            "facts": _table_meta(self.facts),
            "quads": _table_meta(self.quads),
            "tuples": [_tuple_meta(name, run) for name, run in sorted(self.tuples.items())],
            "sets": self.rows >= RELATIONS.kept_sets_rows,
        }

    def sections(self) -> dict[str, NDArray[Any]]:
        """All columns by name, for a file."""
        self.prepare()
        sections: dict[str, NDArray[Any]] = {}
        for label, table in (("facts", self.facts), ("quads", self.quads)):
            if len(table) or len(table.nets.names):
                sections |= _table_sections(label, table)
        for (name, arity), run in sorted(self.tuples.items()):
            columns = {"rows": run.spelt, "status": run.status, "count": run.count}
            for kind, column in columns.items():
                if column is not None:
                    sections[f"tuples.{name}.{arity}.{kind}"] = column.all()
        if self.rows >= RELATIONS.kept_sets_rows:
            sections |= self.subjects.sections("subjects")
            sections |= self.objects.sections("objects")
        return sections

    @classmethod
    def from_sections(cls, get: Get, meta: Mapping[str, Any]) -> Layer:
        """The layer whose `sections` and `meta` were kept; reads the directories only."""
        tuples = {}
        for name, arity, uniform, counted, explicit, inferred in meta["tuples"]:
            label = f"tuples.{name}.{arity}"
            tuples[name, arity] = TupleRun(
                arity,
                get(f"{label}.rows"),
                get(f"{label}.status") if uniform is None else None,
                EXPLICIT if uniform is None else uniform,
                get(f"{label}.count") if counted else None,
                explicit,
                inferred,
            )
        subjects = CharacteristicSets.from_sections(get, "subjects") if meta["sets"] else None
        objects = CharacteristicSets.from_sections(get, "objects") if meta["sets"] else None
        return cls(
            _read_table(get, "facts", meta["facts"], EMPTY_FACTS),
            _read_table(get, "quads", meta["quads"], EMPTY_QUADS),
            tuples,
            subjects,
            objects,
        )

    def validate(self) -> None:
        """Check what is always true (reads everything)."""
        self.facts.validate()
        self.quads.validate()
        for run in self.tuples.values():
            keys = run.keys
            assert (keys[1:] > keys[:-1]).all()


def _tuple_meta(name: TupleName, run: TupleRun) -> list[Any]:
    uniform = run.uniform if run.status is None else None
    return [*name, uniform, run.count is not None, run.explicit, run.inferred]


def _table_meta(table: Table) -> dict[str, Any] | None:
    if len(table) == 0 and len(table.nets.names) == 0:
        return None
    order = table.forward
    return {
        "status": order.uniform if order.status is None else None,
        "count": order.count is not None,
    }


def _table_sections(label: str, table: Table) -> dict[str, NDArray[Any]]:
    sections: dict[str, NDArray[Any]] = {
        f"{label}.explicit": table.nets.explicit,
        f"{label}.inferred": table.nets.inferred,
        f"{label}.firsts": table.firsts,
        f"{label}.seconds": table.seconds,
    }
    orders = {"forward": table.forward, "backward": table.backward}
    if table.by_graph is not None and table.graph_nets is not None:
        orders["graph"] = table.by_graph
        sections[f"{label}.graph.explicit"] = table.graph_nets.explicit
        sections[f"{label}.graph.inferred"] = table.graph_nets.inferred
    for kind, order in orders.items():
        if kind != "backward":  # its directory is that of the forward order
            sections[f"{label}.{kind}.names"] = order.names
            sections[f"{label}.{kind}.starts"] = order.starts
        columns = {
            "keys": order.keys,
            "extra": order.extra,
            "status": order.status,
            "count": order.count,
        }
        for column_name, column in columns.items():
            if column is not None:
                sections[f"{label}.{kind}.{column_name}"] = column.all()
    return sections


def _read_table(get: Get, label: str, meta: Mapping[str, Any] | None, empty: Table) -> Table:
    if meta is None:
        return empty

    def order(kind: str, directory: str, extra: bool, count: bool) -> Order:
        mixed = meta["status"] is None
        return Order(
            get(f"{label}.{directory}.names").all(),
            get(f"{label}.{directory}.starts").all(),
            get(f"{label}.{kind}.keys"),
            get(f"{label}.{kind}.extra") if extra else None,
            get(f"{label}.{kind}.status") if mixed else None,
            EXPLICIT if mixed else meta["status"],
            get(f"{label}.{kind}.count") if count else None,
        )

    forward = order("forward", "forward", empty.wide, meta["count"])
    backward = order("backward", "forward", empty.wide, False)
    by_graph = order("graph", "graph", False, False) if empty.wide else None
    graph_nets = None
    if by_graph is not None:
        graph_nets = Nets(
            by_graph.names,
            get(f"{label}.graph.explicit").all(),
            get(f"{label}.graph.inferred").all(),
        )
    return Table(
        forward,
        backward,
        Nets(forward.names, get(f"{label}.explicit").all(), get(f"{label}.inferred").all()),
        DistinctCounts.known(get(f"{label}.firsts").all(), get(f"{label}.seconds").all()),
        by_graph,
        graph_nets,
    )
