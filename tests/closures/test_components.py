"""The symmetric-transitive closure against sets of sets, over histories of changes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.closures.reading import Pair, all_keys, check_pairs, check_readable, keys_of
from triplestore.closures.symmetric_transitive.symmetric_closure import SymmetricClosure
from triplestore.closures.thresholds import CLOSURES

LARGE = 2**32 - 1


def closed(edges: Iterable[Pair]) -> set[Pair]:
    """By definition: add what symmetry and transitivity give until nothing is new."""
    groups: list[set[int]] = []
    for a, b in edges:
        touched = [group for group in groups if a in group or b in group]
        groups = [group for group in groups if group not in touched]
        groups.append({a, b}.union(*touched))
    return {(a, b) for group in groups for a in group for b in group}


def built(edges: Iterable[Pair]) -> SymmetricClosure:
    return SymmetricClosure.build(keys_of(edges))


def check_change(
    scheme: SymmetricClosure, edges: set[Pair], removed: Iterable[Pair], added: Iterable[Pair]
) -> tuple[SymmetricClosure, set[Pair]]:
    """Change it, and compare everything with the oracle; the old version stays as it was."""
    before, after = closed(edges), (edges - set(removed)) | set(added)
    changed, difference = scheme.changed(keys_of(removed), keys_of(added))
    assert changed.edges.tolist() == keys_of(sorted(after)).tolist()
    check_pairs(difference.lost, before - closed(after))
    check_pairs(difference.gained, closed(after) - before)
    assert changed.count() == len(closed(after))
    assert scheme.count() == len(before)
    assert scheme.edges.tolist() == keys_of(sorted(edges)).tolist()
    return changed, after


def check_path(scheme: SymmetricClosure, edges: set[Pair], start: int, end: int) -> None:
    way = scheme.path(start, end)
    if (start, end) not in closed(edges):
        assert way == []
        return
    assert (way[0], way[-1]) == (start, end)
    steps = list(pairwise(way))
    assert steps and all((a, b) in edges or (b, a) in edges for a, b in steps)
    reached, length = {start}, 0
    while length == 0 or end not in reached:
        reached = {y for a, b in edges for x, y in ((a, b), (b, a)) if x in reached}
        length += 1
    assert len(steps) == length


@pytest.fixture(params=["numpy", "kernels"])
def sized(request: Any, tune: Callable[..., None]) -> str:
    """Small arrays go through the branch for small ones, or through the one for large ones."""
    if request.param == "kernels":
        tune(CLOSURES, kernel_rows=0, edited_edges=1, edited_roots=1)
    return str(request.param)


def test_build__one_edge_gives_both_directions_and_both_loops() -> None:
    check_readable(built([(7, 3)]), {(3, 3), (3, 7), (7, 3), (7, 7)}, [3, 7, 5])


def test_build__a_loop_gives_only_itself() -> None:
    check_readable(built([(4, 4)]), {(4, 4)}, [4, 5])


def test_build__nothing_gives_nothing() -> None:
    check_readable(built([]), set(), [1, 2])
    assert built([]).path(1, 1) == []


def test_changed__the_first_edge_gains_three_beyond_itself() -> None:
    changed, difference = built([]).changed(keys_of([]), keys_of([(1, 2)]))
    check_pairs(difference.gained, {(1, 1), (1, 2), (2, 1), (2, 2)})
    assert difference.lost.count() == 0
    _, difference = changed.changed(keys_of([]), keys_of([(2, 2), (2, 1)]))
    assert difference.gained.count() == difference.lost.count() == 0


def test_changed__an_edge_of_a_cycle_can_go_without_a_loss() -> None:
    cycle = {(1, 2), (2, 3), (3, 1)}
    changed, after = check_change(built(cycle), cycle, [(1, 2)], [])
    check_readable(changed, closed(cycle), [1, 2, 3])
    changed, after = check_change(changed, after, [(3, 1)], [])
    check_readable(changed, {(2, 2), (2, 3), (3, 2), (3, 3)}, [1, 2, 3])


def test_changed__a_cycle_of_n_has_n_squared_pairs() -> None:
    cycle = {(i, (i + 1) % 50) for i in range(50)}
    scheme = built(cycle)
    assert scheme.count() == 2500
    check_change(scheme, cycle, [(3, 4), (20, 21)], [])


def test_changed__a_loop_keeps_a_node_that_loses_its_edges() -> None:
    edges = {(1, 2), (2, 2)}
    changed, _ = check_change(built(edges), edges, [(1, 2)], [])
    check_readable(changed, {(2, 2)}, [1, 2])


def test_changed__what_is_not_there_or_there_already_changes_nothing() -> None:
    edges = {(1, 2), (3, 4)}
    scheme = built(edges)
    same, difference = scheme.changed(keys_of([(2, 1), (5, 5)]), keys_of([(1, 2)]))
    assert same is scheme
    assert difference.lost.count() == difference.gained.count() == 0
    same, _ = scheme.changed(keys_of([(3, 4), (1, 2)]), keys_of([(3, 4), (1, 2), (1, 2)]))
    assert same is scheme


def test_changed__split_and_joined_at_once() -> None:
    edges = {(1, 2), (2, 3), (3, 4), (5, 6), (6, 7), (7, 5), (8, 9)}
    check_change(built(edges), edges, [(2, 3), (5, 6), (8, 9)], [(4, 5), (0, 9), (LARGE, LARGE)])


def test_changed__a_large_cell_lists_the_others_only() -> None:
    """One node leaves many: the stream looks at as many pairs as it gives."""
    star = {(0, i) for i in range(1, 400)}
    _, difference = built(star).changed(keys_of([(0, 7)]), keys_of([]))
    assert difference.lost.count() == 2 * 399 + 1
    sizes = [len(block) for block in difference.lost.blocks(100)]
    assert sum(sizes) == 799 and len(sizes) <= 10
    check_pairs(difference.lost, closed(star) - closed(star - {(0, 7)}), sizes=[50])


def test_difference__is_not_written_out() -> None:
    left = [(i, i + 1) for i in range(20_000)]
    right = [(i, i + 1) for i in range(30_000, 50_000)]
    scheme, difference = built(left + right).changed(keys_of([]), keys_of([(0, 30_000)]))
    assert difference.gained.count() == 2 * 20_001**2
    assert scheme.count() == 40_002**2
    first = next(difference.gained.blocks())
    assert first[0] == 30_000 and first[-1] < 200 << 32
    assert next(scheme.blocks(10)).tolist() == list(range(10))


@pytest.mark.parametrize("seed", range(12))
def test_changed__random_histories(seed: int, sized: str) -> None:
    rng = random.Random(seed)
    nodes = rng.sample(range(60), rng.choice([5, 12, 30])) + rng.choice([[], [LARGE, LARGE - 1]])

    def some(count: int) -> list[Pair]:
        return [(rng.choice(nodes), rng.choice(nodes)) for _ in range(count)]

    edges = set(some(rng.choice([0, 5, 20])))
    scheme = built(edges)
    versions = [(scheme, set(edges))]
    for _ in range(25):
        there = sorted(edges)
        removed = rng.sample(there, min(len(there), rng.choice([0, 1, 1, 3]))) + some(1)
        scheme, edges = check_change(scheme, edges, removed, some(rng.choice([0, 1, 1, 2])))
        versions.append((scheme, set(edges)))
    for scheme, edges in versions[::6]:
        check_readable(scheme, closed(edges), nodes)
        for start, end in some(4):
            check_path(scheme, edges, start, end)
        assert np.array_equal(all_keys(scheme), all_keys(built(edges)))


pair = st.tuples(st.integers(0, 7), st.integers(0, 7))
batches = st.lists(st.tuples(st.lists(pair, max_size=4), st.lists(pair, max_size=4)), max_size=6)


@given(st.sets(pair, max_size=10), batches)
def test_changed__any_history(edges: set[Pair], history: Any) -> None:
    scheme = built(edges)
    for removed, added in history:
        scheme, edges = check_change(scheme, edges, removed, added)
    check_readable(scheme, closed(edges), range(9))


def test_changed__many_small_components_one_edge_at_a_time() -> None:
    """Layers are merged on the way, and old versions stay."""
    rng = random.Random(5)
    edges = {(2 * i, 2 * i + 1) for i in range(300)}
    scheme = first = built(edges)
    for _ in range(400):
        edge = rng.choice(sorted(edges))
        far = (rng.randrange(600), rng.randrange(600)) if rng.random() < 0.1 else edge
        scheme, difference = scheme.changed(keys_of([edge]), keys_of([]))
        scheme, back = scheme.changed(keys_of([]), keys_of([far]))
        edges = (edges - {edge}) | {far}
        if far == edge:
            assert all_keys(difference.lost).tolist() == all_keys(back.gained).tolist()
    check_readable(scheme, closed(edges), range(0, 600, 50))
    assert first.count() == 1200
    for edge in sorted(edges):
        scheme, _ = scheme.changed(keys_of([edge]), keys_of([]))
    assert scheme.count() == 0 == len(scheme.edges)
    assert scheme.nbytes() < 100_000


def test_changed__a_component_that_stays_whole_is_not_copied() -> None:
    edges = [(i, (i + 1) % 500) for i in range(500)] + [(i, (i + 2) % 500) for i in range(500)]
    scheme = built(edges)
    changed, _ = scheme.changed(keys_of(edges[3:90]), keys_of([(7, 400), (500, 500)]))
    assert changed._parts._layers[0].members is scheme._parts._layers[0].members


def test_changed__what_is_gone_is_given_back() -> None:
    edges = [(2 * i, 2 * i + 1) for i in range(5000)]
    changed, difference = built(edges).changed(keys_of(edges[100:]), keys_of([]))
    assert difference.lost.count() == 4 * 4900
    assert changed.nbytes() < 2 * built(edges[:100]).nbytes()


class StopError(Exception):
    pass


class Refusing:
    def check(self) -> None:
        raise StopError


def test_build__asks_the_budget() -> None:
    edges = keys_of([(i, i + 1) for i in range(2000)])
    with pytest.raises(StopError):
        SymmetricClosure.build(edges, Refusing())
