"""The formats of results as data. Start at `Layout` and `LAYOUTS`.

A result is a head, rows of cells, and an end. Always true: the text of a cell depends on
its column and its term only, so it is made once for each distinct term; rows are joined cells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import pyoxigraph as ox

from triplestore.data_classes import data_class
from triplestore.sparql.results import delimited, json, xml

Cell: TypeAlias = Callable[[bytes], str]
"""Returns the text of a term, which is given as its key."""

Around: TypeAlias = Mapping[int, tuple[str, str]]
"""Kind of term -> the text of its cell before and after the term's text."""


@data_class
class Layout:
    """A format.

    head, end    the text before and after the rows; the head is made from the names of variables
    cell         returns, for the name of a variable, the function that writes its cells
    first, last  the text at the beginning and the end of a row
    between      the text between two cells
    rows         the text between two rows
    gaps         True if an unbound value is an empty cell, False if it has no cell
    boolean      the whole result of an ASK
    around       returns, for the name of a variable, the text of a cell before and after the term's
                 text, for kinds of terms that are written unchanged unless `special` matches
    """

    head: Callable[[Sequence[str]], str]
    cell: Callable[[str], Cell]
    boolean: Callable[[bool], str]
    around: Callable[[str], Around]
    special: re.Pattern[str]
    end: str = ""
    first: str = ""
    last: str = ""
    between: str = ""
    rows: str = ""
    gaps: bool = True


LAYOUTS: dict[ox.QueryResultsFormat, Layout] = {
    ox.QueryResultsFormat.JSON: Layout(
        json.head,
        json.cell,
        json.boolean,
        json.around,
        json.SPECIAL,
        json.END,
        "{",
        "}",
        ",",
        ",\n",
        gaps=False,
    ),
    ox.QueryResultsFormat.XML: Layout(
        xml.head,
        xml.cell,
        xml.boolean,
        xml.around,
        xml.SPECIAL,
        xml.END,
        "<result>",
        "</result>\n",
    ),
    ox.QueryResultsFormat.CSV: Layout(
        delimited.csv_head,
        delimited.csv_cell,
        delimited.boolean,
        delimited.csv_around,
        delimited.CSV_SPECIAL,
        last="\r\n",
        between=",",
    ),
    ox.QueryResultsFormat.TSV: Layout(
        delimited.tsv_head,
        delimited.tsv_cell,
        delimited.boolean,
        delimited.tsv_around,
        delimited.TSV_SPECIAL,
        last="\n",
        between="\t",
    ),
}
"""The formats by their constants of pyoxigraph, which have media types and file endings."""
