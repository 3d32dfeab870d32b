"""A small cluster of Spark on this machine: a master and workers, each in its own process.

For tests, benches and trials of a job. As on a real cluster, executors are other processes, which
can be lost.

    with Cluster(folder, workers=2) as cluster:
        session = make(cluster.master)
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from triplestore.errors import UsageError
from triplestore.loaders.spark.java import find_java
from triplestore.loaders.spark.session import pyspark_module

_STARTED = re.compile(r"Starting Spark master at (spark://\S+)")
_JOINED = re.compile(r"Successfully registered with master")


class Cluster:
    """A standalone master and its workers, which run for the duration of the `with` block.

    They write into `folder` only, which the caller removes. `master` is the address for a session
    or spark-submit.
    """

    def __init__(
        self, folder: Path, *, workers: int = 2, cores: int = 1, memory: str = "1200m"
    ) -> None:
        self.folder = folder
        self.master = ""
        self.workers: list[subprocess.Popen[bytes]] = []
        self._count, self._cores, self._memory = workers, cores, memory
        self._master: subprocess.Popen[bytes] | None = None
        self._started = 0

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            self._start_master()
            for _ in range(self._count):
                self.add_worker()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def add_worker(self) -> subprocess.Popen[bytes]:
        """Start another worker, and wait until it has joined."""
        name = f"worker-{self._started}"
        self._started += 1
        arguments = [
            "org.apache.spark.deploy.worker.Worker",
            *("--host", "127.0.0.1", "--webui-port", "0", "--cores", str(self._cores)),
            *("--memory", self._memory, "--work-dir", str(self.folder / name), self.master),
        ]
        process = self._start(name, arguments)
        self.workers.append(process)
        self._wait_for(name, process, _JOINED)
        return process

    def stop(self) -> None:
        """End every process; safe to call again."""
        processes = [*self.workers, *([self._master] if self._master else [])]
        for process in processes:
            process.terminate()
        for process in processes:
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.workers, self._master = [], None

    def _start_master(self) -> None:
        arguments = ["org.apache.spark.deploy.master.Master"]
        arguments += ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
        self._master = self._start("master", arguments)
        self.master = self._wait_for("master", self._master, _STARTED).group(1)

    def _start(self, name: str, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        command = [str(spark_home() / "bin" / "spark-class"), *arguments]
        with (self.folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                command, stdout=log, stderr=log, env=environment(self.folder), cwd=self.folder
            )

    def _wait_for(
        self, name: str, process: subprocess.Popen[bytes], line: re.Pattern[str]
    ) -> re.Match[str]:
        """The first match of `line` in the process' log."""
        log, end = self.folder / f"{name}.log", time.monotonic() + 120
        while time.monotonic() < end:
            found = line.search(log.read_text(errors="replace"))
            if found:
                return found
            if process.poll() is not None:
                break
            time.sleep(0.1)
        raise UsageError(f"the {name} of the cluster did not start; its log is {log}")


def spark_home() -> Path:
    """The folder of the installed Spark: `SPARK_HOME`, or pip's."""
    return Path(os.environ.get("SPARK_HOME") or Path(pyspark_module().__file__).parent)


def environment(scratch: Path) -> dict[str, str]:
    """The environment of the cluster's processes."""
    return {
        **os.environ,
        "JAVA_HOME": str(find_java().home),
        "SPARK_HOME": str(spark_home()),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(scratch / "local"),
        "SPARK_DAEMON_MEMORY": "256m",
        "PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON", sys.executable),
    }


def linked_home(folder: Path) -> Path:
    """A home of Spark that may be written to; makes `folder`.

    Executors of a `local-cluster[...]` write into `SPARK_HOME`, and pip's installation may be
    read-only.
    """
    folder.mkdir(parents=True)
    for entry in spark_home().iterdir():
        if entry.name != "work":
            (folder / entry.name).symlink_to(entry)
    return folder
