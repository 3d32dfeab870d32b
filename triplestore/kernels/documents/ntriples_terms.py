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

from triplestore.kernels.documents.ntriples_chars import (
    ASK,
    AT,
    BACKSLASH,
    CARET,
    CASE,
    CLASS,
    CLOSE,
    COLON,
    DASH,
    DOT,
    ESCAPED,
    GREATER,
    HASH,
    HEX,
    HIGH,
    HIGH_U,
    HOST,
    LABEL,
    LESS,
    LETTER,
    LF,
    LOW_U,
    NINE,
    NO_CODE,
    NONE,
    PATH,
    PERCENT,
    QUERY,
    QUOTE,
    SCHEME,
    SLASH,
    SPACE,
    TEXT,
    UNDERSCORE,
    UPPER_A,
    UPPER_Z,
    ZERO,
    code_point,
    hex_value,
    in_iri,
    put_code,
)
from triplestore.kernels.jit import helper
from triplestore.kernels.terms.hashing import _0, _1, _2, _3, _4, _6, _7, _8

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

ROOM = np.uint64(12)  # where in the spans the end of the used room is kept

XSD_STRING = np.frombuffer(b"http://www.w3.org/2001/XMLSchema#string", np.uint8).copy()
XSD_STRING_AND_MARKS = np.uint64(39 + 4)  # from the quote: "^^<...
LANG_STRING = np.frombuffer(b"angString", np.uint8).copy()


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
