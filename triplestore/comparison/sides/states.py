"""The old and the new state of a comparison, side by side in one transaction.

Start reading at `compared_states`. The old side is a closed store: the caller's own, or one of the
cache. A transaction makes the new side of it and is rolled back, unless the cache shall have the
new side from then on.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from triplestore.comparison.sides.closure_cache import CachedClosure, ClosureCache
from triplestore.comparison.sides.files_of_side import FileSide, SideFile, by_name
from triplestore.comparison.sides.new_contents import (
    asserted_rows,
    read_files,
    read_store,
    replace_quads,
)
from triplestore.comparison.sides.quad_rows import NO_ROWS, QuadRows, united
from triplestore.comparison.sides.reasoning_options import Reasoning
from triplestore.data_classes import data_class
from triplestore.datalog.program import Program
from triplestore.datalog.text import read
from triplestore.reasoning.difference import net_changes
from triplestore.reasoning.program.settings import ReasonSettings
from triplestore.relations import Changes
from triplestore.store import Snapshot, Store, Transaction
from triplestore.store.readable import ReadableStore, view_of
from triplestore.store.state_view import StateView
from triplestore.store.transaction import writer_of

BASE = "https://triplestore.invalid/"
"""What relative IRIs in files are relative to, so that both sides have the same ones."""


@data_class
class Compared:
    """Two closed states, which have ids of one dictionary (that of `after`).

    net            the rows in which they differ
    old, new       the changed files of each side with their quads; None without files
    new_is_larger  unused terms aside, whether terms of the new side were added
    """

    before: StateView
    after: StateView
    net: Changes
    old: Mapping[str, tuple[SideFile, QuadRows]] | None = None
    new: Mapping[str, tuple[SideFile, QuadRows]] | None = None


@data_class
class Limits:
    """What the inference of a comparison may use: seconds and bytes; None: as usual."""

    seconds: float | None = None
    bytes: int | None = None

    def tuning(self) -> dict[str, float | int]:
        """The same as tuning of a store."""
        found: dict[str, float | int] = {}
        if self.seconds is not None:
            found["max_seconds"] = self.seconds
        if self.bytes is not None:
            found["max_bytes"] = self.bytes
        return found


Side = FileSide | ReadableStore


@contextmanager
def compared_states(
    old: Side,
    new: Side,
    reasoning: Reasoning,
    cache: Path | None,
    limits: Limits,
    advance: bool = False,
) -> Iterator[Compared]:
    """Both states; what they hold is valid until the block ends."""
    with ExitStack() as stack:
        if isinstance(old, FileSide):
            folder = cache or Path(stack.enter_context(tempfile.TemporaryDirectory()))
            yield from _from_files(old, new, reasoning, folder, limits, advance)
        elif _of_one_store(old, new):
            assert isinstance(new, ReadableStore)
            yield _between(view_of(old), view_of(new))
        else:
            store = old if isinstance(old, Store) else stack.enter_context(_copied(old))
            yield from _from_store(store, new, limits)


# -- stores ---------------------------------------------------------------------------------------


def _of_one_store(old: Side, new: Side) -> bool:
    if not isinstance(old, ReadableStore) or not isinstance(new, ReadableStore):
        return False
    return view_of(old).dictionary is view_of(new).dictionary


def _between(before: StateView, after: StateView) -> Compared:
    """Two states of one store: only what was written between them is read."""
    one, other = before.tables.layers, after.tables.layers
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] is other[shared]:
        shared += 1
    steps = [*one[shared:], *other[shared:]]
    return Compared(before, after, net_changes(before.tables, after.tables, steps, False))


@contextmanager
def _copied(old: ReadableStore) -> Iterator[Store]:
    """A store in memory with what another one holds, and its rules."""
    view, store = view_of(old), Store()
    state = old._state if isinstance(old, Snapshot) else None
    settings = ReasonSettings.of(state.meta) if state is not None else ReasonSettings()
    with store.transaction() as transaction:
        writer = writer_of(transaction)
        rows = read_store(writer, view)
        replace_quads(writer, NO_ROWS, {"": rows}, ())
        writer.bind(view.prefixes)
        writer.apply(settings)
    yield store
    store.close()


def _from_store(store: Store, new: Side, limits: Limits) -> Iterator[Compared]:
    before = view_of(store.snapshot())
    with store.trial() as transaction:
        writer = writer_of(transaction)
        _limit(transaction, limits)
        if isinstance(new, FileSide):
            rows: Mapping[str, QuadRows] = read_files(writer, new.files, BASE)
        else:
            rows = {"": read_store(writer, view_of(new))}
        done = replace_quads(writer, asserted_rows(before), rows, ())
        if isinstance(new, Store | Snapshot):
            wanted = settings_of(new)
            tuned = replace(wanted, tuning=writer.settings.tuning)
            if tuned.need_run_after(writer.settings):
                writer.apply(tuned)
        files = None
        if isinstance(new, FileSide):
            files = {file.name: (file, done.rows[file.name]) for file in new.files}
        yield _in_transaction(before, transaction, None, files)


def settings_of(store: Store | Snapshot) -> ReasonSettings:
    """The rules and regimes that a store has in force."""
    if isinstance(store, Snapshot):
        return ReasonSettings.of(store._state.meta)
    with store.trial() as transaction:
        return writer_of(transaction).settings


def _limit(transaction: Transaction, limits: Limits) -> None:
    tuning = limits.tuning()
    if tuning:
        writer = writer_of(transaction)
        settings = writer.settings
        writer.apply(replace(settings, tuning=settings.tuning.changed(tuning)))


def _in_transaction(
    before: StateView,
    transaction: Transaction,
    old: Mapping[str, tuple[SideFile, QuadRows]] | None,
    new: Mapping[str, tuple[SideFile, QuadRows]] | None,
) -> Compared:
    net = transaction.diff().net
    return Compared(before, view_of(transaction), net, old, new)


# -- files ----------------------------------------------------------------------------------------


def _from_files(
    old: FileSide, new: Side, reasoning: Reasoning, folder: Path, limits: Limits, advance: bool
) -> Iterator[Compared]:
    both = (old, new) if isinstance(new, FileSide) else (old,)
    program = reasoning.program(*both)
    cache = ClosureCache(folder, reasoning.key())
    entry = _closure_of(old, program, reasoning, cache, limits)
    if not isinstance(new, FileSide):
        with Store.read_only(entry.store) as store:
            yield from _from_store(store, new, limits)
        return
    wanted = reasoning.program(new, old)
    if not advance:
        with Store.read_only(entry.store) as store, store.trial() as transaction:
            before = view_of(store.snapshot())
            change = _Change.made(transaction, entry, new, reasoning, wanted, limits)
            yield _in_transaction(before, transaction, *change.files(old, entry))
        return
    with cache.making(entry) as made:
        with Store(made / "store") as store:
            before = view_of(store.snapshot())
            with store.transaction() as transaction:
                change = _Change.made(transaction, entry, new, reasoning, wanted, limits)
                yield _in_transaction(before, transaction, *change.files(old, entry))
                _unlimit(transaction, limits)
        change.keep(cache, made, entry)


@data_class
class _Change:
    """A change of a cached closure into that of other files."""

    side: FileSide
    rows: Mapping[str, QuadRows]
    program: Program
    name: str

    @classmethod
    def made(
        cls,
        transaction: Transaction,
        entry: CachedClosure,
        new: FileSide,
        reasoning: Reasoning,
        program: Program,
        limits: Limits,
    ) -> _Change:
        """Make the change in a transaction on the store of an entry."""
        writer = writer_of(transaction)
        _limit(transaction, limits)
        same = {file.name for file in new.files if _is_in(entry, file)}
        fresh = [file for file in new.files if file.name not in same]
        gone = [name for name in entry.contents if name not in same]
        old = united([entry.rows(name) for name in gone])
        others = (entry.rows(name) for name in sorted(same))
        done = replace_quads(writer, old, read_files(writer, fresh, BASE), others)
        _change_rules(transaction, read(entry.rules) if entry.rules else Program(), program)
        return cls(new, done.rows, program, ClosureCache.name(new, program))

    def files(
        self, old: FileSide, entry: CachedClosure
    ) -> tuple[Mapping[str, tuple[SideFile, QuadRows]], Mapping[str, tuple[SideFile, QuadRows]]]:
        """The changed files of both sides with their quads."""
        now = by_name(self.side.files)
        before = {
            file.name: (file, entry.rows(file.name))
            for file in old.files
            if file.name not in now or now[file.name].content_id != file.content_id
        }
        return before, {name: (now[name], rows) for name, rows in self.rows.items()}

    def keep(self, cache: ClosureCache, made: Path, entry: CachedClosure) -> CachedClosure:
        """Make the changed store an entry of its own."""
        contents = {file.name: file.content_id for file in self.side.files}
        kept = {name: entry.rows(name) for name in contents if name not in self.rows}
        rows = {**kept, **self.rows}
        return cache.finish(made, self.name, contents, rows, _text_of(self.program))


def _is_in(entry: CachedClosure, file: SideFile) -> bool:
    return entry.contents.get(file.name) == file.content_id


def _text_of(program: Program) -> str:
    return str(program) if len(program) else ""


def _change_rules(transaction: Transaction, before: Program, now: Program) -> None:
    gone, come = before - now, now - before
    if len(gone):
        transaction.remove_rules(gone)
    if len(come):
        transaction.add_rules(come)


def _unlimit(transaction: Transaction, limits: Limits) -> None:
    """Take back limits, which are not kept in the cache."""
    if limits.tuning():
        writer = writer_of(transaction)
        tuning = writer.settings.tuning.changed(dict.fromkeys(limits.tuning()))
        writer.apply(replace(writer.settings, tuning=tuning))


def _closure_of(
    side: FileSide, program: Program, reasoning: Reasoning, cache: ClosureCache, limits: Limits
) -> CachedClosure:
    """The cached closure of files; made of the nearest one, or anew, if it is not there."""
    name = cache.name(side, program)
    found = cache.entry(name)
    if found is not None:
        return found
    near = cache.nearest(side)
    with cache.making(near) as made:
        if near is not None:
            with Store(made / "store") as store, store.transaction() as transaction:
                change = _Change.made(transaction, near, side, reasoning, program, limits)
                _unlimit(transaction, limits)
            return change.keep(cache, made, near)
        fresh = Store(made / "store", durability="flush")
        with fresh, fresh.transaction() as transaction:
            writer = writer_of(transaction)
            _limit(transaction, limits)
            rows = read_files(writer, side.files, BASE)
            done = replace_quads(writer, NO_ROWS, rows, ())
            reasoning.start(transaction, program)
            _unlimit(transaction, limits)
        contents = {file.name: file.content_id for file in side.files}
        return cache.finish(made, name, contents, done.rows, _text_of(program))
