"""What a job returns, and how a finished store comes to its place.

Nothing here needs Spark. What is always true: a store is made beside its place, and renamed in
one step; until then it cannot be opened.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triplestore.errors import StorageError
from triplestore.storage.files.manifest import NAME as MANIFEST
from triplestore.storage.files.manifest import read_manifest
from triplestore.storage.files.system import RealFiles


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did; prints as a line.

    triples  statements that were read, repetitions left out where Spark saw them
    terms    distinct terms of the input
    files    files that were read
    bad      statements that were malformed, of a lenient import
    stages   name, seconds and figures of each stage
    resumed  stages that an earlier run of the job had ended
    change   what a commit to an existing store did
    """

    target: str
    triples: int
    terms: int
    files: int
    bad: int
    seconds: float
    stages: Sequence[Mapping[str, Any]] = ()
    resumed: Sequence[str] = ()
    change: Any = None
    already: bool = False
    """Whether the job was committed before, so that nothing was done."""

    def __str__(self) -> str:
        if self.already:
            return f"{self.target}: this job was committed before; nothing was done"
        rate = self.triples / self.seconds if self.seconds else 0.0
        bad = f", {self.bad:,} malformed" if self.bad else ""
        return (
            f"{self.target}: {self.triples:,} statements, {self.terms:,} terms from {self.files:,} "
            f"files{bad} in {self.seconds:.1f} s ({rate:,.0f} a second)"
        )


def put_in_place(fresh: Path, target: Path) -> None:
    """Rename a finished store to its place, which must be missing or an empty folder."""
    files = RealFiles()
    (fresh / "LOCK").unlink(missing_ok=True)
    try:
        fresh.rename(target)
    except OSError as error:
        raise StorageError(f"{target} is in the way of the new store: {error}") from error
    files.sync_directory(target.parent)


@contextmanager
def removed_on_failure(fresh: Path) -> Iterator[None]:
    """Begin without a folder that an earlier run left, and leave none if the block raises."""
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        yield
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def is_store(target: Path) -> bool:
    """Whether there is a store at a path."""
    return (target / MANIFEST).exists()


def name_of_store(target: Path) -> str:
    """The name that a store was given when it was made, and keeps."""
    return read_manifest(RealFiles(), target).store


def making(target: Path) -> Path:
    """Where a store is made: beside its place, so that renaming it is one step."""
    return target.with_name(f"{target.name}.making")


def size_of(target: Path) -> int:
    """The bytes of a store's files."""
    return sum(path.stat().st_size for path in target.iterdir())
