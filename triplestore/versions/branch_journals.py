"""Named branches on disk: start at `BranchJournals`.

All are in the folder `branches` of the store's directory, one journal each, of the same form as the
store's (checksums, torn tails; `storage/files/journal.py`). The first record says the name, the
commit on which the branch is based, and the edits made so far; each later record has the edits of
one commit of the branch. Always true: a branch exists from the moment its first record is durable
until its file is removed; of two files of one name (a crash while a branch was put on another
commit) the one with the higher number counts. Numbers are odd, so that no journal follows another.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Mapping

from triplestore.data_classes import data_class
from triplestore.errors import ReadOnlyError, UsageError
from triplestore.storage import Database
from triplestore.storage.files.journal import NAME as JOURNAL_NAME
from triplestore.storage.files.journal import Journal, JournalScan, journal_path, read_journals
from triplestore.storage.files.manifest import read_manifest
from triplestore.storage.files.system import explained
from triplestore.storage.metadata import COMMITTED_BRANCHES, committed_branches
from triplestore.versions.keyed_changes import KeyedChanges

FOLDER = "branches"

MAX_COMMITTED = 100
"""Number of committed branches that a store remembers."""

MAX_NAME = 200
"""Maximum number of characters of the name of a branch."""


@data_class
class BranchHead:
    """What is said of a branch when it begins.

    id    distinguishes it from other branches of the same name
    base  the commit of the store on which it is based
    time  when it was made, in seconds since 1970
    """

    name: str
    id: str
    base: int
    time: float


class KeptBranch:
    """A branch on disk: its head, and its edits one after the other."""

    def __init__(
        self, home: BranchJournals, number: int, head: BranchHead, edits: list[KeyedChanges]
    ) -> None:
        self.head = head
        self.edits = edits
        self.number = number
        self._home = home
        self._journal: Journal | None = None

    def append(self, edits: KeyedChanges) -> None:
        """Keep the edits of one more commit, durably."""
        journal = self._open_journal()
        position = journal.position()
        try:
            with explained("writing", journal.path):
                journal.append(journal.written + 1, edits.to_bytes())
                journal.sync()
        except BaseException:
            journal.take_back(position)
            raise
        self.edits.append(edits)

    def rebased(self, base: int, edits: KeyedChanges) -> None:
        """Let it be based on another commit, with these edits; the previous file is removed."""
        before, number = self.number, self._home.free_number()
        head = BranchHead(self.head.name, self.head.id, base, self.head.time)
        self.close()
        self._home.write(number, head, edits)
        self.number, self.head, self.edits = number, head, [edits]
        self._home.remove(before)

    def remove(self) -> None:
        """Delete the branch."""
        self.close()
        self._home.remove(self.number)

    def close(self) -> None:
        """Close its file."""
        if self._journal is not None:
            self._journal.close(trim=False)
            self._journal = None

    def _open_journal(self) -> Journal:
        if self._journal is None:
            self._journal = self._home.journal(self.number)
        return self._journal


class BranchJournals:
    """The named branches of one store that has a directory."""

    def __init__(self, database: Database) -> None:
        if database.path is None:
            raise UsageError(
                "a store in memory keeps no named branches: use branch() without a name, or a "
                "store with a directory"
            )
        self._database = database
        self._files = database.files
        self._folder = database.path / FOLDER
        self._store = read_manifest(self._files, database.path).store

    def all(self) -> dict[str, KeptBranch]:
        """All branches by name; what a crash left of others is not among them."""
        done = set(committed_branches(self._database.state.meta))
        return {k.head.name: k for k in self._read_all() if k.head.id not in done}

    def create(self, name: str, base: int) -> KeptBranch:
        """A new branch without edits, durably."""
        head = BranchHead(checked_name(name), uuid.uuid4().hex, base, time.time())
        known = {kept.number for kept in self.all().values()}
        for left in set(self._numbers()) - known:
            self.remove(left)
        number = self.free_number()
        self.write(number, head, KeyedChanges())
        return KeptBranch(self, number, head, [KeyedChanges()])

    def write(self, number: int, head: BranchHead, edits: KeyedChanges) -> None:
        """A journal with its first record, durable in content and name."""
        self._require_writable()
        with explained("making a branch in", self._folder):
            if not self._files.exists(self._folder):
                self._files.make_directory(self._folder)
            said = {"name": head.name, "id": head.id, "base": head.base, "time": head.time}
            first = KeyedChanges(edits.keys, edits.changes, edits.meta, said)
            journal = Journal.create(self._files, self._folder, number, self._store)
            try:
                journal.append(1, first.to_bytes())
                journal.sync()
            finally:
                journal.close(trim=False)

    def journal(self, number: int) -> Journal:
        """A journal to write to; what a crash left at its end is cut off."""
        self._require_writable()
        scan, commit = self._scan(number)
        file = self._files.open(scan.path)
        try:
            if scan.torn:
                file.truncate(scan.end)
            file.sync()  # later records will say that these are durable
        finally:
            file.close()
        return Journal(self._files, scan.path, number, commit, scan.end, scan.check)

    def free_number(self) -> int:
        """The number of the next journal."""
        return max(self._numbers(), default=-1) + 2

    def remove(self, number: int) -> None:
        """Remove a journal, durably."""
        self._require_writable()
        path = journal_path(self._folder, number)
        with explained("removing a branch from", self._folder):
            if self._files.exists(path):
                self._files.remove(path)
                self._files.sync_directory(self._folder)

    def _read_all(self) -> Iterator[KeptBranch]:
        for number in sorted(self._numbers()):
            try:
                chain = read_journals(self._files, self._folder, self._store, number, 0)
            except FileNotFoundError:
                continue  # another process removed it just now
            except OSError:
                if self._is_unfinished(number):
                    continue
                raise
            edits = [KeyedChanges.of_bytes(record.payload) for record in chain.records]
            if edits:
                yield KeptBranch(self, number, BranchHead(**edits[0].note), edits)

    def _is_unfinished(self, number: int) -> bool:
        """Whether a crash left a file without its header: then the branch was never made."""
        data = self._files.read(journal_path(self._folder, number), 0, 64)
        return not data.strip(b"\0") or len(data) < 64 or data[-1] == 0

    def _scan(self, number: int) -> tuple[JournalScan, int]:
        chain = read_journals(self._files, self._folder, self._store, number, 0)
        return chain.scans[0], chain.commit

    def _numbers(self) -> list[int]:
        if not self._files.exists(self._folder):
            return []
        found = map(JOURNAL_NAME.fullmatch, self._files.list(self._folder))
        return [int(name[1]) for name in found if name is not None]

    def _require_writable(self) -> None:
        if self._database.read_only:
            raise ReadOnlyError(
                f"{self._database.path} was opened read-only, so its branches cannot be changed"
            )
        self._database.require_writable()


def committed_values(meta: Mapping[str, bytes], branch: str) -> dict[str, bytes | None]:
    """The named value that says that a branch of this id was committed."""
    ids = [*committed_branches(meta), branch][-MAX_COMMITTED:]
    return {COMMITTED_BRANCHES: json.dumps(ids).encode()}


def checked_name(name: str) -> str:
    """The name, if a branch may have it."""
    if not name or len(name) > MAX_NAME or not name.isprintable() or name != name.strip():
        raise UsageError(
            f"{name[:40]!r} cannot be the name of a branch: it needs 1 to {MAX_NAME} characters "
            f"that can be printed, without blanks around them"
        )
    return name
