"""Rows as 64-bit keys: exact for equality (`KeyCoder`), or in the order of the rows (`order_keys`).

One id column is its own key, two are packed as `first << 32 | second`. Wider rows are coded by
ranking: each pair of values of two columns gets a number, that number and the next column are
packed, and so on; so keys are equal exactly if the rows are, without relying on hashes. Values
compare by value: -0.0 is 0.0, and NaN equals NaN (rows are compared, not numbers).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.operators.context import Budget
from triplestore.operators.frame import BOOLEAN, ID, INTEGER, Array, Type
from triplestore.operators.group_table import GroupTable, pieces
from triplestore.operators.thresholds import OPERATORS
from triplestore.relations.packed_keys import pack

Keys: TypeAlias = NDArray[np.uint32] | NDArray[np.uint64]
Words: TypeAlias = NDArray[np.uint64]

UNKNOWN = np.uint32(0xFFFFFFFF)  # the code of values that were not learnt; not a group

_SIGN = np.uint64(1 << 63)
_OBJECT_ENTRY = 200
# Maximum number of ids that are sorted, and of places per id in a table of places.
_SMALL, _SPREAD = 64, 8


def distinct_ids(ids: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The distinct ids, increasing, and the place of each of `ids` among them.

    Ids that lie close together are not sorted: 3 ns per id, compared to 70 ns for `np.unique`.

    >>> distinct, places = distinct_ids(np.array([7, 5, 7], np.uint32))
    >>> distinct.tolist(), places.tolist()
    ([5, 7], [1, 0, 1])
    """
    if len(ids) > _SMALL:
        least = ids.min()
        span = int(ids.max()) - int(least) + 1
        if span <= _SPREAD * len(ids):
            found, places = _dense(ids - least, span)
            return found.astype(np.uint32) + least, places
    distinct, places = np.unique(ids, return_inverse=True)
    return distinct, places


def distinct_integers(
    values: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The same for integers.

    >>> distinct, places = distinct_integers(np.array([7, -5, 7]))
    >>> distinct.tolist(), places.tolist()
    ([-5, 7], [1, 0, 1])
    """
    if len(values) > _SMALL:
        least = int(values.min())
        span = int(values.max()) - least + 1
        if span <= _SPREAD * len(values):
            found, places = _dense(values - least, span)
            return found + least, places
    distinct, places = np.unique(values, return_inverse=True)
    return distinct, places


def _dense(at: NDArray[Any], span: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct ones of numbers below `span`, and the place of each number among them."""
    there = np.zeros(span, np.bool_)
    there[at] = True
    found = np.flatnonzero(there)
    numbers = np.empty(span, np.int64)
    numbers[found] = np.arange(len(found))
    return found, numbers[at]


def order_keys(column: Array) -> Words:
    """64-bit keys that compare as the values of a column do (not of objects); NaN comes last."""
    if column.dtype == INTEGER:
        return column.view(np.uint64) ^ _SIGN
    if column.dtype in (ID, BOOLEAN):
        return column.astype(np.uint64)
    bits = (column + 0.0).view(np.uint64)  # + 0.0 makes -0.0 positive
    keys: Words = np.where(bits & _SIGN, ~bits, bits | _SIGN)
    keys[np.isnan(column)] = ~np.uint64(0)
    return keys


def narrow(kind: Type) -> bool:
    """True if values of this type fit in 32 bits."""
    return kind in (ID, BOOLEAN)


class KeyCoder:
    """Keys of rows that are equal exactly if the rows are: u32 for one column of ids, booleans or
    objects, u64 for other rows.

    `learn` returns the keys of rows and remembers them, `find` returns the keys of other rows; a
    row that was not learnt gets a key that no learnt row has.

    >>> from triplestore.operators.context import Context
    >>> coder = KeyCoder((INTEGER, INTEGER), Context())
    >>> learnt = coder.learn([np.array([1, -1]), np.array([7, 8])], 2)
    >>> found = coder.find([np.array([-1, 1]), np.array([8, 8])], 2)
    >>> (found[0] == learnt[1]).item(), found[1] in learnt
    (True, False)
    """

    __slots__ = ("_budget", "_columns", "_key_type", "_pairs", "_types")

    def __init__(self, types: Sequence[Type], budget: Budget) -> None:
        self._types = tuple(types)
        self._budget = budget
        alone = len(types) == 1
        short = not types or (alone and (narrow(types[0]) or types[0].hasobject))
        self._key_type: Type = np.dtype(np.uint32 if short else np.uint64)
        self._columns: list[_Ranks | None] = [
            None if narrow(kind) or (alone and not kind.hasobject) else _Ranks(kind, budget)
            for kind in types
        ]
        self._pairs = [GroupTable(budget) for _ in range(max(0, len(types) - 2))]

    def learn(self, columns: Sequence[Array], rows: int) -> Keys:
        """The keys of these rows, which are remembered."""
        return self._in_pieces(columns, rows, True)

    def find(self, columns: Sequence[Array], rows: int) -> Keys:
        """The keys of these rows."""
        return self._in_pieces(columns, rows, False)

    def _in_pieces(self, columns: Sequence[Array], rows: int, learn: bool) -> Keys:
        if rows <= OPERATORS.piece_rows or self._types == (ID,):
            return self._keys(columns, rows, learn)
        keys: Keys = np.empty(rows, self._key_type)
        for start, stop in pieces(rows, self._budget):
            part = [column[start:stop] for column in columns]
            keys[start:stop] = self._keys(part, stop - start, learn)
        return keys

    def _keys(self, columns: Sequence[Array], rows: int, learn: bool) -> Keys:
        if not columns:
            return np.zeros(rows, np.uint32)
        codes = [
            self._code(column, ranks, learn)
            for column, ranks in zip(columns, self._columns, strict=True)
        ]
        if len(codes) == 1:
            alone: Keys = codes[0]
            return alone
        keys = pack(codes[0], codes[1])
        for table, code in zip(self._pairs, codes[2:], strict=True):
            number = table.insert(keys)[0] if learn else _known(table.find(keys))
            keys = pack(number, code)
        return keys

    def _code(self, column: Array, ranks: _Ranks | None, learn: bool) -> Any:
        if ranks is not None:
            return ranks.learn(column) if learn else ranks.find(column)
        if column.dtype == ID:
            return np.ascontiguousarray(column)
        if column.dtype == BOOLEAN:
            return column.astype(np.uint32)
        return order_keys(column)


class _Ranks:
    """Numbers for the distinct values of one column of 64 bits or of objects."""

    __slots__ = ("_budget", "_numbers", "_table")

    def __init__(self, kind: Type, budget: Budget) -> None:
        self._budget = budget
        self._table = None if kind.hasobject else GroupTable(budget)
        self._numbers: dict[Any, int] = {}

    def learn(self, column: Array) -> NDArray[np.uint32]:
        if self._table is not None:
            return self._table.insert(order_keys(column))[0]
        numbers = self._numbers
        before = len(numbers)
        codes = [numbers.setdefault(value, len(numbers)) for value in column.tolist()]
        self._budget.charge((len(numbers) - before) * _OBJECT_ENTRY)
        return np.array(codes, np.uint32)

    def find(self, column: Array) -> NDArray[np.uint32]:
        if self._table is not None:
            return _known(self._table.find(order_keys(column)))
        numbers, unknown = self._numbers, int(UNKNOWN)
        return np.array([numbers.get(value, unknown) for value in column.tolist()], np.uint32)


def _known(groups: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Groups as codes: -1 becomes UNKNOWN."""
    return groups.astype(np.uint32)
