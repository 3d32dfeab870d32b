"""The limits of documents: how large and how deep their content may be.

A document may come from anywhere. Without limits a few kilobytes can make a parser use more stack
or memory than there is, and the process dies.
"""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
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
