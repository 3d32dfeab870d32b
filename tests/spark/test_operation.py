"""A job's lines on stderr, its report, its errors, and the packaged code, without Spark."""

from __future__ import annotations

import io
import json
import logging
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from triplestore.cli import main
from triplestore.errors import StorageError, UsageError
from triplestore.loaders.spark.jobs import packaging, run_job, unpacking
from triplestore.loaders.spark.jobs.metrics import by_stage, read_events
from triplestore.loaders.spark.jobs.report import report_of, write
from triplestore.loaders.spark.jobs.stage_log import StageLog


def ticking(*seconds: float) -> Any:
    return iter(seconds).__next__


def test_stage_log__a_stage_that_was_done_before_has_no_rate() -> None:
    text = io.StringIO()
    log = StageLog(text, clock=ticking(0, 1, 5))
    log("terms", {"rows": 10, "resumed": True, "seconds": 0.01})
    log("triples", {"rows": 8, "counts": {"large": []}, "parts": [0, 0, 8]})
    assert text.getvalue().splitlines()[0].split() == ["terms", "done", "before"]
    assert log.stages[0]["resumed"] is True
    assert log.stages[1]["seconds"] == 4
    assert log.stages[1]["skew"] == 8 and log.stages[1]["partitions"] == 3
    assert "counts" not in log.stages[1]


def test_stage_log__rounds_are_parts_of_their_stage() -> None:
    text = io.StringIO()
    log = StageLog(text, clock=ticking(0, 2, 5))
    log("closure", {"round": 1, "rows": 10, "seconds": 2.0})
    log("closure", {"rows": 30, "seconds": 5.0})
    assert [line.split()[0] for line in text.getvalue().splitlines()] == ["round", "closure"]
    assert report_of({}, log.stages)["seconds"] == 5.0


