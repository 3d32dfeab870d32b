"""A file layer that simulates a page cache: it records, stops or fails writes to the disk.

`FaultyFiles` does every call on real files, so that the code under test sees what it always sees,
and notes it in a trace. From any prefix of the trace, `CrashImages` makes directories as a machine
that stopped there could leave them:

- a write that was not yet synced may have reached the disk, or not, or in part: up to some byte, or
  some of its 512-byte sectors; and so for every such write by itself, in any combination
- a file's length and its truncations likewise
- a name (made, renamed, removed) that was not yet synced with its directory may be there or not,
  again each by itself

With `fail` set, one call raises an error, after a partial effect or none.
"""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from triplestore.storage.files.system import Buffer, File, Lock, RealFiles

SECTOR = 512


@dataclass(frozen=True, slots=True)
class Write:
    inode: int
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Truncate:
    inode: int
    size: int


@dataclass(frozen=True, slots=True)
class Sync:
    inode: int


@dataclass(frozen=True, slots=True)
class Names:
    """An atomic change of names in one directory: name -> inode, or None."""

    directory: str
    changes: tuple[tuple[str, int | None], ...]


@dataclass(frozen=True, slots=True)
class SyncNames:
    directory: str


@dataclass(frozen=True, slots=True)
class Note:
    """A note of the test for this moment."""

    value: Any


@dataclass
class Failure:
    """Fail the call of this number (counting from 0) with this errno."""

    call: int
    error: int
    partly: bool = False
    again: bool = False  # all later calls of its kind also fail


