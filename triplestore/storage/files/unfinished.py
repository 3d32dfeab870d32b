"""A store directory that is being written in one go, and taken back if that fails."""

from __future__ import annotations

import contextlib
from pathlib import Path

from triplestore.storage.files.manifest import NAME
from triplestore.storage.files.system import Files


class Unfinished:
    """The files made so far: each has a number of its own."""

    def __init__(self, files: Files, target: Path) -> None:
        self._files = files
        self._target = target
        self._made: list[Path] = []

    def discard(self) -> None:
        """Remove what was written, the manifest first."""
        for path in (self._target / NAME, self._target / f"{NAME}.new", *self._made):
            with contextlib.suppress(OSError):
                self._files.remove(path)

    def _path(self, kind: str) -> Path:
        path = self._target / f"{kind}-{len(self._made) + 1:06d}.seg"
        self._made.append(path)
        return path
