"""The parser of N-Triples and N-Quads: bytes to block-local term numbers.

Start at `parse_lines`. What is always true: a statement is taken whole or not at all (the terms
of a line that turns out unusual leave no trace); every line is counted; a line that is not
certainly right is noted as *odd* with its place, and the caller lets the full parser judge it.
Costs about two cycles a byte and 100 cycles a term; nothing is allocated.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.hash import _0, _1, _2, _3, _6, _8, hash_bytes, little_word, slot_of
from triplestore.kernels.jit import helper, kernel
from triplestore.kernels.ntriples_terms import (
    CR,
    DOT,
    FULL,
    HASH,
    LESS,
    LF,
    QUOTE,
    SPACE,
    TAB,
    UNUSUAL,
    literal,
    node,
    triple_term,
)

# Flags of `parse_lines`.
QUADS = 1  # a graph may follow the object
TRUSTED = 2  # written by the full parser's own writer: valid, canonical, with triple terms

# Places in `state`.
ROWS, TERMS, ODD, LINES, ROOM, LIMIT = 0, 1, 2, 3, 4, 5

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
    i = node(buf, i, limit, trusted, scope, spans, _0)
    if i <= FULL:
        return i
    i = skip_blanks(buf, i)
    if buf[i] != LESS:
        return UNUSUAL
    i = node(buf, i, limit, trusted, scope, spans, _3)
    if i <= FULL:
        return i
    i = skip_blanks(buf, i)
    if buf[i] == QUOTE:
        i = literal(buf, i + _1, limit, trusted, spans, _6)
    elif trusted and buf[i] == LESS and buf[i + _1] == LESS:
        i = triple_term(buf, i, limit, scope, spans, _6)
    else:
        i = node(buf, i, limit, trusted, scope, spans, _6)
    if i <= FULL:
        return i
    i = skip_blanks(buf, i)
    spans[_9] = _0
    if quads and buf[i] != DOT:
        i = node(buf, i, limit, trusted, scope, spans, _9)
        if i <= FULL:
            return i
        i = skip_blanks(buf, i)
    if buf[i] != DOT:
        return UNUSUAL
    i = skip_blanks(buf, i + _1)
    if buf[i] == HASH:
        return line_end(buf, i)
    if buf[i] != LF and buf[i] != CR:
        return UNUSUAL
    return i


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
    spans[_12] = np.uint64(state[ROOM])
    limit = np.uint64(state[LIMIT])
    i = np.uint64(start)
    end = np.uint64(stop)
    while i < end and row < rows.size and terms + 4 <= starts.size and odds < odd.size:
        first = i
        room = spans[_12]
        i = skip_blanks(buf, i)
        if buf[i] == LF or buf[i] == CR or buf[i] == HASH:
            i = next_line(buf, line_end(buf, i))
            lines += 1
            continue
        i = statement(buf, i, limit, quads, trusted, scope, spans)
        if i == FULL:
            spans[_12] = room
            i = first
            break
        if i == UNUSUAL:
            spans[_12] = room
            i = line_end(buf, first)
            odd[odds] = np.int64(first)
            odd[odds + 1] = np.int64(i)
            odd[odds + 2] = lines
            odds += 3
        else:
            before = terms
            for k in range(4):
                number = 0
                if k < 3 or spans[_9] != _0:
                    number = number_of(
                        buf, spans, np.uint64(3 * k), slots, starts, lengths, kinds, hashes, terms
                    )
                    terms = max(terms, number)
                rows[row + k] = np.uint32(number)
            row += 4
            if terms == before:  # all known: what was written behind the text is not needed
                spans[_12] = room
        i = next_line(buf, i)
        lines += 1
    state[ROWS] = row // 4
    state[TERMS] = terms
    state[ODD] = odds // 3
    state[LINES] = lines
    state[ROOM] = np.int64(spans[_12])
    return np.int64(i)
