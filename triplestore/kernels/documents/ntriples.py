"""The parser of N-Triples and N-Quads: bytes to block-local term numbers.

Start at `parse_lines`. What is always true: a statement is taken whole or not at all (the terms
of a line that turns out unusual leave no trace); every line is counted; a line that is not
certainly right is noted as *odd* with its place, and the caller lets the full parser judge it.
Costs about two cycles a byte and 100 cycles a term; nothing is allocated.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.documents.ntriples_chars import (
    COLON,
    CR,
    DOT,
    HASH,
    LESS,
    LF,
    QUOTE,
    SPACE,
    TAB,
    UNDERSCORE,
)
from triplestore.kernels.documents.ntriples_terms import (
    BLANK,
    FULL,
    IRI,
    ROOM,
    UNUSUAL,
    find,
    iri_end,
    label_end,
    literal,
    settle,
    triple_term,
)
from triplestore.kernels.jit import helper, kernel
from triplestore.kernels.terms.hashing import (
    _0,
    _1,
    _2,
    _3,
    _6,
    _8,
    hash_bytes,
    little_word,
    slot_of,
)

# Flags of `parse_lines`.
QUADS = 1  # a graph may follow the object
TRUSTED = 2  # written by the full parser's own writer: valid, canonical, with triple terms

# Places in `state`.
ROWS, TERMS, ODD, LINES, ROOM_END, LIMIT = 0, 1, 2, 3, 4, 5

_9 = np.uint64(9)
_12 = np.uint64(12)


@helper
def skip_blanks(buf, i):
    """The first byte from `i` that is neither space nor tab."""
    while buf[i] == SPACE or buf[i] == TAB:
        i += _1
    return i


@helper
def line_end(buf, i):
    """The position of the next line feed or carriage return."""
    while buf[i] != LF and buf[i] != CR:
        i += _1
    return i


@helper
def next_line(buf, i):
    """Behind the line end at `i`: CR LF is one."""
    if buf[i] == CR and buf[i + _1] == LF:
        return i + _2
    return i + _1


@helper
def statement(buf, i, limit, quads, trusted, scope, spans):
    """Read the statement at `i` into `spans`; the position of its line's end, UNUSUAL or FULL."""
    at = _0
    spans[_9] = _0
    while at < _12:
        c = buf[i]
        if c == QUOTE:
            if at != _6:
                return UNUSUAL
            i = literal(buf, i + _1, trusted, spans)
            if i == UNUSUAL:
                return UNUSUAL
        elif c == LESS:
            if buf[i + _1] == LESS:
                if not trusted or at != _6:
                    return UNUSUAL
                i = triple_term(buf, i, limit, scope, spans)
                if i <= FULL:
                    return i
            else:
                start = i + _1
                i = iri_end(buf, start, trusted)
                if i == _0:
                    return UNUSUAL
                spans[at] = IRI
                spans[at + _1] = start
                spans[at + _2] = i
                i += _1
        elif c == UNDERSCORE and buf[i + _1] == COLON:
            if at == _3:
                return UNUSUAL
            start = i + _2
            i = find(buf, start, SPACE) if trusted else label_end(buf, start)
            if i == _0:
                return UNUSUAL
            spans[at] = BLANK
            spans[at + _1] = start
            spans[at + _2] = i
            if scope.size > 0:
                room = spans[ROOM]
                if room + np.uint64(scope.size) + (i - start) > limit:
                    return FULL
                spans[at + _1] = room
                for j in range(scope.size):
                    buf[room] = scope[j]
                    room += _1
                while start < i:
                    buf[room] = buf[start]
                    room += _1
                    start += _1
                spans[at + _2] = room
                spans[ROOM] = room
        else:
            return UNUSUAL
        i = skip_blanks(buf, i)
        at += _3
        if at == _9 and (not quads or buf[i] == DOT):
            break
    if buf[i] != DOT:
        return UNUSUAL
    i = skip_blanks(buf, i + _1)
    if buf[i] == HASH:
        i = line_end(buf, i)
    return i if buf[i] == LF or buf[i] == CR else UNUSUAL


