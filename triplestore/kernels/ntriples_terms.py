"""The terms of N-Triples and N-Quads in bytes: where each ends, and whether it is a usual one.

Start at `node`, `literal` and `triple_term`: each reads one term and notes its span. What is always
true: the text ends with a line feed, which is in no character class, so that no loop needs to
look where the text ends; a term that is not certainly right is *unusual* and answered with 0
(the caller hands its line to the full parser, which is the judge). Costs about one cycle a byte.

A span is three numbers, `kind, start, stop` of the term's key text: a slice of the text where the
term stands there as it is kept, else of the *room* behind the text, where it is written anew
(escapes resolved, blank nodes scoped to the file, language tags in lower case).
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.hash import _0, _1, _2, _3, _4, _6, _8
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
XSD_STRING = np.frombuffer(b"http://www.w3.org/2001/XMLSchema#string", np.uint8).copy()

TAB, LF, CR, SPACE = np.uint8(9), np.uint8(10), np.uint8(13), np.uint8(32)
QUOTE, HASH, PERCENT, DASH = np.uint8(34), np.uint8(35), np.uint8(37), np.uint8(45)
DOT, SLASH, COLON, LESS = np.uint8(46), np.uint8(47), np.uint8(58), np.uint8(60)
GREATER, ASK, AT, BACKSLASH = np.uint8(62), np.uint8(63), np.uint8(64), np.uint8(92)
CARET, UNDERSCORE, OPEN, CLOSE = np.uint8(94), np.uint8(95), np.uint8(40), np.uint8(41)
ZERO, NINE, UPPER_A, UPPER_Z = np.uint8(48), np.uint8(57), np.uint8(65), np.uint8(90)
CASE = np.uint8(32)
HIGH = np.uint8(128)
LOW_G = np.uint8(103)

_7 = np.uint64(7)
_9 = np.uint64(9)
_12 = np.uint64(12)
_18 = np.uint64(18)
_63 = np.uint64(63)
_39 = np.uint64(39)
_C10 = np.uint64(10)
_C87 = np.uint64(87)
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
_XDFFF = np.uint64(0xDFFF)
_XE000 = np.uint64(0xE000)
_XF900 = np.uint64(0xF900)
_XFDCF = np.uint64(0xFDCF)
_XFDF0 = np.uint64(0xFDF0)
_XFFEF = np.uint64(0xFFEF)
_XFFFD = np.uint64(0xFFFD)
_XFFFF = np.uint64(0xFFFF)
_X10000 = np.uint64(0x10000)
_X10FFFF = np.uint64(0x10FFFF)
_XE1000 = np.uint64(0xE1000)
_XF0000 = np.uint64(0xF0000)


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
        if code < _X800 or (code >= _XD800 and code <= _XDFFF):
            return _0
        return code << _3 | _3
    d = np.uint64(buf[i + _3])
    if d & _XC0 != _X80:
        return _0
    code = (a & _7) << _18 | (b & _63) << _12 | (c & _63) << _6 | (d & _63)
    if code < _X10000 or code > _X10FFFF:
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
    return plain and code < _XF0000 and (code < np.uint64(0xE0000) or code >= _XE1000)


@helper
def iri_end(buf, i):
    """Where the `>` stands of the IRI that begins at `i`; 0 if it is wrong or unusual.

    Follows RFC 3987 for an absolute IRI: scheme, authority, path, query, fragment. Left to the
    judge: user names, IP literals, and what is not ASCII in hosts; private use in queries; escapes.
    """
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
def iri_end_trusted(buf, i):
    """The same in text that our own writer made: nothing needs to be checked."""
    while buf[i] != GREATER and buf[i] != LF:
        i += _1
    return i if buf[i] == GREATER else _0


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
def text_end(buf, i):
    """Where plain text ends: at the closing quote, or at the first backslash; 0 if it is wrong."""
    while True:
        while CLASS[buf[i]] & TEXT != NONE:
            i += _1
        c = buf[i]
        if c == QUOTE or c == BACKSLASH:
            return i
        if c < HIGH:
            return _0
        character = code_point(buf, i)
        if character == _0:
            return _0
        i += character & _7


@helper
def hex_value(buf, i, digits):
    """The number that so many hexadecimal digits at `i` stand for, or a huge one if they do not."""
    value = _0
    stop = i + digits
    while i < stop:
        c = buf[i]
        if CLASS[c] & HEX == NONE:
            return _X10FFFF + _1
        if c <= NINE:
            value = value << _4 | np.uint64(c - ZERO)
        else:
            value = value << _4 | (np.uint64(c | CASE) - _C87)
        i += _1
    return value


@helper
def put_code(buf, at, code):
    """Write a character as UTF-8; the position behind it."""
    if code < _X80:
        buf[at] = np.uint8(code)
        return at + _1
    if code < _X800:
        buf[at] = np.uint8(_XC0 | code >> _6)
        buf[at + _1] = np.uint8(_X80 | (code & _63))
        return at + _2
    if code < _X10000:
        buf[at] = np.uint8(_XE0 | code >> _12)
        buf[at + _1] = np.uint8(_X80 | (code >> _6 & _63))
        buf[at + _2] = np.uint8(_X80 | (code & _63))
        return at + _3
    buf[at] = np.uint8(_XF0 | code >> _18)
    buf[at + _1] = np.uint8(_X80 | (code >> _12 & _63))
    buf[at + _2] = np.uint8(_X80 | (code >> _6 & _63))
    buf[at + _3] = np.uint8(_X80 | (code & _63))
    return at + _4


@helper
def escaped_character(c):
    """What a backslash and this character stand for; 0 for none."""
    if c == QUOTE or c == BACKSLASH or c == np.uint8(39):
        return c
    if c == np.uint8(110):
        return LF
    if c == np.uint8(114):
        return CR
    if c == np.uint8(116):
        return TAB
    if c == np.uint8(98):
        return np.uint8(8)
    if c == np.uint8(102):
        return np.uint8(12)
    return np.uint8(0)


@helper
def copy(buf, start, stop, at):
    """Copy bytes inside the buffer to `at`; the position behind them."""
    while start < stop:
        buf[at] = buf[start]
        start += _1
        at += _1
    return at


@helper
def unescape(buf, start, i, room):
    """Rewrite a literal's text, whose first backslash is at `i`, at `room`.

    Returns (the position of the closing quote or 0 if it is wrong, the position behind the copy).
    The copy is never longer than the original.
    """
    at = copy(buf, start, i, room)
    while buf[i] == BACKSLASH:
        c = buf[i + _1]
        if c == np.uint8(117) or c == np.uint8(85):
            digits = _4 if c == np.uint8(117) else _8
            code = hex_value(buf, i + _2, digits)
            if code > _X10FFFF or (code >= _XD800 and code <= _XDFFF):
                return UNUSUAL, at
            at = put_code(buf, at, code)
            i += _2 + digits
        else:
            c = escaped_character(c)
            if c == np.uint8(0):
                return UNUSUAL, at
            buf[at] = c
            at += _1
            i += _2
        stop = text_end(buf, i)
        if stop == _0:
            return UNUSUAL, at
        at = copy(buf, i, stop, at)
        i = stop
    return i, at


@helper
def tag_end(buf, i):
    """Where a usual language tag ends: `en`, `en-GB`, `es-419`, `zh-Hant`, `zh-Hant-TW`; else 0."""
    first = i
    while CLASS[buf[i]] & LETTER != NONE:
        i += _1
    if i - first != _2 and i - first != _3:
        return _0
    if buf[i] != DASH:
        return i
    part = i + _1
    i = part
    while CLASS[buf[i]] & LETTER != NONE:
        i += _1
    if i - part == _4:  # a script, and perhaps a region
        if buf[i] != DASH:
            return _0 if buf[i] >= ZERO and buf[i] <= NINE else i
        part = i + _1
        i = part
        while CLASS[buf[i]] & LETTER != NONE:
            i += _1
    if i == part:
        while buf[i] >= ZERO and buf[i] <= NINE:
            i += _1
        if i - part != _3 or CLASS[buf[i]] & LETTER != NONE:
            return _0
    elif i - part != _2 or (buf[i] >= ZERO and buf[i] <= NINE):
        return _0
    return _0 if buf[i] == DASH else i


@helper
def tag_end_trusted(buf, i):
    """Where a language tag with its base direction ends, in text of our own writer."""
    while CLASS[buf[i]] & LABEL != NONE and buf[i] != DOT:
        i += _1
    return i


@helper
def has_upper(buf, i, stop):
    """True if there is an upper-case ASCII letter in the slice."""
    while i < stop:
        if buf[i] >= UPPER_A and buf[i] <= UPPER_Z:
            return True
        i += _1
    return False


@helper
def is_xsd_string(buf, start, stop):
    """True if this IRI is xsd:string, which literals do not mention."""
    if stop - start != _39 or buf[stop - _1] != LOW_G:
        return False
    i = _39
    while i > _0:
        i -= _1
        if buf[start + i] != XSD_STRING[i]:
            return False
    return True


@helper
def is_lang_string(buf, stop):
    """True if a datatype ends in `angString`: rdf:langString and rdf:dirLangString are refused."""
    return (
        buf[stop - _1] == LOW_G
        and buf[stop - _6] == np.uint8(83)
        and buf[stop - _7] == LOW_G
        and buf[stop - _8] == np.uint8(110)
        and buf[stop - _9] == np.uint8(97)
    )


@helper
def note(spans, at, kind, start, stop):
    """Write down a span."""
    spans[at] = kind
    spans[at + _1] = start
    spans[at + _2] = stop


@helper
def node(buf, i, limit, trusted, scope, spans, at):
    """Read an IRI or a blank node at `i`; the position behind it, or UNUSUAL, or FULL."""
    if buf[i] == LESS:
        stop = iri_end_trusted(buf, i + _1) if trusted else iri_end(buf, i + _1)
        if stop == _0:
            return UNUSUAL
        note(spans, at, IRI, i + _1, stop)
        return stop + _1
    if buf[i] != UNDERSCORE or buf[i + _1] != COLON:
        return UNUSUAL
    start = i + _2
    if trusted:
        stop = start
        while buf[stop] != SPACE and buf[stop] != LF:
            stop += _1
    else:
        stop = label_end(buf, start)
    if stop == _0:
        return UNUSUAL
    if scope.size == 0:
        note(spans, at, BLANK, start, stop)
        return stop
    room = spans[_12]
    if room + np.uint64(scope.size) + (stop - start) > limit:
        return FULL
    note(spans, at, BLANK, room, room + np.uint64(scope.size) + (stop - start))
    room = put(buf, scope, room)
    spans[_12] = copy(buf, start, stop, room)
    return stop


@helper
def put(buf, source, at):
    """Write a short array; the position behind it."""
    for j in range(source.size):
        buf[at] = source[j]
        at += _1
    return at


@helper
def literal(buf, start, limit, trusted, spans, at):
    """Read the literal whose text begins at `start`; what `node` returns."""
    stop = text_end(buf, start)
    if stop == _0:
        return UNUSUAL
    room = spans[_12]
    text, text_stop = start, stop
    if buf[stop] == BACKSLASH:
        if room + np.uint64(8) > limit:
            return FULL
        stop, text_stop = unescape_within(buf, start, stop, room, limit)
        if stop <= FULL:
            return stop
        text = room
    i = stop + _1  # behind the closing quote
    if buf[i] == CARET:
        if buf[i + _1] != CARET or buf[i + _2] != LESS:
            return UNUSUAL
        end = iri_end_trusted(buf, i + _3) if trusted else iri_end(buf, i + _3)
        if end == _0 or is_lang_string(buf, end):
            return UNUSUAL
        if is_xsd_string(buf, i + _3, end):
            note(spans, at, STRING, text, text_stop)
        elif text == start:
            note(spans, at, TYPED, start, end + _1)
        else:
            if text_stop + (end + _1 - stop) > limit:
                return FULL
            text_stop = copy(buf, stop, end + _1, text_stop)
            note(spans, at, TYPED, text, text_stop)
        i = end + _1
    elif buf[i] == AT:
        end = tag_end_trusted(buf, i + _1) if trusted else tag_end(buf, i + _1)
        if end == _0:
            return UNUSUAL
        lower = has_upper(buf, i + _1, end)
        if text == start and not lower:
            note(spans, at, LANG, start, end)
        else:
            if text == start:
                if room + (end - start) > limit:
                    return FULL
                text = room
                text_stop = copy(buf, start, stop, room)
            elif text_stop + (end - stop) > limit:
                return FULL
            suffix = text_stop
            text_stop = copy(buf, stop, end, text_stop)
            while suffix < text_stop:
                if buf[suffix] >= UPPER_A and buf[suffix] <= UPPER_Z:
                    buf[suffix] |= CASE
                suffix += _1
            note(spans, at, LANG, text, text_stop)
        i = end
    else:
        note(spans, at, STRING, text, text_stop)
    if text != start:
        spans[_12] = text_stop
    return i


@helper
def unescape_within(buf, start, i, room, limit):
    """`unescape`, unless the text up to its line's end might not fit before `limit`."""
    end = i
    while buf[end] != LF and buf[end] != CR:
        end += _1
    if room + (end - start) > limit:
        return FULL, room
    return unescape(buf, start, i, room)


