"""Changes and inconsistencies as HTML for notebooks.

Start reading at `change_html` (counts of a commit), `difference_html` (the quads of an open
transaction) or `inconsistencies_html`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from itertools import islice
from typing import TYPE_CHECKING

from triplestore.notebook.parts import (
    cell,
    escape,
    figures,
    folded,
    line,
    output,
    showing,
    table,
)
from triplestore.notebook.terms import MAX_ROWS, TermWriter, quads_table

if TYPE_CHECKING:
    from triplestore.reasoning.difference import Difference, RowsChanged
    from triplestore.reasoning.outcome import Change
    from triplestore.reasoning.violations import Inconsistencies, Violation

_NO_FIGURES = ("problems", "commit")
MAX_OF_EACH = 5
"""Maximum number of violations of each constraint that are shown."""


def change_html(change: Change) -> str:
    """The counts that are not zero, and the malformed statements that were skipped."""
    counts = [
        (item.name.replace("_", " "), f"{value:,}")
        for item in fields(change)
        if item.name not in _NO_FIGURES and (value := getattr(change, item.name))
    ]
    parts = [figures(counts) if counts else line("nothing changed")]
    if change.commit:
        parts.append(line(f"commit {change.commit:,}", "note"))
    parts += [line(problem, "bad") for problem in change.problems]
    return output(*parts)


def difference_html(difference: Difference, prefixes: Mapping[str, str]) -> str:
    """The first quads of each kind."""
    parts = []
    for name, quads in (
        ("added", difference.added),
        ("removed", difference.removed),
        ("removed, but still inferred", difference.still_entailed),
        ("inferred", difference.inferred_added),
        ("no longer inferred", difference.inferred_removed),
    ):
        if len(quads):
            title = f"{name}: {len(quads):,}"
            html = quads_table(quads, len(quads), prefixes)
            parts.append(folded(title, html, unfolded=True))
    for name, rows in (
        ("rows of relations added", difference.rows_added),
        ("rows of relations removed", difference.rows_removed),
    ):
        if len(rows):
            parts.append(folded(f"{name}: {len(rows):,}", _rows(rows, prefixes)))
    if difference.new_violations:
        count = len(difference.new_violations)
        html = _violations(difference.new_violations, count, prefixes, MAX_ROWS)
        parts.append(folded(f"new violations: {count:,}", html, unfolded=True))
    for name, results in (
        ("new results of shapes", difference.results_added),
        ("results of shapes removed", difference.results_removed),
    ):
        if len(results):
            listed = "".join(map(line, islice(results, MAX_ROWS)))
            shown = listed + showing(min(len(results), MAX_ROWS), len(results), "result")
            parts.append(folded(f"{name}: {len(results):,}", shown, unfolded=True))
    return output(*parts or [line("nothing changed")])


def inconsistencies_html(found: Inconsistencies, prefixes: Mapping[str, str]) -> str:
    """The violations by constraint, and some of each."""
    parts = []
    for name, count in sorted(found.counts.items()):
        listed = [one for one in found.listed if one.constraint == name]
        html = _violations(listed, count, prefixes, MAX_OF_EACH)
        parts.append(folded(f"{name}: {count:,}", html, unfolded=True))
    return output(*parts or [line("no inconsistencies")])


def _rows(rows: RowsChanged, prefixes: Mapping[str, str]) -> str:
    writer = TermWriter(prefixes)
    shown = [[writer.cell(term) for term in row] for row in islice(rows, MAX_ROWS)]
    return table([], shown) + showing(len(shown), len(rows), "row")


def _violations(
    violations: Iterable[Violation], total: int, prefixes: Mapping[str, str], most: int
) -> str:
    writer, rows = TermWriter(prefixes), []
    for one in islice(violations, most):
        values = ", ".join(
            f"{escape(f'?{name} = ')}{writer.html(term)}" for name, term in one.values.items()
        )
        rows.append([cell(escape(one.constraint)), cell(escape(one.message)), cell(values)])
    head = ["constraint", "message", "values"]
    return table(head, rows) + showing(len(rows), total, "violation")
