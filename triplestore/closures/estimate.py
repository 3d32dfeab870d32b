"""Estimates the size of the transitive closure of a graph from a sample of its nodes.

Strongly connected components are found first, in linear time. Then a search counts the nodes that
some random nodes reach; the average gives the number of pairs and the size of rows. A second sample
counts the nodes that reach some random nodes: in a hierarchy whose edges point downwards few nodes
reach most others, so the first sample says little, while all nodes are reached by similar numbers.
The average with the smaller variance is used. A graph of few nodes is not sampled: its number of
pairs is exact.
"""

from __future__ import annotations

import numpy as np

from triplestore.closures.edge_graph import BreadthFirstSearch, EdgeGraph, Lists
from triplestore.closures.scheme import SizeEstimate
from triplestore.closures.transitive.strong_components import number_components
from triplestore.relations.facts.sorted_arrays import sorted_distinct
from triplestore.relations.packed_keys import I64, U32

SAMPLE = 256
"""The number of sampled nodes."""

_ENOUGH = 1 << 25  # maximum number of search steps for the sample
_LABEL_BYTES = 52  # of the arrays with an entry per label or node
_EDGE_BYTES = 12


def estimate(graph: EdgeGraph) -> SizeEstimate:
    """The estimated size of the closure of a graph."""
    size = len(graph.nodes)
    if size == 0:
        return SizeEstimate(0, 0, 0, exact=True)
    label, count = number_components(graph.ahead)
    rng = np.random.default_rng(size)
    exact = size <= SAMPLE
    chosen = np.arange(size) if exact else rng.choice(size, SAMPLE, replace=False)
    after, row_bytes = _sampled(graph.ahead, chosen, label)
    exact = exact and len(after) == size
    counts = after
    if not exact:
        before, _ = _sampled(graph.back(), rng.choice(size, SAMPLE, replace=False), None)
        counts = min(after, before, key=_error)
    pairs = int(counts.sum()) * size // len(counts)
    # Components without predecessors and with one successor use the row of that one.
    owners = len(sorted_distinct(label[graph.ahead.cols]))
    rows = row_bytes * owners // len(after)
    fixed = _LABEL_BYTES * count + 20 * size + _EDGE_BYTES * len(graph.edges)
    return SizeEstimate(pairs, 16 * pairs, rows + fixed, exact)


def _sampled(lists: Lists, chosen: I64, label: U32 | None) -> tuple[I64, int]:
    """The number of nodes that each of some nodes reaches, within the limit of steps; and the size
    of their rows."""
    search, steps, row_bytes = BreadthFirstSearch(lists), 0, 0
    counts: list[int] = []
    for node in chosen.tolist():
        found = search.from_node(node)
        counts.append(len(found))
        if label is not None:
            row_bytes += _row_bytes(label[found])
        steps += search.steps
        if steps > _ENOUGH:
            break
    return np.array(counts, dtype=np.int64), row_bytes


def _error(counts: I64) -> float:
    """The relative standard error of the average; infinite if nothing was found."""
    mean = float(counts.mean())
    return float(counts.std()) / mean / len(counts) ** 0.5 if mean else np.inf


def _row_bytes(labels: U32) -> int:
    """The bytes of a row of these labels."""
    if len(labels) == 0:
        return 8
    labels = sorted_distinct(labels)
    runs = 1 + int((np.diff(labels) > 1).sum())
    words = int(labels[-1] >> 6) - int(labels[0] >> 6) + 1
    return min(8 * runs, 4 * len(labels), 8 * words)
