"""Cut a long array of keys into ranges that are sorted separately, each in a few milliseconds.

`bucket_of` finds the range of each key and counts them, `place_keys` moves the keys there. Always
true: the keys of a bucket lie between two splitters, so the sorted buckets, one after the other,
are the sorted array. Costs about 3 ns per key for 128 splitters, plus 3 ns to move it.
"""

from __future__ import annotations

import numpy as np

from triplestore.kernels.jit import kernel


@kernel("void(u64r, u64r, u32w, i64w)")
def bucket_of(keys, splitters, buckets, counts):
    """Write to `buckets` the number of splitters <= each key; add to the counts of buckets.

    splitters : sorted, 2^k - 1 of them. counts : i64[2^k].

    All keys take one step of their binary searches, then all take the next one. This has no branch
    to mispredict and compiles to vector instructions (10 times faster than key by key).
    """
    one = np.uint64(1)
    for i in range(keys.size):
        buckets[i] = 0
    step = np.uint64((splitters.size + 1) >> 1)
    while step > 0:
        for i in range(keys.size):
            at = np.uint64(buckets[i])
            after = np.uint64(splitters[at + step - one] <= keys[i])
            buckets[i] = np.uint32(at + step * after)
        step >>= one
    for i in range(keys.size):
        counts[buckets[i]] += 1


@kernel("void(u64r, u32r, i64w, u64w)")
def place_keys(keys, buckets, cursors, out):
    """Write each key at the cursor of its bucket, and advance the cursor."""
    for i in range(keys.size):
        place = cursors[buckets[i]]
        cursors[buckets[i]] = place + 1
        out[place] = keys[i]
