"""Counting some nodes of the rows of a closure, against walks."""

from __future__ import annotations

import random

import numpy as np
from support.fuzzing import each_seed

from triplestore.closures.chains.state_reach import StateReach
from triplestore.closures.transitive.transitive_closure import TransitiveClosure
from triplestore.relations.packed_keys import pack


def reaches(edges: set[tuple[int, int]], node: int) -> set[int]:
    found: set[int] = set()
    todo = [node]
    while todo:
        at = todo.pop()
        for b in {b for a, b in edges if a == at} - found:
            found.add(b)
            todo.append(b)
    return found


@each_seed(range(8))
def test_weigh_some__counts_in_every_form_of_rows(seed: int) -> None:
    """Few edges make lists and runs, many make bitmaps; cycles make components of many nodes."""
    rng = random.Random(seed)
    size = rng.choice([5, 40, 200])
    edges = set()
    for _ in range(size * rng.choice([1, 2, 4])):
        a, b = rng.randrange(size), rng.randrange(size)
        edges.add((a, b) if rng.random() < 0.02 else (min(a, b), max(a, b)))
    tails, heads = np.array(sorted(edges), np.uint32).T.copy()
    closure = TransitiveClosure.build(pack(tails, heads))
    nodes = closure.graph.nodes
    wanted = np.array([rng.random() < 0.4 for _ in nodes])
    some = {int(node) for node in nodes[wanted]}
    expected = [sorted(reaches(edges, node) & some) for node in nodes.tolist()]
    reach = StateReach(closure.ahead, wanted, nodes)
    every = np.arange(len(nodes))
    assert reach.counts(every).tolist() == [len(found) for found in expected]
    keys = [key for block in reach.found(every, nodes, 50) for key in block.tolist()]
    assert keys == [
        a << 32 | b for a, ends in zip(nodes.tolist(), expected, strict=True) for b in ends
    ]
