"""Creates a store in one step from prepared parts, as a bulk import does.

Start reading at `make_store`. Always true: the same parts give the same bytes in every file,
including the name of the store; the manifest is written last, so that an interrupted store does not
open.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from triplestore.errors import StorageError
from triplestore.relations import Layer
from triplestore.storage.files.journal import Journal, journal_path
from triplestore.storage.files.manifest import NAME, Manifest, install_manifest, write_manifest
from triplestore.storage.files.sections import FileRef, SectionFile
from triplestore.storage.files.system import Files, RealFiles, explained
from triplestore.storage.state import LAYER, META, TERMS, Meta, write_layer, write_meta, write_terms
from triplestore.terms import TermSegment


class Unfinished:
    """A store directory that is written in one go, and removed again if that fails.

    Each of its files has its own number.
    """

    def __init__(self, files: Files, target: Path) -> None:
        self._files = files
        self._target = target
        self._made: list[Path] = []

    def discard(self) -> None:
        """Remove the written files, the manifest first."""
        for path in (self._target / NAME, self._target / f"{NAME}.new", *self._made):
            with contextlib.suppress(OSError):
                self._files.remove(path)

    def _path(self, kind: str) -> Path:
        path = self._target / f"{kind}-{len(self._made) + 1:06d}.seg"
        self._made.append(path)
        return path


def make_store(
    target: Path,
    segments: Iterable[TermSegment],
    layers: Iterable[Layer],
    meta: Mapping[str, bytes],
    *,
    files: Files | None = None,
) -> None:
    """Write a store of one commit to a new or empty directory, durably, and verify its files.

    Segments, then layers, are taken and written one after the other, so that only one is in memory
    at a time if they are iterators.

    The name of the store, otherwise random, is derived from the checksums of the files: a store
    made again from the same parts is the same store, like a copy. If anything fails, the written
    files are removed.

    >>> import tempfile
    >>> from triplestore.storage import Database
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     segment = TermSegment.from_keys(1, [b"\\x01http://a", b"\\x01http://p"])
    ...     make_store(Path(folder) / "db", [segment], [], {})
    ...     with Database.open(Path(folder) / "db") as database:
    ...         database.state.commit, database.state.term_count
    (1, 2)
    """
    files = files or RealFiles()
    if files.exists(target) and files.list(target):
        raise StorageError(f"{target} is not empty: name a new directory for the store")
    making = _Making(files, target)
    try:
        with explained("making the store", target):
            files.make_directory(target)
            making.write(segments, layers, meta)
    except BaseException:
        making.discard()
        raise


class _Making(Unfinished):
    """A store that is being written."""

    def write(
        self, segments: Iterable[TermSegment], layers: Iterable[Layer], meta: Mapping[str, bytes]
    ) -> None:
        files = self._files
        terms, term_count = [], 0
        for segment in segments:
            if segment.count:
                terms.append(write_terms(files, self._path(TERMS), segment))
                term_count += segment.count
            del segment  # before the next one is made
        rows = [write_layer(files, self._path(LAYER), each) for each in layers if each.rows]
        kept = write_meta(files, self._path(META), Meta(meta)) if meta else None
        refs = [*terms, *rows, *([kept] if kept else [])]
        for ref in refs:
            problem = next(SectionFile(files, self._target / ref.name, ref).verify(), None)
            if problem is not None:
                raise StorageError(f"{ref.name} differs from what was written: {problem}")
        manifest = Manifest(
            store=_name_of(refs),
            commit=1,
            durable=1,
            next_file=len(self._made) + 1,
            term_count=term_count,
            terms=tuple(terms),
            layers=tuple(rows),
            meta=kept,
        )
        self._made.append(journal_path(self._target, manifest.journal))
        Journal.create(files, self._target, manifest.journal, manifest.store, 1).close()
        write_manifest(files, self._target, manifest)
        install_manifest(files, self._target)


def _name_of(refs: Sequence[FileRef]) -> str:
    """The name of the store of these files: 32 hexadecimal digits."""
    said = repr([ref.to_json() for ref in refs]).encode()
    return hashlib.blake2b(said, digest_size=16).hexdigest()
