"""What is to be imported: files, folders and globs, on anything that Spark reads.

Start at `find_files`. Spark lists them, so that the machine which asks need not see them. What is
always true: files are sorted by their path, part by part, and each is taken once; so their numbers,
on which the labels of blank nodes depend, do not change with the order in which they were named nor
with the folder in which a machine keeps them, and are those that the local loader gives the sorted
files. Costs one job of Spark, and some 300 bytes a file on the driver.
"""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

import pyoxigraph as ox
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from triplestore.loaders.formats import (
    EXTENSIONS,
    LINE_FORMATS,
    NAMES,
    format_of,
    known_names,
    split_name,
)

from triplestore.errors import StorageError, UsageError
from triplestore.terms.model import key_of

_GLOB_MARKS = frozenset("*?[{")


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """How sources are read.

    format : for files whose name does not tell it (all of them are taken to have it)
    lenient : keep what is good and count what is bad; otherwise the first fault ends the import
    base_iri : what relative IRIs are resolved against; without it they are refused
    to_graph : the graph (an IRI, or a term) for statements of the default graph
    first_file_number : makes blank node labels unique; a store goes on with its own counter
    keep_labels : take blank node labels as they are (for what a store itself wrote)
    split_bytes : how much of a file a task reads, where it can be split
    cut_bytes : documents of Turtle and TriG above this size are cut between statements
    """

    format: str | None = None
    lenient: bool = False
    base_iri: str | None = None
    to_graph: Any = None
    first_file_number: int = 1
    keep_labels: bool = False
    split_bytes: int = 32 << 20
    cut_bytes: int = 64 << 20

    @property
    def default_key(self) -> bytes | None:
        """The key of `to_graph`.

        >>> SourceOptions(to_graph="http://example.org/g").default_key
        b'\\x01http://example.org/g'
        """
        if self.to_graph is None:
            return None
        return key_of(
            ox.NamedNode(self.to_graph) if isinstance(self.to_graph, str) else self.to_graph
        )


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file: `mark` is Spark's 64-bit hash of its name, by which rows say what they are from."""

    number: int
    uri: str
    length: int
    modified: str
    format: str
    compression: str | None
    mark: int

    @property
    def path(self) -> str | None:
        """Where tasks open it by name: Spark wants what it reads as `file:` to be on every node.

        >>> SourceFile(1, "file:/data/a.nt", 9, "", "ntriples", None, 0).path
        '/data/a.nt'
        """
        scheme, _, path = self.uri.partition(":")
        return path.replace("///", "/", 1) if scheme == "file" else None

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.path or self.uri

    @property
    def rdf_format(self) -> ox.RdfFormat:
        """The format as pyoxigraph's (which cannot be sent to executors)."""
        return NAMES[self.format]

    @property
    def by_lines(self) -> bool:
        """True for N-Triples and N-Quads."""
        return self.rdf_format in LINE_FORMATS


def find_files(
    spark: SparkSession, source: str | Sequence[str], options: SourceOptions
) -> list[SourceFile]:
    """All files that paths, folders and globs name, sorted and numbered.

    Folders and globs give only files whose extension tells a format. As in all of Spark, names
    that begin with `_` or `.` are passed over.
    """
    items = [source] if isinstance(source, str) else [str(item) for item in source]
    if not items:
        raise UsageError("no files are named: give paths, folders or globs")
    chosen: dict[str, SourceFile] = {}
    for uri, (length, modified, mark) in _listed(spark, items).items():
        form, compression = _kind_of(uri, items, options)
        if form is not None:
            chosen[uri] = SourceFile(0, uri, length, modified, form, compression, mark)
    for item in items:
        _check_item(item, chosen)
    ordered = sorted(chosen, key=lambda uri: uri.split("/"))
    first = options.first_file_number
    files = [replace(chosen[uri], number=number) for number, uri in enumerate(ordered, first)]
    marks = [file.mark for file in files if file.length]
    if len(set(marks)) < len(marks):
        raise StorageError("two file names have the same 64-bit hash: rename one of the files")
    return files


