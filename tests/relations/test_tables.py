"""Random commits, merges and reopenings: everything read from tables is what a dict model says."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.relations.checks import check_all
from tests.relations.model import Model, commits, reopened
from triplestore.relations import Layer, Tables, merge_layers
from triplestore.relations.thresholds import RELATIONS

steps = st.one_of(
    st.tuples(st.just("commit"), commits(), st.booleans()),
    st.tuples(st.just("commit apart"), commits(), st.booleans()),
    st.tuples(st.just("merge"), st.integers(0, 9), st.integers(0, 9)),
    st.tuples(st.just("reopen"), st.integers(0, 9), st.none()),
)


def merged(tables: Tables, start: int, stop: int) -> Tables:
    if not tables.layers:
        return tables
    start %= len(tables.layers)
    stop = start + 1 + stop % (len(tables.layers) - start)
    layers = tables.layers[start:stop]
    return tables.replace(start, stop, merge_layers(layers, bottom=start == 0), layers)


def reopen(tables: Tables, place: int) -> Tables:
    if not tables.layers:
        return tables
    place %= len(tables.layers)
    return tables.replace(place, place + 1, reopened(tables.layers[place]))


@pytest.fixture(params=["numpy", "kernels"])
def way(request: pytest.FixtureRequest, tune: Callable[..., None]) -> str:
    """Run with plain numpy; and with kernels that get a few rows at a time, and ids one by one."""
    if request.param == "kernels":
        tune(RELATIONS, kernel_rows=0, piece_rows=3, skipped_rows=1)
    return request.param


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(steps, max_size=8))
def test_tables__read_what_was_committed(way: str, steps: list) -> None:
    model, tables = Model(), Tables()
    for kind, one, two in steps:
        if kind.startswith("commit"):
            if kind == "commit apart":  # in a layer of its own
                tables = tables.sealed()
            changes = model.changes(one, counted=two)
            changes.validate()
            model.apply(one, counted=two)
            before = tables.total(), tables.quad_total()
            tables = tables.push(Layer.build(changes))
            after = tables.total(), tables.quad_total()
            assert sum(after) - sum(before) == sum(changes.net())
        elif kind == "merge":
            tables = merged(tables, one, two)
        else:
            tables = reopen(tables, one)
    tables.validate()
    check_all(tables, model)
