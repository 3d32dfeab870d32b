"""Workers without the package: an error of one line before the job starts."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from tests.spark.conftest import REPOSITORY
from tests.support.spark_cluster import linked_home
from triplestore.errors import UsageError
from triplestore.loaders.spark.jobs import check_workers as module
from triplestore.loaders.spark.jobs.check_workers import check_workers

ENTRY = "from triplestore.cli import main; main()"


class NoTasks:
    """A session with this master, which has no tasks."""

    def __init__(self, master: str) -> None:
        self.conf = {"spark.master": master}


@pytest.mark.parametrize("master", ["local", "local[*]", "local[4]"])
def test_check_workers__is_not_needed_on_one_machine(master: str) -> None:
    check_workers(NoTasks(master))


@pytest.mark.parametrize("master", ["local-cluster[2,1,1024]", "spark://head:7077", "yarn"])
def test_check_workers__of_a_cluster_runs_a_task(master: str) -> None:
    with pytest.raises(AttributeError, match="range"):
        check_workers(NoTasks(master))


def test_check_workers__says_what_is_missing_where(spark: Any) -> None:
    module._checked.discard(spark)
    with pytest.raises(UsageError, match="workers cannot run entailstore: ") as caught:
        check_workers(spark, "not_there")
    said = str(caught.value)
    assert "\n" not in said
    assert f"{sys.executable} on " in said
    assert "ModuleNotFoundError: No module named 'not_there'" in said
    assert "pip install 'entailstore[spark]'" in said
    assert spark not in module._checked


def test_check_workers__once_per_session(spark: Any) -> None:
    module._checked.discard(spark)
    check_workers(spark)
    check_workers(spark, "not_there")  # would fail


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ("x\nPySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker\n at", "[PYTHON_V"),
        ("x\n  except ImportError as e:\nModuleNotFoundError: No module named 'a'\n", "ModuleN"),
        ('failed: java.io.IOException: Cannot run program "x": error=2', "Cannot run"),
        ("OSError: [Errno 28] No space left on device", None),
        ("ExecutorLostFailure (executor 0 exited)", None),
    ],
)
def test_cause__only_of_a_python_that_cannot_run_tasks(error: str, cause: str | None) -> None:
    found = module._cause(error)
    assert found is None if cause is None else found is not None and found.startswith(cause)


@pytest.mark.usefixtures("spark_available")
@pytest.mark.long
@pytest.mark.parametrize("python", ["without the package", "missing"])
def test_command__on_workers_without_the_package_ends_in_one_line(
    tmp_path: Path, python: str
) -> None:
    worker = tmp_path / "python"
    if python != "missing":
        libraries = sysconfig.get_path("purelib")  # but not what .pth files add: this repository
        found = f'export PYTHONPATH="$PYTHONPATH:{libraries}"'
        worker.write_text(f'#!/bin/sh\n{found}\nexec {sys.executable} -S "$@"\n')
        worker.chmod(0o755)
    (tmp_path / "a.nt").write_text("<x:a> <x:b> <x:c> .\n")
    home = linked_home(tmp_path / "home")
    code = f"import sys; sys.path.insert(0, {str(REPOSITORY)!r})\n{ENTRY}"
    command = [sys.executable, "-c", code, "import", "-l", "x.db", "a.nt"]
    run = subprocess.run(
        [*command, "--master", "local-cluster[1,1,1024]"],
        env={
            **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            "PYSPARK_PYTHON": str(worker),
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": "127.0.0.1",
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert run.returncode == 1, run.stderr
    lines = [line for line in run.stderr.splitlines() if line.startswith("triplestore: ")]
    assert len(lines) == 1 and "Traceback" not in run.stderr, run.stderr
    cause = (
        "entailstore: Cannot run program"
        if python == "missing"
        else "No module named 'triplestore'"
    )
    assert cause in lines[0] and "pip install 'entailstore[spark]'" in lines[0]
    assert not (tmp_path / "x.db").exists()