def fingerprint(files: Sequence[SourceFile], options: SourceOptions) -> str:
    """A hash of what is read and how: names (below what they share), sizes, times and options.

    >>> fingerprint([], SourceOptions()) == fingerprint([], SourceOptions(lenient=True))
    False
    """
    parents = [file.uri.split("/")[:-1] for file in files]
    shared = 0
    for parts in zip(*parents, strict=False):
        if len(set(parts)) > 1:
            break
        shared += 1
    digest = hashlib.blake2b(digest_size=16)
    digest.update(repr(options).encode())
    for file in files:
        name = "/".join(file.uri.split("/")[shared:])
        digest.update(
            f"{file.number} {name} {file.length} {file.modified} {file.format}\n".encode()
        )
    return digest.hexdigest()


def _listed(spark: SparkSession, items: list[str]) -> dict[str, tuple[int, str, int]]:
    """The length, time and mark of each file that is there."""
    reader = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
    mark = F.xxhash64("_metadata.file_path").alias("mark")
    try:
        found = reader.load(items)
        rows = found.select("path", "length", "modificationTime", mark).collect()
    except AnalysisException as error:
        if "PATH_NOT_FOUND" in str(error):
            raise StorageError(f"cannot read {', '.join(items)}: {_first_line(error)}") from error
        raise
    # Spark reads nothing from empty files, not even their names; but they have numbers.
    listed = {_written(uri): (0, "", 0) for uri in found.inputFiles()}
    return listed | {row.path: (row.length, str(row.modificationTime), row.mark) for row in rows}


def _written(uri: str) -> str:
    """A URI with escapes as Spark writes a path.

    >>> _written("file:///data/a%20b.nt")
    'file:/data/a b.nt'
    """
    return unquote(uri).replace("file:///", "file:/", 1)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _kind_of(
    uri: str, items: Sequence[str], options: SourceOptions
) -> tuple[str | None, str | None]:
    """The format's name, or None for what a folder or glob holds beside data."""
    own, compression = split_name(PurePosixPath(uri))
    if options.format is None:
        if own is None and any(_is_named(uri, item) for item in items):
            raise UsageError(
                f"the name of {uri} tells no RDF format; name one of: {', '.join(known_names())}"
            )
        return (None if own is None else _name_of(own)), compression
    if own is None and not any(_is_named(uri, item) for item in items):
        return None, None
    return _name_of(format_of(options.format)), compression


def _name_of(form: ox.RdfFormat) -> str:
    return next(name for name, known in NAMES.items() if known == form)


def _is_named(uri: str, item: str) -> bool:
    """True if the item is this very file."""
    return _GLOB_MARKS.isdisjoint(item) and uri.endswith(f"/{_tail(item)}")


def _check_item(item: str, chosen: Iterable[str]) -> None:
    """Refuse a file, folder or glob that gave nothing."""
    if _GLOB_MARKS.isdisjoint(item):
        tail = _tail(item)
        found = any(not tail or f"/{tail}/" in f"{uri}/" for uri in chosen)
    else:
        found = any(True for _ in chosen)  # Spark itself refuses a glob that matches no file
    if not found:
        raise UsageError(f"no file in {item} has a known extension: {' '.join(EXTENSIONS)}")


def _tail(item: str) -> str:
    """What the URIs of an item's files have in them, wherever Spark looks for relative paths.

    >>> _tail("file:///data/x/a.nt"), _tail("../x//./a.nt"), _tail("hdfs://host/a.nt")
    ('data/x/a.nt', 'x/a.nt', 'host/a.nt')
    """
    path = item.partition(":")[2] if ":" in item.partition("/")[0] else item
    parts = posixpath.normpath(path).split("/")
    return "/".join(part for part in parts if part not in ("", ".", ".."))
