"""Aggregates: one value per group, added up block by block.

Start at `ColumnAggregate`, the description of one; `accumulator` makes the object that computes it.
Always true: an accumulator has one place per group, and its result does not depend on how rows are
divided into blocks (sums of floats are added in the order of the rows). Integer sums are exact or
refused, never wrapped around.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from triplestore.data_classes import data_class
from triplestore.errors import UsageError
from triplestore.operators.context import Budget
from triplestore.operators.frame import (
    BOOLEAN,
    ID,
    INTEGER,
    OBJECT,
    REAL,
    Array,
    Type,
    null_of,
    nulls,
    objects,
    width_of,
)
from triplestore.operators.group_table import GroupTable, enlarged
from triplestore.operators.row_keys import KeyCoder

Function: TypeAlias = Literal["count", "sum", "min", "max", "avg", "sample"]


@data_class
class ColumnAggregate:
    """An aggregate of the rows of each group.

    function  count sum min max avg sample; `sample` is the value of the group's first row
    column    the column of its values; None for `count` counts rows
    distinct  use each distinct value of a group once
    where     name of a boolean column: only rows where it is true are used

    Without values the count and the sum are 0, and other results are null (see `frame.null_of`; add
    a count to distinguish them). NaN is greater than all numbers. Ids compare as numbers and have
    no sum.
    """

    function: Function
    column: str | None = None
    distinct: bool = False
    where: str | None = None

    def __post_init__(self) -> None:
        if self.function not in get_args(Function):
            raise UsageError(
                f"unknown aggregate {self.function!r}; use one of {', '.join(get_args(Function))}"
            )
        if self.column is None and (self.function != "count" or self.distinct):
            raise UsageError(f"aggregate {self.function} needs a column")

    def __str__(self) -> str:
        what = "*" if self.column is None else f"?{self.column}"
        text = f"{self.function}({'distinct ' if self.distinct else ''}{what})"
        return f"{text} where ?{self.where}" if self.where else text

    def type_of(self, column: Type) -> Type:
        """The type of the result, for values of this type."""
        if self.function == "count":
            return INTEGER
        if self.function in ("sum", "avg"):
            if column == ID:
                raise UsageError(f"{self}: ids have no {self.function}; use their values")
            if self.function == "avg" and column != OBJECT:
                return REAL
            return INTEGER if column == BOOLEAN else column
        return column


class Accumulator(ABC):
    """The values of one aggregate for groups 0, 1, 2, ..."""

    def __init__(self, budget: Budget, types: tuple[Type, ...], fills: tuple[Any, ...]) -> None:
        self._budget = budget
        self._fills = fills
        self._arrays = [np.empty(0, kind) for kind in types]
        self._width = sum(width_of(kind) for kind in types)

    def grow(self, count: int) -> None:
        """Make places for this many groups."""
        size = len(self._arrays[0])
        if count <= size:
            return
        room = max(count, 2 * size)
        self._budget.charge(room * self._width)
        for i, fill in enumerate(self._fills):
            self._arrays[i] = enlarged(self._arrays[i], size, room, fill, self._budget)
        self._budget.release(size * self._width)

    def drop(self, count: int) -> None:
        """Drop the first groups; the others move to the front."""
        for array, fill in zip(self._arrays, self._fills, strict=True):
            rest = len(array) - count
            array[:rest] = array[count:].copy()
            array[rest:] = fill

    @abstractmethod
    def add(self, groups: Array, values: Array | None) -> None:
        """Add one value to each of these groups (i64; groups may repeat)."""

    @abstractmethod
    def result(self, start: int, stop: int) -> Array:
        """The results of the groups [start, stop): a copy."""


class _Count(Accumulator):
    def __init__(self, budget: Budget) -> None:
        super().__init__(budget, (INTEGER,), (0,))

    def add(self, groups: Array, values: Array | None) -> None:
        np.add.at(self._arrays[0], groups, 1)

    def result(self, start: int, stop: int) -> Array:
        return self._arrays[0][start:stop].copy()


class _IntegerSum(Accumulator):
    """Sums of the high and the low halves, which cannot overflow for fewer than 2^31 rows."""

    def __init__(self, budget: Budget, about: ColumnAggregate) -> None:
        super().__init__(budget, (INTEGER, INTEGER), (0, 0))
        self._about = about

    def add(self, groups: Array, values: Array | None) -> None:
        assert values is not None
        values = values.astype(INTEGER, copy=False)
        np.add.at(self._arrays[0], groups, values >> 32)
        np.add.at(self._arrays[1], groups, values & 0xFFFFFFFF)

    def halves(self, start: int, stop: int) -> tuple[Array, Array]:
        """The sum as high * 2^32 + low with 0 <= low < 2^32."""
        high, low = self._arrays[0][start:stop], self._arrays[1][start:stop]
        return high + (low >> 32), low & 0xFFFFFFFF

    def result(self, start: int, stop: int) -> Array:
        high, low = self.halves(start, stop)
        if len(high) and (high.max() >= 1 << 31 or high.min() < -(1 << 31)):
            raise UsageError(
                f"{self._about}: a sum does not fit in 64 bits; use a column of Python integers"
                " (of objects)"
            )
        return (high << 32) | low


class _RealSum(Accumulator):
    def __init__(self, budget: Budget) -> None:
        super().__init__(budget, (REAL,), (0.0,))

    def add(self, groups: Array, values: Array | None) -> None:
        assert values is not None
        np.add.at(self._arrays[0], groups, values)

    def result(self, start: int, stop: int) -> Array:
        return self._arrays[0][start:stop].copy()


class _Average(Accumulator):
    """A sum and a count; the quotient of integers is rounded once, from their exact sum."""

    def __init__(self, budget: Budget, about: ColumnAggregate, kind: Type) -> None:
        super().__init__(budget, (INTEGER,), (0,))
        self._sum: Accumulator
        if kind.hasobject:
            self._sum = _ObjectFold(budget, lambda one, other: one + other)
        elif kind == REAL:
            self._sum = _RealSum(budget)
        else:
            self._sum = _IntegerSum(budget, about)

    def grow(self, count: int) -> None:
        super().grow(count)
        self._sum.grow(count)

    def drop(self, count: int) -> None:
        super().drop(count)
        self._sum.drop(count)

    def add(self, groups: Array, values: Array | None) -> None:
        np.add.at(self._arrays[0], groups, 1)
        self._sum.add(groups, values)

    def result(self, start: int, stop: int) -> Array:
        counts = self._arrays[0][start:stop]
        if isinstance(self._sum, _IntegerSum):
            high, low = self._sum.halves(start, stop)
            pairs = zip(high.tolist(), low.tolist(), counts.tolist(), strict=True)
            values = [((h << 32) + lo) / n if n else np.nan for h, lo, n in pairs]
            return np.array(values, REAL)
        sums = self._sum.result(start, stop)
        if sums.dtype.hasobject:
            pairs_ = zip(sums.tolist(), counts.tolist(), strict=True)
            return objects([total / n if n else None for total, n in pairs_])
        quotients = nulls(REAL, stop - start)
        np.divide(sums, counts, out=quotients, where=counts > 0)
        return quotients


class _Extreme(Accumulator):
    """The least or greatest value of a fixed-width type."""

    def __init__(self, budget: Budget, kind: Type, largest: bool) -> None:
        if kind == REAL:
            fill: Any = -np.inf if largest else np.nan  # fmin takes any number before NaN
            self._ufunc: Any = np.maximum if largest else np.fmin
        else:
            if kind == BOOLEAN:
                fill = not largest
            else:
                fill = np.iinfo(kind).min if largest else np.iinfo(kind).max
            self._ufunc = np.maximum if largest else np.minimum
        super().__init__(budget, (kind, BOOLEAN), (fill, False))

    def add(self, groups: Array, values: Array | None) -> None:
        assert values is not None
        self._ufunc.at(self._arrays[0], groups, values)
        self._arrays[1][groups] = True

    def result(self, start: int, stop: int) -> Array:
        values = self._arrays[0][start:stop].copy()
        values[~self._arrays[1][start:stop]] = null_of(values.dtype)
        return values


class _Sample(Accumulator):
    def __init__(self, budget: Budget, kind: Type) -> None:
        super().__init__(budget, (kind, BOOLEAN), (null_of(kind), False))

    def add(self, groups: Array, values: Array | None) -> None:
        assert values is not None
        new = ~self._arrays[1][groups]
        if new.any():
            first = groups[new][::-1]  # the last assignment to equal indexes wins
            self._arrays[0][first] = values[new][::-1]
            self._arrays[1][first] = True

    def result(self, start: int, stop: int) -> Array:
        return self._arrays[0][start:stop].copy()


class _ObjectFold(Accumulator):
    """Python objects combined two at a time; `empty` without values."""

    def __init__(
        self, budget: Budget, fold: Callable[[Any, Any], Any], empty: object = None
    ) -> None:
        super().__init__(budget, (OBJECT,), (None,))
        self._fold = fold
        self._empty = empty

    def add(self, groups: Array, values: Array | None) -> None:
        assert values is not None
        array, fold = self._arrays[0], self._fold
        for group, value in zip(groups.tolist(), values.tolist(), strict=True):
            before = array[group]
            array[group] = value if before is None else fold(before, value)

    def result(self, start: int, stop: int) -> Array:
        values = self._arrays[0][start:stop].tolist()
        return objects([self._empty if value is None else value for value in values])


class _Distinct(Accumulator):
    """Another accumulator, to which each value of a group is added once."""

    def __init__(self, budget: Budget, kind: Type, inner: Accumulator) -> None:
        super().__init__(budget, (BOOLEAN,), (False,))
        self._inner = inner
        self._coder = KeyCoder((ID, kind), budget)
        self._table = GroupTable(budget)

    def grow(self, count: int) -> None:
        self._inner.grow(count)

    def drop(self, count: int) -> None:
        raise AssertionError("distinct aggregates are computed for all groups together")

    def add(self, groups: Array, values: Array | None) -> None:
        assert values is not None
        keys = self._coder.learn((groups.astype(ID), values), len(groups))
        _, firsts = self._table.insert(keys)  # type: ignore[arg-type]
        self._inner.add(groups[firsts], values[firsts])

    def result(self, start: int, stop: int) -> Array:
        return self._inner.result(start, stop)


def accumulator(aggregate: ColumnAggregate, kind: Type | None, budget: Budget) -> Accumulator:
    """The accumulator of an aggregate for values of this type (None without a column)."""
    if kind is None:
        return _Count(budget)
    made = _plain(aggregate, kind, budget)
    return _Distinct(budget, kind, made) if aggregate.distinct else made


def _plain(aggregate: ColumnAggregate, kind: Type, budget: Budget) -> Accumulator:
    function = aggregate.function
    if function == "count":
        return _Count(budget)
    if function == "sample":
        return _Sample(budget, kind)
    if function == "avg":
        return _Average(budget, aggregate, kind)
    if kind.hasobject:
        if function == "sum":
            return _ObjectFold(budget, lambda one, other: one + other, 0)
        return _ObjectFold(budget, min if function == "min" else max)
    if function == "sum":
        return _RealSum(budget) if kind == REAL else _IntegerSum(budget, aggregate)
    return _Extreme(budget, kind, function == "max")
