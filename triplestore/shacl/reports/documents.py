"""A report as a document of one of several formats: start at `FORMATS`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

import pyoxigraph as ox

from triplestore._version import VERSION
from triplestore.shacl.reports.table import report_html, report_text
from triplestore.shacl.vocabulary import SH
from triplestore.sparql.results.json import term_json

if TYPE_CHECKING:
    from triplestore.shacl.reports.report import ValidationReport
    from triplestore.shacl.reports.result import ValidationResult

_ALL = 1 << 62


def _rdf(format: ox.RdfFormat) -> Callable[[ValidationReport], str]:
    def write(report: ValidationReport) -> str:
        prefixes = {**report.prefixes, "sh": SH}
        triples = report.to_graph()
        made = ox.serialize(triples, format=format, prefixes=prefixes)
        assert made is not None
        return made.decode()

    return write


# -- JSON -----------------------------------------------------------------------------------------


def _json(report: ValidationReport) -> str:
    made: dict[str, Any] = {"conforms": report.conforms, "counts": report.counts}
    made["results"] = [_result(each) for each in report]
    if report.missing_imports:
        made["missingImports"] = list(report.missing_imports)
    return json.dumps(made, indent=2, ensure_ascii=False)


def _result(result: ValidationResult) -> dict[str, Any]:
    row = result.row
    return {
        "focusNode": json.loads(term_json(row.focus)),
        "path": result.path,
        "value": json.loads(term_json(row.value)),
        "sourceShape": json.loads(term_json(row.shape.node)),
        "component": result.component,
        "severity": result.severity,
        "message": result.message,
    }


# -- SARIF ----------------------------------------------------------------------------------------

_LEVELS = {"Violation": "error", "Warning": "warning", "Info": "note"}


def _sarif(report: ValidationReport) -> str:
    """SARIF 2.1.0, which services for code review show."""
    rules: dict[str, dict[str, Any]] = {}
    results = []
    for each in report:
        shown = each.shown()
        rule = f"{shown['shape']} {shown['component']}"
        rules.setdefault(
            rule,
            {
                "id": rule,
                "name": shown["component"],
                "shortDescription": {"text": f"{shown['component']} of {shown['shape']}"},
            },
        )
        about = " ".join(filter(None, (shown["focus node"], shown["path"], shown["value"])))
        results.append(
            {
                "ruleId": rule,
                "level": _LEVELS.get(each.severity, "error"),
                "message": {"text": f"{about}: {each.message}"},
                "locations": [
                    {
                        "logicalLocations": [
                            {"fullyQualifiedName": str(each.focus), "kind": "resource"}
                        ]
                    }
                ],
            }
        )
    driver = {"name": "triplestore", "version": VERSION, "rules": list(rules.values())}
    made = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json.dumps(made, indent=2, ensure_ascii=False)


# -- JUnit ----------------------------------------------------------------------------------------


def _junit(report: ValidationReport) -> str:
    """One test for each shape and component that has results, and one that passes if none has."""
    by_test: dict[tuple[str, str], list[ValidationResult]] = {}
    for each in report:
        shown = each.shown()
        by_test.setdefault((shown["shape"], shown["component"]), []).append(each)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuite name="shapes" tests="{max(1, len(by_test))}" failures="{len(by_test)}">',
    ]
    if not by_test:
        lines.append('  <testcase classname="shapes" name="conforms"/>')
    for (shape, component), results in by_test.items():
        name = f"{component} ({results[0].severity})"
        lines.append(f"  <testcase classname={quoteattr(shape)} name={quoteattr(name)}>")
        text = "\n".join(map(str, results))
        message = quoteattr(f"{len(results):,} results")
        lines.append(f"    <failure message={message}>{escape(_printable(text))}</failure>")
        lines.append("  </testcase>")
    lines.append("</testsuite>")
    return "\n".join(lines)


def _printable(text: str) -> str:
    """A text without the characters that XML cannot have."""
    return "".join(c if c in "\n\t\r" or c >= " " else "\N{REPLACEMENT CHARACTER}" for c in text)


FORMATS: dict[str, Callable[[ValidationReport], str]] = {
    "text": lambda report: report_text(report, _ALL),
    "turtle": _rdf(ox.RdfFormat.TURTLE),
    "nt": _rdf(ox.RdfFormat.N_TRIPLES),
    "json": _json,
    "html": lambda report: report_html(report, _ALL),
    "sarif": _sarif,
    "junit": _junit,
}
"""The writers by the names of formats."""
