"""The files of an import: files, folders and globs, on any file system that Spark reads.

Start at `find_files`. Spark lists the files, so the driver need not see them. Always true: files
are sorted by the parts of their path, and each is taken once. So their numbers, on which the labels
of blank nodes depend, depend neither on the order of the arguments nor on the folder, and are equal
to the numbers that the local loader gives the sorted files. Costs one job of Spark, and some 300
bytes per file on the driver.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

import pyoxigraph as ox
from pyspark.errors import AnalysisException, IllegalArgumentException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the usual name

from triplestore.data_classes import data_class
from triplestore.errors import StorageError, UsageError
from triplestore.loaders.formats import (
    EXTENSIONS,
    LINE_FORMATS,
    NAMES,
    format_of,
    known_names,
    split_name,
)
from triplestore.terms.term_keys import key_of

_GLOB_MARKS = frozenset("*?[{")
_SLASH_IN_BRACES = re.compile(r"\{[^}]*/")
_FIRST = "[^_.]"  # the first letter of a name that is not hidden
_COLON = "Relative path in absolute URI"  # Hadoop's message for a name with a colon


@data_class
class SourceOptions:
    """How sources are read.

    format : the format of files whose name does not show it
    lenient : keep good statements and count bad ones; otherwise the first fault ends the import
    base_iri : the base of relative IRIs; without it they are refused
    to_graph : the graph (an IRI, or a term) for statements of the default graph
    first_file_number : makes blank node labels unique; a store continues its own counter
    keep_labels : keep blank node labels (for files that a store wrote)
    split_bytes : bytes that a task reads of a file that can be split
    cut_bytes : larger documents of Turtle and TriG are cut between statements
    """

    format: str | None = None
    lenient: bool = False
    base_iri: str | None = None
    to_graph: Any = None
    first_file_number: int = 1
    keep_labels: bool = False
    split_bytes: int = 128 << 20
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


@data_class
class SourceFile:
    """One file; `mark` is Spark's 64-bit hash of its name, by which rows name their file."""

    number: int
    uri: str
    length: int
    modified: str
    format: str
    compression: str | None
    mark: int

    @property
    def path(self) -> str | None:
        """The path by which tasks open it: Spark requires `file:` paths to exist on every node.

        >>> SourceFile(1, "file:/data/a.nt", 9, "", "ntriples", None, 0).path
        '/data/a.nt'
        """
        scheme, _, path = self.uri.partition(":")
        return path.replace("///", "/", 1) if scheme == "file" else None

    @property
    def name(self) -> str:
        """The name in messages."""
        return self.path or self.uri

    @property
    def rdf_format(self) -> ox.RdfFormat:
        """The format of pyoxigraph (which cannot be sent to executors)."""
        return NAMES[self.format]

    @property
    def by_lines(self) -> bool:
        """Whether it is N-Triples or N-Quads."""
        return self.rdf_format in LINE_FORMATS


def find_files(
    spark: SparkSession, source: str | Sequence[str], options: SourceOptions
) -> list[SourceFile]:
    """All files of paths, folders and globs, sorted and numbered.

    Folders and globs give only files with a known extension. As everywhere in Spark, names that
    begin with `_` or `.` are skipped, also by wildcards.
    """
    items = [source] if isinstance(source, str) else [str(item) for item in source]
    if not items:
        raise UsageError("no files are given: give paths, folders or globs")
    chosen: dict[str, SourceFile] = {}
    named = _Named(items)
    for uri, (length, modified, mark) in _listed(spark, items).items():
        form, compression = _kind_of(uri, named, options)
        if form is not None:
            chosen[uri] = SourceFile(0, uri, length, modified, form, compression, mark)
    named.check(chosen)
    ordered = sorted(chosen, key=lambda uri: uri.split("/"))
    first = options.first_file_number
    files = [replace(chosen[uri], number=number) for number, uri in enumerate(ordered, first)]
    marks = [file.mark for file in files if file.length]
    if len(set(marks)) < len(marks):
        raise StorageError("two file names have the same 64-bit hash: rename one of the files")
    return files


