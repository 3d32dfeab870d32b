"""One transaction from the inside: what is written, and the state that it amounts to.

Start reading at `TransactionWriter`. Users see `Transaction`; this package and `loaders.spark` use
it (`transaction.py: writer_of`). Single quads are buffered as keys and combined a set at a time,
when something is read or at the commit; a load brings a layer of its own.

Always true: `_closing` has the committed tables, with all that was written and inferred up to the
last time that the closure was brought up to date; `_since` comes on top of that, and together they
are `_tables`; `_unread` comes on top of these, and `_buffer` on top of all. Order counts: the last
operation on a quad wins.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from triplestore.closures.described import describe
from triplestore.errors import InconsistencyError, UsageError
from triplestore.loaders import find_sources, limits_of, load
from triplestore.reasoning.closing import Closing
from triplestore.reasoning.collector_pause import no_collection
from triplestore.reasoning.difference import Difference, net_changes
from triplestore.reasoning.outcome import Change, WriteStep, join_changes
from triplestore.reasoning.program.settings import ReasonSettings
from triplestore.reasoning.reasoner import Reasoner
from triplestore.reasoning.stale import estimate
from triplestore.relations import EXPLICIT, ChangedRows, Changes, Layer, Tables, bulk_layer
from triplestore.relations.lookup import match
from triplestore.storage.closures import SCHEMES
from triplestore.storage.metadata import (
    FILES,
    GRAPH_FILES,
    HIDDEN,
    PREFIXES,
    PROGRAM,
    REGIMES,
    STALE,
    STRICT,
    TUNING,
    bytes_of_prefixes,
    file_count,
    graph_files,
    prefixes_of,
)
from triplestore.store.arguments import QuadKeys, QuadLike, TermLike, graph_key, quad_keys
from triplestore.store.combine_writes import combine_writes, encode_writes, new_graphs
from triplestore.store.options import LoadOptions
from triplestore.store.readable import StateView
from triplestore.store.replacing import replacement
from triplestore.terms import term_of, to_ntriples

if TYPE_CHECKING:
    from types import TracebackType

    from triplestore.loaders import Loaded, Problem
    from triplestore.maintenance.report import Report
    from triplestore.reasoning.closed_elsewhere import ClosedElsewhere
    from triplestore.reasoning.program.stored_rules import Rules
    from triplestore.relations.packed_keys import U32, Bools
    from triplestore.storage import Database, State
    from triplestore.terms import Dictionary, Term

MAX_BUFFERED = 1 << 16
"""Maximum number of buffered operations, so that the buffer stays small."""

MAX_NAMED = 5
"""Maximum number of new violations that a strict store names when it refuses a commit."""


class TransactionWriter:
    """What is written in one transaction, and the state inside of it.

    dictionary  the dictionary, with the terms that this transaction encoded
    change      what the transaction did, once it is committed
    """

    def __init__(
        self, database: Database, done: Callable[[], None], reasoner: Reasoner | None = None
    ) -> None:
        self._database = database
        self._done = done
        self._before: State = database.state
        self.dictionary: Dictionary = self._before.dictionary
        self._closing = Closing(self._before, reasoner or Reasoner())
        self._tables: Tables = self._before.tables
        self._since: list[WriteStep] = []
        self._unread: list[Changes] = []
        self._buffer: list[tuple[bool, QuadKeys]] = []
        self._meta: dict[str, bytes | None] = {}
        self._cleared = False
        self._open = True
        # For the counts of the change.
        self._already_there = self._not_stated = self._only_inferred = self._skipped = 0
        self._problems: list[Problem] = []
        self.change = Change()

    # -- quads ----------------------------------------------------------------------------------

    def write(self, add: bool, quad: QuadLike) -> None:
        """Assert a quad, or remove an asserted one."""
        keys = quad_keys(quad)
        self._check_open()
        self._buffer.append((add, keys))
        if len(self._buffer) >= MAX_BUFFERED:
            self._combine()

    def write_all(self, add: bool, quads: Iterable[QuadLike]) -> None:
        """The same for many quads."""
        for quad in quads:
            self.write(add, quad)

    def encode(self, keys: Sequence[bytes]) -> U32:
        """The ids of terms, which are added to the dictionary if they are not in it."""
        self._check_open()
        return self.dictionary.encode_keys(keys)

    def change_rows(self, add: Bools, s: U32, p: U32, o: U32, g: U32) -> None:
        """Assert (where `add` is true) or remove quads of ids, in order; 0: the default graph."""
        self._combine()
        if len(s):
            self._combine_rows(add, s, p, o, g)

    # -- graphs ---------------------------------------------------------------------------------

    def add_graph(self, graph_name: TermLike) -> None:
        """Make a named graph exist, also without quads."""
        tables, graph = self.stated_tables(), self._encoded_graph(graph_name)
        if graph:
            graphs = new_graphs(tables, np.array([graph], np.uint32))
            self._unread += [Changes(graphs=graphs)] if len(graphs) else []

    def clear_graph(self, graph_name: TermLike) -> None:
        """Remove everything that is asserted in a graph; the graph stays."""
        graph = self._graph(graph_name)
        if graph is None:
            return
        for rows in list(match(self._current(), graph=graph, where=EXPLICIT)):
            columns = (rows.predicate, rows.subject, rows.object)
            if graph:
                changed = ChangedRows.of((*columns, rows.graph), 0, EXPLICIT)
                self._unread.append(Changes(quads=changed))
            else:
                changed = ChangedRows.of(columns, 0, EXPLICIT)
                self._unread.append(Changes(facts=changed))

    def remove_graph(self, graph_name: TermLike) -> None:
        """Remove everything asserted in a graph, and the graph; the default graph stays."""
        self.clear_graph(graph_name)
        graph = self._graph(graph_name)
        if graph and self._current().has_graph(graph):
            gone = ChangedRows.of((np.array([graph], np.uint32),), 0, EXPLICIT)
            self._unread.append(Changes(graphs=gone))

    def clear(self) -> None:
        """Remove all quads and graphs; prefixes and rules stay."""
        self._check_open()
        self._buffer.clear()
        self._since.clear()
        self._unread.clear()
        self._closing.clear()
        self._tables = Tables()
        self._cleared = True

    def named_graphs(self) -> list[Term]:
        """The named graphs that exist now; nothing is inferred for it."""
        return self.dictionary.terms(self.stated_tables().graphs())

    def has_graph(self, graph_name: TermLike) -> bool:
        """True if this named graph exists now; nothing is inferred for it."""
        graph = self._graph(graph_name)
        return graph == 0 or (graph is not None and self._current().has_graph(graph))

    def copy_graph(self, source: TermLike | None, target: TermLike | None) -> None:
        """Assert in one graph what is asserted in another; None is the default graph."""
        from_graph = self._graph(source)
        to_graph = self._encoded_graph(target)
        if from_graph is None:
            return
        for rows in list(match(self._current(), graph=from_graph, where=EXPLICIT)):
            add = np.ones(rows.size, np.bool_)
            graphs = np.full(rows.size, to_graph, np.uint32)
            self.change_rows(add, rows.subject, rows.predicate, rows.object, graphs)

    def _graph(self, graph_name: TermLike) -> int | None:
        """The id of a graph, 0 for the default graph, None for an unknown graph."""
        self._combine()
        key = graph_key(graph_name)
        if key is None:
            return 0
        return int(self.dictionary.lookup_keys([key])[0]) or None

    def _encoded_graph(self, graph_name: TermLike) -> int:
        key = graph_key(graph_name)
        return 0 if key is None else int(self.dictionary.encode_keys([key])[0])

    # -- files ----------------------------------------------------------------------------------

    def load(self, input: Any, options: LoadOptions) -> Loaded:
        """Load a text, a stream or files; see `Store.load`."""
        graph, replaced = options.to_graph, options.replace_graph
        if graph is not None and replaced is not None:
            raise UsageError("give to_graph or replace_graph, not both")
        self._combine()
        self._closing.watch(options.progress, options.cancel)
        number = file_count(self.kept) + 1
        if replaced is not None:
            graph, path = replaced, options.path
            count = 1 if path is None else len(find_sources(None, path, options.format))
            number = self._number_of_graph(replaced, number, count)
        loaded = load(
            input,
            self.dictionary,
            format=options.format,
            path=options.path,
            base_iri=options.base_iri,
            to_graph=_graph_term(graph),
            named_graphs=options.named_graphs,
            lenient=options.lenient,
            first_file_number=number,
            progress=options.progress,
            cancel=options.cancel,
            threads=options.threads,
            limits=limits_of(options.max_line_bytes, options.max_term_bytes),
        )
        self.take_loaded(loaded, "add" if replaced is None else "replace", replaced)
        return loaded

    def take_loaded(self, loaded: Loaded, mode: str = "add", graph: TermLike | None = None) -> None:
        """Take what was loaded for this transaction's dictionary, by `load` or elsewhere.

        mode  "add" its statements; "delete" them, and add nothing else of it; "replace" what
            `graph` holds by them
        """
        self._combine()
        if mode == "delete":
            away = np.zeros(len(loaded), np.bool_)
            self.change_rows(away, loaded.s, loaded.p, loaded.o, loaded.g)
            return
        loaded.add_terms(self.dictionary)
        if mode == "replace":
            self._replace_rows(loaded, graph)
        else:
            self._add_rows(loaded)
        files = file_count(self.kept)
        self._meta[FILES] = str(max(files, loaded.next_file_number - 1)).encode()
        self.bind(loaded.prefixes, over=False)
        self._skipped += loaded.bad
        self._problems.extend(loaded.problems)

    def reserve_file_numbers(
        self, count: int, replace_graph: TermLike | None, replaces: bool
    ) -> int:
        """The first of `count` file numbers that no other load gets, for a load that takes long.

        Those of a graph that is replaced are the same each time, while they suffice.
        """
        known = file_count(self.kept)
        number = known + 1
        if replaces:
            number = self._number_of_graph(replace_graph, number, count)
        self._meta[FILES] = str(max(known, number + count - 1)).encode()
        return number

    def _number_of_graph(self, graph: TermLike, free: int, count: int) -> int:
        """The first file number of a graph that is replaced: the same each time, while the numbers
        that were set aside for it suffice."""
        key = graph_key(graph)
        name = "" if key is None else to_ntriples(key).decode()
        numbers = graph_files(self.kept)
        if name not in numbers or numbers[name][1] < count:
            numbers[name] = (free, count)
            self._meta[GRAPH_FILES] = json.dumps(numbers, ensure_ascii=False).encode()
        return numbers[name][0]

    def _add_rows(self, loaded: Loaded) -> None:
        before = self._current()
        graphs = loaded.g if loaded.has_named else None
        layer = bulk_layer(loaded.p, loaded.s, loaded.o, graphs, below=before)
        added = layer.facts.nets.total()[0] + layer.quads.nets.total()[0]
        self._already_there += len(loaded) - added
        self._since.append(layer)
        self._tables = before.push(layer)

    def _replace_rows(self, loaded: Loaded, graph_name: TermLike) -> None:
        graph = self._encoded_graph(graph_name)
        if np.any(loaded.g != np.uint32(graph)):
            raise UsageError(
                "the input has quads of other graphs than the one to be replaced; load it "
                "without replace_graph, or graph by graph"
            )
        found = replacement(self._current(), graph, loaded.s, loaded.p, loaded.o)
        self._already_there += found.kept
        self._unread.append(found.changes)

    # -- prefixes and named values --------------------------------------------------------------

    def bind(self, prefixes: Mapping[str, str], *, over: bool = True) -> None:
        """Name IRIs by prefixes; known prefixes stay as they are unless `over`."""
        self._check_open()
        known = self.prefixes()
        new = {**known, **prefixes} if over else {**prefixes, **known}
        if new != known:
            self._meta[PREFIXES] = bytes_of_prefixes(new)

    def unbind(self, prefix: str) -> None:
        """Forget a prefix; nothing happens if it is not known."""
        self._check_open()
        known = self.prefixes()
        if known.pop(prefix, None) is not None:
            self._meta[PREFIXES] = bytes_of_prefixes(known)

    def prefixes(self) -> dict[str, str]:
        """The prefixes in force now."""
        return prefixes_of(self.kept)

    def keep(self, values: Mapping[str, bytes | None]) -> None:
        """Keep named values with the store (see `kept`); None removes one."""
        self._check_open()
        self._meta.update(values)

    @property
    def kept(self) -> Mapping[str, bytes]:
        """The named values as they are now."""
        return self._before.meta.with_changes(self._meta)

    # -- rules ----------------------------------------------------------------------------------

    @property
    def settings(self) -> ReasonSettings:
        """What is in force of rules, regimes and tuning."""
        return self._closing.settings

    def apply(
        self,
        settings: ReasonSettings,
        warnings: Iterable[Any] = (),
        progress: bool = False,
        cancel: Callable[[], bool] | None = None,
    ) -> Report:
        """Put rules in force and infer; if that fails, those of before stay in force."""
        closing, before = self._closing, self._closing.state
        tables = self.stated_tables()
        rules_change = settings.need_run_after(before.settings)
        with no_collection() if rules_change else nullcontext():
            self._tables = closing.apply(
                settings, self._since, tables, progress=progress, cancel=cancel
            )
        if closing.state.runs != before.runs:
            self._since = []
        self._keep_settings(settings.to_meta())
        return _report_of(closing, before.rules, warnings)

    def reading_rules(self, settings: ReasonSettings) -> Any:
        """A block in which rules are read, within the limits of a run under these settings."""
        return self._closing.reading(settings)

    def infer_anew(self) -> None:
        """Infer everything from the beginning, under the rules in force."""
        settings = self._closing.settings
        self.apply(ReasonSettings(tuning=settings.tuning))
        self.apply(settings)

    def take_closure(self, closed: ClosedElsewhere) -> None:
        """Take what follows from all that is asserted now, as it was computed elsewhere.

        The rules that it was computed by are in force from then on.
        """
        tables = self.stated_tables()
        self._tables = self._closing.adopt(closed, self._since, tables)
        self._since = []
        self._keep_settings({name: closed.meta.get(name) for name in (PROGRAM, REGIMES, TUNING)})

    def _keep_settings(self, values: Mapping[str, bytes | None]) -> None:
        for name, value in values.items():
            if value == self._before.meta.get(name):
                self._meta.pop(name, None)
            else:
                self._meta[name] = value

    def put_off_inference(self) -> None:
        """Commit without what follows, once all is written; the store is stale then (`stale`)."""
        if not self._closing.active:
            return
        if STRICT in self.kept:
            raise UsageError(
                "the store is strict: whether a commit adds violations is known only when what "
                "follows is inferred; it cannot be left for later"
            )
        self.keep({STALE: estimate(self.stated_tables(), self._before.tables)})
        self._closing.leave_stale()

    def diff(self) -> Difference:
        """What the transaction did so far; see `Transaction.diff`."""
        now, base = self._inferred(), self._before.tables
        steps = join_changes([*self._closing.state.steps, *self._since])
        net = net_changes(base, now, steps, self._cleared)
        return Difference(self.dictionary, net, self._closing.listed(), (base, now))

    def report(self) -> Report | None:
        """What bringing the closure up to date took, the last time; None if that was not done."""
        if self._open:
            self._inferred()
        if not self._closing.state.runs:
            return None
        return _report_of(self._closing, self._closing.state.rules)

    # -- the state inside -----------------------------------------------------------------------

    @property
    def begun_at(self) -> int:
        """The commit that the transaction begins with."""
        return self._before.commit

    def view(self) -> StateView:
        """The state with everything that follows."""
        tables, state = self._inferred(), self._closing.state
        return StateView(
            self.dictionary,
            tables,
            self.prefixes(),
            lambda: state.rules,
            state.hidden,
            state.settings.regimes.names,
        )

    def stated_tables(self) -> Tables:
        """The tables with everything that was written so far, perhaps without what follows."""
        self._combine()
        return self._current()

    def _combine(self) -> None:
        """Turn what is buffered into changes."""
        self._check_open()
        if not self._buffer:
            return
        add, ids, unknown = encode_writes(self.dictionary, self._buffer)
        self._not_stated += unknown
        self._buffer.clear()
        if len(ids):
            s, p, o, g = (np.ascontiguousarray(column) for column in ids.T)
            self._combine_rows(add, s, p, o, g)

    def _combine_rows(self, add: Bools, s: U32, p: U32, o: U32, g: U32) -> None:
        combined = combine_writes(self._current(), add, s, p, o, g)
        self._already_there += combined.already_there
        self._not_stated += combined.not_stated
        self._only_inferred += combined.only_inferred
        if len(combined.changes):
            self._unread.append(combined.changes)

    def _current(self) -> Tables:
        """The tables with all changes, perhaps without what follows from them."""
        if self._unread:
            changes = Changes.concat(self._unread)
            self._unread.clear()
            self._since.append(changes)
            active = self._closing.active  # if so, these are replaced by those with what follows
            self._tables = self._tables.push(Layer.build(changes), apart=active)
        return self._tables

    def _inferred(self) -> Tables:
        """The tables with everything that follows."""
        tables = self.stated_tables()
        if self._closing.is_stale(tables):
            self._tables = self._closing.run(self._since, tables)
            self._since = []
        return self._tables

    def _check_open(self) -> None:
        if not self._open:
            raise UsageError("the transaction is over; begin another one")

    # -- the end --------------------------------------------------------------------------------

    def commit(self) -> Change:
        """Publish everything, durably as the store promises; the transaction is over then."""
        try:
            self._combine()
            self.change = self._publish()
        except BaseException:
            self.rollback()
            raise
        self._open = False
        self._done()
        return self.change

    def _publish(self) -> Change:
        if self._closing.active:
            self._inferred()
        steps = join_changes([*self._closing.state.steps, *self._since, *self._unread])
        counts = self._counts(steps)
        self._refuse(counts)
        hidden = self._closing.state.hidden
        if hidden != self._closing.hidden_before:
            self._meta[HIDDEN] = str(hidden).encode() if hidden else None
        # Which closures are not written out.
        described = describe(self._tables.schemes) if self._tables.closed else None
        if described != self._before.meta.get(SCHEMES):
            self._meta[SCHEMES] = described
        if not (counts or self._meta or any(map(_changes_relations, steps))):
            self._database.rollback()
            self._closing.end(None)
            return counts
        staged = None if self._unread else (self._before.tables, self._tables)
        state = self._database.commit(steps, meta=self._meta, cleared=self._cleared, staged=staged)
        self._closing.end(state)
        return replace(counts, commit=state.commit)

    def _counts(self, steps: Sequence[WriteStep]) -> Change:
        """What was done, and what was asked for in vain."""
        counts = self._closing.counts(steps, self._cleared)
        in_vain = self._already_there or self._not_stated or self._only_inferred
        if not (in_vain or self._skipped or self._problems):
            return counts
        return replace(
            counts,
            already_there=self._already_there,
            not_stated=self._not_stated,
            only_inferred=self._only_inferred,
            skipped=self._skipped,
            problems=tuple(self._problems),
        )

    def _refuse(self, counts: Change) -> None:
        """If the store is strict, no commit adds violations."""
        if not counts.new_violations or STRICT not in self.kept:
            return
        new = list(islice(self.diff().new_violations, MAX_NAMED))
        more = counts.new_violations - len(new)
        listed = "; ".join(map(str, new)) + (f"; and {more:,} more" if more > 0 else "")
        raise InconsistencyError(
            f"the store is strict, and this commit would add violations: {listed}"
        )

    def rollback(self) -> None:
        """Forget everything; the transaction is over then."""
        if not self._open:
            return
        self._open = False
        self._closing.end(None)
        try:
            self._database.rollback()
        finally:
            self._done()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.rollback()
        elif self._open:
            self.commit()


def _changes_relations(step: WriteStep) -> bool:
    """Whether rows of relations of rules come or go: violations are such, and no facts."""
    rows = step.tuples.values() if isinstance(step, Changes) else ()
    return any((each.status != each.previous).any() for each in rows)


def _report_of(closing: Closing, before: Rules | None, warnings: Iterable[Any] = ()) -> Report:
    # Late: it needs `maintenance`, which stores without rules never do.
    from triplestore.reasoning.reports.run_report import report_of

    return report_of(closing, before, warnings)


def _graph_term(graph: TermLike | None) -> Any:
    key = None if graph is None else graph_key(graph)
    return None if key is None else term_of(key)
