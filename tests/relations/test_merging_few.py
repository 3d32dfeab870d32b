"""Small layers merged by one kernel, against numpy's way, whose results say the same."""

from __future__ import annotations

import numpy as np
import pytest

from triplestore.relations import ChangedRows, Changes, Layer, Tables, merge_layers
from triplestore.relations.layers import merge_layers as merging
from triplestore.relations.layers.sorted_order import Order


def layer(seed: int, rows: int, *, counted: bool, uniform: bool) -> Layer:
    rng = np.random.default_rng(seed)
    drawn = np.unique(rng.integers(1, [6, 5, 9], (rows, 3)), axis=0).astype(np.uint32)
    status = np.full(len(drawn), 2) if uniform else rng.integers(0, 3, len(drawn))
    before = rng.integers(0, 3, len(drawn))
    counts = rng.integers(0, 4, len(drawn)) if counted else None
    return Layer.build(Changes(facts=ChangedRows.of(tuple(drawn.T), status, before, counts)))


def said(order: Order) -> list:
    names = np.repeat(order.names, order.sizes()).tolist()
    rows = range(len(order))
    columns = order.keys.all(), order.statuses(0, len(order)), order.counts(0, len(order))
    return list(zip(names, *(column.tolist() for column in columns), rows, strict=True))


@pytest.mark.parametrize("seed", range(60))
def test_merge__by_the_kernel_as_by_numpy(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    flags = [bool(seed >> bit & 1) for bit in range(4)]
    old = layer(seed, 1 + seed % 40, counted=flags[0], uniform=flags[1])
    new = layer(1000 + seed, 1 + seed % 7, counted=flags[2], uniform=flags[3])
    for bottom in (False, True):
        made = {}
        for loaded in (False, True):
            monkeypatch.setattr(merging, "is_loaded", lambda loaded=loaded: loaded)
            made[loaded] = merge_layers((old, new), bottom).facts
        for one, other in zip(orders(made[False]), orders(made[True]), strict=True):
            assert said(one) == said(other)
            assert one.uniform == other.uniform
            assert (one.count is None) == (other.count is None)
        one, other = made[False].nets, made[True].nets
        assert one.names.tolist() == other.names.tolist()
        assert one.explicit.tolist() == other.explicit.tolist()
        assert one.inferred.tolist() == other.inferred.tolist()
        assert one.total() == other.total()
        made[True].validate()


def orders(table: merging.Table) -> list[Order]:
    return [table.forward, table.backward]


def test_merge__of_all_rows_taken_back_leaves_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "is_loaded", lambda: True)
    fact = ([5], [1], [2])
    there = Layer.build(Changes(facts=ChangedRows.of(fact)))
    gone = Layer.build(Changes(facts=ChangedRows.of(fact, 0, 1)))
    merged = merge_layers((there, gone), True)
    assert (merged.rows, len(merged.facts.forward.names)) == (0, 0)
    assert Tables([merged]).total() == 0
