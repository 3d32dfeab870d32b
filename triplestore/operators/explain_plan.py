"""The statistics of the operators of a plan, as a tree in text and in JSON.

Start at `explain` and `to_json`; `operator.Statistics` defines the figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from triplestore.operators.operator import Operator

_UNITS = ("B", "KB", "MB", "GB", "TB")


def explain(root: Operator, name_of: Callable[[int], str] = str) -> str:
    """The operators as a tree of lines, each with its estimated and actual rows, time and memory.

    name_of  the name of an id in a pattern

    >>> from triplestore.operators import Context, FilterRows, Frame, Values
    >>> rows = Values(Frame.of(x=[1, 2, 3]))
    >>> plan = FilterRows(rows, lambda frame: frame["x"] > 1, text="?x > 1")
    >>> _ = plan.run(Context())
    >>> print("\\n".join(line[:38].rstrip() for line in explain(plan).splitlines()))
    filter ?x > 1  est 2  rows 2  blocks 1
    └─ values ?x   est 3  rows 3  blocks 1
    """
    lines = [(branch + node.label(name_of), *_figures(node)) for branch, node in _walk(root)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def to_json(root: Operator, name_of: Callable[[int], str] = str) -> dict[str, Any]:
    """The same as a tree of dicts for `json.dumps`."""
    made = _dict_of(root, name_of)
    stack = [(root, made)]
    while stack:
        node, parent = stack.pop()
        for child in node.children:
            parent["children"].append(_dict_of(child, name_of))
            stack.append((child, parent["children"][-1]))
    return made


def _dict_of(node: Operator, name_of: Callable[[int], str]) -> dict[str, Any]:
    """A node without its children."""
    record = node.statistics
    return {
        "operator": node.kind,
        "detail": node.detail_naming(name_of),
        "columns": list(node.names),
        "order": list(node.order),
        "estimate": round(node.estimate, 1),
        "rows": record.rows,
        "blocks": record.blocks,
        "calls": record.calls,
        "seconds": record.seconds,
        "self_seconds": _own_seconds(node),
        "bytes": record.bytes,
        "children": [],
    }


def _walk(root: Operator) -> Iterator[tuple[str, Operator]]:
    stack = [("", "", root)]
    while stack:
        first, rest, node = stack.pop()
        yield first, node
        for child in reversed(node.children):
            last = child is node.children[-1]
            below = rest + ("   " if last else "│  ")
            stack.append((rest + ("└─ " if last else "├─ "), below, child))


def _figures(node: Operator) -> tuple[str, ...]:
    record = node.statistics
    figures = [
        f"est {node.estimate:,.0f}",
        f"rows {record.rows:,}",
        f"blocks {record.blocks:,}",
        f"{record.seconds * 1000:.2f} ms (self {_own_seconds(node) * 1000:.2f})",
        _size(record.bytes),
    ]
    if record.calls != 1:
        figures.append(f"calls {record.calls:,}")
    return (*figures, *[""] * (6 - len(figures)))


def _own_seconds(node: Operator) -> float:
    below = sum(child.statistics.seconds for child in node.children)
    return max(0.0, node.statistics.seconds - below)


def _size(size: int) -> str:
    amount = float(size)
    for unit in _UNITS[:-1]:
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} {_UNITS[-1]}"
