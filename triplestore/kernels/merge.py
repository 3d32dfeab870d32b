"""Merge two layers' rows: first a plan of the merge, then any number of columns by that plan.

Start at `plan_merge`. A plan has one byte per step: take a row of the older run, or of the newer
one, or of the newer one in place of an equal older one; a further bit says that the row is dropped.
The columns of the rows (keys, graph, status, count) are then copied by the plan, each at the speed
of memory. Always true: rows are distinct within each run; nothing is allocated here.
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

    old, new         : keys; the rows of name i are old[old_starts[i] : old_starts[i + 1]], sorted
    *_extra          : the third column of the rows, or empty if there is none *_status         : to
    drop rows whose (newest) status is 0; empty if none is to be dropped sizes            :
    i64[names], to which the rows kept of each name are added state            : i64[4], at first 0:
    the name, the rows of `old` and of `new` done so far, and after the
                       call the steps written; done when state[0] is the number of names
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
    """Copy one column by a plan, whose first step is at the first rows of `old` and `new`.

    Returns how many rows were written to `out`.
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
