"""A report as triples of the standard's vocabulary: start at `report_triples`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyoxigraph as ox

from triplestore.shacl.reading.read_paths import write_path
from triplestore.shacl.vocabulary import TRUE, TYPE, Key, sh
from triplestore.terms.term_keys import STRING, term_of
from triplestore.terms.vocabulary import XSD_BOOLEAN

if TYPE_CHECKING:
    from triplestore.shacl.reports.report import ValidationReport
    from triplestore.shacl.reports.result import ValidationResult

_FALSE = b'\x05false"^^<' + XSD_BOOLEAN.encode() + b">"


def report_triples(report: ValidationReport) -> list[ox.Triple]:
    """The triples of a report; its blank nodes are new."""
    writer = _Writer()
    node = writer.new()
    writer.add(node, TYPE, sh("ValidationReport"))
    writer.add(node, sh("conforms"), TRUE if report.conforms else _FALSE)
    for result in report:
        writer.add(node, _RESULTS, writer.result(result))
    return writer.triples


_NAMES = (
    "focusNode",
    "resultPath",
    "value",
    "sourceShape",
    "sourceConstraintComponent",
    "sourceConstraint",
    "resultSeverity",
    "resultMessage",
)
_FOCUS, _PATH, _VALUE, _SHAPE, _COMPONENT, _CONSTRAINT, _SEVERITY, _MESSAGE = map(sh, _NAMES)
_RESULT, _RESULTS = sh("ValidationResult"), sh("result")


class _Writer:
    def __init__(self) -> None:
        self.triples: list[ox.Triple] = []
        self._terms: dict[Key, Any] = {}
        self._label = ox.BlankNode().value
        self._count = 0

    def new(self) -> Key:
        self._count += 1
        return b"\x02%s%d" % (self._label.encode(), self._count)

    def add(self, s: Key, p: Key, o: Key) -> None:
        terms = self._terms
        for key in (s, p, o):
            if key not in terms:
                terms[key] = term_of(key)
        self.triples.append(ox.Triple(terms[s], terms[p], terms[o]))

    def result(self, result: ValidationResult) -> Key:
        """The node of one result."""
        row, node, add = result.row, self.new(), self.add
        add(node, TYPE, _RESULT)
        add(node, _FOCUS, row.focus)
        if row.path is not None:
            add(node, _PATH, write_path(row.path, add, self.new))
        if row.value is not None:
            add(node, _VALUE, row.value)
        add(node, _SHAPE, row.shape.node)
        add(node, _COMPONENT, row.constraint.component)
        constraint: Key | None = getattr(row.constraint, "constraint", None)
        if constraint is not None:
            add(node, _CONSTRAINT, constraint)
        add(node, _SEVERITY, row.shape.severity)
        own = row.messages or (bytes([STRING]) + result.message.encode(),)
        for message in own:
            add(node, _MESSAGE, message)
        return node
