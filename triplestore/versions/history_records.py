"""The records of a history, one for each commit, on disk or in memory.

Start at `JournalRecords`: journals in the folder `history` of the store's directory, of the form of
the store's own, each named by its first commit. Always true: the records are those of consecutive
commits, and none is of a commit that the store does not have (a crash may leave some; they are cut
off). What a crash took away is made again from the store's journal before that goes, so they need
no sync of their own with each commit: see `history_log.py`.
"""

from __future__ import annotations

import struct
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

from triplestore.errors import CorruptError
from triplestore.storage.files.journal import (
    HEADER_BYTES,
    Journal,
    Record,
    bytes_of_record,
    journal_path,
    read_journals,
)
from triplestore.storage.files.journal import NAME as JOURNAL_NAME
from triplestore.storage.files.system import Files, explained
from triplestore.versions.thresholds import VERSIONS

FOLDER = "history"

_HEAD = struct.Struct("<?I")


class Records(ABC):
    """Payloads of consecutive commits."""

    first = 1
    """The first commit that has one."""
    last = 0
    """The last commit that has one; the one before `first` if there are none."""

    @abstractmethod
    def append(self, commit: int, note: bytes, payload: bytes) -> int:
        """Add the record of the next commit; return its size."""

    @abstractmethod
    def read(self, commit: int) -> bytes:
        """The payload of a commit."""

    @abstractmethod
    def drop_before(self, commit: int) -> None:
        """Free the space of earlier commits, as far as that is possible."""

    @abstractmethod
    def all(self) -> Iterator[tuple[int, bytes, int]]:
        """Commit, note and size of each, in the order of commits."""

    @abstractmethod
    def sync(self) -> None:
        """Make all of them durable."""

    @abstractmethod
    def close(self) -> None:
        """Close all files."""


class MemoryRecords(Records):
    """Those of a store in memory."""

    def __init__(self, first: int) -> None:
        self._payloads: dict[int, bytes] = {}
        self.first, self.last = first, first - 1

    def append(self, commit: int, note: bytes, payload: bytes) -> int:
        """Add the record of the next commit; return its size."""
        packed = pack_record(note, payload)
        self._payloads[commit] = packed
        self.last = commit
        return len(packed)

    def read(self, commit: int) -> bytes:
        """The payload of a commit."""
        return payload_of_record(self._payloads[commit])

    def drop_before(self, commit: int) -> None:
        """Free the space of earlier commits."""
        for each in range(self.first, min(commit, self.last + 1)):
            self._payloads.pop(each, None)
        self.first = max(self.first, commit)

    def sync(self) -> None:
        """Nothing: it is in memory."""

    def close(self) -> None:
        """Nothing: it is in memory."""

    def all(self) -> Iterator[tuple[int, bytes, int]]:
        """Commit, note and size of each, in the order of commits."""
        for commit, packed in list(self._payloads.items()):
            yield commit, note_of(packed), len(packed)


