"""Delimited text: read as text, with the datatype of each column guessed from all of its cells.

Cells are read as Turtle reads them: `42` is an xsd:integer, `1.5` an xsd:decimal, `1e3` an
xsd:double, and true, false, dates and times are what they look like. A column has such a datatype
if all of its cells are written so; otherwise it is a column of strings. `007` and `+49 30 1234`
are strings. The text stays as it is in the file. Start at `read_csv` and `guessed`.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from triplestore.data_classes import data_class
from triplestore.errors import ParseError, UsageError
from triplestore.terms.vocabulary import XSD

_INTEGER = r"-?(0|[1-9][0-9]*)"
_DECIMAL = rf"(-?\.[0-9]+|{_INTEGER}(\.[0-9]+)?)"
_DATE = r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_ZONE = r"(Z|[+-][0-9]{2}:[0-9]{2})?"
#: In this order: the first one that all cells have.
_GUESSES = {
    XSD + "integer": _INTEGER,
    XSD + "decimal": _DECIMAL,
    XSD + "double": rf"{_DECIMAL}([eE][+-]?[0-9]+)?",
    XSD + "boolean": "true|false",
    XSD + "date": _DATE,
    XSD + "dateTime": rf"{_DATE}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?{_ZONE}",
}
_LOOKED_AT = 20
"""Number of cells that rule out most datatypes, before whole columns are looked at."""

_BLOCK = 1 << 23
"""Maximum bytes of a row."""


@data_class
class CsvOptions:
    """How delimited text is written.

    delimiter : what stands between the cells; None for what the file's name says
    null_values : the texts of cells that have no value
    """

    delimiter: str | None = None
    null_values: Collection[str] = ("",)
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise UsageError(
                f"the delimiter is one character such as ',' or ';', not {self.delimiter!r}"
            )
        try:
            codecs.lookup(self.encoding)
        except LookupError:
            raise UsageError(
                f"no encoding is called {self.encoding!r}; give for example utf-8, latin-1 or "
                "cp1252"
            ) from None
        if isinstance(self.null_values, str):
            raise UsageError("null_values is a list of texts, such as ['', 'NA']")


def csv_names(path: Path, delimiter: str, options: CsvOptions) -> list[str]:
    """The names of the columns, from the first line."""
    import pyarrow as pa
    from pyarrow import csv

    reading, parsing = _options(delimiter, options)
    try:
        with csv.open_csv(path, read_options=reading, parse_options=parsing) as opened:
            return list(opened.schema.names)
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise _fault(path, error) from None


def read_csv(path: Path, delimiter: str, columns: Sequence[str], options: CsvOptions) -> Any:
    """Some columns of a file as a table of strings."""
    import pyarrow as pa
    from pyarrow import csv

    converting = csv.ConvertOptions(
        column_types={name: pa.string() for name in columns},
        include_columns=list(columns),
        null_values=list(options.null_values),
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    reading, parsing = _options(delimiter, options)
    try:
        return csv.read_csv(path, reading, parsing, converting)
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise _fault(path, error) from None


def guessed(cells: Any) -> str | None:
    """The datatype of a column; None for strings, and where all cells are null.

    >>> import pyarrow as pa
    >>> guessed(pa.chunked_array([["1", None, "2.5"]]))
    'http://www.w3.org/2001/XMLSchema#decimal'
    >>> guessed(pa.chunked_array([["1", "007"]]))
    """
    import pyarrow.compute as pc

    some = cells.slice(0, 50 * _LOOKED_AT).drop_null().slice(0, _LOOKED_AT).to_pylist()
    for datatype, pattern in _GUESSES.items():
        if not all(re.fullmatch(pattern, text) for text in some):
            continue
        fits = pc.match_substring_regex(cells, f"^({pattern})$")
        if cells.null_count < len(cells) and pc.all(fits).as_py():
            return datatype
    return None


def _options(delimiter: str, options: CsvOptions) -> tuple[Any, Any]:
    """How the text is read, and how its lines are parsed."""
    from pyarrow import csv

    return (
        csv.ReadOptions(block_size=_BLOCK, encoding=options.encoding),
        csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
    )


def _fault(path: Path, error: Exception) -> ParseError:
    message = str(error)
    if "invalid UTF8" in message or isinstance(error, UnicodeDecodeError):
        message += "; name its encoding, for example encoding='latin-1'"
    return ParseError(f"malformed CSV: {message}", filename=str(path))
