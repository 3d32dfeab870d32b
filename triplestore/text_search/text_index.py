"""The text index of a store, for every state that is read: start at `TextIndex.hits`.

The index holds literals, by their ids, and is only added to. Which of them a query sees follows
from the facts of its state, with which they are joined; so removals, rollbacks, snapshots and
inferred facts need nothing here. The work is to have every literal of a state in one of the parts:

    main    in the store's folder (in memory, for a store in memory); written in the background, in
            one batch for many commits
    recent  in memory: literals of commits that the main part lacks, added when a query asks
    apart   in memory: literals of a transaction, which may be rolled back, or of an older state, as
            long as that is read

Always true: an id in a part means the same literal as in the dictionary; `_known` are tables all of
whose literals are in the main or the recent part. `_writing` is taken before `_lock`; `_lock` is
never held while the main part is written.
"""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from triplestore.errors import ReadOnlyError, StorageError, UsageError
from triplestore.operators.context import current
from triplestore.relations.packed_keys import NO_IDS
from triplestore.text_search.index_folder import IndexFolder, digest_of, remove_other_folders
from triplestore.text_search.index_part import (
    Check,
    IndexPart,
    PartState,
    containing,
    count_containing,
    count_in,
    found_in,
    private_part,
)
from triplestore.text_search.literal_index import DamagedIndexError, Hits, LiteralIndex
from triplestore.text_search.literals import Wanted
from triplestore.text_search.settings import TextSettings
from triplestore.text_search.thresholds import TEXT

if TYPE_CHECKING:
    from triplestore.relations import Tables
    from triplestore.relations.packed_keys import U32
    from triplestore.storage import Database, State
    from triplestore.terms import Dictionary

logger = logging.getLogger("triplestore.text_search")

_Answer = TypeVar("_Answer")
_WAIT = 0.05  # seconds between two checks of the limits while another thread has a lock


