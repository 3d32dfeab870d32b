"""Sets and views of facts, against Python's sets; and the engine where kernels do everything."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.maintenance.checking import check_case, engine_takes
from tests.maintenance.programs import random_case
from triplestore.errors import BudgetError
from triplestore.maintenance.strategies import STRATEGIES, strategy
from triplestore.relations import Tables, bulk_layer
from triplestore.relations.facts import sorted_arrays
from triplestore.relations.facts.body_views import PairView, Setting
from triplestore.relations.facts.counts import CountChanges
from triplestore.relations.facts.fact_sets import FactSet, KeySet, TupleSet
from triplestore.relations.facts.stored_facts import Stored
from triplestore.relations.packed_keys import key_of
from triplestore.relations.thresholds import RELATIONS

TYPE, P = 1, 2
rows = st.sets(st.tuples(st.integers(1, 5), st.integers(1, 5)), max_size=12)


def packed(facts: set[tuple[int, int]]) -> np.ndarray:
    return np.array(sorted(a << 32 | b for a, b in facts), np.uint64)


def pairs(found: np.ndarray) -> list[tuple[int, int]]:
    return [divmod(key, 1 << 32) for key in found.tolist()]


@given(st.lists(st.tuples(st.booleans(), rows), max_size=8), rows, st.integers(0, 1))
def test_key_set__behaves_like_a_set(
    steps: list[tuple[bool, set[tuple[int, int]]]], asked: set[tuple[int, int]], place: int
) -> None:
    some, model = KeySet(), set[tuple[int, int]]()
    for add, batch in steps:
        if add:
            some.add(packed(batch - model))
            model |= batch
        else:
            some.discard(packed(batch))
            model -= batch
    assert len(some) == len(model)
    wanted = sorted(asked)
    assert some.contains(packed(asked)).tolist() == [row in model for row in wanted]
    ids = np.array([5, 1, 3, 1], np.uint32)
    index, other = some.match(place, ids)
    got = sorted(zip(index.tolist(), other.tolist(), strict=True))
    assert got == sorted(
        (i, row[1 - place]) for i, one in enumerate(ids) for row in model if row[place] == one
    )
    copy = some.copied()
    copy.add(packed({(9, 9)}))
    assert pairs(some.keys()) == sorted(model)


def test_key_set__keeps_few_runs(tune: Callable[..., None]) -> None:
    tune(RELATIONS, run_keys=1)
    some = KeySet()
    for i in range(1000):
        some.add(np.array([i], np.uint64))
    sizes = list(map(len, some.runs))
    assert sum(sizes) == 1000
    assert all(one >= 2 * other for one, other in pairwise(sizes))


@given(st.sets(st.tuples(*[st.integers(1, 3)] * 3), max_size=10), st.sets(st.integers(1, 3)))
def test_tuple_set__finds_rows_by_any_places(
    facts: set[tuple[int, int, int]], asked: set[int]
) -> None:
    columns = [np.array([f[i] for f in sorted(facts)], np.uint32) for i in range(3)]
    some = TupleSet(3, key_of(columns))
    ids = np.array(sorted(asked), np.uint32)
    for places in ((1,), (2, 0)):
        index, free = some.probe(places, [ids] * len(places))
        rest = [c for c in range(3) if c not in places]
        got = sorted(zip(index.tolist(), *(column.tolist() for column in free), strict=True))
        assert got == sorted(
            (i, *(f[c] for c in rest))
            for i, one in enumerate(sorted(asked))
            for f in facts
            if all(f[place] == one for place in places)
        )


@given(rows, rows, rows, rows, st.sampled_from([TYPE, P]), st.integers(0, 1))
def test_views__are_set_expressions(
    held: set[tuple[int, int]],
    more: set[tuple[int, int]],
    gone: set[tuple[int, int]],
    asked: set[tuple[int, int]],
    name: int,
    place: int,
) -> None:
    tables = Tables()
    if held:
        first, second = (np.array(column, np.uint32) for column in zip(*sorted(held), strict=True))
        s, o = (second, first) if name == TYPE else (first, second)
        tables = tables.push(bulk_layer(np.full(len(s), name, np.uint32), s, o))
    added, taken = FactSet(), FactSet()
    added.add(name, packed(more - held))
    taken.add(name, packed(gone))
    view = Setting(Stored(tables, TYPE), [added], [taken]).view(name)
    assert isinstance(view, PairView)
    model = (held | more) - gone
    assert sorted(pairs(view.keys())) == sorted(model)
    assert view.contains_keys(packed(asked)).tolist() == [row in model for row in sorted(asked)]
    ids = np.array([2, 4, 2], np.uint32)
    index, other = view.match(place, ids)
    assert sorted(zip(index.tolist(), other.tolist(), strict=True)) == sorted(
        (i, row[1 - place]) for i, one in enumerate(ids) for row in model if row[place] == one
    )
    seconds = np.arange(1, 6, dtype=np.uint32)
    assert view.contains_beside(3, seconds).tolist() == [(3, x) in model for x in range(1, 6)]


@given(st.lists(st.dictionaries(st.integers(0, 9), st.integers(-2, 2), min_size=1), max_size=20))
def test_count_changes__are_sums(changes: list[dict[int, int]]) -> None:
    counts = CountChanges(None)
    model: dict[int, int] = {}
    for change in changes:
        facts = sorted(change)
        by = np.array([change[fact] for fact in facts])
        counts.change(P, np.array(facts, np.uint64), by)
        for fact in facts:
            model[fact] = model.get(fact, 0) + change[fact]
    every = np.arange(10, dtype=np.uint64)
    assert counts.current(P, every).tolist() == [model.get(fact, 0) for fact in range(10)]
    moved, by = counts.changed(P)
    assert dict(zip(moved.tolist(), by.tolist(), strict=True)) == {
        fact: n for fact, n in model.items() if n
    }


@pytest.mark.parametrize("part", range(2))
def test_engine__with_kernels_for_everything__equals_the_oracle(
    part: int, tune: Callable[..., None]
) -> None:
    tune(RELATIONS, cold_rows=1, warm_rows=1, run_keys=1)
    for seed in range(600 + part * 15, 615 + part * 15):
        case = random_case(seed)
        if not engine_takes(case):
            continue
        rng = random.Random(seed)
        check_case(case, lambda rng=rng: strategy(rng.choice(list(STRATEGIES))))  # type: ignore[misc]


def test_match__of_too_many_rows__is_refused_before_room_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sorted_arrays, "_most_rows", lambda: 10)
    many = np.array([1 << 32 | i for i in range(6)], np.uint64)
    assert len(sorted_arrays.match(np.ones(1, np.uint32), many)[0]) == 6
    with pytest.raises(BudgetError, match=r"would make 1,200 rows.*share no variable"):
        sorted_arrays.match(np.ones(200, np.uint32), many)


@pytest.mark.parametrize("seed", range(10))
def test_sets_of_wide_rows__of_several_runs(seed: int, tune: Callable[..., None]) -> None:
    tune(RELATIONS, wide_run_keys=1)
    rng = random.Random(seed)
    some, held = TupleSet(3), set[tuple[int, ...]]()
    for _ in range(8):
        rows = wide_rows(rng, rng.randrange(1, 20))
        if rng.random() < 0.3:
            some.discard(key_of(columns_of_rows(rows)))
            held -= rows
        else:
            some.add(key_of(columns_of_rows(rows - held)))
            held |= rows
        asked = wide_rows(rng, 20)
        found = some.contains(key_of(columns_of_rows(asked)))
        assert found.tolist() == [row in held for row in sorted(asked)]
        for places in ((0,), (0, 1), (1, 2), (2,)):
            rest = [place for place in range(3) if place not in places]
            values = [np.array([2, 3], np.uint32)] * len(places)
            index, columns = some.probe(places, values)
            got = zip(index.tolist(), *(column.tolist() for column in columns), strict=True)
            assert sorted(got) == sorted(
                (number, *(row[c] for c in rest))
                for row in held
                for number, value in enumerate((2, 3))
                if all(row[place] == value for place in places)
            )
        assert len(some) == len(held)
    assert some.keys().tolist() == key_of(columns_of_rows(held)).tolist()


def wide_rows(rng: random.Random, count: int) -> set[tuple[int, ...]]:
    return {tuple(rng.randrange(1, 5) for _ in range(3)) for _ in range(count)}


def columns_of_rows(rows: set[tuple[int, ...]]) -> list[np.ndarray]:
    return [np.array([row[c] for row in sorted(rows)], np.uint32) for c in range(3)]
