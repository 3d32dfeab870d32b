"""Parsing on executors: parts of files, lines, contents of files and terms become batches.

Start at `parse_parts`, `parse_lines`, `parse_contents` and `parse_terms`: each takes the batches of
a task (as `mapInArrow` does) and gives batches with `batches.SCHEMA`. The parsers are the local
loader's: the kernel for lines, its judge for odd ones, pyoxigraph for everything else. Always true:
the result for a file does not depend on the task that reads it; a fault is a note, not an
exception, so one broken file of a thousand is reported with its place. Memory: some 10 MB of
buffers, and a part that is read whole (contents, parts of Turtle).
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import pyoxigraph as ox

from triplestore.data_classes import data_class
from triplestore.errors import ParseError
from triplestore.kernels.documents.ntriples import QUADS, TRUSTED
from triplestore.loaders.documents import LineDocument, OpenedSource
from triplestore.loaders.judge import judged
from triplestore.loaders.ntriples import BlockParser, Piece
from triplestore.loaders.oxi import QuadText
from triplestore.loaders.report import BadStatement, ReadOptions
from triplestore.loaders.scope import Renamer, prefix, renamed_terms
from triplestore.loaders.sources import DocumentSource
from triplestore.loaders.spark.importing.chunks import Chunks, note_batch
from triplestore.loaders.spark.importing.notes import Notes
from triplestore.loaders.spark.importing.open_source import (
    line_starts,
    lines_source,
    range_bytes,
    source_of,
)
from triplestore.loaders.spark.importing.sources import SourceFile
from triplestore.loaders.spark.importing.splits import Part, TaskOptions
from triplestore.loaders.spark.jobs.workers import Batches
from triplestore.terms.spans import copy_texts

_MANY = 1 << 20  # minimum bytes of a document whose anonymous nodes are numbered by kernel
_CR_ENDS_LINES = (ox.RdfFormat.TURTLE, ox.RdfFormat.TRIG, ox.RdfFormat.N3)


@data_class(slots=False)
class Plan:
    """The plan that tasks get: the files and, for files opened by name, the parts of each task."""

    files: Mapping[int, SourceFile]
    reading: TaskOptions
    tasks: Sequence[tuple[Part, ...]] = ()


def parse_parts(plan: Plan, batches: Batches) -> Batches:
    """Batches of one column with numbers of tasks; each task's parts are opened by name."""
    parser = PartParser(plan.reading)
    for batch in batches:
        for task in batch.column(0).to_pylist():
            for part in plan.tasks[task]:
                yield from parser.part(plan.files[part.file], part)
    yield from parser.chunks.finish()


def parse_contents(plan: Plan, batches: Batches) -> Batches:
    """Batches of (hash of a file's name, its contents), as Spark reads them."""
    parser = PartParser(plan.reading)
    marks = {file.mark: file for file in plan.files.values()}
    for batch in batches:
        for mark, contents in zip(batch.column(0), batch.column(1), strict=True):
            file = marks[mark.as_py()]
            yield from parser.whole(file, source_of(file, contents.as_py()))
    yield from parser.chunks.finish()


def parse_lines(plan: Plan, batches: Batches) -> Batches:
    """Batches of (a line without line feed, hash of its file's name, where its block begins)."""
    parser = PartParser(plan.reading)
    marks = {file.mark: file for file in plan.files.values()}
    block: tuple[int, int] | None = None
    notes = Notes(0)
    for batch in batches:
        names = np.asarray(batch.column(1))
        places = np.asarray(batch.column(2))
        changes = np.flatnonzero((np.diff(names) != 0) | (np.diff(places) != 0)) + 1
        bounds = [0, *changes.tolist(), len(names)]
        for start, stop in itertools.pairwise(bounds):
            if start == stop:
                continue
            here = (int(names[start]), int(places[start]))
            if here != block:
                if block is not None:
                    yield note_batch(marks[block[0]].number, notes.all())
                block, notes = here, Notes(here[1])
            rows = batch.column(0).slice(start, stop - start)
            yield from parser.lines(marks[here[0]], rows, notes)
    if block is not None:
        yield note_batch(marks[block[0]].number, notes.all())
    yield from parser.chunks.finish()


def parse_terms(file: SourceFile, reading: TaskOptions, batches: Batches) -> Batches:
    """Batches of terms in N-Triples, columns s, p, o and perhaps g."""
    import pyarrow.compute as pc

    parser = PartParser(reading)
    notes = Notes(0, has_places=False)
    for batch in batches:
        columns = [pc.fill_null(batch.column(i), "null") for i in range(3)]
        columns += [batch.column(i) for i in range(3, batch.num_columns)]
        rows = pc.binary_join_element_wise(*columns, ".", " ", null_handling="skip")
        if pc.any(pc.match_substring_regex(rows, "[\r\n]")).as_py():
            # No term of N-Triples has a line end: the replacement is refused everywhere.
            rows = pc.replace_substring_regex(rows, "[\r\n]+", "\\\\!")
        yield from parser.lines(file, rows, notes)
    yield note_batch(file.number, notes.all())
    yield from parser.chunks.finish()


