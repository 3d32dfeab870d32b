"""The report of a job, as JSON: its arguments, its result, and its stages.

Start at `report_of`; `write` writes it to a file, completely or not.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

from triplestore._version import VERSION
from triplestore.loaders.spark.jobs.metrics import by_stage, read_events
from triplestore.loaders.spark.jobs.stage_log import whole

FORMAT = 1
"""The version of the report; it increases when a name changes its meaning."""


def report_of(
    asked: Mapping[str, Any],
    stages: Sequence[Mapping[str, Any]],
    *,
    result: Any = None,
    error: BaseException | None = None,
    spark: str | None = None,
    events: Path | None = None,
) -> dict[str, Any]:
    """The report as a dictionary; `error` if the job failed.

    asked   the arguments: source, target, options
    stages  the stages of `StageLog`
    result  the result of the job (a dataclass or a mapping)
    spark   the version of Spark
    events  Spark's log, for the bytes that each stage shuffled

    >>> report = report_of({"target": "a.db"}, [{"stage": "terms", "seconds": 1.5, "rows": 3}])
    >>> report["ok"], report["seconds"], report["stages"][0]["rows"]
    (True, 1.5, 3)
    """
    found = [dict(stage) for stage in stages]
    if events is not None:
        found = by_stage(found, read_events(events))
    for stage in found:
        stage.pop("ended", None)
    report: dict[str, Any] = {
        "report": FORMAT,
        "triplestore": VERSION,
        "python": platform.python_version(),
        "spark": spark,
        "written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "ok": error is None,
        "asked": dict(asked),
        "seconds": sum(float(stage.get("seconds", 0.0)) for stage in whole(found)),
        "stages": found,
    }
    if error is not None:
        report["error"] = {"kind": type(error).__name__, "message": str(error)}
    if result is not None:
        report["result"] = _plain(result)
    return report


def write(report: Mapping[str, Any], path: Path) -> None:
    """Write a report to a file; an earlier one is replaced in one step."""
    beside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    beside.write_text(json.dumps(report, indent=2, default=str) + "\n")
    beside.replace(path)


def _plain(result: Any) -> Any:
    """The result without its stages, which are elsewhere in the report."""
    if is_dataclass(result) and not isinstance(result, type):
        result = {name: value for name, value in asdict(result).items() if name != "stages"}
    return result if isinstance(result, dict | list) else str(result)
