"""A report as a table of text, and as HTML: start at `report_text`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triplestore.notebook import parts
from triplestore.shacl.reports.severities import summary
from triplestore.sparql.results.fitted_table import padded, shortened, text_width

if TYPE_CHECKING:
    from triplestore.shacl.reports.report import ValidationReport

_COLUMNS = ("severity", "focus node", "path", "value", "message")
_WIDEST = 60


def report_text(report: ValidationReport, most: int) -> str:
    """The first results in a table, below one line about all of them."""
    lines = [summary(report.counts)]
    lines += [f"the shapes import <{iri}>, which was not found" for iri in report.missing_imports]
    shown = [result.shown() for result in report.first(most)]
    if shown:
        cells = [[_one_line(each[name]) for each in shown] for name in _COLUMNS]
        columns = [shortened(column, _WIDEST, "...") for column in cells]
        widths = [max(map(text_width, [n, *c])) for n, c in zip(_COLUMNS, columns, strict=True)]
        for row in (_COLUMNS, ["-" * width for width in widths], *zip(*columns, strict=True)):
            cut = [padded(cell, width) for cell, width in zip(row, widths, strict=True)]
            lines.append("  ".join(cut).rstrip())
    if len(report) > len(shown):
        lines.append(f"... and {len(report) - len(shown):,} more")
    return "\n".join(lines)


def _one_line(text: str) -> str:
    return text.replace("\n", "\\n")


def report_html(report: ValidationReport, most: int) -> str:
    """The same for notebooks."""
    shown = [result.shown() for result in report.first(most)]
    rows = [
        [parts.cell(parts.escape(each[name])) for name in (*_COLUMNS, "shape")] for each in shown
    ]
    html = [parts.line(summary(report.counts), "title" if report.conforms else "bad")]
    html += [
        parts.line(f"the shapes import <{iri}>, which was not found", "note")
        for iri in report.missing_imports
    ]
    if rows:
        html.append(parts.table((*_COLUMNS, "shape"), rows))
        html.append(parts.showing(len(rows), len(report), "result"))
    return parts.output(*html)
