"""The writer's side of a store's directory: its lock, journal, manifest, and the files they name.

Start reading at `Disk`. It knows nothing of transactions or threads: `Database` calls `log` for
each commit, and its background work (`upkeep/background.py`) `rotate`, `publish` and `adopt`.
Always true: a file is durable, in content and name, before a manifest or a journal record names it;
it is removed only when neither the current manifest nor a later journal names it.
"""

from __future__ import annotations

import contextlib
import re
import threading
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from triplestore.errors import FormatError, StorageError
from triplestore.relations import Layer
from triplestore.storage.files.journal import NAME as JOURNAL_NAME
from triplestore.storage.files.journal import Journal, journal_path
from triplestore.storage.files.lock import NAME as LOCK_NAME
from triplestore.storage.files.lock import take_lock
from triplestore.storage.files.manifest import NAME as MANIFEST_NAME
from triplestore.storage.files.manifest import Manifest, install_manifest, write_manifest
from triplestore.storage.files.sections import FileRef, Pause, SectionFile
from triplestore.storage.files.system import Files, Lock, explained
from triplestore.storage.recovery import Recovered, missing, recover
from triplestore.storage.state import (
    LAYER,
    META,
    TERMS,
    KeptPart,
    Meta,
    layer_of,
    segment_of,
    write_layer,
    write_meta,
    write_terms,
)
from triplestore.terms import TermSegment

SEGMENT_NAME = re.compile(r"(?:terms|layer|meta)-(\d{6,})\.seg")
_OURS = re.compile(
    rf"{MANIFEST_NAME}(\.new)?|{LOCK_NAME}|{JOURNAL_NAME.pattern}|{SEGMENT_NAME.pattern}"
)


