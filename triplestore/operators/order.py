"""Rows in an order, all of them or the first ones.

All rows: they are collected, their positions sorted in steps (`sort_positions`), and passed on
block by block. The first k: a buffer of at most 2k rows and a block; rows that cannot be among the
first k are dropped at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeAlias

from triplestore.errors import UsageError
from triplestore.operators.context import Context
from triplestore.operators.frame import Array, Frame
from triplestore.operators.leaves import slices
from triplestore.operators.operator import (
    Account,
    Blocks,
    Operator,
    Stream,
    as_tuple,
    gather,
    positions,
)
from triplestore.operators.sort_positions import sorted_positions

Key: TypeAlias = str | tuple[str, bool]
"""A column, or a column and whether it is descending."""


class Order(Operator):
    """The child's rows sorted by columns; equal rows keep their order.

    keys   names, or pairs (name, descending); the first has priority
    limit  maximum number of rows, the first ones; None for all

    None sorts before other objects, NaN after other numbers, ids as numbers.

    >>> from triplestore.operators import Values
    >>> rows = Values(Frame.of(x=[1, 2, 3], y=[7, 5, 7]))
    >>> Order(rows, [("y", True), "x"]).run(Context()).to_rows()
    [(1, 7), (3, 7), (2, 5)]
    >>> Order(rows, "y", limit=1).run(Context()).to_rows()
    [(2, 5)]
    """

    kind: ClassVar[str] = "order"

    def __init__(
        self, child: Operator, keys: str | Sequence[Key], *, limit: int | None = None
    ) -> None:
        if limit is not None and limit < 0:
            raise UsageError(f"order: the limit must not be negative: {limit}")
        pairs = [(key, False) if isinstance(key, str) else key for key in as_tuple(keys)]
        self.keys = tuple((name, bool(down)) for name, down in pairs)
        names = tuple(name for name, _ in self.keys)
        self._places = positions(child.names, names, self.kind)
        self._descending = [down for _, down in self.keys]
        self._is_sorted = not any(self._descending) and child.order[: len(names)] == names
        self.child = child
        self.limit = limit
        super().__init__(
            child.names,
            child.types,
            (child,),
            order=child.order if self._is_sorted else self._new_order(names),
            unique=child.unique,
            estimate=child.estimate if limit is None else min(limit, child.estimate),
        )

    def detail(self) -> str:
        """The keys, the limit, and whether the rows were sorted already."""
        keys = " ".join(f"desc(?{name})" if down else f"?{name}" for name, down in self.keys)
        limit = "" if self.limit is None else f" first {self.limit}"
        return keys + limit + (" (known)" if self._is_sorted else "")

    def _new_order(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """The order of the result: ascending keys up to the first descending one, then the old."""
        if any(self._descending):
            return names[: self._descending.index(True)]
        return tuple(dict.fromkeys((*names, *self.child.order)))

    def _open(self, context: Context) -> Blocks:
        if self.limit == 0:
            return ()
        all_rows = self.limit is None and not self._is_sorted
        whole = self.child.whole(context) if all_rows else None
        blocks = (whole,) if whole is not None else self._read(context, self.child)
        if isinstance(blocks, tuple) and not (blocks and blocks[0].rows):
            return ()
        if self._is_sorted:
            return blocks if self.limit is None else self._cut(blocks, self.limit)
        if self.limit is not None:
            pieces = self._first(context, blocks, self.limit)
        else:
            pieces = self._all(context, blocks)
        small = (
            isinstance(blocks, tuple) and len(blocks) == 1 and len(blocks[0]) <= context.block_rows
        )
        return tuple(pieces) if small else pieces

    def _cut(self, blocks: Blocks, limit: int) -> Stream:
        for block in blocks:
            yield block.slice(0, limit)
            limit -= block.rows
            if limit <= 0:
                return

    def _all(self, context: Context, blocks: Blocks) -> Stream:
        account = self._account(context)
        frame = gather(self.child, blocks, account)
        rows = self._sorted_rows(frame, account)
        for start in range(0, frame.rows, context.block_rows):
            places = rows[start : start + context.block_rows]
            self._charge_block(context, len(places) * self.width)
            yield self._taken(frame, places)

    def _first(self, context: Context, blocks: Blocks, limit: int) -> Stream:
        account = self._account(context)
        kept: list[Frame] = []  # the first rows so far, and later blocks
        worst: Array | None = None  # the first key of the last of these, once there are enough
        rows = 0
        for block in blocks:
            if worst is not None:
                block = self._not_after(block, worst)
            if block.rows == 0:
                continue
            account.charge(block.nbytes)
            kept.append(block)
            rows += block.rows
            if rows >= max(2 * limit, context.block_rows):
                best = self._best(kept, limit, account)
                kept, rows = [best], best.rows
                worst = best.columns[self._places[0]][-1:] if rows == limit and self.keys else None
        if kept:
            yield from slices(self._best(kept, limit, account), context.block_rows)

    def _best(self, kept: list[Frame], limit: int, account: Account) -> Frame:
        frame = gather(self.child, tuple(kept), account)
        places = self._sorted_rows(frame, account)[:limit]
        best = self._taken(frame, places)
        account.charge(best.nbytes)
        account.release(account.held - best.nbytes)
        return best

    def _not_after(self, block: Frame, worst: Array) -> Frame:
        """The rows whose first key is not after the worst one, or may not be."""
        column = block.columns[self._places[0]]
        if column.dtype.hasobject:
            return block
        after = column < worst if self._descending[0] else column > worst
        return block.where(~after) if after.any() else block

    def _sorted_rows(self, frame: Frame, account: Account) -> Array:
        columns = [frame.columns[i] for i in self._places]
        places = sorted_positions(columns, self._descending, frame.rows, account)
        account.charge(places.nbytes)
        return places

    def _taken(self, frame: Frame, places: Array) -> Frame:
        columns = [column.take(places) for column in frame.columns]
        return Frame(self.names, columns, len(places), self.order, self.unique)
