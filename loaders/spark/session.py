"""The Spark session: the caller's, or one made here with settings for this work.

`make` starts a session, on this machine or on a cluster; `check` checks one that the caller made.
Nothing in this package uses the session's Java objects, its context or RDDs, so a session of Spark
Connect works too.

Memory. A task's Python worker holds a few batches of Arrow (`BATCH_ROWS` rows, some 10 MiB each)
and, for formats that cannot be cut, one file. This memory is outside of the executor's heap, in
`spark.executor.memoryOverhead` (here 40 % of the executor's memory, at least 512 MiB; Spark's
default of 10 % is too little for Python). The heap is for shuffles, which spill to disk: 1 GiB per
core of an executor is enough for any size of data, more is faster. The driver holds names of files
and parts, counts by range, and the schema triples where rules are read on Spark: 1 GiB.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from triplestore.errors import UsageError
from triplestore.loaders.spark import missing
from triplestore.loaders.spark.java import find_java, runs_on

BATCH_ROWS = 65_536
"""Rows per batch between Java and Python: large enough to make the transfer cheap."""

OLDEST = (3, 5)

WAREHOUSE = Path(tempfile.gettempdir()) / f"spark-warehouse-{uuid.uuid4().hex}"
"""The folder of named tables, by default in the working directory. The name cannot be guessed, so
other users cannot make the folder first."""

QUIET = Path(__file__).with_name("log4j2.properties")
"""Settings of Spark's log. Errors are raised as exceptions; the log would hide the progress."""


def pyspark_module() -> Any:
    """The module pyspark, or an error of one line that says how to install it.

    Also checks for the libraries that pyspark needs for Arrow, because pyspark itself would fail in
    the middle of a job.
    """
    try:
        import pandas  # noqa: F401 - only checked: pyspark refuses Arrow without it
        import pyarrow  # noqa: F401 - only checked
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
    """A session on `master` with the settings of this package; the running session, if any.

    master          -- `local[*]`, `spark://host:7077`, `yarn`, or `sc://host` for Spark Connect.
                       By default the master of spark-submit, else all cores of this machine.
    memory          -- memory of the driver (and of everything, if the master is local).
    executor_memory -- the heap of an executor; see above for its other memory.
    partitions      -- maximum number of parts of a shuffle; adaptive execution joins small ones.
    events          -- a folder for Spark's log of events, from which `metrics` reads the number of
                       shuffled bytes.
    options         -- any settings of Spark; they override the others.

    Stop it by `session.stop()`. Ctrl-C stops running jobs.
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
        _prepare_environment(pyspark.__version__)
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
        raise UsageError(f"{type(session).__name__} is not a SparkSession; use session.make")
    pyspark_module()
    _check_version(session.version)
    return session


def interrupt(session: Any) -> None:
    """Stop the session's jobs on Ctrl-C, where Spark does not.

    Spark 3.5 without Connect stops its jobs in its handler of the signal, in the main thread.
    """
    stop_all = getattr(session, "interruptAll", None)
    if stop_all is None:
        return
    with contextlib.suppress(Exception):  # we are stopping anyway
        stop_all()


@contextmanager
def settings(spark: Any, values: Mapping[str, str]) -> Iterator[None]:
    """Use other settings of the session for the duration of a `with` statement."""
    before = {name: spark.conf.get(name, None) for name in values}
    for name, value in values.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, known in before.items():
            if known is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, known)


def _check_version(version: str) -> None:
    numbers = tuple(int(part) for part in version.split(".")[:2])
    if numbers < OLDEST:
        raise UsageError(f"Spark {version} is too old: install 3.5 or later")


def _prepare_environment(version: str) -> None:
    """Find Java, and use this Python for the workers unless another is set."""
    java = find_java(version)
    if (java.home / "bin" / "java").exists():  # a script on PATH may be elsewhere
        os.environ.setdefault("JAVA_HOME", str(java.home))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)


def _runtime_settings(partitions: int | None, batch_rows: int) -> dict[str, str]:
    """The settings that any session takes, also one of the caller."""
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
    """The settings that must be set before the session starts."""
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
            f"Spark could not start Java ({os.environ.get('JAVA_HOME', 'from PATH')}); see the "
            f"lines above. {runs_on(pyspark_module().__version__)}: set JAVA_HOME to one of these"
        ) from None
