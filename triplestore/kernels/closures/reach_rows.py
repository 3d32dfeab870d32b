"""Rows of a transitive closure: for each component the components it reaches, in compact form.

They are made in `reach_close`. Components are identified by *labels*. A row is a set of labels in
the smallest of three forms, in a pool of 64-bit words:

    RUNS   first << 32 | end of each run of labels, increasing and not touching
    BITS   a bitmap; the first bit of the first word is label 64 * low
    LIST   labels in increasing order, two per word, the lower half first

`head` has four numbers for each label:

    AT      where its own row is in the pool * 4 + form (0: it has none)
    SPAN    low << 32 | entries of the row (runs, words or labels)
    OWNER   label whose row it uses * 2 + 1 if it reaches itself
    WEIGHT  nodes in the components of its own row

A row includes the label that owns it, whether or not that reaches itself. A component all of whose
successors are reached from one of them uses that successor's row, so leaves cost nothing. Hence
component c leads to {c} and the row of its owner.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import helper, kernel

AT, SPAN, OWNER, WEIGHT, FIELDS = 0, 1, 2, 3, 4
RUNS, BITS, LIST = 1, 2, 3

_ONE = np.uint64(1)
_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_63 = np.uint64(63)
_M1 = np.uint64(0x5555555555555555)
_M2 = np.uint64(0x3333333333333333)
_M4 = np.uint64(0x0F0F0F0F0F0F0F0F)
_SUM = np.uint64(0x0101010101010101)
_2 = np.uint64(2)
_4 = np.uint64(4)
_56 = np.uint64(56)
_NOUGHT = np.uint64(0)


@helper
def ones(word):
    """The number of bits that are set in a word."""
    word = word - ((word >> _ONE) & _M1)
    word = (word & _M2) + ((word >> _2) & _M2)
    word = (word + (word >> _4)) & _M4
    return np.int64((word * _SUM) >> _56)


@helper
def lowest(word):
    """The index of the lowest bit that is set; the word is not 0."""
    return ones((word & (~word + _ONE)) - _ONE)


@helper
def bit(label):
    """The word with the bit of a label in its word of a bitmap."""
    return _ONE << (np.uint64(label) & _63)


@helper
def item(pool, at, i):
    """Label i of a list."""
    return np.int64((pool[at + (i >> 1)] >> np.uint64(32 * (i & 1))) & _LOW)


@helper
def run_of(runs, at, size, label):
    """The last of the sorted runs that begins at or before a label, or at - 1."""
    lo = at
    hi = at + size
    while lo < hi:
        middle = (lo + hi) >> 1
        if np.int64(runs[middle] >> _32) <= label:
            lo = middle + 1
        else:
            hi = middle
    return lo - 1


@helper
def in_row(head, pool, owner, label):
    """Whether a label is in the row that `owner` owns."""
    form = head[4 * owner + AT] & 3
    at = head[4 * owner + AT] >> 2
    size = head[4 * owner + SPAN] & np.int64(0xFFFFFFFF)
    if form == BITS:
        word = (label >> 6) - (head[4 * owner + SPAN] >> 32)
        return 0 <= word and word < size and (pool[at + word] & bit(label)) != _NOUGHT
    if form == RUNS:
        run = run_of(pool, at, size, label)
        return run >= at and label < np.int64(pool[run] & _LOW)
    lo = np.int64(0)
    hi = size
    while lo < hi:
        middle = (lo + hi) >> 1
        if item(pool, at, middle) < label:
            lo = middle + 1
        else:
            hi = middle
    return lo < size and item(pool, at, lo) == label


@helper
def row_words(head, owner):
    """The number of words in the pool of the row that `owner` owns."""
    size = head[4 * owner + SPAN] & np.int64(0xFFFFFFFF)
    return (size + 1) >> 1 if head[4 * owner + AT] & 3 == LIST else size


@helper
def leads_to(head, pool, c, label):
    """Whether component c is `label`, or reaches it."""
    return c == label or in_row(head, pool, head[4 * c + OWNER] >> 1, label)


@helper
def put_run(runs, size, start, end):
    """Insert a run into sorted runs, some of which it may touch or overlap; return their number."""
    at = run_of(runs, 0, size, start)
    if at >= 0 and np.int64(runs[at] & _LOW) >= start:
        if np.int64(runs[at] & _LOW) >= end:
            return size
        start = np.int64(runs[at] >> _32)
    else:
        at += 1
    stop = at
    while stop < size and np.int64(runs[stop] >> _32) <= end:
        end = max(end, np.int64(runs[stop] & _LOW))
        stop += 1
    fresh = np.uint64(start) << _32 | np.uint64(end)
    if stop == at:
        for i in range(size, at, -1):
            runs[i] = runs[i - 1]
        size += 1
    elif stop > at + 1:
        gone = stop - at - 1
        for i in range(stop, size):
            runs[i - gone] = runs[i]
        size -= gone
    runs[at] = fresh
    return size


@helper
def take_label(runs, size, label):
    """Remove one label from sorted runs; return the number of runs left."""
    at = run_of(runs, 0, size, label)
    if at < 0:
        return size
    start = np.int64(runs[at] >> _32)
    end = np.int64(runs[at] & _LOW)
    if label >= end:
        return size
    if start == label and end == label + 1:
        for i in range(at + 1, size):
            runs[i - 1] = runs[i]
        return size - 1
    if start == label:
        runs[at] = np.uint64(label + 1) << _32 | np.uint64(end)
        return size
    runs[at] = np.uint64(start) << _32 | np.uint64(label)
    if end == label + 1:
        return size
    for i in range(size, at + 1, -1):
        runs[i] = runs[i - 1]
    runs[at + 1] = np.uint64(label + 1) << _32 | np.uint64(end)
    return size + 1


@helper
def runs_of_words(words, at, size, low, runs):
    """Write the runs of a bitmap's bits; return their number."""
    found = 0
    start = np.int64(-1)  # of the run that is open
    for i in range(size):
        word = words[at + i]
        base = (low + i) << 6
        if start >= 0:
            if word == _ALL:
                continue
            end = lowest(~word)
            runs[found] = np.uint64(start) << _32 | np.uint64(base + end)
            found += 1
            start = np.int64(-1)
            word &= ~((_ONE << np.uint64(end)) - _ONE)
        while word != _NOUGHT:
            first = lowest(word)
            rest = ~word & ~((_ONE << np.uint64(first)) - _ONE)
            if rest == _NOUGHT:
                start = base + first
                break
            end = lowest(rest)
            runs[found] = np.uint64(base + first) << _32 | np.uint64(base + end)
            found += 1
            word &= ~((_ONE << np.uint64(end)) - _ONE)
    if start >= 0:
        runs[found] = np.uint64(start) << _32 | np.uint64((low + size) << 6)
        found += 1
    return found


