"""The database: durable commits of one writer, and the state that readers see.

Start reading at `Database`. A commit is one record in the journal and one new `State`; checkpoints
and merges run in the background (`upkeep/background.py`). Always true: `state` is the last commit
that is durable as requested; it is replaced in one assignment under `commit_lock` and never
changes; the dictionary holds its terms, then those of the current transaction.

Locks, in the order in which they are taken: `writing` (a transaction), `maintenance.lock` (a step
of background work), `commit_lock` (moments).
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Self

from triplestore.errors import CorruptError, LockedError, ReadOnlyError, StorageError, UsageError
from triplestore.relations import Changes, Layer, Tables
from triplestore.relations.layers.allocation import keep_freed_memory
from triplestore.storage import prepare
from triplestore.storage.disk import Disk, FileBatch, refuse_unless_new
from triplestore.storage.files.manifest import NAME as MANIFEST_NAME
from triplestore.storage.files.sections import FileRef
from triplestore.storage.files.system import Files, RealFiles, explained
from triplestore.storage.open_databases import OPEN
from triplestore.storage.prepare import CommitStep
from triplestore.storage.record import Commit, NewTermKeys
from triplestore.storage.recovery import Reader, state_at
from triplestore.storage.state import FileCatalogue, Meta, State
from triplestore.storage.thresholds import STORAGE, StorageThresholds
from triplestore.storage.upkeep.background import BackgroundWork
from triplestore.storage.upkeep.backup import backup
from triplestore.storage.upkeep.info import DatabaseInfo, info_of
from triplestore.storage.upkeep.verify import verify_database
from triplestore.terms import Dictionary, TermSegment

DURABILITIES = ("commit", "group", "flush")


class Database:
    """A dictionary, tables and named bytes, in a directory or in memory.

    >>> from triplestore.relations import ChangedRows
    >>> with Database.open(None) as database:
    ...     ids = database.dictionary.encode_keys([b"\\x01http://a", b"\\x01http://p"])
    ...     a, p = ids.tolist()
    ...     state = database.commit([Changes(facts=ChangedRows.of(([p], [a], [a])))])
    ...     state.commit, state.term_count, state.tables.total()
    (1, 2, 1)
    """

    def __init__(
        self,
        *,
        path: Path | None,
        state: State,
        disk: Disk | None,
        reader: Reader | None,
        durability: str,
        thresholds: StorageThresholds,
        files: Files,
        background: bool,
    ) -> None:
        self.path = path
        self.disk = disk
        self.thresholds = thresholds
        self.durability = durability
        self.files = files
        self.commit_lock = threading.RLock()
        self.broken: BaseException | None = None
        self._state = state
        self.reader = reader
        self.alone = threading.RLock()
        self._owner = os.getpid()
        self._closed = False
        self._syncer: threading.Thread | None = None
        self.upkeep = BackgroundWork(self, background and reader is None)
        OPEN.add(self)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        read_only: bool = False,
        durability: str = "commit",
        create: bool = True,
        files: Files | None = None,
        thresholds: StorageThresholds | None = None,
        background: bool = True,
    ) -> Database:
        """Open the store in a directory; without a path, a new one in memory.

        To write, the lock is taken (LockedError names its holder), and a store is created if none
        exists, unless `create` is false. A read-only store locks and changes nothing, and `refresh`
        reads what others commit. Without `background`, checkpoints and merges wait for
        `maintenance.run()`.
        """
        if durability not in DURABILITIES:
            raise UsageError(
                f"durability must be one of {', '.join(DURABILITIES)}, not {durability!r}"
            )
        keep_freed_memory()
        files = files or RealFiles()
        thresholds = thresholds or STORAGE
        disk = reader = None
        if path is None:
            if read_only:
                raise UsageError(
                    "a store in memory cannot be opened read-only: it would stay empty"
                )
            state = State()
        else:
            path = Path(path)
            if files.exists(path) and not path.is_dir():
                raise StorageError(f"{path} is a file, but a store is a directory")
            if read_only:
                reader = _open_reader(files, path)
                state = reader.found.state
            else:
                disk, found = Disk.open(files, path, create)
                state = found.state
        database = cls(
            path=path,
            state=state,
            disk=disk,
            reader=reader,
            durability=durability,
            thresholds=thresholds,
            files=files,
            background=background,
        )
        database.upkeep.wake()
        return database

    # -- reading --------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """The last commit; of a database opened read-only, as of the last `refresh`."""
        return self._state

    @property
    def dictionary(self) -> Dictionary:
        """The dictionary of the last commit, including new terms of the current transaction."""
        return self._state.dictionary

    @property
    def read_only(self) -> bool:
        """True if it was opened read-only."""
        return self.reader is not None

    def refresh(self) -> State:
        """Read the newest commit of the writer, if opened read-only; return the state."""
        if self.reader is not None:
            self._require_open()
            with self.commit_lock, explained("reading", self._directory()):
                self._state = self.reader.refresh()
        return self._state

    def state_at(self, commit: int) -> State | None:
        """The state after an earlier commit, from the journal; None if that begins later.

        Its ids are those of the current state, and its dictionary may be an earlier part of it.
        """
        if self.path is None or commit > self._state.commit:
            return None
        with self.commit_lock, contextlib.suppress(FileNotFoundError, CorruptError):
            return state_at(self.files, self.path, commit, self._catalogue())
        return None  # another process replaced the files

    # -- writing --------------------------------------------------------------------------------

    @contextmanager
    def writing(self, timeout: float = -1) -> Iterator[Dictionary]:
        """Be the only writer; other threads wait. Terms encoded but not committed are dropped."""
        self.require_writable()
        with self._alone(timeout) as dictionary:
            self.require_writable()
            yield dictionary

    @contextmanager
    def trying(self, timeout: float = -1) -> Iterator[Dictionary]:
        """Like `writing`, without a commit at the end: a database opened read-only takes part.

        There, `refresh` waits until it is over: both add terms to the dictionary.
        """
        self._require_open()
        without_refresh = self.commit_lock if self.reader is not None else nullcontext()
        with without_refresh, self._alone(timeout) as dictionary:
            yield dictionary

    @contextmanager
    def _alone(self, timeout: float = -1) -> Iterator[Dictionary]:
        if not self.alone.acquire(timeout=timeout):
            why = f"another thread has been writing for over {timeout:.3g} seconds: try again later"
            raise LockedError(why)
        try:
            yield self.dictionary
        finally:
            self.rollback()
            self.alone.release()

    def rollback(self) -> None:
        """Remove the terms that were encoded and not committed."""
        self.dictionary.truncate(self._state.term_count)

    def commit(
        self,
        steps: Sequence[CommitStep] = (),
        *,
        segment: TermSegment | None = None,
        meta: Mapping[str, bytes | None] | None = None,
        cleared: bool = False,
        staged: tuple[Tables, Tables] | None = None,
    ) -> State:
        """Commit changes and layers, in order, and all terms added since the last commit.

        Durable on return, as `durability` says; if it raises, nothing was changed.

        segment  new terms
        meta     named bytes to set, or None to remove them; `cleared`: begin with empty tables
        staged   the tables of the last state and of the result, if the caller has made them
        """
        with self.alone:
            self.require_writable()
            if not (steps or meta or cleared):
                return self._state
            mark = self.dictionary.mark()
            try:
                if segment is not None:
                    prepare.add_terms(self.dictionary, segment)
                state = self._commit(steps, dict(meta or {}), cleared, staged)
            except BaseException:
                if segment is not None:
                    self.dictionary.truncate(max(mark, self._state.term_count))
                raise
            self.work_behind()
        return state

    def work_behind(self) -> None:
        """After a commit: begin what goes on behind it."""
        if self.durability == "group":
            self._sync_soon()
        self.upkeep.wake()

    def _commit(
        self,
        steps: Sequence[CommitStep],
        meta: dict[str, bytes | None],
        cleared: bool,
        staged: tuple[Tables, Tables] | None,
    ) -> State:
        term_count = self.dictionary.size
        if self.disk is None:
            with self.commit_lock:
                state = self._next_state(steps, term_count, meta, cleared, staged)
                self._state = state
            return state
        with self.disk.batch() as batch:
            terms = self._keep_terms(batch, term_count)
            steps = [prepare.kept_step(batch, step, self.thresholds) for step in steps]
            batch.sync()
            record = Commit(terms, prepare.logged_steps(batch, steps), meta, cleared)
            payload, refs = record.to_bytes(), record.refs()
            with self.commit_lock:
                state = self._next_state(
                    steps, term_count, meta, cleared, staged, fresh=bool(batch.names)
                )
                self.publish(state, payload, refs, batch)
        return state

    def _next_state(
        self,
        steps: Sequence[CommitStep],
        term_count: int,
        meta: Mapping[str, bytes | None],
        cleared: bool,
        staged: tuple[Tables, Tables] | None,
        fresh: bool = False,
    ) -> State:
        before = self._state
        if staged is not None and staged[0] is before.tables and not fresh:
            tables = staged[1].combined()
        else:
            tables = Tables() if cleared else before.tables
            for step in steps:
                tables = tables.push(Layer.build(step) if isinstance(step, Changes) else step)
            if staged is not None:
                tables = tables.with_schemes(staged[1].schemes)
        changed = before.meta.with_changes(meta) if meta else before.meta
        return State(before.commit + 1, before.dictionary, term_count, tables, changed)

    def publish(
        self,
        state: State,
        payload: bytes,
        refs: Sequence[FileRef] = (),
        batch: FileBatch | None = None,
    ) -> None:
        """Write the record and publish the state, or do neither. The commit lock is held."""
        if (disk := self.disk) is None:
            self._state = state
            return
        position = disk.journal.position()
        try:
            disk.log(state.commit, payload, refs)
            if self.durability == "commit":
                self.sync_journal()
            if batch is not None:
                batch.register()
            self._state = state
        except BaseException:
            if self._state is not state:
                try:
                    disk.journal.take_back(position)
                except OSError as error:
                    self.fail(error)
            if batch is not None and (self.broken is not None or self._state is state):
                batch.keep()  # the record may be on disk, and it names them
            raise

    def _keep_terms(self, batch: FileBatch, term_count: int) -> list[NewTermKeys | FileRef]:
        """The new terms in the form of the record; large segments are written to files."""
        committed = self._state.term_count
        if committed == term_count:
            return []
        with self.commit_lock:  # against background work that replaces segments
            prepare.seal_many(self.dictionary, committed, term_count, self.thresholds)
        return prepare.kept_terms(batch, self.dictionary, committed, term_count, self.thresholds)

    def put_state(self, state: State) -> None:
        """Replace the state by another form of the same commit; the commit lock is held."""
        assert state.commit == self._state.commit
        self._state = state

    # -- durability -----------------------------------------------------------------------------

    def flush(self) -> None:
        """Make everything committed durable."""
        if self.disk is not None:
            self.require_writable()
            self.sync_journal()

    def sync_journal(self) -> None:
        """Make the journal durable. If that fails, the content of the disk is unknown: refuse all
        writing from then on."""
        assert self.disk is not None
        journal = self.disk.journal
        try:
            with explained("syncing", journal.path):
                journal.sync()
        except StorageError as error:
            self.fail(error)
            raise

    def fail(self, error: BaseException) -> None:
        """Refuse all writing from now on."""
        if self.broken is None:
            self.broken = error

    def _sync_soon(self) -> None:
        if self._syncer is None:
            self._syncer = threading.Thread(
                target=self._sync_later, name="triplestore-sync", daemon=True
            )
            self._syncer.start()

    def _sync_later(self) -> None:
        threading.Event().wait(self.thresholds.group_seconds)
        self._syncer = None  # commits from here on may come too late for this sync
        try:
            with self.commit_lock:
                journal = self.disk.journal if self.disk and not self._closed else None
            if journal is not None:
                self.sync_journal()
        except StorageError:
            pass  # the next commit reports it

    def require_writable(self) -> None:
        """Raise unless commits are possible."""
        self._require_open()
        if self.reader is not None:
            raise ReadOnlyError(
                f"{self.path} was opened read-only; open it with Store({str(self.path)!r}) to write"
            )
        if self.broken is not None:
            raise ReadOnlyError(
                f"{self.path} can only be read since this error: {self.broken}. No durable commit "
                f"is lost; close the store, check the disk, and open the store again"
            ) from self.broken
        if os.getpid() != self._owner:
            where = "the store in memory" if self.path is None else self.path
            raise ReadOnlyError(
                f"{where} was opened by process {self._owner}, and this process is a fork of "
                f"it; open the store after forking"
            )

    def _require_open(self) -> None:
        if self._closed:
            raise UsageError(f"the store {self.path or 'in memory'} is closed")

    # -- the whole store ------------------------------------------------------------------------

    def close(self) -> None:
        """Make everything durable and release the directory. States remain readable."""
        if getattr(self, "_closed", True):
            return
        if os.getpid() != self._owner:
            self._closed = True
            return
        OPEN.discard(self)
        with self.alone:
            self.upkeep.stop()
            with self.commit_lock:
                if self._closed:
                    return
                self._closed = True
                disk = self.disk
                if disk is None:
                    return
                try:
                    if self.broken is None:
                        self.sync_journal()
                finally:
                    disk.close(tidy=self.broken is None)

    def optimize(self) -> None:
        """Merge everything into one layer and one term segment, and drop unused terms.

        This changes ids. Readers of older states are not affected.
        """
        with self.alone:
            self.require_writable()
            self.rollback()
            self.upkeep.optimize()

    def backup(self, target: Path | str, *, link: bool = False) -> None:
        """Write the last commit to a new directory, as a store; commits may run meanwhile."""
        self._require_open()
        with self.commit_lock:
            state, catalogue = self._state, FileCatalogue()
            catalogue.update(self._catalogue())
        backup(self.files, state, catalogue, Path(target), link)

    def _catalogue(self) -> FileCatalogue:
        if self.disk is not None:
            return self.disk.catalogue
        return FileCatalogue() if self.reader is None else self.reader.found.catalogue

    def verify(self, *, progress: bool = False) -> list[str]:
        """Compare files with their checksums, and rows with each other; return all problems."""
        self._require_open()
        return verify_database(self, progress)

    def info(self) -> DatabaseInfo:
        """Sizes and other facts about the database."""
        return info_of(self)

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _directory(self) -> Path:
        assert self.path is not None
        return self.path


@atexit.register
def _close_all() -> None:
    """Close databases left open: their last commits become durable, and their locks are
    released."""
    for database in list(OPEN):
        with contextlib.suppress(Exception):
            database.close()


def _open_reader(files: Files, path: Path) -> Reader:
    if not files.exists(path / MANIFEST_NAME):
        refuse_unless_new(files, path, create=False)
    with explained("reading", path):
        return Reader(files, path)


__all__ = ["CommitStep", "Database", "DatabaseInfo", "Meta", "State"]