class TextIndex:
    """The index of the literals of one dictionary, under one definition.

    database  the store; None if the dictionary is that of an older state only
    """

    def __init__(
        self, settings: TextSettings, dictionary: Dictionary, database: Database | None
    ) -> None:
        self.settings = settings
        self._dictionary = weakref.ref(dictionary)
        self._database = None if database is None else weakref.ref(database)
        self._retired = database is None
        self._writes = database is not None and _is_writable(database)
        self._lock = threading.RLock()
        self._writing = threading.RLock()
        self._folder: IndexFolder | None = None
        if database is not None and database.path is not None:
            self._folder = IndexFolder(database.path / settings.folder)
        self._main: IndexPart | None = None
        self._recent: IndexPart | None = None
        self._apart: weakref.WeakKeyDictionary[Tables, IndexPart | None] = (
            weakref.WeakKeyDictionary()
        )
        self._known: tuple[Tables, int] | None = None
        self._unnoted: list[U32] = []  # in the main part, in the order in which they were added

    # -- asking -----------------------------------------------------------------------------------

    def hits(
        self, wanted: Wanted, committed: bool, text: str, language: str, most: int | None = None
    ) -> Hits:
        """The literals of a state that match, perhaps with others that no fact of it has.

        most  about how many are wanted, the best ones; None for all
        """
        return self._asked(wanted, committed, lambda parts: found_in(parts, text, language, most))

    def count(self, wanted: Wanted, committed: bool, text: str, language: str) -> int:
        """About how many literals match."""
        return self._asked(wanted, committed, lambda parts: count_in(parts, text, language))

    def containing(self, wanted: Wanted, committed: bool, texts: Sequence[str]) -> U32:
        """The literals of a state that contain texts of at least three characters, and others;
        whether in capitals or small letters."""
        return self._asked(wanted, committed, lambda parts: containing(parts, texts))

    def count_containing(self, wanted: Wanted, committed: bool, texts: Sequence[str]) -> int:
        """About how many literals these are."""
        return self._asked(wanted, committed, lambda parts: count_containing(parts, texts))

    def _asked(
        self, wanted: Wanted, committed: bool, ask: Callable[[list[PartState]], _Answer]
    ) -> _Answer:
        """What some parts answer; if the files of the main part are damaged, it is made anew."""
        try:
            return ask(self._parts(wanted, committed))
        except DamagedIndexError as error:
            logger.warning("%s; it is made anew", error)
            self._discard_main()
            return ask(self._parts(wanted, committed))

    def _discard_main(self) -> None:
        """Forget the main part, and remove its folder; if it is another process's, use it no
        more."""
        with self._writing, self._lock:
            if self._main is not None and self._writes:
                self._main.index.close()
                if self._folder is not None:
                    self._folder.remove()
            else:
                self._folder = None
            self._main = self._known = None

    def _parts(self, wanted: Wanted, committed: bool) -> list[PartState]:
        """The parts that together have all literals of a state."""
        check = current().check
        while True:
            with _held(self._lock, check):
                if self._bring_up(wanted, committed, check):
                    apart = self._apart_of(wanted, check)
                    parts = (self._main, self._recent, apart)
                    return [part.state for part in parts if part is not None]
            self.catch_up(check)

    def _bring_up(self, wanted: Wanted, committed: bool, check: Check) -> bool:
        """Have the literals of the last commit; False if the main part must be written first."""
        database = self._database_here
        if database is None:
            return True
        state = database.state
        if not self._writes:
            self._read_shared(state)
            if not committed or wanted.tables is not state.tables:
                return True
        elif self._main is None:
            return False
        state_wanted = wanted_of(state)
        missing = self._missing(state_wanted)
        if len(missing):
            if self._writes and (self._folder is None or self._too_many(len(missing))):
                return False
            if self._recent is None:
                self._recent = private_part(self.settings, len(missing))
            self._recent.add(state.dictionary, missing, check)
            self._recent.publish(missing)
        self._known = (state_wanted.tables, state_wanted.size)
        return True

    def _too_many(self, missing: int) -> bool:
        recent = 0 if self._recent is None else len(self._recent.state.ids)
        return recent + missing > TEXT.recent

    def _missing(self, wanted: Wanted) -> U32:
        """The literals of a state that neither the main nor the recent part has."""
        known, size = self._known or (None, 0)
        found = wanted.literals(self.settings.properties, known, size)
        for part in (self._main, self._recent):
            if part is not None:
                found = part.state.ids.lacks(found)
        return found

    def _apart_of(self, wanted: Wanted, check: Check) -> IndexPart | None:
        """What a state needs beside the main and the recent part."""
        if self._known is not None and self._known[0] is wanted.tables:
            return None
        if wanted.tables in self._apart:
            return self._apart[wanted.tables]
        missing = self._missing(wanted)
        made = None
        if len(missing) or (self._main is None and self._recent is None):
            made = private_part(self.settings, len(missing))
            made.add(wanted.dictionary, missing, check)
            made.publish(missing)
        while len(self._apart) >= TEXT.views:
            self._apart.pop(next(iter(self._apart.keys())), None)
        self._apart[wanted.tables] = made
        return made

    @property
    def _database_here(self) -> Database | None:
        """The store, as long as it has these terms."""
        database = None if self._database is None else self._database()
        if self._retired or database is None:
            return None
        if database.state.dictionary is not self._dictionary():
            return None
        return database

    # -- the main part ----------------------------------------------------------------------------

    def catch_up(self, check: Check, *, closing: bool = False) -> None:
        """Add the literals of the last commit to the main part, and note on disk that they are
        there.

        closing  note it even if there are none; if there are many, leave them for the next time
        """
        with _held(self._writing, check):
            database = self._database_here
            if database is None or not self._writes:
                return
            state = database.state
            if self._main is None:
                self._open_main(state)
            assert self._main is not None
            wanted = wanted_of(state)
            with _held(self._lock, check):
                missing = self._missing(wanted)
                if self._recent is not None:
                    more = self._main.state.ids.lacks(self._recent.state.ids.ids)
                    missing = np.union1d(missing, more)
            if closing and len(missing) > TEXT.recent:
                return
            for start in range(0, len(missing), TEXT.batch):
                batch = missing[start : start + TEXT.batch]
                self._main.add(state.dictionary, batch, check)
                with self._lock:
                    self._main.publish(batch)
                self._note(batch, state if start + TEXT.batch >= len(missing) else None)
            with self._lock:
                self._drop_recent()
                if self._known is None or self._known[1] <= wanted.size:
                    self._known = (wanted.tables, wanted.size)
            if closing and not len(missing):
                self._note(missing, state)

    def _drop_recent(self) -> None:
        """Drop the recent part if the main part has all of it."""
        recent, main = self._recent, self._main
        if recent is None or main is None:
            return
        if not len(main.state.ids.lacks(recent.state.ids.ids)):
            self._recent = None

    def _note(self, added: U32, state: State | None) -> None:
        """Note what was added to the main part.

        state  the commit all of whose literals it has now; None if some are not added yet
        """
        folder, database = self._folder, self._database_here
        if folder is None or folder.note is None or database is None:
            return
        if len(added):
            self._unnoted.append(added)  # until it is noted, whatever fails
        terms = database.state.term_count if state is None else state.term_count
        commit = folder.note.commit if state is None else state.commit
        if self._unnoted or commit != folder.note.commit:
            try:
                database.flush()
            except StorageError as error:  # the store can only be read from now on
                logger.warning("what was added to the text index is not noted: %s", error)
                return
            last = digest_of(database.state.dictionary, terms)
            folder.write(np.concatenate([NO_IDS, *self._unnoted]), commit, terms, last)
            self._unnoted = []

    def _open_main(self, state: State) -> None:
        """Open the main part, or make it anew if it is missing or wrong."""
        folder = self._folder
        if folder is None:
            self._main = IndexPart(self._new_index(None))
            return
        remove_other_folders(folder.path.parent, self.settings.folder)
        main = self._opened(folder, state.dictionary, writes=True)
        if main is None:
            logger.info("making the text index %s", folder.path)
            folder.begin()
            self._unnoted = []
            main = IndexPart(self._new_index(folder))
        with self._lock:
            self._main = main
            if folder.note is not None and folder.note.commit == state.commit:
                self._known = (state.tables, state.term_count)

    def _new_index(self, folder: IndexFolder | None, *, writes: bool = True) -> LiteralIndex:
        settings = self.settings
        return LiteralIndex(
            settings.stemmers,
            None if folder is None else folder.index,
            substrings=settings.substrings,
            writes=writes,
        )

    def _opened(
        self, folder: IndexFolder, dictionary: Dictionary, *, writes: bool
    ) -> IndexPart | None:
        """The index in a folder; None if it is missing, damaged, or of other terms."""
        if not folder.read() or folder.note is None:
            return None
        note = folder.note
        if not note.fits(dictionary) or (writes and note.terms > dictionary.size):
            return None
        if folder.damaged_files():
            return None
        try:
            index = self._new_index(folder, writes=writes)
            if writes and len(index) > note.count:  # added after the note was written
                index.drop_from(note.count)
                index.commit()
            if len(index) < note.count or (writes and len(index) > note.count):
                index.close()
                return None
        except (ValueError, OSError, RuntimeError) as error:
            logger.warning("the text index %s cannot be read: %s", folder.path, error)
            return None
        return IndexPart(index, folder.ids)

    def _read_shared(self, state: State) -> None:
        """Read what another process has noted, if there may be more of it than before."""
        folder = self._folder
        if folder is None or (self._known is not None and self._known[0] is state.tables):
            return
        if folder.note is not None and folder.note.commit >= state.commit:
            return
        part = self._opened(folder, state.dictionary, writes=False)
        if part is not None:
            self._main = part
            self._drop_recent()
            if folder.note is not None and folder.note.commit == state.commit:
                self._known = (state.tables, state.term_count)

    # -- upkeep -----------------------------------------------------------------------------------

    def is_ready(self) -> bool:
        """Whether a search can begin now: the index is there, and lacks at most a few literals."""
        if not self.is_open or not self._lock.acquire(blocking=False):
            return False
        try:
            database = self._database_here
            if database is None or self._known is None:
                return False
            return not self._too_many(len(self._missing(wanted_of(database.state))))
        finally:
            self._lock.release()

    @property
    def is_open(self) -> bool:
        """Whether the index was used in this process."""
        return self._main is not None or self._recent is not None

    @property
    def literals(self) -> int:
        """How many literals are indexed."""
        recent, main = self._recent, self._main
        found = 0 if main is None else len(main.state.ids)
        if recent is not None:
            ids = recent.state.ids.ids
            found += len(ids if main is None else main.state.ids.lacks(ids))
        return found

    @property
    def adding(self) -> int:
        """How many literals are being added to the main part."""
        return 0 if self._main is None else self._main.adding

    def retire(self, *, remove: bool = False) -> None:
        """Stop writing: the store gives terms other ids, or is closed; older states can be read."""
        with self._writing, self._lock:
            self._retired = True
            if self._main is not None and self._writes:
                self._main.index.close()
                if self._folder is not None and not remove:
                    self._folder.note_files()
            if remove and self._writes and self._folder is not None:
                self._folder.remove()


@contextmanager
def _held(lock: threading.RLock, check: Check) -> Iterator[None]:
    """A block with a lock; the limits are checked while another thread has it."""
    while not lock.acquire(timeout=_WAIT):
        check()
    try:
        yield
    finally:
        lock.release()


def _is_writable(database: Database) -> bool:
    """Whether this process may write to a store: not if it is the fork of another one."""
    try:
        database.require_writable()
    except (ReadOnlyError, UsageError):
        return False
    return True


def wanted_of(state: State) -> Wanted:
    """What a committed state needs."""
    return Wanted(state.dictionary, state.tables, state.term_count)
