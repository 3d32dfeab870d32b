"""Merge sorted runs: first a plan of the merge, then any number of columns by that plan.

Start at `plan_keys`. A plan has one byte per row of the result: `OLD`, `NEW`, or `BOTH` where the
newer row replaces an older one. The columns of the rows (keys, status, count, graph) are then
copied by the plan, each at the speed of memory. Always true: rows are distinct within each run. A
call works on ranges of the runs, so that the caller decides how long it takes.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import kernel

OLD, NEW, BOTH = 0, 1, 2
_OLD, _NEW, _BOTH = np.uint8(0), np.uint8(1), np.uint8(2)


@kernel("i64(u64r, u64r, u8w)")
def plan_keys(old, new, plan):
    """Write the plan for two sorted runs of keys; return the number of rows of the result."""
    i = j = out = 0
    while i < old.size and j < new.size:
        if old[i] < new[j]:
            plan[out] = _OLD
            i += 1
        elif old[i] > new[j]:
            plan[out] = _NEW
            j += 1
        else:
            plan[out] = _BOTH
            i += 1
            j += 1
        out += 1
    while i < old.size:
        plan[out] = _OLD
        i += 1
        out += 1
    while j < new.size:
        plan[out] = _NEW
        j += 1
        out += 1
    return out


@kernel("i64(u64r, u32r, u64r, u32r, u8w)")
def plan_wide(old, old_extra, new, new_extra, plan):
    """`plan_keys` for rows of a key and one more column."""
    i = j = out = 0
    while i < old.size and j < new.size:
        if old[i] < new[j] or (old[i] == new[j] and old_extra[i] < new_extra[j]):
            plan[out] = _OLD
            i += 1
        elif old[i] == new[j] and old_extra[i] == new_extra[j]:
            plan[out] = _BOTH
            i += 1
            j += 1
        else:
            plan[out] = _NEW
            j += 1
        out += 1
    while i < old.size:
        plan[out] = _OLD
        i += 1
        out += 1
    while j < new.size:
        plan[out] = _NEW
        j += 1
        out += 1
    return out


@kernel("void(u8r, u64r, u64r, u64w)", "void(u8r, u32r, u32r, u32w)", "void(u8r, u8r, u8r, u8w)")
def merge_by_plan(plan, old, new, out):
    """Copy one column of two runs by their plan."""
    i = j = 0
    for row in range(plan.size):
        step = plan[row]
        if step == _OLD:
            out[row] = old[i]
            i += 1
        else:
            out[row] = new[j]
            j += 1
            if step == _BOTH:
                i += 1
