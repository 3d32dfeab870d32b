"""How many solutions of a pattern have each value of one variable.

Start at `Weights`: sorted distinct ids, and a number for each. The rows of a relation give one
(`counted`, `summed`), `joined` and `chosen` combine them. Always true: numbers are positive, and
exact: where they may exceed 64 bits they are Python's integers, and no kernel is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.kernels.rows.weights import add_runs, count_runs, join_weights, sum_runs
from triplestore.operators.context import Budget
from triplestore.operators.group_table import use_kernels
from triplestore.relations.packed_keys import NO_IDS, U32, U64, high, low

Numbers: TypeAlias = NDArray[Any]
Match: TypeAlias = Literal["inner", "left", "semi", "anti", "union"]

_MATCHES: tuple[Match, ...] = ("inner", "left", "semi", "anti", "union")
_MOST = 1 << 62  # of sums and products in 64 bits
_ID_BYTES = 12  # of an id and its number


class Weights(NamedTuple):
    """Sorted distinct ids, and for each the number of solutions with it."""

    ids: U32
    numbers: Numbers

    def total(self) -> int:
        """The number of all solutions.

        >>> Weights(np.array([3, 5], np.uint32), np.array([2, 4])).total()
        6
        """
        if len(self.ids) * self.most() < _MOST:
            return int(self.numbers.sum())
        return sum(self.numbers.tolist())

    def most(self) -> int:
        """The greatest number."""
        return int(self.numbers.max()) if len(self.numbers) else 0

    def exact(self) -> Weights:
        """The same with Python's integers."""
        return Weights(self.ids, self.numbers.astype(object))


NO_WEIGHTS = Weights(NO_IDS, np.zeros(0, np.int64))


def ones(ids: U32) -> Weights:
    """One solution for each of these ids, which are sorted and distinct."""
    return Weights(ids, np.ones(len(ids), np.int64))


def counted(blocks: Iterator[U64], most: int, budget: Budget) -> Weights:
    """The first ids of sorted packed rows, each with its number of rows.

    most  maximum number of ids
    """
    budget.charge(_ID_BYTES * most)
    heads, counts = np.empty(most, np.uint32), np.empty(most, np.int64)
    at = 0
    for keys in blocks:
        budget.check()
        at = count_runs(keys, at, heads, counts)
    return Weights(heads[:at], counts[:at])


def counted_among(blocks: Iterator[U64], size: int, budget: Budget) -> Weights:
    """The same of the rows of many relations, whose first ids are below `size`."""
    budget.charge(8 * size)
    dense = np.zeros(size, np.int64)
    for keys in blocks:
        budget.check()
        add_runs(keys, dense)
    ids = np.flatnonzero(dense)
    budget.charge(_ID_BYTES * len(ids))
    return Weights(ids.astype(np.uint32), dense[ids])


def summed(blocks: Iterator[U64], most: int, rows: int, of: Weights, budget: Budget) -> Weights:
    """The first ids of sorted packed rows, each with the sum of the numbers of its second ids.

    most  maximum number of first ids
    rows  maximum number of rows
    """
    if rows * of.most() >= _MOST:
        return _summed_exactly(blocks, of, budget)
    size = int(of.ids[-1]) + 1 if len(of.ids) else 0
    budget.charge(_ID_BYTES * most + 8 * size)
    dense = np.zeros(size, np.int64)
    dense[of.ids] = of.numbers
    heads, sums = np.empty(most, np.uint32), np.empty(most, np.int64)
    at = 0
    for keys in blocks:
        budget.check()
        at = sum_runs(keys, dense, at, heads, sums)
    budget.release(8 * size)
    return Weights(heads[:at], sums[:at])


