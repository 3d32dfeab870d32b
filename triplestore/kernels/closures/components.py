"""Connected components of undirected graphs, and pairs written from ranges of targets."""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import kernel

_32 = np.uint64(32)


@kernel("void(u32r, u32r, u32w)")
def unite_ends(left, right, parent):
    """Join the trees of both ends of each edge; the smaller root stays a root.

    parent : u32[nodes], the forest: the parent of a root is itself. Every node's parent is at most
             the node, before and after, so that the root of a tree is its least node.
    Cost   : nearly linear, by path halving
    """
    for i in range(len(left)):
        a = left[i]
        b = right[i]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a < b:
            parent[b] = a
        elif b < a:
            parent[a] = b


@kernel("void(u32r, i64r, i64r, u32r, u64w)")
def write_pairs(sources, lo, hi, targets, out):
    """Write `sources[i] << 32 | targets[j]` for each j of the range [lo[i], hi[i]), in order."""
    row = 0
    for i in range(sources.size):
        head = np.uint64(sources[i]) << _32
        for place in range(lo[i], hi[i]):
            out[row] = head | np.uint64(targets[place])
            row += 1
