"""The Spark session: one that is passed in, or one made here with settings that suit this work.

`make` starts one, on this machine or on a cluster; `check` checks one that the caller made. Nothing
in this package uses the session's Java objects, its context or RDDs, so a session of Spark Connect
works as well.

Memory. A task's Python worker holds a few batches of Arrow (`BATCH_ROWS` rows, some 10 MiB each)
and, for formats that cannot be cut, one file: this lies outside the heap of the executor, in
`spark.executor.memoryOverhead` (here 40 % of the executor's memory, at least 512 MiB; Spark's own
default is 10 %, too little for Python). The heap serves shuffles, which spill to disk: 1 GiB for
each core of an executor is enough for any size of data, more is faster. The driver holds names of
files and parts, counts by range, and the schema triples where rules are read on Spark: 1 GiB.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from triplestore.errors import UsageError
from triplestore.loaders.spark import missing
from triplestore.loaders.spark.java import find_java

BATCH_ROWS = 65_536
"""Rows per batch between Java and Python: large enough to make the transfer cheap."""

OLDEST = (3, 5)

WAREHOUSE = Path(tempfile.gettempdir()) / f"spark-warehouse-{uuid.uuid4().hex}"
"""Spark makes such a folder when tables are named, by default in the working directory. The name
cannot be guessed, or another user could make the folder first."""

QUIET = Path(__file__).with_name("log4j2.properties")
"""Errors are raised as exceptions; Spark's own log would bury the progress."""


def pyspark_module() -> Any:
    """The module pyspark, or an error of one line that says how to get it.

    Also checks for the libraries that pyspark needs for Arrow and would miss in the middle of a
    job.
    """
    try:
        import pandas  # noqa: F401 - looked for only: pyspark refuses Arrow without it
        import pyarrow  # noqa: F401 - likewise
        import pyspark
    except ImportError as error:
        raise missing(error) from None
    _check_version(pyspark.__version__)
    return pyspark


def make(
    master: str | None = None,
    *,
    name: str = "triplestore",
    memory: str = "1g",
    executor_memory: str | None = None,
    partitions: int | None = None,
    batch_rows: int = BATCH_ROWS,
    events: Path | None = None,
    options: Mapping[str, str] | None = None,
) -> Any:
    """A session on `master` with the settings this package needs; the running session, if any.

    master          -- `local[*]`, `spark://host:7077`, `yarn`, or `sc://host` for Spark Connect.
                       By default what spark-submit was given, else all cores of this machine.
    memory          -- of the driver (and of all, where the master is local).
    executor_memory -- the heap of an executor; see the module for what else it needs.
    partitions      -- how many parts a shuffle makes at most; adaptive execution joins small ones.
    events          -- a folder for Spark's own log of events, from which `metrics` reads the bytes
                       that were shuffled.
    options         -- any settings of Spark, which win over all of these.

    Stop it by `session.stop()` when you are done. Ctrl-C stops the jobs that run.
    """
    pyspark = pyspark_module()
    builder = pyspark.sql.SparkSession.builder.appName(name)
    if master is not None and master.startswith("sc://"):
        return check(
            _configured(builder.remote(master), _runtime_settings(partitions, batch_rows), options)
        )
    settings = _runtime_settings(partitions, batch_rows)
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    if not submitted:
        _prepare_environment()
        builder = builder.master(master or "local[*]")
        settings |= _static_settings(master or "local[*]", memory, executor_memory)
    elif master is not None:
        builder = builder.master(master)
    if events is not None:
        settings |= _event_settings(events)
    return check(_configured(builder, settings, options))


def check(session: Any) -> Any:
    """The session, after a check that this package can work with it."""
    if not hasattr(session, "createDataFrame"):
        raise UsageError(f"not a SparkSession: {type(session).__name__}; see session.make")
    pyspark_module()
    _check_version(session.version)
    return session


def interrupt(session: Any) -> None:
    """Stop the session's jobs; for Ctrl-C, where Spark does not do it by itself.

    Spark 3.5 without Connect stops its jobs in its own handler of the signal, in the main thread.
    """
    stop_all = getattr(session, "interruptAll", None)
    if stop_all is None:
        return
    with contextlib.suppress(Exception):  # we are stopping: there is nothing better to do
        stop_all()


def _check_version(version: str) -> None:
    numbers = tuple(int(part) for part in version.split(".")[:2])
    if numbers < OLDEST:
        raise UsageError(f"Spark {version} is too old: 3.5 or later is needed")


def _prepare_environment() -> None:
    """Find Java, and use this Python for the workers unless another one is set."""
    java = find_java()
    os.environ.setdefault("JAVA_HOME", str(java.home))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)


def _runtime_settings(partitions: int | None, batch_rows: int) -> dict[str, str]:
    """What can be set in any session, also in one of the caller."""
    settings = {
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(batch_rows),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "true",
    }
    if partitions is not None:
        settings["spark.sql.shuffle.partitions"] = str(partitions)
    return settings


def _static_settings(master: str, memory: str, executor_memory: str | None) -> dict[str, str]:
    """What has to be set before the session starts."""
    settings = {
        "spark.driver.memory": memory,
        "spark.executor.memoryOverheadFactor": "0.4",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.warehouse.dir": WAREHOUSE.as_uri(),
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={QUIET.as_uri()}",
    }
    if executor_memory is not None:
        settings["spark.executor.memory"] = executor_memory
    if master.startswith("local"):
        settings["spark.ui.enabled"] = "false"
    return settings


def _event_settings(folder: Path) -> dict[str, str]:
    folder.mkdir(parents=True, exist_ok=True)
    return {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": folder.resolve().as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
    }


def _configured(
    builder: Any, settings: Mapping[str, str], options: Mapping[str, str] | None
) -> Any:
    for key, value in {**settings, **(options or {})}.items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except Exception as error:
        if "JAVA_GATEWAY_EXITED" not in str(error):
            raise
        raise UsageError(
            f"Spark could not start Java ({os.environ.get('JAVA_HOME')}): the lines above say why; "
            f"Spark 4 runs on Java 17 and 21, so set JAVA_HOME to one of these"
        ) from None
