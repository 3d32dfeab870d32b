"""Solutions as a table of text, for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from triplestore.expressions.text.expression_printer import Namer
from triplestore.expressions.tree import Constant
from triplestore.sparql.results.fitted_table import padded, shortened, text_width

_WIDEST = 60


def text_table(
    variables: Sequence[str],
    rows: Sequence[Sequence[Any]],
    total: int,
    prefixes: Mapping[str, str],
) -> str:
    """A table with a heading, and a line for the number of rows that are not given.

    >>> import pyoxigraph as ox
    >>> print(text_table(["x", "n"], [[ox.NamedNode("http://e/a"), ox.Literal(5)]], 3, {}))
    ?x            ?n
    ------------  --
    <http://e/a>  5
    ... and 2 more
    """
    namer = Namer(dict(prefixes))
    names = [f"?{name}" for name in variables]
    cells = [[_text(value, namer) for value in row] for row in rows]
    columns = [shortened(column, _WIDEST, "...") for column in zip(*cells, strict=True)]
    columns = columns or [[] for _ in names]
    widths = [max(map(text_width, [name, *c])) for name, c in zip(names, columns, strict=True)]
    lines = [
        "  ".join(padded(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (names, ["-" * width for width in widths], *zip(*columns, strict=True))
    ]
    lines += [""] * (len(rows) if not names else 0)
    if total > len(rows):
        lines.append(f"... and {total - len(rows):,} more")
    return "\n".join(lines)


def _text(value: Any, namer: Namer) -> str:
    if value is None:
        return ""
    return str(namer.term(Constant.of(value))).replace("\n", "\\n")
