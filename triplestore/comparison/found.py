"""The result of a comparison, with its reports: start at `Found`."""

from __future__ import annotations

from dataclasses import replace

from triplestore.comparison.findings import Findings
from triplestore.comparison.reports import report_of
from triplestore.comparison.reports.text_report import text_report
from triplestore.data_classes import data_class


@data_class(repr=False)
class Found(Findings):
    """What lies between two states; true if anything changed, and prints as a report.

    >>> from triplestore.comparison import diff
    >>> from triplestore import Store
    >>> print(diff(Store(), Store()))
    no triples changed: no inferences
    """

    def timed(self, seconds: float) -> Found:
        """The same with the time that it took."""
        return replace(self, seconds=seconds)

    def __str__(self) -> str:
        return text_report(self)

    def __repr__(self) -> str:
        counts = ", ".join(f"{name} {count:,}" for name, count in self.metrics.items() if count)
        return f"<changes: {counts or 'none'}>"

    def report(self, style: str = "text") -> str:
        """The report as "text", "markdown", "json", "sarif" or "html"."""
        return report_of(self, style)
