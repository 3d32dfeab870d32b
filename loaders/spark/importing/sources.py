"""What is to be imported: files, folders and globs, on anything that Spark reads.

Start at `find_files`. Spark lists them, so the driver need not see them. What is
always true: files are sorted by their path, part by part, and each is taken once; so their numbers,
on which the labels of blank nodes depend, do not change with the order in which they were named nor
with the folder in which a machine keeps them, and are those that the local loader gives the sorted
files. Costs one job of Spark, and some 300 bytes per file on the driver.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

import pyoxigraph as ox
from pyspark.errors import AnalysisException, IllegalArgumentException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

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
_FIRST = "[^_.]"  # a letter that no hidden name begins with
_COLON = "Relative path in absolute URI"  # what Hadoop makes of a name that has one


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
    that begin with `_` or `.` are skipped, by wildcards as well.
    """
    items = [source] if isinstance(source, str) else [str(item) for item in source]
    if not items:
        raise UsageError("no files are named: give paths, folders or globs")
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
            f"cannot read {', '.join(items)}: Hadoop does not match patterns where a name has a "
            "colon in it: name the folder instead, or rename what is in it"
        ) from error
    # Spark reads nothing from empty files, not even their names; but they have numbers.
    listed = {_written(uri): (0, "", 0) for uri in found.inputFiles()}
    return listed | {row.path: (row.length, str(row.modificationTime), row.mark) for row in rows}


def _of_visible(item: str) -> str:
    """A pattern that matches no name with `_` or `.` before it, unless that is said in it.

    In folders Spark skips them, what others are writing (`_temporary`) among them, but a
    wildcard of Hadoop's takes them.

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
    if single:  # one of them is the first letter
        return _FIRST + "?" * (single - 1) + "*" * ("*" in wild[0]) + rest
    # The star may stand for nothing, and then the name begins with what is behind it.
    return f"{_FIRST}*{rest}" if rest[:1] in ("", "_", ".") else f"{{{_FIRST}*{rest},{rest}}}"


def _written(uri: str) -> str:
    """A URI with escapes as Spark writes a path.

    >>> _written("file:///data/a%20b.nt")
    'file:/data/a b.nt'
    """
    return unquote(uri).replace("file:///", "file:/", 1)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _kind_of(uri: str, named: _Named, options: SourceOptions) -> tuple[str | None, str | None]:
    """The format's name, or None for what a folder or glob holds beside data."""
    own, compression = split_name(PurePosixPath(uri))
    if options.format is None:
        if own is None and named.has(uri):
            raise UsageError(
                f"the name of {uri} tells no RDF format; name one of: {', '.join(known_names())}"
            )
        return (None if own is None else _name_of(own)), compression
    if own is None and not named.has(uri):
        return None, None
    return _name_of(format_of(options.format)), compression


def _name_of(form: ox.RdfFormat) -> str:
    return next(name for name, known in NAMES.items() if known == form)


class _Named:
    """The items that were asked for, found by parts of paths: there may be very many of both.

    >>> named = _Named(["data/a.nt", "b/*.nt"])
    >>> named.has("file:/x/data/a.nt"), named.has("file:/x/b/a.nt")
    (True, False)
    """

    def __init__(self, items: Sequence[str]) -> None:
        self._globs = [item for item in items if not _GLOB_MARKS.isdisjoint(item)]
        self._items: dict[int, dict[str, str]] = {}  # by the number of parts, and then the parts
        for item in items:
            if _GLOB_MARKS.isdisjoint(item):
                tail = _tail(item)
                self._items.setdefault(tail.count("/") + 1, {}).setdefault(tail, item)

    def has(self, uri: str) -> bool:
        """True if an item is this very file."""
        parts = uri.split("/")
        return any("/".join(parts[-count:]) in tails for count, tails in self._items.items())

    def check(self, chosen: Iterable[str]) -> None:
        """Refuse a file, folder or glob that gave nothing."""
        paths = [uri.split("/") for uri in chosen]
        nothing = [] if paths else list(self._globs)  # Spark refuses one that matches no file
        for count, tails in self._items.items():
            ends = range(count + 1, max(map(len, paths), default=0) + 1)
            met = {"/".join(parts[end - count : end]) for end in ends for parts in paths}
            nothing += [tails[tail] for tail in tails if tail not in met and (tail or not paths)]
        if nothing:
            raise UsageError(
                f"no file in {nothing[0]} has a known extension: {' '.join(EXTENSIONS)}"
            )


def _tail(item: str) -> str:
    """What the URIs of an item's files have in them, wherever Spark looks for relative paths.

    >>> _tail("file:///data/x/a.nt"), _tail("../x//./a.nt"), _tail("hdfs://host/a.nt")
    ('data/x/a.nt', 'x/a.nt', 'host/a.nt')
    """
    path = item.partition(":")[2] if ":" in item.partition("/")[0] else item
    parts = posixpath.normpath(path).split("/")
    return "/".join(part for part in parts if part not in ("", ".", ".."))
