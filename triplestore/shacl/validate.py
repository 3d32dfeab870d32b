"""Validation of one state: start at `validate`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from triplestore.operators.context import Context
from triplestore.shacl.evaluate.data_graph import DataGraph
from triplestore.shacl.evaluate.shapes_beside_data import with_shapes_graph
from triplestore.shacl.evaluate.validation import Validation
from triplestore.shacl.model import ShapeSet
from triplestore.shacl.reports.report import ValidationReport
from triplestore.shacl.reports.result import ValidationResult
from triplestore.shacl.reports.rows import FoundRows
from triplestore.shacl.vocabulary import Key
from triplestore.sparql.engine import AskedState

if TYPE_CHECKING:
    from triplestore.shacl.causes import Cause


def validate(
    asked: AskedState,
    shapes: ShapeSet,
    context: Context,
    *,
    explain: Callable[[ValidationResult], Cause],
    commit: int = 0,
    nodes: tuple[Key, ...] | None = None,
) -> ValidationReport:
    """The report of some shapes over one state.

    explain  finds the cause of a result
    nodes    only these focus nodes are validated; None for all
    """
    asked = with_shapes_graph(asked, shapes)
    validation = Validation(DataGraph(asked, context), shapes, nodes)
    found = list(validation.all_results())
    return ValidationReport(
        FoundRows(found, validation.data.terms),
        asked.prefixes,
        explain,
        tuple(key[1:].decode() for key in shapes.missing),
        commit,
    )
