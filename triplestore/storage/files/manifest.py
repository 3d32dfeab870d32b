"""The manifest: the one small file that says which files are the store, as of which commit.

A line of identification with a checksum, then JSON, readable by eye. Start reading at `Manifest`.
What is always true: a manifest is replaced in one step (written beside, synced, renamed, directory
synced), and only names files whose contents and names are durable already.
"""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triplestore.storage.files.sections import VERSION, FileRef, check_version, damaged, decoding
from triplestore.storage.files.system import Files, write_whole

NAME = "MANIFEST"
_NEW = "MANIFEST.new"
_FIRST_LINE = re.compile(rb"triplestore manifest, format (\d{1,9}), crc32 ([0-9a-f]{8})\n")


@dataclass(frozen=True, slots=True)
class Manifest:
    """The files of a store and the commit they stand for.

    store     random name of the store; its journals carry it too
    serial    grows by one with each manifest of the store
    commit    the state that terms, layers and meta give; the journals go on from there
    durable   a commit that is known to be on disk: with fewer in the journal, it was damaged
    journal   number of the first journal to replay
    next_file number for the next section file
    """

    store: str
    serial: int = 1
    commit: int = 0
    durable: int = 0
    journal: int = 1
    next_file: int = 1
    term_count: int = 0
    terms: tuple[FileRef, ...] = ()
    layers: tuple[FileRef, ...] = ()
    meta: FileRef | None = None

    def refs(self) -> tuple[FileRef, ...]:
        """All section files it names."""
        return (*self.terms, *self.layers, *((self.meta,) if self.meta else ()))

    def to_bytes(self) -> bytes:
        """The content of the file."""
        body = {
            "store": self.store,
            "serial": self.serial,
            "commit": self.commit,
            "durable": self.durable,
            "journal": self.journal,
            "next_file": self.next_file,
            "term_count": self.term_count,
            "terms": [ref.to_json() for ref in self.terms],
            "layers": [ref.to_json() for ref in self.layers],
            "meta": self.meta.to_json() if self.meta else None,
        }
        text = json.dumps(body, indent=1).encode() + b"\n"
        check = _check(VERSION, text)
        return b"triplestore manifest, format %d, crc32 %08x\n" % (VERSION, check) + text


def read_manifest(files: Files, directory: Path) -> Manifest:
    """The manifest of a store; FileNotFoundError if there is none."""
    path = directory / NAME
    content = files.read(path)
    match = _FIRST_LINE.match(content)
    if match is None:
        raise damaged(path, "its first line is not that of a manifest")
    version, text = int(match[1]), content[match.end() :]
    if _check(version, text) != int(match[2], 16):
        raise damaged(path, "its checksum differs")
    check_version(version, path)
    with decoding(path, "its text"):
        return _from_json(json.loads(text))


def write_manifest(files: Files, directory: Path, manifest: Manifest) -> None:
    """Write a manifest beside the one that holds, synced; `install_manifest` puts it in force."""
    write_whole(files, directory / _NEW, [manifest.to_bytes()])


def install_manifest(files: Files, directory: Path) -> None:
    """Put the manifest that was written in place of the one before; durable when this returns."""
    files.rename(directory / _NEW, directory / NAME)
    files.sync_directory(directory)


def _check(version: int, text: bytes) -> int:
    return zlib.crc32(text, zlib.crc32(b"%d" % version))


def _from_json(body: dict[str, Any]) -> Manifest:
    names = ("serial", "commit", "durable", "journal", "next_file", "term_count")
    numbers = {name: body[name] for name in names}
    for name, number in numbers.items():
        if type(number) is not int or number < 0:
            raise ValueError(f"{name} is {number!r}, not a whole number from 0 on")
    return Manifest(
        store=bytes.fromhex(body["store"]).hex(),
        **numbers,
        terms=tuple(FileRef.from_json(ref) for ref in body["terms"]),
        layers=tuple(FileRef.from_json(ref) for ref in body["layers"]),
        meta=FileRef.from_json(body["meta"]) if body["meta"] else None,
    )
