"""Backups: a state written as a separate store, in another directory.

Start reading at `backup`. The copy is made from a frozen state, so that concurrent commits and
merges do not matter. It works the same for a store being written, one opened read-only whose files
were replaced long ago, and one in memory. The manifest comes last: an interrupted copy does not
open as a store.
"""

from __future__ import annotations

import uuid
from pathlib import Path

from triplestore.errors import StorageError
from triplestore.storage.files.journal import Journal, journal_path
from triplestore.storage.files.manifest import Manifest, install_manifest, write_manifest
from triplestore.storage.files.sections import FileRef, SectionFile
from triplestore.storage.files.system import Files, explained
from triplestore.storage.making import Unfinished
from triplestore.storage.state import (
    LAYER,
    META,
    TERMS,
    FileCatalogue,
    State,
    write_layer,
    write_meta,
    write_terms,
)
from triplestore.storage.upkeep.outline import layer_parts, term_parts

_PIECE = 1 << 20
_BACKLOG = 8 << 20  # bytes between two syncs, so that commits do not wait for many of them


def backup(
    files: Files, state: State, catalogue: FileCatalogue, target: Path, link: bool = False
) -> None:
    """Write a state to a new or empty directory, durably and verified.

    With `link`, existing files become hard links where the file system can: this takes no time and
    no space, but a damaged file is then damaged in both stores.
    """
    if files.exists(target) and files.list(target):
        raise StorageError(f"{target} is not empty: name a new directory for the backup")
    copy = _Copy(files, catalogue, target, link)
    try:
        with explained("making the backup", target):
            files.make_directory(target)
            copy.write(state)
    except BaseException:
        copy.discard()
        raise


class _Copy(Unfinished):
    """A backup while it is being written."""

    def __init__(self, files: Files, catalogue: FileCatalogue, target: Path, link: bool) -> None:
        super().__init__(files, target)
        self._catalogue = catalogue
        self._link = link

    def write(self, state: State) -> None:
        def is_kept(part: object) -> bool:
            return self._catalogue.file_of(part) is not None  # type: ignore[arg-type]

        terms, layers = [], []
        for segment, kept in term_parts(state, is_kept):
            file = self._catalogue.file_of(segment) if kept else None
            path = self._path(TERMS)
            terms.append(
                self._copy(file, path) if file else write_terms(self._files, path, segment)
            )
        for _, _, layer, kept in layer_parts(state, is_kept):
            file = self._catalogue.file_of(layer) if kept else None
            if layer.rows:
                path = self._path(LAYER)
                layers.append(
                    self._copy(file, path) if file else write_layer(self._files, path, layer)
                )
        meta = write_meta(self._files, self._path(META), state.meta) if state.meta else None
        manifest = Manifest(
            store=uuid.uuid4().hex,
            commit=state.commit,
            durable=state.commit,
            next_file=len(self._made) + 1,
            term_count=state.term_count,
            terms=tuple(terms),
            layers=tuple(layers),
            meta=meta,
        )
        self._install(manifest)

    def _install(self, manifest: Manifest) -> None:
        self._made.append(journal_path(self._target, manifest.journal))
        journal = Journal.create(
            self._files, self._target, manifest.journal, manifest.store, manifest.commit
        )
        journal.close()
        write_manifest(self._files, self._target, manifest)
        install_manifest(self._files, self._target)

    def _copy(self, file: SectionFile, path: Path) -> FileRef:
        """Copy a section file from its mapping; its name may have been removed."""
        ref = FileRef(path.name, file.ref.size, file.ref.check)
        if not (self._link and self._same(file) and self._files.link(file.path, path)):
            self._write(file.content(), path)
        problem = next(SectionFile(self._files, path, ref).verify(), None)
        if problem is not None:
            raise StorageError(f"the copy of {file.path} differs from what was written: {problem}")
        return ref

    def _same(self, file: SectionFile) -> bool:
        """True if the file is still there under its name; no name is used twice."""
        return self._files.exists(file.path)

    def _write(self, content: memoryview, path: Path) -> None:
        target = self._files.create(path)
        try:
            for start in range(0, len(content), _PIECE):
                target.write(content[start : start + _PIECE], start)
                if start % _BACKLOG == 0:
                    target.sync()
            target.sync()
        finally:
            target.close()
