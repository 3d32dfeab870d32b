"""Transitive closures kept as rows of components, against sets of pairs."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.closures.reachability import Pair, check, closure, keys, pairs, streamed
from triplestore.closures.thresholds import CLOSURES
from triplestore.closures.transitive.transitive_closure import TransitiveClosure

RUNS, BITS, LIST = 1, 2, 3


def build(edges: Any) -> TransitiveClosure:
    return TransitiveClosure.build(keys(edges))


def changed(
    old: TransitiveClosure, removed: Any = (), added: Any = ()
) -> tuple[TransitiveClosure, set[Pair], set[Pair]]:
    """The new closure, what was lost and what was gained, compared with the oracle."""
    before = set(pairs(old.edges))
    new, difference = old.changed(keys(set(removed)), keys(set(added)))
    after = (before - set(removed)) | set(added)
    assert set(pairs(new.edges)) == after
    was, now = closure(before), closure(after)
    lost, gained = streamed(difference.lost), streamed(difference.gained)
    assert (lost, gained) == (was - now, now - was)
    assert new.count() == len(now)
    return new, lost, gained


def forms(closure: TransitiveClosure) -> list[int]:
    """How many rows there are in each form."""
    fields = closure.ahead.head.reshape(-1, 4)
    return np.bincount(fields[fields[:, 0] != 0, 0] & 3, minlength=4).tolist()[1:]


class History:
    """A random graph that goes on changing."""

    def __init__(self, seed: int, size: int, sparse: bool) -> None:
        self.random = random.Random(seed)
        pool = range(2**32 - 3) if sparse else range(2 * size)
        self.ids = self.random.sample(pool, size)
        self.acyclic = self.random.random() < 0.5
        degree = self.random.choice([0.5, 1, 2, 3])
        self.edges = {self.edge() for _ in range(int(size * degree))}

    def edge(self) -> Pair:
        a, b = self.random.choice(self.ids), self.random.choice(self.ids)
        return (min(a, b), max(a, b)) if self.acyclic and self.random.random() < 0.95 else (a, b)

    def batch(self) -> tuple[set[Pair], set[Pair]]:
        """Edges to remove and to add; some are not there, or there already."""
        size = self.random.choice([0, 1, 1, 2, len(self.ids) // 2])
        gone = set(self.random.sample(sorted(self.edges), min(size, len(self.edges))))
        gone |= {self.edge() for _ in range(self.random.randint(0, 2))}
        if self.random.random() < 0.03:
            gone = set(self.edges)
        size = self.random.choice([0, 1, 1, 2, len(self.ids) // 2])
        return gone, {self.edge() for _ in range(size)}


def run(seed: int, steps: int = 5) -> None:
    history = History(seed, random.Random(-seed).choice([3, 5, 8, 12, 30]), seed % 3 == 0)
    now = build(history.edges)
    versions = [(now, closure(history.edges))]
    check(now, versions[-1][1], history.ids)
    for step in range(steps):
        gone, come = history.batch()
        if history.random.random() < 0.3:
            assert now.behind  # made before the change, and kept up to date by swapped streams
        now, _, _ = changed(now, gone, come)
        history.edges = (history.edges - gone) | come
        versions.append((now, closure(history.edges)))
        check(now, versions[-1][1], history.ids)
        old, pairs_then = versions[step]
        check(old, pairs_then, history.ids)
    for old, pairs_then in versions:
        assert streamed(old) == pairs_then


@pytest.mark.parametrize("seed", range(40))
def test_changed__random_histories(seed: int, tune: Callable[..., None]) -> None:
    if seed % 2:  # differences in swapped order from rows of predecessors
        tune(CLOSURES, sorted_pairs=0)
    run(seed)


@pytest.mark.long
def test_changed__many_random_histories() -> None:
    for seed in range(100, 2100):
        run(seed, 8)


few = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=14)


@given(few, st.lists(st.tuples(few, few), max_size=4))
def test_changed__any_batches(edges: Any, batches: Any) -> None:
    now = build(set(edges))
    check(now, closure(edges), list(range(7)))
    for gone, come in batches:
        now, _, _ = changed(now, gone, come)
    check(now, closure(pairs(now.edges)), list(range(7)))


def graph_of(seed: int, size: int, degree: float, reach: int, acyclic: bool) -> set[Pair]:
    """Edges to nodes that are not far."""
    rng = random.Random(seed)
    low = 0 if acyclic else -reach // 4
    found = set()
    for _ in range(int(size * degree)):
        a = rng.randrange(size)
        found.add((a, min(size - 1, max(0, a + rng.randint(low, reach)))))
    return found


@pytest.mark.slow_kernels
@pytest.mark.parametrize(
    ("degree", "reach", "acyclic", "form"),
    [(4, 300, True, BITS), (1.3, 300, True, LIST), (1, 3, False, RUNS), (1.5, 30, False, RUNS)],
)
def test_changed__rows_of_every_form(degree: float, reach: int, acyclic: bool, form: int) -> None:
    rng = random.Random(1)
    edges = graph_of(int(10 * degree), 300, degree, reach, acyclic)
    now = build(edges)
    assert forms(now)[form - 1] > 5
    for size in (1, 1, 3, 60, 1):
        gone = set(rng.sample(sorted(edges), size))
        now, _, _ = changed(now, gone, ())
        edges -= gone
        check_counts(now, edges)
        come = graph_of(rng.randrange(99), 300, size / 300, reach, acyclic)
        now, _, _ = changed(now, (), come)
        edges |= come
        check_counts(now, edges)
    assert streamed(now) == closure(edges)


def test_changed__bitmaps_of_equal_weight_are_told_apart() -> None:
    rng = random.Random(4)
    fans = {(1000 + a, b) for a in range(30) for b in range(1, 128) if rng.random() < 0.5}
    others = {(3000 + b, 0) for b in range(128)}  # these get greater labels than the fans
    now = build(fans | {(1000 + a, 0) for a in range(30)} | others)
    assert forms(now)[BITS - 1] >= 25
    for a in range(30):
        gone = rng.choice(sorted(edge for edge in fans if edge[0] == 1000 + a))
        come = (1000 + a, 3000 + rng.randrange(128))
        now, lost, gained = changed(now, {gone}, {come})
        assert (lost, gained) == ({gone}, {come})


def test_changed__components_of_several_nodes_in_bitmaps() -> None:
    rng = random.Random(8)
    pairs_of_nodes = {(2 * a + i, 2 * a + 1 - i) for a in range(120) for i in range(2)}

    def fan(node: int) -> set[Pair]:
        return {(node, 2 * a) for a in range(120) if rng.random() < 0.5}

    now = build(pairs_of_nodes.union(*(fan(1000 + a) for a in range(5))))
    assert forms(now)[BITS - 1] >= 5
    for node in range(2000, 2005):
        come = fan(node)
        now, _, gained = changed(now, (), come)  # which counts them
        assert len(gained) == 2 * len(come)
    now, lost, _ = changed(now, {(0, 1)}, ())
    assert now.count() == len(closure(pairs(now.edges))) and lost


def check_counts(now: TransitiveClosure, edges: set[Pair]) -> None:
    nodes = np.arange(300, dtype=np.uint32)
    found = closure(edges)
    forward, backward = np.zeros((2, 300), dtype=np.int64)
    np.add.at(forward, [a for a, _ in found], 1)
    np.add.at(backward, [b for _, b in found], 1)
    assert now.match_counts(0, nodes).tolist() == forward.tolist()
    assert now.match_counts(1, nodes).tolist() == backward.tolist()


NAMES = {name: number for number, name in enumerate("rbdehkxyzs", start=10)}


def named(text: str) -> set[Pair]:
    """Pairs such as `re bh`."""
    return {(NAMES[a], NAMES[b]) for a, b in text.split()}


START = named("rd de eh rb be")


def test_insertions__a_node_under_another_a_merge_and_nodes_under_that() -> None:
    now, _, gained = changed(build(()), (), START)
    assert gained == named("be bh de dh eh rb rd re rh")
    now, _, gained = changed(now, (), named("dk"))
    assert gained == named("dk rk")
    now, _, gained = changed(now, (), named("hd"))
    assert gained == named("bd bk dd ed ee ek hd he hh hk")
    now, lost, gained = changed(now, (), named("hx ky"))
    assert gained == named("rx bx dx ex hx ry by dy ey hy ky")
    assert not lost
    _, _, gained = changed(build(START), (), named("dk hd hx zr ss"))
    assert len(gained) == 25


@pytest.mark.parametrize(
    ("batches", "sizes"),
    [
        ([{(1, 5)}], [1]),
        ([{(7, 1)}, {(3, 3)}], [1, 1]),
        ([{(2, 2)}, {(0, 2)}], [1, 1]),
        ([{(1, 3)}, {(3, 1)}], [1, 3]),
        ([{(0, 2)}, {(2, 1)}], [1, 2]),
        ([{(1, 0)}, {(1, 2), (2, 0), (0, 1)}], [1, 8]),
        ([{(3, 1)}, {(2, 3)}, {(1, 2), (1, 3), (1, 0), (4, 1)}], [1, 2, 13]),
    ],
)
def test_insertions__small_histories(batches: list[set[Pair]], sizes: list[int]) -> None:
    now = build(())
    for batch, size in zip(batches, sizes, strict=True):
        now, lost, gained = changed(now, (), batch)
        assert len(gained) == size and not lost
    for batch in batches[::-1]:
        now, lost, gained = changed(now, batch, ())
        assert not gained
    assert now.count() == 0


@pytest.mark.parametrize("size", [5, 50])
def test_chain__has_a_row_of_one_run_for_each_node(size: int) -> None:
    chain = build({(i + 1, i) for i in range(1, size)})
    assert chain.count() == size * (size - 1) // 2
    assert forms(chain)[RUNS - 1] <= size and forms(chain)[1:] == [0, 0]
    assert chain.ahead.live <= size


def test_path__grows_by_a_node_in_each_batch() -> None:
    now = build({(0, 1)})
    for node in range(1, 101):
        now, lost, gained = changed(now, (), {(node, node + 1)})
        assert not lost and gained == {(a, node + 1) for a in range(node + 1)}
    assert now.count() == 101 * 102 // 2
    for node in range(100, 50, -1):
        now, lost, _ = changed(now, {(node, node + 1)}, ())
        assert len(lost) == node + 1


def test_path__grows_at_its_start() -> None:
    now = build({(100, 101)})
    for node in range(99, 0, -1):
        now, lost, gained = changed(now, (), {(node, node + 1)})
        assert not lost and gained == {(node, b) for b in range(node + 1, 102)}


def test_cycle__an_edge_less_splits_it_and_the_edge_again_closes_it() -> None:
    ring = {(i, (i + 1) % 9) for i in range(9)}
    now = build(ring | {(20, 0), (8, 30)})
    now, lost, gained = changed(now, {(3, 4)}, ())
    assert not gained and len(lost) == 45 + 6 + 4  # in the ring; from 20; from 0 to 3, to 30
    now, lost, gained = changed(now, (), {(3, 4)})
    assert not lost
    now, lost, gained = changed(now, {(3, 4)}, {(3, 5), (5, 4)})
    assert not lost and not gained  # one batch takes the edge away and goes round it


def test_changed__an_edge_in_both_batches_is_there_afterwards() -> None:
    _, lost, gained = changed(build({(1, 2), (2, 3)}), {(1, 2), (2, 3)}, {(1, 2)})
    assert lost == {(2, 3), (1, 3)} and not gained


def test_changed__nothing_to_do_gives_the_same_closure() -> None:
    now = build({(1, 2)})
    same, lost, gained = changed(now, {(2, 1)}, {(1, 2)})
    assert same is now and not lost and not gained


def test_changed__two_changes_of_one_version_do_not_disturb_each_other() -> None:
    edges = graph_of(3, 120, 3, 60, True)
    base = build(edges)
    one, _, _ = changed(base, list(edges)[:20], ())
    other, _, _ = changed(base, list(edges)[20:40], {(5, 3), (7, 6)})
    again, _, _ = changed(one, list(edges)[40:60], ())
    assert streamed(base) == closure(edges)
    assert streamed(one) == closure(set(list(edges)[20:]))
    assert streamed(other) == closure(set(list(edges)[:20] + list(edges)[40:]) | {(5, 3), (7, 6)})
    assert streamed(again) == closure(set(list(edges)[20:40] + list(edges)[60:]))


@pytest.mark.parametrize("seed", range(6))
def test_changed__versions_are_kept_and_dropped_at_random(
    seed: int, tune: Callable[..., None]
) -> None:
    """Versions write where those that are gone had rows, and nowhere else."""
    rng = random.Random(seed)
    tune(CLOSURES, idle_words=rng.choice([0, 4, 64]))
    size, acyclic = rng.choice([6, 20, 40]), seed % 3 > 0
    edges = graph_of(seed, size, 1.3, size, acyclic)
    now, kept = build(edges), []
    for _ in range(25):
        many = rng.choice([1, 1, size // 2, size // 2, 2 * size])
        gone = set(rng.sample(sorted(edges), min(many, len(edges))))
        come = graph_of(rng.randrange(999), size, many / size, size, acyclic)
        if rng.random() < 0.2:
            now.changed(keys(come), keys(gone))  # a version that is given up
        kept.append((now, closure(edges)))
        now = now.changed(keys(gone), keys(come))[0]  # a difference would keep the old version
        edges = (edges - gone) | come
        if rng.random() < 0.7:
            kept.pop(rng.randrange(len(kept)))
        for old, expected in [*kept, (now, closure(edges))]:
            found = [pair for block in old.blocks() for pair in pairs(block)]
            assert found == sorted(expected)


def test_changed__a_version_that_grows_does_not_write_over_another_one() -> None:
    small, large = graph_of(1, 200, 1.2, 90, True), graph_of(2, 200, 5, 90, True)
    now = build(large)
    for _ in range(3):
        now = now.changed(keys(large - small), keys(small))[0]  # the large one is gone now
        then = now.changed(keys(()), keys(large))[0]
        assert streamed(now) == closure(small)
        assert streamed(then) == closure(small | large)
        now = then


@pytest.mark.parametrize("room", [True, False])
def test_rows__are_moved_only_where_there_is_room(room: bool) -> None:
    edges = graph_of(2, 200, 5, 90, True)
    made = build(edges)
    rows = made.ahead
    start, end = rows.end // 5, rows.end
    rows.pool.words[end:] = 77  # somebody else's
    draft = replace(rows, head=rows.head.copy())
    moved = draft._settled(start, end, len(rows.pool.words) if room else end)
    assert (rows.pool.words[end:] == 77).all() != room
    assert (moved.low > 0, moved.end > end) == (room, room)
    assert streamed(TransitiveClosure(made.graph, moved)) == closure(edges) == streamed(made)


def test_backward__by_search_and_by_rows() -> None:
    edges = graph_of(6, 80, 1.5, 30, False)
    found = closure(edges)
    for probes in (1, 400):
        made = build(edges)
        for _ in range(probes):  # rows are made after some time
            node = random.Random(probes).randrange(80)
            owner, others = made.match(1, np.array([99, node], dtype=np.uint32))
            assert others.tolist() == sorted(a for a, b in found if b == node)
            assert set(owner.tolist()) <= {1}
        assert made.match_counts(1, np.array([node], np.uint32)).tolist() == [len(others)]
    assert made.nbytes() > build(edges).nbytes()


def test_changed__labels_out_of_use_do_not_pile_up() -> None:
    ring = {(i, (i + 1) % 40) for i in range(40)}
    now = build(ring)
    for _ in range(60):
        now, _, _ = changed(now, {(3, 4)}, ())
        now, _, _ = changed(now, (), {(3, 4)})
    assert now.ahead.labels < 40 * 41
    assert streamed(now) == closure(ring)


def test_rows__leaves_take_none() -> None:
    chain = {(i, i + 1) for i in range(20)}
    star = build(chain | {(100 + i, 0) for i in range(1000)})
    assert star.count() == 210 + 21 * 1000
    assert sum(forms(star)) <= 21


def test_path__is_a_shortest_one() -> None:
    made = build({(1, 2), (2, 3), (3, 4), (1, 3), (4, 1), (9, 9), (7, 8)})
    assert made.path(1, 4) == [1, 3, 4]
    assert made.path(1, 1) == [1, 3, 4, 1]
    assert made.path(9, 9) == [9, 9]
    assert made.path(7, 8) == [7, 8]
    for pair in [(8, 7), (7, 7), (1, 9), (5, 5), (1, 5)]:
        assert made.path(*pair) == []


def test_estimate__is_exact_for_few_nodes_and_near_for_many() -> None:
    small = {(1, 2), (2, 3), (3, 2), (3, 9)}
    guess = TransitiveClosure.estimate_size(keys(small))
    assert (guess.pairs, guess.exact) == (len(closure(small)), True)
    assert TransitiveClosure.estimate_size(keys(())).pairs == 0
    large = keys(graph_of(5, 3000, 3, 400, True))
    guess, made = TransitiveClosure.estimate_size(large), TransitiveClosure.build(large)
    assert 0.8 < guess.pairs / made.count() < 1.25
    assert 0.4 < guess.bytes / made.nbytes() < 2.5
    assert guess.row_bytes == 16 * guess.pairs and not guess.exact


def test_estimate__of_a_tree_is_near_in_both_directions() -> None:
    up = {(node, (node - 1) // 3) for node in range(1, 5000)}
    for tree in (up, {(b, a) for a, b in up}):
        guess, made = TransitiveClosure.estimate_size(keys(tree)), build(tree)
        assert 0.8 < guess.pairs / made.count() < 1.25


class Impatient:
    """A budget that is spent after some calls."""

    def __init__(self, calls: int) -> None:
        self.calls = calls

    def check(self) -> None:
        self.calls -= 1
        if self.calls < 0:
            raise TimeoutError


def test_budget__stops_a_change_and_leaves_the_closure_as_it_was() -> None:
    edges = graph_of(3, 120, 3, 60, True)
    now = build(edges)
    with pytest.raises(TimeoutError):
        TransitiveClosure.build(keys(edges), Impatient(0))
    with pytest.raises(TimeoutError):
        now.changed(keys(list(edges)[:50]), keys(()), Impatient(0))
    assert streamed(now) == closure(edges)
    changed(now, list(edges)[:20], ())
