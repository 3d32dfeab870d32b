"""The history of a store: what each kept commit changed, and when it was made.

Start at `HistoryLog`. A record is added after each commit. It needs no sync, because the store's
journal can make it again: `complete` does so when a crash took some away, and the journal does not
go before that (`BackgroundWork.keeper`). Always true after `complete`: there is a record for each
commit from the first kept one to the newest.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triplestore.data_classes import data_class
from triplestore.errors import CorruptError
from triplestore.reasoning.outcome import Change, change_of
from triplestore.rules.simplify import is_helper
from triplestore.storage import Database, State
from triplestore.storage.files.manifest import read_manifest
from triplestore.storage.metadata import COMMIT_NOTE
from triplestore.storage.recovery import states_from
from triplestore.storage.state import value_of
from triplestore.versions.back_changes import back_changes, reversed_changes
from triplestore.versions.history_limits import HistoryLimits
from triplestore.versions.history_records import JournalRecords, MemoryRecords, Records
from triplestore.versions.keyed_changes import KeyedChanges

if TYPE_CHECKING:
    from triplestore.live.published import Published

_COUNTS = (
    "added",
    "removed",
    "still_entailed",
    "inferred_added",
    "inferred_removed",
    "new_violations",
    "graphs_added",
    "graphs_removed",
)


@data_class
class CommitInfo:
    """A commit of the history; prints as a line.

    time             seconds since 1970
    message, author  what `transaction(message=..., author=...)` said, or None
    change           its counts

    >>> print(CommitInfo(7, 0.0, Change(added=2), "two more"))
    7  1970-01-01 00:00:00Z  added 2  two more
    """

    commit: int
    time: float
    change: Change
    message: str | None = None
    author: str | None = None

    def __str__(self) -> str:
        made = time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime(self.time))
        said = [self.message, f"({self.author})" if self.author else None]
        return "  ".join(part for part in (str(self.commit), made, str(self.change), *said) if part)

    def as_dict(self) -> dict[str, Any]:
        """The same, fit for JSON."""
        counts = {name: getattr(self.change, name) for name in _COUNTS}
        said = {"message": self.message, "author": self.author}
        return {"commit": self.commit, "time": self.time, **said, **counts}


@data_class
class _Entry:
    info: CommitInfo
    size: int


class HistoryLog:
    """The records of one store, and what is kept of them."""

    def __init__(self, database: Database, limits: HistoryLimits) -> None:
        self.limits = limits
        self.lock = threading.RLock()
        self._database = database
        self._records = _records_of(database, limits)
        self._entries: dict[int, _Entry] = {}
        for commit, note, size in self._records.all():
            self._entries[commit] = _Entry(_info_of(commit, json.loads(note)), size)

    # -- commits ----------------------------------------------------------------------------------

    def note(self, published: Published) -> None:
        """Add the record of a commit, and drop what is not kept any more."""
        with self.lock:
            before, after = published.before, published.after
            if after.commit <= self._records.last:
                return
            self.complete(before)
            if before.commit == after.commit - 1:
                back = back_changes(before, after, published.steps, published.cleared)
                self._add(after, back, published.change)
            self._drop()

    def complete(self, state: State) -> None:
        """Make the records that are missing up to a state, from the journal of the store."""
        with self.lock:
            if self._records.last >= state.commit or self._database.path is None:
                return
            for before, after in pairwise(self._journal_states(self._records.last)):
                if self._records.last < after.commit <= state.commit:
                    self._add(after, back_changes(before, after), None)

    def keep(self, state: State) -> None:
        """Make all records up to a state durable: the journal that has its commits may go."""
        with self.lock:
            self.complete(state)
            self._records.sync()

    def _journal_states(self, commit: int) -> Iterator[State]:
        """The states from one after this commit on that the journal can still give."""
        database = self._database
        assert database.path is not None
        first = max(commit, read_manifest(database.files, database.path).commit)
        try:
            yield from states_from(database.files, database.path, first)
        except (FileNotFoundError, CorruptError):
            return  # the files were replaced by another process, which keeps the history

    def _add(self, after: State, back: KeyedChanges, change: Change | None) -> None:
        note = value_of(after.meta, COMMIT_NOTE, json.loads, {"time": time.time()})
        if change is None:
            counted = reversed_changes(back.changes)
            change = change_of(counted, lambda name: is_helper(back.keys[name - 1]))
        counts = {name: value for name in _COUNTS if (value := getattr(change, name))}
        said = {**note, "change": counts}
        text = json.dumps(said, ensure_ascii=False).encode()
        size = self._records.append(after.commit, text, back.to_bytes())
        self._entries[after.commit] = _Entry(_info_of(after.commit, said), size)

    def _drop(self) -> None:
        first = self.first_kept()
        self._records.drop_before(first)
        for commit in [each for each in self._entries if each < self._records.first]:
            del self._entries[commit]

    # -- what is kept -----------------------------------------------------------------------------

    @property
    def last(self) -> int:
        """The newest commit that has a record."""
        return self._records.last

    def first_kept(self) -> int:
        """The first commit within the limits; the newest one always is."""
        limits, last = self.limits, self._records.last
        first = max(self._records.first, limits.since)
        if limits.commits is not None:
            first = max(first, last - limits.commits + 1)
        if limits.age is not None:
            oldest = time.time() - limits.age
            while first < last and self._entries[first].info.time < oldest:
                first += 1
        if limits.size is not None:
            size, commit = 0, last
            while commit >= first and (size := size + self._entries[commit].size) <= limits.size:
                commit -= 1
            first = max(first, commit + 1)
        return min(first, last) if self._entries else last + 1

    def infos(self) -> list[CommitInfo]:
        """The kept commits, newest first."""
        with self.lock:
            first = self.first_kept()
            known = sorted(self._entries, reverse=True)
            return [self._entries[commit].info for commit in known if commit >= first]

    def back(self, commit: int) -> KeyedChanges:
        """What leads from the state after a commit to the one before it."""
        with self.lock:
            return KeyedChanges.of_bytes(self._records.read(commit))

    def size(self) -> int:
        """The bytes of all kept records."""
        first = self.first_kept()
        return sum(entry.size for commit, entry in self._entries.items() if commit >= first)

    def copy_to(self, directory: Path) -> None:
        """Copy what is kept to a copy of the store, as far as that has the commits."""
        manifest = read_manifest(self._database.files, directory)
        records = JournalRecords(
            self._database.files, directory, manifest.store, manifest.commit, writable=True
        )
        with self.lock:
            self.complete(self._database.state)
            for commit in range(self.first_kept(), min(manifest.commit, self.last) + 1):
                records.append(commit, self._note_of(commit), self._records.read(commit))
        records.sync()
        records.close()

    def problems(self) -> list[str]:
        """What is wrong with the files, in words."""
        try:
            with self.lock:
                for commit in range(self.first_kept(), self.last + 1):
                    KeyedChanges.of_bytes(self._records.read(commit))
        except (OSError, ValueError, KeyError, IndexError) as error:
            return [f"the history: {error}"]
        return []

    def _note_of(self, commit: int) -> bytes:
        info = self._entries[commit].info
        counts = {name: value for name in _COUNTS if (value := getattr(info.change, name))}
        said = {"time": info.time, "message": info.message, "author": info.author}
        return json.dumps({**said, "change": counts}, ensure_ascii=False).encode()

    def close(self) -> None:
        """Close all files."""
        with self.lock:
            self._records.close()


def _records_of(database: Database, limits: HistoryLimits) -> Records:
    newest = database.state.commit
    if database.path is None:
        return MemoryRecords(limits.since)
    store = read_manifest(database.files, database.path).store
    records = JournalRecords(
        database.files, database.path, store, newest, writable=not database.read_only
    )
    if records.first > records.last:  # a crash took all: they are made again
        records.last = limits.since - 1
        records.first = limits.since
    return records


def _info_of(commit: int, note: Mapping[str, Any]) -> CommitInfo:
    counts: dict[str, Any] = note.get("change", {})
    change = replace(Change(commit=commit), **counts)
    return CommitInfo(commit, note["time"], change, note.get("message"), note.get("author"))
