"""Spark's own counts, read from its log of events: bytes shuffled and spilled, rows by task.

Start at `read_events`. Only the log gives these numbers without the session's Java objects or web
pages: with `session.make(events=folder)` Spark writes it as lines of JSON; it is complete when the
session has stopped. A stage of ours is an interval of time, and a stage of Spark belongs to the
interval in which it was submitted (`by_stage`), so nothing has to be tagged.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

from triplestore.data_classes import data_class
from triplestore.loaders.spark.jobs.stage_log import skew

_FIGURES: tuple[str, ...] = (
    *("tasks", "failed", "run_seconds", "cpu_seconds", "gc_seconds", "read_bytes", "read_rows"),
    *("shuffled_bytes", "shuffled_rows", "spilled_bytes", "written_bytes"),
)


@data_class(frozen=False)
class SparkStage:
    """One stage of Spark: sums over its successful tasks."""

    stage: int
    name: str
    submitted: float = 0.0
    """Seconds since 1970."""
    tasks: int = 0
    failed: int = 0
    run_seconds: float = 0.0
    cpu_seconds: float = 0.0
    """Of the Java process; Python's time is only in `run_seconds`."""
    gc_seconds: float = 0.0
    read_bytes: int = 0
    read_rows: int = 0
    shuffled_bytes: int = 0
    """Bytes written for a shuffle; as many are read."""
    shuffled_rows: int = 0
    spilled_bytes: int = 0
    written_bytes: int = 0
    peak_task_bytes: int = 0
    """Maximum memory of one task for sorting, joining and grouping."""
    task_rows: list[int] = field(default_factory=list)
    """Rows that each task read or wrote to a shuffle, for the skew."""

    def as_dict(self) -> dict[str, Any]:
        """The fields as JSON, with the skew instead of the rows of each task."""
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
    except ValueError:  # the end of an unfinished log
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
    """Our stages, each with the sums over the stages of Spark that were submitted in it.

    ours  the stages of `StageLog`, in order, with the time of their end (`ended`)
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
