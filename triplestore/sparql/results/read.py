"""Results read from any of the formats.

Start at `read_results`. XML, JSON and TSV are read by pyoxigraph; CSV, which does not say what its
texts are, gives plain literals. What is always true: a document that is malformed raises
`ParseError`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyoxigraph as ox

from triplestore.errors import ParseError, UsageError


class ReadSolutions(NamedTuple):
    """Solutions: the names of the variables, and their terms row by row, None if unbound."""

    variables: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def read_results(data: bytes | str, form: ox.QueryResultsFormat) -> ReadSolutions | bool:
    """The solutions of a SELECT or the answer of an ASK that a document holds.

    >>> found = read_results("?x\\t?y\\n<http://e/a>\\t\\n", ox.QueryResultsFormat.TSV)
    >>> found.variables, found.rows
    (('x', 'y'), [(<NamedNode value=http://e/a>, None)])
    >>> read_results('{"head": {}, "boolean": true}', ox.QueryResultsFormat.JSON)
    True
    """
    if form == ox.QueryResultsFormat.CSV:
        return _read_csv(data.decode() if isinstance(data, bytes) else data)
    try:
        found = ox.parse_query_results(data, form)
        if isinstance(found, ox.QueryBoolean):
            return bool(found)
        assert isinstance(found, ox.QuerySolutions)
        names = tuple(variable.value for variable in found.variables)
        return ReadSolutions(names, [tuple(solution) for solution in found])
    except SyntaxError as error:
        raise ParseError(str(error.msg), line=error.lineno, column=error.offset) from error
    except ValueError as error:
        raise UsageError(str(error)) from error


def _read_csv(text: str) -> ReadSolutions | bool:
    if text in ("true", "false"):  # the line of a variable of this name has an end
        return text == "true"
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        names = tuple(name.removeprefix("?") for name in next(lines, []))
        return ReadSolutions(names, list(_csv_rows(lines, names)))
    except csv.Error as error:
        raise ParseError(f"this is no CSV: {error}", line=lines.line_num) from error


def _csv_rows(lines: Any, names: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    for line in lines:
        cells = line or [""] * min(len(names), 1)  # an empty line is one empty cell, or none
        if len(cells) != len(names):
            message = f"a row of {len(cells)} cells under {len(names)} names"
            raise ParseError(message, line=lines.line_num)
        yield tuple(ox.Literal(cell) if cell else None for cell in cells)
