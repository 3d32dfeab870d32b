"""Sizes and other facts about a database: start at `info_of`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from triplestore.data_classes import data_class
from triplestore.storage.files.sections import VERSION
from triplestore.storage.files.system import Files

if TYPE_CHECKING:
    from triplestore.storage.database import Database


@data_class
class DatabaseInfo:
    """Facts about a database; sizes in bytes."""

    path: Path | None
    format: int
    commit: int
    durability: str
    read_only: bool
    terms: int
    term_segments: tuple[int, ...]
    layers: tuple[int, ...]
    files: Mapping[str, int]
    journal_bytes: int
    journal_commits: int
    background_error: str | None

    @property
    def disk_bytes(self) -> int:
        """Size of all files together."""
        return sum(self.files.values())


def info_of(database: Database) -> DatabaseInfo:
    """The facts as of the last commit."""
    state = database.state
    journal_bytes = journal_commits = 0
    if database.disk is not None:
        journal_bytes, journal_commits = database.disk.journal.end, database.disk.records
    elif database.reader is not None:
        found = database.reader.found
        journal_bytes = sum(scan.end for scan in found.chain.scans)
        journal_commits = state.commit - found.manifest.commit
    error = database.upkeep.error
    return DatabaseInfo(
        path=database.path,
        format=VERSION,
        commit=state.commit,
        durability=database.durability if database.disk is not None else "none",
        read_only=database.read_only,
        terms=state.term_count,
        term_segments=tuple(segment.count for segment in state.dictionary.segments),
        layers=tuple(layer.rows for layer in state.tables.layers),
        files={} if database.path is None else _file_sizes(database.files, database.path),
        journal_bytes=journal_bytes,
        journal_commits=journal_commits,
        background_error=None if error is None else str(error),
    )


def _file_sizes(files: Files, directory: Path) -> dict[str, int]:
    """The sizes of all files in a directory."""
    sizes = {}
    for name in files.list(directory):
        try:
            sizes[name] = files.size(directory / name)
        except FileNotFoundError:  # a writer replaced it a moment ago
            continue
    return sizes
