"""Turtle, TriG, RDF/XML, JSON-LD and N3: read by pyoxigraph, rewritten as N-Quads for the kernel.

Start at `QuadText`. Neither step makes a Python object of ours per statement; together they cost
about a microsecond per statement, and the kernel's part runs in another thread. Always true: a
strict reader raises `ParseError` with the parser's line; a lenient one keeps complete statements
and continues after a bad one where pyoxigraph's parser recovers (Turtle, TriG and N3 after the next
`.`; RDF/XML after the bad element; JSON-LD does not recover).
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, cast

import pyoxigraph as ox

from triplestore.errors import UsageError
from triplestore.terms.guards.document_limits import TOO_DEEP, Chain, check_depth
from triplestore.terms.guards.parser_guard import Guard, Refused, guard_of

from .judge import message_of
from .report import KEPT_PROBLEMS, BadStatement, ReadOptions
from .sources import DocumentSource

_STATEMENTS = 1 << 14  # a chunk: some 15 ms
_AT_ONCE = 1 << 16
_LF = 10
#: Formats whose parsers report no line. Fed line by line, the parser is at our line. This takes
#: 50 % longer, so a document that can be read twice is fed like this only after an error.
_WITHOUT_LINES = (ox.RdfFormat.RDF_XML, ox.RdfFormat.JSON_LD)
_RELATIVE = "No scheme found in an absolute IRI"
_REMOTE = "No LoadDocumentCallback has been set"
#: Exceptions of a parser, or of the stream that it reads.
_FAULTS = (SyntaxError, OSError, ValueError, MemoryError, Refused)
_TOO_LONG = "expected terms of less than 16 MB; N-Triples and N-Quads may have longer ones"


class QuadText:
    """The statements of one document as pieces of N-Quads text."""

    def __init__(
        self,
        data: BinaryIO,
        source: DocumentSource,
        reading: ReadOptions,
        check: Callable[[], None] = lambda: None,
        note: Callable[[BadStatement], None] | None = None,
    ) -> None:
        self.problems: list[BadStatement] = []
        self.bad = 0
        self._note = note or self._keep
        self._source = source
        self._reading = reading
        # The error for a named graph has no line either.
        silent = source.format in _WITHOUT_LINES or reading.refuse_named
        by_line = silent and (reading.lenient or not source.can_reopen)
        self._feed = _Feed(data, by_line, check, self._guard())
        self._parser = self._parser_of(self._feed)
        self._quads = self._kept() if reading.lenient else self._parser

    def _guard(self) -> Guard:
        return guard_of(self._source.format, self._reading.limits, self._reading.lenient)

    def _parser_of(self, feed: _Feed) -> ox.QuadParser:
        return ox.parse(
            cast(Any, feed),
            self._source.format,
            base_iri=self._reading.base_iri,
            without_named_graphs=self._reading.refuse_named,
        )

    @property
    def prefixes(self) -> dict[str, str]:
        """The prefixes declared so far."""
        return dict(self._parser.prefixes)

    def close(self) -> None:
        """Release the exception that ended reading, if any."""
        self._feed.taken_error()

    def quads(self) -> Iterator[ox.Quad]:
        """The statements themselves, for small documents."""
        nested = self._source.format == ox.RdfFormat.RDF_XML
        try:
            for quad in self._quads:
                if nested:
                    check_depth(quad.object)
                yield quad
        except _FAULTS as error:
            raise self._translated(error) from error

    def chunk(self) -> bytes:
        """The next statements as N-Quads; empty at the end."""
        some = itertools.islice(self._quads, _STATEMENTS)
        try:
            text = cast(bytes, ox.serialize(some, format=ox.RdfFormat.N_QUADS))
        except _FAULTS as error:
            raise self._translated(error) from error
        # In RDF/XML triple terms are nested elements, which the guard of the text does not detect.
        if self._source.format == ox.RdfFormat.RDF_XML and Chain().too_deep(text) is not None:
            raise BadStatement(
                self._source.name, self._feed.line, None, f"expected {TOO_DEEP}"
            ).error()
        return text

    def _kept(self) -> Iterator[ox.Quad]:
        """The good statements; problems are noted."""
        while True:
            try:
                quad = next(self._parser)
            except StopIteration:
                return
            except Refused as refused:
                self.bad += 1
                self._note(self._refusal(refused))
                return
            except SyntaxError as error:
                if self._feed.error is not None:
                    raise
                self.bad += 1
                self._note(self._problem(error))
                continue
            yield quad

    def _keep(self, problem: BadStatement) -> None:
        if len(self.problems) < KEPT_PROBLEMS:
            self.problems.append(problem)

    def _translated(self, error: Exception) -> BaseException:
        """The exception to raise for an exception of the parser."""
        if isinstance(error, Refused):
            return self._refusal(error).error()
        if isinstance(error, UsageError):  # of check_depth
            return BadStatement(self._source.name, self._feed.line, None, str(error)).error()
        if (failure := self._feed.taken_error()) is not None:  # reading failed or was cancelled
            return failure
        if isinstance(error, SyntaxError):
            return self._problem(error).error()
        if isinstance(error, MemoryError) and "buffer maximal size" in str(error):
            return BadStatement(self._source.name, None, None, _TOO_LONG).error()
        return error

    def _refusal(self, refused: Refused) -> BadStatement:
        line = self._feed.line
        self._feed.taken_error()
        return BadStatement(self._source.name, line, None, refused.message)

    def _problem(self, error: SyntaxError) -> BadStatement:
        message = message_of(error)
        if message == "Named graphs are not allowed":
            message = "expected statements of the default graph only: named graphs are refused here"
        if _RELATIVE in message and self._reading.base_iri is None:
            message = f"expected an absolute IRI, or base_iri given to load: {message}"
        if _REMOTE in message:
            message = (
                "expected a context within the document: remote contexts are not fetched, so put "
                "the context into the document"
            )
        line = error.lineno
        if line is None:
            line = self._feed.line if self._feed.by_line else self._line_again()
        return BadStatement(self._source.name, line, error.offset, message)

    def _line_again(self) -> int | None:
        """The line of the first error; reads the document again, line by line."""
        opened = self._source.open()
        data = io.BufferedReader(cast(Any, opened.data))
        feed = _Feed(data, True, self._feed.check, self._guard())
        try:
            for _ in self._parser_of(feed):
                pass
        except SyntaxError:
            return feed.line
        finally:
            feed.taken_error()
            opened.close()
        return None  # the document has changed


class _Feed:
    """The stream that pyoxigraph reads: guarded, counted by line, ended by a cancelled load."""

    def __init__(
        self, data: BinaryIO, by_line: bool, check: Callable[[], None], guard: Guard
    ) -> None:
        self.check = check
        self.by_line = by_line
        self.error: BaseException | None = None
        self._data = data
        self._guard = guard
        self._ready = b""  # guarded bytes; those from `_at` on are unread
        self._at = 0
        self._fresh = True  # the next byte begins a line
        self._lines = 0  # lines begun, of those handed out by line
        self._ended = 0  # line ends in the guarded bytes

    @property
    def line(self) -> int | None:
        """The last line handed out, or the line that the guard refused."""
        return (self._ended if isinstance(self.error, Refused) else self._lines) or None

    def taken_error(self) -> BaseException | None:
        """Return the exception that ended reading, if any, and forget it.

        Its traceback leads to the parser, and the parser holds this object in a cycle that the
        garbage collector does not see.
        """
        error, self.error = self.error, None
        return error

    def read(self, size: int = -1) -> bytes:
        """The next bytes; at most one line where lines are counted."""
        try:
            self.check()
            if self._at == len(self._ready):
                self._ready = self._block()
                self._at = 0
        except BaseException as error:
            self.error = error
            raise
        start = self._at
        stop = min(start + (size if size > 0 else _AT_ONCE), len(self._ready))
        if self.by_line and stop > start:
            stop = self._ready.find(b"\n", start, stop) + 1 or stop
            self._lines += self._fresh
            self._fresh = self._ready[stop - 1] == _LF
        self._at = stop
        return self._ready[start:stop]

    def _block(self) -> bytes:
        """The next guarded block; at least as long as the text that the guard checks again."""
        block = self._data.read(max(_AT_ONCE, self._guard.waiting))
        try:
            self._guard.look(block)
        except Refused as refused:
            self._ended += block.count(b"\n", 0, refused.at) + 1
            raise
        self._ended += block.count(b"\n")
        return block
