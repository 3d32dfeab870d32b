"""The writer of N-Triples and N-Quads: term texts to lines, with canonical escapes.

Start at `write_lines`. What is always true: the lines are those of pyoxigraph's serialiser, byte
for byte; a row is written whole or not at all. Costs about 1.5 cycles a byte.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import helper, kernel
from triplestore.kernels.terms.hashing import _0, _1, _2, _8

_BLANK = np.uint8(2)
_IRI = np.uint8(1)
_STRING = np.uint8(3)
_TRIPLE = np.uint8(6)

# What a byte needs: nothing, a backslash and a letter, or \\u00XX; in literals and in IRIs.
_PLAIN, _LETTER, _CODE, _MAYBE = np.uint8(0), np.uint8(1), np.uint8(2), np.uint8(3)


def _needs(letters: bytes, codes: bytes, maybe: bytes) -> np.ndarray:
    table = np.zeros(256, np.uint8)
    table[np.frombuffer(codes, np.uint8)] = _CODE
    table[np.frombuffer(letters, np.uint8)] = _LETTER
    table[np.frombuffer(maybe, np.uint8)] = _MAYBE
    return table


_LETTERS = np.zeros(256, np.uint8)
for _meant, _written in zip(b'\t\b\n\r\f"\\', b'tbnrf"\\', strict=True):
    _LETTERS[_meant] = _written

_CONTROLS = bytes(range(32))
_IN_TEXT = _needs(b'\t\b\n\r\f"\\', _CONTROLS + b"\x7f", b"\xef")  # EF BF BE/BF: U+FFFE, U+FFFF
_IN_IRI = _needs(b"", _CONTROLS + b' <>"{}|^`\\', b"\0")
_IN_IRI[0] = _CODE
_HEX = np.frombuffer(b"0123456789ABCDEF", np.uint8).copy()

_QUOTE = np.uint8(34)
_SPACE = np.uint8(32)
_BF, _BE = np.uint8(0xBF), np.uint8(0xBE)
_15 = np.uint8(15)
_4 = np.uint8(4)
_MOST = np.uint64(64)  # what a term takes beside its text, and the end of a line
_SIX = np.uint64(6)
_TEN = np.uint64(10)
_DIGIT = np.uint64(48)
_LOW_F, _LOW_B, _LOW_X = np.uint8(102), np.uint8(98), np.uint8(120)
_DIGIT_0, _DIGIT_9 = np.uint8(48), np.uint8(57)


@helper
def put_escaped(buf, i, stop, needs, out, at):
    """Copy a text, escaping what `needs` says; the position behind the copy."""
    while i < stop:
        c = buf[i]
        need = needs[c]
        if need == _MAYBE:
            special = i + _2 < stop and buf[i + _1] == _BF and buf[i + _2] >= _BE
            need = _CODE if special else _PLAIN
        if need == _PLAIN:
            out[at] = c
            at += _1
        else:
            out[at] = np.uint8(92)
            if need == _LETTER:
                out[at + _1] = _LETTERS[c]
                at += _2
            else:
                high = np.uint8(0)
                if c >= np.uint8(128):  # U+FFFE or U+FFFF
                    high = np.uint8(255)
                    c = buf[i + _2] | np.uint8(64)
                    i += _2
                out[at + _1] = np.uint8(117)
                out[at + _2] = _HEX[high >> _4]
                out[at + np.uint64(3)] = _HEX[high & _15]
                out[at + np.uint64(4)] = _HEX[c >> _4]
                out[at + np.uint64(5)] = _HEX[c & _15]
                at += _SIX
        i += _1
    return at


@helper
def put_plain(buf, i, stop, out, at):
    """Copy a text; the position behind the copy."""
    while i < stop:
        out[at] = buf[i]
        at += _1
        i += _1
    return at


@helper
def needs_number(buf, i, stop):
    """True if a label is one that `triplestore.loaders.scope` or this writer could have made."""
    first = buf[i]
    if first == _LOW_F:
        i += _1
        digits = i
        while i < stop and buf[i] >= _DIGIT_0 and buf[i] <= _DIGIT_9:
            i += _1
        return i > digits and i < stop and (buf[i] == _LOW_X or buf[i] == _LOW_B)
    while i < stop and buf[i] == _LOW_X:
        i += _1
    if i == stop or buf[i] != _LOW_B:
        return False
    i += _1
    digits = i
    while i < stop and buf[i] >= _DIGIT_0 and buf[i] <= _DIGIT_9:
        i += _1
    return i == stop and i > digits


@helper
def put_blank(buf, i, stop, number, out, at):
    """Write a blank node, under its own label or as `b` and its number."""
    out[at] = np.uint8(95)
    out[at + _1] = np.uint8(58)
    at += _2
    if not needs_number(buf, i, stop):
        return put_plain(buf, i, stop, out, at)
    out[at] = _LOW_B
    at += _1
    end = at
    rest = number
    while rest > _0:
        end += _1
        rest //= _TEN
    i = end
    while i > at:
        i -= _1
        out[i] = np.uint8(_DIGIT + number % _TEN)
        number //= _TEN
    return end


@kernel("i64(u8r, i64r, i64r, u8r, u32r, i64, i64, u8w, i64w)")
def write_lines(buf, starts, stops, kinds, ids, rows, first, out, used):
    """Write the lines of rows `first` to `rows` into `out`; the first row that did not fit.

    starts, stops, kinds, ids : of the terms, column after column: subjects of all rows, then
        predicates, objects, and graphs if there are any (kind 0: the default graph)
    used : out, i64[1]: bytes written
    """
    at = _0
    columns = starts.size // rows
    row = first
    while row < rows:
        most = _8
        for column in range(columns):
            t = column * rows + row
            most += np.uint64(stops[t] - starts[t]) * _SIX + _MOST
        if at + most > np.uint64(out.size):
            break
        for column in range(columns):
            t = column * rows + row
            kind = kinds[t]
            i = np.uint64(starts[t])
            stop = np.uint64(stops[t])
            if kind == _IRI:
                out[at] = np.uint8(60)
                at = put_escaped(buf, i, stop, _IN_IRI, out, at + _1)
                out[at] = np.uint8(62)
                at += _1
            elif kind == _BLANK:
                at = put_blank(buf, i, stop, np.uint64(ids[t]), out, at)
            elif kind == _TRIPLE:
                at = put_plain(buf, i, stop, out, at)
            elif kind != np.uint8(0):
                end = stop
                if kind != _STRING:
                    while buf[end - _1] != _QUOTE:
                        end -= _1
                    end -= _1
                out[at] = _QUOTE
                at = put_escaped(buf, i, end, _IN_TEXT, out, at + _1)
                if kind == _STRING:
                    out[at] = _QUOTE
                    at += _1
                at = put_plain(buf, end, stop, out, at)
            else:
                at -= _1  # no graph, no space
            out[at] = _SPACE
            at += _1
        out[at] = np.uint8(46)
        out[at + _1] = np.uint8(10)
        at += _2
        row += 1
    used[0] = np.int64(at)
    return row
