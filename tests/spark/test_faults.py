"""Faults on a cluster: the result is complete and correct, or absent with a clear error."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from triplestore import Store, TripleStoreError
from triplestore.errors import StorageError
from triplestore.loaders.spark import import_dataset

PARTITIONS = 4


def lines(count: int, kind: str) -> str:
    made = []
    for i in range(count):
        made.append(f"<http://e/{kind}{i}> <http://e/next> <http://e/{kind}{i + 1}> .\n")
        made.append(f'<http://e/{kind}{i}> <http://e/name> "{kind} {i % 40}"@en .\n')
        made.append(f"_:n{i % 20} <http://e/of> <http://e/{kind}{i}> .\n")
    return "".join(made)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("sources")
    for number in range(4):
        (folder / f"part{number}.nt").write_text(lines(300, f"k{number}x"))
    return sorted(map(os.fspath, folder.glob("*.nt")))


@pytest.fixture(scope="module")
def expected(sources: list[str]) -> str:
    store = Store()
    store.load(path=sources)
    return store.digest()


def check(target: Path, expected: str) -> None:
    with Store(target) as made:
        assert made.digest() == expected
        assert made.verify() == []


def is_absent(target: Path) -> bool:
    try:
        Store.read_only(target).close()
    except (TripleStoreError, OSError):
        return True
    return False


def executors() -> list[psutil.Process]:
    """The worker processes of the session: children of the Java that this process started."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if any("CoarseGrainedExecutorBackend" in word for word in process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    return found


def kill_one() -> None:
    """End one worker process as a failing machine would."""
    running = executors()
    assert running, "no executor to kill"
    running[0].kill()


def killing_after(stage: str, delay: float) -> Callable[[str, Mapping[str, Any]], None]:
    """Tell it of stages: some time after that one has ended, a worker is gone."""

    def told(name: str, figures: Mapping[str, Any]) -> None:
        if name != stage:
            return
        if delay:
            threading.Timer(delay, kill_one).start()
        else:
            kill_one()

    return told


def settled() -> None:
    """Wait until both workers are there again, so that no test begins with one."""
    end = time.monotonic() + 60
    while len(executors()) < 2 and time.monotonic() < end:
        time.sleep(0.2)


def test_worker__lost_between_two_stages_does_not_show(
    spark: Any, sources: list[str], expected: str, tmp_path: Path
) -> None:
    target = tmp_path / "x.db"
    told = killing_after("statements", 0)
    import_dataset(spark, sources, target, partitions=PARTITIONS, progress=told)
    check(target, expected)
    settled()


