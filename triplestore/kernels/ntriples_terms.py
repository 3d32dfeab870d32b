"""The terms of N-Triples and N-Quads in bytes: where each ends, and whether it is a usual one.

Start at `iri_end`, `literal` and `triple_term`. What is always true: the text ends with a line
feed, which is in no character class, so that no loop needs to look where the text ends; a term
that is not certainly right is *unusual* and answered with 0 (the caller hands its line to the
full parser, which is the judge). Costs about one cycle a byte.

A span is three numbers, `kind, start, stop`: the slice that is the term's key text. A literal that
is not kept as it is written (escapes, upper case in its tag) is marked, and `settle` rewrites it in
its place once the whole line is known to be good.

Helpers are few and not nested deeply, because LLVM optimises each of them again in every caller.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.hash import _0, _1, _2, _3, _4, _6, _7, _8
from triplestore.kernels.jit import helper

UNUSUAL = _0
FULL = _1  # no room left behind the text: come again with an empty room

# term kinds, as in triplestore.terms
IRI = np.uint64(1)
BLANK = np.uint64(2)
STRING = np.uint64(3)
LANG = np.uint64(4)
TYPED = np.uint64(5)
TRIPLE = np.uint64(6)
REWRITE = np.uint64(8)  # added to the kind of a literal that `settle` has to rewrite

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

XSD_STRING = np.frombuffer(b"http://www.w3.org/2001/XMLSchema#string", np.uint8).copy()
XSD_STRING_AND_MARKS = np.uint64(39 + 4)  # from the quote: "^^<...
LANG_STRING = np.frombuffer(b"angString", np.uint8).copy()

LF, CR, TAB, SPACE = np.uint8(10), np.uint8(13), np.uint8(9), np.uint8(32)
QUOTE, HASH, PERCENT, CLOSE = np.uint8(34), np.uint8(35), np.uint8(37), np.uint8(41)
DASH, DOT, SLASH, ZERO = np.uint8(45), np.uint8(46), np.uint8(47), np.uint8(48)
NINE, COLON, LESS, GREATER = np.uint8(57), np.uint8(58), np.uint8(60), np.uint8(62)
ASK, AT, UPPER_A, HIGH_U = np.uint8(63), np.uint8(64), np.uint8(65), np.uint8(85)
UPPER_Z, BACKSLASH, CARET, UNDERSCORE = np.uint8(90), np.uint8(92), np.uint8(94), np.uint8(95)
LOW_U, CASE, HIGH, LOW_BITS = np.uint8(117), np.uint8(32), np.uint8(128), np.uint8(15)

ROOM = np.uint64(12)  # where in the spans the end of the used room is kept

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
NO_CODE = np.uint64(0x110000)  # the first number that is no character


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
def find(buf, i, c):
    """The next place of a character, or the line feed before it."""
    while buf[i] != c and buf[i] != LF:
        i += _1
    return i


@helper
def iri_end(buf, i, trusted):
    """Where the `>` stands of the IRI that begins at `i`; 0 if it is wrong or unusual.

    Follows RFC 3987 for an absolute IRI: scheme, authority, path, query, fragment. Left to the
    judge: user names, IP literals, and what is not ASCII in hosts; private use in queries; escapes.
    In trusted text (see `triple_term`) nothing needs to be checked.
    """
    if trusted:
        i = find(buf, i, GREATER)
        return i if buf[i] == GREATER else _0
    if CLASS[buf[i]] & LETTER == NONE:
        return _0
    while CLASS[buf[i]] & SCHEME != NONE:
        i += _1
    if buf[i] != COLON:
        return _0
    i += _1
    if buf[i] == SLASH and buf[i + _1] == SLASH:
        i += _2
        while CLASS[buf[i]] & HOST != NONE:
            i += _1
        if buf[i] == COLON:
            i += _1
            while buf[i] >= ZERO and buf[i] <= NINE:
                i += _1
        if buf[i] != SLASH and buf[i] != ASK and buf[i] != HASH and buf[i] != GREATER:
            return _0
    allowed = PATH
    in_fragment = False
    while True:
        while CLASS[buf[i]] & allowed != NONE:
            i += _1
        c = buf[i]
        if c == GREATER:
            return i
        if c == ASK:  # allowed itself from here on
            allowed = QUERY
            i += _1
        elif c == HASH and not in_fragment:
            allowed = QUERY
            in_fragment = True
            i += _1
        elif c == PERCENT:
            if CLASS[buf[i + _1]] & HEX == NONE or CLASS[buf[i + _2]] & HEX == NONE:
                return _0
            i += _3
        elif c >= HIGH:
            character = code_point(buf, i)
            if not in_iri(character >> _3):
                return _0
            i += character & _7
        else:
            return _0


@helper
def label_end(buf, i):
    """Where the blank node label that begins at `i` ends; 0 if it is wrong or unusual."""
    if buf[i] == DASH or buf[i] == DOT:
        return _0
    first = i
    while CLASS[buf[i]] & LABEL != NONE:
        i += _1
    if buf[i] >= HIGH:
        return _0
    while i > first and buf[i - _1] == DOT:
        i -= _1
    return i if i > first else _0


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
def text_end(buf, i):
    """`place << 1 | escapes` of the closing quote of a literal; 0 if something in it is wrong."""
    escapes = _0
    while True:
        while CLASS[buf[i]] & TEXT != NONE:
            i += _1
        c = buf[i]
        if c == QUOTE:
            return i << _1 | escapes
        if c >= HIGH:
            character = code_point(buf, i)
            if character == _0:
                return _0
            i += character & _7
        elif c == BACKSLASH:
            escapes = _1
            c = buf[i + _1]
            i += _2
            if c == LOW_U or c == HIGH_U:
                stop = i + (_4 if c == LOW_U else _8)
                if hex_value(buf, i, stop) == NO_CODE:
                    return _0
                i = stop
            elif ESCAPED[c] == NONE:
                return _0
        else:
            return _0


@helper
def tag_end(buf, i, trusted):
    """Where a usual language tag ends: `en`, `en-GB`, `es-419`, `zh-Hant`, `zh-Hant-TW`; else 0."""
    if trusted:
        return find(buf, i, SPACE)
    part = 0
    while True:
        first = i
        while CLASS[buf[i]] & LETTER != NONE:
            i += _1
        letters = i - first
        while buf[i] >= ZERO and buf[i] <= NINE:
            i += _1
        digits = i - first - letters
        more = buf[i] == DASH
        if part == 0:  # language
            usual = digits == _0 and (letters == _2 or letters == _3)
        elif part == 1 and letters == _4:  # script
            usual = digits == _0
        else:  # region
            usual = (digits == _0 and letters == _2) or (digits == _3 and letters == _0)
            usual = usual and not more
        if not usual or CLASS[buf[i]] & LETTER != NONE:
            return _0
        if not more:
            return i
        part += 1
        i += _1


@helper
def ends_with(buf, stop, words):
    """True if the bytes before `stop` are these."""
    i = stop - np.uint64(words.size)
    for j in range(words.size):
        if buf[i] != words[j]:
            return False
        i += _1
    return True


@helper
def literal(buf, start, trusted, spans):
    """Note the literal whose text begins at `start`; the position behind it, or UNUSUAL."""
    found = text_end(buf, start)
    if found == _0:
        return UNUSUAL
    quote = found >> _1
    end = quote
    i = quote + _1
    kind = STRING
    if buf[i] == CARET:
        if buf[i + _1] != CARET or buf[i + _2] != LESS:
            return UNUSUAL
        end = iri_end(buf, i + _3, trusted)
        # rdf:langString and rdf:dirLangString are refused by the judge
        if end == _0 or (not trusted and ends_with(buf, end, LANG_STRING)):
            return UNUSUAL
        i = end + _1
        if end - quote == XSD_STRING_AND_MARKS and ends_with(buf, end, XSD_STRING):
            end = quote  # a plain literal
        else:
            kind = TYPED
            end = i
    elif buf[i] == AT:
        kind = LANG
        i = tag_end(buf, i + _1, trusted)
        if i == _0:
            return UNUSUAL
        end = i
    spans[_6] = kind | (REWRITE if found & _1 != _0 else _0)
    spans[_7] = start
    spans[_8] = end
    return i


@helper
def settle(buf, spans):
    """Bring the literal in the third span into the form in which it is kept, in its place."""
    kind = spans[_6]
    stop = spans[_8]
    if kind & REWRITE != _0:
        kind ^= REWRITE
        i = spans[_7]
        at = i
        while i < stop and buf[i] != QUOTE:
            c = buf[i]
            i += _1
            if c == BACKSLASH:
                c = buf[i]
                i += _1
                if c == LOW_U or c == HIGH_U:
                    digits = _4 if c == LOW_U else _8
                    at = put_code(buf, at, hex_value(buf, i, i + digits))
                    i += digits
                    continue
                c = ESCAPED[c]
            buf[at] = c
            at += _1
        while i < stop:
            buf[at] = buf[i]
            at += _1
            i += _1
        stop = at
        spans[_6] = kind
        spans[_8] = stop
    if kind == LANG:
        while buf[stop] != AT:
            stop -= _1
            if buf[stop] >= UPPER_A and buf[stop] <= UPPER_Z:
                buf[stop] |= CASE


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


@helper
def triple_term(buf, i, limit, scope, spans):
    """Note the triple term at `i` after copying it; the position behind it, UNUSUAL or FULL.

    Only *trusted* text can hold one: what the full parser has read and written again, valid, with
    single spaces and canonical escapes. The copy differs in its blank nodes, which are scoped.
    """
    room = spans[ROOM]
    first = room
    depth = 0
    while True:
        c = buf[i]
        stop = i + _1
        if c == LF:
            return UNUSUAL
        if c == LESS and buf[stop] == LESS:  # <<(
            depth += 1
            stop = i + _3
        elif c == CLOSE:  # )>>
            depth -= 1
            stop = i + _3
        elif c == LESS:
            stop = find(buf, stop, GREATER)
        elif c == QUOTE:
            while buf[stop] != QUOTE and buf[stop] != LF:
                stop += _2 if buf[stop] == BACKSLASH else _1
            stop += _1
        elif c == UNDERSCORE:
            stop = find(buf, i, SPACE)
        if room + (stop - i) + np.uint64(scope.size) > limit:
            return FULL
        label = i + _2  # behind _:
        while i < stop:
            if c == UNDERSCORE and i == label:
                for j in range(scope.size):
                    buf[room] = scope[j]
                    room += _1
            buf[room] = buf[i]
            room += _1
            i += _1
        if depth == 0:
            break
    spans[_6] = TRIPLE
    spans[_7] = first
    spans[_8] = room
    spans[ROOM] = room
    return i
