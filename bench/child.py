"""Run one measurement and print its result: `python -m bench.child MODULE:FUNCTION ARGUMENTS`.

The parent (harness.py) starts one child for every run, so that no run inherits warm caches, a grown
heap or a peak of memory from another.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any


class Clock:
    """Wall and CPU seconds of named parts of a run."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            self.seconds[f"{name} s"] = time.perf_counter() - wall
            self.seconds[f"{name} cpu s"] = time.process_time() - cpu


def peak_bytes() -> int:
    """The peak of resident memory of this process.

    Linux's ru_maxrss begins at the value of the parent; VmHWM begins at zero.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def main() -> None:
    module, _, function = sys.argv[1].partition(":")
    arguments: dict[str, Any] = json.loads(sys.argv[2])
    found: dict[str, Any] = getattr(import_module(module), function)(**arguments)
    found["peak bytes"] = peak_bytes()
    print("\n" + json.dumps(found))


if __name__ == "__main__":
    main()
