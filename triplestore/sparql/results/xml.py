"""The XML format of results: https://www.w3.org/TR/rdf-sparql-XMLres/, with triple terms and base
directions as SPARQL 1.2 has them.

>>> cell("x")(b"\\x03a < b")
'<binding name="x"><literal>a &lt; b</literal></binding>'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from triplestore.errors import UsageError
from triplestore.expressions.compare_terms import parts_of_triple
from triplestore.expressions.library.strings import split_string
from triplestore.terms.term_keys import BLANK, IRI, LANG, STRING, TYPED
from triplestore.terms.values.value_keys import split_typed

END = "</results>\n</sparql>\n"

_START = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<sparql xmlns="http://www.w3.org/2005/sparql-results#"'
    ' xmlns:its="http://www.w3.org/2005/11/its" its:version="2.0">\n'
)
# Blanks at the ends are written as numbers because some readers trim texts (pyoxigraph does).
SPECIAL = re.compile('[&<>"\r\n\t]|^ | $|[^\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]')
_NAMED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}


def head(variables: Sequence[str]) -> str:
    """The text before the solutions."""
    names = "".join(f'<variable name="{_escaped(name)}"/>' for name in variables)
    return f"{_START}<head>{names}</head>\n<results>\n"


def boolean(value: bool) -> str:
    """The result of an ASK."""
    return f"{_START}<head></head>\n<boolean>{'true' if value else 'false'}</boolean>\n</sparql>\n"


def cell(variable: str) -> Callable[[bytes], str]:
    """A function that writes the terms of a column; it refuses characters that XML cannot have."""
    start = f'<binding name="{_escaped(variable)}">'
    return lambda key: f"{start}{_term(key)}</binding>"


def around(variable: str) -> dict[int, tuple[str, str]]:
    """The text before and after a term without special characters, by kind."""
    start, end = f'<binding name="{_escaped(variable)}">', "</binding>"
    return {
        IRI: (f"{start}<uri>", f"</uri>{end}"),
        BLANK: (f"{start}<bnode>", f"</bnode>{end}"),
    }


def _term(key: bytes) -> str:
    kind, text = key[0], key[1:].decode()
    if kind == IRI:
        return f"<uri>{_escaped(text)}</uri>"
    if kind == BLANK:
        return f"<bnode>{_escaped(text)}</bnode>"
    if kind == STRING:
        return f"<literal>{_escaped(text)}</literal>"
    if kind == TYPED:
        lexical, datatype = split_typed(key[1:])
        return f'<literal datatype="{_escaped(datatype)}">{_escaped(lexical)}</literal>'
    if kind == LANG:
        lexical, tag = split_string(key)
        language, _, way = tag.decode().partition("--")
        direction = f' its:dir="{way}"' if way else ""
        return f'<literal xml:lang="{language}"{direction}>{_escaped(lexical)}</literal>'
    names = ("subject", "predicate", "object")
    parts = zip(names, parts_of_triple(key), strict=True)
    return f"<triple>{''.join(f'<{name}>{_term(part)}</{name}>' for name, part in parts)}</triple>"


def _escaped(text: str) -> str:
    return SPECIAL.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    found = match[0]
    if found in _NAMED:
        return _NAMED[found]
    if found in " \r\n\t":
        return f"&#{ord(found)};"
    raise UsageError(f"XML cannot represent the character U+{ord(found):04X}; use JSON, CSV or TSV")