def fingerprint(files: Sequence[SourceFile], options: SourceOptions) -> str:
    """A hash of the files (names below their common folder, sizes, times) and the options.

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
    """The length, time and mark of each file."""
    reader = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
    mark = F.xxhash64("_metadata.file_path").alias("mark")
    try:
        found = reader.load([_of_visible(item) for item in items])
        rows = found.select("path", "length", "modificationTime", mark).collect()
    except AnalysisException as error:
        if "PATH_NOT_FOUND" in str(error):
            raise StorageError(f"cannot read {', '.join(items)}: {_first_line(error)}") from error
        raise
    except IllegalArgumentException as error:
        if _COLON not in str(error):
            raise
        raise StorageError(
            f"cannot read {', '.join(items)}: Hadoop does not match patterns in a folder with a "
            "colon in a name: give the folder instead, or rename its files"
        ) from error
    # Spark gives no row for an empty file, but the file has a number.
    listed = {_written(uri): (0, "", 0) for uri in found.inputFiles()}
    return listed | {row.path: (row.length, str(row.modificationTime), row.mark) for row in rows}


def _of_visible(item: str) -> str:
    """A pattern that matches names with a leading `_` or `.` only if it contains them.

    Spark skips such names in folders, for example unfinished output (`_temporary`), but Hadoop's
    wildcards match them.

    >>> _of_visible("a/*/*.nt"), _of_visible("a/?b/[_x]*"), _of_visible("*b")
    ('a/[^_.]*/[^_.]*.nt', 'a/[^_.]b/[_x]*', '{[^_.]*b,b}')
    """
    if _SLASH_IN_BRACES.search(item):
        return item
    return "/".join(_of_visible_names(part) for part in item.split("/"))


def _of_visible_names(part: str) -> str:
    wild = re.match(r"[*?]+", part)
    if wild is None:
        return part
    single = wild[0].count("?")
    rest = part[wild.end() :]
    if single:  # one `?` is the first letter
        return _FIRST + "?" * (single - 1) + "*" * ("*" in wild[0]) + rest
    # The star may match nothing; then the name begins with the rest.
    return f"{_FIRST}*{rest}" if rest[:1] in ("", "_", ".") else f"{{{_FIRST}*{rest},{rest}}}"


def _written(uri: str) -> str:
    """A URI with escapes, as the path that Spark shows.

    >>> _written("file:///data/a%20b.nt")
    'file:/data/a b.nt'
    """
    return unquote(uri).replace("file:///", "file:/", 1)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _kind_of(uri: str, named: _Named, options: SourceOptions) -> tuple[str | None, str | None]:
    """The names of format and compression; format None for a file that is not data."""
    own, compression = split_name(PurePosixPath(uri))
    if options.format is None:
        if own is None and named.has(uri):
            raise UsageError(
                f"the name of {uri} shows no RDF format; give one of: {', '.join(known_names())}"
            )
        return (None if own is None else _name_of(own)), compression
    if own is None and not named.has(uri):
        return None, None
    return _name_of(format_of(options.format)), compression


def _name_of(form: ox.RdfFormat) -> str:
    return next(name for name, known in NAMES.items() if known == form)


class _Named:
    """The given items, found by parts of paths, since there may be many items and many files.

    >>> named = _Named(["data/a.nt", "b/*.nt"])
    >>> named.has("file:/x/data/a.nt"), named.has("file:/x/b/a.nt")
    (True, False)
    """

    def __init__(self, items: Sequence[str]) -> None:
        self._globs = [item for item in items if not _GLOB_MARKS.isdisjoint(item)]
        self._items: dict[int, dict[str, str]] = {}  # by number of parts, then by the parts
        for item in items:
            if _GLOB_MARKS.isdisjoint(item):
                tail = _tail(item)
                self._items.setdefault(tail.count("/") + 1, {}).setdefault(tail, item)

    def has(self, uri: str) -> bool:
        """Whether an item is this file."""
        parts = uri.split("/")
        return any("/".join(parts[-count:]) in tails for count, tails in self._items.items())

    def check(self, chosen: Iterable[str]) -> None:
        """Refuse a file, folder or glob without a chosen file."""
        paths = [uri.split("/") for uri in chosen]
        nothing = [] if paths else list(self._globs)  # Spark refuses a glob without files
        for count, tails in self._items.items():
            ends = range(count + 1, max(map(len, paths), default=0) + 1)
            met = {"/".join(parts[end - count : end]) for end in ends for parts in paths}
            nothing += [tails[tail] for tail in tails if tail not in met and (tail or not paths)]
        if nothing:
            raise UsageError(
                f"no file in {nothing[0]} has a known extension: {' '.join(EXTENSIONS)}"
            )


def _tail(item: str) -> str:
    """The part of an item that the URIs of its files contain, also if the item is relative.

    >>> _tail("file:///data/x/a.nt"), _tail("../x//./a.nt"), _tail("hdfs://host/a.nt")
    ('data/x/a.nt', 'x/a.nt', 'host/a.nt')
    """
    path = item.partition(":")[2] if ":" in item.partition("/")[0] else item
    parts = posixpath.normpath(path).split("/")
    return "/".join(part for part in parts if part not in ("", ".", ".."))
