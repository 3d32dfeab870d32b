"""States: the content of a store as of one commit; and layers and segments to and from files.

Start reading at `State`. Always true: a state never changes; it keeps everything alive that it
shows, including files, even if they are merged or removed later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

from triplestore.checked_columns import Column
from triplestore.data_classes import data_class
from triplestore.relations import Layer, Tables
from triplestore.storage.files.sections import FileRef, Pause, SectionFile, decoding, write_sections
from triplestore.storage.files.system import Files
from triplestore.terms import Dictionary, TermSegment
from triplestore.terms.segment import STRETCHES

TERMS, LAYER, META = "terms", "layer", "meta"

KeptPart: TypeAlias = "Layer | TermSegment"
T = TypeVar("T")


class Meta(Mapping[str, bytes]):
    """Named bytes in a store; those in a file are read when needed.

    >>> meta = Meta({"prefixes": b"{}"})
    >>> meta.with_changes({"program": b"...", "prefixes": None})["program"]
    b'...'
    """

    __slots__ = ("_journal", "_values")

    def __init__(
        self, values: Mapping[str, bytes | SectionFile], journal: Path | str = "the journal"
    ) -> None:
        self._values = dict(values)
        self._journal = journal

    @classmethod
    def of_file(cls, file: SectionFile | None, journal: Path) -> Meta:
        """The sections of a file; later values are in the journal."""
        return cls(dict.fromkeys(file.names(), file) if file else {}, journal)

    def with_changes(self, changes: Mapping[str, bytes | None]) -> Meta:
        """The same with some values changed, or removed where the change is None."""
        values = {**self._values, **changes}
        kept = {name: value for name, value in values.items() if value is not None}
        return Meta(kept, self._journal)

    def is_in(self, file: SectionFile) -> bool:
        """True if the file holds exactly these values."""
        return len(self) == len(file.names()) and all(v is file for v in self._values.values())

    def place(self, name: str) -> Path | str:
        """The file of a value; the journal if it is in no file yet."""
        value = self._values.get(name)
        return value.path if isinstance(value, SectionFile) else self._journal

    def __getitem__(self, name: str) -> bytes:
        value = self._values[name]
        return value.bytes_of(name) if isinstance(value, SectionFile) else value

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def value_of(meta: Mapping[str, bytes], name: str, parse: Callable[[bytes], T], default: T) -> T:
    """A named value, read by `parse`, or the default; a CorruptError if it cannot be read.

    >>> value_of({"files": b"12"}, "files", int, 0), value_of({}, "files", int, 0)
    (12, 0)
    >>> value_of({"files": b"twelve"}, "files", int, 0)
    Traceback (most recent call last):
    triplestore.errors.CorruptError: the journal is damaged: its value 'files' cannot be read ...
    """
    value = meta.get(name)
    if value is None:
        return default
    try:
        return parse(value)
    except Exception:
        place = meta.place(name) if isinstance(meta, Meta) else "the journal"
        with decoding(place, f"its value {name!r}"):
            raise


@data_class
class State:
    """Everything in a store after one commit, as an immutable snapshot.

    The dictionary may have more terms than the `term_count` of this commit: those of later commits,
    and of the current transaction.
    """

    commit: int = 0
    dictionary: Dictionary = field(default_factory=Dictionary)
    term_count: int = 0
    tables: Tables = field(default_factory=Tables)
    meta: Meta = field(default_factory=lambda: Meta({}))


class FileCatalogue:
    """Which layers and term segments are in which files."""

    def __init__(self) -> None:
        self._files: dict[int, tuple[KeptPart, SectionFile]] = {}

    def add(self, part: KeptPart, file: SectionFile) -> None:
        """Record the file that this part came from or was written to."""
        self._files[id(part)] = (part, file)

    def file_of(self, part: KeptPart) -> SectionFile | None:
        """The file of a part; None if it is in memory only."""
        found = self._files.get(id(part))
        return None if found is None else found[1]

    def part_of(self, ref: FileRef) -> tuple[KeptPart, SectionFile] | None:
        """The part that this file holds, if it is open."""
        for part, file in self._files.values():
            if file.ref == ref:
                return part, file
        return None

    def update(self, other: FileCatalogue) -> None:
        """Add the entries of another catalogue."""
        self._files.update(other._files)

    def names(self) -> list[str]:
        """The names of all files."""
        return [file.path.name for _, file in self._files.values()]

    def retain(self, parts: Iterable[KeptPart]) -> None:
        """Remove all other parts."""
        kept = {id(part) for part in parts}
        for key in [key for key in self._files if key not in kept]:
            del self._files[key]


def write_layer(files: Files, path: Path, layer: Layer, pause: Pause | None = None) -> FileRef:
    """Write a layer to a file, synced."""
    return write_sections(files, path, LAYER, layer.sections(), layer.meta, pause=pause)


def write_terms(
    files: Files, path: Path, segment: TermSegment, pause: Pause | None = None
) -> FileRef:
    """Write a term segment to a file, synced."""
    meta = {"first": segment.first_id, "count": segment.count}
    triples = segment.count_of_triples
    if triples is not None:
        meta["triples"] = triples
    return write_sections(files, path, TERMS, segment.sections(), meta, pause=pause)


def write_meta(files: Files, path: Path, meta: Meta) -> FileRef:
    """Write the named bytes to a file, synced."""
    sections = {name: np.frombuffer(value, dtype=np.uint8) for name, value in meta.items()}
    return write_sections(files, path, META, sections, {})


def layer_of(file: SectionFile) -> Layer:
    """The layer in a file."""
    return Layer.from_sections(file.column, file.meta)


def segment_of(file: SectionFile) -> TermSegment:
    """The term segment in a file."""
    meta: dict[str, Any] = file.meta

    def column(name: str) -> Column:
        if name == STRETCHES and name not in file:  # written by an older version
            return Column.of(np.zeros(0, np.uint32))
        return file.column(name)

    return TermSegment.from_sections(meta["first"], meta["count"], column, meta.get("triples"))
