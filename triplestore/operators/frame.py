"""Frames: named columns of equal length, of term ids or of typed values.

Start at `Frame`. A column is a one-dimensional numpy array of one of the types below; ids are
uint32. Always true: the columns of a frame are never changed (they may be views of published
tables); `order` and `unique` hold for the rows. Making a frame of existing columns costs about 0.3
µs; selecting or renaming columns copies nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.errors import UsageError

Array: TypeAlias = NDArray[Any]
Type: TypeAlias = np.dtype[Any]

ID: Type = np.dtype(np.uint32)
INTEGER: Type = np.dtype(np.int64)
REAL: Type = np.dtype(np.float64)
BOOLEAN: Type = np.dtype(np.bool_)
OBJECT: Type = np.dtype(object)
TYPES = (ID, INTEGER, REAL, BOOLEAN, OBJECT)

_OBJECT_BYTES = 72  # charged per value of an object column: a pointer and a short text


class Frame:
    """Some rows in named columns.

    order   the rows are sorted by these columns, ascending; () if unknown
    unique  no row occurs twice; False if unknown

    >>> frame = Frame.of(x=[1, 1, 2], y=[5, 7, 6], order=("x", "y"), unique=True)
    >>> frame["y"].tolist(), len(frame), frame.names
    ([5, 7, 6], 3, ('x', 'y'))
    >>> frame.project(("y",)).to_rows()
    [(5,), (7,), (6,)]
    """

    __slots__ = ("columns", "names", "order", "rows", "unique")

    def __init__(
        self,
        names: tuple[str, ...],
        columns: Sequence[Array],
        rows: int,
        order: tuple[str, ...] = (),
        unique: bool = False,
    ) -> None:
        self.names = names
        self.columns = columns
        self.rows = rows
        self.order = order
        self.unique = unique

    @classmethod
    def of(
        cls,
        columns: Mapping[str, Array | Sequence[Any]] | None = None,
        *,
        order: tuple[str, ...] = (),
        unique: bool = False,
        **named: Array | Sequence[Any],
    ) -> Frame:
        """A frame of arrays (not copied) or of lists (of ids, if they are integers)."""
        arrays = {name: as_column(column) for name, column in {**(columns or {}), **named}.items()}
        if not arrays:
            raise UsageError("to make a frame without columns, use Frame((), (), rows)")
        frame = cls(
            tuple(arrays), tuple(arrays.values()), len(next(iter(arrays.values()))), order, unique
        )
        frame.validate()
        return frame

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, name: str) -> Array:
        return self.columns[self.names.index(name)]

    def __repr__(self) -> str:
        columns = ", ".join(
            f"{name}: {column.dtype}" for name, column in zip(self.names, self.columns, strict=True)
        )
        return f"<frame of {self.rows} rows ({columns})>"

    @property
    def types(self) -> tuple[Type, ...]:
        """The type of each column."""
        return tuple(column.dtype for column in self.columns)

    @property
    def nbytes(self) -> int:
        """The bytes that the columns are charged."""
        return self.rows * sum(width_of(column.dtype) for column in self.columns)

    def slice(self, start: int, stop: int) -> Frame:
        """Rows [start, stop): a view."""
        stop = min(stop, self.rows)
        return Frame(
            self.names,
            [column[start:stop] for column in self.columns],
            max(0, stop - start),
            self.order,
            self.unique,
        )

    def take(self, positions: Array) -> Frame:
        """The rows at these positions, in their order: a copy, without order or uniqueness."""
        return Frame(
            self.names, [column.take(positions) for column in self.columns], len(positions)
        )

    def where(self, mask: Array) -> Frame:
        """The rows where `mask` is true: a copy."""
        columns = [column[mask] for column in self.columns]
        rows = len(columns[0]) if columns else int(np.count_nonzero(mask))
        return Frame(self.names, columns, rows, self.order, self.unique)

    def project(self, names: tuple[str, ...]) -> Frame:
        """These columns: views."""
        return Frame(
            names,
            [self[name] for name in names],
            self.rows,
            kept_order(self.order, names),
            self.unique and set(self.names) <= set(names),
        )

    def to_rows(self) -> list[tuple[Any, ...]]:
        """The rows as tuples of plain Python values."""
        if not self.columns:
            return [()] * self.rows
        return list(zip(*(column.tolist() for column in self.columns), strict=True))

    def validate(self) -> None:
        """Raise unless everything that must hold for frames holds (costly: reads every row)."""
        if len(set(self.names)) != len(self.names) or len(self.names) != len(self.columns):
            raise UsageError(f"columns need different names: {self.names}")
        for name, column in zip(self.names, self.columns, strict=True):
            if column.ndim != 1 or len(column) != self.rows:
                raise UsageError(f"column {name!r} has not {self.rows} values")
            if column.dtype not in TYPES:
                raise UsageError(f"column {name!r} has the type {column.dtype}")
        keys = list(zip(*(self[name].tolist() for name in self.order), strict=True))
        if any(one > other for one, other in pairwise(keys)):
            raise UsageError(f"the rows are not sorted by {self.order}")
        if self.unique and len(set(self.to_rows())) < self.rows:
            raise UsageError("the rows are not unique")


def as_column(values: Array | Sequence[Any]) -> Array:
    """An array unchanged; a list of integers as ids, other lists by their type."""
    if isinstance(values, np.ndarray):
        return values
    first = next(iter(values), 0)
    if isinstance(first, bool):
        return np.array(values, BOOLEAN)
    if isinstance(first, int):
        return np.array(values, ID)
    if isinstance(first, float):
        return np.array(values, REAL)
    return objects(values)


def objects(values: Iterable[Any]) -> Array:
    """An object column of these values (numpy would make a matrix of a list of tuples)."""
    items = list(values)
    column = np.empty(len(items), OBJECT)
    column[:] = items
    return column


def width_of(kind: Type) -> int:
    """The bytes that one value of this type is charged."""
    return _OBJECT_BYTES if kind.hasobject else kind.itemsize


def row_width(types: Iterable[Type]) -> int:
    """The bytes that one row of these types is charged."""
    width = 0
    for kind in types:  # nearly all columns are ids, and plans are made often
        width += 4 if kind is ID else width_of(kind)
    return width


def null_of(kind: Type) -> Any:
    """The value of a column that means no value: 0 (unbound), NaN, False or None."""
    if kind.hasobject:
        return None
    return np.nan if kind == REAL else kind.type(0)


def nulls(kind: Type, rows: int) -> Array:
    """A column without values."""
    return np.full(rows, null_of(kind), kind)


def kept_order(order: tuple[str, ...], names: Iterable[str]) -> tuple[str, ...]:
    """The longest prefix of an order that has only these columns."""
    kept = set(names)
    for i, name in enumerate(order):
        if name not in kept:
            return order[:i]
    return order


def empty_frame(
    names: tuple[str, ...],
    types: tuple[Type, ...],
    order: tuple[str, ...] = (),
    unique: bool = False,
) -> Frame:
    """No rows."""
    return Frame(names, [np.empty(0, kind) for kind in types], 0, order, unique)
