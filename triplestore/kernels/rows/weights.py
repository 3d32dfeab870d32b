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
    last = np.uint64(heads[at - 1]) if at > 0 else np.uint64(0xFFFFFFFFFFFFFFFF)
    number = np.int64(0)
    for i in range(keys.size):
        head = keys[i] >> _32
        if head != last:
            if number > 0:
                counts[at - 1] += number
            heads[at] = np.uint32(head)
            counts[at] = 0
            at += 1
            last = head
            number = np.int64(0)
        number += 1
    if number > 0:
        counts[at - 1] += number
    return at


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
    at = 0
    n = 0
    for i in range(left.size):
        one = left[i]
        while at < right.size and right[at] < one:
            if how == 4:
                ids[n] = right[at]
                weights[n] = of_right[at]
                n += 1
            at += 1
        matches = at < right.size and right[at] == one
        weight = of_left[i]
        if how == 4:
            if matches:
                weight += of_right[at]
                at += 1
        elif matches:
            if how == 3:
                continue
            if how < 2:
                weight *= of_right[at]
        elif how == 0 or how == 2:
            continue
        ids[n] = one
        weights[n] = weight
        n += 1
    if how == 4:
        while at < right.size:
            ids[n] = right[at]
            weights[n] = of_right[at]
            n += 1
            at += 1
    return n


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
