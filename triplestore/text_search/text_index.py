"""The text index of a store, for every state that somebody reads: start at `TextIndex.hits`.

The index holds literals, by their ids, and is only added to. Which of them a query sees follows
from the facts of its state, with which they are joined; so removals, rollbacks, snapshots and
inferred facts need nothing here. What must be seen to is that every literal of a state is indexed:

- The literals of the last commit are added when a query asks for them, or in the background
  (`upkeep.py`), in one batch for many commits.
- Those of a transaction, which may be rolled back, and of an older state, as far as they are
  missing, are indexed apart, in memory, as long as that state is read.
- A process that only reads uses the writer's folder, and adds what that lacks in memory.

Always true: an id in `_own` or `_shared` means the same literal as in the dictionary; `_own` or
`_shared` has every literal that `_known` needs.
"""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from triplestore.errors import ReadOnlyError, UsageError
from triplestore.operators.context import current
from triplestore.relations.packed_keys import NO_IDS, U32
from triplestore.text_search.index_folder import IndexFolder, digest_of, remove_other_folders
from triplestore.text_search.index_part import Check, IndexPart, joined, private_part
from triplestore.text_search.literal_index import Hits, LiteralIndex
from triplestore.text_search.literals import Wanted
from triplestore.text_search.settings import TextSettings
from triplestore.text_search.thresholds import TEXT

if TYPE_CHECKING:
    from triplestore.relations import Tables
    from triplestore.storage import Database, State
    from triplestore.terms import Dictionary

logger = logging.getLogger("triplestore.text_search")