@helper
def same_bytes(buf, a, b, length):
    """True if `length` bytes from `a` equal those from `b`."""
    stop = a + length
    while a + _8 <= stop:
        if little_word(buf, a) != little_word(buf, b):
            return False
        a += _8
        b += _8
    while a < stop:
        if buf[a] != buf[b]:
            return False
        a += _1
        b += _1
    return True


@helper
def number_of(buf, spans, at, slots, starts, lengths, kinds, hashes, count):
    """The number (from 1) of the term in a span; `count + 1` if it is new, and is then noted."""
    kind = np.uint8(spans[at])
    start = spans[at + _1]
    length = spans[at + _2] - start
    hashed = hash_bytes(kind, buf, start, start + length)
    slot = slot_of(hashed, np.uint64(slots.size))
    while True:
        number = np.int64(slots[slot])
        if number == 0:
            break
        t = number - 1
        if hashes[t] == hashed and kinds[t] == kind and np.uint64(lengths[t]) == length:
            if same_bytes(buf, np.uint64(starts[t]), start, length):
                return number
        slot += _1
        if slot == np.uint64(slots.size):
            slot = _0
    slots[slot] = np.uint32(count + 1)
    starts[count] = np.int64(start)
    lengths[count] = np.int64(length)
    kinds[count] = kind
    hashes[count] = hashed
    return count + 1


@kernel("i64(u8w, i64, i64, i64, u8r, u32w, i64w, i64w, u8w, u64w, u32w, i64w, u64w, i64w)")
def parse_lines(
    buf, start, stop, flags, scope, slots, starts, lengths, kinds, hashes, rows, odd, spans, state
):  # fmt: skip
    """Parse the lines of `buf[start:stop]`; the position up to which they are done.

    buf     : text, its last byte a line feed, and behind `stop` room for rewritten terms
    scope   : what precedes each blank node label (empty: labels are kept)
    slots   : a hash table of zeros, at least twice as large as `starts`
    starts, lengths, kinds, hashes : out, the distinct terms in order of appearance
    rows    : out, four numbers a statement (s, p, o, g), from 1; 0 as g is the default graph
    odd     : out, `(start, stop, line)` of each odd line, lines counted from 0
    spans   : u64[13], scratch
    state   : in and out, i64[6]: rows, terms, odd lines, lines done, end of the used room, and
              (in only) where the room ends. Stops early when an output is full.
    """
    quads = flags & QUADS != 0
    trusted = flags & TRUSTED != 0
    row, terms, odds, lines = state[ROWS] * 4, state[TERMS], state[ODD] * 3, state[LINES]
    spans[ROOM] = np.uint64(state[ROOM_END])
    limit = np.uint64(state[LIMIT])
    i = np.uint64(start)
    end = np.uint64(stop)
    while i < end and row < rows.size and terms + 4 <= starts.size and odds < odd.size:
        first = i
        room = spans[ROOM]
        i = skip_blanks(buf, i)
        if buf[i] == LF or buf[i] == CR or buf[i] == HASH:
            i = next_line(buf, line_end(buf, i))
            lines += 1
            continue
        i = statement(buf, i, limit, quads, trusted, scope, spans)
        if i == FULL:
            spans[ROOM] = room
            i = first
            break
        if i == UNUSUAL:
            spans[ROOM] = room
            i = line_end(buf, first)
            odd[odds] = np.int64(first)
            odd[odds + 1] = np.int64(i)
            odd[odds + 2] = lines
            odds += 3
        else:
            before = terms
            settle(buf, spans)
            columns = 3 if spans[_9] == _0 else 4
            rows[row + 3] = np.uint32(0)
            for k in range(columns):
                number = number_of(
                    buf, spans, np.uint64(3 * k), slots, starts, lengths, kinds, hashes, terms
                )
                terms = max(terms, number)
                rows[row + k] = np.uint32(number)
            row += 4
            if terms == before:  # all known: what was written behind the text is not needed
                spans[ROOM] = room
        i = next_line(buf, i)
        lines += 1
    state[ROWS] = row // 4
    state[TERMS] = terms
    state[ODD] = odds // 3
    state[LINES] = lines
    state[ROOM_END] = np.int64(spans[ROOM])
    return np.int64(i)
