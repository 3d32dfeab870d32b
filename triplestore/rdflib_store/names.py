"""Which graph of the store a graph of rdflib is: start at `RdflibGraphNames`.

rdflib gives every graph a name, the store has a default graph without one; rules and regimes are
about the default graph. What is always true: one name stands for the default graph, which is that
of a `Dataset`, else that of the first graph without a name of its own that uses the store (rdflib
names those by a new blank node each time); all other names stand for themselves.
"""

from __future__ import annotations

import re
from typing import Any

import pyoxigraph as ox
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID, ConjunctiveGraph, Graph
from rdflib.term import BNode, Identifier

from triplestore.rdflib_store.terms import from_term, to_term

_NEW = re.compile("N[0-9a-f]{32}")
"""What rdflib calls blank nodes that it makes; those of documents are called otherwise."""


class RdflibGraphNames:
    """The names of graphs, as seen by one store."""

    def __init__(self) -> None:
        self._default: Identifier | None = None

    @property
    def default(self) -> Identifier:
        """What rdflib calls the default graph."""
        return DATASET_DEFAULT_GRAPH_ID if self._default is None else self._default

    @property
    def default_if_known(self) -> Identifier | None:
        """The same; None if no graph has used the store yet."""
        return self._default

    def is_dataset(self) -> None:
        """Graphs are made as those of a `Dataset` are: its default graph has a name."""
        if self._default is None:
            self._default = DATASET_DEFAULT_GRAPH_ID

    def graph(self, context: Any) -> Any:
        """The graph of the store for a context: a graph of rdflib or its name."""
        if isinstance(context, ConjunctiveGraph):
            # Of those, rdflib means the default graph, which they keep under another name.
            context = getattr(context, "default_graph", None) or context.default_context
        name = context.identifier if isinstance(context, Graph) else context
        if self._default is None and _is_unnamed(name):
            self._default = name
        if name in (self._default, DATASET_DEFAULT_GRAPH_ID):
            return ox.DefaultGraph()
        return to_term(name)

    def name(self, graph: Any) -> Identifier:
        """What rdflib calls a graph of the store."""
        return self.default if isinstance(graph, ox.DefaultGraph) else from_term(graph)


def _is_unnamed(name: Identifier) -> bool:
    return name == DATASET_DEFAULT_GRAPH_ID or (
        isinstance(name, BNode) and _NEW.fullmatch(name) is not None
    )
