"""Reports of comparisons in several formats: start at `report_of`."""

from __future__ import annotations

from collections.abc import Callable

from triplestore.comparison.findings import Findings
from triplestore.comparison.reports.html_report import html_report
from triplestore.comparison.reports.json_report import json_report
from triplestore.comparison.reports.markdown_report import markdown_report
from triplestore.comparison.reports.sarif_report import sarif_report
from triplestore.comparison.reports.text_report import text_report
from triplestore.errors import UsageError

STYLES: dict[str, Callable[[Findings], str]] = {
    "text": text_report,
    "markdown": markdown_report,
    "json": json_report,
    "sarif": sarif_report,
    "html": html_report,
}
"""All formats by name."""


def report_of(found: Findings, style: str) -> str:
    """The report in a format."""
    try:
        return STYLES[style](found)
    except KeyError:
        raise UsageError(f"{style!r} is not a report; use one of: {', '.join(STYLES)}") from None
