"""Masks: which rows of a run are in a set expression, by a truth table over their masks.

A mask is one byte per row, a bit per set; a table has 256 bytes, not 0 for the masks that pass.
"""

from __future__ import annotations

from triplestore.kernels.jit import kernel


@kernel("i64(u64r, u8r, u8r, u64w)")
def select_masked(keys, masks, table, out):
    """Write the keys whose mask passes to `out`, in their order; return how many.

    keys, masks : of one length, at most that of `out`
    Cost        : one pass without branches on the data
    """
    found = 0
    for row in range(keys.size):
        out[found] = keys[row]
        if table[masks[row]] != 0:
            found += 1
    return found
