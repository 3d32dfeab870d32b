"""When what was typed is complete, and whether it is a query, an update, rules or a command.

Start at `is_complete` and `kind_of`. Nothing is parsed here: strings, IRIs and comments are blanked
out, and what is left is looked at for brackets and the first word. The parsers say what is wrong.
"""

from __future__ import annotations

import re
from enum import Enum

QUERY_WORDS = ("SELECT", "ASK", "CONSTRUCT", "DESCRIBE")
UPDATE_WORDS = (
    "INSERT", "DELETE", "WITH", "LOAD", "CLEAR", "CREATE", "DROP", "COPY", "MOVE", "ADD",
)  # fmt: skip
_WITHOUT_BRACES = ("DESCRIBE", "LOAD", "CLEAR", "CREATE", "DROP", "COPY", "MOVE", "ADD")

_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"""|\Z)'
    r"|'''(?:[^\\]|\\.)*?(?:'''|\Z)"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'(?:[^'\\\n]|\\.)*'"
    r'|<[^<>"{}|^`\\\s]*>|#[^\n]*',
    re.DOTALL,
)
_PROLOG = re.compile(r"(?:\s*(?:@?prefix\s+[^\s:]*:\s*<>|@?base\s+<>)\s*\.?)*", re.IGNORECASE)
_PREFIX = re.compile(r"\s*@?prefix\s+([^\s:]*):\s*<([^<>\"{}|^`\\\s]*)>\s*\.?", re.IGNORECASE)
_WORD = re.compile(r"\s*([A-Za-z]+)(?![\w:\-])")
_RULE = re.compile(r"\s*(?:\[[^\]]*\]|[^\s\[\]]*:[^\s\[\]]*|<>)\s*\[|.*:-", re.DOTALL)


class Kind(Enum):
    """What a statement is."""

    EMPTY = "nothing"
    COMMAND = "a command"
    PREFIXES = "prefixes"
    QUERY = "a query"
    UPDATE = "an update"
    RULES = "rules"
    UNKNOWN = "unknown"


def kind_of(text: str) -> Kind:
    """What a statement is, by its first word.

    >>> kind_of("PREFIX : <http://e/> ASK {}"), kind_of(":a[?x] :- :b[?x] ."), kind_of(".help")
    (<Kind.QUERY: 'a query'>, <Kind.RULES: 'rules'>, <Kind.COMMAND: 'a command'>)
    """
    if text.lstrip().startswith("."):
        return Kind.COMMAND
    masked = _masked(text)
    prolog = _PROLOG.match(masked)
    rest = masked[prolog.end() :] if prolog else masked
    if not rest.strip(" \t\r\n;"):
        return Kind.PREFIXES if masked.strip(" \t\r\n;") else Kind.EMPTY
    word = first_word(text)
    if word in QUERY_WORDS:
        return Kind.QUERY
    if word in UPDATE_WORDS:
        return Kind.UPDATE
    return Kind.RULES if _RULE.match(rest) else Kind.UNKNOWN


def first_word(text: str) -> str:
    """The first word behind the prefixes, in capitals; empty if there is none."""
    masked = _masked(text)
    prolog = _PROLOG.match(masked)
    word = _WORD.match(masked, prolog.end() if prolog else 0)
    return word[1].upper() if word else ""


def is_complete(text: str) -> bool:
    """Whether a statement can be carried out, or more lines are needed.

    One line is complete if its brackets are. A statement of several lines ends with a semicolon or
    an empty line, because ORDER BY or LIMIT may follow; rules end with a full stop.

    >>> is_complete("SELECT * { ?s ?p ?o }"), is_complete("SELECT * {\\n?s ?p ?o }")
    (True, False)
    >>> is_complete("SELECT * {\\n?s ?p ?o }\\nLIMIT 5;")
    True
    """
    if open_brackets(text):
        return False
    kind = kind_of(text)
    if kind in (Kind.EMPTY, Kind.COMMAND, Kind.PREFIXES, Kind.UNKNOWN):
        return True
    masked = _masked(text).rstrip(" \t")
    if masked.endswith(";") or masked.endswith("\n"):
        return True
    if kind is Kind.RULES:
        return masked.rstrip().endswith(".")
    if "\n" in masked.strip():
        return False
    return "}" in masked or first_word(text) in _WITHOUT_BRACES


def open_brackets(text: str) -> int:
    """How many brackets are open at the end, and 1 for a long string."""
    depth = 0
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token[:3] in ('"""', "'''") and (len(token) < 6 or not token.endswith(token[:3])):
            return depth + 1
    for letter in _masked(text):
        depth += (letter in "({[") - (letter in ")}]")
    return max(0, depth)


def on_one_line(text: str) -> str:
    """A statement without comments and line ends, for the history."""
    without = _TOKEN.sub(lambda match: "" if match[0].startswith("#") else match[0], text)
    return " ".join(part for line in without.split("\n") if (part := line.strip()))


def prefixes_in(text: str) -> dict[str, str]:
    """The prefixes that a text declares at its beginning."""
    found = {}
    at = 0
    while match := _PREFIX.match(text, at):
        found[match[1]] = match[2]
        at = match.end()
    return found


def _masked(text: str) -> str:
    """The text with strings, IRIs and comments reduced to their marks."""
    return _TOKEN.sub(_mark, text)


def _mark(match: re.Match[str]) -> str:
    first = match[0][0]
    return {"<": "<>", "#": ""}.get(first, '""')
