"""Turtle, TriG, RDF/XML, JSON-LD and N3: read by pyoxigraph, rewritten as N-Quads for the kernel.

Start at `QuadText`. Neither direction makes a Python object of ours per statement; the two steps
cost about a microsecond per statement, of which the kernel's part runs in another thread. What is
always true: a strict reader raises `ParseError` with the line where the parser stood; a lenient
one continues behind a bad statement where pyoxigraph's parser recovers (Turtle, TriG and N3 after
the next `.`; RDF/XML after the bad element; JSON-LD not at all), and keeps what was complete.
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
from .report import KEPT_PROBLEMS, Problem, Reading
from .sources import Source

_STATEMENTS = 1 << 14  # a chunk: some 15 ms
_AT_ONCE = 1 << 16
_LF = 10
#: Formats whose parsers report no line: fed line by line, the parser stands at our line. This takes
#: 50 % longer, so a document that can be read twice is fed like this only after it failed.
_WITHOUT_LINES = (ox.RdfFormat.RDF_XML, ox.RdfFormat.JSON_LD)
_RELATIVE = "No scheme found in an absolute IRI"
_REMOTE = "No LoadDocumentCallback has been set"
#: What comes out of a parser, or out of what it reads from.
_FAULTS = (SyntaxError, OSError, ValueError, MemoryError, Refused)
_TOO_LONG = "expected terms of less than 16 MB; N-Triples and N-Quads may have longer ones"


class QuadText:
    """The statements of one document as pieces of N-Quads text."""

    def __init__(
        self,
        data: BinaryIO,
        source: Source,
        reading: Reading,
        check: Callable[[], None] = lambda: None,
        note: Callable[[Problem], None] | None = None,
    ) -> None:
        self.problems: list[Problem] = []
        self.bad = 0
        self._note = note or self._keep
        self._source = source
        self._reading = reading
        # The refusal of a named graph comes without a line, too.
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
        """The prefixes met so far."""
        return dict(self._parser.prefixes)

    def close(self) -> None:
        """Release the exception that ended it, if there was one."""
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
        # In RDF/XML they are elements in elements, which the guard of the text does not tell apart.
        if self._source.format == ox.RdfFormat.RDF_XML and Chain().too_deep(text) is not None:
            raise Problem(self._source.name, self._feed.line, None, f"expected {TOO_DEEP}").error()
        return text

    def _kept(self) -> Iterator[ox.Quad]:
        """The statements that are right; problems are noted."""
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

    def _keep(self, problem: Problem) -> None:
        if len(self.problems) < KEPT_PROBLEMS:
            self.problems.append(problem)

    def _translated(self, error: Exception) -> BaseException:
        """The exception to raise for an exception of the parser."""
        if isinstance(error, Refused):
            return self._refusal(error).error()
        if isinstance(error, UsageError):  # of check_depth
            return Problem(self._source.name, self._feed.line, None, str(error)).error()
        if (failure := self._feed.taken_error()) is not None:  # reading failed, or was cancelled
            return failure
        if isinstance(error, SyntaxError):
            return self._problem(error).error()
        if isinstance(error, MemoryError) and "buffer maximal size" in str(error):
            return Problem(self._source.name, None, None, _TOO_LONG).error()
        return error

    def _refusal(self, refused: Refused) -> Problem:
        line = self._feed.line
        self._feed.taken_error()
        return Problem(self._source.name, line, None, refused.message)

    def _problem(self, error: SyntaxError) -> Problem:
        message = message_of(error)
        if message == "Named graphs are not allowed":
            message = "expected statements of the default graph only: named graphs are refused here"
        if _RELATIVE in message and self._reading.base_iri is None:
            message = f"expected an absolute IRI, or base_iri given to load: {message}"
        if _REMOTE in message:
            message = (
                "expected a context within the document: a context named by its address is not "
                "fetched, so put it into the document"
            )
        line = error.lineno
        if line is None:
            line = self._feed.line if self._feed.by_line else self._line_again()
        return Problem(self._source.name, line, error.offset, message)

    def _line_again(self) -> int | None:
        """The line of the first error, found by reading the document once more, line by line."""
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
        return None  # the document has changed meanwhile


class _Feed:
    """What pyoxigraph reads from: guarded, counted by line, ended if the load was cancelled."""

    def __init__(
        self, data: BinaryIO, by_line: bool, check: Callable[[], None], guard: Guard
    ) -> None:
        self.check = check
        self.by_line = by_line
        self.error: BaseException | None = None
        self._data = data
        self._guard = guard
        self._ready = b""  # was guarded, and waits to be asked for from `_at` on
        self._at = 0
        self._fresh = True  # the next byte begins a line
        self._lines = 0  # begun, of what was handed out by line
        self._ended = 0  # line ends in what was guarded

    @property
    def line(self) -> int | None:
        """The line that was handed out last, or the one of what the guard refused."""
        return (self._ended if isinstance(self.error, Refused) else self._lines) or None

    def taken_error(self) -> BaseException | None:
        """The exception that ended reading, if there was one, once.

        It must not stay here: its traceback leads to the parser, and the parser holds this object
        in a way that the garbage collector cannot follow.
        """
        error, self.error = self.error, None
        return error

    def read(self, size: int = -1) -> bytes:
        """The next bytes: a line or a part of one where lines are to be counted."""
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
        """The next block, guarded; as long as what is checked again, so that this is rare."""
        block = self._data.read(max(_AT_ONCE, self._guard.waiting))
        try:
            self._guard.look(block)
        except Refused as refused:
            self._ended += block.count(b"\n", 0, refused.at) + 1
            raise
        self._ended += block.count(b"\n")
        return block