class PartParser:
    """The buffers of one task, reused for everything that it reads.

    Its methods give the batches of chunks that are full, and of notes.
    """

    def __init__(self, reading: TaskOptions) -> None:
        self.chunks = Chunks(reading.default)
        self._reading = reading
        self._local = ReadOptions(base_iri=reading.base_iri, lenient=reading.lenient)
        self._parser = BlockParser()
        self._second = BlockParser(0)

    def part(self, file: SourceFile, part: Part) -> Batches:
        """A part of a file that is opened by name."""
        if part.cut is not None:
            yield from self._cut_part(file, part)
        elif part.stop is None:
            yield from self.whole(file, source_of(file))
        else:
            source = lines_source(file, part.start, part.stop)
            if source is not None:
                yield from self._line_document(file, source, Notes(part.start))

    def whole(self, file: SourceFile, source: DocumentSource) -> Batches:
        """A whole file."""
        if file.by_lines:
            yield from self._line_document(file, source, Notes(0))
            return
        notes = Notes(0)
        renamer = PartRenamer(file.number, 0, many=file.length > _MANY)
        problems: list[BadStatement] = []
        given = OpenedSource(source, -1)
        try:
            given.open()
            yield from self._document(given, renamer, notes, problems)
        except ParseError as error:  # from a decompressor
            problems.append(_problem_of(error))
        finally:
            given.close()
        if problems:
            self._place(problems, file, source_of(file, source.data), notes)
        yield note_batch(file.number, notes.all())

    def lines(self, file: SourceFile, rows: Any, notes: Notes) -> Batches:
        """Lines in an array of Arrow."""
        length = self._filled(rows)
        yield from self._block(length, file, notes)
        notes.bytes += length
        notes.lines += self._parser.lines
        yield from _handfuls(file, notes)

    # --- lines ----------------------------------------------------------------------------------

    def _line_document(self, file: SourceFile, source: DocumentSource, notes: Notes) -> Batches:
        document = LineDocument(OpenedSource(source, -1), file.number, self._local)
        try:
            while (block := document.take(self._parser, _go_on)) is not None:
                yield from self._block(block.length, file, notes)
                notes.bytes += block.length
                notes.lines += self._parser.lines
                yield from _handfuls(file, notes)
        except ParseError as error:
            notes.fault(notes.lines + 1, notes.bytes, None, None, error.msg)
        finally:
            document.close()
        yield note_batch(file.number, notes.all())

    def _filled(self, rows: Any) -> int:
        """Write lines, each with a line feed, into the parser's buffer; returns the length."""
        count = len(rows)
        _, offsets, data = rows.buffers()
        wide = np.int64 if str(rows.type).startswith("large") else np.int32
        places = np.frombuffer(offsets, wide, count + 1, rows.offset * np.dtype(wide).itemsize)
        starts = places[:-1].astype(np.int64)
        lengths = np.diff(places).astype(np.int64)
        ends = np.cumsum(lengths + 1)
        total = int(ends[-1])
        self._parser.reserve(total)
        target = np.frombuffer(self._parser.text(), np.uint8)
        if data is not None:
            copy_texts(np.frombuffer(data, np.uint8), starts, lengths, target, ends - 1 - lengths)
        target[ends - 1] = ord("\n")
        return total

    def _block(self, length: int, file: SourceFile, notes: Notes) -> Batches:
        """The statements of the text in the parser; odd lines are judged."""
        quads = file.rdf_format == ox.RdfFormat.N_QUADS
        scope = b"" if self._reading.keep_labels else prefix(file.number)
        for piece in self._parser.pieces(length, QUADS if quads else 0, scope):
            yield from self._statements(piece, None, notes)
            if len(piece.odd):
                text = self._judged(piece, file, notes)
                for good in self._second.pieces(self._second.fill(text), QUADS | TRUSTED, scope):
                    yield from self._statements(good, None, notes)

    def _judged(self, piece: Piece, file: SourceFile, notes: Notes) -> bytes:
        text, faults = judged(piece.odd_lines(), file.rdf_format, True)
        places = piece.odd.tolist()
        for fault in faults:
            start, _, line = places[fault.index]
            notes.fault(
                notes.lines + line + 1,
                notes.bytes + start,
                fault.column,
                fault.text,
                fault.message,
            )
        return text

    def _statements(self, piece: Piece, renamer: Renamer | None, notes: Notes) -> Batches:
        terms = piece.terms
        if renamer is not None:
            terms = renamed_terms(terms, piece.free, renamer)
        notes.statements += len(piece.rows)
        self.chunks.add(terms, piece.rows)
        yield from self.chunks.full()

    # --- documents ------------------------------------------------------------------------------

    def _document(
        self,
        given: OpenedSource,
        renamer: Renamer,
        notes: Notes,
        problems: list[BadStatement],
    ) -> Batches:
        """The statements of a document; its faults are appended to `problems`."""
        text = QuadText(given.stream(), given.source, self._local, note=problems.append)
        try:
            while chunk := text.chunk():
                length = self._parser.fill(chunk)
                for piece in self._parser.pieces(length, QUADS | TRUSTED, b""):
                    assert len(piece.odd) == 0, f"not canonical: {piece.odd_lines()[0]!r}"
                    yield from self._statements(piece, renamer, notes)
        except ParseError as error:
            problems.append(_problem_of(error))
        notes.prefixes = text.prefixes

    def _cut_part(self, file: SourceFile, part: Part) -> Batches:
        """A part of Turtle or TriG, with the declarations before it."""
        cut = part.cut
        assert cut is not None
        assert part.stop is not None
        body = range_bytes(file, part.start, part.stop)
        text = b"".join((cut.header, body, cut.closing))
        notes = Notes(part.start)
        renamer = PartRenamer(file.number, cut.nodes_before, many=len(body) > _MANY)
        problems: list[BadStatement] = []
        source = DocumentSource(file.name, file.rdf_format, data=text, size=len(text))
        given = OpenedSource(source, -1)
        given.open()
        yield from self.chunks.begin(file.number)
        yield from self._document(given, renamer, notes, problems)
        yield from self.chunks.begin()
        above = cut.header.count(b"\n")
        shifted = [_moved(problem, -above) for problem in problems]
        if not problems and cut.nodes not in (None, renamer.met):
            reason = f"cut as if it had {cut.nodes} anonymous nodes; it has {renamer.met}"
            shifted.append(BadStatement(file.name, 1, None, reason))
        if shifted:
            self._place(shifted, file, DocumentSource(file.name, file.rdf_format, data=body), notes)
        notes.lines, notes.bytes = body.count(b"\n"), len(body)
        yield note_batch(file.number, notes.all())

    def _place(
        self,
        problems: Iterable[BadStatement],
        file: SourceFile,
        source: DocumentSource,
        notes: Notes,
    ) -> None:
        """Note the problems of a document, with the bytes at which their lines begin."""
        wanted = {problem.line for problem in problems if problem.line is not None}
        starts: dict[int, int] = {}
        try:
            opened = source.open()
            stream = io.BufferedReader(cast(Any, opened.data), 1 << 18)
            starts = line_starts(stream, wanted, file.rdf_format in _CR_ENDS_LINES)
            opened.close()
        except ParseError:
            pass  # the lines of a damaged compressed document are unknown
        for problem in problems:
            byte = None if problem.line is None else starts.get(problem.line)
            notes.fault(problem.line, byte, problem.column, problem.text, problem.message)


