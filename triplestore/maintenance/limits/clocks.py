"""What work costs in time: without what others have had of the machine, and what comes only once.

Start reading at `clocks`. Two clocks are read, and the lesser is believed: so a machine that others
use as well does not look slow, and neither do several threads.
"""

from __future__ import annotations

import time
from typing import TypeAlias

from triplestore.kernels.jit import starting

Clocks: TypeAlias = tuple[float, float]
"""The time that has passed, and that the processor has worked for this program, in seconds."""

NEVER: Clocks = (float("inf"), float("inf"))
"""A time that does not come."""


def clocks() -> Clocks:
    """What both say now, not counting how long kernels were loaded: the first update of a process
    may wait several times as long for its kernels as it works (LUBM-1: 13 ms, then 2)."""
    passed, worked = starting()
    return time.perf_counter() - passed, time.process_time() - worked


def between(start: Clocks, end: Clocks) -> float:
    """What was done took so long: less than the time that passed where others had the processor,
    and less than the processor worked where there are several.

    >>> between((1.0, 5.0), (4.0, 7.0))
    2.0
    """
    return max(0.0, min(end[0] - start[0], end[1] - start[1]))


def over(limit: Clocks) -> bool:
    """Whether both clocks are past it.

    >>> over(NEVER), over((0.0, -1.0))
    (False, True)
    """
    if limit is NEVER:
        return False
    passed, worked = starting()  # the processor's clock is asked second: it costs six times as much
    return time.perf_counter() - passed > limit[0] and time.process_time() - worked > limit[1]
