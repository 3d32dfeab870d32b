"""Numbers of solutions by id: the same by kernels, by numpy, and of any size."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from triplestore.operators import weights
from triplestore.operators.context import Context
from triplestore.operators.weights import (
    Match,
    Weights,
    counted,
    counted_among,
    joined,
    summed,
    summed_rows,
)
from triplestore.relations.packed_keys import U64


def rows(pick: random.Random, size: int) -> list[tuple[int, int]]:
    return sorted({(pick.randrange(1, 12), pick.randrange(1, 30)) for _ in range(size)})


def blocks(pick: random.Random, some: list[tuple[int, int]]) -> Iterator[U64]:
    """The rows as packed keys, cut anywhere: a run may continue in the next block."""
    keys = np.array([first << 32 | second for first, second in some], np.uint64)
    at = 0
    while at < len(keys):
        stop = at + pick.randrange(1, 6)
        yield keys[at:stop]
        at = stop


def as_dict(made: Weights) -> dict[int, int]:
    assert (np.diff(made.ids.astype(np.int64)) > 0).all()
    return dict(zip(made.ids.tolist(), made.numbers.tolist(), strict=True))


@pytest.mark.parametrize("seed", range(20))
def test_counted__is_the_number_of_rows_by_their_first_id(seed: int) -> None:
    pick = random.Random(seed)
    some = rows(pick, seed * 4)
    wanted = Counter(first for first, _ in some)
    assert as_dict(counted(blocks(pick, some), len(wanted), Context())) == wanted
    assert as_dict(counted_among(blocks(pick, some), 20, Context())) == wanted


@pytest.mark.parametrize("seed", range(20))
def test_summed__adds_the_numbers_of_the_second_ids(seed: int) -> None:
    pick = random.Random(seed)
    some = rows(pick, seed * 4)
    each = {second: pick.randrange(1, 9) for second in range(1, 20) if pick.random() < 0.6}
    of = Weights(np.array(sorted(each), np.uint32), np.array([each[i] for i in sorted(each)], int))
    wanted: Counter[int] = Counter()
    for first, second in some:
        wanted[first] += each.get(second, 0)
    found = {first: number for first, number in wanted.items() if number}
    assert as_dict(summed(blocks(pick, some), 20, len(some), of, Context())) == found
    assert as_dict(summed(blocks(pick, some), 20, len(some), of.exact(), Context())) == found
    assert as_dict(summed(blocks(pick, some), 20, 1 << 60, of, Context())) == found
    if some:
        firsts, seconds = np.array(some, np.uint32).T
        order = np.random.default_rng(seed).permutation(len(some))
        assert as_dict(summed_rows(firsts[order], seconds[order], of)) == found


@pytest.mark.parametrize("kernels", [False, True])
def test_joined__is_the_join_of_dictionaries(
    kernels: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "use_kernels", lambda rows: kernels)
    pick = random.Random(1)
    for _ in range(60):
        one, other = (
            {pick.randrange(1, 20): pick.randrange(1, 5) for _ in range(pick.randrange(20))}
            for _ in range(2)
        )
        wanted = {
            "inner": {i: n * other[i] for i, n in one.items() if i in other},
            "left": {i: n * other.get(i, 1) for i, n in one.items()},
            "semi": {i: n for i, n in one.items() if i in other},
            "anti": {i: n for i, n in one.items() if i not in other},
            "union": {i: one.get(i, 0) + other.get(i, 0) for i in one.keys() | other.keys()},
        }
        tables = [
            Weights(np.array(sorted(d), np.uint32), np.array([d[i] for i in sorted(d)], np.int64))
            for d in (one, other)
        ]
        for match, rows in wanted.items():
            made = joined(*tables, match, Context())
            assert made.ids.tolist() == sorted(rows), match
            assert made.numbers.tolist() == [rows[i] for i in sorted(rows)], match


def test_numbers__over_64_bits_stay_exact() -> None:
    many = Weights(np.array([3, 5], np.uint32), np.array([1 << 40, 7]))
    for match, wanted in (("inner", [1 << 80, 49]), ("left", [1 << 80, 49])):
        made = joined(many, many, match, Context())
        assert made.numbers.tolist() == wanted and made.total() == sum(wanted)
    column = np.full(3, 3, np.uint32)
    once = joined(many, many, "inner", Context())
    assert summed_rows(column, column, once).numbers.tolist() == [3 << 80]


@pytest.mark.parametrize("match", ["inner", "left", "semi", "anti", "union"])
def test_joined__takes_exact_numbers_that_are_small(
    match: Match, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "use_kernels", lambda rows: True)
    one = Weights(np.array([3, 5, 7], np.uint32), np.array([2, 4, 6]))
    other = Weights(np.array([5, 6], np.uint32), np.array([10, 1]))
    wanted = as_dict(joined(one, other, match, Context()))
    assert as_dict(joined(one.exact(), other, match, Context())) == wanted
    assert as_dict(joined(one, other.exact(), match, Context())) == wanted
