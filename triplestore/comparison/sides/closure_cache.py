"""Closures of files, kept in a folder by the hash of all that they depend on.

Start reading at `ClosureCache.entry`. An entry is a folder with a store, the quads of each file as
arrays of ids, and a list that is written last; so an entry without a list was not finished and is
removed. CI can restore the folder from its own cache: it has no absolute paths and needs no lock.
Without an entry for a side, the nearest one is changed into it: only the files that differ are
read, and their consequences maintained.
"""

from __future__ import annotations

import json
import os
import shutil
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import numpy as np

from triplestore.comparison.sides.files_of_side import FileSide
from triplestore.comparison.sides.quad_rows import QuadRows
from triplestore.comparison.thresholds import COMPARISON
from triplestore.data_classes import data_class
from triplestore.datalog.program import Program

_LIST = "files.json"
_MAKING = "making-"


@data_class
class CachedClosure:
    """One entry: the files that its store is the closure of.

    contents  name of each file -> the id of its content
    rules     the text of the rules in force
    """

    folder: Path
    contents: Mapping[str, str]
    rules: str

    @property
    def store(self) -> Path:
        """The folder of the store."""
        return self.folder / "store"

    def rows(self, name: str) -> QuadRows:
        """The quads of a file, as ids of the store."""
        path = self.folder / f"{self.contents[name]}-{_short(name)}.npy"
        found: QuadRows = np.load(path, allow_pickle=False)
        return found


def _short(name: str) -> str:
    return sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:12]


class ClosureCache:
    """The folder of entries for one way of reasoning."""

    def __init__(self, folder: Path, reasoning: str) -> None:
        self.folder = folder / f"closures-{reasoning}"
        self.folder.mkdir(parents=True, exist_ok=True)

    @staticmethod
    def name(side: FileSide, program: Program) -> str:
        """The name of the entry for files and rules."""
        files = sorted((file.name, file.content_id) for file in side.files)
        said = json.dumps([files, sorted(str(program).splitlines())])
        return sha256(said.encode("utf-8", "surrogateescape")).hexdigest()[:32]

    def entry(self, name: str) -> CachedClosure | None:
        """The entry of a name, if there is one."""
        return self._read(self.folder / name)

    def _read(self, folder: Path) -> CachedClosure | None:
        try:
            said = json.loads((folder / _LIST).read_text())
            found = CachedClosure(folder, said["contents"], said["rules"])
        except (OSError, ValueError, KeyError):
            return None
        os.utime(folder)
        return found

    def nearest(self, side: FileSide) -> CachedClosure | None:
        """The entry with the most files of a side, if it has at least half of them."""
        wanted = {(file.name, file.content_id) for file in side.files}
        best, most = None, 0
        for folder in self._folders():
            found = self._read(folder)
            if found is not None:
                same = len(wanted & set(found.contents.items()))
                if same > most or (same == most and self._resembles(found, side, best)):
                    best, most = found, same
        return best

    @staticmethod
    def _resembles(found: CachedClosure, side: FileSide, best: CachedClosure | None) -> bool:
        names = {file.name for file in side.files}
        return best is None and bool(names & set(found.contents))

    def _folders(self) -> list[Path]:
        found = [one for one in self.folder.iterdir() if not one.name.startswith(_MAKING)]
        return sorted(found, key=lambda one: one.stat().st_mtime, reverse=True)

    @contextmanager
    def making(self, of: CachedClosure | None = None) -> Iterator[Path]:
        """A folder for a new entry, perhaps with a copy of the store of another one; it is removed
        if the block raises."""
        made = self.folder / f"{_MAKING}{uuid.uuid4().hex}"
        made.mkdir()
        if of is not None:
            shutil.copytree(of.store, made / "store", ignore=shutil.ignore_patterns("LOCK"))
        try:
            yield made
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise

    def finish(
        self,
        made: Path,
        name: str,
        contents: Mapping[str, str],
        rows: Mapping[str, QuadRows],
        rules: str,
    ) -> CachedClosure:
        """Make a folder the entry of a name."""
        for file, keys in rows.items():
            np.save(made / f"{contents[file]}-{_short(file)}.npy", keys, allow_pickle=False)
        said = {"contents": dict(contents), "rules": rules}
        (made / _LIST).write_text(json.dumps(said, indent=1))
        place = self.folder / name
        if not (place / _LIST).exists():
            shutil.rmtree(place, ignore_errors=True)
            try:
                made.rename(place)
            except OSError:  # another process was faster
                shutil.rmtree(made, ignore_errors=True)
        else:
            shutil.rmtree(made, ignore_errors=True)
        self._prune()
        found = self._read(place)
        assert found is not None
        return found

    def _prune(self) -> None:
        for half_made in self.folder.glob(f"{_MAKING}*"):
            if time.time() - half_made.stat().st_mtime > COMPARISON.abandoned_seconds:
                shutil.rmtree(half_made, ignore_errors=True)
        for old in self._folders()[COMPARISON.cached_closures :]:
            shutil.rmtree(old, ignore_errors=True)
