"""The plan of a query as HTML: start at `plan_html`.

The plan comes as the tree of dicts that `operators.explain_plan.to_json` makes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from triplestore.notebook.parts import cell, escape, line, output, span, table

MAX_OPERATORS = 500
"""Maximum number of operators that are shown."""

_COLUMNS = ["operator", "estimated rows", "rows", "blocks", "ms", "ms of its own", "bytes"]


def plan_html(plan: Mapping[str, Any], warnings: Sequence[str] = ()) -> str:
    """The operators of a plan, one per row and indented by depth, with what they did.

    Where the estimate is off by a factor of ten or more, the number of rows is marked.
    """
    parts = [line(f"warning: {text}", "bad") for text in warnings]
    if "operator" not in plan:
        return output(*parts, line("no plan: nothing was matched", "note"))
    rows: list[list[str]] = []
    for node, branch in _walk(plan):
        if len(rows) == MAX_OPERATORS:
            parts.append(line(f"the first {MAX_OPERATORS:,} operators", "note"))
            break
        rows.append(_row(node, branch))
    return output(*parts, table(_COLUMNS, rows))


def _row(node: Mapping[str, Any], branch: str) -> list[str]:
    estimate, found = node["estimate"], node["rows"]
    off = max(estimate, found) >= 10 * max(1, min(estimate, found))
    text = f"{node['operator']} {node['detail']}".strip()
    calls = f" ({node['calls']:,} calls)" if node["calls"] > 1 else ""
    return [
        cell(escape(branch) + span(_short(text), text) + escape(calls)),
        cell(escape(f"{estimate:,.0f}"), number=True),
        cell(span(f"{found:,}", kind="bad" if off else ""), number=True),
        cell(escape(f"{node['blocks']:,}"), number=True),
        cell(escape(f"{1000 * node['seconds']:,.2f}"), number=True),
        cell(escape(f"{1000 * node['self_seconds']:,.2f}"), number=True),
        cell(escape(f"{node['bytes']:,}"), number=True),
    ]


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 90 else text[:89] + "…"


def _walk(root: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Every node with the branches before it, parents first."""
    stack: list[tuple[Mapping[str, Any], str, str]] = [(root, "", "")]
    while stack:
        node, branch, below = stack.pop()
        yield node, branch
        children = node["children"]
        for place in range(len(children) - 1, -1, -1):
            last = place == len(children) - 1
            ends = ("└─ ", "   ") if last else ("├─ ", "│  ")
            stack.append((children[place], below + ends[0], below + ends[1].replace(" ", "\u00a0")))
