"""Opening: reads the state of the last commit from the files of a store, changing nothing.

Start reading at `recover`. It reads the manifest, opens the files that it names, and replays the
journals. A writer does more (it cuts off a torn tail and removes unreferenced files): see
`disk.py`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import field, replace
from pathlib import Path

from triplestore.data_classes import data_class
from triplestore.errors import CorruptError, StorageError
from triplestore.relations import Layer, Tables
from triplestore.storage.files.journal import JournalChain, JournalScan, journal_path, read_journals
from triplestore.storage.files.manifest import (
    NAME,
    Manifest,
    manifest_bytes,
    parse_manifest,
    read_manifest,
)
from triplestore.storage.files.sections import FileRef, SectionFile, damaged, decoding
from triplestore.storage.files.system import Files
from triplestore.storage.record import JournalReplay
from triplestore.storage.state import (
    LAYER,
    META,
    TERMS,
    FileCatalogue,
    KeptPart,
    Meta,
    State,
    layer_of,
    segment_of,
)
from triplestore.terms import Dictionary, TermSegment

_PAUSES = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032)  # seconds


@data_class(frozen=False)
class Recovered:
    """A store as it was found.

    terms, layers  the parts that the manifest names; `state` may have more, from the journal
    names          all section files that the manifest or a journal names
    """

    manifest: Manifest
    chain: JournalChain
    state: State
    terms: tuple[TermSegment, ...]
    layers: tuple[Layer, ...]
    meta_file: SectionFile | None
    catalogue: FileCatalogue
    names: set[str] = field(default_factory=set)

    @property
    def last(self) -> JournalScan:
        """The journal to continue."""
        return next(scan for scan in reversed(self.chain.scans) if scan.end)


def recover(files: Files, directory: Path, known: FileCatalogue | None = None) -> Recovered:
    """The store in this directory, as of its last commit; nothing is written.

    `known` are files that are open already and need not be opened again. Raises
    FileNotFoundError if a file is missing, which another process may have replaced meanwhile.
    """
    manifest = read_manifest(files, directory)
    opener = _Opener(files, directory, known)
    start, meta_file = _start_of(manifest, opener, directory)
    terms, layers = start.dictionary.segments, start.tables.layers
    chain = read_journals(files, directory, manifest.store, manifest.journal, manifest.commit)
    if chain.commit < manifest.durable:
        raise damaged(
            journal_path(directory, chain.scans[-1].number),
            f"commit {manifest.durable} was made durable, but the journal ends with commit "
            f"{chain.commit}",
        )
    state = replay(start, chain, opener)
    return Recovered(
        manifest, chain, state, terms, layers, meta_file, opener.catalogue, opener.names
    )


def replay(start: State, chain: JournalChain, opener: _Opener) -> State:
    """The state after the commits of a journal."""
    with decoding(chain.scans[-1].path, "one of its commits"):
        replaying = JournalReplay(start, opener.part)
        for record in chain.records:
            replaying.add(record.payload)
        return replaying.state()


def state_at(
    files: Files, directory: Path, commit: int, known: FileCatalogue | None = None
) -> State | None:
    """The state after an earlier commit; None if the journal does not reach so far back.

    Its dictionary is another one than that of the open store, with the same ids.
    """
    manifest = read_manifest(files, directory)
    if commit < manifest.commit:
        return None
    opener = _Opener(files, directory, known)
    start, _ = _start_of(manifest, opener, directory)
    chain = read_journals(files, directory, manifest.store, manifest.journal, manifest.commit)
    if chain.commit < commit:
        return None
    chain.records = [record for record in chain.records if record.commit <= commit]
    return replay(start, chain, opener)


def states_from(
    files: Files, directory: Path, commit: int, known: FileCatalogue | None = None
) -> Iterator[State]:
    """The state after an earlier commit, and those after each later one, of one dictionary; nothing
    if the journal does not reach so far back."""
    manifest = read_manifest(files, directory)
    if commit < manifest.commit:
        return
    opener = _Opener(files, directory, known)
    start, _ = _start_of(manifest, opener, directory)
    chain = read_journals(files, directory, manifest.store, manifest.journal, manifest.commit)
    replaying = JournalReplay(start, opener.part)
    if start.commit == commit:
        yield start
    for record in chain.records:
        replaying.add(record.payload)
        if record.commit >= commit:
            yield replaying.state()


def _start_of(
    manifest: Manifest, opener: _Opener, directory: Path
) -> tuple[State, SectionFile | None]:
    """The state of the manifest, before the commits of the journals, and the file of its values."""
    terms = tuple(opener.segment(ref) for ref in manifest.terms)
    layers = tuple(opener.layer(ref) for ref in manifest.layers)
    meta_file = opener.file(manifest.meta, META) if manifest.meta else None
    dictionary = Dictionary(terms)
    if dictionary.size != manifest.term_count:
        raise damaged(directory / NAME, f"its files hold {dictionary.size} terms, not all")
    meta = Meta.of_file(meta_file, journal_path(directory, manifest.journal))
    tables = Tables(layers).sealed()
    return State(manifest.commit, dictionary, dictionary.size, tables, meta), meta_file


class _Opener:
    """Opens the files of a store, each once, and keeps their parts."""

    def __init__(self, files: Files, directory: Path, known: FileCatalogue | None) -> None:
        self.catalogue = FileCatalogue()
        self.names: set[str] = set()
        self._files = files
        self._directory = directory
        self._known = known

    def file(self, ref: FileRef, kind: str) -> SectionFile:
        self.names.add(ref.name)
        file = SectionFile(self._files, self._directory / ref.name, ref)
        if kind and file.kind != kind:
            raise damaged(file.path, f"it holds {file.kind}, not {kind}")
        return file

    def part(self, ref: FileRef) -> KeptPart:
        known = self._known.part_of(ref) if self._known is not None else None
        if known is not None:
            part, file = known
            self.names.add(ref.name)
        else:
            file = self.file(ref, "")
            with decoding(file.path, "its description"):
                part = segment_of(file) if file.kind == TERMS else layer_of(file)
        self.catalogue.add(part, file)
        return part

    def segment(self, ref: FileRef) -> TermSegment:
        part = self.part(ref)
        if not isinstance(part, TermSegment):
            raise damaged(self._directory / ref.name, f"it does not hold {TERMS}")
        return part

    def layer(self, ref: FileRef) -> Layer:
        part = self.part(ref)
        if not isinstance(part, Layer):
            raise damaged(self._directory / ref.name, f"it does not hold a {LAYER}")
        return part


class Reader:
    """Reads a store that another process may be writing to, without a lock and creating nothing.

    A writer may replace files between reading their names and opening them, and may be in the
    middle of a write: then everything is read again, from the manifest on.
    """

    def __init__(self, files: Files, directory: Path) -> None:
        self._files = files
        self._directory = directory
        self._found = self._again(None)
        self._seen = (b"", -1)  # the manifest last looked at, and its serial

    @property
    def found(self) -> Recovered:
        """The result of the last reading."""
        return self._found

    def refresh(self) -> State:
        """The newest state; cheap if little has changed, and a few system calls if nothing has."""
        if self._unchanged():
            return self._found.state
        found = self._found
        try:
            if read_manifest(self._files, self._directory).serial == found.manifest.serial:
                self._found = self._continue(found)
                return self._found.state
        except (FileNotFoundError, CorruptError):
            pass  # something was replaced or is being written: from the beginning
        self._found = self._again(found.catalogue)
        return self._found.state

    def _unchanged(self) -> bool:
        last, files = self._found.last, self._files
        try:
            if files.read(last.path, last.end, 64).strip(b"\0"):
                return False
            if files.exists(journal_path(self._directory, last.number + 1)):
                return False
            content = manifest_bytes(files, self._directory)
            if content != self._seen[0]:  # reading it again takes longer than all else
                self._seen = content, parse_manifest(content, self._directory).serial
            return self._seen[1] == self._found.manifest.serial
        except (FileNotFoundError, CorruptError):
            return False

    def _continue(self, found: Recovered) -> Recovered:
        """The earlier result with the records written since."""
        last, manifest = found.last, found.manifest
        chain = read_journals(
            self._files,
            self._directory,
            manifest.store,
            last.number,
            found.state.commit,
            since=(last.end, last.check),
        )
        opener = _Opener(self._files, self._directory, found.catalogue)
        state = replay(found.state, chain, opener)
        opener.catalogue.update(found.catalogue)
        return replace(found, chain=chain, state=state, catalogue=opener.catalogue)

    def _again(self, known: FileCatalogue | None) -> Recovered:
        """Recover; a failure is retried while an active writer may be the reason.

        It is always retried if the manifest has changed, and for a moment if not, because a record
        or a change of journals may be seen half done.
        """
        pauses = iter(_PAUSES)
        serial = read_manifest(self._files, self._directory).serial
        while True:
            try:
                return recover(self._files, self._directory, known)
            except (FileNotFoundError, CorruptError) as error:
                before, serial = serial, read_manifest(self._files, self._directory).serial
                if serial == before:
                    pause = next(pauses, None)
                    if pause is None:
                        raise missing(error, self._directory) from error
                    time.sleep(pause)


def missing(error: OSError, directory: Path) -> StorageError:
    """The error for a missing file that the manifest or the journal names."""
    if isinstance(error, StorageError):
        return error
    name = Path(str(error.filename)).name if error.filename else "a file"
    return damaged(directory / name, "it is missing")