_WAIT = 0.05  # seconds between two checks of the limits while another thread has the lock


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
        self._lock = threading.RLock()
        self._folder: IndexFolder | None = None
        self._writes = database is not None and _is_writable(database)
        self._own: IndexPart | None = None
        self._shared: IndexPart | None = None
        self._known: tuple[Tables, int] | None = None  # tables whose literals are all indexed
        self._unnoted: list[U32] = []  # added to the folder's index, but not in its note
        self._apart: weakref.WeakKeyDictionary[Tables, IndexPart | None] = (
            weakref.WeakKeyDictionary()
        )
        if database is not None and database.path is not None:
            self._folder = IndexFolder(database.path / settings.folder)
        self._retired = database is None

    # -- asking -----------------------------------------------------------------------------------

    def hits(self, wanted: Wanted, committed: bool, text: str, language: str) -> Hits:
        """The literals of a state that match, perhaps with others that no fact of it has."""
        found = []
        before = None
        for part in self._parts(wanted, committed):
            found.append(part.search(text, language, None if before is None else before.ids))
            before = part if before is None else before
        return joined(found)

    def count(self, wanted: Wanted, committed: bool, text: str, language: str) -> int:
        """About how many literals match."""
        return sum(part.count(text, language) for part in self._parts(wanted, committed))

    def _parts(self, wanted: Wanted, committed: bool) -> list[IndexPart]:
        """The parts that together have all literals of a state."""
        check = current().check
        with self._locked(check):
            self._bring_up(check)
            if committed and self._database_here is not None and self._is_newest(wanted):
                self._grow_own(wanted, check)
            apart = self._apart_of(wanted, check)
            parts = [self._shared, self._own, apart]
        return [part for part in parts if part is not None]

    @contextmanager
    def _locked(self, check: Check) -> Iterator[None]:
        """Hold the lock; the limits are checked while another thread has it."""
        while not self._lock.acquire(timeout=_WAIT):
            check()
        try:
            yield
        finally:
            self._lock.release()

    # -- the parts --------------------------------------------------------------------------------

    @property
    def _database_here(self) -> Database | None:
        """The store, as long as it has these terms."""
        database = None if self._database is None else self._database()
        if self._retired or database is None:
            return None
        if database.state.dictionary is not self._dictionary():
            return None
        return database

    def _is_newest(self, wanted: Wanted) -> bool:
        database = self._database_here
        return database is not None and database.state.tables is wanted.tables

    def _bring_up(self, check: Check) -> None:
        """Open the index, and add the literals of the last commit if this process writes."""
        database = self._database_here
        if database is None:
            if self._own is None:
                self._own = private_part(self.settings.stemmers, 0)
            return
        if not self._writes:
            self._read_shared(database.state)
            return
        if self._own is None:
            self._open_own(database.state)
        state = database.state
        self._grow_own(wanted_of(state), check)

    def _grow_own(self, wanted: Wanted, check: Check) -> None:
        """Add the literals of a state to the process's own part."""
        missing = self._missing(wanted)
        if self._own is None and (len(missing) or self._shared is None):
            self._own = private_part(self.settings.stemmers, len(missing))
        for start in range(0, len(missing), TEXT.batch):
            batch = missing[start : start + TEXT.batch]
            assert self._own is not None
            self._own.grow(wanted.dictionary, batch, check)
            if self._writes and self._folder is not None:
                self._unnoted.append(batch)
        if self._retired:
            return
        self._known = (wanted.tables, wanted.size)

    def _missing(self, wanted: Wanted) -> U32:
        """The literals of a state that neither part has."""
        known, size = self._known or (None, 0)
        found = wanted.literals(self.settings.properties, known, size)
        for part in (self._own, self._shared):
            if part is not None:
                found = part.lacks(found)
        return found

    def _apart_of(self, wanted: Wanted, check: Check) -> IndexPart | None:
        """What a state needs beside the parts that are kept."""
        if self._known is not None and self._known[0] is wanted.tables:
            return None
        if wanted.tables in self._apart:
            return self._apart[wanted.tables]
        missing = self._missing(wanted)
        made = None
        if len(missing):
            made = private_part(self.settings.stemmers, len(missing))
            made.grow(wanted.dictionary, missing, check)
        while len(self._apart) >= TEXT.views:
            self._apart.pop(next(iter(self._apart.keys())), None)
        self._apart[wanted.tables] = made
        return made

    # -- the folder -------------------------------------------------------------------------------

    def _open_own(self, state: State) -> None:
        """Open the index that this process writes, or make it anew if it is missing or wrong."""
        if self._folder is None:
            self._own = IndexPart(LiteralIndex(self.settings.stemmers))
            return
        remove_other_folders(self._folder.path.parent, self.settings.folder)
        self._own = self._opened(self._folder, state.dictionary, writes=True)
        note = self._folder.note
        if self._own is None:
            logger.info("making the text index %s", self._folder.path)
            self._folder.begin()
            self._own = IndexPart(LiteralIndex(self.settings.stemmers, self._folder.index))
        elif note is not None and note.commit == state.commit:
            self._known = (state.tables, state.term_count)

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
            index = LiteralIndex(self.settings.stemmers, folder.index, writes=writes)
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
        """Read what another process has noted, if there is more of it than before."""
        folder = self._folder
        if folder is None or (self._known is not None and self._known[0] is state.tables):
            return
        before = folder.note
        if before is not None and before.commit >= state.commit:
            return
        part = self._opened(folder, state.dictionary, writes=False)
        if part is not None:
            self._shared = part
            if folder.note is not None and folder.note.commit == state.commit:
                self._known = (state.tables, state.term_count)

    # -- upkeep -----------------------------------------------------------------------------------

    def catch_up(self, check: Check) -> None:
        """Add the literals of the last commit, and note on disk that they are there."""
        with self._lock:
            database = self._database_here
            if database is None or not self._writes:
                return
            self._bring_up(check)
            folder = self._folder
            if folder is None or self._own is None or folder.note is None or self._known is None:
                return
            state, own = database.state, folder.note
            if state.tables is not self._known[0]:
                return  # committed since: the next turn notes it
            if own.commit == state.commit and not self._unnoted:
                return
            database.flush()
            last = digest_of(state.dictionary, state.term_count)
            added = np.concatenate(self._unnoted) if self._unnoted else NO_IDS
            folder.write(added, state.commit, state.term_count, last)
            self._unnoted = []

    @property
    def is_open(self) -> bool:
        """Whether the index was used in this process."""
        return self._own is not None or self._shared is not None

    @property
    def literals(self) -> int:
        """How many literals are indexed."""
        return sum(len(part.ids) for part in (self._own, self._shared) if part is not None)

    def retire(self, *, remove: bool = False) -> None:
        """Stop writing: the store gives terms other ids, or is closed; older states can be read."""
        with self._lock:
            self._retired = True
            if self._own is not None and self._writes:
                self._own.index.close()
            if remove and self._writes and self._folder is not None:
                self._folder.remove()


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
