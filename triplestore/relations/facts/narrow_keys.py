"""Wide keys (rows of three or more columns) as integers in the same order.

Start reading at `narrowed`. The ids of a column are mostly close together, some columns are
constant, and some repeat another column. The rest of a row mostly fits into 64 bits, which sort ten
times as fast as bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from triplestore.relations.packed_keys import U32, U64, Keys, columns_of, key_of

_WORD = 64

Widen: TypeAlias = Callable[[U64], Keys]
"""From integers back to keys."""


class _Place(NamedTuple):
    """The bits of a column: `bits` bits from `shift` on, holding the difference to `least`."""

    least: int
    bits: int
    shift: int


def narrowed(keys: Keys) -> tuple[U64, Widen] | None:
    """Wide keys as integers in the same order, and a function that widens such integers again.

    None if they do not fit into 64 bits, or if the keys are integers already.

    >>> from triplestore.relations.packed_keys import key_of
    >>> column = np.array([7, 9], np.uint32)
    >>> made, widen = narrowed(key_of([column, column, np.array([5, 5], np.uint32)]))
    >>> made.tolist(), columns_of(widen(made[1:]), 3)[0].tolist()
    ([0, 2], [9])
    """
    if len(keys) == 0 or keys.dtype.kind != "S":
        return None
    columns = columns_of(keys, keys.dtype.itemsize // 4)
    places: list[_Place | int] = []  # or the number of an equal earlier column
    shift = 0
    for at, column in enumerate(columns):
        same = next((i for i in range(at) if _is_same(columns[i], column)), None)
        if same is not None:
            places.append(same)
            continue
        least = int(column.min())
        bits = (int(column.max()) - least).bit_length()
        places.append(_Place(least, bits, 0))
        shift += bits
    if shift > _WORD:
        return None
    made = np.zeros(len(keys), dtype=np.uint64)
    for i, (column, place) in enumerate(zip(columns, places, strict=True)):
        if isinstance(place, _Place) and place.bits:
            shift -= place.bits
            places[i] = place._replace(shift=shift)
            made |= (column - np.uint32(place.least)).astype(np.uint64) << np.uint64(shift)
    return made, lambda some: _widened(some, places)


def _is_same(one: U32, other: U32) -> bool:
    return bool(one[0] == other[0]) and bool((one == other).all())


def _widened(some: U64, places: list[_Place | int]) -> Keys:
    columns: list[U32] = []
    for place in places:
        if isinstance(place, int):
            columns.append(columns[place])
            continue
        mask = np.uint64((1 << place.bits) - 1)
        column = ((some >> np.uint64(place.shift)) & mask).astype(np.uint32)
        column += np.uint32(place.least)
        columns.append(column)
    return key_of(columns)