class FaultyFile:
    def __init__(self, files: FaultyFiles, inode: int, real: File, path: Path) -> None:
        self._files = files
        self._inode = inode
        self._real = real
        self._path = path

    def write(self, data: Buffer, offset: int) -> None:
        whole = bytes(data)

        def partly() -> None:
            half = whole[: len(whole) // 2]
            self._real.write(half, offset)
            self._files.trace.append(Write(self._inode, offset, half))

        self._files.enter("write", partly, self._path)
        self._real.write(whole, offset)
        self._files.trace.append(Write(self._inode, offset, whole))

    def sync(self) -> None:
        self._files.enter("sync", None, self._path)
        self._files.trace.append(Sync(self._inode))

    def truncate(self, size: int) -> None:
        self._files.enter("truncate", None, self._path)
        self._real.truncate(size)
        self._files.trace.append(Truncate(self._inode, size))

    def close(self) -> None:
        self._real.close()


class FaultyFiles(RealFiles):
    """Real files without real syncs; every call that changes something is noted in `trace`."""

    def __init__(self, failure: Failure | None = None) -> None:
        self.trace: list[Any] = []
        self.calls: list[tuple[str, str]] = []
        self.failure = failure
        self.failed = 0
        self.before: Callable[[str, Path], None] = lambda kind, path: None
        self._inodes: dict[str, int] = {}
        self._next_inode = 1

    def note(self, value: Any) -> None:
        self.trace.append(Note(value))

    def enter(self, kind: str, partly: Callable[[], None] | None, path: Path) -> None:
        """Count a call, and fail it if it is the chosen one; `before` runs first."""
        self.before(kind, path)
        number = len(self.calls)
        self.calls.append((kind, path.name))
        failure = self.failure
        if failure is None or number < failure.call:
            return
        first = number == failure.call
        if first or (failure.again and kind == self.calls[failure.call][0]):
            self.failed += 1
            if failure.partly and partly is not None:
                partly()
            raise OSError(failure.error, os.strerror(failure.error), str(path))

    def create(self, path: Path) -> File:
        self.enter("create", None, path)
        real = super().create(path)
        inode = self._inodes.get(str(path))
        if inode is None:
            inode = self._inodes[str(path)] = self._next_inode
            self._next_inode += 1
            self._names(path, ((path.name, inode),))
        else:
            self.trace.append(Truncate(inode, 0))
        return FaultyFile(self, inode, real, path)

    def open(self, path: Path) -> File:
        return FaultyFile(self, self._inode_of(path), super().open(path), path)

    def make_directory(self, path: Path) -> None:
        self.enter("mkdir", None, path)
        path.mkdir(parents=True, exist_ok=True)

    def rename(self, old: Path, new: Path) -> None:
        self.enter("rename", None, new)
        super().rename(old, new)
        inode = self._inodes[str(new)] = self._inodes.pop(str(old))
        self._names(new, ((new.name, inode), (old.name, None)))

    def remove(self, path: Path) -> None:
        if not path.exists():
            return
        self.enter("remove", None, path)
        super().remove(path)
        self._inodes.pop(str(path), None)
        self._names(path, ((path.name, None),))

    def link(self, old: Path, new: Path) -> bool:
        self.enter("link", None, new)
        if not super().link(old, new):
            return False
        inode = self._inodes[str(new)] = self._inode_of(old)
        self._names(new, ((new.name, inode),))
        return True

    def sync_directory(self, path: Path) -> None:
        self.enter("syncdir", None, path)
        self.trace.append(SyncNames(str(path)))

    def lock(self, path: Path) -> Lock | None:
        self._inode_of(path)
        return super().lock(path)

    def _inode_of(self, path: Path) -> int:
        inode = self._inodes.get(str(path))
        if inode is None:
            inode = self._inodes[str(path)] = self._next_inode
            self._next_inode += 1
            self._names(path, ((path.name, inode),))
        return inode

    def _names(self, path: Path, changes: tuple[tuple[str, int | None], ...]) -> None:
        self.trace.append(Names(str(path.parent), changes))


@dataclass
class _Inode:
    durable: bytearray = field(default_factory=bytearray)
    pending: list[Write | Truncate] = field(default_factory=list)


class CrashImages:
    """Follows a trace; gives the possible states of the disk after a crash at any point."""

    def __init__(self) -> None:
        self._inodes: dict[int, _Inode] = {}
        self._names: dict[str, dict[str, int]] = {}
        self._pending: dict[str, list[Names]] = {}

    def follow(self, event: Any) -> None:
        """Add an event."""
        if isinstance(event, Write | Truncate):
            self._inode(event.inode).pending.append(event)
        elif isinstance(event, Sync):
            inode = self._inode(event.inode)
            for change in inode.pending:
                _apply(inode.durable, change)
            inode.pending.clear()
        elif isinstance(event, Names):
            self._pending.setdefault(event.directory, []).append(event)
        elif isinstance(event, SyncNames):
            names = self._names.setdefault(event.directory, {})
            for change in self._pending.pop(event.directory, []):
                _rename(names, change)

    def images(self, rng: random.Random, count: int) -> Iterator[Image]:
        """The images without unsynced changes, with all, and `count` random mixtures."""
        yield self._image(lambda: False, None)
        yield self._image(lambda: True, None)
        for _ in range(count):
            share = rng.choice([0.1, 0.5, 0.9])
            yield self._image(lambda share=share: rng.random() < share, rng)

    def _image(self, survives: Callable[[], bool], rng: random.Random | None) -> Image:
        contents: dict[int, bytes] = {}
        image: Image = {}
        for directory in {*self._names, *self._pending}:
            names = dict(self._names.get(directory, {}))
            for change in self._pending.get(directory, []):
                if survives():
                    _rename(names, change)
            for name, inode in names.items():
                if inode not in contents:
                    contents[inode] = self._content(inode, survives, rng)
                image[f"{directory}/{name}"] = contents[inode]
        return image

    def _content(
        self, number: int, survives: Callable[[], bool], rng: random.Random | None
    ) -> bytes:
        inode = self._inode(number)
        content = bytearray(inode.durable)
        for change in inode.pending:
            if not survives():
                continue
            if rng is not None and isinstance(change, Write) and rng.random() < 0.5:
                for part in _torn(change, rng):
                    _apply(content, part)
            else:
                _apply(content, change)
        return bytes(content)

    def _inode(self, number: int) -> _Inode:
        return self._inodes.setdefault(number, _Inode())


Image = dict[str, bytes]


def _apply(content: bytearray, change: Write | Truncate) -> None:
    if isinstance(change, Truncate):
        if change.size < len(content):
            del content[change.size :]
        else:
            content.extend(bytes(change.size - len(content)))
        return
    end = change.offset + len(change.data)
    if end > len(content):
        content.extend(bytes(end - len(content)))
    content[change.offset : end] = change.data


def _torn(write: Write, rng: random.Random) -> Iterator[Write]:
    """A part of a write: up to some byte, or some of its sectors."""
    data, offset = write.data, write.offset
    if rng.random() < 0.5:
        yield Write(write.inode, offset, data[: rng.randrange(len(data) + 1)])
        return
    place = 0
    while place < len(data):
        end = min(len(data), place + SECTOR - (offset + place) % SECTOR)
        if rng.random() < 0.5:
            yield Write(write.inode, offset + place, data[place:end])
        place = end


def _rename(names: dict[str, int], change: Names) -> None:
    for name, inode in change.changes:
        if inode is None:
            names.pop(name, None)
        else:
            names[name] = inode


def restore(image: Image, directory: Path, target: Path) -> None:
    """Write the image of `directory` to `target`."""
    target.mkdir(parents=True)
    for name, content in image.items():
        path = Path(name)
        if path.parent == directory:
            (target / path.name).write_bytes(content)


DISK_FULL, IO_ERROR = errno.ENOSPC, errno.EIO
