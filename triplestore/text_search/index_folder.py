"""The folder of a text index beside a store: what it holds, and as of which commit.

    ids       the ids of its literals, in the order in which they were added
    note      how many of them count, the commit whose literals are all among them, and checksums
    index/    the files of tantivy

Start at `IndexFolder`. The store's journal is the truth. A note is written only after the commit
that it names is durable in the journal, and after the ids and the index that it speaks of. So
after a crash at any point the note is right: literals beyond it are removed from the index, and are
added again if the store still has them. A note that fits neither the files nor the store makes the
folder worthless, and the index is made anew.
"""

from __future__ import annotations

import json
import re
import shutil
import zlib
from contextlib import suppress
from dataclasses import asdict, replace
from hashlib import blake2b
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

import numpy as np

from triplestore.data_classes import data_class
from triplestore.relations.packed_keys import NO_IDS, U32
from triplestore.storage.files.system import Files, RealFiles, explained, write_whole

if TYPE_CHECKING:
    from triplestore.terms import Dictionary

NAME = re.compile(r"text-[0-9a-f]{16}")
"""The names of such folders."""

_VERSION = 1
_CHECKED_BYTES = 1 << 26
"""Files up to this size are compared with their checksums whenever the index is opened."""

_FILES = RealFiles()


@data_class
class IndexNote:
    """What the folder holds.

    count  number of literals that count
    commit, terms  the commit whose literals are all among them, and its number of terms
    last   a digest of its last term: the same only if ids mean the same
    check  CRC-32 of the ids
    files  for each file of the index its size and CRC-32
    """

    count: int = 0
    commit: int = 0
    terms: int = 0
    last: str = ""
    check: int = 0
    files: dict[str, tuple[int, int]] | None = None

    def fits(self, dictionary: Dictionary) -> bool:
        """Whether ids mean the same in this dictionary, as far as it goes."""
        if self.terms > dictionary.size:
            return True  # a reader of an older commit, or another store: see `IndexFolder.open`
        return self.last == digest_of(dictionary, self.terms)


def digest_of(dictionary: Dictionary, term_id: int) -> str:
    """A digest of a term; "" for 0."""
    return blake2b(dictionary.key(term_id), digest_size=8).hexdigest() if term_id else ""


class IndexFolder:
    """The folder of one index.

    note  what it holds; None if that cannot be read
    ids   those of its literals that count
    """

    def __init__(self, path: Path, files: Files = _FILES) -> None:
        self.path = path
        self._disk = files
        self.note: IndexNote | None = None
        self.ids: U32 = NO_IDS
        self._known: dict[str, tuple[int, int]] = {}

    @property
    def index(self) -> Path:
        """The folder of tantivy's files."""
        return self.path / "index"

    # -- reading ----------------------------------------------------------------------------------

    def read(self) -> bool:
        """Read the note and the ids; False if they are missing, or do not fit each other."""
        self.note, self.ids = None, NO_IDS
        try:
            value = json.loads((self.path / "note").read_bytes())
            if value.pop("version") != _VERSION:
                return False
            files = {str(name): (int(a), int(b)) for name, (a, b) in value.pop("files").items()}
            note = IndexNote(**value, files=files)
            raw = self._disk.read(self.path / "ids", 0, 4 * note.count)
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return False
        if len(raw) != 4 * note.count or zlib.crc32(raw) != note.check:
            return False
        self.note, self.ids = note, np.frombuffer(raw, "<u4").astype(np.uint32)
        self._known = dict(files)
        return True

    def damaged_files(self, *, all_of_them: bool = False) -> list[str]:
        """The files of the index that are not what was written; large ones only on demand."""
        found = []
        for name, (size, check) in sorted(self._known.items()):
            path = self.index / name
            with suppress(FileNotFoundError):  # merged into another file since
                wrong = path.stat().st_size != size
                if not wrong and (all_of_them or size <= _CHECKED_BYTES):
                    wrong = _check_of(path) != check
                if wrong:
                    found.append(name)
        return found

    # -- writing ----------------------------------------------------------------------------------

    def begin(self) -> None:
        """Make the folder anew, empty."""
        with explained("making", self.path):
            self.remove()
            self.path.mkdir()
            self.index.mkdir()
            write_whole(self._disk, self.path / "ids", [])
            self._put(IndexNote(files={}))
        self.ids, self._known = NO_IDS, {}

    def write(self, added: U32, commit: int, terms: int, last: str) -> None:
        """Note that these literals were added after those noted before, and all of a commit are
        there. The index must be on disk, and the commit durable."""
        before = self.note
        assert before is not None
        raw = added.astype("<u4").tobytes()
        with explained("writing", self.path):
            if raw:
                file = self._disk.open(self.path / "ids")
                try:
                    file.truncate(4 * before.count)
                    file.write(raw, 4 * before.count)
                    file.sync()
                finally:
                    file.close()
            self._put(
                IndexNote(
                    before.count + len(added),
                    commit,
                    terms,
                    last,
                    zlib.crc32(raw, before.check),
                    self._checks(),
                )
            )

    def note_files(self) -> None:
        """Note the checksums of the files as they are now, after merges."""
        note = self.note
        if note is not None and self.index.exists():
            before = self._known
            files = self._checks()
            if files.keys() != before.keys():
                with explained("writing", self.path):
                    self._put(replace(note, files=files))

    def _put(self, note: IndexNote) -> None:
        text = json.dumps({"version": _VERSION, **asdict(note)})
        write_whole(self._disk, self.path / "note.new", [text.encode()])
        self._disk.rename(self.path / "note.new", self.path / "note")
        self._disk.sync_directory(self.path)
        self.note = note

    def _checks(self) -> dict[str, tuple[int, int]]:
        """Size and checksum of the files of segments, which never change."""
        meta = json.loads((self.index / "meta.json").read_bytes())
        segments = {str(each["segment_id"]).replace("-", "") for each in meta["segments"]}
        found = {}
        for path in self.index.iterdir():
            if path.name.partition(".")[0] not in segments:
                continue  # of a merge that may not be finished
            with suppress(FileNotFoundError):  # a merge has just removed it
                size = path.stat().st_size
                known = self._known.get(path.name)
                same = known is not None and known[0] == size
                found[path.name] = known if same and known else (size, _check_of(path))
        self._known = found
        return found

    def remove(self) -> None:
        """Remove the folder; readers that have it open can still read it."""
        # Renamed first: a merge that is still running may write to it.
        other = self.path.with_name(f"text-{token_hex(8)}")
        with suppress(FileNotFoundError):
            self.path.rename(other)
            shutil.rmtree(other, ignore_errors=True)

    def nbytes(self) -> int:
        """The size of its files."""
        sizes = 0
        for path in self.path.rglob("*"):
            with suppress(OSError):
                sizes += path.stat().st_size if path.is_file() else 0
        return sizes


def remove_other_folders(store: Path, kept: str | None) -> None:
    """Remove the folders of indexes that a store no longer has."""
    for path in store.iterdir():
        if NAME.fullmatch(path.name) and path.name != kept:
            shutil.rmtree(path, ignore_errors=True)


def _check_of(path: Path) -> int:
    check = 0
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            check = zlib.crc32(block, check)
    return check
