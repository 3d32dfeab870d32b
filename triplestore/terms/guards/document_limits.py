"""The limits of documents: how large and how deep their content may be.

A document may come from anywhere. Without limits a few kilobytes can make a parser use more stack
or memory than there is, and the process dies.

`Chain` (text) and `check_depth` (terms) check the depth of triple terms. Everything that works on
triple terms is recursive: parsers, printers, pyoxigraph's own copies. In a text, terms that are
nested n deep begin with n times `<<( subject predicate`, without a literal in between. So it is
enough to follow such beginnings from each `<<(` on. Always true: no chain in a valid text is
missed; a comment or a literal is refused only if its text looks like a chain of that depth.
"""

from __future__ import annotations

import re
from typing import Any

import pyoxigraph as ox

from triplestore.data_classes import data_class
from triplestore.errors import ParseError, UsageError

#: Maximum depth of elements of RDF/XML; the parser's time grows with its square.
XML_DEPTH = 1_000
#: Maximum number of attributes and namespaces of one element; the parser compares all of them.
XML_ATTRIBUTES = 10_000
#: Maximum size of one entity when expanded; uses of small entities are not counted.
ENTITY_BYTES = 1 << 16
SMALL_ENTITY = 200
#: Maximum depth of JSON; the parser's stack and its copies of contexts grow with it.
JSON_DEPTH = 128
#: Maximum number of terms that one context defines; the parser follows chains on its stack.
CONTEXT_TERMS = 4_000


@data_class
class Limits:
    """The limits that a caller may set.

    line : maximum number of bytes of a line of N-Triples or N-Quads
    term : maximum number of bytes of a term, and of a tag or comment of RDF/XML; the parsers of
        Turtle, TriG, N3 and JSON-LD accept none over 16 MB

    >>> Limits(line=1000).term
    67108864
    """

    line: int = 1 << 27
    term: int = 1 << 26

    def __post_init__(self) -> None:
        for name in ("line", "term"):
            if getattr(self, name) < 1:
                raise UsageError(f"max_{name}_bytes must be at least 1")

    def check_term(self, length: int, text: bytes, file: str) -> None:
        """Raise ParseError for a term that is too long, of which `text` is the beginning."""
        if length > self.term:
            shown = text[:60].decode(errors="replace")
            raise ParseError(
                f"expected terms of at most {self.term:,} bytes (max_term_bytes), found one of "
                f"{length:,} that begins with {shown!r}",
                filename=file,
            )


USUAL = Limits()
"""The default limits."""


def limits_of(line: int | None, term: int | None) -> Limits:
    """The limits with some of their usual values replaced.

    >>> limits_of(None, 10)
    Limits(line=134217728, term=10)
    """
    return Limits(USUAL.line if line is None else line, USUAL.term if term is None else term)


#: Maximum depth of triple terms.
MOST_NESTED = 100

TOO_DEEP = f"triple terms nested at most {MOST_NESTED} deep"
"""For the error of deeper ones: what was expected."""

_BEGIN = re.compile(rb"<<\(")
_LINE_END = re.compile(rb"[\n\r]")
# From one beginning to the next: white space, comments, IRIs, names, labels, `[]`.
_BETWEEN = re.compile(
    rb"(?:[^<>\"'#(){},;\\]++|\\[^\n\r]|<(?!<)[^<>\"\s]*+>|#[^\n\r]{0,1000}+(?=[\n\r]))*+"
)
_CUT = re.compile(rb"(?:<?|<<|\\|<(?!<)[^<>\"\s]*+|#[^\n\r]{0,1000}+)\Z")


class Chain:
    """Follows beginnings of triple terms through the pieces of a text."""

    def __init__(self) -> None:
        self._tail = b""
        self._depths: dict[int, int] = {}  # where the next beginning would be: how many before it
        self._in_comment = 0  # the same, if a long comment has to end before

    @property
    def waiting(self) -> int:
        """Number of bytes that will be read again."""
        return len(self._tail)

    def too_deep(self, piece: bytes) -> int | None:
        """The position in this piece where triple terms are nested too deep, if they are.

        >>> Chain().too_deep(b"<a:> <a:> " + b"<<( <a:> <a:> " * 101)
        1410
        >>> Chain().too_deep(b"<<( <a:> <a:> <a:> )>> " * 101)
        """
        text = self._tail + piece if self._tail else piece
        lines = _LineEnds(text)
        kept = max(0, len(text) - 2)  # a beginning may be cut in two
        if self._in_comment:
            depth, self._in_comment = self._in_comment, 0
            kept = self._follow(text, lines.after(0), depth, lines, kept)
        for begin in _BEGIN.finditer(text):
            at = begin.start()
            if at >= kept:
                break
            depth = self._depths.pop(at, 0) + 1
            if depth > MOST_NESTED:
                return max(0, at - len(self._tail))
            end = _end_of_names(text, at + 3)
            if end is None:
                self._depths[at] = depth - 1
                kept = at
            else:
                kept = self._follow(text, end, depth, lines, kept)
        self._tail = text[kept:]
        self._depths = {at - kept: depth for at, depth in self._depths.items() if at >= kept}
        return None

    def _follow(self, text: bytes, at: int, depth: int, lines: _LineEnds, kept: int) -> int:
        """Note where the next beginning of a chain would be, behind long comments.

        `at` : behind the names, or a line end
        Returns the position from which the text is needed again.
        """
        while at == len(text) or text[at] in b"#\r\n":
            at = lines.after(at)
            end = None if at == len(text) else _end_of_names(text, at)
            if end is None:
                self._in_comment = max(depth, self._in_comment)
                return min(kept, at)
            at = end
        self._depths[at] = max(depth, self._depths.get(at, 0))
        return kept


class _LineEnds:
    """Where lines end, asked for from left to right."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._next = -1

    def after(self, at: int) -> int:
        """The first line end from `at` on, or the end of the text."""
        if self._next < at:
            found = _LINE_END.search(self._text, at)
            self._next = len(self._text) if found is None else found.start()
        return self._next


def _end_of_names(text: bytes, at: int) -> int | None:
    """Where the next beginning would be if it is of the same chain; None if it cannot be told."""
    found = _BETWEEN.match(text, at)
    assert found is not None
    return None if _CUT.match(text, found.end()) else found.end()


def check_depth(term: Any) -> None:
    """Raise UsageError if a triple term is nested too deep.

    >>> check_depth(ox.Triple(*[ox.NamedNode("a:")] * 3))
    """
    depth = 0
    while isinstance(term, ox.Triple):
        depth += 1
        if depth > MOST_NESTED:
            raise UsageError(f"expected {TOO_DEEP}: give inner ones a name of their own")
        term = term.object
