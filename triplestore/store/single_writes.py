"""Single writes of a transaction, and the state inside of it.

Start reading at `Writing`, of which `Transaction` is made. Single quads are buffered as keys and
settled a set at a time, when something is read or at the commit.

Always true: `_closing` has the committed tables, with all that was written and inferred up to the
last time that the closure was brought up to date; `_since` comes on top of that, and together they
are `_tables`; `_unread` comes on top of these, and `_buffer` on top of all. Order counts: the last
word on a quad wins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from triplestore.errors import UsageError
from triplestore.reasoning.closing import Closing
from triplestore.reasoning.outcome import Step
from triplestore.reasoning.reasoner import Reasoner
from triplestore.relations import EXPLICIT, ChangedRows, Changes, Layer, Tables
from triplestore.relations.lookup import match
from triplestore.storage.metadata import PREFIXES, bytes_of_prefixes, prefixes_of
from triplestore.store.arguments import QuadKeys, QuadLike, TermLike, graph_key, quad_keys
from triplestore.store.combine_writes import new_graphs, settle
from triplestore.store.readable import Reading, View

if TYPE_CHECKING:
    from triplestore.relations.packed_keys import U32, Bools
    from triplestore.storage import Database, State
    from triplestore.terms import Term

SETTLE_AT = 1 << 16
"""Operations that are buffered before they are settled, so that the buffer stays small."""


_FEW = 8


class Writing(Reading):
    """The part of a transaction that takes single writes, and shows what they amount to."""

    def __init__(
        self, database: Database, done: Callable[[], None], reasoner: Reasoner | None = None
    ) -> None:
        self._database = database
        self._done = done
        self._before: State = database.state
        self._dictionary = database.dictionary
        self._closing = Closing(self._before, reasoner or Reasoner())
        self._tables: Tables = self._before.tables
        self._since: list[Step] = []
        self._unread: list[Changes] = []
        self._buffer: list[tuple[bool, QuadKeys]] = []
        self._meta: dict[str, bytes | None] = {}
        self._cleared = False
        self._already_there = 0
        self._not_stated = 0
        self._only_inferred = 0
        self._open = True

    # -- quads ----------------------------------------------------------------------------------

    def add(self, quad: QuadLike) -> None:
        """State a quad."""
        self._push(True, quad_keys(quad))

    def remove(self, quad: QuadLike) -> None:
        """Take a stated quad back; nothing happens if it was not stated."""
        self._push(False, quad_keys(quad))

    def extend(self, quads: Iterable[QuadLike]) -> None:
        """State many quads."""
        for quad in quads:
            self.add(quad)

    def remove_all(self, quads: Iterable[QuadLike]) -> None:
        """Take many stated quads back."""
        for quad in quads:
            self.remove(quad)

    def ids_of(self, keys: Sequence[bytes]) -> U32:
        """The ids of terms, which are added to the dictionary if they are not in it."""
        self._check_open()
        return self._dictionary.encode_keys(keys)

    def change_rows(self, add: Bools, s: U32, p: U32, o: U32, g: U32) -> None:
        """State (where `add` is true) or take back quads of ids, in order; 0: the default graph."""
        self._settle()
        if len(s):
            self._settle_rows(add, s, p, o, g)

    def _push(self, add: bool, keys: QuadKeys) -> None:
        self._check_open()
        self._buffer.append((add, keys))
        if len(self._buffer) >= SETTLE_AT:
            self._settle()

    # -- graphs ---------------------------------------------------------------------------------

    def add_graph(self, graph_name: TermLike) -> None:
        """Make a named graph exist, also without quads."""
        self._settle()
        key = graph_key(graph_name)
        if key is None:
            return
        graphs = new_graphs(self._current(), self._dictionary.encode_keys([key]))
        if len(graphs):
            self._unread.append(Changes(graphs=graphs))

    def clear_graph(self, graph_name: TermLike) -> None:
        """Take back everything that is stated in a graph; the graph stays."""
        graph = self._graph(graph_name)
        if graph is not None:
            self._clear(graph)

    def remove_graph(self, graph_name: TermLike) -> None:
        """Take back everything stated in a graph, and the graph; the default graph stays."""
        graph = self._graph(graph_name)
        if graph is None:
            return
        self._clear(graph)
        if graph and self._current().has_graph(graph):
            gone = ChangedRows.of((np.array([graph], np.uint32),), 0, EXPLICIT)
            self._unread.append(Changes(graphs=gone))

    def clear(self) -> None:
        """Take back all quads and graphs; prefixes and rules stay."""
        self._check_open()
        self._buffer.clear()
        self._since.clear()
        self._unread.clear()
        self._closing.clear()
        self._tables = Tables()
        self._cleared = True

    def graphs_now(self) -> list[Term]:
        """The named graphs that exist now, without a look at what follows."""
        self._settle()
        return self._dictionary.terms(self._current().graphs())

    def has_graph(self, graph_name: TermLike) -> bool:
        """True if this named graph exists now, without a look at what follows."""
        graph = self._graph(graph_name)
        return graph == 0 or (graph is not None and self._current().has_graph(graph))

    def copy_graph(self, source: TermLike | None, target: TermLike | None) -> None:
        """State in one graph what is stated in another; None is the default graph."""
        from_graph = self._graph(source)
        key = graph_key(target)
        to_graph = 0 if key is None else int(self._dictionary.encode_keys([key])[0])
        if from_graph is None:
            return
        for rows in list(match(self._current(), graph=from_graph, where=EXPLICIT)):
            add = np.ones(rows.size, np.bool_)
            graphs = np.full(rows.size, to_graph, np.uint32)
            self.change_rows(add, rows.subject, rows.predicate, rows.object, graphs)

    def _graph(self, graph_name: TermLike) -> int | None:
        """The id of a graph, 0 for the default graph, None for a graph that nobody knows."""
        self._settle()
        key = graph_key(graph_name)
        if key is None:
            return 0
        return int(self._dictionary.lookup_keys([key])[0]) or None

    def _clear(self, graph: int) -> None:
        for rows in list(match(self._current(), graph=graph, where=EXPLICIT)):
            columns = (rows.predicate, rows.subject, rows.object)
            if graph:
                changed = ChangedRows.of((*columns, rows.graph), 0, EXPLICIT)
                self._unread.append(Changes(quads=changed))
            else:
                changed = ChangedRows.of(columns, 0, EXPLICIT)
                self._unread.append(Changes(facts=changed))

    # -- prefixes -------------------------------------------------------------------------------

    def bind(self, prefix: str, iri: str) -> None:
        """Name an IRI by a prefix, for dumps, queries and rules."""
        self._check_open()
        self._bind({prefix: iri}, over=True)

    def known_prefixes(self) -> dict[str, str]:
        """The prefixes in force now."""
        return self._prefixes()

    def _bind(self, prefixes: Mapping[str, str], *, over: bool) -> None:
        known = self._prefixes()
        new = {**known, **prefixes} if over else {**prefixes, **known}
        if new != known:
            self._meta[PREFIXES] = bytes_of_prefixes(new)

    def _prefixes(self) -> dict[str, str]:
        return prefixes_of(self._before.meta.with_changes(self._meta))

    # -- the state inside -----------------------------------------------------------------------

    def view(self) -> View:
        """The state with everything that follows."""
        return self._view()

    def _view(self) -> View:
        tables = self._infer()
        closing = self._closing
        return View(
            self._dictionary,
            tables,
            self._prefixes(),
            lambda: closing.rules,
            closing.hidden,
            closing.regimes.names,
        )

    def _settle(self) -> None:
        """Turn what is buffered into changes."""
        self._check_open()
        if not self._buffer:
            return
        add, ids = self._encoded()
        self._buffer.clear()
        if len(ids):
            s, p, o, g = (np.ascontiguousarray(column) for column in ids.T)
            self._settle_rows(add, s, p, o, g)

    def _encoded(self) -> tuple[Bools, U32]:
        """What is buffered with ids for its keys, which are found and made a set at a time: single
        ones cost ten times as much. Nothing has a term that nobody knows to be taken back."""
        if len(self._buffer) <= _FEW:
            return self._few_encoded()
        add = np.array([stated for stated, _ in self._buffer], np.bool_)
        keys = [key for _, quad in self._buffer for key in quad]
        is_named = np.array([key is not None for key in keys], np.bool_)
        stated = np.repeat(add, 4)
        ids = np.zeros(len(keys), np.uint32)
        dictionary = self._dictionary
        for chosen, ids_of in ((stated, dictionary.encode_keys), (~stated, dictionary.lookup_keys)):
            places = np.flatnonzero(chosen & is_named)
            if len(places):
                wanted = map(keys.__getitem__, places.tolist())
                ids[places] = ids_of([key for key in wanted if key is not None])
        known = ((ids != 0) | ~is_named).reshape(-1, 4).all(axis=1)
        self._not_stated += len(add) - int(np.count_nonzero(known))
        return add[known], ids.reshape(-1, 4)[known]

    def _few_encoded(self) -> tuple[Bools, U32]:
        """The same for so few that arrays of them cost more than they save."""
        add, rows = [], []
        for stated, (s, p, o, g) in self._buffer:
            keys = [s, p, o] if g is None else [s, p, o, g]
            dictionary = self._dictionary
            ids = (dictionary.encode_keys if stated else dictionary.lookup_keys)(keys).tolist()
            if 0 in ids:
                self._not_stated += 1
                continue
            add.append(stated)
            rows.append(ids if len(ids) == 4 else [*ids, 0])
        return np.array(add, np.bool_), np.array(rows, np.uint32)

    def _settle_rows(self, add: Bools, s: U32, p: U32, o: U32, g: U32) -> None:
        settled = settle(self._current(), add, s, p, o, g)
        self._already_there += settled.already_there
        self._not_stated += settled.not_stated
        self._only_inferred += settled.only_inferred
        if len(settled.changes):
            self._unread.append(settled.changes)

    def _current(self) -> Tables:
        """The tables with everything that is settled, perhaps without what follows from it."""
        if self._unread:
            changes = Changes.concat(self._unread)
            self._unread.clear()
            self._since.append(changes)
            active = self._closing.active  # if so, these are replaced by those with what follows
            self._tables = self._tables.push(Layer.build(changes), apart=active)
        return self._tables

    def _infer(self) -> Tables:
        """The tables with everything that follows."""
        self._settle()
        tables = self._current()
        if self._closing.is_stale(tables):
            self._tables = self._closing.run(self._since, tables)
            self._since = []
        return self._tables

    def _check_open(self) -> None:
        if not self._open:
            raise UsageError("the transaction is over; begin another one")
