"""Errors as answers that help a model to mend what it asked: start at `problem_answer`."""

from __future__ import annotations

from typing import Any

from triplestore.errors import (
    BudgetError,
    CancelledError,
    ConflictError,
    LockedError,
    ParseError,
    ProgramError,
    QuerySyntaxError,
    TimeLimitError,
    TripleStoreError,
)
from triplestore.mcp_server.answers import Answer, joined
from triplestore.mcp_server.short_names import ShortNames

_HINTS: tuple[tuple[type[TripleStoreError], str], ...] = (
    (
        TimeLimitError,
        "ask for less: in a query add LIMIT, begin with the most selective pattern, avoid patterns "
        "without a variable in common; or give a higher `timeout` if it was lowered",
    ),
    (
        BudgetError,
        "ask for less: count with COUNT, aggregate, or split the question into several queries",
    ),
    (CancelledError, "the call was stopped before it ended; nothing was changed"),
    (ConflictError, "call preview_update again, and pass its commit"),
    (LockedError, "somewhere else a change is being made: try again in some seconds"),
)


def problem_answer(error: TripleStoreError, names: ShortNames, source: str = "") -> Answer:
    """An error as an answer: what is wrong, where, and what to do.

    >>> from triplestore import Store
    >>> query = "SELECT ?x { ?x exx:knows ?y }"
    >>> try:
    ...     Store().query(query)
    ... except TripleStoreError as error:
    ...     print(problem_answer(error, ShortNames({"ex": "http://ex.org/"}), query).text)
    line 1, column 16: unknown prefix 'exx:'; declare it: PREFIX exx: <...>
      SELECT ?x { ?x exx:knows ?y }
                     ^
    hint: these prefixes are known and need no declaration: ex, owl, rdf, rdfs, skos, xsd
    """
    problems = _problems(error)
    hint = next((text for kind, text in _HINTS if isinstance(error, kind)), None)
    if any("prefix" in problem["message"] for problem in problems):
        listed = ", ".join(sorted(name or "(the empty one)" for name in names.prefixes))
        hint = f"these prefixes are known and need no declaration: {listed}"
    lines = source.splitlines()
    text = joined(
        *(_shown(problem, lines) for problem in problems),
        f"hint: {hint}" if hint else None,
    )
    data: dict[str, Any] = {"error": {**problems[0], "hint": hint, "problems": problems}}
    return Answer(text, data, is_error=True)


def _problems(error: TripleStoreError) -> list[dict[str, Any]]:
    """Each problem with its message, and with its place if it has one."""
    if isinstance(error, (QuerySyntaxError, ProgramError)) and error.problems:
        return [
            {
                "message": str(getattr(problem, "message", problem)),
                "line": getattr(problem, "line", None),
                "column": getattr(problem, "column", None),
            }
            for problem in error.problems
        ]
    if isinstance(error, ParseError):
        return [{"message": error.msg, "line": error.lineno, "column": error.offset}]
    return [{"message": str(error), "line": None, "column": None}]


def _shown(problem: dict[str, Any], lines: list[str]) -> str:
    line, column = problem["line"], problem["column"]
    if line is None:
        return str(problem["message"])
    text = f"line {line}, column {column}: {problem['message']}"
    if not 0 < line <= len(lines):
        return text
    source = lines[line - 1].replace("\t", " ")
    # Long lines are cut around the place.
    start = max(0, (column or 1) - 60)
    shown = source[start : start + 120]
    caret = " " * ((column or 1) - 1 - start) + "^"
    return f"{text}\n  {shown}\n  {caret}"
