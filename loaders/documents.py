"""Documents as blocks of N-Triples or N-Quads text, which the workers of a load take.

Start at `Document.take`. Always true: blocks are numbered and taken in the order of the document,
by one worker at a time (under `lock`); a block ends at the end of a line.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np
import pyoxigraph as ox

from triplestore.errors import ParseError
from triplestore.kernels.documents.ntriples import QUADS, TRUSTED

from .formats import LINE_FORMATS
from .ntriples import BlockParser
from .oxi import QuadText
from .report import BadStatement, FileReport, ReadOptions
from .scope import Renamer
from .sources import DocumentSource, Opened
from .thresholds import LOADING

_WINDOW = 1 << 16
_LF, _CR = 10, 13


class Stopped(Exception):  # noqa: N818 - another worker failed, or the load was cancelled
    """Raised inside a worker that has to stop at once."""


class LongLineError(ParseError):
    """A line is longer than allowed; the number of the line is not known here."""


class OpenedSource:
    """An opened source whose beginning may have been read."""

    def __init__(self, source: DocumentSource, limit: int) -> None:
        """Read up to `limit` bytes; `whole` is the text if the source has no more."""
        self.source = source
        self.opened: Opened | None = None
        self.whole: bytes | None = None
        self._head = memoryview(b"")
        certain = source.size is not None and source.compression is None
        if limit < 0 or (certain and cast(int, source.size) > limit):
            return
        self.opened = source.open()
        try:
            self._read_head(limit)
        except BaseException:
            self.close()
            raise

    def _read_head(self, limit: int) -> None:
        assert self.opened is not None
        head = bytearray()
        piece = memoryview(bytearray(min(limit + 1, _WINDOW)))
        while len(head) <= limit:
            count = self.opened.read_into(piece)
            head += piece[:count]
            if count < len(piece):
                break
        self._head = memoryview(bytes(head))
        if len(head) <= limit:
            self.whole = bytes(head)
            self.close()

    def open(self) -> None:
        """Open the source if it is not open."""
        if self.opened is None:
            self.opened = self.source.open()

    def read_into(self, view: memoryview) -> int:
        """Fill the view; fewer bytes only at the end."""
        count = min(len(view), len(self._head))
        view[:count] = self._head[:count]
        self._head = self._head[count:]
        if count == len(view) or self.whole is not None:
            return count
        assert self.opened is not None
        return count + self.opened.read_into(view[count:])

    def stream(self) -> BinaryIO:
        """The bytes as a stream."""
        return io.BufferedReader(_InputStream(self), 1 << 18)

    @property
    def position(self) -> int:
        """Number of stored bytes read (compressed, if the source is)."""
        return self.opened.position if self.opened is not None else 0

    def close(self) -> None:
        """Close the source."""
        if self.opened is not None:
            self.opened.close()


class _InputStream(io.RawIOBase):
    def __init__(self, given: OpenedSource) -> None:
        self._given = given

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        return self._given.read_into(memoryview(target).cast("B"))


class Block(NamedTuple):
    """A part of a document; its text is in the buffer of a parser."""

    number: int
    length: int


class Document:
    """One document of a load; `take` is called under `lock` until `exhausted`."""

    def __init__(self, given: OpenedSource, number: int, reading: ReadOptions) -> None:
        self.lock = threading.Lock()
        self.exhausted = False
        self.report = FileReport(given.source.name, number)
        self.flags = 0 if reading.refuse_named else QUADS
        self.form = ox.RdfFormat.N_TRIPLES if reading.refuse_named else ox.RdfFormat.N_QUADS
        self.problems: list[BadStatement] = []
        self.prefixes: dict[str, str] = {}
        self._input = given
        self._reading = reading
        self._blocks = 0
        self._parsed = 0
        self._counting = threading.Lock()  # not `lock`, which is held during reading

    @property
    def scope(self) -> bytes:
        """The prefix that the kernel writes before labels."""
        return b""

    @property
    def renamer(self) -> Renamer | None:
        """Renames labels where the kernel does not."""
        return None

    @property
    def position(self) -> int:
        """Number of stored bytes read so far."""
        return self._input.position

    def take(self, parser: BlockParser, check: Callable[[], None]) -> Block | None:
        """Move the next block into the parser; None at the end."""
        self._input.source.check = check
        self._input.open()
        length = self._fill(parser, check)
        if not length:
            self.close()
            with self._counting:
                self.exhausted = True
                self._forget_if_done()
            return None
        self._blocks += 1
        return Block(self._blocks - 1, length)

    def was_parsed(self) -> None:
        """Count a parsed block; a finished document releases its memory."""
        with self._counting:
            self._parsed += 1
            self._forget_if_done()

    def _forget_if_done(self) -> None:
        if self.exhausted and self._parsed == self._blocks:
            self.forget()

    def forget(self) -> None:
        """Release memory that only reading needs: a load may have a hundred thousand documents."""

    @property
    def blocks(self) -> int:
        """The number of blocks taken."""
        return self._blocks

    def close(self) -> None:
        """Close the source."""
        self.report.size = self.position
        self._input.close()
        self._input.source.check = lambda: None

    def _fill(self, parser: BlockParser, check: Callable[[], None]) -> int:
        raise NotImplementedError


class LineDocument(Document):
    """N-Triples or N-Quads: blocks are cut at line ends."""

    def __init__(self, given: OpenedSource, number: int, reading: ReadOptions) -> None:
        super().__init__(given, number, reading)
        if given.source.format == ox.RdfFormat.N_TRIPLES:
            self.flags = 0
            self.form = ox.RdfFormat.N_TRIPLES
        self._scope = Renamer(number, generated=False).plain
        self._rest = b""
        self._ended = False

    @property
    def scope(self) -> bytes:
        """The prefix that the kernel writes before labels."""
        return self._scope

    def _check_line(self, length: int) -> None:
        """Refuse a line that is too long."""
        most = self._reading.limits.line
        if length > most:
            raise LongLineError(
                f"expected a line end after at most {most:,} bytes (max_line_bytes)",
                filename=self.report.name,
            )

    def _fill(self, parser: BlockParser, check: Callable[[], None]) -> int:
        length = parser.fill(self._rest)
        wanted = LOADING.block_bytes
        while not self._ended:
            check()
            while wanted <= length:
                wanted = min(2 * wanted, max(length, self._reading.limits.line) + 1)
            parser.reserve(wanted, length)
            text = parser.text()[:wanted]
            length += self._input.read_into(text[length:])
            self._ended = length < wanted
            cut = length if self._ended else _last_line_end(np.frombuffer(text, np.uint8))
            if cut:
                self._rest = text[cut:length].tobytes()
                return cut
            self._check_line(length)
        self._rest = b""
        return length


class RewrittenDocument(Document):
    """Any other format: pyoxigraph reads it and writes N-Quads."""

    def __init__(self, given: OpenedSource, number: int, reading: ReadOptions) -> None:
        super().__init__(given, number, reading)
        # With TRUSTED no line is odd, so anonymous nodes are numbered in the order of the document.
        self.flags = QUADS | TRUSTED
        self._renamer = Renamer(number, generated=True, many=True)
        self._text: QuadText | None = None

    @property
    def renamer(self) -> Renamer | None:
        """Renames labels: generated ones get numbers."""
        return self._renamer

    def _fill(self, parser: BlockParser, check: Callable[[], None]) -> int:
        if self._text is None:
            self._text = QuadText(self._input.stream(), self._input.source, self._reading, check)
        text = self._text.chunk()
        if not text:
            self.prefixes = self._text.prefixes
            self.problems = self._text.problems
            self.report.bad += self._text.bad
        return parser.fill(text)

    def close(self) -> None:
        """Close the source, and drop the parser.

        The parser holds the stream it reads from, and so the load and this document; the garbage
        collector does not see this cycle.
        """
        if self._text is not None:
            self._text.close()
        self._text = None
        super().close()

    def forget(self) -> None:
        """Release memory that only reading needs."""
        self._renamer.forget()


def make_document(given: OpenedSource, number: int, reading: ReadOptions) -> Document:
    """The document of an input, by its format."""
    kind = LineDocument if given.source.format in LINE_FORMATS else RewrittenDocument
    return kind(given, number, reading)


def _last_line_end(text: Any) -> int:
    """The position after the last line end, 0 without one.

    A CR at the end of the text does not count, since an LF may follow. Other CRs count only in a
    text without LF.
    """
    for byte, stop in ((_LF, len(text)), (_CR, len(text) - 1)):
        while stop > 0:
            first = max(0, stop - _WINDOW)
            found = np.flatnonzero(text[first:stop] == byte)
            if len(found):
                return first + int(found[-1]) + 1
            stop = first
    return 0
