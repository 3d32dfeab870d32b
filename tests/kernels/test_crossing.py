"""The kernels that cross ranges, against sets of plain Python."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fuzzing import each_seed

from triplestore.kernels.rows.intersect_ranges import cross, mark_wide
from triplestore.relations.facts.key_ranges import FirstIdStarts, crossed, directory, ranges_of
from triplestore.relations.packed_keys import key_of
from triplestore.relations.thresholds import RELATIONS

pairs = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9)), max_size=40)


@pytest.fixture(autouse=True)
def tables(tune: Callable[..., None]) -> None:
    """Tables of starts also for few ids, and little room."""
    tune(RELATIONS, table_ids=1, crossed_room=4, crossed_rows=3, piece_rows=5)


def packed(rows: Any) -> Any:
    made = np.array(sorted({first << 32 | second for first, second in rows}), np.uint64)
    made.flags.writeable = False
    return made


def beside(rows: Any) -> dict[int, set[int]]:
    found: dict[int, set[int]] = defaultdict(set)
    for first, second in rows:
        found[first].add(second)
    return found


def check_crossed(links: list[list[tuple[int, int]]], values: list[list[int]]) -> None:
    """Values and numbers of values are those of sets."""
    wanted = [
        sorted(set.intersection(*(beside(link)[v] for link, v in zip(links, row, strict=True))))
        for row in zip(*values, strict=True)
    ]
    keys, columns = [packed(link) for link in links], [np.array(v, np.uint32) for v in values]
    listed = list(crossed(keys, columns, listed=True))
    counts = [int(n) for piece in listed for n in piece.counts]
    assert counts == [len(row) for row in wanted]
    assert [int(v) for piece in listed for v in piece.values] == [v for row in wanted for v in row]
    assert [n for piece in crossed(keys, columns, listed=False) for n in piece.counts] == counts


@given(st.data(), st.integers(2, 4), st.integers(1, 9))
def test_crossed__is_what_all_have(data: st.DataObject, links: int, rows: int) -> None:
    ids = st.lists(st.integers(0, 7), min_size=rows, max_size=rows)
    check_crossed([data.draw(pairs) for _ in range(links)], [data.draw(ids) for _ in range(links)])


@each_seed(range(20))
def test_crossed__in_long_ranges(seed: int) -> None:
    rng = random.Random(seed)
    ways = [
        lambda: rng.randrange(900),
        lambda: rng.randrange(1 << 32),
        lambda: 3 << rng.randrange(30),
    ]
    some = [rng.choice(ways)() for _ in range(900)]
    links = []
    for size in (rng.choice((5, 70, 600)), rng.choice((64, 300, 900)), 1200):
        few = [(1, rng.choice(some)) for _ in range(size)]
        links.append([*few, *((rng.randrange(2, 5), rng.choice(some)) for _ in range(80))])
    values = [[rng.choice((1, 1, 2, 3, 4, 9)) for _ in range(12)] for _ in links]
    check_crossed(links[:2], values[:2])
    check_crossed(links, values)


@given(pairs, st.lists(st.integers(0, 8), min_size=1, max_size=30))
def test_ranges_of__are_those_of_a_search(rows: Any, values: list[int]) -> None:
    keys = packed(rows)
    lo, hi, total = ranges_of(keys, np.array(values, np.uint32))
    found = [[int(k) & 0xFFFFFFFF for k in keys[a:b]] for a, b in zip(lo, hi, strict=True)]
    assert found == [sorted(beside(rows)[value]) for value in values]
    assert total == sum(map(len, found))


@given(pairs.filter(bool), pairs)
def test_starts__contain_what_is_there(rows: Any, asked: Any) -> None:
    keys, wanted = packed(rows), np.array([a << 32 | b for a, b in asked], np.uint64)
    starts = FirstIdStarts.of(keys, 100)
    assert starts is not None
    assert starts.contain(wanted, keys).tolist() == [pair in set(rows) for pair in asked]


def test_cross__says_where_to_go_on() -> None:
    keys = packed([(1, 5), (1, 6), (2, 7)])
    lo, hi = np.array([0, 2, 0, 2]), np.array([2, 3, 2, 3])
    counts, out, state = np.zeros(2, np.int64), np.zeros(2, np.uint32), np.zeros(2, np.int64)
    nothing = directory(keys[:0], 1)
    read: Any = (keys, keys, keys, keys, nothing, nothing, nothing, nothing)
    assert cross(lo, hi, *read, 2, 1, 0, counts, out, state) == 1
    assert out.tolist() == [5, 6]
    assert cross(lo, hi, *read, 2, 1, 1, counts, out, state) == 2
    assert (out[0], counts.tolist(), state.tolist()) == (7, [2, 1], [1, 1])


rows = st.lists(st.tuples(*[st.integers(1, 3) | st.integers(1, 2**32 - 1)] * 3), max_size=30)


@given(rows, rows, st.booleans())
def test_mark_wide__is_membership(asked: Any, held: Any, ordered: bool) -> None:
    held = sorted(set(held))
    asked = sorted(asked) if ordered else [*asked, *held[::2]]

    def words(some: Any) -> Any:
        columns = [np.array([row[c] for row in some], np.uint32) for c in range(3)]
        return key_of(columns).view(np.uint32)

    found = np.full(len(asked), 7, np.uint8)
    mark_wide(words(asked), words(held), 3, found)
    assert found.tolist() == [int(row in held) for row in asked]
