"""Lines of N-Triples for the generators."""

from __future__ import annotations

XSD = "http://www.w3.org/2001/XMLSchema#"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"


def text(value: str) -> str:
    """A literal of a text that has nothing to escape."""
    return f'"{value}"'


def number(value: float) -> str:
    """An integer or a decimal.

    >>> number(3), number(2.5)
    ('"3"^^<http://www.w3.org/2001/XMLSchema#integer>', \
'"2.5"^^<http://www.w3.org/2001/XMLSchema#decimal>')
    """
    kind = "integer" if isinstance(value, int) else "decimal"
    return f'"{value}"^^<{XSD}{kind}>'


def date(day: int) -> str:
    """A date, this many days (of months of 28) after 1 January 2008."""
    year, rest = divmod(day, 12 * 28)
    return f'"{2008 + year}-{rest // 28 + 1:02}-{rest % 28 + 1:02}"^^<{XSD}date>'