@helper
def runs_of_row(head, pool, owner, runs):
    """Write the runs of the row that `owner` owns; return their number."""
    form = head[4 * owner + AT] & 3
    at = head[4 * owner + AT] >> 2
    size = head[4 * owner + SPAN] & np.int64(0xFFFFFFFF)
    if form == RUNS:
        for i in range(size):
            runs[i] = pool[at + i]
        return size
    if form == BITS:
        return runs_of_words(pool, at, size, head[4 * owner + SPAN] >> 32, runs)
    found = np.int64(0)
    for i in range(size):
        label = item(pool, at, i)
        if found > 0 and np.int64(runs[found - 1] & _LOW) == label:
            runs[found - 1] += _ONE
        else:
            runs[found] = np.uint64(label) << _32 | np.uint64(label + 1)
            found += 1
    return found


@helper
def runs_led_to(head, pool, c, runs):
    """Write the runs of the labels that component c leads to, itself included; return their
    number."""
    owner = head[4 * c + OWNER] >> 1
    size = runs_of_row(head, pool, owner, runs)
    if owner != c:
        size = put_run(runs, size, np.int64(c), np.int64(c) + 1)
    return size


@helper
def unite_runs(left, left_size, right, right_size, out):
    """Write the union of sorted runs; return the number of runs."""
    i = j = row = 0
    while i < left_size or j < right_size:
        if j == right_size or (i < left_size and left[i] <= right[j]):
            run = left[i]
            i += 1
        else:
            run = right[j]
            j += 1
        if row > 0 and (out[row - 1] & _LOW) >= run >> _32:
            if (run & _LOW) > (out[row - 1] & _LOW):
                out[row - 1] = (out[row - 1] & ~_LOW) | (run & _LOW)
        else:
            out[row] = run
            row += 1
    return row


@helper
def fill_bits(words, low, start, end):
    """Set the bits from label `start` up to `end` in a bitmap whose first word is `low`."""
    one = (start >> 6) - low
    last = ((end - 1) >> 6) - low
    head = _ALL << (np.uint64(start) & _63)
    tail = _ALL >> (_63 - (np.uint64(end - 1) & _63))
    if one == last:
        words[one] |= head & tail
        return
    words[one] |= head
    for i in range(one + 1, last):
        words[i] = _ALL
    words[last] |= tail


@helper
def add_bits(head, pool, c, words, state):
    """Set in the bitmap what component c leads to; state[4:6]: first and last word in use."""
    owner = head[4 * c + OWNER] >> 1
    form = head[4 * owner + AT] & 3
    at = head[4 * owner + AT] >> 2
    size = head[4 * owner + SPAN] & np.int64(0xFFFFFFFF)
    words[c >> 6] |= bit(c)
    first = np.int64(c) >> 6
    last = first
    if form == BITS:
        low = head[4 * owner + SPAN] >> 32
        for i in range(size):
            words[low + i] |= pool[at + i]
        first = min(first, low)
        last = max(last, low + size - 1)
    elif form == RUNS:
        for i in range(at, at + size):
            fill_bits(words, 0, np.int64(pool[i] >> _32), np.int64(pool[i] & _LOW))
        first = min(first, np.int64(pool[at] >> _32) >> 6)
        last = max(last, (np.int64(pool[at + size - 1] & _LOW) - 1) >> 6)
    else:
        for i in range(size):
            label = item(pool, at, i)
            words[label >> 6] |= bit(label)
        first = min(first, item(pool, at, 0) >> 6)
        last = max(last, item(pool, at, size - 1) >> 6)
    state[4] = min(state[4], first)
    state[5] = max(state[5], last)


