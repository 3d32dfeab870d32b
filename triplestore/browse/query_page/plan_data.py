"""The plan of a query as plain data: start at `plan_data`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from triplestore.browse.query_page.query_data import AskedQuery
from triplestore.sparql.algebra.nodes import Ask
from triplestore.sparql.syntax.parser import parse_query
from triplestore.sparql.syntax.query_printer import write
from triplestore.store.readable import view_of
from triplestore.store.run_query import query as ask

if TYPE_CHECKING:
    from triplestore.store import ReadableStore

MAX_DEPTH = 150
"""Maximum depth of a plan as a tree: writers and readers of JSON have a limit."""
_FIGURES = ("rows", "seconds", "self_seconds", "blocks", "calls", "bytes")


def plan_data(store: ReadableStore, asked: AskedQuery, *, analyze: bool = True) -> dict[str, Any]:
    """The plan of a query as a tree; with `analyze` it is run, and each node has rows and times.

    >>> from triplestore import Store
    >>> found = plan_data(Store(), AskedQuery("ASK { ?s ?p 1 }"))
    >>> sorted(found["plan"])[:4], found["plan"]["rows"]
    (['blocks', 'bytes', 'calls', 'children'], 0)
    >>> "rows" in plan_data(Store(), AskedQuery("ASK { ?s ?p 1 }"), analyze=False)["plan"]
    False
    """
    view = view_of(store)
    result = ask(view, _as_select(asked, view.prefixes), asked.options)
    assert not isinstance(result, bool)
    tree = result.explain_json(run=analyze)
    text = str(result.explain()) if analyze else ""
    return {"plan": _node(tree, analyze), "advice": tree.get("warnings", []), "text": text}


def _as_select(asked: AskedQuery, prefixes: Mapping[str, str]) -> str:
    """The query; an ASK as a SELECT, whose plan can be shown."""
    query = parse_query(asked.text, prefixes=prefixes, base=asked.base)
    if not isinstance(query, Ask):
        return asked.text
    return re.sub(r"^ASK\b", "SELECT *", write(query), count=1, flags=re.MULTILINE)


def _node(tree: Mapping[str, Any], analyze: bool, depth: int = 0) -> dict[str, Any]:
    inner = tree.get("children", ()) if depth < MAX_DEPTH else ()
    made = {
        "label": tree.get("operator", "constant"),
        "detail": tree.get("detail", ""),
        "columns": tree.get("columns", []),
        "order": tree.get("order", []),
        "estimated": tree.get("estimate", 0),
        "children": [_node(child, analyze, depth + 1) for child in inner],
    }
    if len(inner) < len(tree.get("children", ())):
        made["more"] = True
    if analyze:
        made |= {name: tree.get(name, 0) for name in _FIGURES}
    return made
