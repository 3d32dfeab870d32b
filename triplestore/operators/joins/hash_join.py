"""Joins of two inputs on columns of the same name: inner, left outer, semi and anti.

Start at `HashJoin` (indexes the right input, streams the left) and `MergeJoin` (both sorted by the
columns, streams both); `join` chooses. A join on no columns is the cartesian product.

Always true
    - All joins return the same bag of rows. Rows come in the order of the left input, the matches
      of a left row in the order of the right one (unless there is a condition).
    - Pairs are counted before they are made: blocks stay within `context.block_rows` even if one
      key matches millions of rows, and are charged before they are allocated.
    - Ids and values are compared by equality: 0 (unbound) equals 0. SPARQL's rules for unbound
      columns are implemented above, by joins of the parts without unbound columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np

from triplestore.errors import UsageError
from triplestore.operators.context import Context
from triplestore.operators.frame import BOOLEAN, Array, Frame, null_of, nulls, row_width
from triplestore.operators.joins.join_index import JoinIndex
from triplestore.operators.joins.match_pairs import cut_pairs
from triplestore.operators.operator import (
    Blocks,
    Operator,
    Stream,
    Text,
    as_tuple,
    positions,
    shown,
    variables,
)

How: TypeAlias = Literal["inner", "left", "semi", "anti"]
HOWS: tuple[str, ...] = get_args(How)
Condition: TypeAlias = Callable[[Frame], Array]

_RANGE_BYTES = 24  # per left row while its matches are searched: a key, and a range


class JoinOperator(Operator):
    """The base of joins: the columns of the result, and the result for one left block.

    on         the columns that must be equal; by default all shared columns
    how        inner: left and right row; left: also left rows without match, with nulls on the
               right; semi and anti: left rows with and without a match
    condition  a function of a block of joined rows: which of them are matches
    matched    for `left`, the name of a boolean column for the rows with a match
    """

    def __init__(
        self,
        left: Operator,
        right: Operator,
        on: str | Sequence[str] | None = None,
        how: How = "inner",
        *,
        condition: Condition | None = None,
        matched: str | None = None,
        text: Text = "",
        estimate: float | None = None,
    ) -> None:
        if how not in HOWS:
            raise UsageError(f"{self.kind}: how is one of {', '.join(HOWS)}, not {how!r}")
        if matched is not None and how != "left":
            raise UsageError(f"{self.kind}: a column {matched!r} of matches needs how='left'")
        if on is None:
            on = [name for name in left.names if name in right.names]
        self.on: tuple[str, ...] = as_tuple(on)
        self.how = how
        self.condition = condition
        self.text = text
        self.left, self.right = left, right
        self._left_on = positions(left.names, self.on, f"{self.kind}, left input")
        self._right_on = positions(right.names, self.on, f"{self.kind}, right input")
        self._rest = [i for i, name in enumerate(right.names) if name not in self.on]
        rest = tuple(right.names[i] for i in self._rest)
        rest_types = tuple(right.types[i] for i in self._rest)
        self._check_columns(rest)
        self._joined_names = (*left.names, *rest)
        self._joined_width = (
            left.width + row_width(rest_types) + 24
        )  # including the pair of positions
        self._matched = matched is not None
        self._members = how in ("semi", "anti") and condition is None
        names, types = left.names, left.types
        if how in ("inner", "left"):
            names, types = self._joined_names, (*types, *rest_types)
            if matched is not None:
                names, types = (*names, matched), (*types, BOOLEAN)
        super().__init__(
            names,
            types,
            (left, right),
            order=self._known_order(),
            unique=left.unique and (right.unique or how in ("semi", "anti")),
            estimate=self._expected() if estimate is None else estimate,
        )

    def detail(self) -> str:
        """The columns, and the kind of join unless it is inner."""
        on = variables(self.on) or "(product)"
        if self.condition is not None:
            on += f" if {shown(self.text) or '...'}"
        return on if self.how == "inner" else f"{on} ({self.how})"

    def _check_columns(self, rest: tuple[str, ...]) -> None:
        both = [name for name in rest if name in self.left.names]
        if both and self.how in ("inner", "left"):
            raise UsageError(
                f"{self.kind}: both inputs have {variables(tuple(both))}; join on it or rename it"
            )
        for i, j in zip(self._left_on, self._right_on, strict=True):
            one, other = self.left.types[i], self.right.types[j]
            if one != other:
                raise UsageError(
                    f"{self.kind}: ?{self.left.names[i]} is {one} on the left and {other} on the"
                    " right"
                )

    def _known_order(self) -> tuple[str, ...]:
        left, right = self.left, self.right
        if self.how in ("semi", "anti"):
            return left.order
        if self.condition is not None and self.how == "left":
            return ()
        if left.unique and set(left.order) == set(left.names):
            return (*left.order, *(name for name in right.order if name not in self.on))
        return left.order

    def _expected(self) -> float:
        left, right = self.left.estimate, self.right.estimate
        if self.how in ("semi", "anti"):
            return left / 2
        if not self.on:
            return left * right
        return max(left, right)

    # One left block, and an index of the right rows.

    def _matches(self, context: Context, block: Frame, right: Frame, index: JoinIndex) -> Blocks:
        size = block.rows * _RANGE_BYTES
        self._charge(context, size)
        keys = [block.columns[i] for i in self._left_on]
        if self._members:
            ready = tuple(self._chosen(context, block, index.exists(keys, block.rows)))
            self._release(context, size)
            return ready
        lo, hi, total = index.ranges(keys, block.rows)
        if self.how == "left" and self.condition is None:
            total += block.rows - int(np.count_nonzero(hi > lo))
        pieces: Stream
        if self.condition is not None:
            pieces = self._tested(
                context, block, self._joined(context, block, right, index, lo, hi, total)
            )
        else:
            pieces = (
                piece for piece, _ in self._joined(context, block, right, index, lo, hi, total)
            )
        if total > context.block_rows:
            return self._released(context, pieces, size)
        ready = tuple(pieces)
        self._release(context, size)
        return ready

    def _released(self, context: Context, pieces: Stream, size: int) -> Stream:
        yield from pieces
        self._release(context, size)

    def _chosen(self, context: Context, block: Frame, found: Array) -> Stream:
        """For semi and anti joins: the rows of the block with, or without, a match."""
        mask = found if self.how == "semi" else ~found
        if mask.all():
            yield block
        elif mask.any():
            self._charge_block(context, block.rows * self.width)
            yield block.where(mask)

    def _joined(
        self,
        context: Context,
        block: Frame,
        right: Frame,
        index: JoinIndex,
        lo: Array,
        hi: Array,
        total: int,
    ) -> Iterator[tuple[Frame, Array]]:
        """The joined rows in blocks, and the row of the left block of each."""
        outer = self.how == "left" and self.condition is None
        names, order, unique = self.names, self.order, self.unique
        if self.condition is not None:
            names, order, unique = self._joined_names, (), False
        room = context.block_rows
        if total == 0:
            return
        self._charge_block(context, min(total, room) * self._joined_width)
        for left, places in cut_pairs(lo, hi, total, room, outer):
            columns = [column.take(left) for column in block.columns]
            if outer:
                columns += self._right_or_null(right, index, places)
            else:
                rows = index.rows(places)
                columns += [right.columns[i].take(rows) for i in self._rest]
            yield Frame(names, columns, len(left), order, unique), left
            total -= len(left)
            if total:
                context.check()
                self._charge_block(context, min(total, room) * self._joined_width)

    def _right_or_null(self, right: Frame, index: JoinIndex, places: Array) -> list[Array]:
        """The right columns, with nulls where there is no match."""
        missing = places < 0
        if right.rows == 0:
            columns = [nulls(self.right.types[i], len(places)) for i in self._rest]
        else:
            rows = index.rows(np.maximum(places, 0))
            columns = [right.columns[i].take(rows) for i in self._rest]
            for column in columns:
                column[missing] = null_of(column.dtype)
        if self._matched:
            columns.append(~missing)
        return columns

    def _tested(
        self, context: Context, block: Frame, pieces: Iterator[tuple[Frame, Array]]
    ) -> Stream:
        """The joined rows that meet the condition, then the left rows without any."""
        assert self.condition is not None
        found = np.zeros(block.rows, BOOLEAN)
        for piece, left in pieces:
            mask = self.condition(piece)
            found[left[mask]] = True
            if self.how in ("inner", "left") and mask.any():
                kept = piece.where(mask)
                more = [np.ones(kept.rows, BOOLEAN)] if self._matched else []
                columns = [*kept.columns, *more]
                yield Frame(self.names, columns, kept.rows, self.order, self.unique)
        if self.how in ("semi", "anti"):
            yield from self._chosen(context, block, found)
        elif self.how == "left" and not found.all():
            self._charge_block(context, block.rows * self.width)
            rest = block.where(~found)
            types = self.types[len(block.names) :]
            columns = [*rest.columns, *(nulls(kind, rest.rows) for kind in types)]
            yield Frame(self.names, columns, rest.rows, self.order, self.unique)


class HashJoin(JoinOperator):
    """Joins with an index of the right input, which is held in memory; the left input streams.

    >>> from triplestore.operators import Values
    >>> one, two = Values(Frame.of(x=[1, 2, 3])), Values(Frame.of(x=[1, 1, 3], y=[7, 8, 9]))
    >>> HashJoin(one, two).run(Context()).to_rows()
    [(1, 7), (1, 8), (3, 9)]
    >>> HashJoin(one, two, how="left").run(Context()).to_rows()
    [(1, 7), (1, 8), (2, 0), (3, 9)]
    >>> HashJoin(one, two, how="anti").run(Context()).to_rows()
    [(2,)]
    """

    kind: ClassVar[str] = "hash join"

    def _open(self, context: Context) -> Blocks:
        blocks = self._read(context, self.left)
        if isinstance(blocks, tuple) and not blocks:
            return ()
        right = self._collect(context, self.right)
        if right.rows == 0 and self.how in ("inner", "semi"):
            return ()
        account = self._account(context)
        index = JoinIndex(right, self._right_on, account, members=self._members)
        if isinstance(blocks, tuple) and len(blocks) == 1:
            return self._matches(context, blocks[0], right, index)
        return self._stream(context, blocks, right, index)

    def _stream(self, context: Context, blocks: Blocks, right: Frame, index: JoinIndex) -> Stream:
        for block in blocks:
            yield from self._matches(context, block, right, index)
