"""Sizes of a store, its graphs, prefixes and rules, as plain data: start at `store_data`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from triplestore.browse.preview import KINDS
from triplestore.browse.term_data import TermData
from triplestore.browse.thresholds import BROWSE
from triplestore.relations import INFERRED
from triplestore.store.readable import view_of
from triplestore.thread_limits import memory_in_use

if TYPE_CHECKING:
    from triplestore.store import Store
    from triplestore.store.state_view import StateView


def store_data(store: Store, *, language: str = "en") -> dict[str, Any]:
    """What a store has, in numbers; only directories are read, and the graphs that are shown.

    >>> from triplestore import Store
    >>> store = Store()
    >>> _ = store.load("<http://e/a> <http://e/p> 1 .", "ttl")
    >>> found = store_data(store)
    >>> found["quads"], found["terms"], found["commit"]
    ({'all': 1, 'asserted': 1, 'inferred': 0}, 3, 1)
    """
    view, info = view_of(store), store.info()
    shown = info.as_dict()
    shown.pop("path")  # the place on the server's disk is not for everyone
    return {
        "commit": info.commit,
        "quads": {"all": info.quads, "asserted": info.explicit, "inferred": info.inferred},
        "graphs": _graphs(view, language),
        "graph_count": info.named_graphs,
        "terms": info.terms,
        "bytes_on_disk": info.disk_bytes,
        "memory": memory_in_use(),
        "prefixes": dict(sorted(view.prefixes.items())),
        "regimes": list(view.regimes),
        "rules": info.rules,
        "constraints": info.constraints,
        "violations": info.violations,
        "commits": _commits(store, info.commit),
        "statistics": shown,
        "durable": store.path is not None,
        "read_only": store.is_reader,
    }


def _commits(store: Store, newest: int) -> list[dict[str, Any]]:
    """The last commits, the newest first; those before the store was opened are not known."""
    made: list[dict[str, Any]] = []
    for each in reversed(store.recent_commits):
        counts = {} if each.change is None else {n: getattr(each.change, n) for n in KINDS}
        if each.commit <= newest:
            made.append({"commit": each.commit, "time": each.time, **counts})
    return made or [{"commit": newest}]


def _graphs(view: StateView, language: str) -> list[dict[str, Any]]:
    """The default graph, then the named graphs with most quads among the first ones."""
    data = TermData(view, language)
    own = view.tables.total() - view.hidden
    made: list[dict[str, Any]] = [
        {"name": None, "count": own, "inferred": view.tables.total(INFERRED) - view.hidden}
    ]
    graphs = view.tables.graphs()[: BROWSE.counted_graphs]
    counts = graph_counts(view, graphs)
    order = np.argsort(-counts, kind="stable")
    for term, count in zip(data.ids(graphs[order]), counts[order].tolist(), strict=True):
        made.append({"name": term, "count": count})
    return made


def graph_counts(view: StateView, graphs: np.ndarray) -> np.ndarray:
    """How many quads each graph has."""
    counts = [view.tables.graph(graph).count() for graph in graphs.tolist()]
    return np.array(counts, np.int64)
