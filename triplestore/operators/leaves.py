"""Leaves of plans: existing frames (`Values`), and relations (`Scan`).

A pattern of a relation has one entry per column: a name (the column of the result), an int (only
rows with this id), or None (any id, not in the result). A repeated name requires equal ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import ClassVar, TypeAlias

import numpy as np

from triplestore.errors import UsageError
from triplestore.operators.context import Context
from triplestore.operators.frame import ID, Array, Frame
from triplestore.operators.operator import Blocks, Operator, Stream, Text, shown, variables
from triplestore.relations.relation import StoredRelation
from triplestore.relations.status import HOLDS

Pattern: TypeAlias = Sequence[str | int | None]


class Values(Operator):
    """The rows of a frame. It can be replaced between runs by another frame with the same columns;
    this is how a rule's plan gets its delta.

    >>> values = Values(Frame.of(x=[1, 2]))
    >>> values.frame = Frame.of(x=[3])
    >>> values.run(Context()).to_rows()
    [(3,)]
    """

    kind: ClassVar[str] = "values"

    def __init__(self, frame: Frame, *, estimate: float | None = None) -> None:
        super().__init__(
            frame.names,
            frame.types,
            order=frame.order,
            unique=frame.unique,
            estimate=frame.rows if estimate is None else estimate,
        )
        self._frame = frame

    @property
    def frame(self) -> Frame:
        """The rows of the next run; order and uniqueness are those of the first frame."""
        return self._frame

    @frame.setter
    def frame(self, frame: Frame) -> None:
        if frame.names != self.names:
            raise UsageError(f"expected a frame of {self.names}, not of {frame.names}")
        self._frame = frame

    def detail(self) -> str:
        """The columns."""
        return variables(self.names)

    def whole(self, context: Context) -> Frame:
        """The frame."""
        self.statistics.calls += 1
        self.statistics.rows += self._frame.rows
        self.statistics.blocks += self._frame.rows > 0
        return self._frame

    def _open(self, context: Context) -> Blocks:
        frame = self._frame
        if frame.rows <= context.block_rows:
            return (frame,) if frame.rows else ()
        return slices(frame, context.block_rows)


def slices(frame: Frame, block_rows: int) -> Stream:
    """A frame in blocks: views."""
    return (frame.slice(start, start + block_rows) for start in range(0, frame.rows, block_rows))


class Scan(Operator):
    """The rows of a relation that match a pattern, sorted by column `order` of the relation, then
    by its other columns. `relation` and `where` can be replaced between runs.

    >>> from triplestore.relations import Tables, bulk_layer
    >>> s, p, o = np.array([[1, 9, 5], [1, 9, 6], [2, 9, 5]], dtype=np.uint32).T
    >>> knows = Tables([bulk_layer(p, s, o)]).relation(9)
    >>> Scan(knows, ("x", 5)).run(Context()).to_rows()
    [(1,), (2,)]
    """

    kind: ClassVar[str] = "scan"

    def __init__(
        self,
        relation: StoredRelation,
        pattern: Pattern,
        *,
        where: int = HOLDS,
        order: int | None = None,
        name: Text = "",
        estimate: float | None = None,
    ) -> None:
        self.relation = relation
        self.where = where
        self.pattern = check_pattern(self.kind, relation, pattern)
        self.name = name
        self._bound = [i for i, entry in enumerate(self.pattern) if isinstance(entry, int)]
        names = tuple(dict.fromkeys([entry for entry in self.pattern if isinstance(entry, str)]))
        if order is None:
            order = self._bound[0] if self._bound else 0
        self._first = order
        places = [order, *[i for i in range(len(self.pattern)) if i != order]]
        super().__init__(
            names,
            (ID,) * len(names),
            order=self._known_order(places),
            unique=None not in self.pattern,
            estimate=relation.estimate(self._bound) if estimate is None else estimate,
        )

    def detail(self) -> str:
        """The pattern."""
        return self.detail_naming(str)

    def detail_naming(self, name_of: Callable[[int], str]) -> str:
        """The pattern, with names of ids."""
        return atom(self.name, self.pattern, name_of)

    def in_order_of(self, name: str) -> Scan:
        """The same rows sorted by a column, if the relation keeps them in that order."""
        if self._bound or len(self.pattern) != 2:
            return self
        return Scan(
            self.relation,
            self.pattern,
            where=self.where,
            order=self.pattern.index(name),
            name=self.name,
            estimate=self.estimate,
        )

    def _known_order(self, places: list[int]) -> tuple[str, ...]:
        order: list[str] = []
        for place in places:
            entry = self.pattern[place]
            if entry is None:
                break
            if isinstance(entry, str) and entry not in order:
                order.append(entry)
        return tuple(order)

    def _open(self, context: Context) -> Blocks:
        if len(self._bound) == len(self.pattern):
            return self._ground(context)
        constant = self.pattern[self._first]
        blocks = self.relation.scan(
            self.where,
            order=self._first,
            first=constant if isinstance(constant, int) else None,
            block_rows=context.block_rows,
        )
        first = next(blocks, None)
        if first is None:
            return ()
        second = next(blocks, None)
        if second is None and len(first[0]) <= context.block_rows:
            frame = self._frame(first)
            self._charge(context, frame.nbytes)
            return (frame,) if frame.rows else ()
        return self._blocks(context, first, second, blocks)

    def _blocks(
        self,
        context: Context,
        first: tuple[Array, ...],
        second: tuple[Array, ...] | None,
        rest: Iterator[tuple[Array, ...]],
    ) -> Stream:
        for columns in (first,) if second is None else chain((first, second), rest):
            yield from self._cut(context, columns)

    def _cut(self, context: Context, columns: tuple[Array, ...]) -> Stream:
        frame = self._frame(columns)
        self._charge_block(context, frame.nbytes)
        if frame.rows <= context.block_rows:
            yield frame
        else:
            yield from slices(frame, context.block_rows)

    def _ground(self, context: Context) -> Blocks:
        row = tuple(np.array([value], np.uint32) for value in self.pattern)
        held = bool(self.relation.contains(row, self.where)[0])
        return (Frame((), (), 1, (), True),) if held else ()

    def _frame(self, columns: tuple[Array, ...]) -> Frame:
        """The named columns of the block's rows that match the constants and repeated names."""
        chosen: dict[str, Array] = {}
        mask: Array | None = None
        for place, (entry, column) in enumerate(zip(self.pattern, columns, strict=True)):
            if entry is None or (place == self._first and isinstance(entry, int)):
                continue
            if isinstance(entry, str):
                other = chosen.setdefault(entry, column)
                if other is column:
                    continue
                matches = other == column
            else:
                matches = column == entry
            mask = matches if mask is None else mask & matches
        rows = len(columns[0])
        frame = Frame(self.names, list(chosen.values()), rows, self.order, self.unique)
        return frame if mask is None else frame.where(mask)


def check_pattern(
    who: str, relation: StoredRelation, pattern: Pattern
) -> tuple[str | int | None, ...]:
    """The pattern as a tuple, or an error if it does not fit the relation."""
    if len(pattern) != relation.arity:
        raise UsageError(
            f"{who}: the relation has {relation.arity} columns, the pattern {len(pattern)}"
        )
    return tuple(pattern)


def atom(name: Text, pattern: Pattern, name_of: Callable[[int], str] = str) -> str:
    """A pattern as text: `knows[?x, 5]`."""
    entries = [
        f"?{entry}" if isinstance(entry, str) else "_" if entry is None else name_of(int(entry))
        for entry in pattern
    ]
    return f"{shown(name)}[{', '.join(entries)}]"
