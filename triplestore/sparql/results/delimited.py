"""The CSV and TSV formats of results: https://www.w3.org/TR/sparql11-results-csv-tsv/

CSV has the texts of terms without their kinds; TSV has terms as in Turtle.

>>> csv_cell("x")(b"\\x03a, b"), tsv_cell("x")(b"\\x03a, b")
('"a, b"', '"a, b"')
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from triplestore.expressions.library.strings import split_string
from triplestore.terms.term_keys import BLANK, IRI, LANG, STRING, TRIPLE, TYPED, to_ntriples
from triplestore.terms.values.value_keys import split_typed
from triplestore.terms.vocabulary import XSD_DECIMAL, XSD_DOUBLE, XSD_INTEGER

CSV_SPECIAL = re.compile('[",\r\n]')
TSV_SPECIAL = re.compile('[<>"{}|^`\\\\\x00-\x1f\x7f]')
_NUMBERS = {
    XSD_INTEGER: re.compile(r"[+-]?[0-9]+"),
    XSD_DECIMAL: re.compile(r"[+-]?[0-9]*\.[0-9]+"),
    XSD_DOUBLE: re.compile(r"[+-]?(?:[0-9]+\.[0-9]*|\.?[0-9]+)[eE][+-]?[0-9]+"),
}


def boolean(value: bool) -> str:
    """The result of an ASK: one word, because neither format defines it."""
    return "true" if value else "false"


def csv_head(variables: Sequence[str]) -> str:
    """The line of the names."""
    return ",".join(variables) + "\r\n"


def csv_cell(variable: str) -> Callable[[bytes], str]:
    """A function that writes the terms of a column in CSV."""
    return _csv


def _csv(key: bytes) -> str:
    kind = key[0]
    if kind == TRIPLE:
        text = to_ntriples(key).decode()
    else:
        text = key[1:].decode()
        if kind == TYPED:
            text = split_typed(key[1:])[0]
        elif kind == LANG:
            text = split_string(key)[0]
        elif kind == BLANK:
            return f"_:{text}"
    if CSV_SPECIAL.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text


def csv_around(variable: str) -> dict[int, tuple[str, str]]:
    """The text before and after a term without special characters in CSV, by kind."""
    return {IRI: ("", ""), BLANK: ("_:", ""), STRING: ("", "")}


def tsv_head(variables: Sequence[str]) -> str:
    """The line of the names."""
    return "\t".join(f"?{name}" for name in variables) + "\n"


def tsv_cell(variable: str) -> Callable[[bytes], str]:
    """A function that writes the terms of a column in TSV."""
    return _tsv


def tsv_around(variable: str) -> dict[int, tuple[str, str]]:
    """The text before and after a term without special characters in TSV, by kind."""
    return {IRI: ("<", ">"), BLANK: ("_:", ""), STRING: ('"', '"')}


def _tsv(key: bytes) -> str:
    if key[0] == TYPED:
        lexical, datatype = split_typed(key[1:])
        number = _NUMBERS.get(datatype)
        if number is not None and number.fullmatch(lexical):
            return lexical
    return to_ntriples(key).decode()  # which escapes tabs
