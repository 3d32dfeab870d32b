"""The order of values, for whole columns: decided by keys, or left to the terms.

Start at `compare_values`. Always true: LESS, EQUAL, GREATER and UNORDERED are the answers of
`value_keys.compare` for the two terms; ASK means that marks and keys do not decide. For typical
columns of numbers or times, ASK is very rare.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.terms.values.encode_values import ValueColumn
from triplestore.terms.values.value_keys import NAN_KEY, Class, round_to_floats
from triplestore.terms.values.xsd import Space

LESS = -1
EQUAL = 0
GREATER = 1
UNORDERED = 2
"""The values are not ordered: NaN, 1 and true, a time in some zone and one a few hours later."""
ASK = 3
"""The terms decide: `value_keys.compare` of their keys."""

I8: TypeAlias = NDArray[np.int8]

_14_HOURS = np.uint64(14 * 3600 * 10**6)
_DURATIONS = (Class.MONTHS, Class.SECONDS, Class.DURATION)


def compare_values(left: ValueColumn, right: ValueColumn) -> I8:
    """How the value of each left row compares with that of the same right row.

    >>> typed = b'\\x05%s"^^<http://www.w3.org/2001/XMLSchema#%s>'
    >>> left = ValueColumn.of([typed % (b"1", b"byte"), typed % (b"P1M", b"duration")])
    >>> right = ValueColumn.of([typed % (b"1e0", b"double"), typed % (b"P30D", b"duration")])
    >>> compare_values(left, right).tolist()
    [0, 3]
    """
    a, b = left.classes, right.classes
    result = _by_key(left.keys, right.keys)
    tie = (result == EQUAL) & ~(left.exact & right.exact)
    result[tie] = ASK
    result[a != b] = UNORDERED
    _zoned_beside_local(left, right, result)
    _numbers(left, right, result)
    durations = np.isin(a, _DURATIONS) & np.isin(b, _DURATIONS)
    result[durations & ((a != b) | (a == Class.DURATION))] = ASK
    result[(a == Class.LANG_TEXT) & (b == Class.LANG_TEXT)] = ASK
    result[(a == Class.NONE) | (b == Class.NONE)] = ASK
    return result


def _by_key(a: NDArray[Any], b: NDArray[Any]) -> I8:
    return (a > b).astype(np.int8) - (a < b).astype(np.int8)


def _zoned_beside_local(left: ValueColumn, right: ValueColumn, result: I8) -> None:
    """An unzoned time is before or after a zoned one if it is so in every time zone."""
    a, b = left.classes, right.classes
    low, high = np.minimum(a, b), np.maximum(a, b)
    times = (low >= Class.DATETIME_ZONED) & (high <= Class.G_DAY_LOCAL)
    pair = np.flatnonzero(times & (low % 2 == Class.DATETIME_ZONED % 2) & (high == low + 1))
    if len(pair) == 0:
        return
    x, y = left.keys[pair], right.keys[pair]
    apart = np.maximum(x, y) - np.minimum(x, y) > _14_HOURS
    known = left.exact[pair] & right.exact[pair]
    result[pair] = np.where(known, np.where(apart, _by_key(x, y), UNORDERED), ASK)


def _numbers(left: ValueColumn, right: ValueColumn, result: I8) -> None:
    """Numbers of different datatypes are compared as the greater of them."""
    rows = np.flatnonzero((left.classes == Class.NUMERIC) & (right.classes == Class.NUMERIC))
    if len(rows) == 0:
        return
    a, b = (ValueColumn(side.marks[rows], side.keys[rows]) for side in (left, right))
    spaces = (a.spaces, b.spaces)
    by_key = _by_key(a.keys, b.keys)
    # Beside a double, the key of the other number is the double that it is promoted to.
    decimals = (spaces[0] == Space.DECIMAL) & (spaces[1] == Space.DECIMAL)
    found = np.where(decimals, result[rows], by_key)
    for one, two, way in ((a, b, 1), (b, a, -1)):
        mixed = np.flatnonzero((one.spaces == Space.DECIMAL) & (two.spaces == Space.FLOAT))
        doubles = one.doubles[mixed]
        rounded, known = round_to_floats(doubles)
        order = way * _by_key(rounded, two.doubles[mixed])
        found[mixed] = np.where(known, order, ASK)
    nan = np.uint64(NAN_KEY)
    found[(a.keys == nan) | (b.keys == nan)] = UNORDERED
    result[rows] = found
