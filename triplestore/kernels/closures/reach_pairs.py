"""Pairs of a transitive closure from its rows: membership, all pairs of a node, and differences.

The rows are those of `reach_rows`. Component a *reaches* what it leads to, without a itself unless
a is on a cycle. A difference is what a reaches by some rows without what b reaches by other rows;
both have the same labels where the components have the same nodes. Labels of the first rows that
the second do not know (or vice versa) are *unstable*; their nodes come in groups that have one
label in the other rows.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.closures.reach import NONE
from triplestore.kernels.closures.reach_rows import (
    AT,
    BITS,
    OWNER,
    SPAN,
    bit,
    in_row,
    lowest,
    put_run,
    runs_of_row,
    take_label,
)
from triplestore.kernels.jit import helper, kernel

_ONE = np.uint64(1)
_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_NOUGHT = np.uint64(0)


@helper
def reaches(head, pool, c, label):
    """Whether component c reaches the component `label`."""
    if c == label:
        return head[4 * c + OWNER] & 1 == 1
    return in_row(head, pool, head[4 * c + OWNER] >> 1, label)


@kernel("void(u32r, u32r, i64r, u64r, u8w)", room=("pool",))
def probe_rows(left, right, head, pool, found):
    """Write 1 where the component in `left` reaches that in `right`; NONE reaches nothing."""
    for i in range(left.size):
        a = left[i]
        b = right[i]
        found[i] = a != NONE and b != NONE and reaches(head, pool, np.int64(a), np.int64(b))


@helper
def runs_reached(head, pool, c, runs):
    """Write the runs of the labels that component c reaches; return their number."""
    owner = head[4 * c + OWNER] >> 1
    size = runs_of_row(head, pool, owner, runs)
    if head[4 * c + OWNER] & 1 == 0:
        return take_label(runs, size, c)
    if owner != c:
        return put_run(runs, size, c, c + 1)
    return size


@helper
def words_without(head, pool, a, other, others, b, runs):
    """`runs_without` for two rows that are bitmaps.

    b is a, or a label that the rows of a do not know, so its own bit hides nothing.
    """
    one, two = head[4 * a + OWNER] >> 1, other[4 * b + OWNER] >> 1
    at, low = head[4 * one + AT] >> 2, head[4 * one + SPAN] >> 32
    size = head[4 * one + SPAN] & np.int64(0xFFFFFFFF)
    not_at, not_low = other[4 * two + AT] >> 2, other[4 * two + SPAN] >> 32
    not_size = other[4 * two + SPAN] & np.int64(0xFFFFFFFF)
    found = np.int64(0)
    for i in range(low, low + size):
        word = pool[at + i - low]
        if i == a >> 6:
            word &= ~bit(a)
        if not_low <= i and i < not_low + not_size:
            word &= ~others[not_at + i - not_low]
        while word != _NOUGHT:
            label = (i << 6) + lowest(word)
            word &= word - _ONE
            if found > 0 and np.int64(runs[found - 1] & _LOW) == label:
                runs[found - 1] += _ONE
            else:
                runs[found] = np.uint64(label) << _32 | np.uint64(label + 1)
                found += 1
    # Whether a is reached was left open: its bit in the row says nothing about it.
    if head[4 * a + OWNER] & 1 == 1 and not reaches(other, others, b, a):
        found = put_run(runs, found, a, a + 1)
    return found


@helper
def runs_without(head, pool, a, other, others, b, runs, hidden):
    """Write the runs of labels that a reaches by `head` and b (or NONE) not by `other`."""
    if b == NONE:
        return runs_reached(head, pool, a, runs)
    one, two = head[4 * a + OWNER] >> 1, other[4 * b + OWNER] >> 1
    if head[4 * one + AT] & 3 == BITS and other[4 * two + AT] & 3 == BITS:
        return words_without(head, pool, a, other, others, b, runs)
    many = runs_reached(other, others, b, hidden)
    # What is left of each run is written over the runs from behind, so they must be out of the way.
    size = runs_reached(head, pool, a, runs)
    gap = many + 1
    for i in range(size - 1, -1, -1):
        runs[i + gap] = runs[i]
    found = np.int64(0)
    j = np.int64(0)
    for i in range(gap, gap + size):
        start, end = np.int64(runs[i] >> _32), np.int64(runs[i] & _LOW)
        while j < many and np.int64(hidden[j] & _LOW) <= start:
            j += 1
        k = j
        while k < many and np.int64(hidden[k] >> _32) < end:
            stop = np.int64(hidden[k] >> _32)
            if start < stop:
                runs[found] = np.uint64(start) << _32 | np.uint64(stop)
                found += 1
            start = np.int64(hidden[k] & _LOW)
            k += 1
        if start < end:
            runs[found] = np.uint64(start) << _32 | np.uint64(end)
            found += 1
    return found


@helper
def place_of(values, value):
    """The first place of sorted values that is not less."""
    lo = 0
    hi = values.size
    while lo < hi:
        middle = (lo + hi) >> 1
        if np.int64(values[middle]) < value:
            lo = middle + 1
        else:
            hi = middle
    return lo


@helper
def group_stays(other, others, b, label):
    """Whether b reaches the nodes of a group that has this label in the other rows."""
    return b != NONE and label != NONE and reaches(other, others, np.int64(b), np.int64(label))


_WEIGH = (
    "void(u32r, u32r, i64r, u64r, i64r, u64r, i64r, u32r, i64r, u32r, i64r, u64w, u64w, i64w, "
    "i64w, i64)"
)


@kernel(_WEIGH, room=("pool", "others"))
def weigh_pairs(
    left,
    right,
    head,
    pool,
    other,
    others,
    firsts,
    unstable,
    groups,
    group_label,
    group_starts,
    runs,
    hidden,
    out,
    state,
    limit,
):
    """Write the number of nodes that each component in `left` reaches and the one in `right` does
    not.

    head, pool    : the rows of `left`; other, others: those of `right` (NONE reaches nothing)
    firsts        : i64[labels + 1], the number of nodes of the labels of `left` before each
    unstable      : labels of `left` that the other rows do not know, increasing
    groups        : the groups of unstable label i are groups[i] : groups[i + 1]
    group_label   : label of each group in the other rows, or NONE; group_starts: where its nodes
                    begin
    runs, hidden  : u64[labels + 5], room
    state         : i64[1]: the components done
    """
    at = state[0]
    steps = 0
    while at < left.size and steps < limit:
        a, b = left[at], right[at]
        total = np.int64(0)
        if a != NONE:
            size = runs_without(head, pool, np.int64(a), other, others, np.int64(b), runs, hidden)
            steps += size + (head[4 * a + SPAN] & np.int64(0xFFFF)) + 1
            for i in range(size):
                start, end = np.int64(runs[i] >> _32), np.int64(runs[i] & _LOW)
                total += firsts[end] - firsts[start]
                if unstable.size == 0:
                    continue
                u = place_of(unstable, start)
                while u < unstable.size and np.int64(unstable[u]) < end:
                    for g in range(groups[u], groups[u + 1]):
                        if group_stays(other, others, b, group_label[g]):
                            total -= group_starts[g + 1] - group_starts[g]
                    u += 1
        out[at] = total
        steps += 1
        at += 1
    state[0] = at


_LIST = (
    "void(u32r, u32r, u32r, i64r, u64r, i64r, u64r, i64r, u32r, u32r, i64r, u32r, i64r, u32r, "
    "u32r, u64w, u64w, u64w, u64w, u64w, i64w, i64)"
)


@helper
def mark_node(v, bits, summary):
    """Set the bit of a node, and the bit of its word in the summary."""
    bits[v >> 6] |= bit(v)
    summary[v >> 12] |= bit(v >> 6)


@kernel(_LIST, room=("pool", "others"))
def list_pairs(
    left,
    right,
    prefix,
    head,
    pool,
    other,
    others,
    firsts,
    members,
    unstable,
    groups,
    group_label,
    group_starts,
    group_nodes,
    ids,
    bits,
    summary,
    runs,
    hidden,
    out,
    state,
    limit,
):
    """Write the nodes that each component in `left` reaches and the one in `right` does not.

    prefix          : u32, written in front of each node's id
    firsts, members : the nodes of label c are members[firsts[c] : firsts[c + 1]]
    ids             : the id of each node, increasing
    bits, summary   : u64[nodes / 64], u64[nodes / 4096], all 0
    out             : has room for all; pairs of one place are in the order of ids
    state           : i64[2]: places done, pairs written
    The other arguments are those of `weigh_pairs`.
    """
    at = state[0]
    row = state[1]
    start_row = row
    while at < left.size and row - start_row < limit:
        a, b = left[at], right[at]
        front = np.uint64(prefix[at]) << _32
        at += 1
        limit -= 16
        if a == NONE:
            continue
        size = runs_without(head, pool, np.int64(a), other, others, np.int64(b), runs, hidden)
        limit -= size
        for i in range(size):
            start, end = np.int64(runs[i] >> _32), np.int64(runs[i] & _LOW)
            u = place_of(unstable, start) if unstable.size > 0 else 0
            for label in range(start, end):
                if u < unstable.size and np.int64(unstable[u]) == label:
                    for g in range(groups[u], groups[u + 1]):
                        if not group_stays(other, others, b, group_label[g]):
                            for k in range(group_starts[g], group_starts[g + 1]):
                                mark_node(np.int64(group_nodes[k]), bits, summary)
                    u += 1
                else:
                    for k in range(firsts[label], firsts[label + 1]):
                        mark_node(np.int64(members[k]), bits, summary)
        for s in range(summary.size):
            words = summary[s]
            summary[s] = _NOUGHT
            while words != _NOUGHT:
                w = (s << 6) + lowest(words)
                words &= words - _ONE
                word = bits[w]
                bits[w] = _NOUGHT
                while word != _NOUGHT:
                    out[row] = front | np.uint64(ids[(w << 6) + lowest(word)])
                    row += 1
                    word &= word - _ONE
    state[0] = at
    state[1] = row
