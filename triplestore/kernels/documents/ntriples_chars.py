"""The characters of N-Triples: classes of bytes, UTF-8, escapes, and what an IRI may contain.

Start at `CLASS`, a table of marks per byte. What is always true: no function here reads behind the
line feed that ends a text, because it is in no class and continues no character.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import helper
from triplestore.kernels.terms.hashing import _0, _1, _2, _3, _4, _6, _7

# Classes of ASCII characters; of others only LABEL_FIRST is asked.
SCHEME = np.uint8(1)  # letters digits + - .
HOST = np.uint8(2)  # RFC 3987 iunreserved and sub-delims
PATH = np.uint8(4)  # the same and : @ /
QUERY = np.uint8(8)  # the same and ?
TEXT = np.uint8(16)  # stands for itself in a literal
LABEL = np.uint8(32)  # letters digits _ - .
LETTER = np.uint8(64)
HEX = np.uint8(128)

_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_DIGITS = b"0123456789"


def _classes() -> np.ndarray:
    table = np.zeros(256, np.uint8)

    def add(mark: np.uint8, characters: bytes) -> None:
        table[np.frombuffer(characters, np.uint8)] |= mark

    host = _LETTERS + _DIGITS + b"-._~!$&'()*+,;="
    add(SCHEME, _LETTERS + _DIGITS + b"+-.")
    add(HOST, host)
    add(PATH, host + b":@/")
    add(QUERY, host + b":@/?")
    add(TEXT, bytes(c for c in range(128) if c not in b'"\\\n\r'))
    add(LABEL, _LETTERS + _DIGITS + b"_-.")
    add(LETTER, _LETTERS)
    add(HEX, _DIGITS + b"abcdefABCDEF")
    return table


CLASS = _classes()
NONE = np.uint8(0)


def _escaped() -> np.ndarray:
    table = np.zeros(256, np.uint8)
    for written, meant in zip(b"tbnrf\"'\\", b"\t\b\n\r\f\"'\\", strict=True):
        table[written] = meant
    return table


ESCAPED = _escaped()  # what a backslash and this character stand for, or NONE

LF, CR, TAB, SPACE = np.uint8(10), np.uint8(13), np.uint8(9), np.uint8(32)
QUOTE, HASH, PERCENT, CLOSE = np.uint8(34), np.uint8(35), np.uint8(37), np.uint8(41)
DASH, DOT, SLASH, ZERO = np.uint8(45), np.uint8(46), np.uint8(47), np.uint8(48)
NINE, COLON, LESS, GREATER = np.uint8(57), np.uint8(58), np.uint8(60), np.uint8(62)
ASK, AT, UPPER_A, HIGH_U = np.uint8(63), np.uint8(64), np.uint8(65), np.uint8(85)
UPPER_Z, BACKSLASH, CARET, UNDERSCORE = np.uint8(90), np.uint8(92), np.uint8(94), np.uint8(95)
LOW_U, CASE, HIGH, LOW_BITS = np.uint8(117), np.uint8(32), np.uint8(128), np.uint8(15)

_9 = np.uint64(9)
_12 = np.uint64(12)
_18 = np.uint64(18)
_63 = np.uint64(0x3F)
_X0F = np.uint64(0x0F)
_X1F = np.uint64(0x1F)
_X80 = np.uint64(0x80)
_XA0 = np.uint64(0xA0)
_XC0 = np.uint64(0xC0)
_XC2 = np.uint64(0xC2)
_XE0 = np.uint64(0xE0)
_XF0 = np.uint64(0xF0)
_XF5 = np.uint64(0xF5)
_X800 = np.uint64(0x800)
_XD800 = np.uint64(0xD800)
_XE000 = np.uint64(0xE000)
_XF900 = np.uint64(0xF900)
_XFDCF = np.uint64(0xFDCF)
_XFDF0 = np.uint64(0xFDF0)
_XFFEF = np.uint64(0xFFEF)
_XFFFD = np.uint64(0xFFFD)
_XFFFF = np.uint64(0xFFFF)
_X10000 = np.uint64(0x10000)
_XE0000 = np.uint64(0xE0000)
_XE1000 = np.uint64(0xE1000)
_XF0000 = np.uint64(0xF0000)
NO_CODE = np.uint64(0x110000)  # the first number that is not a character


@helper
def code_point(buf, i):
    """`code << 3 | bytes` of the non-ASCII character at `i`, or 0 if it is not valid UTF-8."""
    a = np.uint64(buf[i])
    if a < _XC2 or a >= _XF5:
        return _0
    b = np.uint64(buf[i + _1])
    if b & _XC0 != _X80:
        return _0
    if a < _XE0:
        return ((a & _X1F) << _6 | (b & _63)) << _3 | _2
    c = np.uint64(buf[i + _2])
    if c & _XC0 != _X80:
        return _0
    if a < _XF0:
        code = (a & _X0F) << _12 | (b & _63) << _6 | (c & _63)
        if code < _X800 or (code >= _XD800 and code < _XE000):
            return _0
        return code << _3 | _3
    d = np.uint64(buf[i + _3])
    if d & _XC0 != _X80:
        return _0
    code = (a & _7) << _18 | (b & _63) << _12 | (c & _63) << _6 | (d & _63)
    if code < _X10000 or code >= NO_CODE:
        return _0
    return code << _3 | _4


@helper
def in_iri(code):
    """True for RFC 3987's ucschar: what an IRI may contain beyond ASCII."""
    if code < _X10000:
        if code < _XE000:
            return code >= _XA0
        return (code >= _XF900 and code <= _XFDCF) or (code >= _XFDF0 and code <= _XFFEF)
    plain = code & _XFFFF <= _XFFFD
    return plain and code < _XF0000 and (code < _XE0000 or code >= _XE1000)


@helper
def hex_value(buf, i, stop):
    """The character that these hexadecimal digits stand for, or NO_CODE."""
    value = _0
    while i < stop:
        c = buf[i]
        if CLASS[c] & HEX == NONE:
            return NO_CODE
        value = value << _4 | (np.uint64(c & LOW_BITS) + (_9 if c > NINE else _0))
        i += _1
    if value > NO_CODE or (value >= _XD800 and value < _XE000):
        return NO_CODE
    return value


@helper
def put_code(buf, at, code):
    """Write a character as UTF-8; the position behind it."""
    if code < _X80:
        buf[at] = np.uint8(code)
        return at + _1
    more = _1 if code < _X800 else _2 if code < _X10000 else _3
    first = _XC0 if code < _X800 else _XE0 if code < _X10000 else _XF0
    buf[at] = np.uint8(first | code >> (_6 * more))
    while more > _0:
        at += _1
        more -= _1
        buf[at] = np.uint8(_X80 | (code >> (_6 * more) & _63))
    return at + _1
