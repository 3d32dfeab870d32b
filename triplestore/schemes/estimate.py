"""What the transitive closure of a graph would take, from a sample of its nodes.

The strongly connected components are found first, which is linear. Then some nodes are drawn, and
what they reach is searched for; how many pairs there are, and how large a row is, follows from
their average. A graph of few nodes is not sampled: its number of pairs is exact.
"""

from __future__ import annotations

import numpy as np

from triplestore.schemes.graph import NONE, Graph
from triplestore.schemes.packed import U32, sorted_distinct
from triplestore.schemes.reach_components import number_components
from triplestore.schemes.reach_pool import STEPS
from triplestore.schemes.scheme import Estimate

SAMPLE = 256
"""Nodes that are looked at."""

_ENOUGH = 1 << 25  # steps of searches after which the sample is taken as it is
_LABEL_BYTES = 52  # of the arrays that have an entry for each label, or node
_EDGE_BYTES = 12


def estimate(graph: Graph) -> Estimate:
    """What the closure of a graph would take."""
    size = len(graph.nodes)
    if size == 0:
        return Estimate(0, 0, 0, exact=True)
    label, count = number_components(graph.ahead)
    chosen = np.arange(size)
    if size > SAMPLE:
        chosen = np.random.default_rng(size).choice(size, SAMPLE, replace=False)
    reached, row_bytes, looked = _sampled(graph, label, chosen.tolist())
    pairs = reached * size // looked
    # Components that no edge leads to, and with one successor, use that one's row.
    owners = len(sorted_distinct(label[graph.ahead.cols]))
    rows = row_bytes * owners // looked
    fixed = _LABEL_BYTES * count + 20 * size + _EDGE_BYTES * len(graph.edges)
    return Estimate(pairs, 16 * pairs, rows + fixed, exact=looked == size)


def _sampled(graph: Graph, label: U32, chosen: list[int]) -> tuple[int, int, int]:
    """The pairs of some nodes, the bytes of their rows, and how many were looked at."""
    from triplestore.kernels.reach import spread

    lists, size = graph.ahead, len(graph.nodes)
    parent = np.full(size, NONE, dtype=np.uint32)
    queue = np.empty(size + 1, dtype=np.uint32)
    reached = row_bytes = steps = looked = 0
    for node in chosen:
        if steps > _ENOUGH:
            break
        queue[0] = node
        state = np.array([0, 1, 0, 0], dtype=np.int64)
        while not spread(lists.starts, lists.cols, parent, queue, state, -1, STEPS):
            pass
        found = queue[1 : int(state[1])]
        parent[found] = NONE
        reached += len(found)
        row_bytes += _row_bytes(label[found])
        steps += int(state[2])
        looked += 1
    return reached, row_bytes, looked


def _row_bytes(labels: U32) -> int:
    """What a row of these labels takes."""
    if len(labels) == 0:
        return 8
    labels = sorted_distinct(labels)
    runs = 1 + int((np.diff(labels) > 1).sum())
    words = int(labels[-1] >> 6) - int(labels[0] >> 6) + 1
    return min(8 * runs, 4 * len(labels), 8 * words)
