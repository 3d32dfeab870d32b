"""Triples as a graph of networkx, for its algorithms and pictures.

Start at `networkx_graph`. networkx (the extra `networkx`) is imported when it is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyoxigraph as ox

from triplestore.errors import UsageError, needs_extra
from triplestore.expressions.text.expression_printer import Namer
from triplestore.expressions.tree import Constant

LITERALS = ("nodes", "attributes", "drop")


def networkx_graph(
    triples: Iterable[ox.Triple], prefixes: Mapping[str, str], literals: str = "nodes"
) -> Any:
    """A `MultiDiGraph`: subjects and objects are nodes, and each triple is an edge.

    Nodes are terms of pyoxigraph, and have a `label` to be shown. The key of an edge is its
    predicate, so that equal triples are one edge; its `label` is the predicate's short name.
    `literals` says what becomes of them: `"nodes"`; `"attributes"` of their subjects, a list of
    values under the short name of each property; or `"drop"`.
    """
    if literals not in LITERALS:
        raise UsageError(f'literals must be "nodes", "attributes" or "drop", not {literals!r}')
    try:
        import networkx
    except ImportError as error:
        raise needs_extra("to_networkx", error, "networkx") from None
    graph = networkx.MultiDiGraph()
    namer = Namer(dict(prefixes))

    def label(term: Any) -> str:
        return str(namer.term(Constant.of(term)))

    for triple in triples:
        subject, predicate, object_ = triple.subject, triple.predicate, triple.object
        graph.add_node(subject, label=label(subject))
        if literals == "nodes" or not isinstance(object_, ox.Literal):
            graph.add_node(object_, label=label(object_))
            graph.add_edge(subject, object_, key=predicate, label=label(predicate))
        elif literals == "attributes":
            values = graph.nodes[subject].setdefault(label(predicate), [])
            values.append(object_.value)
    return graph
