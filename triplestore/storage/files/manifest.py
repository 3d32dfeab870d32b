"""The manifest: the small file that names the files of the store, and their commit.

A line of identification with a checksum, then readable JSON. Start reading at `Manifest`. Always
true: a manifest is replaced in one step (a new file is written and synced, then renamed, and the
directory is synced), and it names only files whose contents and names are durable.
"""

from __future__ import annotations

import json
import re
import zlib
from pathlib import Path
from typing import Any

from triplestore.data_classes import data_class
from triplestore.storage.files.sections import VERSION, FileRef, check_version, damaged, decoding
from triplestore.storage.files.system import Files, write_whole

NAME = "MANIFEST"
_NEW = "MANIFEST.new"
_FIRST_LINE = re.compile(rb"triplestore manifest, format (\d{1,9}), crc32 ([0-9a-f]{8})\n")


@data_class
class Manifest:
    """The files of a store and the commit they stand for.

    store     random name of the store, which is also in its journals
    serial    grows by one with each manifest of the store
    commit    the commit of terms, layers and meta; the journals continue from there
    durable   a commit that is known to be on disk: a journal that ends earlier is damaged
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
    return parse_manifest(manifest_bytes(files, directory), directory)


def manifest_bytes(files: Files, directory: Path) -> bytes:
    """The manifest as it is on disk."""
    return files.read(directory / NAME)


def parse_manifest(content: bytes, directory: Path) -> Manifest:
    """The manifest in these bytes."""
    path = directory / NAME
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
    """Write a manifest beside the current one, synced; `install_manifest` makes it current."""
    write_whole(files, directory / _NEW, [manifest.to_bytes()])


def install_manifest(files: Files, directory: Path) -> None:
    """Replace the current manifest by the written one; durable on return."""
    files.rename(directory / _NEW, directory / NAME)
    files.sync_directory(directory)


def _check(version: int, text: bytes) -> int:
    return zlib.crc32(text, zlib.crc32(b"%d" % version))


def _from_json(body: dict[str, Any]) -> Manifest:
    names = ("serial", "commit", "durable", "journal", "next_file", "term_count")
    numbers = {name: body[name] for name in names}
    for name, number in numbers.items():
        if type(number) is not int or number < 0:
            raise ValueError(f"{name} is {number!r}, not a whole number of at least 0")
    return Manifest(
        store=bytes.fromhex(body["store"]).hex(),
        **numbers,
        terms=tuple(FileRef.from_json(ref) for ref in body["terms"]),
        layers=tuple(FileRef.from_json(ref) for ref in body["layers"]),
        meta=FileRef.from_json(body["meta"]) if body["meta"] else None,
    )
