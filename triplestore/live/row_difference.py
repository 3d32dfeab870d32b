"""Differences of bags of rows: start at `difference`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from triplestore.operators.frame import Frame
from triplestore.relations.packed_keys import I64, U32


def difference(
    old: Sequence[Frame], new: Sequence[Frame], *, distinct: bool = False
) -> tuple[Frame, Frame]:
    """The rows that went and those that came, each as often as it did.

    The frames have the same columns, of ids. With `distinct`, repeated rows count once on a side.

    >>> old, new = Frame.of(x=[1, 1, 2], y=[5, 5, 5]), Frame.of(x=[1, 3], y=[5, 5])
    >>> went, came = difference([old], [new])
    >>> went.to_rows(), came.to_rows()
    ([(1, 5), (2, 5)], [(3, 5)])
    """
    names = (*old, *new)[0].names
    if not distinct and not any(frame.rows for frame in old):
        return _together(names, old), _together(names, new)
    if not distinct and not any(frame.rows for frame in new):
        return _together(names, old), _together(names, new)
    none = [np.zeros(0, np.uint32)]
    sides = [[f for f in frames if f.rows] for frames in (old, new)]
    columns = [
        np.concatenate([frame[name] for side in sides for frame in side] or none) for name in names
    ]
    gone, come = (sum(frame.rows for frame in side) for side in sides)
    signs = np.ones(gone + come, np.int64)
    signs[:gone] = -1
    first, net = _net(columns, signs, distinct)
    return _repeated(names, columns, first, -net), _repeated(names, columns, first, net)


def _together(names: tuple[str, ...], frames: Sequence[Frame]) -> Frame:
    filled = [frame for frame in frames if frame.rows] or frames[:1]
    if len(filled) == 1:
        return filled[0]
    if not filled:
        return Frame(names, [np.zeros(0, np.uint32)] * len(names), 0)
    columns = [np.concatenate([frame[name] for frame in filled]) for name in names]
    return Frame(names, columns, sum(frame.rows for frame in filled))


def _net(columns: list[U32], signs: I64, distinct: bool) -> tuple[I64, I64]:
    """The places of distinct rows, and how many more there are of each than before."""
    if len(signs) == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if columns:
        order = np.lexsort(columns[::-1])
        changes = np.zeros(len(signs), np.bool_)
        for column in columns:
            ordered = column[order]
            changes[1:] |= ordered[1:] != ordered[:-1]
    else:
        order, changes = np.arange(len(signs)), np.zeros(len(signs), np.bool_)
    changes[0] = True
    starts = np.flatnonzero(changes)
    signs = signs[order]
    if distinct:
        new = np.add.reduceat((signs > 0).astype(np.int64), starts) > 0
        old = np.add.reduceat((signs < 0).astype(np.int64), starts) > 0
        return order[starts], new.astype(np.int64) - old
    return order[starts], np.add.reduceat(signs, starts)


def _repeated(names: tuple[str, ...], columns: list[U32], first: I64, net: I64) -> Frame:
    """The rows with a positive number, each as often."""
    rows = np.repeat(first[net > 0], net[net > 0])
    return Frame(names, [column[rows] for column in columns], len(rows))