def _summed_exactly(blocks: Iterator[U64], of: Weights, budget: Budget) -> Weights:
    """The same with Python's integers."""
    firsts, seconds = [NO_IDS], [NO_IDS]
    for keys in blocks:
        budget.check()
        budget.charge(keys.nbytes)
        firsts.append(high(keys))
        seconds.append(low(keys))
    return summed_rows(np.concatenate(firsts), np.concatenate(seconds), of.exact())


def summed_rows(firsts: U32, seconds: U32, of: Weights) -> Weights:
    """The same for rows as columns, in any order.

    >>> of = Weights(np.array([7, 9], np.uint32), np.array([2, 3]))
    >>> made = summed_rows(np.array([5, 4, 5], np.uint32), np.array([9, 8, 7], np.uint32), of)
    >>> made.ids.tolist(), made.numbers.tolist()
    ([5], [5])
    """
    if not len(of.ids):
        return NO_WEIGHTS
    places = np.minimum(of.ids.searchsorted(seconds), len(of.ids) - 1)
    known = of.ids[places] == seconds
    if len(firsts) * of.most() >= _MOST:
        of = of.exact()
    firsts, numbers = firsts[known], of.numbers[places[known]]
    if not len(firsts):
        return NO_WEIGHTS
    order = np.argsort(firsts, kind="stable")
    firsts = firsts[order]
    starts = np.flatnonzero(np.concatenate(([True], firsts[1:] != firsts[:-1])))
    return Weights(firsts[starts], np.add.reduceat(numbers[order], starts))


def chosen(weights: Weights, mask: NDArray[np.bool_]) -> Weights:
    """Some of the ids."""
    return weights if mask.all() else Weights(weights.ids[mask], weights.numbers[mask])


def joined(left: Weights, right: Weights, match: Match, budget: Budget) -> Weights:
    """The join on the variable; with "union" the solutions of both.

    >>> from triplestore.operators.context import Context
    >>> one = Weights(np.array([3, 5], np.uint32), np.array([2, 4]))
    >>> other = Weights(np.array([5, 6], np.uint32), np.array([10, 1]))
    >>> for match in ("inner", "left", "semi", "anti", "union"):
    ...     made = joined(one, other, match, Context())
    ...     print(match, made.ids.tolist(), made.numbers.tolist())
    inner [5] [40]
    left [3, 5] [2, 40]
    semi [5] [4]
    anti [3] [2]
    union [3, 5, 6] [2, 14, 1]
    """
    most = left.most() + right.most() if match == "union" else left.most() * max(right.most(), 1)
    exact = most >= _MOST or left.numbers.dtype == object or right.numbers.dtype == object
    if exact or not use_kernels(len(left.ids) + len(right.ids)):
        return _joined(left.exact() if exact else left, right, match)
    room = len(left.ids) + (len(right.ids) if match == "union" else 0)
    budget.charge(_ID_BYTES * room)
    ids, numbers = np.empty(room, np.uint32), np.empty(room, np.int64)
    size = join_weights(*left, *right, _MATCHES.index(match), ids, numbers)
    return Weights(ids[:size], numbers[:size])


def _joined(left: Weights, right: Weights, match: Match) -> Weights:
    """The same by numpy: for few ids, and for numbers of any size."""
    if not len(right.ids):
        return left if match in ("left", "anti", "union") else NO_WEIGHTS
    if match == "union":
        ids = np.concatenate((left.ids, right.ids))
        numbers = np.concatenate((left.numbers, right.numbers))
        order = np.argsort(ids, kind="stable")
        ids = ids[order]
        starts = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
        return Weights(ids[starts], np.add.reduceat(numbers[order], starts))
    places = np.minimum(right.ids.searchsorted(left.ids), len(right.ids) - 1)
    found = right.ids[places] == left.ids
    if match == "anti":
        return chosen(left, ~found)
    if match == "semi":
        return chosen(left, found)
    if match == "inner":
        return Weights(left.ids[found], left.numbers[found] * right.numbers[places[found]])
    return Weights(left.ids, left.numbers * np.where(found, right.numbers[places], 1))