@helper
def triple_term(buf, start, limit, scope, spans, at):
    """Read the triple term at `start`, in text of our own writer; what `node` returns.

    Only such text can hold one (the judge has to have seen it): single spaces, canonical
    escapes. It is kept as it stands, but for the blank nodes in it, which are scoped.
    """
    i = start
    room = spans[_12]
    depth = 0
    blanks = 0
    while True:  # 1. its end, and the number of its blank nodes
        c = buf[i]
        if c == LF:
            return UNUSUAL
        if c == LESS and buf[i + _1] == LESS:
            depth += 1
            i += _3
        elif c == LESS:
            i = iri_end_trusted(buf, i + _1) + _1
        elif c == QUOTE:
            i = quoted_end(buf, i + _1) + _1
        elif c == UNDERSCORE:
            blanks += 1
            i = word_end(buf, i)
        elif c == CLOSE:
            depth -= 1
            i += _3
            if depth == 0:
                break
        else:
            i += _1
    if blanks == 0 or scope.size == 0:
        note(spans, at, TRIPLE, start, i)
        return i
    end = i
    if room + (end - start) + np.uint64(blanks * scope.size) > limit:
        return FULL
    first = room
    i = start
    while i < end:  # 2. the copy
        c = buf[i]
        stop = i + _1
        if c == LESS and buf[i + _1] != LESS:
            stop = iri_end_trusted(buf, i + _1) + _1
        elif c == QUOTE:
            stop = quoted_end(buf, i + _1) + _1
        elif c == UNDERSCORE:
            room = put(buf, scope, copy(buf, i, i + _2, room))
            i += _2
            stop = word_end(buf, i)
        room = copy(buf, i, stop, room)
        i = stop
    note(spans, at, TRIPLE, first, room)
    spans[_12] = room
    return end


@helper
def quoted_end(buf, i):
    """The position of the closing quote of a literal that is known to be right."""
    while buf[i] != QUOTE:
        i += _2 if buf[i] == BACKSLASH else _1
    return i


@helper
def word_end(buf, i):
    """The next space or line end."""
    while buf[i] != SPACE and buf[i] != LF:
        i += _1
    return i
