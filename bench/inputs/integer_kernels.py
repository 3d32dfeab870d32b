"""Reading integers from text, eight digits at a time.

A text is an array of little-endian words, one word longer than the text, with a byte after its end
that is not a digit. A word is read at any byte; its digits are found and summed with operations on
whole words, without a branch per digit: 5 ns for a number of six digits, half of what going byte by
byte takes.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import helper, kernel

_0, _1, _7, _8 = np.uint64(0), np.uint64(1), np.uint64(7), np.uint64(8)
_3, _56, _63, _64 = np.uint64(3), np.uint64(56), np.uint64(63), np.uint64(64)
_ZEROS = np.uint64(0x3030303030303030)
_OVER = np.uint64(0x7676767676767676)  # brings 10 and more to the high bit
_HIGH = np.uint64(0x8080808080808080)
_ORDER = np.uint64(0x0001020304050607)  # times 256^n: n is the highest byte
_BYTE = np.uint64(0xFF)
_PAIRS, _FOURS, _EIGHTS = np.uint64(2561), np.uint64(6553601), np.uint64(42949672960001)
_KEEP_2, _KEEP_4 = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
_16, _32 = np.uint64(16), np.uint64(32)
_10, _TEN_8 = np.uint64(10), np.uint64(100_000_000)
_MOST = np.uint64(0xFFFFFFFF)
_COMMA, _LINE, _RETURN = np.uint64(44), np.uint64(10), np.uint64(13)


@helper
def word_at(words, at):
    """The eight bytes from a place on; the first is the lowest."""
    i = np.int64(at >> _3)
    shift = (at & _7) << _3
    return (words[i] >> shift) | ((words[i + 1] << (_63 - shift)) << _1)


@helper
def eight(digits):
    """The number that eight digits are, the first (the highest) in the lowest byte."""
    digits = (digits * _PAIRS) >> _8
    digits = ((digits & _KEEP_2) * _FOURS) >> _16
    return ((digits & _KEEP_4) * _EIGHTS) >> _32


@kernel("i64(u64r, i64, i64, i64, i64, i64, u32w)")
def read_integers(words, start, stop, columns, row, room, out):
    """Write the numbers of the lines in [start, stop), which begin and end with whole lines.

    Those of column c go to out[c * room + row], from `row` on; returned is the row after the last,
    or -1 - the place of what is wrong: no digit, a number above 2^32 - 1, too few or too many in a
    line. Empty lines are passed over.
    """
    at, end = np.uint64(start), np.uint64(stop)
    column = 0
    while at < end:
        begin = at
        value = _0
        word = word_at(words, at)
        digits = word ^ _ZEROS
        others = ((digits + _OVER) | digits) & _HIGH
        while others == _0:
            value = value * _TEN_8 + eight(digits)
            at += _8
            if value > _MOST:
                return -1 - np.int64(begin)
            word = word_at(words, at)
            digits = word ^ _ZEROS
            others = ((digits + _OVER) | digits) & _HIGH
        count = (((others & (_0 - others)) >> _7) * _ORDER) >> _56
        if count > _0:
            for _ in range(np.int64(count) if value > _0 else 0):
                value *= _10
            value += eight(digits << (_64 - (count << _3)))
            at += count
        after = (word >> (count << _3)) & _BYTE if at < end else _LINE
        if at == begin and column == 0 and (after == _LINE or after == _RETURN):
            at += _1
            continue
        if at == begin or value > _MOST:
            return -1 - np.int64(begin)
        out[column * room + row] = np.uint32(value)
        column += 1
        if column < columns:
            if after != _COMMA:
                return -1 - np.int64(at)
        elif after == _LINE or after == _RETURN:
            column = 0
            row += 1
        else:
            return -1 - np.int64(at)
        at += _1
    return row
