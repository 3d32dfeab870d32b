"""Background work: checkpoints, merges, and writing zeros ahead of the journal.

Start reading at `BackgroundWork.step`. One step runs at a time, on one background thread that
exists only while there is work (or in the caller's thread, for tests). A step does its long work
without blocking commits, and takes the commit lock only for moments: to switch to a new journal,
and to replace parts by equivalent ones. A merge may take minutes: it pauses every few milliseconds
for urgent work (the journal must stay short), and stops when the store is closed. If a step fails,
no commit is affected: its new files are removed, and it is retried later.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Protocol

from triplestore.data_classes import data_class
from triplestore.errors import StorageError
from triplestore.relations import Layer, Tables, merge_layers
from triplestore.storage.disk import Disk, FileBatch
from triplestore.storage.files.manifest import Manifest
from triplestore.storage.files.sections import SectionFile
from triplestore.storage.files.system import explained
from triplestore.storage.metadata import HISTORY
from triplestore.storage.record import restored
from triplestore.storage.state import KeptPart, State
from triplestore.storage.thresholds import StorageThresholds
from triplestore.storage.upkeep.optimize import compact
from triplestore.storage.upkeep.outline import layer_parts, term_parts
from triplestore.terms import Dictionary, TermSegment

_NICE = 5

Swap = tuple[int, int, Layer]
"""Layers [start, stop) of the tables, and the equivalent layer that replaces them."""


@data_class
class ManifestParts:
    """The parts that a manifest names, as objects."""

    terms: Sequence[TermSegment]
    layers: Sequence[Layer]
    meta_file: SectionFile | None


class DatabaseClosing(Exception):  # noqa: N818 - no error: the store is being closed
    """Raised in a merge when the database is being closed."""


class MaintainedDatabase(Protocol):
    """The part of a database that background work uses."""

    broken: BaseException | None

    @property
    def commit_lock(self) -> AbstractContextManager[object]:
        """Held while the state changes."""

    @property
    def disk(self) -> Disk | None:
        """The files of a database that is not in memory."""

    @property
    def thresholds(self) -> StorageThresholds:
        """When work is due."""

    @property
    def state(self) -> State:
        """The last commit."""

    @property
    def dictionary(self) -> Dictionary:
        """The dictionary of the last commit."""

    def put_state(self, state: State) -> None:
        """Replace the state by another form of the same commit."""

    def sync_journal(self) -> None:
        """Make the journal durable."""

    def fail(self, error: BaseException) -> None:
        """Refuse all writing from now on."""


class BackgroundWork:
    """Background work of one database.

    `merging` is held during a merge, and `lock` while the manifest and its files change, so that a
    holder knows that no file is being replaced. `error` is the reason why the last step failed.
    `keeper` is told before a journal goes; if a store keeps its history, the journal stays until
    there is one.
    """

    def __init__(self, database: MaintainedDatabase, background: bool) -> None:
        self.merging = threading.RLock()
        self.lock = threading.RLock()
        self.error: BaseException | None = None
        # Weak, so that a store that was not closed is released when it is not used anymore.
        self._reference = weakref.ref(database)
        self.keeper: Callable[[State], None] | None = None
        self._background = background
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._stopping = False
        self._urgent_runs = False
        self._not_before = 0.0
        self._layers_found = len(database.state.tables.layers)
        self._settled = time.monotonic() + database.thresholds.settle_seconds

    @property
    def _database(self) -> MaintainedDatabase:
        database = self._reference()
        assert database is not None
        return database

    # -- when -----------------------------------------------------------------------------------

    def wake(self) -> None:
        """Called after each commit: start the thread if there is work and it is not running."""
        if not self._background or self._stopping or self._next() is None:
            return
        with self._starting:
            if self._thread is None and not self._stopping:
                self._thread = threading.Thread(
                    target=self._run, name="triplestore-maintenance", daemon=True
                )
                self._thread.start()

    def run(self) -> None:
        """Do all work that is due, in this thread; a step that fails raises."""
        while self.step():
            pass

    def stop(self) -> None:
        """Wait until the current step ends or gives up, and begin no other."""
        self._stopping = True
        with self._starting:
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        _give_way()
        while self._run_once():
            pass

    def _run_once(self) -> bool:
        """A step, on the thread; False if the thread ends here."""
        database = self._reference()
        if database is None:
            return False
        try:
            if not self._stopping and self.step():
                return True
        except DatabaseClosing:
            pass
        except Exception as error:  # noqa: BLE001 - kept for `info`; commits must go on
            self.error = error
            self._not_before = time.monotonic() + database.thresholds.retry_seconds
        with self._starting:
            if not self._stopping and self._next() is not None:
                return True
            self._thread = None
            return False

    def step(self) -> bool:
        """Do one piece of work that is due; False if none is."""
        if self._do_urgent():
            return True
        with self.merging:
            work = self._mergeable()
            if work is None:
                return False
            work()
            self.error = None
            return True

    def _do_urgent(self) -> bool:
        with self.lock:
            work = self._urgent()
            if work is None:
                return False
            self._urgent_runs = True
            try:
                work()
            finally:
                self._urgent_runs = False
            self.error = None
            return True

    def _pause(self) -> None:
        """Called every few milliseconds of long work on the background thread."""
        if self._urgent_runs:
            return
        if self._stopping:
            raise DatabaseClosing
        self._do_urgent()

    def _next(self) -> Callable[[], None] | None:
        """The next due work; cheap, as it is called after every commit."""
        return self._urgent() or self._mergeable()

    def _urgent(self) -> Callable[[], None] | None:
        """Due work that keeps the journal short and fast to write."""
        database = self._database
        disk = database.disk
        if disk is None or not self._may_try():
            return None
        thresholds, journal = database.thresholds, disk.journal
        if disk.records >= thresholds.journal_records or journal.end >= thresholds.journal_bytes:
            return self.checkpoint
        if disk.records >= thresholds.reserve_after and journal.wants_reserve:
            return self._reserve
        return None

    def _mergeable(self) -> Callable[[], None] | None:
        """Due work that keeps layers and term segments few."""
        database = self._database
        if not self._may_try():
            return None
        if database.state.tables.plan_merge() is not None:
            work = self._merge_layers
        elif database.disk is not None and self._plan_terms(database.disk.terms) is not None:
            work = self._merge_terms
        else:
            return None
        return None if self._is_settling() else work

    def _is_settling(self) -> bool:
        """Whether merges wait because the store was opened a moment ago: who opens a store for a
        few writes need not begin to merge what the last process left."""
        database = self._database
        if not (self._background and self._layers_found) or time.monotonic() >= self._settled:
            return False
        new = len(database.state.tables.layers) - self._layers_found
        return new <= database.thresholds.settle_layers

    def _may_try(self) -> bool:
        database = self._database
        if self.keeper is None and database.disk is not None and HISTORY in database.state.meta:
            return False
        return database.broken is None and time.monotonic() >= self._not_before

    # -- journal --------------------------------------------------------------------------------

    def _reserve(self) -> None:
        """Write zeros ahead of the journal; on a full disk records are simply appended."""
        database, disk = self._database, self._disk()
        journal = disk.journal
        with database.commit_lock, explained("writing zeros ahead in", journal.path):
            journal.reserve()
        try:
            with explained("syncing", journal.path):
                journal.sync_reserve()
        except StorageError as error:  # records may be affected
            database.fail(error)
            raise

    def checkpoint(self) -> None:
        """Write everything that is only in the journal to files, and begin a new journal."""
        if self._database.disk is None:
            return
        with self.lock:
            database, disk = self._database, self._disk()
            state = self._rotate(database, disk)
            if self.keeper is not None:
                self.keeper(state)
            with disk.batch(self._pause) as batch:
                new, swaps = self._complete(disk, batch, state)
                manifest = replace(
                    disk.manifest,
                    commit=state.commit,
                    durable=state.commit,
                    journal=disk.journal.number,
                    term_count=state.term_count,
                )
                self._publish(disk, batch, manifest, new)
                self._adopt(disk, batch, new, state.tables.layers, swaps)
            disk.remove_strangers()

    def _complete(
        self, disk: Disk, batch: FileBatch, state: State
    ) -> tuple[ManifestParts, list[Swap]]:
        """All parts of a state in files: existing files, and new ones for the other parts."""
        terms = [
            segment if kept else batch.terms(segment)
            for segment, kept in term_parts(state, disk.is_kept)
        ]
        layers: list[Layer] = []
        swaps: list[Swap] = []
        for start, stop, layer, kept in layer_parts(state, disk.is_kept):
            if not kept and layer.rows:
                layer = batch.layer(layer)
            if not kept:
                swaps.append((start, stop, layer))
            if layer.rows:
                layers.append(layer)
        return ManifestParts(terms, layers, batch.meta(state.meta)), swaps

    def _rotate(self, database: MaintainedDatabase, disk: Disk) -> State:
        """Switch to a new journal; return the state at that moment, whose layers are sealed."""
        journal = disk.new_journal()
        try:
            with database.commit_lock:
                database.sync_journal()
                state = database.state
                sealed = replace(state, tables=state.tables.sealed())
                database.put_state(sealed)
                disk.rotate(journal, state.commit)
                return sealed
        except BaseException:
            journal.close()
            raise

    def _publish(
        self, disk: Disk, batch: FileBatch, manifest: Manifest, new: ManifestParts
    ) -> None:
        """Write the manifest of new parts and make it current, durably.

        If the last step fails, either manifest may be current: no file of either may be removed.
        """
        batch.sync()
        prepared = disk.prepare(
            replace(
                manifest,
                terms=tuple(batch.ref_of(part) or disk.ref_of(part) for part in new.terms),
                layers=tuple(batch.ref_of(part) or disk.ref_of(part) for part in new.layers),
                meta=new.meta_file.ref if new.meta_file else None,
            )
        )
        batch.keep()
        try:
            disk.publish(prepared)
        except BaseException as error:
            self._database.fail(error)
            raise

    def _adopt(
        self,
        disk: Disk,
        batch: FileBatch,
        new: ManifestParts,
        old: Sequence[Layer],
        swaps: Sequence[Swap],
    ) -> None:
        """Let the newest state read from the new files."""
        database = self._database
        with database.commit_lock:
            batch.register()
            for segment in new.terms:
                if batch.ref_of(segment) is not None:
                    database.dictionary.replace([], segment)
            self._swap_layers(old, swaps)
            newest = database.state
            in_use: tuple[KeptPart, ...] = (*newest.tables.layers, *database.dictionary.segments)
            disk.adopt(new.terms, new.layers, new.meta_file, in_use)

    def _swap_layers(self, old: Sequence[Layer], swaps: Sequence[Swap]) -> None:
        """Replace layers by the merged ones, unless the store was cleared meanwhile."""
        state = self._database.state
        tables = state.tables
        now = tables.layers[: len(old)]
        if len(now) < len(old) or any(a is not b for a, b in zip(now, old, strict=True)):
            return  # a commit cleared the store
        for start, stop, layer in sorted(swaps, key=lambda swap: -swap[0]):
            tables = tables.replace(start, stop, layer)
        self._database.put_state(replace(state, tables=tables))

    # -- merging --------------------------------------------------------------------------------

    def _merge_layers(self) -> None:
        """Merge the layers that the tables propose."""
        database, disk = self._database, self._database.disk
        tables = database.state.tables
        plan = tables.plan_merge()
        if plan is None:
            return
        start, stop = plan
        old = tables.layers[:stop]
        if disk is None or not any(disk.is_kept(layer) for layer in old[start:]):
            merged = merge_layers(old[start:], start == 0, pause=self._pause)
            with self.lock, database.commit_lock:
                self._swap_layers(old, [(start, stop, merged)])
        elif disk.layers[:stop] == old:
            self._merge_files(disk, start, stop)
        else:
            self.checkpoint()  # the manifest must have all of them first

    def _merge_files(self, disk: Disk, start: int, stop: int) -> None:
        """Merge layers [start, stop) of the manifest."""
        old = disk.layers[:stop]
        merged = merge_layers(old[start:], start == 0, pause=self._pause)
        with disk.batch(self._pause) as batch:
            if merged.rows:
                merged = batch.layer(merged)
            with self.lock:
                if disk.layers[:stop] == old:  # else a checkpoint came after a `clear`
                    kept = [merged] if merged.rows else []
                    layers = [*old[:start], *kept, *disk.layers[stop:]]
                    new = ManifestParts(disk.terms, layers, disk.meta_file)
                    self._publish(disk, batch, disk.manifest, new)
                    self._adopt(disk, batch, new, old, [(start, stop, merged)])
        disk.remove_strangers()

    def _plan_terms(self, terms: Sequence[TermSegment]) -> int | None:
        """The first segment to merge: the later ones together are not small compared with it."""
        tier, above, start = self._database.thresholds.term_tier, 0, None
        for place in range(len(terms) - 1, -1, -1):
            if above and terms[place].count <= tier * above:
                start = place
            above += terms[place].count
        return start

    def _merge_terms(self) -> None:
        """Merge the term segments of the manifest that are due."""
        disk = self._disk()
        start = self._plan_terms(disk.terms)
        if start is None:
            return
        old = disk.terms
        for segment in old[start:]:  # those that an older version wrote have no parts
            self._database.dictionary.know_parts(segment)
        merged = TermSegment.merge(old[start:])
        with disk.batch(self._pause) as batch:
            merged = batch.terms(merged)
            with self.lock:  # checkpoints meanwhile only append
                terms = [*old[:start], merged, *disk.terms[len(old) :]]
                new = ManifestParts(terms, disk.layers, disk.meta_file)
                self._publish(disk, batch, disk.manifest, new)
                self._adopt(disk, batch, new, (), ())
        disk.remove_strangers()

    def optimize(self) -> None:
        """Everything in one layer and one term segment, without unused terms.

        The caller is the writer: no transaction is open, so ids may change.
        """
        with self.merging, self.lock:
            database, disk = self._database, self._database.disk
            if disk is None:
                database.put_state(compact(database.state))
                return
            self.checkpoint()
            state = compact(database.state)
            journal = disk.new_journal(follows=False)  # its records will have the new ids
            with disk.batch() as batch:
                terms = [batch.terms(segment) for segment in state.dictionary.segments]
                layers = [batch.layer(layer) for layer in state.tables.layers]
                new = ManifestParts(terms, layers, disk.meta_file)
                manifest = replace(
                    disk.manifest, term_count=state.term_count, journal=journal.number
                )
                self._publish(disk, batch, manifest, new)
                with database.commit_lock:
                    batch.register()
                    disk.rotate(journal, state.commit)
                    dictionary = Dictionary(terms)
                    tables = restored(Tables(layers, sealed=True), dictionary, state.meta)
                    state = replace(state, dictionary=dictionary, tables=tables)
                    database.put_state(state)
                    disk.adopt(terms, layers, disk.meta_file, ())
            disk.remove_strangers()

    def _disk(self) -> Disk:
        disk = self._database.disk
        assert disk is not None
        return disk


def _give_way() -> None:
    """Give this thread a lower priority than commits; only Linux has priorities of threads."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
