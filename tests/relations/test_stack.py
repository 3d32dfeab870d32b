"""The stack of layers: snapshots stay what they are, pushes combine, merges keep layers few."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triplestore.relations import (
    EXPLICIT,
    ChangedRows,
    Changes,
    Layer,
    Tables,
    bulk_layer,
    merge_layers,
)
from triplestore.relations.thresholds import RELATIONS
from triplestore.relations.views.virtual import AllFacts


def fact(subject: int, status: int = EXPLICIT, previous: int = 0) -> Layer:
    return Layer.build(Changes(facts=ChangedRows.of(([9], [subject], [7]), status, previous)))


def facts(start: int, rows: int) -> Layer:
    subjects = np.arange(start, start + rows, dtype=np.uint32)
    return bulk_layer(np.full(rows, 9, np.uint32), subjects, subjects)


def subjects_of(tables: Tables) -> list[int]:
    return tables.relation(9).by_second(7).tolist()


def test_push__old_snapshots_stay_what_they_were() -> None:
    snapshots = [Tables()]
    for subject in range(1, 20):
        snapshots.append(snapshots[-1].push(fact(subject)))
    for size, tables in enumerate(snapshots):
        assert subjects_of(tables) == list(range(1, size + 1))
        assert tables.total() == size
        assert len(tables.layers) == (size > 0)


def test_push__small_layers_combine_until_they_are_not_small() -> None:
    tables = Tables()
    for subject in range(1, RELATIONS.combine_rows + 2):
        tables = tables.push(fact(subject))
    assert [layer.rows for layer in tables.layers] == [RELATIONS.combine_rows, 1]
    assert tables.push(Layer()) is tables


def test_push__apart_waits_for_the_next_layer() -> None:
    below = Tables().push(fact(1)).push(fact(2))
    apart = below.push(fact(2, 0, EXPLICIT), apart=True)
    assert [layer.rows for layer in apart.layers] == [2, 1]
    assert subjects_of(apart) == subjects_of(apart.with_schemes({5: NoClosures()})) == [1]
    for after in (apart.combined(), apart.with_schemes({5: NoClosures()}).combined()):
        assert [layer.rows for layer in after.layers] == [1]
        assert subjects_of(after) == [1]
        assert after.combined() is after
    for after in (apart.push(fact(3)), apart.push(fact(3), apart=True).combined()):
        assert [layer.rows for layer in after.layers] == [2]
        assert subjects_of(after) == [1, 3]
    assert [layer.rows for layer in apart.sealed().push(fact(3)).layers] == [1, 1]
    assert below.combined() is below


def test_push__what_is_never_combined_is_not_apart() -> None:
    for below in (
        Tables(),
        Tables().push(fact(1)).sealed(),
        Tables([facts(10, RELATIONS.combine_rows)]),
    ):
        apart = below.push(fact(2), apart=True)
        assert apart.combined() is apart
        assert len(apart.layers) == len(below.layers) + 1


class NoClosures:
    """Something beside the rows."""

    def closures(self) -> list:
        return []


def test_push__sealed_layers_are_left_alone() -> None:
    tables = Tables().push(fact(1)).sealed()
    pushed = tables.push(fact(2))
    assert [layer.rows for layer in pushed.layers] == [1, 1]
    assert [layer.rows for layer in pushed.push(fact(3)).layers] == [1, 2]


def test_push__removed_rows_vanish_at_the_bottom_only() -> None:
    tables = Tables().push(fact(1)).push(fact(1, 0, EXPLICIT))
    assert tables.rows == 0
    assert tables.total() == 0
    above = Tables([facts(100, 5)], sealed=True).push(fact(1)).push(fact(1, 0, EXPLICIT))
    assert [layer.rows for layer in above.layers] == [5, 1]
    assert above.total() == 5
    assert subjects_of(above) == []


def test_total__exact_after_adding_and_removing_one_row_many_times() -> None:
    tables, status = Tables([facts(1, 300)], sealed=True), 0
    for number in range(100):
        wanted = (number * 7) % 3
        tables = tables.push(fact(500, wanted, status))
        status = wanted
        assert tables.total() == 300 + (status > 0)
        if number % 10 == 9:
            plan = tables.plan_merge() or (0, len(tables.layers))
            merged = merge_layers(tables.layers[slice(*plan)], bottom=plan[0] == 0)
            tables = tables.replace(*plan, merged)
            assert tables.total() == 300 + (status > 0)
            tables.validate()


STACKS = ([], [1000], [1000, 300], [1000, 334, 0], [4000, 1000, 300], [300, 300, 300, 300])


@pytest.mark.parametrize("sizes", STACKS)
def test_plan_merge__afterwards_each_layer_outweighs_those_above(sizes: list[int]) -> None:
    tables = Tables([facts(1 + 10000 * n, rows) for n, rows in enumerate(sizes) if rows])
    while (plan := tables.plan_merge()) is not None:
        start, stop = plan
        assert stop - start > 1
        merged = merge_layers(tables.layers[start:stop], bottom=start == 0)
        tables = tables.replace(start, stop, merged)
    after = [layer.rows for layer in tables.layers]
    assert sum(after) == sum(sizes)
    for place, rows in enumerate(after[:-1]):
        assert rows > RELATIONS.tier * sum(after[place + 1 :])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 400), max_size=40))
def test_plan_merge__layers_stay_few(pushes: list[int]) -> None:
    tables, start = Tables(), 1
    for rows in pushes:
        tables = tables.push(facts(start, rows))
        start += rows
        while (plan := tables.plan_merge()) is not None:
            # The layer that the next push may be combined with is not part of the plan.
            assert plan[1] < len(tables.layers) or tables.layers[-1].rows >= RELATIONS.combine_rows
            merged = merge_layers(tables.layers[slice(*plan)], bottom=plan[0] == 0)
            tables = tables.replace(*plan, merged)
    assert tables.total() == sum(pushes)
    assert len(tables.layers) <= 2 + np.log(1 + sum(pushes)) / np.log(1 + RELATIONS.tier)


def test_replace__only_the_layers_that_were_merged() -> None:
    tables = Tables([facts(1, 300), facts(1000, 300)])
    old = tables.layers
    merged = merge_layers(old, bottom=True)
    assert tables.replace(0, 2, merged, old).total() == 600
    other = Tables([old[0], facts(5000, 300)])
    with pytest.raises(AssertionError, match="not in their place"):
        other.replace(0, 2, merged, old)


def test_replace__an_empty_layer_leaves_none() -> None:
    tables = Tables([fact(1)], sealed=True).push(fact(1, 0, EXPLICIT))
    merged = merge_layers(tables.layers, bottom=True)
    assert merged.rows == 0
    assert tables.replace(0, 2, merged).layers == ()


def test_merge__can_be_given_up() -> None:
    def pause() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        merge_layers([facts(1, 70_000), facts(60_000, 70_000)], bottom=True, pause=pause)


def test_scan__blocks_of_one_run_are_views() -> None:
    layer = facts(1, 1000)
    relation = Tables([layer]).relation(9)
    stored = layer.facts.forward.keys.all()
    assert np.shares_memory(relation.keys(), stored)
    assert all(np.shares_memory(block, stored) for block in relation.scan_keys(block_rows=100))
    patched = Tables([layer]).push(fact(500)).relation(9)
    shared = [np.shares_memory(b, stored) for b in patched.scan_keys(block_rows=100)]
    assert shared.count(False) == 1, "only the window with the new row is copied"


def test_arrays__cannot_be_written() -> None:
    relation = Tables([facts(1, 10)]).relation(9)
    for array in (relation.keys(), relation.keys(1), *relation.scan_keys()):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_scan__blocks_are_bounded_also_over_several_runs() -> None:
    layers = [facts(1, 1000), facts(5000, 1000), facts(800, 2000)]
    relation = Tables(layers).relation(9)
    for order in (0, 1):
        sizes = [len(block) for block in relation.scan_keys(order=order, block_rows=100)]
        assert max(sizes) <= 100 * len(layers)
    everything = AllFacts(Tables(layers))
    assert max(len(s) for s, _, _ in everything.scan(order=0, block_rows=100)) <= 100
    index = np.array([1, 2, 3], dtype=np.uint32)
    blocks = list(relation.probe_blocks((0,), (np.repeat(index, 500),), block_rows=100))
    assert max(len(part) for part, _ in blocks) <= 100
    assert sum(len(part) for part, _ in blocks) == 1500
