"""The tool `query`: a SPARQL query within limits, as a table for a model."""

from __future__ import annotations

import threading
from itertools import islice
from typing import TYPE_CHECKING, Any

from triplestore.errors import UsageError
from triplestore.mcp_server.answers import Answer, fitting, joined, table_lines
from triplestore.sparql.results.solutions import Triples

if TYPE_CHECKING:
    from triplestore.mcp_server.session import AgentSession, Reading
    from triplestore.mcp_server.short_names import ShortNames
    from triplestore.sparql.results.solutions import Solutions

FACTS = {"all": "all", "asserted": "explicit", "inferred": "inferred"}

_CELL = 300
"""Maximum number of characters of a value in a table of several rows."""


def answer_query(
    session: AgentSession,
    reading: Reading,
    cancel: threading.Event,
    *,
    query: str,
    limit: int,
    offset: int,
    facts: str,
    timeout: float | None,
) -> Answer:
    """The answer of one query."""
    if facts not in FACTS:
        raise UsageError(f"facts must be one of {', '.join(FACTS)}, not {facts!r}")
    if limit < 1 or offset < 0:
        raise UsageError("limit must be at least 1, and offset at least 0")
    names = reading.names()
    found = reading.snapshot.query(
        query,
        facts=FACTS[facts],
        prefixes=names.prefixes,
        timeout=session.seconds(timeout),
        budget=session.settings.memory,
        cancel=cancel,
    )
    if isinstance(found, bool):
        data = {"kind": "boolean", "boolean": found, "commit": reading.snapshot.commit}
        return Answer(str(found).lower(), data)
    most = min(limit, session.settings.rows)
    if isinstance(found, Triples):
        return _triples(session, reading, names, found, most, offset)
    return _rows(session, reading, names, found, most, offset)


def _rows(
    session: AgentSession,
    reading: Reading,
    names: ShortNames,
    found: Solutions,
    most: int,
    offset: int,
) -> Answer:
    rows = found.page(offset, most + 1)
    more, rows = len(rows) > most, rows[:most]
    cell = session.settings.characters // 2 if len(rows) == 1 else _CELL
    texts = [[names.text(term, cell) for term in row] for row in rows]
    lines = table_lines([f"?{name}" for name in found.variables], texts)
    advice = [] if rows else found.advice()
    data: dict[str, Any] = {
        "kind": "rows",
        "columns": list(found.variables),
        "advice": advice,
        "commit": reading.snapshot.commit,
    }
    made = _finished(session, names, lines, texts, more, offset, "row")
    if advice:
        made.text = joined(made.text, *(f"hint: {text}" for text in advice))
    return Answer(made.text, {**data, **made.data})


def _triples(
    session: AgentSession,
    reading: Reading,
    names: ShortNames,
    found: Triples,
    most: int,
    offset: int,
) -> Answer:
    triples = list(islice(found, offset, offset + most + 1))
    more, triples = len(triples) > most, triples[:most]
    texts = [
        [names.text(term, _CELL) for term in (triple.subject, triple.predicate, triple.object)]
        for triple in triples
    ]
    lines = ["subject predicate object", *(f"{' '.join(row)} ." for row in texts)]
    data = {
        "kind": "triples",
        "columns": ["subject", "predicate", "object"],
        "commit": reading.snapshot.commit,
    }
    made = _finished(session, names, lines, texts, more, offset, "triple")
    return Answer(made.text, {**data, **made.data})


def _finished(
    session: AgentSession,
    names: ShortNames,
    lines: list[str],
    texts: list[list[str]],
    more: bool,
    offset: int,
    what: str,
) -> Answer:
    """The table cut to its size, with what was left out."""
    shown, whole = fitting(lines, session.settings.characters)
    count = len(shown) - 1
    more = more or not whole
    texts = texts[:count]
    plural = what if count == 1 else f"{what}s"
    said = f"{count:,} {plural}"
    if offset:
        said += f" from {offset:,} on"
    if more:
        said += (
            f"; there are more: call again with offset={offset + count}"
            + (f" and a higher limit (at most {session.settings.rows:,})" if whole else "")
            + ", or count and group them in the query"
        )
    if any(text.endswith(" […]") for row in texts for text in row):
        said += "; long values are cut: ask for one row alone to see its values whole"
    data = {"rows": texts, "count": count, "more": more, "offset": offset, "prefixes": names.used}
    return Answer(joined(names.header(), *shown, f"({said})"), data)
