"""How large and how deep what a document says may be: the limits of reading it.

A document may come from anywhere. Without limits a few kilobytes can ask a parser for more stack or
memory than there is, and the process dies.
"""

from __future__ import annotations

from dataclasses import dataclass

from triplestore.errors import ParseError, UsageError

#: How deep elements of RDF/XML may be nested; the parser's time grows with the square of it.
XML_DEPTH = 1_000
#: Attributes and namespaces of one element; the parser compares each with all others.
XML_ATTRIBUTES = 10_000
#: Bytes that one entity may become; entities of a few bytes are not counted where they are used.
ENTITY_BYTES = 1 << 16
SMALL_ENTITY = 200
#: How deep JSON may be nested; the parser's stack and its copies of contexts grow with it.
JSON_DEPTH = 128
#: Terms that one context may define; the parser follows chains of them on its stack.
CONTEXT_TERMS = 4_000


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits that a caller may set.

    line : bytes of a line of N-Triples or N-Quads
    term : bytes of a term, and of a tag or comment of RDF/XML; the parsers of Turtle, TriG, N3 and
        JSON-LD take none over 16 MB

    >>> Limits(line=1000).term
    67108864
    """

    line: int = 1 << 27
    term: int = 1 << 26

    def __post_init__(self) -> None:
        for name in ("line", "term"):
            if getattr(self, name) < 1:
                raise UsageError(f"max_{name}_bytes is a number of bytes from 1 on")

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
"""The limits that hold unless others are given."""


def limits_of(line: int | None, term: int | None) -> Limits:
    """The limits with some of their usual values replaced.

    >>> limits_of(None, 10)
    Limits(line=134217728, term=10)
    """
    return Limits(USUAL.line if line is None else line, USUAL.term if term is None else term)
