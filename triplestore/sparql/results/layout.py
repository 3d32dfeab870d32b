"""What a format of results looks like, as data: start at `Layout` and `LAYOUTS`.

A result is a head, rows of cells, and an end. What is always true: a cell is a text that depends on
its column and its term only, so that it is made once for each different term; rows are made of
cells by joining texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pyoxigraph as ox

from triplestore.sparql.results import delimited, json, xml

Cell: TypeAlias = Callable[[bytes], str]
"""The text of a term, which is given as its key."""

Around: TypeAlias = Mapping[int, tuple[str, str]]
"""Kind of term -> what its cell has before and behind the term's text."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a format is written.

    head, end    what is before and behind the rows; the head is made from the names of variables
    cell         makes, for the name of a variable, what writes its cells
    first, last  what a row begins and ends with
    between      what stands between two cells
    rows         what stands between two rows
    gaps         True if an unbound value is an empty cell, False if it is none
    boolean      the whole result of an ASK
    around       makes, for the name of a variable, what a cell has before and behind the text of a
                 term, for kinds of terms that are written as they are unless `special` finds
                 something in the text
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
"""The formats by their names in pyoxigraph, which know their media types and file endings."""
