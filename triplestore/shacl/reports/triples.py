"""A report as triples of the standard's vocabulary: start at `report_triples`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyoxigraph as ox

from triplestore.shacl.reading.read_paths import write_path
from triplestore.shacl.vocabulary import TRUE, TYPE, Key, sh
from triplestore.terms.term_keys import BLANK, STRING, term_of
from triplestore.terms.vocabulary import XSD_BOOLEAN

if TYPE_CHECKING:
    from triplestore.shacl.reports.report import ValidationReport
    from triplestore.shacl.reports.result import Result

_FALSE = b'\x05false"^^<' + XSD_BOOLEAN.encode() + b">"


def report_triples(report: ValidationReport) -> list[ox.Triple]:
    """The triples of a report; its blank nodes are new."""
    writer = _Writer()
    node = writer.new()
    writer.add(node, TYPE, sh("ValidationReport"))
    writer.add(node, sh("conforms"), TRUE if report.conforms else _FALSE)
    for result in report:
        writer.add(node, sh("result"), writer.result(result))
    return writer.triples


class _Writer:
    def __init__(self) -> None:
        self.triples: list[ox.Triple] = []
        self._terms: dict[Key, ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple] = {}

    def new(self) -> Key:
        return bytes([BLANK]) + ox.BlankNode().value.encode()

    def add(self, s: Key, p: Key, o: Key) -> None:
        subject, predicate, object_ = (self._term(key) for key in (s, p, o))
        assert isinstance(subject, ox.NamedNode | ox.BlankNode)
        assert isinstance(predicate, ox.NamedNode)
        self.triples.append(ox.Triple(subject, predicate, object_))

    def _term(self, key: Key) -> ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple:
        found = self._terms.get(key)
        if found is None:
            found = self._terms[key] = term_of(key)
        return found

    def result(self, result: Result) -> Key:
        """The node of one result."""
        row, node = result.row, self.new()
        self.add(node, TYPE, sh("ValidationResult"))
        self.add(node, sh("focusNode"), row.focus)
        if row.path is not None:
            self.add(node, sh("resultPath"), write_path(row.path, self.add, self.new))
        if row.value is not None:
            self.add(node, sh("value"), row.value)
        self.add(node, sh("sourceShape"), row.shape.node)
        self.add(node, sh("sourceConstraintComponent"), row.constraint.component)
        constraint: Key | None = getattr(row.constraint, "constraint", None)
        if constraint is not None:
            self.add(node, sh("sourceConstraint"), constraint)
        self.add(node, sh("resultSeverity"), row.shape.severity)
        own = row.messages or (bytes([STRING]) + result.message.encode(),)
        for message in own:
            self.add(node, sh("resultMessage"), message)
        return node
