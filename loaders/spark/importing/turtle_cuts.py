"""Turtle and TriG cut between statements, so that several tasks read one document.

Start at `cuts_of`. A task scans a document with a kernel that knows tokens and brackets (many times
faster than parsing) and finds the beginnings of parts of similar size. The header of a part has the
declarations before it, so each part is a complete document. Parts of TriG may begin and end within
a graph. The anonymous nodes of each part are counted, so they get their numbers of the whole
document; if the parser finds another number, the document is read again uncut (statements.py).

Text that the kernel does not know (the reifiers and triple terms of RDF 1.2, malformed text) ends
the cutting: the rest of the document is one part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, BinaryIO

import numpy as np
import pyoxigraph as ox
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from triplestore.data_classes import data_class
from triplestore.kernels.documents import turtle_cuts as kernels
from triplestore.loaders.spark.importing.sources import SourceFile, SourceOptions
from triplestore.loaders.spark.jobs.workers import mapped
from triplestore.loaders.spark.thresholds import SPARK

SCHEMA = (
    "file int, start long, stop long, header binary, closing binary, nodes_before long, nodes long"
)
_MAX_STATEMENTS = 1 << 15  # per call of the kernel
_MAX_BRACKETS = 256


@data_class
class Cut:
    """A part of a document, with the text that makes it a complete document.

    header : the prefixes and the base in force at its beginning, and the graph it begins in
    closing : the end of the graph it ends in
    nodes_before, nodes : number of anonymous nodes before it and in it; None if unknown
    """

    start: int
    stop: int
    header: bytes
    closing: bytes
    nodes_before: int
    nodes: int | None


def find_cuts(
    spark: SparkSession, files: Sequence[SourceFile], options: SourceOptions
) -> dict[int, list[Cut]]:
    """The parts of these files, by their numbers; one task scans each file."""
    if not files:
        return {}
    numbers = spark.range(0, len(files), 1, len(files))
    scan = partial(_scan, list(files), options.split_bytes, options.base_iri)
    cuts: dict[int, list[Cut]] = {}
    for row in mapped(numbers, scan, SCHEMA).orderBy("file", "start").collect():
        fields = row.asDict()
        fields |= {name: bytes(fields[name]) for name in ("header", "closing")}
        cuts.setdefault(fields.pop("file"), []).append(Cut(**fields))
    return {number: parts for number, parts in cuts.items() if len(parts) > 1}


def _scan(
    files: Sequence[SourceFile], part_bytes: int, base: str | None, batches: Iterator[Any]
) -> Iterator[Any]:
    import pyarrow as pa

    from triplestore.loaders.spark.importing.open_source import opened

    for batch in batches:
        for index in batch.column(0).to_pylist():
            file = files[index]
            trig = file.rdf_format == ox.RdfFormat.TRIG
            with opened(file) as stream:
                cuts = list(cuts_of(stream, trig, part_bytes, base))
            columns: list[Any] = [pa.array(np.full(len(cuts), file.number, np.int32))]
            for name, kind in _COLUMNS:
                columns.append(pa.array([getattr(cut, name) for cut in cuts], kind()))
            names = ["file", *(name for name, _ in _COLUMNS)]
            yield pa.RecordBatch.from_arrays(columns, names=names)


def _columns() -> list[tuple[str, Any]]:
    import pyarrow as pa

    kinds = {"long": pa.int64, "binary": pa.binary}
    fields = [field.split() for field in SCHEMA.split(", ")[1:]]
    return [(name, kinds[kind]) for name, kind in fields]


_COLUMNS = _columns()


def cuts_of(stream: BinaryIO, trig: bool, part_bytes: int, base: str | None) -> Iterator[Cut]:
    """The parts of a document, each of at least `part_bytes`; together they are the document.

    >>> import io
    >>> text = b"@prefix e: <http://e/> . e:a e:b [], () . e:c e:d ( 1 [] ) .\\n"
    >>> for cut in cuts_of(io.BytesIO(text), False, 15, None):
    ...     print(cut.start, cut.stop, cut.header, cut.nodes_before, cut.nodes)
    0 24 b'' 0 0
    24 41 b'@prefix e: <http://e/> . ' 0 1
    41 60 b'@prefix e: <http://e/> . ' 1 3
    60 61 b'@prefix e: <http://e/> . ' 4 0
    """
    cutter = _Cutter(part_bytes, base)
    end, nodes = 0, None
    for piece in _pieces(stream, trig):
        yield from cutter.take(piece)
        end, nodes = piece.base + piece.length, piece.nodes
    yield cutter.last(end, nodes)


@data_class
class _Piece:
    """Some complete statements: `text`, of this length, begins at `base` in the document.

    `ends` has a row for each: its end in the text, its kind, and the number of anonymous nodes up
    to it. `nodes` is their number up to the end of the text, None if unknown.
    """

    base: int
    length: int
    text: bytes
    ends: NDArray[np.int64]
    nodes: int | None


_NO_ENDS = np.zeros((0, 3), np.int64)
_BLANK = re.compile(rb"(?:[ \t\r\n]++|#[^\r\n]*+)*+")


def _pieces(stream: BinaryIO, trig: bool) -> Iterator[_Piece]:
    """The whole document in pieces; if the kernel gives up, the rest is one piece without ends."""
    scanner = _Scanner(trig)
    base = 0
    rest = b""
    wanted = SPARK.cut_block
    while True:
        given = stream.read(max(1, wanted - len(rest)))
        text = rest + given
        at = 0
        # A line feed completes the last token of the document.
        for done, ends in scanner.statements(text if given else text + b"\n"):
            ends[:, 0] -= at
            yield _Piece(base + at, done - at, text[at:done], ends, scanner.nodes)
            at = done
        base, rest = base + at, text[at:]
        wanted = SPARK.cut_block if at else 2 * wanted
        if scanner.gave_up or not given:
            break
    known = not scanner.gave_up and _BLANK.fullmatch(rest)
    left = len(rest) + sum(map(len, iter(lambda: stream.read(SPARK.cut_block), b"")))
    yield _Piece(base, left, b"", _NO_ENDS, scanner.nodes if known else None)


class _Scanner:
    """The kernel, and its state between texts."""

    def __init__(self, trig: bool) -> None:
        self._trig = int(trig)
        self._state = np.zeros(4, np.int64)
        self._stack = np.empty(_MAX_BRACKETS, np.int64)
        self._ends = np.empty(3 * _MAX_STATEMENTS, np.int64)

    @property
    def nodes(self) -> int:
        """Number of anonymous nodes in all complete statements so far."""
        return int(self._state[kernels.NODES])

    @property
    def gave_up(self) -> bool:
        """Whether the kernel met text that it does not know."""
        return bool(self._state[kernels.GAVE_UP])

    def statements(self, text: bytes) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """The ends of complete statements, some at a time: the place reached, and their rows."""
        data = np.frombuffer(text, np.uint8)
        at = 0
        while not self.gave_up:
            at = kernels.scan_statements(
                data, at, len(data), self._trig, self._stack, self._ends, self._state
            )
            found = int(self._state[kernels.FOUND])
            if found == 0:
                return
            yield at, self._ends[: 3 * found].reshape(found, 3).copy()


class _Cutter:
    """The beginning of the current part, and the declarations before it."""

    def __init__(self, part_bytes: int, base: str | None) -> None:
        self._part_bytes = part_bytes
        self._base = base
        self._start = 0
        self._nodes = 0
        self._header = b""
        self._declared = b""  # all prefixes and the base
        self._directives: list[bytes] = []  # after those in `_declared`
        self._opening = b""  # of the current graph
        self._broken = False  # a directive is malformed

    def take(self, piece: _Piece) -> Iterator[Cut]:
        """The parts that end in this piece."""
        at = 0
        for special in [*np.flatnonzero(piece.ends[:, 1]).tolist(), len(piece.ends)]:
            yield from self._cuts(piece, at, special)
            if special < len(piece.ends):
                self._note(piece, special)
                yield from self._cuts(piece, special, special + 1)
            at = special + 1

    def last(self, end: int, nodes: int | None) -> Cut:
        """The part that ends with the document."""
        own = None if nodes is None else nodes - self._nodes
        return Cut(self._start, end, self._header, b"", self._nodes, own)

    def _note(self, piece: _Piece, index: int) -> None:
        """Remember a directive, or the begin or end of a graph, for later parts."""
        before = int(piece.ends[index - 1, 0]) if index else 0
        text = piece.text[before : int(piece.ends[index, 0])]
        kind = piece.ends[index, 1]
        if kind == kernels.DIRECTIVE:
            self._directives.append(text)
        elif kind == kernels.GRAPH_BEGINS:
            self._opening = text.lstrip()
        else:
            self._opening = b""

    def _cuts(self, piece: _Piece, low: int, high: int) -> Iterator[Cut]:
        """The parts that end with one of these statements."""
        while not self._broken and b"[" not in self._opening:  # no part can continue `[] {`
            wanted = self._start + self._part_bytes - piece.base
            low += int(piece.ends[low:high, 0].searchsorted(wanted))
            if low >= high or not self._declare():
                return
            stop, nodes = piece.base + int(piece.ends[low, 0]), int(piece.ends[low, 2])
            closing = b"}" if self._opening else b""
            yield Cut(self._start, stop, self._header, closing, self._nodes, nodes - self._nodes)
            self._start, self._nodes = stop, nodes
            self._header = self._declared + self._opening
            low += 1

    def _declare(self) -> bool:
        """Bring `_declared` up to date; False if a directive is malformed."""
        if not self._directives:
            return True
        text = self._declared + b"\n".join(self._directives)
        parser = ox.parse(text, ox.RdfFormat.TURTLE, base_iri=self._base)
        try:
            for _ in parser:
                pass
        except SyntaxError:
            self._broken = True
            return False
        made = [] if parser.base_iri is None else [f"@base <{parser.base_iri}> . "]
        made += [f"@prefix {name}: <{iri}> . " for name, iri in parser.prefixes.items()]
        self._declared = "".join(made).encode()
        self._directives = []
        return True
