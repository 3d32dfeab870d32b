"""The file system: the only code of this package that calls the operating system.

A store uses `RealFiles`; fault tests replace it by another `Files`, which records, stops or fails
each call. Start reading at the protocols. Always true: a `write` has written all its bytes or
raises; nothing is durable before `sync` (contents and size of a file) or `sync_directory` (names of
files) has returned.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import mmap
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias

from triplestore.errors import StorageError

Buffer: TypeAlias = bytes | bytearray | memoryview
_FULL = {errno.ENOSPC, errno.EDQUOT}
_NOT_ALLOWED = {errno.EACCES, errno.EPERM, errno.EROFS}


class File(Protocol):
    """A file that is open for writing."""

    def write(self, data: Buffer, offset: int) -> None:
        """Write all of `data` at `offset`, or raise."""

    def sync(self) -> None:
        """Make the contents and the size durable."""

    def truncate(self, size: int) -> None:
        """Cut the file off, or lengthen it with zeros."""

    def close(self) -> None:
        """Close it; this makes nothing durable."""


class Lock(Protocol):
    """A held lock; it ends with `release` or with the process."""

    def release(self) -> None:
        """Release the lock."""


class Files(Protocol):
    """What the storage package needs of a file system."""

    def create(self, path: Path) -> File:
        """A new, empty file, in place of any older one of that name."""

    def open(self, path: Path) -> File:
        """An existing file, to be written."""

    def read(self, path: Path, start: int = 0, size: int = -1) -> bytes:
        """Bytes from `start`, to the end or at most `size` of them."""

    def map(self, path: Path) -> memoryview:
        """The bytes of a file, read on demand; they stay readable when the file is removed."""

    def size(self, path: Path) -> int:
        """Length in bytes."""

    def list(self, path: Path) -> list[str]:
        """The names in a directory, sorted."""

    def exists(self, path: Path) -> bool:
        """True if there is a file or directory of that name."""

    def make_directory(self, path: Path) -> None:
        """Make a directory, and those above it; OK if it exists."""

    def rename(self, old: Path, new: Path) -> None:
        """Give a file another name in one step, in place of any older file of that name."""

    def remove(self, path: Path) -> None:
        """Remove a file's name; OK if there is none."""

    def link(self, old: Path, new: Path) -> bool:
        """Give a file a second name; False where the file system cannot."""

    def sync_directory(self, path: Path) -> None:
        """Make the names in a directory durable."""

    def lock(self, path: Path) -> Lock | None:
        """Take the lock of this file (made if missing); None if another process holds it."""


class RealFile:
    """A file of the operating system."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, data: Buffer, offset: int) -> None:
        """Write all of `data` at `offset`, or raise."""
        written = os.pwrite(self._descriptor, data, offset)
        while written < len(data):
            more = os.pwrite(self._descriptor, memoryview(data)[written:], offset + written)
            if more == 0:
                raise OSError(errno.EIO, "a write made no progress")
            written += more

    def sync(self) -> None:
        """Make the contents and the size durable."""
        _sync(self._descriptor)

    def truncate(self, size: int) -> None:
        """Cut the file off, or lengthen it with zeros."""
        os.ftruncate(self._descriptor, size)

    def close(self) -> None:
        """Close it."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class RealLock:
    """An advisory lock (flock) on a file: the system drops it when its process ends."""

    _held: set[RealLock] = set()  # noqa: RUF012 - one per process, on purpose

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._held.add(self)

    def release(self) -> None:
        """Release the lock."""
        if self._descriptor >= 0:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            self.forget()

    def forget(self) -> None:
        """Close the descriptor without unlocking: for a forked child, whose parent has the lock."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        self._held.discard(self)

    @classmethod
    def forget_all(cls) -> None:
        """After a fork: otherwise a child that runs on would keep its parent's lock."""
        for lock in list(cls._held):
            lock.forget()


os.register_at_fork(after_in_child=RealLock.forget_all)


