"""Keywords, functions and prefixes by the place where they may stand: start at `words_for`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from triplestore.browse.query_page.place_in_query import CLAUSE, END, EXPRESSION, PREDICATE, SUBJECT
from triplestore.expressions.functions import AGGREGATES, FUNCTIONS, SWRL_FUNCTIONS

_CLAUSES = (
    *("SELECT", "SELECT DISTINCT", "CONSTRUCT", "ASK", "DESCRIBE", "PREFIX", "BASE"),
    *("DISTINCT", "REDUCED", "FROM", "FROM NAMED", "WHERE", "GROUP BY", "HAVING", "ORDER BY"),
    *("ASC", "DESC", "LIMIT", "OFFSET", "VALUES", "INSERT DATA", "DELETE DATA", "INSERT"),
    *("DELETE", "DELETE WHERE", "WITH", "USING", "USING NAMED", "LOAD", "CLEAR", "CREATE"),
    *("DROP", "ADD", "MOVE", "COPY", "SILENT", "INTO", "TO", "AS"),
)
_PATTERNS = (
    *("OPTIONAL", "FILTER", "FILTER NOT EXISTS", "FILTER EXISTS", "BIND", "UNION", "MINUS"),
    *("GRAPH", "VALUES", "SERVICE", "SELECT"),
)
_IN_EXPRESSIONS = ("EXISTS", "NOT EXISTS", "IN", "NOT IN", "AS", "DISTINCT", "TRUE", "FALSE")
_SOME_FUNCTIONS = sorted(set(FUNCTIONS) - set(SWRL_FUNCTIONS))

_WORDS: dict[str, tuple[str, ...]] = {
    CLAUSE: _CLAUSES,
    SUBJECT: _PATTERNS,
    END: _PATTERNS,
    PREDICATE: ("a",),
    EXPRESSION: _IN_EXPRESSIONS,
}


def words_for(role: str, typed: str) -> Iterator[dict[str, Any]]:
    """The keywords and functions that begin with a text.

    >>> [word["insert"] for word in words_for("expression", "strle")]
    ['STRLEN(']
    """
    start = typed.upper()
    for word in _WORDS.get(role, ()):
        if word.upper().startswith(start):
            yield {"insert": word, "label": word, "kind": "keyword"}
    if role in (EXPRESSION, CLAUSE) and typed:
        for name in (*(name.upper() for name in AGGREGATES), *_SOME_FUNCTIONS):
            if name.upper().startswith(start):
                yield {"insert": f"{name}(", "label": name, "kind": "function"}


def prefixes_for(typed: str, known: Mapping[str, str]) -> list[dict[str, Any]]:
    """The declarations of prefixes that begin with a text, after the word PREFIX.

    >>> prefixes_for("fo", {"foaf": "http://xmlns.com/foaf/0.1/"})[0]["insert"]
    'foaf: <http://xmlns.com/foaf/0.1/>'
    """
    start = typed.partition(":")[0].lower()
    return [
        {
            "insert": f"{prefix}: <{namespace}>",
            "label": f"{prefix}:",
            "detail": namespace,
            "kind": "prefix",
        }
        for prefix, namespace in sorted(known.items())
        if prefix.lower().startswith(start)
    ]
