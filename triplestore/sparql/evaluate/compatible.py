"""Joins where a shared variable may be unbound: SPARQL's compatible solutions.

Start at `CompatibleJoin`. Two rows are compatible if every variable that both bind has the same
value. The rows of each side are divided into classes by the doubtful variables that they bind; each
pair of classes is an ordinary join on the variables that both bind. There is one join per pair of
occurring classes, usually few. Always true: id 0 means unbound; the right side is held in
memory, the left one streams; rows of a left block come class by class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np

from triplestore.data_classes import data_class
from triplestore.errors import UsageError
from triplestore.operators.context import Context
from triplestore.operators.frame import Array, Frame, nulls
from triplestore.operators.joins.join_index import JoinIndex
from triplestore.operators.joins.match_pairs import cut_pairs
from triplestore.operators.operator import Blocks, Operator, Stream, Text, shown, variables

How: TypeAlias = Literal["inner", "left", "semi", "anti"]
Condition: TypeAlias = Callable[[Frame], Array]


@data_class(frozen=False)
class _Class:
    """The right rows that bind the same doubtful variables."""

    bound: frozenset[str]
    rows: Frame
    indexes: dict[tuple[str, ...], JoinIndex] = field(default_factory=dict)


class CompatibleJoin(Operator):
    """Joins rows that agree on the variables that both bind.

    doubtful   shared columns that may hold 0 (unbound) on either side
    how        as of `operators.JoinOperator`: inner, left, semi, anti
    condition  which joined rows are matches
    overlap    only rows with a variable that both bind match (as in MINUS)

    >>> from triplestore.operators import Values
    >>> left = Values(Frame.of(x=[1, 2, 0], y=[7, 8, 9]))
    >>> right = Values(Frame.of(x=[1, 0], z=[5, 6]))
    >>> sorted(CompatibleJoin(left, right, ("x",)).run(Context()).to_rows())
    [(0, 9, 6), (1, 7, 5), (1, 7, 6), (1, 9, 5), (2, 8, 6)]
    >>> CompatibleJoin(left, right, ("x",), "anti", overlap=True).run(Context()).to_rows()
    [(0, 9), (2, 8)]
    """

    kind: ClassVar[str] = "compatible join"

    def __init__(
        self,
        left: Operator,
        right: Operator,
        doubtful: tuple[str, ...],
        how: How = "inner",
        *,
        condition: Condition | None = None,
        overlap: bool = False,
        text: Text = "",
        estimate: float | None = None,
    ) -> None:
        if how not in get_args(How):
            raise UsageError(f"{self.kind}: how is one of {', '.join(get_args(How))}, not {how!r}")
        self.left, self.right = left, right
        self.how = how
        self.condition = condition
        self.overlap = overlap
        self.text = text
        self.shared = tuple(name for name in left.names if name in right.names)
        self.doubtful = tuple(name for name in self.shared if name in doubtful)
        self.certain = tuple(name for name in self.shared if name not in doubtful)
        self._rest = tuple(name for name in right.names if name not in self.shared)
        self._joined = (*left.names, *self._rest)
        names, types = left.names, left.types
        if how in ("inner", "left"):
            names = self._joined
            types = (*types, *(right.types[right.names.index(name)] for name in self._rest))
        if estimate is None:
            estimate = left.estimate if how != "inner" else max(left.estimate, right.estimate)
        super().__init__(names, types, (left, right), estimate=estimate)

    def detail(self) -> str:
        """The columns, doubtful ones followed by a question mark, and the kind of join."""
        on = " ".join(part for part in (variables(self.certain), self._doubts()) if part)
        on = on or "(product)"
        if self.condition is not None:
            on += f" if {shown(self.text) or '...'}"
        return on if self.how == "inner" else f"{on} ({self.how})"

    def _doubts(self) -> str:
        return " ".join(f"?{name}?" for name in self.doubtful)

    def _open(self, context: Context) -> Blocks:
        blocks = self._read(context, self.left)
        if isinstance(blocks, tuple) and not blocks:
            return ()
        right = self._collect(context, self.right)
        if right.rows == 0 and self.how in ("inner", "semi"):
            return ()
        classes = [_Class(bound, rows) for bound, rows in self._classes(context, right)]
        pieces = (piece for block in blocks for piece in self._of_block(context, block, classes))
        if isinstance(blocks, tuple) and len(blocks) == 1 and blocks[0].rows * right.rows <= 4096:
            return tuple(piece for piece in pieces if piece.rows)
        return pieces

    def _classes(self, context: Context, frame: Frame) -> Iterator[tuple[frozenset[str], Frame]]:
        """The rows of a frame, divided by the doubtful columns that they bind."""
        if frame.rows == 0:
            return
        code = np.zeros(frame.rows, np.int64)
        for place, name in enumerate(self.doubtful):
            code |= (frame[name] != 0).astype(np.int64) << place
        codes = np.unique(code).tolist()
        for one in codes:
            bound = frozenset(n for place, n in enumerate(self.doubtful) if one >> place & 1)
            if len(codes) == 1:
                yield bound, frame
            else:
                part = frame.where(code == one)
                self._charge(context, part.nbytes)
                yield bound, part

    def _of_block(self, context: Context, block: Frame, classes: list[_Class]) -> Stream:
        for bound, rows in self._classes(context, block):
            found = np.zeros(rows.rows, np.bool_)
            for other in classes:
                on = (*self.certain, *(n for n in self.doubtful if n in bound & other.bound))
                if self.overlap and not on:
                    continue
                yield from self._pair(context, rows, other, on, found)
            if self.how == "semi":
                yield self._framed(rows.where(found))
            elif self.how == "anti":
                yield self._framed(rows.where(~found))
            elif self.how == "left" and not found.all():
                yield self._without(rows.where(~found))

    def _pair(
        self, context: Context, rows: Frame, other: _Class, on: tuple[str, ...], found: Array
    ) -> Stream:
        """Join left rows with one class of right rows, and mark those with a match."""
        index = other.indexes.get(on)
        if index is None:
            places = [other.rows.names.index(name) for name in on]
            index = JoinIndex(other.rows, places, self._account(context))
            other.indexes[on] = index
        keys = [rows[name] for name in on]
        lo, hi, total = index.ranges(keys, rows.rows)
        tests_only = self.how in ("semi", "anti")
        if tests_only and self.condition is None:
            found |= hi > lo
            return
        room = context.block_rows
        self._charge_block(context, min(total, room) * (self.width + 4 * len(self._joined) + 24))
        for left, at in cut_pairs(lo, hi, total, room, False):
            context.check()
            joined = self._together(rows, other.rows, left, index.rows(at))
            if self.condition is not None:
                mask = self.condition(joined)
                joined, left = joined.where(mask), left[mask]
            found[left] = True
            if not tests_only and joined.rows:
                yield joined

    def _together(self, rows: Frame, others: Frame, left: Array, right: Array) -> Frame:
        columns = []
        for name, column in zip(rows.names, rows.columns, strict=True):
            made = column.take(left)
            if name in self.doubtful:
                made = np.where(made != 0, made, others[name].take(right))
            columns.append(made)
        columns += [others[name].take(right) for name in self._rest]
        return Frame(self._joined, columns, len(left))

    def _framed(self, rows: Frame) -> Frame:
        return Frame(self.names, rows.columns, rows.rows)

    def _without(self, rows: Frame) -> Frame:
        """Left rows with unbound variables on the right."""
        types = self.types[len(rows.names) :]
        columns = [*rows.columns, *(nulls(kind, rows.rows) for kind in types)]
        return Frame(self.names, columns, rows.rows)
