"""Results written in any of the formats, in pieces.

Start at `write_frames`, for solutions as columns of ids; `write_rows` is for terms. Always
true: the pieces together are one document; blocks are read on demand, and each is returned at once
as a piece, after the head. In a block, the text of each distinct term of a column is made once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, cast

import numpy as np
import pyoxigraph as ox

from triplestore.expressions.query_terms import U32, QueryTerms
from triplestore.operators.frame import Frame
from triplestore.operators.row_keys import distinct_ids
from triplestore.sparql.results.layout import LAYOUTS, Around, Cell, Layout
from triplestore.terms.dictionary import FIRST_QUERY_ID
from triplestore.terms.term_keys import key_of

_ROWS_OF_TERMS = 1024
_MANY = 32


def write_frames(
    variables: Sequence[str],
    frames: Iterable[Frame],
    terms: QueryTerms,
    form: ox.QueryResultsFormat,
) -> Iterator[bytes]:
    """Solutions as a document; columns that a frame does not have are unbound.

    >>> from triplestore.terms.dictionary import Dictionary
    >>> dictionary = Dictionary()
    >>> frame = Frame.of(x=dictionary.encode([ox.Literal(1), ox.NamedNode("http://e/a")]))
    >>> pieces = write_frames(["x"], [frame], QueryTerms(dictionary), ox.QueryResultsFormat.TSV)
    >>> print(b"".join(pieces).decode(), end="")
    ?x
    1
    <http://e/a>
    """
    layout = LAYOUTS[form]
    writers = [
        _Writer(layout.cell(name), layout.around(name), layout.special, terms) for name in variables
    ]

    def columns_of(frame: Frame) -> list[list[str | None]]:
        return [
            writer.column(frame[name]) if name in frame.names else [None] * frame.rows
            for name, writer in zip(variables, writers, strict=True)
        ]

    blocks = ((frame.rows, columns_of(frame)) for frame in frames)
    return _document(layout, variables, blocks)


def write_rows(
    variables: Sequence[str],
    rows: Iterable[Sequence[Any]],
    form: ox.QueryResultsFormat,
) -> Iterator[bytes]:
    """Solutions, given as terms of pyoxigraph or rdflib; None is unbound.

    >>> pieces = write_rows(["x", "y"], [(ox.Literal("a"), None)], ox.QueryResultsFormat.CSV)
    >>> b"".join(pieces)
    b'x,y\\r\\na,\\r\\n'
    """
    layout = LAYOUTS[form]
    cells = [layout.cell(name) for name in variables]
    return _document(layout, variables, _blocks_of_terms(rows, cells))


def write_boolean(value: bool, form: ox.QueryResultsFormat) -> bytes:
    """The result of an ASK.

    >>> write_boolean(True, ox.QueryResultsFormat.JSON)
    b'{"head":{},"boolean":true}\\n'
    """
    return LAYOUTS[form].boolean(value).encode()


def _blocks_of_terms(
    rows: Iterable[Sequence[Any]], cells: Sequence[Cell]
) -> Iterator[tuple[int, list[list[str | None]]]]:
    block: list[list[str | None]] = [[] for _ in cells]
    count = 0
    for row in rows:
        for term, cell, column in zip(row, cells, block, strict=True):
            column.append(None if term is None else cell(key_of(term)))
        count += 1
        if count == _ROWS_OF_TERMS:
            yield count, block
            block, count = [[] for _ in cells], 0
    if count:
        yield count, block


class _Writer(NamedTuple):
    """Writes the cells of one column."""

    cell: Cell
    around: Around
    special: re.Pattern[str]
    terms: QueryTerms

    def column(self, ids: U32) -> list[str | None]:
        """The cells of a column."""
        if len(ids) > 1 and (ids[1:] > ids[:-1]).all():
            return self.cells(ids)
        distinct, places = distinct_ids(ids)
        made = self.cells(distinct)
        return [made[place] for place in places.tolist()]

    def cells(self, ids: U32) -> list[str | None]:
        """The cells of distinct ids in increasing order."""
        if len(ids) < _MANY:
            return self.cells_of_keys(ids)
        if not ids[0]:
            return [None, *self.cells(ids[1:])]
        split = int(ids.searchsorted(np.uint32(FIRST_QUERY_ID)))
        made = self.plain_cells(ids[:split])
        if made is None:
            return self.cells_of_keys(ids)
        return made + self.cells_of_keys(ids[split:])

    def cells_of_keys(self, ids: U32) -> list[str | None]:
        """The cells of ids, one by one."""
        return [None if key is None else self.cell(key) for key in self.terms.keys(ids)]

    def plain_cells(self, ids: U32) -> list[str | None] | None:
        """The cells, if all terms are of plain kinds and without special characters; else None."""
        buf, offsets, kinds = self.terms.dictionary.text(ids)
        present = np.unique(kinds).tolist()
        raw = buf.tobytes()
        if not (raw.isascii() and all(kind in self.around for kind in present)):
            return None
        text = raw.decode("ascii")
        if self.special.search(text):
            return None
        spans = pairwise(offsets.tolist())
        if len(present) == 1:
            before, behind = self.around[present[0]]
            return [f"{before}{text[start:end]}{behind}" for start, end in spans]
        around = [self.around[kind] for kind in kinds.tolist()]
        return [
            f"{before}{text[start:end]}{behind}"
            for (before, behind), (start, end) in zip(around, spans, strict=True)
        ]


def _document(
    layout: Layout,
    variables: Sequence[str],
    blocks: Iterable[tuple[int, list[list[str | None]]]],
) -> Iterator[bytes]:
    rows_of = _rows_with_gaps if layout.gaps else _rows_without
    yield layout.head(variables).encode()
    before = layout.first
    between = layout.last + layout.rows + layout.first
    for count, columns in blocks:
        if count:
            rows = rows_of(layout.between, columns) if columns else [""] * count
            yield f"{before}{between.join(rows)}{layout.last}".encode()
            before = layout.rows + layout.first
    yield layout.end.encode()


_Joined = Callable[[str, list[list[str | None]]], Iterable[str]]


def _rows_with_gaps(between: str, columns: list[list[str | None]]) -> Iterable[str]:
    """The rows of cells; an unbound value is an empty cell."""
    filled = [_filled(column) for column in columns]
    return filled[0] if len(filled) == 1 else map(between.join, zip(*filled, strict=True))


def _filled(column: list[str | None]) -> list[str]:
    return [cell or "" for cell in column] if None in column else cast(list[str], column)


def _rows_without(between: str, columns: list[list[str | None]]) -> Iterable[str]:
    """The rows of cells; unbound values are left out."""
    rows = zip(*columns, strict=True)
    if not any(None in column for column in columns):
        return map(between.join, cast(Any, rows))
    return [between.join([cell for cell in row if cell is not None]) for row in rows]