def _go_on() -> None:
    """Do nothing: Spark ends tasks from outside."""


def _handfuls(file: SourceFile, notes: Notes) -> Batches:
    for faults in notes.waiting():
        yield note_batch(file.number, faults)


def _problem_of(error: ParseError) -> BadStatement:
    return BadStatement(str(error.filename), error.lineno, error.offset, error.msg, error.text)


def _moved(problem: BadStatement, lines: int) -> BadStatement:
    line = None if problem.line is None else max(1, problem.line + lines)
    return BadStatement(problem.file, line, problem.column, problem.message, problem.text)


class PartRenamer(Renamer):
    """The labels of a part of a file, before which the file has `first` anonymous nodes.

    The names are the local loader's (loaders/scope.py). Counting starts where the parts before it
    end, as the cutter counted, so labels do not show whether a file was cut, or where.
    """

    def __init__(self, number: int, first: int, many: bool) -> None:
        super().__init__(number, generated=True, many=many)
        self._first = first
        self.met = 0

    def _numbers(self, labels: list[bytes]) -> list[int]:
        numbers = super()._numbers(labels)
        self.met = max(self.met, max(numbers))
        return [self._first + number for number in numbers]

    def keys(self, keys: Sequence[bytes]) -> list[bytes]:
        """The keys of terms with the labels in them renamed; `met` counts the anonymous nodes.

        >>> renamer = PartRenamer(3, 5, many=False)
        >>> renamer.keys([b"\\x02a", b"\\x02c785e674d23d36c2b5c2568ef7cef3e4"]), renamer.met
        ([b'\\x02f3xa', b'\\x02f3b6'], 1)
        """
        return super().keys(keys)