@helper
def write_runs(runs, size, pool, at, head, c):
    """Write runs as the row of c at a place of the pool, in the smallest form; return its words."""
    low = np.int64(runs[0] >> _32) >> 6
    words = ((np.int64(runs[size - 1] & _LOW) - 1) >> 6) - low + 1
    labels = np.int64(0)
    for i in range(size):
        labels += np.int64(runs[i] & _LOW) - np.int64(runs[i] >> _32)
    listed = (labels + 1) >> 1
    if size <= listed and size <= words:
        for i in range(size):
            pool[at + i] = runs[i]
        head[4 * c + AT] = at * 4 + RUNS
        head[4 * c + SPAN] = size
        return size
    if listed < words:
        n = np.int64(0)
        for i in range(size):
            for label in range(np.int64(runs[i] >> _32), np.int64(runs[i] & _LOW)):
                if n & 1 == 0:
                    pool[at + (n >> 1)] = np.uint64(label)
                else:
                    pool[at + (n >> 1)] |= np.uint64(label) << _32
                n += 1
        head[4 * c + AT] = at * 4 + LIST
        head[4 * c + SPAN] = labels
        return listed
    for i in range(words):
        pool[at + i] = _NOUGHT
    for i in range(size):
        fill_bits(pool, low - at, np.int64(runs[i] >> _32), np.int64(runs[i] & _LOW))
    head[4 * c + AT] = at * 4 + BITS
    head[4 * c + SPAN] = low << 32 | words
    return words


@helper
def write_words(bits, first, last, pool, at, head, c, runs):
    """Write a bitmap as the row of c in the smallest form, and clear it; return the words."""
    while bits[first] == _NOUGHT:
        first += 1
    while bits[last] == _NOUGHT:
        last -= 1
    words = last - first + 1
    labels = np.int64(0)
    starts = np.int64(0)
    before = _NOUGHT  # the last bit of the word before
    for i in range(first, last + 1):
        word = bits[i]
        labels += ones(word)
        starts += ones(word & ~(word << _ONE | before))
        before = word >> _63
    if words < starts and words <= (labels + 1) >> 1:
        for i in range(words):
            pool[at + i] = bits[first + i]
            bits[first + i] = _NOUGHT
        head[4 * c + AT] = at * 4 + BITS
        head[4 * c + SPAN] = first << 32 | words
        return words
    size = runs_of_words(bits, first, words, first, runs)
    for i in range(first, last + 1):
        bits[i] = _NOUGHT
    return write_runs(runs, size, pool, at, head, c)


@helper
def weigh_row(head, pool, c, firsts, heavy):
    """The number of nodes in the components of the row that c owns.

    firsts  i64[labels + 1]: the number of nodes of the labels before each
    heavy   bitmap of the labels that do not have exactly one node
    """
    form = head[4 * c + AT] & 3
    at = head[4 * c + AT] >> 2
    size = head[4 * c + SPAN] & np.int64(0xFFFFFFFF)
    total = np.int64(0)
    if form == RUNS:
        for i in range(at, at + size):
            total += firsts[np.int64(pool[i] & _LOW)] - firsts[np.int64(pool[i] >> _32)]
    elif form == BITS:
        low = head[4 * c + SPAN] >> 32
        for i in range(size):
            total += ones(pool[at + i] & ~heavy[low + i])
            word = pool[at + i] & heavy[low + i]
            while word != _NOUGHT:
                label = ((low + i) << 6) + lowest(word)
                total += firsts[label + 1] - firsts[label]
                word &= word - _ONE
    else:
        total = size  # most labels have one node, which a bitmap says without a look at `firsts`
        for i in range(size):
            label = item(pool, at, i)
            if heavy[label >> 6] & bit(label) != _NOUGHT:
                total += firsts[label + 1] - firsts[label] - 1
    return total


@kernel("i64(i64w, u64r, u64w, i64, i64, i64w, i64)", room=("pool", "out"))
def gather_rows(head, pool, out, low, end, state, limit):
    """Copy the rows outside [low, end) to state[1] and following words, and update `head`.

    out   : the pool to copy to, possibly the same
    state : i64[2]: labels done, where to write next
    Return 1 when done, 0 if there is more to do.
    """
    c = state[0]
    used = state[1]
    stop = used + limit
    while c < head.size // FIELDS and used < stop:
        form = head[4 * c + AT] & 3
        at = head[4 * c + AT] >> 2
        if form != 0 and (at < low or at >= end):
            size = row_words(head, c)
            for i in range(size):
                out[used + i] = pool[at + i]
            head[4 * c + AT] = used * 4 | form
            used += size
        else:
            stop -= 1
        c += 1
    state[0] = c
    state[1] = used
    return np.int64(c == head.size // FIELDS)
