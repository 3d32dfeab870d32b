"""One job from a command line: its session, progress, report, and clear errors.

Start at `run`. Always true at its end, however the job ended: the report is written if one was
asked for; a session that was made here is stopped, an existing one is not; Ctrl-C stops running
jobs.
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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from triplestore.errors import StorageError, TripleStoreError
from triplestore.loaders.spark.jobs.report import report_of, write
from triplestore.loaders.spark.jobs.stage_log import StageLog
from triplestore.loaders.spark.session import interrupt, make, pyspark_module

TABLES = ("parquet", "orc", "delta", "iceberg")
"""Formats of tables of terms: whatever Spark reads with columns s, p, o and, if wanted, g."""


@dataclass(frozen=True, slots=True)
class SessionSetting:
    """How to get a session; see `session.make`."""

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
    """What `job` returns, which is given a session and whom to tell of its stages.

    asked   what the report says was asked for
    report  a file for the report; then Spark writes its log of events too, if it can be told to
    """
    result: Any = None
    failure: BaseException | None = None
    events = _folder_for_events(setting) if report is not None else None
    log = StageLog(quiet=quiet)
    version: str | None = None
    try:
        with no_word_of_pandas(), session_for(setting, events) as session, log, clear_errors():
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
    """What `import_dataset` takes as source and format for names on a command line."""
    if form not in TABLES:
        return list(names), form
    reader = session.read.format(form)
    return reader.load(names[0] if len(names) == 1 else list(names)), None


@contextmanager
def session_for(setting: SessionSetting, events: Path | None = None) -> Iterator[Any]:
    """The running session, or one that lives as long as the block.

    Ctrl-C: pyspark's own handler talks to Java in the middle of another call to it and fails, so
    for a session that is made here Python's handler is in force. The call that was interrupted
    never gets its answer, which spoils its thread's connection to Java: another thread cleans up.
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
def no_word_of_pandas() -> Iterator[None]:
    """pyspark warns of a pandas that is newer than it knows; nothing here calls pandas."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
        yield


@contextmanager
def python_handles_ctrl_c() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt, as it does without Spark."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are handled in the main thread only
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    # py4j writes a page about it, before it raises the same again.
    logs = [logging.getLogger(name) for name in (None, "py4j.clientserver", "py4j.java_gateway")]
    for log in logs:
        log.addFilter(_is_no_ctrl_c)
    try:
        yield
    finally:
        for log in logs:
            log.removeFilter(_is_no_ctrl_c)
        signal.signal(signal.SIGINT, before)


def _is_no_ctrl_c(record: logging.LogRecord) -> bool:
    """Whether a log record has nothing to do with the interrupt."""
    error = record.exc_info[1] if record.exc_info else None
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is None


def in_another_thread(action: Callable[[], object]) -> None:
    """Do it and wait some seconds at most: Spark may no longer answer."""
    thread = threading.Thread(target=action, daemon=True)
    thread.start()
    thread.join(timeout=30)


def _folder_for_events(setting: SessionSetting) -> Path | None:
    """Where Spark can write what it counts; None if it runs elsewhere or was set up before."""
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
    """Turn what Spark raises, a page of two languages, into one of our errors and one line."""
    try:
        yield
    except TripleStoreError:
        raise
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        raise StorageError(explained(str(error))) from error


def explained(text: str) -> str:
    """What a failure in Spark comes down to, in one line: the last cause that Java or Python names.

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
            "a task was lost with its worker more often than Spark tries again; the workers' logs "
            "say why (often too little memory: see --executor-memory)"
        )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"Spark failed: {lines[0] if lines else 'it does not say why'}"
