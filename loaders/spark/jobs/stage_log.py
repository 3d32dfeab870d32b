"""The log of a job's stages on Spark, for the user and for the report.

Start at `StageLog`: it is called at the end of each stage, writes a line to stderr, and keeps the
figures. On a terminal it shows the seconds of the running stage. It does not use Spark, so it works
with any session; the stages give the figures.
"""

from __future__ import annotations

import statistics
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TextIO


class StageLog:
    """Call it with a stage's name and figures; `stages` has all of them.

    Known figures: `rows`, `bytes`, `seconds`, `resumed` and `parts` (the rows of each partition, of
    which it keeps the skew). A call with `round` is a part of a stage that ends later, and whose
    time includes it. Other figures are kept if they are numbers or words.

    >>> import io
    >>> text = io.StringIO()
    >>> with StageLog(text, clock=iter([0, 2, 3, 4]).__next__) as log:
    ...     log("terms", {"rows": 3000, "parts": [1000, 2000, 1000]})
    >>> print(text.getvalue(), end="")
    terms             3,000 rows      2.0 s     1.5k/s  skew 2.0
    >>> log.stages[0]["skew"]
    2.0
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        quiet: bool = False,
        clock: Any = time.monotonic,
    ) -> None:
        self.stages: list[dict[str, Any]] = []
        self._stream = sys.stderr if stream is None else stream
        self._quiet = quiet
        self._clock = clock
        self._last = clock()
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._ticker: threading.Thread | None = None

    def __enter__(self) -> Self:
        if not self._quiet and self._stream.isatty():
            self._ticker = threading.Thread(target=self._tick, daemon=True)
            self._ticker.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        if self._ticker is not None:
            self._ticker.join()
            self._write("\r\x1b[K")

    def __call__(self, stage: str, figures: Mapping[str, Any]) -> None:
        """Note a stage that has ended."""
        now = self._clock()
        simple = {k: v for k, v in figures.items() if isinstance(v, str | int | float)}
        noted: dict[str, Any] = {"seconds": now - self._last, **simple, "stage": stage}
        noted["ended"] = time.time()
        parts = figures.get("parts")
        if parts:
            noted |= {"partitions": len(parts), "skew": skew(parts)}
        with self._lock:
            self._last = now
            self.stages.append(noted)
        if not self._quiet:
            self._write(("\r\x1b[K" if self._ticker else "") + line_of(noted) + "\n")

    def _tick(self) -> None:
        while not self._over.wait(0.5):
            with self._lock:
                waiting = self._clock() - self._last
                after = f"after {self.stages[-1]['stage']}, " if self.stages else ""
            self._write(f"\r\x1b[K... {after}{waiting:.0f} s")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def skew(parts: Sequence[int]) -> float:
    """The rows of the largest part divided by the median; 1.0 if all are equal.

    >>> skew([10, 10, 40]), skew([0, 0, 0]), skew([])
    (4.0, 1.0, 1.0)
    """
    if not parts or not any(parts):
        return 1.0
    return max(parts) / max(1, statistics.median(parts))


def line_of(stage: Mapping[str, Any]) -> str:
    """A stage in one line."""
    if stage.get("resumed"):
        return f"{stage['stage']:<14} done before"
    rows, seconds = stage.get("rows"), float(stage["seconds"])
    name = f"  round {stage['round']}" if "round" in stage else stage["stage"]
    counted = "" if rows is None else f"{rows:,} rows"
    cells = [f"{name:<10}", f"{counted:>16}", f"{seconds:8.1f} s"]
    if rows is not None:
        cells.append(f"{short(rows / seconds if seconds > 0 else 0.0):>8}/s")
    if "bytes" in stage:
        cells.append(f" {short(stage['bytes'])}B")
    if stage.get("skew", 1.0) >= 1.5:
        cells.append(f" skew {stage['skew']:.1f}")
    return " ".join(cells).rstrip()


def whole(stages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The stages without their rounds.

    >>> [each["seconds"] for each in whole([{"round": 1, "seconds": 2}, {"seconds": 3}])]
    [3]
    """
    return [stage for stage in stages if "round" not in stage]


def short(number: float) -> str:
    """A number in three digits.

    >>> short(0), short(1234), short(56_700_000)
    ('0', '1.23k', '56.7M')
    """
    for unit in ("", "k", "M", "G"):
        if number < 1000:
            return f"{number:.3g}{unit}"
        number /= 1000
    return f"{number:.3g}T"
