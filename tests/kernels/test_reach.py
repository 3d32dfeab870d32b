"""The kernels of transitive closures: walks over graphs, rows of labels, and pairs from rows.

They are resumable; here each call does one step, pools are as small as they may be, and the result
is compared with sets of pairs. What they do on larger graphs is tested in tests/closures.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.closures.reachability import Pair, closure, keys, pairs, streamed
from triplestore.closures.edge_graph import EdgeGraph
from triplestore.closures.thresholds import CLOSURES
from triplestore.closures.transitive import reach
from triplestore.closures.transitive.transitive_closure import TransitiveClosure
from triplestore.kernels.closures.reach import NONE, number_components, spread

edges = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=20)


@given(edges, st.integers(1, 30), st.randoms(use_true_random=False))
def test_number_components__are_those_of_mutual_reach_in_order(
    some: Any, limit: int, rng: random.Random
) -> None:
    graph = EdgeGraph.of(keys(set(some)))
    size = len(graph.nodes)
    label, number = np.full(size, NONE), np.zeros(size, np.uint32)
    low, calls, stack = np.empty((3, size), np.uint32)
    roots = np.array(rng.sample(range(size), size), np.uint32)
    edge, state = graph.ahead.starts[:-1].copy(), np.zeros(5, np.int64)
    for _ in range(1000):
        if number_components(
            graph.ahead.starts, graph.ahead.cols, roots, edge, number, low, label, calls, stack,
            state, limit,
        ):  # fmt: skip
            break
    names = dict(zip(graph.nodes.tolist(), label.tolist(), strict=True))
    assert sorted(set(names.values())) == list(range(state[4]))
    found = closure(some)
    for a in names:
        for b in names:
            together = a == b or ((a, b) in found and (b, a) in found)
            assert (names[a] == names[b]) == together
            if (a, b) in found and not together:
                assert names[a] > names[b]


def distances(some: set[Pair], start: int) -> dict[int, int]:
    """How many steps lead to each node, one or more."""
    found: dict[int, int] = {}
    front, steps = {start}, 0
    while front:
        steps += 1
        front = {b for a, b in some if a in front} - set(found)
        found |= dict.fromkeys(front, steps)
    return found


@given(edges, st.integers(1, 5))
def test_spread__finds_nodes_in_the_order_of_distance(some: Any, limit: int) -> None:
    graph = EdgeGraph.of(keys(set(some)))
    size = len(graph.nodes)
    for start in range(size):
        parent, queue = np.full(size, NONE), np.empty(size + 1, np.uint32)
        queue[0] = start
        state = np.array([0, 1, 0, 0])
        while not spread(graph.ahead.starts, graph.ahead.cols, parent, queue, state, -1, limit):
            pass
        ids = graph.nodes.tolist()
        expected = distances(set(some), ids[start])
        order = [ids[node] for node in queue[1 : state[1]].tolist()]
        assert sorted(order) == sorted(expected)
        assert [expected[node] for node in order] == sorted(expected.values())
        for node in order:
            before = ids[parent[ids.index(node)]]
            assert (before, node) in set(some)
            assert expected[node] == 1 or expected[before] == expected[node] - 1


class Tight(reach.Pool):
    """A pool that has just the room for one more row, so that it must grow for each."""

    __slots__ = ()

    def __init__(self, wanted: int, least: int) -> None:
        super().__init__(0, least)


@pytest.fixture
def step_by_step(monkeypatch: pytest.MonkeyPatch, tune: Callable[..., None]) -> None:
    """Each call of a kernel does one step, in pools without room to spare."""
    tune(CLOSURES, kernel_steps=1)
    monkeypatch.setattr(reach, "Pool", Tight)


def graph(rng: random.Random, size: int, count: int, acyclic: bool) -> set[Pair]:
    found = {(rng.randrange(size), rng.randrange(size)) for _ in range(count)}
    return {(min(p), max(p)) for p in found} if acyclic else found


@pytest.mark.usefixtures("step_by_step")
@pytest.mark.parametrize(
    ("seed", "size", "degree", "acyclic"),
    [(1, 9, 1.2, False), (2, 30, 1.5, False), (3, 40, 1.2, True), (4, 90, 2.5, True)],
)
def test_rows__step_by_step_in_small_pools(
    seed: int, size: int, degree: float, acyclic: bool
) -> None:
    rng = random.Random(seed)
    held = graph(rng, size, int(size * degree), acyclic)
    now = TransitiveClosure.build(keys(held))
    assert streamed(now) == closure(held)
    for _ in range(3):
        gone = set(rng.sample(sorted(held), 4))
        come = graph(rng, size, 3, acyclic)
        then = (held - gone) | come
        now, difference = now.changed(keys(gone), keys(come))
        assert set(pairs(now.edges)) == then
        was, is_now = closure(held), closure(then)
        assert streamed(difference.lost) == was - is_now
        assert streamed(difference.gained) == is_now - was
        assert streamed(now) == is_now
        held = then