def test_stage_log__quiet_keeps_all_and_says_nothing() -> None:
    text = io.StringIO()
    with StageLog(text, quiet=True) as log:
        log("terms", {"rows": 10})
    assert text.getvalue() == ""
    assert [stage["stage"] for stage in log.stages] == ["terms"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_stage_log__on_a_terminal_leaves_nothing_half_written() -> None:
    text = Terminal()
    with StageLog(text) as log:
        log("terms", {"rows": 10, "seconds": 1.0})
    assert text.getvalue().endswith("\r\x1b[K")
    assert "terms" in text.getvalue()


def event(kind: str, **fields: Any) -> str:
    return json.dumps({"Event": f"SparkListener{kind}", **fields}, separators=(",", ":"))


def task(stage: int, rows: int, shuffled: int, reason: str = "Success") -> str:
    metrics = {
        "Executor Run Time": 1500,
        "Executor CPU Time": 10**9,
        "Peak Execution Memory": rows,
        "Input Metrics": {"Bytes Read": 7, "Records Read": rows},
        "Shuffle Write Metrics": {"Shuffle Bytes Written": shuffled},
    }
    end = {"Reason": reason}
    fields = {"Stage ID": stage, "Task End Reason": end, "Task Metrics": metrics}
    return event("TaskEnd", **fields)


def submitted(stage: int, at: float) -> str:
    info = {"Stage ID": stage, "Stage Name": "scan", "Submission Time": int(at * 1000)}
    return event("StageSubmitted", **{"Stage Info": info})


def test_metrics__are_summed_by_stage_of_ours(tmp_path: Path) -> None:
    lines = [submitted(0, 10.0), task(0, 100, 5), task(0, 300, 5), task(0, 9, 9, "ExecutorLost")]
    lines += [submitted(1, 25.0), task(1, 10, 1), event("Other"), '{"Event":"SparkListenerTaskEnd"']
    (tmp_path / "log").write_text("\n".join(lines))
    found = read_events(tmp_path)
    assert [stage.tasks for stage in found] == [2, 1]
    assert found[0].failed == 1
    ours = [{"stage": "read", "ended": 20.0}, {"stage": "terms", "ended": 30.0}]
    read, terms = (stage["spark"] for stage in by_stage(ours, found))
    assert (read["shuffled_bytes"], read["read_rows"], read["read_bytes"]) == (10, 400, 14)
    assert read["run_seconds"] == 3.0 and read["peak_task_bytes"] == 300
    assert read["skew"] == 1.5 and read["failed"] == 1
    assert terms["shuffled_bytes"] == 1 and terms["stages"] == 1


def test_metrics__of_no_log_are_none(tmp_path: Path) -> None:
    assert read_events(tmp_path) == []


def test_report__of_a_failure_says_which_and_how_far_it_came(tmp_path: Path) -> None:
    stages = [{"stage": "terms", "seconds": 2.0, "rows": 3, "ended": 5.0}]
    report = report_of({"target": "x"}, stages, error=StorageError("no room"), spark="4.1.4")
    path = tmp_path / "report.json"
    path.write_text("of before")
    write(report, path)
    read = json.loads(path.read_text())
    assert read["ok"] is False and read["spark"] == "4.1.4"
    assert read["error"] == {"kind": "StorageError", "message": "no room"}
    assert read["stages"] == [{"stage": "terms", "seconds": 2.0, "rows": 3}]
    assert [file.name for file in tmp_path.iterdir()] == ["report.json"]


TASK_FAILED = """Job aborted due to stage failure: Task 1 in stage 0.0 failed 4 times
org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "worker.py", line 1, in main
triplestore.errors.ParseError: part.nt:3:7: expected '.'

\tat org.apache.spark.api.python.BasePythonRunner.handlePythonException(PythonRunner.scala:645)
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (TASK_FAILED, "a task on Spark failed: part.nt:3:7: expected '.'"),
        (
            "x.SparkException: Job\n\tat y\nCaused by: java.io.IOException: No space left\n\tat z",
            "a task on Spark failed: No space left",
        ),
        ("...\nValueError: what\n\tat x", "a task on Spark failed: ValueError: what"),
        ("Aborted: ExecutorLostFailure (executor 1 exited)", "a task was lost with its worker"),
        (
            "o.a.SparkException: Job aborted: ExecutorLostFailure (executor 1 exited)\n\tat x",
            "a task was lost with its worker",
        ),
        ("\n[PATH_NOT_FOUND] Path does not exist: x.\nJVM ...", "Spark failed: [PATH_NOT_FOUND]"),
        ("", "Spark failed: it gave no reason"),
    ],
)
def test_explained__is_one_line(text: str, line: str) -> None:
    assert run_job.explained(text).startswith(line)
    assert "\n" not in run_job.explained(text)


def test_clear_errors__leaves_ours_and_bugs_as_they_are() -> None:
    for error in (UsageError("mine"), AssertionError("a bug")):
        with pytest.raises(type(error)), run_job.clear_errors():
            raise error


@pytest.fixture
def others_handler() -> Iterator[Any]:
    """A handler of Ctrl-C as pyspark leaves one behind."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals are handled in the main thread only")

    def handler(number: int, frame: Any) -> None:
        raise AssertionError("the other handler was called")

    before = signal.signal(signal.SIGINT, handler)
    yield handler
    signal.signal(signal.SIGINT, before)


def test_ctrl_c__is_pythons_while_a_job_runs_and_the_others_after_it(others_handler: Any) -> None:
    with pytest.raises(KeyboardInterrupt), run_job.python_handles_ctrl_c():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is others_handler


def test_run__says_nothing_of_pandas() -> None:
    with pytest.warns(FutureWarning) as caught, run_job.without_pandas_warning():
        warnings.warn("PySpark does not yet fully support pandas >= 3", FutureWarning, stacklevel=1)
        warnings.warn("something else", FutureWarning, stacklevel=1)
    assert [str(warning.message) for warning in caught] == ["something else"]


