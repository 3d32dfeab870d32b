"""Tells the C library to keep the memory of freed arrays for the next array.

Start at `keep_freed_memory`. Always true: only speed depends on it, and it does only what the C
library does by itself once a program has freed one array of 32 MB.

glibc maps every array over 128 KB anew and gives it back when it is freed, so that each page of
the next array is faulted in and cleared by the kernel again. The size from which it does so
follows the largest mapped array that was freed, up to 32 MB. Reasoning makes and drops hundreds
of arrays of some megabytes before it frees the first large one: closing LUBM-10 took 4,800 faults
instead of some 100, and 41 ms instead of 35.

Larger arrays are mapped anew each time, and numpy asks for pages of 2 MB for them. Where the memory
of the machine is in pieces, as after days of work on a virtual one, making such pages can take
longer than the work on them; with NUMPY_MADVISE_HUGEPAGE=0, set before Python starts, numpy uses
small ones.

    >>> keep_freed_memory()
"""

from __future__ import annotations

from functools import cache

import numpy as np

_LARGEST_KEPT = 32 << 20
"""Larger arrays are mapped whatever was freed before: the limit of glibc on 64-bit machines."""

_HEADER = 1 << 16
"""Room for what the allocator and numpy put beside the array."""


@cache
def keep_freed_memory() -> None:
    """Have freed arrays of up to 32 MB reused instead of given back; once for the process.

    The array is not touched, so this costs no memory, and 20 us. Afterwards the C library keeps up
    to 64 MB of freed memory. It has no effect on other C libraries (macOS, musl).
    """
    np.empty(_LARGEST_KEPT - _HEADER, np.uint8)  # freed at once, which is the point
