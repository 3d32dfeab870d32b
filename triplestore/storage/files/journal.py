"""The journal: one record per commit, in files journal-NNNNNN.log that follow each other.

    file        header (64 bytes), records, and zeros that were written ahead: a sync of bytes that
                were there before needs no change of the file system's own tables
    record      head (48 bytes), payload, padding to 8 bytes, 8 bytes that end it; the head names
                the record before it by its checksum, so that no record of another store can follow

Start reading at `Journal` (writing) and `read_journals` (recovery). The hard question is what to
do at the first incomplete record: a *torn* write, whose commit had not returned, is left out; a
*damaged* one is refused. Two rules decide:

- A record says which commit was durable when it was written (`synced`). If a later record says that
  the broken one was durable, it is damaged; likewise if the manifest's `durable` says so.
- A record torn by a crash lacks something: its last byte, or a whole sector, still reads as zero
  (or lies beyond the end of the file). Neither occurs in a whole record: the fields of the head are
  not zero, and the payload is XORed with a fixed pattern. So a broken record that lacks nothing was
  damaged later, even if it is the last record.

Always true of a journal that is written to: there are only zeros after its last record, durably.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import struct
import threading
import zlib
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path

import numpy as np

from triplestore.data_classes import data_class
from triplestore.storage.files.sections import VERSION, check_version, damaged
from triplestore.storage.files.system import File, Files, write_whole
from triplestore.storage.thresholds import STORAGE

NAME = re.compile(r"journal-(\d{6,})\.log")

_MAGIC = b"\x89TRPLJ\r\n"
_HEADER = struct.Struct("<8sIQ16s16xI8s")
_RECORD = b"\xd5commit\n"
_HEAD = struct.Struct("<8sIIQQII8s")
_END = b"\xa5" * 8
_SECTOR = 512
_PATTERN = b"".join(hashlib.sha256(bytes([i])).digest() for i in range(128)).replace(b"\0", b"\1")
_MASK = np.frombuffer(_PATTERN * 16, dtype=np.uint8)

HEADER_BYTES = _HEADER.size
"""Where the first record of a journal begins."""

assert _HEADER.size == 64 and _HEAD.size == 48


def journal_path(directory: Path, number: int) -> Path:
    """The path of the journal of this number."""
    return directory / f"journal-{number:06d}.log"


@data_class
class Record:
    """A whole record: its commit, the commit known durable when it was written, and the payload.

    `after` is the checksum of the record before it (or of the file's header), `check` its own.
    """

    commit: int
    synced: int
    after: int
    check: int
    payload: bytes


# --------------------------------------------------------------------------- writing


class Journal:
    """A journal that is being written.

    `written` and `synced` are the newest commits in it that were written, and made durable.
    """

    def __init__(
        self, files: Files, path: Path, number: int, commit: int, end: int, check: int
    ) -> None:
        """Continue a journal whose last record, of this checksum, ends at `end`."""
        self.number = number
        self.path = path
        self.check = check
        self.written = self.synced = commit
        self._files = files
        self._file: File = files.open(path)
        self._end = end
        self._reserved = files.size(path)
        self._unclean = False
        self._syncing = threading.Lock()

    @classmethod
    def create(
        cls, files: Files, directory: Path, number: int, store: str, commit: int = 0
    ) -> Journal:
        """A new journal, durable in content and name, for the commits after `commit`."""
        path = journal_path(directory, number)
        header = _file_header(number, store)
        write_whole(files, path, [header])
        files.sync_directory(directory)
        return cls(files, path, number, commit, len(header), _file_check(header))

    @property
    def end(self) -> int:
        """Where the next record goes: the length of the used part of the journal."""
        return self._end

    @property
    def wants_reserve(self) -> bool:
        """True if it is time to write zeros ahead."""
        return self._reserved - self._end < STORAGE.reserve_bytes // 4

    def append(self, commit: int, payload: bytes) -> None:
        """Write the record of the next commit, in one write.

        If this raises, remains of the record may be there: `take_back` removes them.
        """
        assert commit == self.written + 1, (commit, self.written)
        record, check = _record(commit, self.synced, self.check, payload)
        if self._unclean:
            self.take_back(self.position())
        self._unclean = True  # until all is done, Ctrl-C included
        self._file.write(record, self._end)
        self._end += len(record)
        self.written, self.check = commit, check
        self._unclean = False

    def sync(self) -> None:
        """Make all written records durable; appends may run meanwhile."""
        if self.synced == self.written:
            return
        with self._syncing:
            written = self.written
            if self.synced < written:
                self._file.sync()
                self.synced = written

    def position(self) -> tuple[int, int, int]:
        """The current end of the journal, for `take_back`."""
        return self._end, self.written, self.check

    def take_back(self, position: tuple[int, int, int]) -> None:
        """Remove everything after a position, durably."""
        self._unclean = True
        self._end, self.written, self.check = position
        self._reserved = min(self._reserved, self._end)
        self._file.truncate(self._end)
        self._file.sync()
        self._unclean = False

    def begin(self, commit: int) -> None:
        """Let a new journal begin after this commit, which is durable."""
        self.written = self.synced = commit

    def reserve(self) -> None:
        """Write zeros ahead; no append may run meanwhile. Durable after `sync_reserve`."""
        start = max(self._reserved, self._end)
        self._file.write(bytes(STORAGE.reserve_bytes), start)
        self._reserved = start + STORAGE.reserve_bytes

    def sync_reserve(self) -> None:
        """Make the zeros written ahead durable; appends may run meanwhile."""
        self._file.sync()

    def close(self, trim: bool = True) -> None:
        """Close it; `trim` removes the zeros that were written ahead."""
        with self._syncing:
            if trim and self._reserved > self._end:
                with contextlib.suppress(OSError):  # zeros do no harm
                    self._file.truncate(self._end)
            self._file.close()

    def tail_is_clean(self) -> bool:
        """True if there are only zeros after the last record."""
        return not self._files.read(self.path, self._end).strip(b"\0")


def bytes_of_record(payload: bytes) -> int:
    """How many bytes a record with this payload takes."""
    return _HEAD.size + len(payload) + -len(payload) % 8 + len(_END)


def _file_header(number: int, store: str) -> bytes:
    header = _HEADER.pack(_MAGIC, VERSION, number, bytes.fromhex(store), 0, _END)
    return header[:52] + struct.pack("<I", zlib.crc32(header)) + _END


def _file_check(header: bytes) -> int:
    return int.from_bytes(header[52:56], "little")


def _record(commit: int, synced: int, after: int, payload: bytes) -> tuple[bytes, int]:
    """The bytes of a record, and the checksum that names it."""
    padded = payload + bytes(-len(payload) % 8)
    # +1 because eight bytes of zeros could pass for a sector that was never written.
    fields = (_RECORD, len(payload) + 1, after, commit, synced + 1, zlib.crc32(payload), 0, _END)
    head = _HEAD.pack(*fields)
    check = zlib.crc32(head)
    return b"".join((head[:36], struct.pack("<I", check), _END, _mask(padded), _END)), check


def _mask(data: bytes) -> bytes:
    """XOR with the pattern; applied twice, it restores the data."""
    array = np.frombuffer(data, dtype=np.uint8)
    if len(array) <= len(_MASK):
        return (array ^ _MASK[: len(array)]).tobytes()
    return (array ^ np.resize(_MASK, len(array))).tobytes()


# --------------------------------------------------------------------------- reading


@data_class(frozen=False)
class JournalScan:
    """The records of one journal file, and where they end; `torn` if other bytes follow."""

    path: Path
    number: int
    records: list[Record]
    end: int
    check: int = 0
    torn: bool = False
    damage: str = ""


@data_class(frozen=False)
class JournalChain:
    """The records of all journals of a store, in order, and how far each file was read."""

    commit: int
    records: list[Record] = field(default_factory=list)
    scans: list[JournalScan] = field(default_factory=list)


def read_journals(
    files: Files,
    directory: Path,
    store: str,
    first: int,
    commit: int,
    since: tuple[int, int] | None = None,
) -> JournalChain:
    """All records after `commit`, from journal `first` to the last journal.

    `since` is where reading journal `first` ended before: byte, and checksum of the last record.
    Raises CorruptError for damage, FileNotFoundError if the first journal is not there.
    """
    chain = JournalChain(commit)
    number = first
    path = journal_path(directory, first)
    while number == first or files.exists(path):
        data = files.read(path)
        if not _is_begun(data, path, number, store, required=number == first):
            chain.scans.append(JournalScan(path, number, [], 0, torn=True))
            break
        place, check = since or (_HEADER.size, _file_check(data[: _HEADER.size]))
        scan = _scan(data, path, number, chain.commit, place, check)
        chain.scans.append(scan)
        chain.records += scan.records
        chain.commit += len(scan.records)
        number, since = number + 1, None
        path = journal_path(directory, number)
    if any(scan.torn for scan in chain.scans):
        _refuse_damage(files, chain)
    return chain


def _scan(data: bytes, path: Path, number: int, commit: int, place: int, check: int) -> JournalScan:
    """The records that follow the one of `commit`, whose checksum is `check`, up to `place`."""
    records: list[Record] = []
    while found := _record_at(data, place):
        record, end = found
        if record.commit != commit + 1 or record.after != check:
            break
        records.append(record)
        place, commit, check = end, record.commit, record.check
    scan = JournalScan(path, number, records, place, check)
    if data[place:].strip(b"\0"):
        scan.torn = True
        if not _lacks_something(data, place):
            scan.damage = f"the record of commit {commit + 1}, at byte {place}, is not as written"
    return scan


def _head_at(data: bytes, place: int) -> tuple[int, ...] | None:
    """Payload length, record before, commit, synced, payload checksum, checksum; or None."""
    head = data[place : place + _HEAD.size]
    if len(head) < _HEAD.size or head[:8] != _RECORD or head[-8:] != _END:
        return None
    _, length, after, commit, synced, payload_check, check, _ = _HEAD.unpack(head)
    if zlib.crc32(head[:36] + bytes(4) + _END) != check:
        return None
    return length - 1, after, commit, synced - 1, payload_check, check


def _record_at(data: bytes, place: int) -> tuple[Record, int] | None:
    """The whole record at this place, and where it ends; None if there is none."""
    head = _head_at(data, place)
    if head is None:
        return None
    length, after, commit, synced, payload_check, check = head
    start = place + _HEAD.size
    stop = start + length + -length % 8
    if data[stop : stop + 8] != _END:
        return None
    payload = _mask(data[start:stop])
    if zlib.crc32(payload[:length]) != payload_check or payload[length:].strip(b"\0"):
        return None
    return Record(commit, synced, after, check, payload[:length]), stop + 8


def _lacks_something(data: bytes, place: int) -> bool:
    """True if the bytes here may be an unfinished write: the last byte or a sector is missing."""
    head = _head_at(data, place)
    size = _HEAD.size
    if head is not None:
        size += head[0] + -head[0] % 8 + 8
    stop = place + size
    if stop > len(data) or data[stop - 1] == 0:
        return True
    while place < stop:
        sector_end = min(stop, place - place % _SECTOR + _SECTOR)
        if not data[place:sector_end].strip(b"\0"):
            return True
        place = sector_end
    return False


def _is_begun(data: bytes, path: Path, number: int, store: str, required: bool) -> bool:
    """True if the file has its header; False for one that a crash left unfinished."""
    header = data[: _HEADER.size]
    if len(header) == _HEADER.size:
        _, version, own_number, own_store, check, end = _HEADER.unpack(header)
        if check == zlib.crc32(header[:52] + bytes(4) + end) and end == _END:
            check_version(version, path)
            if own_number != number or own_store.hex() != store:
                raise damaged(path, "it is a journal of another store, or another journal of this")
            return True
    unfinished = len(header) < _HEADER.size or header[-1] == 0
    if required or not unfinished:
        raise damaged(path, "its header is not as written")
    return False


def _refuse_damage(files: Files, chain: JournalChain) -> None:
    """Raise if a missing or broken record was durable once."""
    missing = chain.commit + 1
    for scan in chain.scans:
        for record in _anywhere(files.read(scan.path), scan.end):
            if record.commit >= missing and record.synced >= missing:
                broken = next(each for each in chain.scans if each.torn)
                raise damaged(
                    broken.path,
                    f"commit {missing}, which should begin at byte {broken.end}, was made durable "
                    f"and cannot be read, though commit {record.commit} in {scan.path.name} can",
                )
    for scan in chain.scans:
        if scan.damage:
            raise damaged(scan.path, scan.damage)


def _anywhere(data: bytes, place: int) -> Iterator[Record]:
    """Whole records wherever they begin."""
    while (place := data.find(_RECORD, place)) >= 0:
        found = _record_at(data, place)
        if found is not None:
            yield found[0]
        place += 8
