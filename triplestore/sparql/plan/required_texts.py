"""What a filter requires of the texts that pass it: start at `required_texts`.

    CONTAINS(?l, "panel") && REGEX(?l, "^sol(ar|id) pan")   requires "panel" and " pan" of ?l

Always true: a string that passes the filter contains each of the texts, if case is ignored as
`str.lower` does for ASCII; a value that is not a string does not pass. Where that cannot be said,
nothing is required.
"""

from __future__ import annotations

import re

from triplestore.expressions.tree import Call, Constant, Expression, Variable
from triplestore.terms.term_keys import LANG, STRING

LEAST = 3
"""Shorter texts are not looked for."""

_PLAIN = ("CONTAINS", "STRSTARTS", "STRENDS")
_QUANTIFIERS = frozenset("?*{")
_FOLDED = re.compile("[^\x00-\x7f]|[sSkK]")
"""Characters that also match others, of which they are not the small letters, if case is ignored:
`s` matches the long s."""
_LOWERED = re.compile("[^\x00-\x7f]|[iIkK]")
"""Characters that LCASE also makes of others, with marks behind them: of a capital I with a dot."""
_ESCAPED = frozenset(r"\|.?*+(){}[]^$-")


def is_about_texts(condition: Expression) -> bool:
    """Whether a filter is of a kind that may require texts."""
    return isinstance(condition, Call) and condition.function in (*_PLAIN, "REGEX")


def required_texts(condition: Expression) -> tuple[str, list[str]] | None:
    """A variable, and texts that its value contains if the condition holds; None if there are none.

    >>> required_texts(Call("CONTAINS", (Variable("l"), Constant(b"\\x03panel"))))
    ('l', ['panel'])
    """
    if not isinstance(condition, Call) or len(condition.arguments) < 2:
        return None
    subject, given, *rest = condition.arguments
    text = _text(given)
    if text is None:
        return None
    lowered = isinstance(subject, Call) and subject.function == "LCASE"
    if isinstance(subject, Call) and lowered:
        subject = subject.arguments[0]
    if not isinstance(subject, Variable):
        return None
    if condition.function in _PLAIN:
        runs = [text]
    elif condition.function == "REGEX":
        flags = _text(rest[0]) if rest else ""
        if flags is None or not set(flags) <= set("ims"):
            return None
        runs = literal_runs(text)
        if "i" in flags:
            runs = _split(runs, _FOLDED)
    else:
        return None
    if lowered:
        runs = _split(runs, _LOWERED)
    found = [run for run in runs if len(run) >= LEAST]
    return (subject.name, found) if found else None


def _text(given: Expression) -> str | None:
    """The text of a constant string."""
    if not isinstance(given, Constant) or given.kind not in (STRING, LANG):
        return None
    raw = given.key[1:]
    return (raw.rpartition(b'"@')[0] if given.kind == LANG else raw).decode()


def _split(runs: list[str], at: re.Pattern[str]) -> list[str]:
    return [part for run in runs for part in at.split(run)]


def literal_runs(pattern: str) -> list[str]:
    """Texts that everything that matches a regular expression contains; none if in doubt.

    >>> literal_runs(r"^ab+c(d|e)fgh?\\.i[jk]l")
    ['ab', 'c', 'fg', '.i', 'l']
    >>> literal_runs("ab|cd")
    []
    """
    runs, at = [""], 0
    while at < len(pattern):
        one, two = pattern[at], pattern[at : at + 2]
        if one == "|":
            return []  # either side
        if one in "([":
            at = _behind(pattern, at)
            if not at:
                return []
            runs.append("")
        elif one == "\\" and two[1:] in _ESCAPED:
            runs[-1] += two[1:]
            at += 2
        elif one == "\\":
            at = pattern.find("}", at) + 1 or len(pattern) if two in ("\\p", "\\P") else at + 2
            runs.append("")
        elif one in _QUANTIFIERS:
            runs[-1] = runs[-1][:-1]
            runs.append("")
            at = pattern.find("}", at) + 1 or len(pattern) if one == "{" else at + 1
        elif one in ".^$+":
            runs.append("")
            at += 1
        elif one in ")]}":
            return []
        else:
            runs[-1] += one
            at += 1
    return [run for run in runs if run]


def _behind(pattern: str, at: int) -> int:
    """The place behind a group or a class that begins here; 0 if it is not a plain one."""
    if pattern[at] == "[":
        return _behind_class(pattern, at)
    if pattern[at + 1 : at + 2] == "?" and pattern[at + 2 : at + 3] != ":":
        return 0
    at += 1
    while at < len(pattern):
        one = pattern[at]
        if one == ")":
            return at + 1
        if one in "([":
            at = _behind(pattern, at)
            if not at:
                return 0
        else:
            at += 2 if one == "\\" else 1
    return 0


def _behind_class(pattern: str, at: int) -> int:
    start = at + 1 + (pattern[at + 1 : at + 2] == "^")
    if pattern[start : start + 1] in ("]", ""):
        return 0
    at = start
    while at < len(pattern):
        one = pattern[at]
        if one == "]":
            return at + 1
        if one == "[":
            at = _behind_class(pattern, at)
            if not at:
                return 0
        else:
            at += 2 if one == "\\" else 1
    return 0
