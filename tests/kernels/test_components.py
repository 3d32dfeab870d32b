"""The kernels of undirected graphs, against plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from triplestore.kernels.closures.components import unite_ends, write_pairs

edges = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12)


@given(edges, edges)
def test_unite_ends__joins_trees_under_their_least_node(first: Any, second: Any) -> None:
    parent = np.arange(10, dtype=np.uint32)
    for part in (first, second):
        left, right = (np.array([e[i] for e in part], np.uint32) for i in (0, 1))
        unite_ends(left, right, parent)
    groups = [{node} for node in range(10)]
    for a, b in first + second:
        joined = next(g for g in groups if a in g) | next(g for g in groups if b in g)
        groups = [g for g in groups if not g <= joined] + [joined]
    for node in range(10):
        root = node
        while parent[root] != root:
            assert parent[root] < root
            root = int(parent[root])
        assert root == min(next(g for g in groups if node in g))


@given(st.lists(st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 5), st.integers(0, 4))))
def test_write_pairs__lists_each_range(rows: Any) -> None:
    targets = np.array([7, 2**32 - 1, 0, 3, 3, 1, 9, 8, 6], np.uint32)
    sources = np.array([row[0] for row in rows], np.uint32)
    lo = np.array([row[1] for row in rows], np.int64)
    hi = lo + np.array([row[2] for row in rows], np.int64)
    expected = [s << 32 | int(t) for s, at, n in rows for t in targets[at : at + n]]
    out = np.empty(len(expected), np.uint64)
    write_pairs(sources, lo, hi, targets, out)
    assert out.tolist() == expected