class Disk:
    """A store's directory, open for writing.

    terms, layers, meta_file  the parts that the manifest names, as objects
    """

    def __init__(self, files: Files, directory: Path, lock: Lock, found: Recovered) -> None:
        self.files = files
        self.directory = directory
        self.manifest = found.manifest
        self.catalogue = found.catalogue
        self.terms = found.terms
        self.layers = found.layers
        self.meta_file = found.meta_file
        self._lock = lock
        self._naming = threading.Lock()
        self._batches: list[FileBatch] = []
        self._next_file = _next_number(files.list(directory), found.manifest.next_file)
        self._journals = [scan.number for scan in found.chain.scans if scan.end]
        self.records = len(found.chain.records)
        self.journal = self._resume(found)
        # Section files that journal records name, and the last journal that does.
        self._logged = dict.fromkeys(found.names, self.journal.number)
        self.remove_strangers()

    @classmethod
    def open(cls, files: Files, directory: Path, create: bool) -> tuple[Disk, Recovered]:
        """Take the lock and recover the store; if none exists and `create` is true, create it."""
        path = directory / MANIFEST_NAME
        if not files.exists(path):
            refuse_unless_new(files, directory, create)
            with explained("making the directory", directory):
                files.make_directory(directory)
        with explained("locking", directory):
            lock = take_lock(files, directory)
        try:
            with explained("opening the store", directory):
                if not files.exists(path):
                    _make_store(files, directory)
                found = _recover(files, directory)
                return cls(files, directory, lock, found), found
        except BaseException:
            lock.release()
            raise

    # -- commits --------------------------------------------------------------------------------

    def log(self, commit: int, payload: bytes, refs: Iterable[FileRef]) -> None:
        """Append the record of a commit, which names these files. The commit lock is held."""
        with explained("writing", self.journal.path):
            self.journal.append(commit, payload)
        self.records += 1
        for ref in refs:
            self._logged[ref.name] = self.journal.number

    def batch(self, pause: Pause | None = None) -> FileBatch:
        """New section files that belong together; see `FileBatch`."""
        return FileBatch(self, pause)

    def new_path(self, kind: str, batch: FileBatch) -> Path:
        """A name for a new section file; no name is used twice."""
        with self._naming:
            path = self.directory / f"{kind}-{self._next_file:06d}.seg"
            self._next_file += 1
            batch.names.append(path.name)
            return path

    def begin(self, batch: FileBatch) -> None:
        """Protect the files of a batch from removal until `end`."""
        with self._naming:
            self._batches.append(batch)

    def end(self, batch: FileBatch) -> None:
        """End the protection of the files of a batch."""
        with self._naming:
            self._batches.remove(batch)

    def is_kept(self, part: KeptPart) -> bool:
        """True if a part is in a file."""
        return self.catalogue.file_of(part) is not None

    def ref_of(self, part: KeptPart) -> FileRef:
        """The file of a part that is in a file."""
        file = self.catalogue.file_of(part)
        assert file is not None, part
        return file.ref

    # -- checkpoints ----------------------------------------------------------------------------

    def new_journal(self, follows: bool = True) -> Journal:
        """The next journal, not in use yet: see `rotate`.

        A journal that is not the direct successor skips a number. A replay of the journals of the
        current manifest stops at the gap: later records only make sense with the next manifest.
        """
        number = self.journal.number + (1 if follows else 2)
        path = journal_path(self.directory, number)
        try:
            with explained("making", path):
                return Journal.create(self.files, self.directory, number, self.manifest.store)
        except BaseException:
            self.discard([path.name])
            raise

    def rotate(self, journal: Journal, commit: int) -> None:
        """Continue in a new journal; all records in the previous one are durable."""
        assert self.journal.synced == self.journal.written == commit
        before, self.journal = self.journal, journal
        journal.begin(commit)
        self._journals.append(journal.number)
        self.records = 0
        with contextlib.suppress(OSError):
            before.close()

    def prepare(self, manifest: Manifest) -> Manifest:
        """Write a manifest next to the current one; it takes effect with `publish`."""
        manifest = replace(manifest, serial=self.manifest.serial + 1, next_file=self._next_file)
        with explained("writing the manifest of", self.directory):
            write_manifest(self.files, self.directory, manifest)
        return manifest

    def publish(self, manifest: Manifest) -> None:
        """Make the prepared manifest current, durably. If this fails, either one may be current."""
        with explained("publishing the manifest of", self.directory):
            install_manifest(self.files, self.directory)
        self.manifest = manifest

    def adopt(
        self,
        terms: Sequence[TermSegment],
        layers: Sequence[Layer],
        meta_file: SectionFile | None,
        in_use: Iterable[KeptPart],
    ) -> None:
        """Note the parts that the manifest names now. The commit lock is held.

        `in_use` are the parts of the newest state: they stay in the catalogue.
        """
        self.terms, self.layers, self.meta_file = tuple(terms), tuple(layers), meta_file
        self.catalogue.retain([*terms, *layers, *in_use])
        first = self.manifest.journal
        self._logged = {name: n for name, n in self._logged.items() if n >= first}
        self._journals = [number for number in self._journals if number >= first]

    def remove_strangers(self) -> None:
        """Remove unreferenced files: replaced ones, and remains of interrupted work."""
        with contextlib.suppress(OSError):
            names = self.files.list(self.directory)  # first: files made after this stay
            with self._naming:
                keep = {name for batch in self._batches for name in batch.names}
            keep |= {ref.name for ref in self.manifest.refs()} | set(self._logged)
            keep |= {journal_path(self.directory, number).name for number in self._journals}
            keep |= {MANIFEST_NAME, LOCK_NAME}
            self.discard(name for name in names if _OURS.fullmatch(name) and name not in keep)

    def discard(self, names: Iterable[str]) -> None:
        """Remove unreferenced files; those that cannot be removed now are removed when the store is
        opened again."""
        for name in names:
            with contextlib.suppress(OSError):
                self.files.remove(self.directory / name)

    def close(self, tidy: bool) -> None:
        """Release the directory; `tidy` notes the last commit, so that its loss would be
        detected."""
        try:
            if tidy:
                with contextlib.suppress(OSError):
                    self._note_last_commit()
            self.journal.close(trim=tidy)
        finally:
            self._lock.release()

    def _note_last_commit(self) -> None:
        if self.manifest.durable < self.journal.synced:
            self.publish(self.prepare(replace(self.manifest, durable=self.journal.synced)))

    # -- opening --------------------------------------------------------------------------------

    def _resume(self, found: Recovered) -> Journal:
        """The last journal, ready for appending: torn tails are cut off, and all records are
        durable.

        The previous writer may have ended before a sync; from here on its records count.
        """
        for scan in found.chain.scans:
            if scan.end and (scan.torn or scan.records):
                file = self.files.open(scan.path)
                try:
                    if scan.torn:
                        file.truncate(scan.end)
                    file.sync()
                finally:
                    file.close()
        last = found.last
        return Journal(self.files, last.path, last.number, found.chain.commit, last.end, last.check)


