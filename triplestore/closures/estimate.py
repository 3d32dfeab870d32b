"""What the transitive closure of a graph would take, from a sample of its nodes.

The strongly connected components are found first, which is linear. Then some nodes are drawn, and
what they reach is searched for; how many pairs there are, and how large a row is, follows from
their average. Other nodes are drawn, and what reaches them is searched for, too: of a hierarchy
that is stated from the top downwards few nodes reach most, so that a sample says little, while all
are reached by about as many. The average that varies less is taken. A graph of few nodes is not
sampled: its number of pairs is exact.
"""

from __future__ import annotations

import numpy as np

from triplestore.closures.breadth_first import BreadthFirstSearch
from triplestore.closures.edge_graph import EdgeGraph, Lists
from triplestore.closures.scheme import SizeEstimate
from triplestore.closures.transitive.strong_components import number_components
from triplestore.relations.facts.sorted_arrays import sorted_distinct
from triplestore.relations.packed_keys import I64, U32

SAMPLE = 256
"""Nodes that are looked at."""

_ENOUGH = 1 << 25  # steps of searches after which the sample is taken as it is
_LABEL_BYTES = 52  # of the arrays that have an entry for each label, or node
_EDGE_BYTES = 12


def estimate(graph: EdgeGraph) -> SizeEstimate:
    """What the closure of a graph would take."""
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
    # Components that no edge leads to, and with one successor, use that one's row.
    owners = len(sorted_distinct(label[graph.ahead.cols]))
    rows = row_bytes * owners // len(after)
    fixed = _LABEL_BYTES * count + 20 * size + _EDGE_BYTES * len(graph.edges)
    return SizeEstimate(pairs, 16 * pairs, rows + fixed, exact)


def _sampled(lists: Lists, chosen: I64, label: U32 | None) -> tuple[I64, int]:
    """How many nodes each of some leads to, as far as there is time; and bytes of their rows."""
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
    """How far the average may be off, relative to it; more where nothing was found."""
    mean = float(counts.mean())
    return float(counts.std()) / mean / len(counts) ** 0.5 if mean else np.inf


def _row_bytes(labels: U32) -> int:
    """What a row of these labels takes."""
    if len(labels) == 0:
        return 8
    labels = sorted_distinct(labels)
    runs = 1 + int((np.diff(labels) > 1).sum())
    words = int(labels[-1] >> 6) - int(labels[0] >> 6) + 1
    return min(8 * runs, 4 * len(labels), 8 * words)