def test_ctrl_c__that_a_library_logs_is_not_shown(
    others_handler: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """As py4j does, in the call that is interrupted."""
    with pytest.raises(KeyboardInterrupt), run_job.python_handles_ctrl_c():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            logging.exception("KeyboardInterrupt while sending command.")
            raise
    logging.error("something else")
    assert "KeyboardInterrupt" not in capsys.readouterr().err


def test_ctrl_c__is_left_alone_in_other_threads(others_handler: Any) -> None:
    seen: list[Any] = []

    def look() -> None:
        with run_job.python_handles_ctrl_c():
            seen.append(signal.getsignal(signal.SIGINT))

    run_job.in_another_thread(look)
    assert seen == [others_handler]


def test_import__without_pyspark_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    result = CliRunner().invoke(main, ["import", "-l", str(tmp_path / "db"), "x.nt"])
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "pip install 'entailstore[spark]'" in result.stderr


def test_import__a_setting_without_value_is_refused(tmp_path: Path) -> None:
    command = ["import", "-l", str(tmp_path / "db"), "x.nt", "--conf", "spark.ui.enabled"]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 2
    assert "is not KEY=VALUE" in result.stderr


def test_pull__of_nothing_is_one_line(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    target = tmp_path / "x.db"
    result = CliRunner().invoke(main, ["pull", str(tmp_path / "nowhere"), str(target)])
    assert result.exit_code == 1
    assert result.stderr.startswith("triplestore: ") and result.stderr.count("\n") == 1
    assert not target.exists()


# --- the package as one file --------------------------------------------------------------------

# A Python that does not see the installed package, and imports from the zip.
ISOLATED = """
import sys
sys.meta_path = [f for f in sys.meta_path if "editable" not in repr(f).lower()]
sys.path = [sys.argv[1], *(p for p in sys.path if p not in ("", sys.argv[2]))]
import triplestore
from triplestore import Store
from triplestore.loaders.spark.jobs import stage_log
store = Store()
store.load("<http://e/a> <http://e/b> 1 .", "ttl")
print(len(store), triplestore.__file__, stage_log.__file__)
"""


def test_package__works_from_the_zip_and_unpacks_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, program = packaging.write_all(tmp_path / "job")
    compile(program.read_text(), str(program), "exec")
    monkeypatch.setenv("TRIPLESTORE_CACHE", str(tmp_path / "cache"))
    repository = str(Path(__file__).resolve().parents[2])
    said = []
    for _ in range(2):
        command = [sys.executable, "-c", ISOLATED, str(archive), repository]
        run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
        assert run.returncode == 0, run.stderr
        said.append(run.stdout.split())
    assert said[0] == said[1]
    assert said[0][0] == "1"
    assert all(str(tmp_path / "cache" / "package-") in place for place in said[0][1:])
    assert len(list((tmp_path / "cache").glob("package-*"))) == 1


def test_package__is_the_same_bytes_and_has_every_module(tmp_path: Path) -> None:
    one, two = packaging.package(tmp_path / "1.zip"), packaging.package(tmp_path / "2.zip")
    assert one.read_bytes() == two.read_bytes()
    names = set(zipfile.ZipFile(one).namelist())
    for module in ("__init__", "kernels/jit", "loaders/spark/jobs/run_job", "ontologies/__init__"):
        assert f"{packaging.PAYLOAD}triplestore/{module}.py" in names
    assert f"{packaging.PAYLOAD}triplestore/loaders/spark/log4j2.properties" in names
    ready = {name for name in names if not name.startswith(packaging.PAYLOAD)}
    assert ready == {"triplestore/__init__.py", "triplestore/private_folder.py"}


def test_unpack__when_another_process_is_faster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes find no folder; one makes it while the other unpacks."""
    archive = packaging.package(tmp_path / "x.zip")
    monkeypatch.setenv("TRIPLESTORE_CACHE", str(tmp_path / "cache"))
    make = tempfile.mkdtemp

    def slowly(**options: Any) -> str:
        monkeypatch.setattr(tempfile, "mkdtemp", make)
        others.append(unpacking.unpack(archive, "c0ffee"))
        return make(**options)

    others: list[Path] = []
    monkeypatch.setattr(tempfile, "mkdtemp", slowly)
    assert [unpacking.unpack(archive, "c0ffee")] == others
    assert (others[0] / "triplestore" / "__init__.py").is_file()
    assert [file.name for file in (tmp_path / "cache").iterdir()] == ["package-c0ffee"]
