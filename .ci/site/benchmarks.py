"""Reports of benches on the site: as pages, and as parts of other pages.

A page says `{{ table REPORT, HEADING }}`, `{{ date REPORT }}` or `{{ picture NAME }}` (without
`.svg`), on a line or in one. Numbers are never written by hand.
"""

from __future__ import annotations

import re
from pathlib import Path

_PLACE = re.compile(r"\{\{ (table|date|picture) ([^}]+?) \}\}")
_DATE = re.compile(r"^(\d{4}-\d{2}-\d{2}) [\d:]+ UTC\.", re.MULTILINE)


def expand(text: str, results: Path) -> str:
    """The text with tables, dates and pictures of reports in their places."""

    def part(match: re.Match[str]) -> str:
        name, _, rest = match[2].partition(", ")
        if match[1] == "picture":
            if not (results / f"{name}.svg").is_file():
                raise ValueError(f"{results} does not contain the picture {name}.svg")
            return f"![{rest}](generated/{name}.svg)"
        report = (results / f"{name}.md").read_text(encoding="utf-8")
        return _date(report) if match[1] == "date" else _table(report, rest, name)

    return _PLACE.sub(part, text)


def _date(report: str) -> str:
    found = _DATE.search(report)
    if found is None:
        raise ValueError("a report has no date in its third paragraph")
    return found[1]


def _table(report: str, heading: str, name: str) -> str:
    lines = report.partition(f"\n### {heading}\n")[2].splitlines()
    rows = [line for line in lines[: _end(lines)] if line.startswith("|")]
    if not rows:
        raise ValueError(f"the report {name} has no table under {heading!r}")
    return "\n".join(map(_escaped, rows))


def _end(lines: list[str]) -> int:
    """Where the next part begins."""
    return next((n for n, line in enumerate(lines) if line.startswith("#")), len(lines))


def _escaped(line: str) -> str:
    return line.replace("<", "&lt;").replace("*", "\\*").replace("\\*\\*", "**")


def reports_page(results: Path) -> str:
    """The list of all reports, with date and subject."""
    rows = []
    for path in sorted(results.glob("*.md")):
        report = path.read_text(encoding="utf-8")
        subject = _escaped(report.split("\n\n")[1].strip())
        rows.append(f"| [{path.stem}](bench-{path.stem}.md) | {_date(report)} | {subject} |")
    head = ["# Reports", "", "What `make bench` has written.", "", "| report | date | about |"]
    return "\n".join([*head, "|---|---|---|", *rows]) + "\n"


def report_pages(results: Path) -> dict[str, str]:
    """A page for each report."""
    return {
        f"bench-{report.stem}.md": "\n".join(
            _escaped(line) for line in report.read_text(encoding="utf-8").splitlines()
        )
        for report in sorted(results.glob("*.md"))
    }
