"""Results read from any of the formats.

Start at `read_results`. XML, JSON and TSV are read by pyoxigraph, after checks of the text; CSV,
which does not record kinds of terms, is read as plain literals. Always true: a document
that is malformed or exceeds a limit raises `ParseError`.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple, cast

import pyoxigraph as ox

from triplestore.errors import ParseError, UsageError
from triplestore.operators.context import current
from triplestore.sparql.thresholds import SPARQL
from triplestore.terms.guards.document_limits import MOST_NESTED, TOO_DEEP, USUAL, check_depth
from triplestore.terms.guards.parser_guard import Feed, Guard, Json, TripleTerms, Xml

MOST_VARIABLES = 10_000
"""Maximum number of variables of a document: parsers compare each name with all others."""

_SHOWN = 300  # maximum length of a parser's message, which may quote the whole document
_Form = ox.QueryResultsFormat
VARIABLE = re.compile(rb"<(?:[^\s<>/:]*+:)?variable[\s/>]")
_TOO_MANY = f"expected at most {MOST_VARIABLES:,} variables"


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
    if form == _Form.CSV:
        return _read_csv(_text(data))
    document = data.encode(errors="surrogatepass") if isinstance(data, str) else data
    if _too_many_variables(document, form):
        raise ParseError(_TOO_MANY)
    try:
        feed = Feed(document, GUARDS[form](USUAL), current().check)
        # The parser of TSV would read a long term again with each piece.
        given = feed.whole() if form == _Form.TSV else feed
        found = ox.parse_query_results(cast(Any, given), form)
        if isinstance(found, ox.QueryBoolean):
            return bool(found)
        assert isinstance(found, ox.QuerySolutions)
        names = tuple(variable.value for variable in found.variables)
        rows = (tuple(solution) for solution in found)
        return ReadSolutions(names, list(_limited(rows, names, len(document))))
    except ParseError:
        raise
    except SyntaxError as error:
        message = str(error.msg)[:_SHOWN]
        raise ParseError(message, line=error.lineno, column=error.offset) from error
    except MemoryError as error:
        if "buffer maximal size" not in str(error):
            raise
        raise ParseError("expected terms of less than 16 MB") from error
    except ValueError as error:
        raise UsageError(str(error)) from error


class _JsonResults(Json):
    """The JSON format of results: depth, and the number of variables."""

    depth = 2 * MOST_NESTED + 10  # two for each triple term, and the levels around them
    key = "vars"
    most = MOST_VARIABLES
    what = "at most {:,} variables"


GUARDS: dict[ox.QueryResultsFormat, type[Guard]] = {
    _Form.JSON: _JsonResults,
    _Form.XML: Xml,
    _Form.TSV: TripleTerms,
}


def _too_many_variables(data: bytes, form: ox.QueryResultsFormat) -> bool:
    """Whether XML or TSV has too many variables; those of JSON are counted by `_JsonResults`."""
    if form == _Form.XML:
        return len(list(islice(VARIABLE.finditer(data), MOST_VARIABLES + 1))) > MOST_VARIABLES
    if form == _Form.TSV:
        line = data.find(b"\n")
        return data.count(b"\t", 0, line if line >= 0 else len(data)) >= MOST_VARIABLES
    return False


def _limited(
    rows: Iterable[tuple[Any, ...]], names: tuple[str, ...], length: int
) -> Iterator[tuple[Any, ...]]:
    """The rows; raises if they have many more cells than the document has bytes, or deep terms."""
    most = (length + SPARQL.unbound_cells) // max(1, len(names))
    for number, row in enumerate(rows):
        if number == most:
            raise ParseError(
                f"expected at most {most:,} rows of {len(names):,} variables in a document of "
                f"{length:,} bytes, most of them unbound"
            )
        for term in row:
            if isinstance(term, ox.Triple):
                require_depth(term)
        yield row


def require_depth(term: ox.Triple) -> None:
    """Raise ParseError if triple terms are nested too deep."""
    try:
        check_depth(term)
    except UsageError:
        raise ParseError(f"expected {TOO_DEEP}") from None


def _text(data: bytes | str) -> str:
    if isinstance(data, str):
        return data
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        raise ParseError(f"the document is not valid UTF-8: {error.reason}", line=line) from error


def _read_csv(text: str) -> ReadSolutions | bool:
    if text in ("true", "false"):  # the line of a variable with this name ends with a line break
        return text == "true"
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        names = tuple(name.removeprefix("?") for name in next(lines, []))
        if len(names) > MOST_VARIABLES:
            raise ParseError(_TOO_MANY)
        return ReadSolutions(names, list(_csv_rows(lines, names)))
    except csv.Error as error:
        raise ParseError(f"this is not valid CSV: {error}", line=lines.line_num) from error


def _csv_rows(lines: Any, names: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    for line in lines:
        current().check()
        cells = line or [""] * min(len(names), 1)  # an empty line is one empty cell, or none
        if len(cells) != len(names):
            message = f"a row of {len(cells)} cells under {len(names)} names"
            raise ParseError(message, line=lines.line_num)
        yield tuple(ox.Literal(cell) if cell else None for cell in cells)
