"""The inside of a transaction: its writes, and the resulting state.

Start reading at `TransactionWriter`. Users see `Transaction`; this package and `loaders.spark` use
the writer (`transaction.py: writer_of`). Single quads are buffered as keys and combined as a set
when something is read, or at the commit; a large load becomes a layer.

Always true: `_closing` has the committed tables, with everything written and inferred up to the
last update of the closure; `_since` comes on top of these, and together they are `_tables`;
`_unread` comes on top of `_tables`, and `_buffer` on top of all. Order counts: the last operation
on a quad wins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from triplestore.closures.described import describe
from triplestore.errors import InconsistencyError, UsageError
from triplestore.live.published import Published
from triplestore.reasoning.closing import Closing
from triplestore.reasoning.collector_pause import no_collection
from triplestore.reasoning.difference import Difference, net_changes
from triplestore.reasoning.outcome import Change, WriteStep, changes_relations, join_changes
from triplestore.reasoning.program.settings import ReasonSettings
from triplestore.reasoning.reasoner import Reasoner
from triplestore.reasoning.stale import estimate
from triplestore.relations import Changes, Layer, Tables, bulk_layer
from triplestore.storage.metadata import (
    FILES,
    HIDDEN,
    PREFIXES,
    PROGRAM,
    REGIMES,
    SCHEMES,
    SHAPES,
    STALE,
    STRICT,
    TUNING,
    bytes_of_prefixes,
    file_count,
    note_values,
    prefixes_of,
)
from triplestore.store.arguments import (
    GraphLike,
    QuadKeys,
    QuadLike,
    quad_keys,
)
from triplestore.store.state_view import StateView, text_settings_in
from triplestore.store.thresholds import STORE
from triplestore.store.writes.combine_writes import combine_writes, encode_writes
from triplestore.store.writes.graph_writes import encoded_graph, replacement
from triplestore.store.writes.shape_results import FollowedShapes, WatcherOf, followed_shapes

if TYPE_CHECKING:
    from triplestore.loaders import BadStatement, Loaded
    from triplestore.maintenance.report import Report
    from triplestore.reasoning.closed_elsewhere import ClosedElsewhere
    from triplestore.reasoning.program.stored_rules import Rules
    from triplestore.relations.packed_keys import U32, Bools
    from triplestore.storage import Database, State
    from triplestore.terms import Dictionary


MAX_NAMED = 5
"""Maximum number of new violations that a strict store names when it refuses a commit."""


class TransactionWriter:
    """The writes of one transaction, and the state in it.

    dictionary  the dictionary, with the terms that this transaction encoded
    change      what the transaction did, once it is committed
    is_trial    whether it is never committed
    """

    def __init__(
        self,
        database: Database,
        done: Callable[[], None],
        reasoner: Reasoner | None = None,
        follow: Callable[[Published], None] | None = None,
        watcher: WatcherOf | None = None,
    ) -> None:
        self._database = database
        self._done = done
        self._follow = follow  # is told what was committed, before another transaction begins
        self._watcher = watcher  # of shapes
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
        self.is_trial = False
        # For the counts of the change.
        self._already_there = self._not_stated = self._only_inferred = self._skipped = 0
        self._problems: list[BadStatement] = []
        self._said: dict[str, str] = {}
        self.change = Change()

    # -- quads ----------------------------------------------------------------------------------

    def write(self, add: bool, quad: QuadLike) -> None:
        """Assert a quad, or remove an asserted one."""
        keys = quad_keys(quad)
        self._check_open()
        self._buffer.append((add, keys))
        if len(self._buffer) >= STORE.buffered_writes:
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

    def stage(self, changes: Changes) -> None:
        """Add changes that were computed from `stated_tables`."""
        self._unread += [changes] if len(changes) else []

    def clear(self) -> None:
        """Remove all quads and graphs; prefixes and rules stay."""
        self._check_open()
        self._buffer.clear()
        self._since.clear()
        self._unread.clear()
        self._closing.clear()
        self._tables = Tables()
        self._cleared = True

    # -- loaded rows ---------------------------------------------------------------------------

    def prepare_load(
        self, progress: bool, cancel: Callable[[], bool] | None, most: int | None = None
    ) -> None:
        """Combine earlier writes; a load that follows shows progress and can be cancelled, and
        its inference takes at most `most` bytes."""
        self._combine()
        self._closing.watch(progress, cancel, most)

    def take_loaded(
        self, loaded: Loaded, mode: str = "add", graph: GraphLike | None = None
    ) -> None:
        """Take loaded statements, whose ids are of this transaction's dictionary.

        mode  "add" them; "delete" them, and add nothing; "replace" the contents of `graph`
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

    def _add_rows(self, loaded: Loaded) -> None:
        if len(loaded) <= STORE.combined_rows:
            if len(loaded):
                self._combine_rows(
                    np.ones(len(loaded), np.bool_), loaded.s, loaded.p, loaded.o, loaded.g
                )
            return
        before = self._current()
        graphs = loaded.g if loaded.has_named else None
        layer = bulk_layer(loaded.p, loaded.s, loaded.o, graphs, below=before)
        added = layer.facts.nets.total()[0] + layer.quads.nets.total()[0]
        self._already_there += len(loaded) - added
        self._since.append(layer)
        self._tables = before.push(layer)

    def _replace_rows(self, loaded: Loaded, graph_name: GraphLike | None) -> None:
        graph = encoded_graph(self.dictionary, graph_name)
        if np.any(loaded.g != np.uint32(graph)):
            raise UsageError(
                "the input has quads of other graphs than the one to be replaced; load it "
                "without replace_graph, or graph by graph"
            )
        found = replacement(self._current(), graph, loaded.s, loaded.p, loaded.o)
        self._already_there += found.kept
        self.stage(found.changes)

    # -- prefixes and named values --------------------------------------------------------------

    def bind(self, prefixes: Mapping[str, str], *, over: bool = True) -> None:
        """Name IRIs by prefixes; known prefixes are replaced only if `over`."""
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
    def values_to_keep(self) -> Mapping[str, bytes | None]:
        """The named values that change."""
        return self._meta

    @property
    def kept(self) -> Mapping[str, bytes]:
        """The named values as they are now."""
        return self._before.meta.with_changes(self._meta)

    # -- rules ----------------------------------------------------------------------------------

    @property
    def settings(self) -> ReasonSettings:
        """The rules, regimes and tuning in force."""
        return self._closing.settings

    def apply(
        self,
        settings: ReasonSettings,
        warnings: Iterable[Any] = (),
        progress: bool = False,
        cancel: Callable[[], bool] | None = None,
    ) -> Report:
        """Put rules in force and infer; if that fails, the previous ones stay in force."""
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
        """Take the facts inferred from all asserted ones, which were computed elsewhere.

        The rules of that computation are in force from then on.
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
        """Commit without updating the inferred facts; the store is stale then (`stale`)."""
        if not self._closing.active:
            return
        if STRICT in self.kept or SHAPES in self.kept:
            raise UsageError(
                "the store is strict, or watches shapes: what a commit violates is known only "
                "after inference, so inference cannot be postponed"
            )
        self.keep({STALE: estimate(self.stated_tables(), self._before.tables)})
        self._closing.leave_stale()

    def diff(self) -> Difference:
        """What the transaction did so far; see `Transaction.diff`."""
        now, base = self._inferred(), self._before.tables
        steps = join_changes([*self._closing.state.steps, *self._since])
        net = net_changes(base, now, steps, self._cleared)
        found = Difference(
            self.dictionary, net, self._closing.listed(), (base, now), self.view().prefixes
        )
        shapes = self._shapes(steps)
        return found if shapes is None else shapes.shown_in(found)

    def _shapes(self, steps: Sequence[WriteStep]) -> FollowedShapes | None:
        return followed_shapes(self._before, self.view, steps, self._cleared, self._watcher)

    def report(self) -> Report | None:
        """The report of the last update of the closure; None if there was none."""
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
        """The state with all inferred facts."""
        tables, state = self._inferred(), self._closing.state
        return StateView(
            self.dictionary,
            tables,
            self.prefixes(),
            lambda: state.rules,
            state.hidden,
            state.settings.regimes.names,
            text=text_settings_in(self.kept),
        )

    def stated_tables(self) -> Tables:
        """The tables with all writes so far, perhaps without the facts inferred from them."""
        self._combine()
        return self._current()

    def _combine(self) -> None:
        """Turn the buffered operations into changes."""
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
        """The tables with all changes, perhaps without the facts inferred from them."""
        if self._unread:
            changes = Changes.concat(self._unread)
            self._unread.clear()
            self._since.append(changes)
            active = self._closing.active  # then the inferred facts are added, in other tables
            self._tables = self._tables.push(Layer.build(changes), apart=active)
        return self._tables

    def _inferred(self) -> Tables:
        """The tables with all inferred facts."""
        tables = self.stated_tables()
        if self._closing.is_stale(tables):
            self._tables = self._closing.run(self._since, tables)
            self._since = []
        return self._tables

    def _check_open(self) -> None:
        if not self._open:
            raise UsageError("the transaction has ended; begin another one")

    # -- the end --------------------------------------------------------------------------------

    def say(self, said: Mapping[str, str | None]) -> None:
        """What is kept with the commit, if the store keeps its history."""
        self._said.update({name: text for name, text in said.items() if text is not None})

    def note_of_commit(self) -> dict[str, bytes | None]:
        """The named value that says it."""
        return note_values(self.kept, self._said)

    def commit(self) -> Change:
        """Publish everything, durably as the store promises; the transaction is over then."""
        try:
            if self.is_trial:
                raise UsageError("a trial cannot be committed: use transaction() instead")
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
        shapes = self._shapes(steps)
        counts = counts if shapes is None else shapes.counted(counts)
        hidden = self._closing.state.hidden
        if hidden != self._closing.hidden_before:
            self._meta[HIDDEN] = str(hidden).encode() if hidden else None
        # The closures that are not stored as rows.
        described = describe(self._tables.schemes) if self._tables.closed else None
        if described != self._before.meta.get(SCHEMES):
            self._meta[SCHEMES] = described
        if not (counts or self._meta or any(map(changes_relations, steps))):
            self._database.rollback()
            self._closing.end(None)
            return counts
        staged = None if self._unread else (self._before.tables, self._tables)
        self._meta |= self.note_of_commit()
        state = self._database.commit(steps, meta=self._meta, cleared=self._cleared, staged=staged)
        counts = replace(counts, commit=state.commit)
        if shapes is not None:
            shapes.publish(state)
        if self._follow is not None:
            self._follow(Published(self._before, state, steps, self._cleared, counts))
        self._closing.end(state)
        return counts

    def _counts(self, steps: Sequence[WriteStep]) -> Change:
        """What was done, and the writes without effect."""
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
        """Raise if the store is strict and the commit adds violations."""
        if not counts.new_violations or STRICT not in self.kept:
            return
        new = list(islice(self.diff().new_violations, MAX_NAMED))
        more = counts.new_violations - len(new)
        listed = "; ".join(map(str, new)) + (f"; and {more:,} more" if more > 0 else "")
        raise InconsistencyError(
            f"the store is strict, and this commit would add violations: {listed}"
        )

    def rollback(self) -> None:
        """Discard everything; the transaction is over then."""
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

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.rollback()
        elif self._open:
            self.commit()


def _report_of(closing: Closing, before: Rules | None, warnings: Iterable[Any] = ()) -> Report:
    # Late: it needs `maintenance`, which stores without rules never do.
    from triplestore.reasoning.reports.run_report import report_of

    return report_of(closing, before, warnings)
