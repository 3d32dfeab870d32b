"""The result of a load: columns of ids, the new terms, and the statements that were refused.

Start at `Loaded`. Nothing here changes a store: the caller adds the segment and commits the rows,
or drops both.
"""

from __future__ import annotations

from dataclasses import field

import numpy as np
import pyoxigraph as ox
from numpy.typing import NDArray

from triplestore.data_classes import data_class
from triplestore.errors import ParseError, UsageError
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.guards.document_limits import USUAL, Limits
from triplestore.terms.segment import TermSegment
from triplestore.terms.term_keys import Term
from triplestore.terms.triples.complete_parts import complete_parts

U32 = NDArray[np.uint32]

#: Maximum number of bad statements kept with place and text; others are only counted.
KEPT_PROBLEMS = 100
_SHOWN = 200  # maximum number of characters kept of a bad statement


@data_class
class ReadOptions:
    """Options for reading the documents of a load; see `load`."""

    base_iri: str | None = None
    to_graph: Term | None = None
    refuse_named: bool = False
    lenient: bool = False
    limits: Limits = USUAL

    def __post_init__(self) -> None:
        if self.base_iri is None:
            return
        try:
            ox.NamedNode(self.base_iri)
        except ValueError as error:
            message = f"base_iri {self.base_iri!r} is not an absolute IRI: {error}"
            raise UsageError(message) from None


@data_class
class BadStatement:
    """A statement that was refused: where, why, and its text."""

    file: str
    line: int | None
    column: int | None
    message: str
    text: str | None = None

    def error(self) -> ParseError:
        """The exception that a strict load raises."""
        return ParseError(
            self.message,
            filename=self.file,
            line=self.line,
            column=self.column,
            text=self.text,
        )

    def __str__(self) -> str:
        shown = f"\n    {self.text}" if self.text else ""
        return f"{self.error()}{shown}"


def shortened(text: str) -> str:
    """A statement's text as it is kept in a problem."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


@data_class(frozen=False)
class FileReport:
    """The results of one document."""

    name: str
    number: int  # its file number, on which the labels of its blank nodes depend
    statements: int = 0
    bad: int = 0
    size: int = 0  # bytes read, as stored


@data_class(frozen=False)
class Loaded:
    """The rows of a load in final ids, and the terms that were new.

    `s, p, o, g` have one row per statement, duplicates included, in the order of the documents;
    g is 0 for the default graph. New terms are numbered after the dictionary's last one, by kind
    and bytes. Large loads give them as a `segment`, small ones as `new_keys` for the live table.
    Call `add_terms` before anything reads the rows.
    """

    s: U32
    p: U32
    o: U32
    g: U32
    has_named: bool  # False: g is zero throughout
    segment: TermSegment | None
    new_keys: list[bytes] = field(default_factory=list)
    files: list[FileReport] = field(default_factory=list)
    prefixes: dict[str, str] = field(default_factory=dict)
    problems: list[BadStatement] = field(default_factory=list)
    bad: int = 0  # all bad statements, of which `problems` lists the first
    next_file_number: int = 1
    seconds: float = 0.0

    def __len__(self) -> int:
        return len(self.s)

    def add_terms(self, dictionary: Dictionary) -> None:
        """Add the new terms to the dictionary they were numbered for."""
        if self.segment is not None:
            dictionary.add_segment(self.segment)
            complete_parts(dictionary, self.segment)
        elif self.new_keys:
            dictionary.append_keys(dictionary.size + 1, self.new_keys)
            dictionary.add_parts(self.new_keys)

    def summary(self) -> str:
        """The load in one line of text."""
        rate = len(self) / self.seconds if self.seconds else 0.0
        bad = f", {self.bad:,} bad" if self.bad else ""
        count = len(self.files)
        return (
            f"{len(self):,} statements from {count} file{'s' * (count != 1)}{bad} "
            f"in {self.seconds:.2f} s ({rate:,.0f} a second)"
        )
