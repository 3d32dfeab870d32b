"""Turtle, TriG, RDF/XML, JSON-LD and N3: read by pyoxigraph, rewritten as N-Quads for the kernel.

Start at `QuadText`. Neither direction makes a Python object of ours per statement; the two steps
cost about a microsecond a statement, of which the kernel's part runs in another thread. What is
always true: a strict reader raises `ParseError` with the line where the parser stood; a lenient
one goes on behind a bad statement where pyoxigraph's parser recovers (Turtle, TriG and N3 after
the next `.`; RDF/XML after the bad element; JSON-LD not at all), and keeps what was complete.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, cast

import pyoxigraph as ox

from .judge import message_of
from .report import KEPT_PROBLEMS, Problem, Reading
from .sources import Source

_STATEMENTS = 1 << 14  # a chunk: some 15 ms
_AT_ONCE = 1 << 12
#: Formats whose parsers tell no line: fed a line at a time, they stand where we are. This takes
#: half as long again, so a document that can be read twice is fed so only once it is known bad.
_WITHOUT_LINES = (ox.RdfFormat.RDF_XML, ox.RdfFormat.JSON_LD)
_RELATIVE = "No scheme found in an absolute IRI"
_REMOTE = "No LoadDocumentCallback has been set"
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
        self._feed = _Feed(data, silent and (reading.lenient or not source.can_reopen), check)
        self._parser = self._parser_of(self._feed)
        self._quads = self._kept() if reading.lenient else self._parser

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

    def quads(self) -> Iterator[ox.Quad]:
        """The statements themselves, for small documents."""
        try:
            yield from self._quads
        except (SyntaxError, OSError, ValueError, MemoryError) as error:
            raise self._translated(error) from error

    def chunk(self) -> bytes:
        """The next statements as N-Quads; empty at the end."""
        some = itertools.islice(self._quads, _STATEMENTS)
        try:
            return cast(bytes, ox.serialize(some, format=ox.RdfFormat.N_QUADS))
        except (SyntaxError, OSError, ValueError, MemoryError) as error:
            raise self._translated(error) from error

    def _kept(self) -> Iterator[ox.Quad]:
        """The statements that are right; problems are noted."""
        while True:
            try:
                quad = next(self._parser)
            except StopIteration:
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
        """The exception to raise for one that came out of the parser."""
        if self._feed.error is not None:  # reading failed, or was called off
            return self._feed.error
        if isinstance(error, SyntaxError):
            return self._problem(error).error()
        if isinstance(error, MemoryError) and "buffer maximal size" in str(error):
            return Problem(self._source.name, None, None, _TOO_LONG).error()
        return error

    def _problem(self, error: SyntaxError) -> Problem:
        message = message_of(error)
        if message == "Named graphs are not allowed":
            message = "expected statements of the default graph only: named graphs are refused here"
        if _RELATIVE in message and self._reading.base_iri is None:
            message = f"expected an absolute IRI, or base_iri given to load: {message}"
        if _REMOTE in message:
            message = (
                "expected a context within the document: one that is named by its address is not "
                "fetched, so write it there instead of the address"
            )
        line = error.lineno
        if line is None:
            line = self._feed.line if self._feed.by_line else self._line_again()
        return Problem(self._source.name, line, error.offset, message)

    def _line_again(self) -> int | None:
        """The line of the first error, found by reading the document once more, line by line."""
        opened = self._source.open()
        try:
            feed = _Feed(io.BufferedReader(cast(Any, opened.data)), True, self._feed.check)
            for _ in self._parser_of(feed):
                pass
        except SyntaxError:
            return feed.line
        finally:
            opened.close()
        return None  # the document is not what it was


class _Feed:
    """What pyoxigraph reads from: counts lines, and looks whether the load was called off."""

    def __init__(self, data: BinaryIO, by_line: bool, check: Callable[[], None]) -> None:
        self.check = check
        self.by_line = by_line
        self._take = data.readline if by_line else data.read
        self._fresh = True  # the next byte begins a line
        self._lines = 0
        self.error: BaseException | None = None

    @property
    def line(self) -> int | None:
        """The line that was handed out last."""
        return self._lines or None

    def read(self, size: int = -1) -> bytes:
        """The next bytes: a line or a part of one where lines are to be counted."""
        try:
            self.check()
            given = self._take(size if size > 0 else _AT_ONCE)
        except BaseException as error:
            self.error = error
            raise
        if self.by_line and given:
            self._lines += self._fresh
            self._fresh = given.endswith(b"\n")
        return given