@pytest.mark.long
@pytest.mark.parametrize("delay", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("stage", ["", "statements", "terms"])
def test_worker__lost_in_any_stage_does_not_show(
    spark: Any, sources: list[str], expected: str, tmp_path: Path, stage: str, delay: float
) -> None:
    target = tmp_path / "x.db"
    told = killing_after(stage, delay)
    told("", {})
    import_dataset(spark, sources, target, partitions=PARTITIONS, progress=told)
    check(target, expected)
    settled()


JOB = """
import sys
from triplestore.loaders.spark import import_dataset, make
spark = make("local[1]", partitions=4)
def told(stage, figures):
    print("ended", stage, flush=True)
import_dataset(spark, sys.argv[2:], sys.argv[1], partitions=4, progress=told)
"""


def run_until(stage: str, target: Path, sources: list[str], delay: float = 0.0) -> None:
    """A job in a new process that is killed with all its children after a stage."""
    command = [sys.executable, "-c", JOB, str(target), *sources]
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        env=environment,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.split() == ["ended", stage]:
                break
        else:
            raise AssertionError(f"the job ended before {stage}")
        time.sleep(delay)
        os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.long
def test_job__killed_leaves_nothing_that_opens_and_goes_on_where_it_was(
    spark: Any, sources: list[str], expected: str, tmp_path: Path
) -> None:
    target = tmp_path / "x.db"
    run_until("terms", target, sources)
    assert is_absent(target)
    done = import_dataset(spark, sources, target, partitions=PARTITIONS)
    assert {"statements", "terms"} <= set(done.resumed)
    check(target, expected)


@pytest.mark.long
@pytest.mark.parametrize("delay", [0.0, 0.2, 0.6])
@pytest.mark.parametrize("stage", ["statements", "terms"])
def test_job__killed_at_any_time_goes_on(
    spark: Any, sources: list[str], expected: str, tmp_path: Path, stage: str, delay: float
) -> None:
    target = tmp_path / "x.db"
    run_until(stage, target, sources, delay)
    if is_absent(target):
        done = import_dataset(spark, sources, target, partitions=PARTITIONS)
        assert "statements" in done.resumed
    check(target, expected)


@pytest.mark.long
@pytest.mark.usefixtures("spark_available")
def test_ctrl_c__stops_the_job_and_leaves_nothing(sources: list[str], tmp_path: Path) -> None:
    target = tmp_path / "x.db"
    command = [sys.executable, "-m", "triplestore.cli", "import", "-l", str(target), *sources]
    with subprocess.Popen(
        [*command, "--master", "local[1]", "--partitions", "4"],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("statements"):
                os.killpg(process.pid, signal.SIGINT)
                break
        rest = process.stderr.read()
        assert process.wait(timeout=60) == 130, rest
    assert rest.splitlines()[-1] == "triplestore: interrupted; nothing was changed"
    assert is_absent(target)


@pytest.mark.long
def test_job__on_other_files_does_not_go_on_with_the_old_ones(
    spark: Any, sources: list[str], tmp_path: Path
) -> None:
    files = [Path(shutil.copy(source, tmp_path)) for source in sources]
    target = tmp_path / "x.db"
    run_until("terms", target, list(map(str, files)))
    files[2].write_text(lines(10, "other"))
    done = import_dataset(spark, list(map(str, files)), target, partitions=PARTITIONS)
    assert list(done.resumed) == []
    local = Store()
    local.load(path=files)
    check(target, local.digest())


@pytest.mark.long
def test_one_broken_file_of_a_thousand(spark: Any, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(1000):
        (folder / f"f{number:04}.nt").write_text(lines(2, f"k{number}x"))
    whole = [*sorted(folder.glob("*.nt"))]
    broken = folder / "f0617.nt"
    good = broken.read_text()
    broken.write_text(good + "<http://e/a> <http://e/b> .\n")
    target = tmp_path / "x.db"
    with pytest.raises(TripleStoreError, match=r"f0617\.nt:7"):
        import_dataset(spark, str(folder), target, partitions=PARTITIONS)
    assert is_absent(target)
    done = import_dataset(spark, str(folder), target, partitions=PARTITIONS, lenient=True)
    assert done.bad == 1
    broken.write_text(good)
    local = Store()
    local.load(path=whole)
    check(target, local.digest())


@pytest.mark.long
@pytest.mark.usefixtures("spark_available")
@pytest.mark.parametrize("elsewhere", [False, True])
def test_disk__that_is_full_is_a_clear_error_and_leaves_nothing(
    sources: list[str], tmp_path: Path, elsewhere: bool
) -> None:
    """The target is on a small file system, which only the job sees; stages there or elsewhere."""
    disk = tmp_path / "disk"
    disk.mkdir()
    unshare = ["unshare", "--mount", "--map-root-user", "sh", "-c"]
    mount = f"mount -t tmpfs -o size=100k tmpfs {disk}"
    if subprocess.run([*unshare, mount], check=False, capture_output=True).returncode:
        pytest.skip("no file systems of one's own can be made here (unshare --mount)")
    job = f"{sys.executable} -m triplestore.cli import -l {disk}/x.db --master 'local[1]'"
    job += f" --work {tmp_path / 'work'}" if elsewhere else ""
    listed = f"{mount} && {job} --partitions 4 {' '.join(sources)}; status=$?; ls {disk}"
    run = subprocess.run(
        [*unshare, f"{listed}; exit $status"],
        capture_output=True,
        text=True,
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
        check=False,
    )
    assert run.returncode == 1, run.stderr
    assert "No space left" in run.stderr.splitlines()[-1]
    assert "x.db" not in run.stdout.split()


def test_error__of_a_target_that_cannot_be_made(
    spark: Any, sources: list[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises((StorageError, OSError)):
        import_dataset(spark, sources, tmp_path / "file" / "x.db", partitions=PARTITIONS)
