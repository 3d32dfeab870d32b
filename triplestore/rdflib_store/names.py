"""The graphs of the store for the graphs of rdflib: start at `RdflibGraphNames`.

In rdflib every graph has a name; the store has a default graph without one, to which rules and
regimes apply. Always true: one name is that of the default graph: the default graph of a
`Dataset`, or else the first unnamed graph that uses the store (rdflib names such a graph by a new
blank node); all other names are names of named graphs.
"""

from __future__ import annotations

import re
from typing import Any

import pyoxigraph as ox
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID, ConjunctiveGraph, Graph
from rdflib.term import BNode, Identifier

from triplestore.rdflib_store.terms import from_term, to_term

_NEW = re.compile("N[0-9a-f]{32}")
"""rdflib's names for its new blank nodes; those of documents have other names."""


class RdflibGraphNames:
    """The names of the graphs of one store."""

    def __init__(self) -> None:
        self._default: Identifier | None = None

    @property
    def default(self) -> Identifier:
        """rdflib's name for the default graph."""
        return DATASET_DEFAULT_GRAPH_ID if self._default is None else self._default

    @property
    def default_if_known(self) -> Identifier | None:
        """The same; None if no graph has used the store."""
        return self._default

    def is_dataset(self) -> None:
        """Use the name of the default graph of a `Dataset`."""
        if self._default is None:
            self._default = DATASET_DEFAULT_GRAPH_ID

    def graph(self, context: Any) -> Any:
        """The graph of the store for a context: a graph of rdflib or its name."""
        if isinstance(context, ConjunctiveGraph):
            # rdflib means its default graph, which has another name.
            context = getattr(context, "default_graph", None) or context.default_context
        name = context.identifier if isinstance(context, Graph) else context
        if self._default is None and _is_unnamed(name):
            self._default = name
        if name in (self._default, DATASET_DEFAULT_GRAPH_ID):
            return ox.DefaultGraph()
        return to_term(name)

    def name(self, graph: Any) -> Identifier:
        """rdflib's name for a graph of the store."""
        return self.default if isinstance(graph, ox.DefaultGraph) else from_term(graph)


def _is_unnamed(name: Identifier) -> bool:
    return name == DATASET_DEFAULT_GRAPH_ID or (
        isinstance(name, BNode) and _NEW.fullmatch(name) is not None
    )
