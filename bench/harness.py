"""Run measurements in fresh processes, and describe the machine and the versions.

Start at `Harness.compare`: it runs several cases turn by turn (A B C A B C ...), so that a slower
phase of the machine affects all of them, and keeps every run and the best one of each case.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from triplestore._version import VERSION

REPOSITORY = Path(__file__).resolve().parent.parent


class MeasurementError(Exception):
    """A measured process failed; the message has its errors."""


@dataclass(frozen=True)
class Case:
    """A measurement: a function, by name, and its arguments (JSON)."""

    function: str
    arguments: Mapping[str, Any]
    label: str
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Result:
    """All runs of a case. `best` is the run with the least of the case's main number."""

    case: Case
    main: str
    runs: list[dict[str, Any]] = field(default_factory=list)

    @property
    def best(self) -> dict[str, Any]:
        return min(self.runs, key=lambda run: float(run[self.main]))

    def __getitem__(self, name: str) -> Any:
        return self.best[name]

    def least(self, name: str) -> float:
        """The minimum of any number over the runs."""
        return min(float(run[name]) for run in self.runs)


@dataclass
class Harness:
    """The number of runs, the folder for temporary stores, and whether to report progress."""

    repeats: int = 3
    folder: Path = REPOSITORY / "build" / "bench"
    verbose: bool = True

    def compare(self, cases: Iterable[Case], main: str, repeats: int | None = None) -> list[Result]:
        """Run every case several times, turn by turn; the results have the order of the cases."""
        results = [Result(case, main) for case in cases]
        for turn in range(repeats or self.repeats):
            for result in results:
                run = run_once(result.case)
                result.runs.append(run)
                self.say(f"{result.case.label}, run {turn + 1}: {main} {run[main]:.4g}")
        return results

    def say(self, text: str) -> None:
        if self.verbose:
            print(f"  {text}", file=sys.stderr, flush=True)

    @contextmanager
    def temporary(self) -> Iterator[Path]:
        """A folder on the measured disk, removed afterwards."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            yield Path(folder)


def run_once(case: Case) -> dict[str, Any]:
    """One run in a new process."""
    command = [sys.executable, "-m", "bench.child", case.function, json.dumps(case.arguments)]
    # numpy asks for pages of 2 MB. If memory is fragmented, the kernel moves other pages to make
    # one: the same closure took 0.13 s or 0.28 s by chance. The caller's setting takes precedence.
    environment = {"NUMPY_MADVISE_HUGEPAGE": "0", **os.environ, **case.environment}
    run = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, env=environment)
    if run.returncode != 0:
        raise MeasurementError(f"{case.label} failed ({run.returncode}):\n{run.stderr[-4000:]}")
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def machine(packages: Sequence[str]) -> dict[str, Any]:
    """The machine and the versions of packages."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory GB": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": f"{platform.system()} {platform.release().split('-')[0]} {platform.machine()}",
        "python": platform.python_version(),
        **{package: _version(package) for package in packages},
        "commit": _commit(),
    }


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


def _version(package: str) -> str:
    if package == "triplestore":
        return VERSION
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    try:
        run = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    except OSError:
        return "unknown"
    return run.stdout.strip() or "unknown"


def folder_bytes(folder: Path) -> int:
    """The bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def sync_folder(folder: Path) -> None:
    """fsync every file of a folder, so that every peer's data is safe on disk."""
    for path in [folder, *folder.rglob("*")]:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
