"""Graphs by name, as sorted packed edges `first << 32 | second`; nodes are numbered from 1.

    dag-10000-100000       random edges from lower to higher nodes (the papers' DAG-R)
    tree-100000            a random tree, as edges to its parents
    network-100000-1000000 a tree and random edges: one component of 100,000 nodes
    halves-100000-1000000  two such networks of half the size, joined by one edge (`bridge`)
    cycle-100000           one round, so that any edge but one can go without splitting it
    broader-1426588        a network of categories: a small part is one strongly connected
                           component, all others are below some that came before
    wordnet, go, ...       real ones of the shared data (`bench.shapes.real`)

Start at `graph`. The same name gives the same graph on every machine.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench.harness import MeasurementError
from bench.inputs.random_numbers import I64, below

U64 = NDArray[np.uint64]

_32 = np.uint64(32)

CORE = 2_400
"""Nodes of the strongly connected part of `broader` at full size. DBpedia's larger extract has
1,426,588 edges and 1,949,306,188 pairs, some 2,600 for each of its 750,000 categories; a random
hierarchy of that size has 200 per category."""

FULL = 1_426_588


def graph(name: str) -> U64:
    """The edges of a graph.

    >>> graph("cycle-3").tolist() == [1 << 32 | 2, 2 << 32 | 3, 3 << 32 | 1]
    True
    >>> len(graph("dag-100-500")), len(graph("network-10-20"))
    (500, 20)
    """
    kind, *sizes = name.split("-")
    numbers = [int(size) for size in sizes]
    if kind == "dag" and len(numbers) == 2:
        return dag(*numbers)
    if kind == "tree" and len(numbers) == 1:
        return tree(*numbers)
    if kind == "network" and len(numbers) == 2:
        return network(*numbers)
    if kind == "halves" and len(numbers) == 2:
        return halves(*numbers)
    if kind == "cycle" and len(numbers) == 1:
        return cycle(*numbers)
    if kind == "broader" and len(numbers) == 1:
        return broader(*numbers)
    if not numbers:
        from bench.shapes.real import real

        if (found := real(name)) is not None:
            return found
    raise MeasurementError(f"graph {name} is unknown: see bench/shapes and the shared data")


def dag(nodes: int, edges: int, *, seed: str = "dag") -> U64:
    """This many distinct edges, each from a lower to a higher node."""
    keys = np.empty(0, np.uint64)
    turn = 0
    while len(keys) < edges:
        one, other = below(nodes, f"{seed}/{turn}", 4 * edges).reshape(2, -1)
        upwards = one < other
        keys = _first_of_each(np.concatenate((keys, packed(one[upwards], other[upwards]))))
        turn += 1
    return np.sort(keys[:edges])


def tree(nodes: int, *, seed: str = "tree") -> U64:
    """A random recursive tree: each node except the first is below an earlier one."""
    return np.sort(packed(np.arange(1, nodes), _before(np.arange(1, nodes), seed)))


def network(nodes: int, edges: int, *, seed: str = "network") -> U64:
    """A tree, and random edges up to this number."""
    keys = tree(nodes, seed=seed)
    turn = 0
    while len(keys) < edges:
        one, other = below(nodes, f"{seed}/{turn}", 4 * edges).reshape(2, -1)
        apart = one != other
        keys = _first_of_each(np.concatenate((keys, packed(one[apart], other[apart]))))
        turn += 1
    return np.sort(keys[:edges])


def halves(nodes: int, edges: int) -> U64:
    """Two networks with this many nodes and edges in all, and one edge that joins them."""
    half = nodes // 2
    one = network(half, (edges - 1) // 2, seed="one half")
    other = network(half, (edges - 1) // 2, seed="other half")
    moved = other + (np.uint64(half) << _32 | np.uint64(half))
    return np.unique(np.concatenate((one, moved, bridge(nodes))))


def bridge(nodes: int) -> U64:
    """The edge without which `halves` is two components."""
    return packed(np.array([nodes // 2 * 2 - 1]), np.array([0]))


def cycle(nodes: int) -> U64:
    """Each node before the next, and the last before the first."""
    here = np.arange(nodes)
    return np.sort(packed(here, (here + 1) % nodes))


def broader(edges: int, *, seed: str = "broader") -> U64:
    """A network of categories with about this many edges from a category to a broader one.

    The first `CORE` categories (fewer in proportion for fewer edges) are on one cycle. Each other
    category is below a random earlier one, and half of all edges are second ones.
    """
    core = max(3, CORE * edges // FULL)
    nodes = max(edges * 10 // 19, core + 1)
    more = max(0, edges - nodes)
    child = np.concatenate((np.arange(core, nodes), core + below(nodes - core, f"{seed}/c", more)))
    ring = np.arange(core)
    s = np.concatenate((ring, child))
    o = np.concatenate(((ring + 1) % core, _before(child, seed)))
    return np.unique(packed(s, o))


def packed(first: I64, second: I64) -> U64:
    """Edges between nodes that are counted from 0."""
    return (first + 1).astype(np.uint64) << _32 | (second + 1).astype(np.uint64)


def _before(nodes: I64, seed: str) -> I64:
    """For each node one of a lower number."""
    rolled = below(1 << 32, f"{seed}/p", len(nodes))
    return rolled * nodes >> 32


def _first_of_each(keys: U64) -> U64:
    return keys[np.sort(np.unique(keys, return_index=True)[1])]