class FileBatch:
    """New section files that belong together.

    As a context: if the block raises, they are removed (unless `keep` was called). Until it ends
    they are protected from removal. Their names are durable after `sync`; the catalogue knows them
    after `register`.
    """

    def __init__(self, disk: Disk, pause: Pause | None) -> None:
        self.names: list[str] = []
        self._disk = disk
        self._pause = pause
        self._parts: list[tuple[KeptPart, SectionFile]] = []
        self._keep = False

    def __enter__(self) -> Self:
        self._disk.begin(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and not self._keep:
            self._disk.discard(self.names)
        self._disk.end(self)

    def keep(self) -> None:
        """Keep the files in any case: something on disk may name them."""
        self._keep = True

    def layer(self, layer: Layer) -> Layer:
        """Write a layer to a file; return the same layer, read from there."""
        path = self._disk.new_path(LAYER, self)
        with explained("writing", path):
            ref = write_layer(self._disk.files, path, layer, self._pause)
            file = self._opened(path, ref)
        kept = layer_of(file)
        self._parts.append((kept, file))
        return kept

    def terms(self, segment: TermSegment) -> TermSegment:
        """Write a term segment to a file; return the same segment, read from there."""
        path = self._disk.new_path(TERMS, self)
        with explained("writing", path):
            ref = write_terms(self._disk.files, path, segment, self._pause)
            file = self._opened(path, ref)
        kept = segment_of(file)
        self._parts.append((kept, file))
        return kept

    def meta(self, meta: Meta) -> SectionFile | None:
        """Write named bytes to a file, unless the manifest's file has the same."""
        if self._disk.meta_file is not None and meta.is_in(self._disk.meta_file):
            return self._disk.meta_file
        if not meta:
            return None
        path = self._disk.new_path(META, self)
        with explained("writing", path):
            return self._opened(path, write_meta(self._disk.files, path, meta))

    def sync(self) -> None:
        """Make the names durable."""
        if self.names:
            with explained("syncing", self._disk.directory):
                self._disk.files.sync_directory(self._disk.directory)

    def ref_of(self, part: KeptPart) -> FileRef | None:
        """The file of a part of this batch."""
        return next((file.ref for own, file in self._parts if own is part), None)

    def register(self) -> None:
        """Add the parts to the catalogue. The commit lock is held."""
        for part, file in self._parts:
            self._disk.catalogue.add(part, file)

    def _opened(self, path: Path, ref: FileRef) -> SectionFile:
        file = SectionFile(self._disk.files, path, ref)
        file.trust()
        return file


def refuse_unless_new(files: Files, directory: Path, create: bool) -> None:
    """Raise unless a store may be created here: the directory is missing, empty or unfinished."""
    if not files.exists(directory):
        if create:
            return
        raise StorageError(f"there is no store at {directory}: check the path")
    with explained("reading the directory", directory):
        names = files.list(directory)
    half_made = {LOCK_NAME, f"{MANIFEST_NAME}.new", journal_path(directory, 1).name}
    others = [name for name in names if name not in half_made]
    if any(SEGMENT_NAME.fullmatch(name) or JOURNAL_NAME.fullmatch(name) for name in others):
        raise FormatError(
            f"{directory} has files of a store but no {MANIFEST_NAME}: it was removed, or a copy "
            f"is not complete; restore the store from a backup"
        )
    if others:
        raise FormatError(
            f"{directory} is not a store: it has no {MANIFEST_NAME}, but holds "
            f"{', '.join(others[:3])}{' ...' if len(others) > 3 else ''}"
            + ("; name a new or an empty directory to make a store" if create else "")
        )
    if not create:
        raise StorageError(f"there is no store in {directory}, which is empty: check the path")


def _make_store(files: Files, directory: Path) -> None:
    store = uuid.uuid4().hex
    path = journal_path(directory, 1)
    if files.exists(path) and files.read(path, 64).strip(b"\0"):
        raise FormatError(
            f"{directory} has a journal with commits but no {MANIFEST_NAME}: it was removed; "
            f"restore the store from a backup"
        )
    Journal.create(files, directory, 1, store).close()
    write_manifest(files, directory, Manifest(store))
    install_manifest(files, directory)


def _recover(files: Files, directory: Path) -> Recovered:
    try:
        return recover(files, directory)
    except FileNotFoundError as error:
        raise missing(error, directory) from error


def _number_of(name: str) -> int:
    match = SEGMENT_NAME.fullmatch(name)
    return int(match[1]) if match else 0


def _next_number(names: Sequence[str], at_least: int) -> int:
    """A number greater than those of all files, so that no name is used twice."""
    return max([at_least, *(_number_of(name) + 1 for name in names)])