class JournalRecords(Records):
    """Those of a store with a directory.

    newest  the last commit of the store: later records are cut off
    """

    def __init__(
        self, files: Files, directory: Path, store: str, newest: int, *, writable: bool
    ) -> None:
        self._files, self._store, self._writable = files, store, writable
        self._folder = directory / FOLDER
        self._journal: Journal | None = None
        self._starts: list[int] = []
        self._kept: dict[int, list[Record]] = {}  # the file that was read last
        self.first, self.last = newest + 1, newest
        if files.exists(self._folder):
            self._open(newest)

    def _open(self, newest: int) -> None:
        """Find the run of files that ends with the newest one."""
        names = map(JOURNAL_NAME.fullmatch, self._files.list(self._folder))
        starts = sorted(int(name[1]) for name in names if name is not None)
        for start in reversed(starts):
            records = self._records_of(start, newest)
            follows = not self._starts or (records and records[-1].commit == self.first - 1)
            if records and follows:
                if not self._starts:
                    self.last = records[-1].commit
                self._starts.insert(0, start)
                self.first = start
            elif self._writable:  # what a crash left, or what lies before a gap
                self._remove(start)
        if self._writable and self._starts:
            self._journal = self._continued(self._starts[-1], newest)

    def _records_of(self, start: int, newest: int) -> list[Record]:
        try:
            chain = read_journals(self._files, self._folder, self._store, start, start - 1)
        except FileNotFoundError:
            return []
        except CorruptError:
            if self._is_unfinished(start):
                return []
            raise
        return [record for record in chain.scans[0].records if record.commit <= newest]

    def _is_unfinished(self, start: int) -> bool:
        data = self._files.read(journal_path(self._folder, start), 0, HEADER_BYTES)
        return len(data) < HEADER_BYTES or data[-1] == 0

    def _continued(self, start: int, newest: int) -> Journal:
        """The last journal, ready for appending; what follows its records is cut off."""
        records = self._records_of(start, newest)
        end = HEADER_BYTES + sum(bytes_of_record(record.payload) for record in records)
        path = journal_path(self._folder, start)
        file = self._files.open(path)
        try:
            if self._files.size(path) > end:
                file.truncate(end)
            file.sync()  # later records will say that these are durable
        finally:
            file.close()
        last = records[-1]
        return Journal(self._files, path, start, last.commit, end, last.check)

    def append(self, commit: int, note: bytes, payload: bytes) -> int:
        """Add the record of the next commit; return its size."""
        packed = pack_record(note, payload)
        with explained("writing the history in", self._folder):
            journal = self._journal
            if journal is None or commit != self.last + 1:
                journal = self._begin(commit)
            elif journal.end >= VERSIONS.history_file_bytes:
                journal.sync()
                journal = self._begin(commit, keep=True)
            position = journal.position()
            try:
                journal.append(commit, packed)
            except BaseException:
                journal.take_back(position)
                raise
        self._kept.pop(self._starts[-1], None)
        self.last = commit
        return len(packed)

    def _begin(self, commit: int, keep: bool = False) -> Journal:
        """A new file; the others are dropped unless it follows them."""
        if self._journal is not None:
            self._journal.close(trim=False)
            self._journal = None
        if not keep:
            for start in self._starts:
                self._remove(start)
            self._starts = []
        if not self._files.exists(self._folder):
            self._files.make_directory(self._folder)
        journal = Journal.create(self._files, self._folder, commit, self._store, commit - 1)
        self._starts.append(commit)
        self._journal = journal
        if not keep:
            self.first = commit
        return journal

    def read(self, commit: int) -> bytes:
        """The payload of a commit."""
        start = max(start for start in self._starts if start <= commit)
        records = self._kept.get(start)
        if records is None:
            records = self._records_of(start, self.last)
            self._kept = {start: records}
        return payload_of_record(records[commit - start].payload)

    def drop_before(self, commit: int) -> None:
        """Remove the files that have only earlier commits."""
        while len(self._starts) > 1 and self._starts[1] <= commit:
            self._remove(self._starts.pop(0))
            self.first = self._starts[0]

    def all(self) -> Iterator[tuple[int, bytes, int]]:
        """Commit, note and size of each, in the order of commits."""
        for start in list(self._starts):
            for record in self._records_of(start, self.last):
                yield record.commit, note_of(record.payload), len(record.payload)

    def sync(self) -> None:
        """Make all of them durable."""
        if self._journal is not None:
            with explained("syncing the history in", self._folder):
                self._journal.sync()

    def close(self) -> None:
        """Close all files."""
        if self._journal is not None:
            self._journal.close(trim=False)
            self._journal = None

    def _remove(self, start: int) -> None:
        self._kept.pop(start, None)
        self._files.remove(journal_path(self._folder, start))
        self._files.sync_directory(self._folder)


def remove_history(files: Files, directory: Path) -> None:
    """Remove the history of a store, whatever is in its files."""
    folder = directory / FOLDER
    with explained("removing the history in", folder):
        names = files.list(folder) if files.exists(folder) else []
        for name in filter(JOURNAL_NAME.fullmatch, names):
            files.remove(folder / name)
        if names:
            files.sync_directory(folder)


def pack_record(note: bytes, payload: bytes) -> bytes:
    """A record as it is kept: its note, which is read alone, and the rest, compressed if large.

    >>> record = pack_record(b"{}", b"rows" * 9999)
    >>> len(record), note_of(record), payload_of_record(record)[:4]
    (229, b'{}', b'rows')
    """
    packed = len(payload) >= VERSIONS.packed_bytes
    body = zlib.compress(payload, 1) if packed else payload
    return _HEAD.pack(packed, len(note)) + note + body


def note_of(record: bytes) -> bytes:
    """The note of a record."""
    _, length = _HEAD.unpack_from(record)
    return record[_HEAD.size : _HEAD.size + length]


def payload_of_record(record: bytes) -> bytes:
    """The payload of a record."""
    packed, length = _HEAD.unpack_from(record)
    body = record[_HEAD.size + length :]
    return zlib.decompress(body) if packed else body
