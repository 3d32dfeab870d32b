"""Each row once, in the order of first appearance.

Rows that are known to be unique are passed on; rows that are sorted by all their columns are
compared with their neighbours; all others are looked up in an exact hash table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from triplestore.operators.context import Context
from triplestore.operators.frame import BOOLEAN, Array, Frame
from triplestore.operators.group_table import GroupTable
from triplestore.operators.operator import Blocks, Operator, Stream
from triplestore.operators.row_keys import KeyCoder


class Distinct(Operator):
    """The child's rows without duplicates; each row is passed on at its first appearance.

    >>> from triplestore.operators import Values
    >>> Distinct(Values(Frame.of(x=[2, 1, 2], y=[5, 6, 5]))).run(Context()).to_rows()
    [(2, 5), (1, 6)]
    """

    kind: ClassVar[str] = "distinct"

    def __init__(self, child: Operator, *, estimate: float | None = None) -> None:
        super().__init__(
            child.names,
            child.types,
            (child,),
            order=child.order,
            unique=True,
            estimate=child.estimate if estimate is None else estimate,
        )
        self.child = child
        self._sorted = set(child.order) == set(child.names)

    def detail(self) -> str:
        """The method, unless it is hashing."""
        return "(known)" if self.child.unique else "(sorted)" if self._sorted else ""

    def _open(self, context: Context) -> Blocks:
        blocks = self._read(context, self.child)
        if self.child.unique or (isinstance(blocks, tuple) and not blocks):
            return blocks
        if self._sorted:
            pieces = self._by_neighbours(context, blocks)
        else:
            pieces = self._by_hashing(context, blocks)
        return tuple(pieces) if isinstance(blocks, tuple) and len(blocks) == 1 else pieces

    def _by_neighbours(self, context: Context, blocks: Blocks) -> Stream:
        last: list[Array] | None = None
        for block in blocks:
            self._charge_block(context, block.rows * (1 + self.width))
            new = changes(block.columns, block.rows, last)
            last = [column[-1:].copy() for column in block.columns]
            yield from self._chosen(block, new)

    def _by_hashing(self, context: Context, blocks: Blocks) -> Stream:
        account = self._account(context)
        coder = KeyCoder(self.types, account)
        table = GroupTable(account)
        for block in blocks:
            self._charge_block(context, block.rows * (20 + self.width))
            keys = coder.learn(block.columns, block.rows)
            _, firsts = table.insert(keys.astype(np.uint64, copy=False))
            if len(firsts) == block.rows:
                yield self._framed(block)
            elif len(firsts):
                yield self._framed(block.take(firsts))

    def _chosen(self, block: Frame, mask: Array) -> Stream:
        if mask.all():
            yield self._framed(block)
        elif mask.any():
            yield self._framed(block.where(mask))

    def _framed(self, frame: Frame) -> Frame:
        return Frame(self.names, frame.columns, frame.rows, self.order, True)


def changes(columns: Sequence[Array], rows: int, last: Sequence[Array] | None) -> Array:
    """The rows that differ from the row before; `last` is the one before the first, if any.

    >>> changes([np.array([1, 1, 2])], 3, [np.array([1])]).tolist()
    [False, False, True]
    """
    new = np.zeros(rows, BOOLEAN)
    for column in columns:
        new[1:] |= _differ(column[1:], column[:-1])
    if last is None:
        new[0] = True
    else:
        for column, before in zip(columns, last, strict=True):
            new[:1] |= _differ(column[:1], before)
    return new


def _differ(one: Array, other: Array) -> Array:
    """Where two columns have different values; NaN equals NaN."""
    differ: Array = one != other
    if one.dtype.kind == "f":
        differ &= ~(np.isnan(one) & np.isnan(other))
    return differ