class RealFiles:
    """The file system of the operating system."""

    def create(self, path: Path) -> File:
        """A new, empty file, in place of any older one of that name."""
        return RealFile(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666))

    def open(self, path: Path) -> File:
        """An existing file, to be written."""
        return RealFile(os.open(path, os.O_RDWR | os.O_CLOEXEC))

    def read(self, path: Path, start: int = 0, size: int = -1) -> bytes:
        """Bytes from `start`, to the end or at most `size` of them."""
        with path.open("rb", buffering=0) as stream:
            stream.seek(start)
            if size < 0:
                return stream.readall()
            parts = []
            while size > 0 and (part := stream.read(size)):
                parts.append(part)
                size -= len(part)
            return b"".join(parts)

    def map(self, path: Path) -> memoryview:
        """The bytes of a file, mapped into memory."""
        with path.open("rb") as stream:
            return memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))

    def size(self, path: Path) -> int:
        """Length in bytes."""
        return path.stat().st_size

    def list(self, path: Path) -> list[str]:
        """The names in a directory, sorted."""
        return sorted(os.listdir(path))  # noqa: PTH208 - names are wanted, not paths

    def exists(self, path: Path) -> bool:
        """True if there is a file or directory of that name."""
        return path.exists()

    def make_directory(self, path: Path) -> None:
        """Make a directory, and those above it; each new name is made durable."""
        missing = [path, *path.parents]
        missing = missing[: next(i for i, each in enumerate(missing) if each.exists())]
        for each in reversed(missing):
            each.mkdir(exist_ok=True)
            self.sync_directory(each.parent)

    def rename(self, old: Path, new: Path) -> None:
        """Give a file another name in one step."""
        old.replace(new)

    def remove(self, path: Path) -> None:
        """Remove a file's name; OK if there is none."""
        path.unlink(missing_ok=True)

    def link(self, old: Path, new: Path) -> bool:
        """Give a file a second name; False where the file system cannot."""
        try:
            new.hardlink_to(old)
        except OSError:
            return False
        return True

    def sync_directory(self, path: Path) -> None:
        """Make the names in a directory durable."""
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno != errno.EINVAL:  # some file systems cannot, and need not
                raise
        finally:
            os.close(descriptor)

    def lock(self, path: Path) -> Lock | None:
        """Take the lock of this file; None if another process holds it."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except BaseException:
            os.close(descriptor)
            raise
        return RealLock(descriptor)


def write_whole(files: Files, path: Path, parts: Sequence[Buffer]) -> None:
    """Write a file from its parts and sync it; without `sync_directory` its name may be lost."""
    file = files.create(path)
    try:
        offset = 0
        for part in parts:
            file.write(part, offset)
            offset += len(part)
        file.sync()
    finally:
        file.close()


@contextlib.contextmanager
def explained(doing: str, path: Path) -> Iterator[None]:
    """Turn an OSError of the system into a StorageError that says what to do."""
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        raise explanation(error, doing, path) from error


def explanation(error: OSError, doing: str, path: Path) -> StorageError:
    """The StorageError for a failed call: what was being done, where, why, and what to do."""
    reason = os.strerror(error.errno) if error.errno else str(error)
    message = f"{doing} {path} failed: {reason}"
    if error.errno in _FULL:
        message += f" ({_free(path)}); no commit is lost: make room and try again"
    elif error.errno in _NOT_ALLOWED:
        message += "; to read a store that cannot be written, open it read-only"
    elif error.errno == errno.EMFILE:
        message += "; raise the limit on open files (ulimit -n)"
    explained_error = StorageError(message)
    explained_error.errno = error.errno  # not filename: str() would then leave the message out
    return explained_error


def _free(path: Path) -> str:
    try:
        return f"{shutil.disk_usage(path if path.is_dir() else path.parent).free:,} bytes free"
    except OSError:
        return "the disk is full"


def _best_sync() -> int | None:
    """macOS flushes the disk's own cache only for this fcntl; other systems do not have it."""
    command = getattr(fcntl, "F_FULLFSYNC", None)
    return command if isinstance(command, int) else None


_FULLFSYNC = _best_sync()


def _sync(descriptor: int) -> None:
    if _FULLFSYNC is not None:
        fcntl.fcntl(descriptor, _FULLFSYNC)
    elif hasattr(os, "fdatasync"):
        os.fdatasync(descriptor)  # leaves out time stamps: no file system journal is involved
    else:
        os.fsync(descriptor)
