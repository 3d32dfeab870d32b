"""Weighs rows of a transitive closure where only some nodes count."""

from __future__ import annotations

import numpy as np

from triplestore.kernels.closures.reach_rows import AT, BITS, FIELDS, RUNS, SPAN, item, lowest, ones
from triplestore.kernels.jit import kernel

_ONE = np.uint64(1)
_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_NOUGHT = np.uint64(0)


@kernel("i64(u32r, i64r, u64r, i64r, u64r, u64r, i64w, i64w, i64)", room=("pool",))
def weigh_some(owners, head, pool, firsts, single, heavy, out, state, limit):
    """Write the number of counted nodes in the components of the row that each label owns.

    head, pool     : rows as `reach_rows` describes them
    firsts         : i64[labels + 1], the number of counted nodes of the labels before each
    single, heavy  : bitmaps of the labels with one counted node, and with more
    state          : i64[1], initially 0: the owners done; about `limit` words are read per call
    Return 1 when done, 0 if there is more to do.
    """
    i = state[0]
    steps = 0
    while i < owners.size and steps < limit:
        field = FIELDS * np.int64(owners[i])
        form = head[field + AT] & 3
        at = head[field + AT] >> 2
        size = head[field + SPAN] & np.int64(0xFFFFFFFF)
        total = np.int64(0)
        if form == RUNS:
            for run in range(at, at + size):
                total += firsts[np.int64(pool[run] & _LOW)] - firsts[np.int64(pool[run] >> _32)]
        elif form == BITS:
            low = head[field + SPAN] >> 32
            for k in range(size):
                total += ones(pool[at + k] & single[low + k])
                word = pool[at + k] & heavy[low + k]
                while word != _NOUGHT:
                    label = ((low + k) << 6) + lowest(word)
                    total += firsts[label + 1] - firsts[label]
                    word &= word - _ONE
        else:
            for k in range(size):
                label = item(pool, at, k)
                total += firsts[label + 1] - firsts[label]
        out[i] = total
        steps += size + 1
        i += 1
    state[0] = i
    return np.int64(i == owners.size)
