"""Random numbers that are the same on every machine and in every version of numpy.

Start at `rolls`. Number `i` of a stream depends on its seed and on `i` only (it is splitmix64, a
hash of a counter), so a longer stream begins with the shorter one, and any part can be made alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]

_STEP, _ONE, _TWO = (
    np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)
_30, _27, _31, _32 = (np.uint64(n) for n in (30, 27, 31, 32))


def rolls(seed: str, count: int, first: int = 0) -> U64:
    """`count` numbers of the stream of a seed, from number `first` on.

    >>> [int(n) for n in rolls("a", 2)], int(rolls("a", 1, first=1)[0])
    ([17360999193197444373, 15921256332710060186], 15921256332710060186)
    """
    value = np.arange(first + 1, first + count + 1, dtype=np.uint64) * _STEP + _start(seed)
    value = (value ^ (value >> _30)) * _ONE
    value = (value ^ (value >> _27)) * _TWO
    return value ^ (value >> _31)


def below(bound: int, seed: str, count: int, first: int = 0) -> I64:
    """As `rolls`, but numbers from 0 to `bound` - 1 (at most 2**32), all equally likely.

    >>> below(6, "dice", 10).tolist()
    [2, 1, 1, 2, 1, 3, 5, 3, 4, 2]
    """
    return ((rolls(seed, count, first) >> _32) * np.uint64(bound) >> _32).astype(np.int64)


def _start(seed: str) -> np.uint64:
    start = 0
    for byte in seed.encode():
        start = (start * 1_000_003 + byte + 1) % (1 << 64)
    return np.uint64(start)
