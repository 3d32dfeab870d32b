"""All quads as one relation, against a set of tuples."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from triplestore.relations import ChangedRows, Changes, Layer, Tables
from triplestore.sparql.evaluate.all_quads import AllQuads

SUBSETS = [tuple(c) for n in (1, 2, 3) for c in combinations(range(4), n)]
ids = st.integers(1, 4)
# Predicates and graphs of their own, as in a store: ids of other terms in other places are no rows.
quads_of = st.lists(st.tuples(ids, st.integers(11, 13), ids, st.integers(21, 23)), max_size=25)


def relation(*layers: list[tuple[int, ...]]) -> AllQuads:
    tables = Tables()
    for quads in layers:
        fresh = sorted(set(quads))
        if fresh:
            columns = [[q[place] for q in fresh] for place in (1, 0, 2, 3)]
            tables = tables.push(Layer.build(Changes(quads=ChangedRows.of(tuple(columns)))))
    return AllQuads(tables)


def listed(columns: tuple[np.ndarray, ...]) -> list[tuple[int, ...]]:
    return list(zip(*(column.tolist() for column in columns), strict=True))


@given(quads=quads_of, order=st.integers(0, 3), block_rows=st.sampled_from([2, 100]))
def test_scan__all_rows_in_order(quads: list[tuple[int, ...]], order: int, block_rows: int) -> None:
    every = relation(quads)
    found = list(chain.from_iterable(map(listed, every.scan(order=order, block_rows=block_rows))))
    places = [order, *(place for place in range(4) if place != order)]
    assert found == sorted(set(quads), key=lambda q: [q[place] for place in places])
    assert len(every) == every.count() == len(found)
    first = found[0][order] if found else 1
    some = list(chain.from_iterable(map(listed, every.scan(order=order, first=first))))
    assert some == [row for row in found if row[order] == first]


@pytest.mark.parametrize("columns", SUBSETS)
@given(quads=quads_of, wanted=quads_of)
def test_probe__finds_the_rows_of_each_value(
    columns: tuple[int, ...], quads: list[tuple[int, ...]], wanted: list[tuple[int, ...]]
) -> None:
    every = relation(quads)
    values = [np.array([w[place] for w in wanted], np.uint32) for place in columns]
    free = [place for place in range(4) if place not in columns]
    expected = [
        (number, *(q[place] for place in free))
        for number, want in enumerate(wanted)
        for q in set(quads)
        if all(q[place] == want[place] for place in columns)
    ]
    found = []
    for index, others in every.probe_blocks(columns, values, block_rows=3):
        found += listed((index, *others))
    assert sorted(found) == sorted(expected)
    assert [row[0] for row in found] == sorted(row[0] for row in found)
    sizes = every.fanout(columns, values).tolist()
    assert all(sizes[n] >= sum(row[0] == n for row in expected) for n in range(len(wanted)))


@given(quads=quads_of, wanted=quads_of, column=st.integers(0, 3))
def test_contains_and_semijoin(
    quads: list[tuple[int, ...]], wanted: list[tuple[int, ...]], column: int
) -> None:
    every = relation(quads)
    rows = tuple(np.array([w[place] for w in wanted], np.uint32) for place in range(4))
    assert every.contains(rows).tolist() == [w in set(quads) for w in wanted]
    occurs = every.semijoin(column, rows[column])
    assert occurs.tolist() == [any(q[column] == w[column] for q in quads) for w in wanted]
    assert every.estimate(()) == len(set(quads))
