"""Make the rows of a transitive closure, for a new graph or after a change of its edges.

Start reading at `close_rows`; `reach_rows` describes rows.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.closures.reach_rows import (
    AT,
    BITS,
    FIELDS,
    OWNER,
    SPAN,
    WEIGHT,
    add_bits,
    bit,
    leads_to,
    put_run,
    run_of,
    runs_led_to,
    runs_of_row,
    unite_runs,
    weigh_row,
    write_runs,
    write_words,
)
from triplestore.kernels.jit import helper, kernel

_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_63 = np.uint64(63)
_NOUGHT = np.uint64(0)


@helper
def same_words(old_head, head, pool, c, user):
    """Whether all labels of the row that `user` owns in `head` are in that of c in `old_head`.

    Both rows are bitmaps; the label c itself is ignored.
    """
    at, low = head[4 * user + AT] >> 2, head[4 * user + SPAN] >> 32
    size = head[4 * user + SPAN] & np.int64(0xFFFFFFFF)
    owner = old_head[4 * c + OWNER] >> 1
    was_at, was_low = old_head[4 * owner + AT] >> 2, old_head[4 * owner + SPAN] >> 32
    was_size = old_head[4 * owner + SPAN] & np.int64(0xFFFFFFFF)
    for i in range(low, low + size):
        word = pool[at + i - low]
        if i == c >> 6:
            word &= ~bit(c)
        if was_low <= i and i < was_low + was_size:
            word &= ~pool[was_at + i - was_low]
        if word != _NOUGHT:
            return False
    return True


@helper
def same_reach(old_head, head, pool, c, user, left, right):
    """Whether c leads to the same in `old_head` as to c and the row that `user` owns in `head`.

    The weights are equal, so it is enough that everything reached now was reached before.
    """
    owner = old_head[4 * c + OWNER] >> 1
    if head[4 * user + AT] & 3 == BITS and old_head[4 * owner + AT] & 3 == BITS:
        return same_words(old_head, head, pool, c, user)
    size = runs_of_row(head, pool, user, left)
    size = put_run(left, size, c, c + 1)
    if np.int64(left[size - 1] & _LOW) > old_head.size // FIELDS:
        return False
    many = runs_of_row(old_head, pool, owner, right)
    many = put_run(right, many, c, c + 1)
    if many != size:
        return False
    for i in range(size):
        if left[i] != right[i]:
            return False
    return True


@helper
def sort_numbers(values, size):
    """Sort the first `size` values in place."""
    gap = 1
    while gap < size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, size):
            value = values[i]
            j = i
            while j >= gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value
        gap //= 3


@helper
def own_row(head, pool, c, used, runs, firsts):
    """Give component c, which uses the row of another one, its own row; return the pool's new
    end."""
    owner = head[4 * c + OWNER] >> 1
    weight = head[4 * owner + WEIGHT] + firsts[c + 1] - firsts[c]
    low = head[4 * owner + SPAN] >> 32
    words = head[4 * owner + SPAN] & np.int64(0xFFFFFFFF)
    if head[4 * owner + AT] & 3 == BITS and low <= c >> 6 and c >> 6 <= low + words:
        at = head[4 * owner + AT] >> 2
        for i in range(words):
            pool[used + i] = pool[at + i]
        if c >> 6 == low + words:
            pool[used + words] = _NOUGHT
            words += 1
        pool[used + (c >> 6) - low] |= bit(c)
        head[4 * c + AT] = used * 4 + BITS
        head[4 * c + SPAN] = low << 32 | words
        head[4 * c + OWNER] = 2 * c | (head[4 * c + OWNER] & 1)
        head[4 * c + WEIGHT] = weight
        return used + words
    size = runs_led_to(head, pool, c, runs)
    head[4 * c + OWNER] = 2 * c | (head[4 * c + OWNER] & 1)
    head[4 * c + WEIGHT] = weight
    return used + write_runs(runs, size, pool, used, head, c)


@helper
def find_successors(c, starts, cols, firsts, members, label, rank, seen, mark, found):
    """Write the ranks of the successors of component c, increasing; return their number.

    seen[c] is `mark` afterwards if an edge of c leads to c itself.
    """
    size = 0
    for m in range(firsts[c], firsts[c + 1]):
        v = members[m]
        for e in range(starts[v], starts[v + 1]):
            d = label[cols[e]]
            if seen[d] != mark:
                seen[d] = mark
                if d != c:
                    found[size] = rank[d]
                    size += 1
    sort_numbers(found, size)
    return size


@helper
def choose_way(head, found, size, at_rank):
    """Whether rows should be united as runs (True) or as a bitmap.

    Each of `size` unions of runs copies the result so far; a bitmap costs its words.
    """
    if size > 64:
        return False
    entries = 0
    low = np.int64(0xFFFFFFFF)
    high = np.int64(0)
    for i in range(size):
        d = np.int64(at_rank[found[i]])
        low = min(low, d)
        high = max(high, d)
        owner = head[4 * d + OWNER] >> 1
        if head[4 * owner + AT] & 3 == BITS:
            return False
        entries += 1 + (head[4 * owner + SPAN] & np.int64(0xFFFFFFFF))
    return entries <= 64 or entries * size < (high - low) >> 3


@helper
def unite_rows(c, found, size, at_rank, head, pool, used, bits, left, right, extra, state):
    """Write the row of c, the union of what its successors lead to; return its number of words."""
    if choose_way(head, found, size, at_rank):
        many = runs_led_to(head, pool, np.int64(at_rank[found[size - 1]]), left)
        swapped = False
        for i in range(size - 2, -1, -1):
            d = np.int64(at_rank[found[i]])
            if swapped:
                run = run_of(right, 0, many, d)
                if run >= 0 and d < np.int64(right[run] & _LOW):
                    continue
                more = runs_led_to(head, pool, d, extra)
                many = unite_runs(right, many, extra, more, left)
            else:
                run = run_of(left, 0, many, d)
                if run >= 0 and d < np.int64(left[run] & _LOW):
                    continue
                more = runs_led_to(head, pool, d, extra)
                many = unite_runs(left, many, extra, more, right)
            swapped = not swapped
        if swapped:
            many = put_run(right, many, np.int64(c), np.int64(c) + 1)
            return write_runs(right, many, pool, used, head, c)
        many = put_run(left, many, np.int64(c), np.int64(c) + 1)
        return write_runs(left, many, pool, used, head, c)
    bits[c >> 6] |= bit(c)
    state[4] = np.int64(c) >> 6
    state[5] = np.int64(c) >> 6
    for i in range(size - 1, -1, -1):
        d = np.int64(at_rank[found[i]])
        if bits[d >> 6] & bit(d) == _NOUGHT:
            add_bits(head, pool, d, bits, state)
    return write_words(bits, state[4], state[5], pool, used, head, c, left)


_CLOSE = (
    "i64(i64r, u32r, i64r, u32r, i64r, u32r, u32r, u32r, u32r, u64r, i64r, "
    "i64w, u64w, u64w, u64w, i64w, u32w, u64w, u64w, u64w, u32w, i64w, i64)"
)


@kernel(_CLOSE, room=("pool",))
def close_rows(
    starts,
    cols,
    back_starts,
    back_cols,
    firsts,
    members,
    label,
    rank,
    at_rank,
    heavy,
    old_head,
    head,
    pool,
    dirty,
    bits,
    seen,
    found,
    left,
    right,
    extra,
    changed,
    state,
    limit,
):
    """Make the rows of all dirty components, and of those whose successors change by that.

    starts, cols          : the graph of the nodes; back_*: its reverse (empty if all are dirty)
    firsts, members       : the nodes of label c are members[firsts[c] : firsts[c + 1]]
    label                 : u32[n], the label of each node
    rank, at_rank         : a component has a greater rank than all it leads to; and the inverse
    heavy                 : see `weigh_row`
    old_head              : the heads before this update; labels beyond its end are new
    head, pool            : as described at the top of `reach_rows`, 0 for new labels. The pool is
                            written from state[1] up to state[6]
    dirty                 : bitmap over ranks; bits are cleared when done
    bits, seen, found     : u64[labels / 64] all 0, i64[labels] less than state[2], u32[labels]
    left, right, extra    : u64[labels / 2 + 3], room for runs
    changed               : u32[labels]: the state[3] labels that lead elsewhere now
    state                 : i64[7]: the rank to continue from, where to write in the pool, marks
                            used, labels in `changed`, two for `add_bits`, where to stop writing
    Return 1 when done, 0 if there is more to do, 2 if there is too little room to write to.
    """
    at = state[0]
    used = state[1]
    mark = state[2]
    many = state[3]
    olds = old_head.size // FIELDS
    follow = back_starts.size > 0
    room = 2 * bits.size + 4
    steps = 0
    done = 1
    while at < at_rank.size:
        if dirty[at >> 6] >> (np.uint64(at) & _63) == _NOUGHT:
            at = ((at >> 6) + 1) << 6
            steps += 1
            continue
        if dirty[at >> 6] & bit(at) == _NOUGHT:
            at += 1
            continue
        if steps >= limit:
            done = 0
            break
        if used + room > state[6]:
            done = 2
            break
        dirty[at >> 6] &= ~bit(at)
        c = np.int64(at_rank[at])
        at += 1
        mark += 1
        known = c < olds
        own = known and old_head[4 * c + OWNER] >> 1 == c
        count = find_successors(c, starts, cols, firsts, members, label, rank, seen, mark, found)
        cyclic = np.int64(seen[c] == mark)
        turned = known and cyclic != old_head[4 * c + OWNER] & 1
        steps += 4 + 2 * count + firsts[c + 1] - firsts[c]
        one = np.int64(-1)  # the successor that reaches all others
        if count > 0:
            one = np.int64(at_rank[found[count - 1]])
            for i in range(count - 1):
                if not leads_to(head, pool, one, np.int64(at_rank[found[i]])):
                    one = np.int64(-1)
                    break
        before = used
        owner = c
        if one >= 0:
            owner = one
            if head[4 * one + OWNER] >> 1 != one:
                used = own_row(head, pool, one, used, left, firsts)
                steps += (used - before) * 2
                before = used
            weight = head[4 * one + WEIGHT] + firsts[c + 1] - firsts[c]
        if one < 0:
            head[4 * c + OWNER] = 2 * c | cyclic
            if count == 0:
                left[0] = np.uint64(c) << _32 | np.uint64(c + 1)
                used += write_runs(left, 1, pool, used, head, c)
            else:
                used += unite_rows(
                    c, found, count, at_rank, head, pool, used, bits, left, right, extra, state
                )
            weight = weigh_row(head, pool, c, firsts, heavy)
            head[4 * c + WEIGHT] = weight
            steps += (used - before) * (2 + count)
        same = False
        if known:
            held = old_head[4 * c + OWNER] >> 1
            was = old_head[4 * held + WEIGHT]
            if not own:
                was += firsts[c + 1] - firsts[c]
            if was == weight:
                same = same_reach(old_head, head, pool, c, owner, left, right)
                steps += 16
        if same and own:  # the row it has is as good
            used = before
            for i in range(FIELDS):
                head[4 * c + i] = old_head[4 * c + i]
            head[4 * c + OWNER] = 2 * c | cyclic
            if turned:
                changed[many] = np.uint32(c)
                many += 1
            continue
        if owner != c:
            head[4 * c + OWNER] = 2 * owner | cyclic
            head[4 * c + AT] = 0
        if not same or turned:
            changed[many] = np.uint32(c)
            many += 1
        if follow and not same:
            for m in range(firsts[c], firsts[c + 1]):
                v = members[m]
                for e in range(back_starts[v], back_starts[v + 1]):
                    d = label[back_cols[e]]
                    if d != c:
                        place = np.int64(rank[d])
                        dirty[place >> 6] |= bit(place)
                steps += back_starts[v + 1] - back_starts[v]
    state[0] = at
    state[1] = used
    state[2] = mark
    state[3] = many
    return done
