"""Verification: everything in a store's directory compared with its checksums.

Start reading at `verify_database`. `verify_files` opens the files itself, so that it also lists the
damage of a store that cannot be opened; `_verify_state` searches an open store for contradictions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from triplestore.errors import StorageError
from triplestore.storage.files.journal import journal_path, read_journals
from triplestore.storage.files.manifest import NAME as MANIFEST_NAME
from triplestore.storage.files.manifest import Manifest, read_manifest
from triplestore.storage.files.sections import FileProblem, FileRef, SectionFile, decoding
from triplestore.storage.files.system import Files
from triplestore.storage.record import Commit
from triplestore.storage.state import State

if TYPE_CHECKING:
    from triplestore.storage.database import Database

Progress = Callable[[str], None]


def verify_database(database: Database, progress: bool) -> list[str]:
    """Compare files with their checksums, and rows with each other; return all problems."""

    def report(name: str) -> None:
        if progress:
            print(f"verifying {name}", file=sys.stderr)  # noqa: T201

    problems: list[FileProblem] = []
    if database.path is not None:
        problems = list(_verify_directory(database, database.path, report))
    report("rows")
    problems += _verify_state(database.state)
    return [f"{each.file}: {each.what}" for each in problems if each.severity == "error"]


def _verify_directory(
    database: Database, directory: Path, progress: Progress
) -> Iterator[FileProblem]:
    """Verify all files. This process replaces none meanwhile; if another one does, start again."""
    files, disk = database.files, database.disk
    with database.upkeep.lock:
        if disk is not None:
            with database.commit_lock:
                if not disk.journal.tail_is_clean():
                    what = "there are bytes behind the last record that no commit wrote"
                    yield FileProblem(disk.journal.path.name, what)
                if database.durability != "commit" and database.broken is None:
                    database.sync_journal()
            yield from verify_files(files, directory, progress)
            return
        serial = -1
        while True:
            problems = list(verify_files(files, directory, progress))
            before, serial = serial, _serial_of(files, directory)
            if not problems or serial == before:
                yield from problems
                return


def verify_files(files: Files, directory: Path, progress: Progress) -> Iterator[FileProblem]:
    """The damaged and missing files among those that the manifest and the journals name.

    If another process writes meanwhile, files that it replaced are missing: see `_serial_of`.
    """
    progress(MANIFEST_NAME)
    try:
        manifest = read_manifest(files, directory)
    except StorageError as error:
        yield FileProblem(MANIFEST_NAME, str(error))
        return
    yield from _verify_refs(files, directory, manifest.refs(), progress)
    yield from _verify_journals(files, directory, manifest, progress)


def _verify_refs(
    files: Files, directory: Path, refs: tuple[FileRef, ...], progress: Progress
) -> Iterator[FileProblem]:
    for ref in refs:
        progress(ref.name)
        try:
            yield from SectionFile(files, directory / ref.name, ref).verify()
        except StorageError as error:
            yield FileProblem(ref.name, str(error))
        except FileNotFoundError:
            yield FileProblem(ref.name, f"{directory / ref.name} is missing")


def _verify_journals(
    files: Files, directory: Path, manifest: Manifest, progress: Progress
) -> Iterator[FileProblem]:
    path = journal_path(directory, manifest.journal)
    progress(path.name)
    try:
        chain = read_journals(files, directory, manifest.store, manifest.journal, manifest.commit)
    except StorageError as error:
        yield FileProblem(path.name, str(error))
        return
    except FileNotFoundError:
        yield FileProblem(path.name, f"{path} is missing")
        return
    if chain.commit < manifest.durable:
        yield FileProblem(
            path.name,
            f"commit {manifest.durable} was made durable, but the journal ends with commit "
            f"{chain.commit}",
        )
    for scan in chain.scans:
        if scan.torn:
            yield FileProblem(
                scan.path.name,
                f"there is an unfinished write at byte {scan.end}, of a commit that did not "
                f"return; the next writer removes it",
                severity="note",
            )
    try:
        with decoding(path, "one of its commits"):
            commits = [Commit.from_bytes(record.payload) for record in chain.records]
    except StorageError as error:
        yield FileProblem(path.name, str(error))
        return
    named = tuple(ref for commit in commits for ref in commit.refs())
    yield from _verify_refs(files, directory, named, progress)


def _serial_of(files: Files, directory: Path) -> int:
    """The serial number of the manifest in force; -1 if it cannot be read."""
    try:
        return read_manifest(files, directory).serial
    except (StorageError, FileNotFoundError):
        return -1


def _verify_state(state: State) -> Iterator[FileProblem]:
    """Contradictions in a state: rows out of order, wrong totals, unknown ids."""
    try:
        state.tables.validate()
    except AssertionError as error:
        yield FileProblem("tables", f"a layer contradicts itself: {error}")
    except StorageError as error:
        yield FileProblem("tables", str(error))
