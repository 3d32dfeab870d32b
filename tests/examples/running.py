"""Runs a notebook without Jupyter: start at `run`.

Cells are executed in order, in one namespace. What a cell ends in is rendered as a notebook would:
by `_repr_html_`, else by `repr`.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Cell:
    """A cell: `code` or `markdown`, and its text."""

    kind: str
    source: str


@dataclass(frozen=True)
class Output:
    """What a cell printed, the value of its last line, and that value's HTML if it has one."""

    printed: str
    value: Any
    html: str | None

    @property
    def text(self) -> str:
        """All of it."""
        return self.printed + (self.html or ("" if self.value is None else repr(self.value)))


def cells(path: Path) -> list[Cell]:
    """The cells of a notebook."""
    document = json.loads(path.read_text())
    return [Cell(cell["cell_type"], "".join(cell["source"])) for cell in document["cells"]]


def run(path: Path) -> list[tuple[Cell, Output | None]]:
    """Every cell, and what it put out; None for text."""
    names: dict[str, Any] = {"__name__": "__main__"}
    return [
        (cell, _execute(cell.source, names, f"{path.name}, cell {number}"))
        if cell.kind == "code"
        else (cell, None)
        for number, cell in enumerate(cells(path), 1)
    ]


def _execute(source: str, names: dict[str, Any], place: str) -> Output:
    tree = ast.parse(source, place)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, place, "exec"), names)
        if last is not None:
            assert isinstance(last, ast.Expr)
            value = eval(compile(ast.Expression(last.value), place, "eval"), names)
    make = getattr(value, "_repr_html_", None)
    return Output(printed.getvalue(), value, None if make is None else make())
