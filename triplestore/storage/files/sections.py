"""Section files: named typed columns in one immutable file, with a checksum of every block.

    header      64 bytes: magic, format version, where the directory is, its checksum, file size
    sections    each starts at a multiple of 64 bytes; one block is 32 KiB of one section
    fences      of each section of numbers: every 4096th value, so that searches touch few blocks
    checks      the CRC-32 of every block
    directory   JSON: kind, meta, the sections; checksums of fences and checks

Start reading at `write_sections` and `SectionFile`. Always true: the checksum in the header covers
the directory, the directory those of fences and checks, and these every block: one number (a
`FileRef` keeps it) identifies the whole content. Opening reads only header and directory; a block
is compared with its checksum once, when it is first read. Files are written once and never changed.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.checked_columns import FENCE, Array, Column
from triplestore.data_classes import data_class
from triplestore.errors import CorruptError, FormatError, ParseError, StorageError
from triplestore.storage.files.system import Buffer, File, Files
from triplestore.storage.thresholds import STORAGE

VERSION = 1
"""The version of the whole directory format; a change that older code cannot read adds 1."""

BLOCK = 32 * 1024
_BLOCK_BITS = 15
_FURTHER = 1  # more blocks that are verified each time that a block was not verified
_ALIGN = 64
_MAGIC = b"\x89TRPLS\r\n"
_HEADER = struct.Struct("<8sIIQQQ20xI")

assert _HEADER.size == _ALIGN

Pause: TypeAlias = Callable[[], object]


@data_class
class FileRef:
    """A section file by name, size and the checksum of its directory, hence of all its content."""

    name: str
    size: int
    check: int

    def to_json(self) -> list[Any]:
        """Its form in the manifest and in journal records."""
        return [self.name, self.size, self.check]

    @classmethod
    def from_json(cls, value: list[Any]) -> FileRef:
        """The reference that `to_json` described."""
        name, size, check = value
        return cls(str(name), int(size), int(check))


@data_class
class FileProblem:
    """A problem that `verify` found: the file, what is wrong, and how severe it is."""

    file: str
    what: str
    severity: str = "error"
    """"error": bytes differ from those written; "note": harmless, reported for completeness."""

    def __str__(self) -> str:
        return f"{self.severity}: {self.file}: {self.what}"


# --------------------------------------------------------------------------- writing


def write_sections(
    files: Files,
    path: Path,
    kind: str,
    sections: Mapping[str, Array],
    meta: Mapping[str, Any],
    *,
    pause: Pause | None = None,
) -> FileRef:
    """Write a section file and make its content durable (its name is not, before sync_directory).

    With `pause`, for background work, the file is synced while it is written, so that the sync of
    a commit does not wait for many dirty pages; `pause` is called after each piece and may raise.
    An incomplete file is removed if anything fails.
    """
    file = files.create(path)
    try:
        ref = _Writer(file, path.name, pause).write(kind, sections, meta)
    except BaseException:
        file.close()
        files.remove(path)
        raise
    file.close()
    return ref


class _Writer:
    """Writes one section file from front to back, and its header last."""

    def __init__(self, file: File, name: str, pause: Pause | None) -> None:
        self._file = file
        self._name = name
        self._pause = pause
        self._end = _ALIGN
        self._backlog = 0
        self._waiting = bytearray()
        self._checks: list[int] = []

    def write(self, kind: str, sections: Mapping[str, Array], meta: Mapping[str, Any]) -> FileRef:
        entries = []
        for name, array in sections.items():
            entry: dict[str, Any] = {"name": name, "dtype": array.dtype.str, "count": len(array)}
            entry["block"] = len(self._checks)
            entry["start"] = self._section(array)
            entries.append((entry, array))
        for entry, array in entries:
            if array.dtype.kind in "ui" and len(array) > FENCE:
                entry["fences"] = self._side_table(np.ascontiguousarray(array[::FENCE]))
        directory = {
            "kind": kind,
            "meta": meta,
            "checks": self._side_table(np.array(self._checks, dtype="<u4")),
            "sections": [entry for entry, _ in entries],
        }
        text = json.dumps(directory, separators=(",", ":"), sort_keys=True).encode()
        start = self._put(text)
        self._flush()
        check = zlib.crc32(text)
        header = _HEADER.pack(_MAGIC, VERSION, check, start, len(text), self._end, 0)[:-4]
        self._file.write(header + struct.pack("<I", zlib.crc32(header)), 0)
        self._file.sync()
        return FileRef(self._name, self._end, check)

    def _section(self, array: Array) -> int:
        """Write one section, block checksums on the way; return where it starts."""
        data = memoryview(np.ascontiguousarray(array).view(np.uint8).data)
        start = self._align()
        for piece_start in range(0, len(data), STORAGE.written_bytes):
            piece = data[piece_start : piece_start + STORAGE.written_bytes]
            for offset in range(0, len(piece), BLOCK):
                self._checks.append(zlib.crc32(piece[offset : offset + BLOCK]))
            self._append(piece)
        return start

    def _side_table(self, array: Array) -> list[int]:
        data = array.tobytes()
        return [self._put(data), len(array), zlib.crc32(data)]

    def _put(self, data: bytes) -> int:
        start = self._align()
        for offset in range(0, len(data), STORAGE.written_bytes):
            self._append(data[offset : offset + STORAGE.written_bytes])
        return start

    def _align(self) -> int:
        gap = -self._end % _ALIGN
        if gap:
            self._append(bytes(gap))
        return self._end

    def _append(self, data: Buffer) -> None:
        """Write at the end; small data waits until it is worth a call."""
        if len(data) >= STORAGE.gathered_bytes:
            self._flush()
            self._file.write(data, self._end)
        else:
            self._waiting += data
        self._end += len(data)
        self._backlog += len(data)
        if len(self._waiting) >= STORAGE.written_bytes:
            self._flush()
        if self._pause is not None and self._backlog >= STORAGE.synced_bytes:
            self._flush()
            self._file.sync()
            self._backlog = 0
            self._pause()

    def _flush(self) -> None:
        if self._waiting:
            self._file.write(self._waiting, self._end - len(self._waiting))
            self._waiting = bytearray()


# --------------------------------------------------------------------------- reading


class SectionFile:
    """An open section file: `column` returns its sections, verified when they are read.

    The file stays readable after its name is removed, as long as this or a column of it lives.
    """

    def __init__(self, files: Files, path: Path, ref: FileRef | None = None) -> None:
        """Open it, and refuse it unless it is the file that `ref` names."""
        self.path = path
        try:
            self._data = files.map(path)
        except ValueError as error:  # mmap refuses an empty file
            raise self._corrupt("it is empty") from error
        with decoding(path, "its directory"):
            self._directory, check = self._read_directory()
            self._sections = {str(entry["name"]): entry for entry in self._directory["sections"]}
            self._verified = bytearray(int(self._directory["checks"][1]))
        self.ref = FileRef(path.name, len(self._data), check)
        if ref is not None and (ref.size, ref.check) != (self.ref.size, self.ref.check):
            raise self._corrupt("it is not the file that the manifest or the journal names")
        self._checks: NDArray[np.uint32] | None = None

    @property
    def kind(self) -> str:
        """The kind of content: terms, layer or meta."""
        return str(self._directory["kind"])

    @property
    def meta(self) -> dict[str, Any]:
        """The JSON that was written beside the sections."""
        meta: dict[str, Any] = self._directory["meta"]
        return meta

    def names(self) -> tuple[str, ...]:
        """The names of the sections, as they were written."""
        return tuple(self._sections)

    def __contains__(self, name: str) -> bool:
        return name in self._sections

    def column(self, name: str) -> Column:
        """One section."""
        entry = self._sections.get(name)
        if entry is None:
            raise self._corrupt(f"there is no section {name!r}")
        with decoding(self.path, f"its section {name!r}"):
            return self._column(name, entry)

    def _column(self, name: str, entry: Mapping[str, Any]) -> Column:
        start, count = int(entry["start"]), int(entry["count"])
        dtype = np.dtype(entry["dtype"])
        if count == 0:
            return Column(np.empty(0, dtype))
        array = np.frombuffer(self._data, dtype, count, start)
        guard = _SectionGuard(self, name, int(entry["block"]), array.nbytes)
        fences = entry.get("fences")
        return Column(array, guard, self._side_table(fences, dtype) if fences else None)

    def bytes_of(self, name: str) -> bytes:
        """One section of bytes, verified: a copy."""
        return self.column(name).all().tobytes()

    def content(self) -> memoryview:
        """The whole file, for copying it."""
        return self._data

    def trust(self) -> None:
        """Mark all blocks as verified: for a file that this process has just written."""
        self._verified = bytearray(b"\1") * len(self._verified)

    def verify(self) -> Iterator[FileProblem]:
        """Compare everything with its checksum, verified before or not; yield the differences."""
        used: list[tuple[int, int]] = [(0, _HEADER.size)]
        self._checks = None
        self._verified = bytearray(len(self._verified))
        for name, entry in self._sections.items():
            nbytes = int(entry["count"]) * np.dtype(entry["dtype"]).itemsize
            used.append((int(entry["start"]), nbytes))
            try:
                guard = _SectionGuard(self, name, int(entry["block"]), nbytes)
                if fences := entry.get("fences"):
                    used.append(
                        (int(fences[0]), int(fences[1]) * np.dtype(entry["dtype"]).itemsize)
                    )
                    self._side_table(fences, np.dtype(entry["dtype"]))
            except CorruptError as error:
                yield FileProblem(self.path.name, str(error))
                continue
            for start in range(0, nbytes, BLOCK):
                try:
                    guard.verify(start, min(start + BLOCK, nbytes))
                except CorruptError as error:
                    yield FileProblem(self.path.name, str(error))
        used.append((int(self._directory["checks"][0]), len(self._verified) * 4))
        used.append((self._directory_start, self._directory_size))
        yield from self._verify_gaps(used)

    def _verify_gaps(self, used: Iterable[tuple[int, int]]) -> Iterator[FileProblem]:
        end = 0
        for start, size in sorted(used):
            if any(self._data[end:start]):
                yield FileProblem(
                    self.path.name, f"bytes {end}-{start} between sections are not zero"
                )
            end = start + size

    def block_check(self, block: int) -> int:
        """The checksum that a block should have."""
        if self._checks is None:
            self._checks = self._side_table(self._directory["checks"], np.dtype("<u4"))
        return int(self._checks[block])

    def _read_directory(self) -> tuple[dict[str, Any], int]:
        data = self._data
        if len(data) < _HEADER.size:
            raise self._corrupt(f"it is cut off after {len(data)} bytes")
        magic, version, check, start, length, size, own = _HEADER.unpack(data[: _HEADER.size])
        if magic != _MAGIC:
            raise self._corrupt("it does not begin like a file of a store")
        if zlib.crc32(data[: _HEADER.size - 4]) != own:
            raise self._corrupt("the checksum of its header differs")
        check_version(version, self.path)
        if size != len(data):
            raise self._corrupt(f"it should have {size} bytes and has {len(data)}")
        text = bytes(data[start : start + length])
        if zlib.crc32(text) != check:
            raise self._corrupt("the checksum of its directory differs")
        self._directory_start, self._directory_size = start, length
        directory: dict[str, Any] = json.loads(text)
        return directory, check

    def _side_table(self, place: list[int], dtype: np.dtype[Any]) -> Array:
        start, count, check = place
        data = self._data[start : start + count * dtype.itemsize]
        if zlib.crc32(data) != check:
            raise self._corrupt("the checksum of its search tables differs")
        return np.frombuffer(data, dtype)

    def _corrupt(self, what: str) -> CorruptError:
        return damaged(self.path, what)


class _SectionGuard:
    """Verifies the blocks of one section; verified blocks are noted for the whole file."""

    __slots__ = ("_file", "_first", "_name", "_nbytes")

    def __init__(self, file: SectionFile, name: str, first: int, nbytes: int) -> None:
        self._file = file
        self._name = name
        self._first = first
        self._nbytes = nbytes

    def verify(self, start: int, stop: int) -> None:
        """Compare the blocks of bytes [start, stop) with their checksums, unless done before."""
        if start >= stop:
            return
        done = self._file._verified
        block = self._first + (start >> _BLOCK_BITS)
        end = self._first + ((stop - 1) >> _BLOCK_BITS) + 1
        while (block := done.find(0, block, end)) >= 0:
            self._check(block)
            block += 1

    def verified(self, start: int, stop: int) -> bool:
        """True if nothing is left to verify in bytes [start, stop)."""
        if start >= stop:
            return True
        first = self._first + (start >> _BLOCK_BITS)
        end = self._first + ((stop - 1) >> _BLOCK_BITS) + 1
        return self._file._verified.find(0, first, end) < 0

    def verify_at(self, offsets: NDArray[np.int64]) -> None:
        """Verify the blocks of these bytes."""
        touched = np.zeros((self._nbytes >> _BLOCK_BITS) + 1, dtype=np.bool_)
        touched[offsets >> _BLOCK_BITS] = True
        done = self._file._verified
        for block in (np.flatnonzero(touched) + self._first).tolist():
            if not done[block]:
                self._check(block)

    def go_on(self) -> None:
        """Verify some more blocks of the section, up to a damaged one.

        The damage is reported when that block is read.
        """
        block, done = self._first, self._file._verified
        end = block + ((self._nbytes - 1) >> _BLOCK_BITS) + 1
        with suppress(CorruptError):
            for _ in range(_FURTHER):
                block = done.find(0, block, end)
                if block < 0:
                    return
                self._check(block)

    def _check(self, block: int) -> None:
        entry = self._file._sections[self._name]
        offset = (block - self._first) << _BLOCK_BITS
        start = int(entry["start"]) + offset
        stop = start + min(BLOCK, self._nbytes - offset)
        if zlib.crc32(self._file._data[start:stop]) != self._file.block_check(block):
            raise damaged(
                self._file.path,
                f"the checksum of block {block - self._first} of section {self._name!r} "
                f"(bytes {start}-{stop} of the file) differs",
            )
        self._file._verified[block] = 1


# --------------------------------------------------------------------------- refusals


def damaged(path: Path | str, what: str) -> CorruptError:
    """The error for bytes that differ from those written."""
    return CorruptError(
        f"{path} is damaged: {what}; restore the store from a backup "
        f"(`triplestore verify` lists all that is damaged)"
    )


_UNREADABLE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    ParseError,
    RecursionError,
    TypeError,
    ValueError,  # also UnicodeDecodeError, json.JSONDecodeError and our UsageError
    struct.error,
)


@contextmanager
def decoding(path: Path | str, what: str) -> Iterator[None]:
    """Turn an error of decoding into a CorruptError that names the file.

    Checksums detect bytes that changed on disk. Bytes with a correct checksum can also be wrong:
    faulty memory or a faulty program may have written them.
    """
    try:
        yield
    except StorageError:
        raise
    except _UNREADABLE as error:
        raise damaged(path, f"{what} cannot be read ({type(error).__name__}: {error})") from error


def check_version(version: int, path: Path) -> None:
    """Refuse a format that this version of the package cannot read."""
    if version > VERSION:
        raise FormatError(
            f"{path} is of format {version}, written by a newer version of triplestore; "
            f"this one reads formats up to {VERSION}: upgrade triplestore"
        )
    if version < 1:
        raise FormatError(f"{path} is of format {version}, which does not exist")
