"""One job from a command line: its session, progress, report, and clear errors.

Start at `run`. Always true at its end, also after a failure: the report is written if it is wanted;
a session that was made here is stopped, an existing one is not. Ctrl-C stops running jobs.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import field
from pathlib import Path
from typing import Any

from triplestore.data_classes import data_class
from triplestore.errors import StorageError, TripleStoreError
from triplestore.loaders.spark.jobs.report import report_of, write
from triplestore.loaders.spark.jobs.stage_log import StageLog
from triplestore.loaders.spark.session import interrupt, make, pyspark_module

TABLES = ("parquet", "orc", "delta", "iceberg")
"""Formats of tables with terms in the columns s, p, o and optionally g."""


@data_class
class SessionSetting:
    """The settings of a session; see `session.make`."""

    master: str | None = None
    memory: str = "1g"
    executor_memory: str | None = None
    partitions: int | None = None
    options: Mapping[str, str] = field(default_factory=dict)


def run(
    job: Callable[[Any, StageLog], Any],
    setting: SessionSetting,
    asked: Mapping[str, Any],
    *,
    report: Path | None = None,
    quiet: bool = False,
) -> Any:
    """Run `job` with a session and a log of stages; returns its result.

    asked   the arguments of the job, for the report
    report  a file for the report; then Spark also writes its log of events, if it can
    """
    result: Any = None
    failure: BaseException | None = None
    events = _folder_for_events(setting) if report is not None else None
    log = StageLog(quiet=quiet)
    version: str | None = None
    try:
        with without_pandas_warning(), session_for(setting, events) as session, log, clear_errors():
            version = str(session.version)
            result = job(session, log)
    except BaseException as error:
        failure = error
        raise
    finally:
        if report is not None:
            made = report_of(
                asked, log.stages, result=result, error=failure, spark=version, events=events
            )
            write(made, report)
        if events is not None:
            shutil.rmtree(events, ignore_errors=True)
    return result


def source_of(session: Any, names: Sequence[str], form: str | None) -> tuple[Any, str | None]:
    """The source and format of `import_dataset` for names on a command line."""
    if form not in TABLES:
        return list(names), form
    reader = session.read.format(form)
    return reader.load(names[0] if len(names) == 1 else list(names)), None


@contextmanager
def session_for(setting: SessionSetting, events: Path | None = None) -> Iterator[Any]:
    """The running session, or one that ends with the block.

    Ctrl-C: pyspark's handler calls Java in the middle of another call and fails, so Python's
    handler is used for a session that is made here. The interrupted call never gets its answer, so
    its thread can no longer use the connection to Java: another thread cleans up.
    """
    builder = pyspark_module().sql.SparkSession
    running = builder.getActiveSession()
    session = running or make(
        setting.master,
        memory=setting.memory,
        executor_memory=setting.executor_memory,
        partitions=setting.partitions,
        events=events,
        options=setting.options,
    )
    with python_handles_ctrl_c() if running is None else nullcontext():
        try:
            yield session
        except KeyboardInterrupt:
            in_another_thread(lambda: interrupt(session))
            raise
        finally:
            if running is None:
                in_another_thread(session.stop)


@contextmanager
def without_pandas_warning() -> Iterator[None]:
    """Hide pyspark's warning about newer versions of pandas, which is not called here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
        yield


@contextmanager
def python_handles_ctrl_c() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt, as it does without Spark."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread handles signals
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    # py4j logs a page about the interrupt before it raises it again.
    logs = [logging.getLogger(name) for name in (None, "py4j.clientserver", "py4j.java_gateway")]
    for log in logs:
        log.addFilter(_is_unrelated_to_ctrl_c)
    try:
        yield
    finally:
        for log in logs:
            log.removeFilter(_is_unrelated_to_ctrl_c)
        signal.signal(signal.SIGINT, before)


def _is_unrelated_to_ctrl_c(record: logging.LogRecord) -> bool:
    """Whether a log record is not about the interrupt."""
    error = record.exc_info[1] if record.exc_info else None
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is None


def in_another_thread(action: Callable[[], object]) -> None:
    """Call `action` and wait at most 30 seconds: Spark may no longer answer."""
    thread = threading.Thread(target=action, daemon=True)
    thread.start()
    thread.join(timeout=30)


def _folder_for_events(setting: SessionSetting) -> Path | None:
    """A folder for Spark's log; None if Spark runs elsewhere or was configured before."""
    if "PYSPARK_GATEWAY_PORT" in os.environ or (setting.master or "").startswith("sc://"):
        return None
    return Path(tempfile.mkdtemp(prefix="triplestore-events-"))


# --- errors -------------------------------------------------------------------------------------

_ERROR = re.compile(
    r"^(?:Caused by: )?(?P<kind>[A-Za-z_][\w.]*(?:Error|Exception)): (?P<message>.+)$", re.M
)
_PLAIN = ("OSError", "IOException", "ParseError", "StorageError")
_LOST = re.compile(r"ExecutorLostFailure|Lost executor|Master removed our application")


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn Spark's exceptions, pages of Java and Python, into errors of one line."""
    try:
        yield
    except TripleStoreError:
        raise
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        raise StorageError(explained(str(error))) from error


def explained(text: str) -> str:
    """A failure of Spark in one line: the last cause that Java or Python names.

    >>> explained("Job aborted\\nTraceback ...\\nOSError: [Errno 28] No space left on device\\n at")
    'a task on Spark failed: [Errno 28] No space left on device'
    """
    last = next(iter(reversed(list(_ERROR.finditer(text)))), None)
    if last is not None and not _LOST.search(last["message"]):
        kind = last["kind"].rpartition(".")[2]
        named = "" if kind in _PLAIN else f"{kind}: "
        return f"a task on Spark failed: {named}{last['message'].strip()}"
    if _LOST.search(text):
        return (
            "a task was lost with its worker too often; see the workers' logs for the reason "
            "(often too little memory: see --executor-memory)"
        )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"Spark failed: {lines[0] if lines else 'it gave no reason'}"
