"""Where statements of Turtle and TriG end: what a document can be cut by.

Start at `scan_statements`. It knows tokens and brackets, no grammar: a document that is right is
cut where its statements end; in one that is not it gives up, or ends a statement where the parser
of a part will find the fault. What is always true: what it counts are whole statements; one that is
not complete in the text leaves no trace. Costs about two cycles a byte;
nothing is allocated.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import helper, kernel

# Kinds of statements.
PLAIN, DIRECTIVE, GRAPH_BEGINS, GRAPH_ENDS = 0, 1, 2, 3

# Places in `state`.
NODES, IN_GRAPH, GAVE_UP, FOUND = 0, 1, 2, 3

# Marks of bytes: part of a word (a name, label, keyword), white space, a digit.
WORD = np.uint8(1)
WHITE = np.uint8(2)
DIGIT = np.uint8(4)
NO_MARK = np.uint8(0)


def _marks() -> np.ndarray:
    table = np.zeros(256, np.uint8)
    table[128:] = WORD
    letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    table[np.frombuffer(letters + b"_-.:%", np.uint8)] = WORD
    table[np.frombuffer(b"0123456789", np.uint8)] |= DIGIT
    table[np.frombuffer(b" \t\r\n", np.uint8)] = WHITE
    return table


MARKS = _marks()

_INCOMPLETE = -1
_WRONG = -2


@helper
def comment_end(buf, i, stop):
    """The line end behind the comment at `i`, or `stop`."""
    while i < stop and buf[i] != 10 and buf[i] != 13:
        i += 1
    return i


@helper
def string_end(buf, i, stop):
    """Behind the string whose first quote is at `i`; incomplete or wrong if it has no end."""
    quote = buf[i]
    if i + 2 >= stop:
        return _INCOMPLETE
    if buf[i + 1] == quote and buf[i + 2] == quote:
        i += 3
        while i + 2 < stop:
            if buf[i] == 92:
                i += 2
            elif buf[i] == quote and buf[i + 1] == quote and buf[i + 2] == quote:
                return i + 3
            else:
                i += 1
        return _INCOMPLETE
    i += 1
    while i < stop:
        c = buf[i]
        if c == quote:
            return i + 1
        if c == 10 or c == 13:
            return _WRONG
        i += 2 if c == 92 else 1
    return _INCOMPLETE


@helper
def reference_end(buf, i, stop):
    """Behind the IRI whose bracket is at `i`."""
    i += 1
    while i < stop:
        c = buf[i]
        if c == 62:
            return i + 1
        if c <= 32 or c == 60:
            return _WRONG
        i += 1
    return _INCOMPLETE


@helper
def digits_end(buf, i, stop):
    """The first byte from `i` that is not a digit."""
    while i < stop and MARKS[buf[i]] & DIGIT != NO_MARK:
        i += 1
    return i


@helper
def exponent_end(buf, i, stop):
    """Behind the exponent at `i`, or `i` if there is none."""
    if i < stop and (buf[i] == 101 or buf[i] == 69):
        j = i + 1
        if j < stop and (buf[j] == 43 or buf[j] == 45):
            j += 1
        end = digits_end(buf, j, stop)
        if end > j or end >= stop:
            return end
    return i


@helper
def number_end(buf, i, stop):
    """Behind the number at `i`; a full stop that no digit or exponent follows is not its own."""
    if buf[i] == 43 or buf[i] == 45:
        i += 1
    i = digits_end(buf, i, stop)
    if i < stop and buf[i] == 46:
        j = digits_end(buf, i + 1, stop)
        if j >= stop:
            return _INCOMPLETE
        if j > i + 1:
            i = j
        elif exponent_end(buf, j, stop) > j:
            i = j
    i = exponent_end(buf, i, stop)
    return i if i < stop else _INCOMPLETE


@helper
def word_end(buf, i, stop):
    """Behind the name, label or keyword at `i`: full stops at its end are not its own."""
    first = i
    kept = i
    while i < stop:
        c = buf[i]
        if c == 92:
            i += 2
            kept = i
        elif MARKS[c] & WORD != NO_MARK:
            i += 1
            if c != 46:
                kept = i
        else:
            return kept if kept > first else _WRONG
    return _INCOMPLETE


@helper
def keyword(buf, start, end):
    """1 for PREFIX, 2 for BASE, 3 for VERSION, in letters of any case; 0 for anything else."""
    if end - start < 4 or end - start > 7:
        return 0
    code = np.uint64(0)
    for i in range(start, end):
        code = code << np.uint64(8) | np.uint64(buf[i] | np.uint8(32))
    if code == np.uint64(0x707265666978):
        return 1
    if code == np.uint64(0x62617365):
        return 2
    if code == np.uint64(0x76657273696F6E):
        return 3
    return 0


@kernel("i64(u8r, i64, i64, i64, i64w, i64w, i64w)")
def scan_statements(buf, start, stop, trig, stack, ends, state):
    """Find statements of `buf[start:stop]`; the position up to which they are done.

    start : where a statement begins, or white space and comments before it
    trig  : 1 where graphs are allowed
    stack : scratch; as many brackets as it has places can be open
    ends  : out, three numbers a statement: its end, its kind, anonymous nodes up to there
    state : in and out, i64[4]: anonymous nodes so far; 0 outside of graphs, 1 in one, 2 in one that
            is called `[]`; 1 if it gave up (what follows cannot be told); (out only) statements
    """
    nodes = state[NODES]
    in_graph = state[IN_GRAPH]
    i = start
    done = start
    found = 0
    depth = 0
    directive = 0  # 1 up to a full stop, 2 up to an IRI, 3 up to a string
    fresh = True  # nothing of the statement was met
    typed = False  # a datatype comes next, which is not an item of its own
    anonymous = False  # the statement began with a bracket
    state[FOUND] = 0
    while i < stop and 3 * found < ends.size:
        c = buf[i]
        mark = MARKS[c]
        if mark & WHITE != NO_MARK:
            i += 1
            continue
        if c == 35:
            i = comment_end(buf, i, stop)
            continue
        kind = -1
        is_term = False
        end = i + 1
        if c == 60:
            if i + 1 < stop and buf[i + 1] == 60:
                end = _WRONG  # triple terms and reifiers
            else:
                end = reference_end(buf, i, stop)
            is_term = True
            if directive == 2:
                kind = DIRECTIVE
        elif c == 34 or c == 39:
            end = string_end(buf, i, stop)
            is_term = True
            if directive == 3:
                kind = DIRECTIVE
        elif c == 46 and i + 1 >= stop:
            end = _INCOMPLETE
        elif c == 46 and MARKS[buf[i + 1]] & DIGIT == NO_MARK:
            kind = PLAIN if directive == 0 else DIRECTIVE
            if depth > 0 or fresh:
                end = _WRONG
        elif mark & DIGIT != NO_MARK or c == 43 or c == 45 or c == 46:
            end = number_end(buf, i, stop)
            is_term = True
        elif mark & WORD != NO_MARK:
            end = word_end(buf, i, stop)
            is_term = True
            if fresh and end > 0:
                word = keyword(buf, i, end)
                directive = 0 if word == 0 else 3 if word == 3 else 2
        elif c == 64:
            while end < stop and (MARKS[buf[end]] & WORD != NO_MARK) and buf[end] != 46:
                end += 1
            if end >= stop:
                end = _INCOMPLETE
            elif fresh:
                directive = 1
        elif c == 94:
            end = _INCOMPLETE if i + 1 >= stop else i + 2 if buf[i + 1] == 94 else _WRONG
        elif c == 91 or c == 40:
            if depth > 0 and stack[depth - 1] == 40:
                nodes += 1
            if c == 91:
                nodes += 1
                anonymous = anonymous or fresh
            if depth >= stack.size:
                end = _WRONG
            else:
                stack[depth] = c
                depth += 1
        elif c == 93 or c == 41:
            depth -= 1
            if depth < 0 or stack[depth] != (91 if c == 93 else 40):
                end = _WRONG
        elif c == 123:
            kind = GRAPH_BEGINS
            if trig == 0 or in_graph > 0 or depth > 0 or directive > 0:
                end = _WRONG
        elif c == 125:
            kind = GRAPH_ENDS
            if in_graph == 0 or depth > 0:
                end = _WRONG
        elif c != 44 and c != 59:
            end = _WRONG
        if end == _INCOMPLETE:
            break
        if end == _WRONG or (directive > 0 and in_graph > 0):
            state[GAVE_UP] = 1
            break
        if is_term and not typed and depth > 0 and stack[depth - 1] == 40:
            nodes += 1
        typed = c == 94
        fresh = False
        i = end
        if kind >= 0:
            if kind == GRAPH_BEGINS:
                in_graph = 2 if anonymous else 1
            elif kind == GRAPH_ENDS:
                in_graph = 0
            ends[3 * found] = i
            ends[3 * found + 1] = kind
            ends[3 * found + 2] = nodes
            found += 1
            done = i
            state[NODES] = nodes
            state[IN_GRAPH] = in_graph
            fresh = True
            directive = 0
            anonymous = False
    state[FOUND] = found
    return done
