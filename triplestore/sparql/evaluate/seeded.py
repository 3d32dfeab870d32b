"""Joins that restrict their right side to the values of the left, one left block at a time.

Start at `Seeded`. If the left side has few rows and the right one many, computing all of the right
side is a waste. A seed is a leaf of the right plan that holds the distinct values of some columns
of the left block; the right plan then only finds rows with these values. Always true: seeds
only exclude rows that the join would exclude anyway.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from triplestore.operators.context import Context
from triplestore.operators.frame import ID, Frame, empty_frame
from triplestore.operators.leaves import Values
from triplestore.operators.operator import Blocks, Operator, Stream, variables
from triplestore.relations.packed_keys import high, low, pack


def empty_values(names: tuple[str, ...], estimate: float) -> Values:
    """A leaf whose rows are set while a plan runs."""
    return Values(empty_frame(names, (ID,) * len(names)), estimate=estimate)


def make_seed(names: tuple[str, ...], estimate: float) -> Values:
    """A leaf for the distinct values of at most two columns (the first two, if there are more)."""
    return empty_values(names[:2], estimate)


class Seeded(Operator):
    """For each block of `left`, the result of `inner`, whose leaf `block` holds that block.

    seed  a leaf in `inner`, which gets the distinct values of its columns
    """

    kind: ClassVar[str] = "for each block"

    def __init__(self, left: Operator, block: Values, seed: Values, inner: Operator) -> None:
        super().__init__(inner.names, inner.types, (left, inner), estimate=inner.estimate)
        self.left = left
        self.inner = inner
        self._rows_of = block
        self._wanted = seed

    def detail(self) -> str:
        """The columns of the seed."""
        return f"with {variables(self._wanted.names)}"

    def _own_bytes(self) -> int:
        return self._rows_of.frame.nbytes + self._wanted.frame.nbytes

    def _open(self, context: Context) -> Blocks:
        blocks = self._read(context, self.left)
        if isinstance(blocks, tuple):
            if not blocks:
                return ()
            if len(blocks) == 1:
                return self._one(context, blocks[0])
        return self._each(context, blocks)

    def _each(self, context: Context, blocks: Blocks) -> Stream:
        for block in blocks:
            yield from self._one(context, block)

    def _one(self, context: Context, block: Frame) -> Blocks:
        names = self._rows_of.names
        self._rows_of.frame = Frame(names, [block[name] for name in names], block.rows)
        self._wanted.frame = distinct_rows(block, self._wanted.names)
        return self._read(context, self.inner)


def distinct_rows(block: Frame, names: tuple[str, ...]) -> Frame:
    """The distinct values of one or two columns of ids, sorted.

    >>> distinct_rows(Frame.of(x=[2, 1, 2], y=[5, 6, 5]), ("x", "y")).to_rows()
    [(1, 6), (2, 5)]
    """
    if len(names) == 1:
        values = np.unique(block[names[0]])
        return Frame(names, [values], len(values))
    keys = np.unique(pack(block[names[0]], block[names[1]]))
    return Frame(names, [high(keys), low(keys)], len(keys))
