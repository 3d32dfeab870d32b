"""The 128-bit hash of a term's key, by which rows find the ids of their terms on Spark.

Start reading at `hash_keys`. BLAKE2b, because collisions cannot be constructed, and because a
collision by chance among 2^32 terms has a probability of 10^-19; the dictionary stage looks for
collisions all the same. Costs about 0.7 microseconds for each distinct term of a task.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from triplestore.terms.spans import I64, U8

BITS = 128


def hash_keys(buf: U8, starts: I64, stops: I64, *, salt: int = 0, bits: int = BITS) -> I64:
    """The hashes of keys as rows of two 64-bit numbers; `buf[starts[i]:stops[i]]` is key i.

    salt  another one gives other hashes
    bits  how many are kept: fewer than 128 are for tests of what happens if hashes collide

    >>> two = hash_keys(np.frombuffer(b"aab", np.uint8), np.array([0, 1, 2]), np.array([1, 2, 3]))
    >>> bool((two[0] == two[1]).all()), bool((two[0] == two[2]).any())
    (True, False)
    """
    data = buf.tobytes()
    seed = salt.to_bytes(8, "little")
    places = zip(starts.tolist(), stops.tolist(), strict=True)
    digests = [blake2b(data[lo:hi], digest_size=16, salt=seed).digest() for lo, hi in places]
    hashes: NDArray[np.int64] = np.frombuffer(b"".join(digests), "<i8").reshape(-1, 2)
    if bits < BITS:
        low = np.int64((1 << min(bits, 63)) - 1)
        hashes = np.stack([hashes[:, 0] & low, np.zeros(len(hashes), np.int64)], axis=1)
    return hashes
