"""Sorted distinct ids with a number each: how many solutions of a pattern have that id.

`count_runs` and `sum_runs` make them of the sorted rows of a relation (`add_runs` of those of
many), `join_weights` joins two of them. Always true: ids are sorted and distinct; sums and products
fit, which callers check before.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import kernel

_32 = np.uint64(32)


@kernel("i64(u64r, i64, u32w, i64w)")
def count_runs(keys, at, heads, counts):
    """Write each first id of sorted keys and its number of keys; return the number of ids.

    at : the number of ids that earlier calls wrote; the last of them may continue
    """
    if keys.size == 0:
        return at
    head = keys[0] >> _32
    done = np.int64(0)  # keys that are counted
    if at > 0 and np.uint64(heads[at - 1]) == head:
        at -= 1
        done = -counts[at]
    place = np.uint64(at)
    for i in range(keys.size - 1):  # without branches: where runs end cannot be predicted
        following = keys[i + 1] >> _32
        heads[place] = np.uint32(head)
        counts[place] = i + 1
        place += np.uint64(following != head)
        head = following
    heads[place] = np.uint32(head)
    counts[place] = keys.size
    stop = np.int64(place) + 1
    for i in range(at, stop):
        end = counts[i]
        counts[i] = end - done
        done = end
    return stop


@kernel("i64(u64r, i64r, i64, u32w, i64w)")
def sum_runs(keys, dense, at, heads, sums):
    """The same with the sum of `dense[second id]` instead of the number; ids without one are left
    out. Second ids beyond `dense` have none."""
    last = np.uint64(heads[at - 1]) if at > 0 else np.uint64(0xFFFFFFFFFFFFFFFF)
    for i in range(keys.size):
        second = np.int64(np.uint32(keys[i]))
        if second >= dense.size:
            continue
        weight = dense[second]
        if weight == 0:
            continue
        head = keys[i] >> _32
        if head != last:
            heads[at] = np.uint32(head)
            sums[at] = 0
            at += 1
            last = head
        sums[at - 1] += weight
    return at


@kernel("i64(u32r, i64r, u32r, i64r, i64, u32w, i64w)")
def join_weights(left, of_left, right, of_right, how, ids, weights):
    """Join two tables of ids; return the number of ids written.

    how : 0 an inner join, 1 a left, 2 a semi-, 3 an anti-join, 4 a union of all rows
    """
    one = np.uint64(1)  # places are unsigned: numba would test whether they are negative
    i = np.uint64(0)
    at = np.uint64(0)
    n = np.uint64(0)
    top = np.uint64(left.size)
    end = np.uint64(right.size)
    while i < top and at < end:
        if left[i] == right[at]:
            if how != 3:
                ids[n] = left[i]
                weights[n] = of_left[i]
                if how < 2:
                    weights[n] *= of_right[at]
                elif how == 4:
                    weights[n] += of_right[at]
                n += one
            i += one
            at += one
        elif left[i] < right[at]:
            if how == 1 or how > 2:
                ids[n] = left[i]
                weights[n] = of_left[i]
                n += one
            i += one
        else:
            if how == 4:
                ids[n] = right[at]
                weights[n] = of_right[at]
                n += one
            at += one
    if how == 1 or how > 2:
        while i < top:
            ids[n] = left[i]
            weights[n] = of_left[i]
            n += one
            i += one
    if how == 4:
        while at < end:
            ids[n] = right[at]
            weights[n] = of_right[at]
            n += one
            at += one
    return np.int64(n)


@kernel("i64(u64r, i64w)")
def add_runs(keys, dense):
    """Add the number of keys of each first id to its place in `dense`; return that of all."""
    if keys.size == 0:
        return 0
    head = keys[0] >> _32
    start = 0
    for i in range(1, keys.size):
        one = keys[i] >> _32
        if one != head:
            dense[np.int64(head)] += i - start
            head = one
            start = i
    dense[np.int64(head)] += keys.size - start
    return keys.size
