"""What a database is made of, in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from triplestore.storage.files.system import Files


@dataclass(frozen=True, slots=True)
class DatabaseInfo:
    """What a database is made of; sizes in bytes."""

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


def file_sizes(files: Files, directory: Path) -> dict[str, int]:
    """The sizes of all files in a directory."""
    sizes = {}
    for name in files.list(directory):
        try:
            sizes[name] = files.size(directory / name)
        except FileNotFoundError:  # a writer replaced it a moment ago
            continue
    return sizes
