"""Large arrays give the same in several threads as in one, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from triplestore.relations import Tables, bulk_layer
from triplestore.relations.facts import sorted_arrays as sets
from triplestore.relations.facts.key_ranges import ranges_of
from triplestore.relations.layers.swap_columns import turned, turned_rows
from triplestore.relations.shared_work import sorted_keys, split_at_equal_keys
from triplestore.relations.thresholds import RELATIONS

SIZE = 30_000


def keys(seed: int, size: int = SIZE, firsts: int = 300, seconds: int = 900) -> np.ndarray:
    rng = np.random.default_rng(seed)
    first, second = rng.integers(1, firsts, size), rng.integers(5, seconds, size)
    return first.astype(np.uint64) << np.uint64(32) | second.astype(np.uint64)


def equal_in_threads(work: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the work gives, in one thread and in three."""
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("TRIPLESTORE_THREADS", threads)
        with RELATIONS.changed(shared_rows=100, piece_rows=7_000):
            made = work()
        found.append([np.asarray(one) for one in (made if isinstance(made, tuple) else (made,))])
    one, other = found
    assert [a.dtype for a in one] == [b.dtype for b in other]
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)
    return one


@pytest.mark.parametrize("firsts", [2, 300, 2**32 - 1])
def test_sets__are_the_same_in_threads(firsts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    some, more = keys(1, firsts=firsts), keys(2, firsts=firsts)
    one, other = np.unique(some), np.unique(more)
    by, more_by = np.arange(len(one)), np.arange(len(other)) - 500
    asked = 300 if firsts == 2 else 20_000  # each has half of the rows
    ids = np.random.default_rng(3).integers(1, min(firsts, 400), asked).astype(np.uint32)

    def same(work: Callable[[], Any]) -> list[Any]:
        return equal_in_threads(work, monkeypatch)

    (found,) = same(lambda: sorted_keys(some))
    np.testing.assert_array_equal(found, np.sort(some))
    (united,) = same(lambda: sets.unite(one, other))
    np.testing.assert_array_equal(united, np.union1d(one, other))
    summed, total = same(lambda: sets.summed(one, by, other, more_by))
    np.testing.assert_array_equal(summed, united)
    assert total.sum() == by.sum() + more_by.sum()
    np.testing.assert_array_equal(same(lambda: sets.member(some, other))[0], np.isin(some, other))
    np.testing.assert_array_equal(same(lambda: sets.member(one, other))[0], np.isin(one, other))
    (places,) = same(lambda: sets.places_in(one, other))
    np.testing.assert_array_equal(places >= 0, np.isin(one, other))
    same(lambda: sets.match(ids, one))
    same(lambda: sets.match(np.sort(ids), one))
    same(lambda: ranges_of(one, ids))
    distinct, times = same(lambda: sets.counted_pieces([some, one, more]))
    np.testing.assert_array_equal(distinct, united)
    assert times.sum() == len(some) + len(one) + len(more)


def test_turning__is_the_same_in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.unique(keys(4))
    status, counts = (rows % np.uint64(3)).astype(np.uint8), (rows % np.uint64(7)).astype(np.uint32)
    (found,) = equal_in_threads(lambda: turned(rows), monkeypatch)
    assert (found[1:] > found[:-1]).all() and len(found) == len(rows)
    other, *_ = equal_in_threads(lambda: turned_rows(rows, status, counts), monkeypatch)
    np.testing.assert_array_equal(other, found)


def test_look_ups__are_the_same_in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = np.unique(keys(5)), np.unique(keys(6))
    layers = []
    for status, some in ((1, one), (2, other)):
        s, o = (some >> np.uint64(32)).astype(np.uint32), some.astype(np.uint32)
        layers.append(bulk_layer(np.full(len(s), 9, np.uint32), s, o, status=status))
    relation = Tables(layers).relation(9)
    wanted = keys(7)
    expected = np.where(np.isin(wanted, other), 2, np.isin(wanted, one))
    (status,) = equal_in_threads(lambda: relation.status_of_keys(wanted), monkeypatch)
    np.testing.assert_array_equal(status, expected)
    status, _ = equal_in_threads(lambda: relation.look_up_keys(wanted), monkeypatch)
    np.testing.assert_array_equal(status, expected)


def test_split__keeps_equal_keys_together() -> None:
    arrays = [np.sort(keys(seed, 500, firsts=4, seconds=20)) for seed in (1, 2, 3)]
    wanted = [slice(at, at + 150) for at in range(0, 1500, 150)]
    at, last = 0, -1
    for *some, to in split_at_equal_keys(arrays, wanted):
        found = np.concatenate([array[one] for array, one in zip(arrays, some, strict=True)])
        assert (to.start, to.stop) == (at, at + len(found))
        at = to.stop
        if len(found):
            assert int(found.min()) > last
            last = int(found.max())
    assert at == 1500
