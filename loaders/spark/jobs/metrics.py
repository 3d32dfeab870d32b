"""What Spark itself counted, read from its log of events: bytes shuffled, spilled, rows by task.

Start at `read_events`. The log is the one way to these numbers that needs neither the session's
Java objects nor its web pages: `session.make(events=folder)` has Spark write it, as lines of JSON,
complete once the session is stopped. A stage of ours is a stretch of time, and Spark's stages
belong to that in which they were submitted (`by_stage`), so nothing has to be tagged.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from triplestore.loaders.spark.jobs.stage_log import skew

_FIGURES: tuple[str, ...] = (
    *("tasks", "failed", "run_seconds", "cpu_seconds", "gc_seconds", "read_bytes", "read_rows"),
    *("shuffled_bytes", "shuffled_rows", "spilled_bytes", "written_bytes"),
)


@dataclass(slots=True)
class SparkStage:
    """One stage of Spark's own: sums over its tasks that ended well."""

    stage: int
    name: str
    submitted: float = 0.0
    """Seconds since 1970."""
    tasks: int = 0
    failed: int = 0
    run_seconds: float = 0.0
    cpu_seconds: float = 0.0
    """Of the Java process; Python's work is in `run_seconds` only."""
    gc_seconds: float = 0.0
    read_bytes: int = 0
    read_rows: int = 0
    shuffled_bytes: int = 0
    """Written for a shuffle; as many are read, over the network where there is one."""
    shuffled_rows: int = 0
    spilled_bytes: int = 0
    written_bytes: int = 0
    peak_task_bytes: int = 0
    """The most memory that one task had for sorting, joining and grouping."""
    task_rows: list[int] = field(default_factory=list)
    """Rows that each task took in or gave to a shuffle, for the skew."""

    def as_dict(self) -> dict[str, Any]:
        """Fit for JSON, with the skew in place of the rows of each task."""
        found = asdict(self)
        found["skew"] = skew(found.pop("task_rows"))
        return found


def read_events(place: Path) -> list[SparkStage]:
    """The stages in a log: a file, or the newest file of a folder."""
    if place.is_dir():
        logs = [file for file in place.iterdir() if file.is_file()]
        if not logs:
            return []
        place = max(logs, key=lambda file: file.stat().st_mtime)
    stages: dict[int, SparkStage] = {}
    with place.open() as lines:
        for line in lines:
            _note(stages, line)
    return sorted(stages.values(), key=lambda stage: stage.stage)


def _note(stages: dict[int, SparkStage], line: str) -> None:
    if not line.startswith(
        ('{"Event":"SparkListenerTaskEnd"', '{"Event":"SparkListenerStageSubmitted"')
    ):
        return
    try:
        event = json.loads(line)
    except ValueError:  # the end of a log that is still being written
        return
    if "Stage Info" in event:
        info = event["Stage Info"]
        number = info["Stage ID"]
        stage = stages.setdefault(number, SparkStage(number, info.get("Stage Name", "")))
        stage.submitted = stage.submitted or info.get("Submission Time", 0) / 1000
        return
    stage = stages.setdefault(event["Stage ID"], SparkStage(event["Stage ID"], ""))
    if event["Task End Reason"]["Reason"] != "Success":
        stage.failed += 1
        return
    _add_task(stage, event.get("Task Metrics") or {})


def _add_task(stage: SparkStage, task: Mapping[str, Any]) -> None:
    shuffle = task.get("Shuffle Write Metrics", {})
    taken = task.get("Input Metrics", {})
    fetched = task.get("Shuffle Read Metrics", {})
    stage.tasks += 1
    stage.run_seconds += task.get("Executor Run Time", 0) / 1e3
    stage.cpu_seconds += task.get("Executor CPU Time", 0) / 1e9
    stage.gc_seconds += task.get("JVM GC Time", 0) / 1e3
    stage.read_bytes += taken.get("Bytes Read", 0)
    stage.read_rows += taken.get("Records Read", 0)
    stage.shuffled_bytes += shuffle.get("Shuffle Bytes Written", 0)
    stage.shuffled_rows += shuffle.get("Shuffle Records Written", 0)
    stage.spilled_bytes += task.get("Disk Bytes Spilled", 0)
    stage.written_bytes += task.get("Output Metrics", {}).get("Bytes Written", 0)
    stage.peak_task_bytes = max(stage.peak_task_bytes, task.get("Peak Execution Memory", 0))
    rows = taken.get("Records Read", 0) + fetched.get("Total Records Read", 0)
    stage.task_rows.append(max(rows, shuffle.get("Shuffle Records Written", 0)))


def by_stage(
    ours: Sequence[Mapping[str, Any]], theirs: Iterable[SparkStage]
) -> list[dict[str, Any]]:
    """Our stages, each with the sums over those stages of Spark's that were submitted in it.

    ours  as `StageLog` keeps them: what ended when (`ended`), in order
    """
    found = [dict(stage) for stage in ours]
    for stage in found:
        stage["spark"] = dict.fromkeys(_FIGURES, 0) | {
            "stages": 0,
            "skew": 1.0,
            "peak_task_bytes": 0,
        }
    for other in theirs:
        at = next((stage for stage in found if other.submitted <= stage["ended"]), None)
        if at is not None:
            _sum_up(at["spark"], other)
    return found


def _sum_up(sums: dict[str, Any], stage: SparkStage) -> None:
    sums["stages"] += 1
    for name in _FIGURES:
        sums[name] += getattr(stage, name)
    sums["skew"] = max(sums["skew"], skew(stage.task_rows))
    sums["peak_task_bytes"] = max(sums["peak_task_bytes"], stage.peak_task_bytes)
