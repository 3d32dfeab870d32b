"""Merge the rows of two layers: first a plan of the merge, then any number of columns by that plan.

Start at `plan_merge`. A plan has one byte per step: take a row of the older run, of the newer run,
or of the newer run in place of an equal older row; one more bit says that the row is dropped. The
columns of the rows (keys, graph, status, count) are then copied by the plan at the speed of memory.
`combine` merges two layers of some hundred rows in one call, as every commit needs. Always true:
rows are distinct within each run; nothing is allocated here.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import kernel

_OLD, _NEW, _BOTH, _DROP = np.uint8(0), np.uint8(1), np.uint8(2), np.uint8(4)
_GONE = np.uint8(0)


@kernel("void(u64r, u32r, u8r, i64r, u64r, u32r, u8r, i64r, u8w, i64w, i64w)")
def plan_merge(
    old,
    old_extra,
    old_status,
    old_starts,
    new,
    new_extra,
    new_status,
    new_starts,
    plan,
    sizes,
    state,
):
    """Write the next steps of the merge to `plan`, as many as fit.

    old, new : keys; the rows of name i are old[old_starts[i] : old_starts[i + 1]], sorted
    *_extra  : the third column of the rows, or empty
    *_status : to drop rows whose newest status is 0; empty if no row is dropped
    sizes    : i64[names], to which the number of kept rows of each name is added
    state    : i64[4], initially 0: the name and the rows of `old` and `new` done so far, and after
               the call the number of steps written; done when state[0] is the number of names
    """
    at, i, j = state[0], state[1], state[2]
    wide = old_extra.size > 0 and new_extra.size > 0
    step = 0
    while at < sizes.size:
        old_stop, new_stop = old_starts[at + 1], new_starts[at + 1]
        kept = 0
        while step < plan.size and (i < old_stop or j < new_stop):
            if j == new_stop:
                action = _OLD
            elif i == old_stop or old[i] > new[j]:
                action = _NEW
            elif old[i] < new[j]:
                action = _OLD
            elif wide and old_extra[i] != new_extra[j]:
                action = _OLD if old_extra[i] < new_extra[j] else _NEW
            else:
                action = _BOTH
            gone = False
            if action == _OLD:
                gone = old_status.size > 0 and old_status[i] == _GONE
                i += 1
            else:
                gone = new_status.size > 0 and new_status[j] == _GONE
                j += 1
                if action == _BOTH:
                    i += 1
            if gone:
                plan[step] = action | _DROP
            else:
                plan[step] = action
                kept += 1
            step += 1
        sizes[at] += kept
        if i < old_stop or j < new_stop:
            break
        at += 1
    state[0], state[1], state[2], state[3] = at, i, j, step


@kernel("i64(u8r, u64r, u64r, u64w)", "i64(u8r, u32r, u32r, u32w)", "i64(u8r, u8r, u8r, u8w)")
def merge_by_plan(plan, old, new, out):
    """Copy one column by a plan whose first step is at the first rows of `old` and `new`.

    Returns the number of rows written to `out`.
    """
    i = j = row = 0
    for k in range(plan.size):
        step = plan[k]
        if step == _OLD:
            out[row] = old[i]
            row += 1
            i += 1
        elif step == _NEW:
            out[row] = new[j]
            row += 1
            j += 1
        elif step == _BOTH:
            out[row] = new[j]
            row += 1
            i += 1
            j += 1
        else:
            action = step - _DROP
            if action != _NEW:
                i += 1
            if action != _OLD:
                j += 1
    return row


@kernel(
    "i64(u32r, i64r, u64r, u8r, u32r, i64r, i64r, u32r, i64r, u64r, u8r, u32r, i64r, i64r, b1, "
    "u32w, i64w, u64w, u8w, u32w, i64w, i64w)"
)
def combine(
    old_names,
    old_starts,
    old_keys,
    old_status,
    old_count,
    old_explicit,
    old_inferred,
    new_names,
    new_starts,
    new_keys,
    new_status,
    new_count,
    new_explicit,
    new_inferred,
    drop,
    names,
    starts,
    keys,
    status,
    count,
    explicit,
    inferred,
):
    """Merge two small orders of facts completely, with directories and nets; if `drop`, rows whose
    newest status is 0 and names without rows are left out. Returns the number of names.

    *_count : may be empty if all counts are 0; if both are empty, so is `count`
    """
    i = j = made = row = 0
    starts[0] = 0
    while i < old_names.size or j < new_names.size:
        has_old = i < old_names.size and (j == new_names.size or old_names[i] <= new_names[j])
        has_new = j < new_names.size and (i == old_names.size or new_names[j] <= old_names[i])
        a = a_stop = b = b_stop = 0
        explicit[made] = inferred[made] = 0
        if has_old:
            names[made] = old_names[i]
            a, a_stop = old_starts[i], old_starts[i + 1]
            explicit[made], inferred[made] = old_explicit[i], old_inferred[i]
            i += 1
        if has_new:
            names[made] = new_names[j]
            b, b_stop = new_starts[j], new_starts[j + 1]
            explicit[made] += new_explicit[j]
            inferred[made] += new_inferred[j]
            j += 1
        while a < a_stop or b < b_stop:
            if b == b_stop or (a < a_stop and old_keys[a] < new_keys[b]):
                keys[row], status[row] = old_keys[a], old_status[a]
                if count.size > 0:
                    count[row] = old_count[a] if old_count.size > 0 else np.uint32(0)
                a += 1
            else:
                if a < a_stop and old_keys[a] == new_keys[b]:
                    a += 1
                keys[row], status[row] = new_keys[b], new_status[b]
                if count.size > 0:
                    count[row] = new_count[b] if new_count.size > 0 else np.uint32(0)
                b += 1
            if not (drop and status[row] == _GONE):
                row += 1
        if row > starts[made]:
            made += 1
            starts[made] = row
    return made
