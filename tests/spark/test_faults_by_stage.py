"""Faults in each stage of an import with a closure on Spark: the result is complete and right, or
absent with a clear error, and the same job continues after it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.spark.faulty_job import (
    INTERRUPTED,
    KILLED,
    STAGES,
    WISHED,
    lines,
    local_store,
)
from tests.spark.random_programs_on_spark import small_jobs
from tests.spark.test_faults import check, is_absent, kill_one, killing_after, settled
from triplestore.loaders.spark import import_dataset, pull

long = pytest.mark.long


@pytest.fixture
def quick(spark: Any) -> Iterator[Any]:
    with small_jobs(spark):
        yield spark


def write_sources(folder: Path, count: int) -> list[str]:
    folder.mkdir()
    for number in range(4):
        (folder / f"part{number}.nt").write_text(lines(f"k{number}x", count))
    return sorted(map(os.fspath, folder.iterdir()))


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return write_sources(tmp_path_factory.mktemp("faults") / "in", 300)


@pytest.fixture(scope="module")
def expected(sources: list[str]) -> str:
    return local_store(sources).digest()


def job(asked: Mapping[str, Any], *before: str) -> subprocess.CompletedProcess[str]:
    """The job in a new process, which leads a group of processes."""
    return subprocess.run(
        [*before, sys.executable, "-m", "tests.spark.faulty_job", json.dumps(asked)],
        capture_output=True,
        text=True,
        start_new_session=True,
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
        cwd=Path(__file__).resolve().parents[2],
        timeout=500,
        check=False,
    )


def goes_on(spark: Any, sources: list[str], target: Path, expected: str, ended: list[str]) -> None:
    """Assert that no store opens or all is correct, and that finished stages are not repeated."""
    if is_absent(target):
        done = import_dataset(spark, sources, target, **WISHED)
        assert [stage for stage in STAGES if stage in ended] == list(done.resumed)[: len(ended)]
    elif target.with_name("x.db.import").exists():  # otherwise the job had come to its very end
        assert import_dataset(spark, sources, target, **WISHED).already
    check(target, expected)
    assert [path.name for path in target.parent.iterdir()] == [target.name]


# --- jobs that are killed, and Ctrl-C -----------------------------------------------------------

WHEN = [
    *((stage, 0.4) for stage in STAGES),
    *(("round 1", 0.0), ("round 2", 0.3)),
    *((f"write {step}", 0.0) for step in (1, 3, 5)),
    *(("placing", 0.0), ("placed", 0.0)),
]


@long
@pytest.mark.usefixtures("spark_available")
@pytest.mark.parametrize(("when", "delay"), WHEN)
def test_job__killed_in_any_stage_goes_on(
    quick: Any, sources: list[str], expected: str, tmp_path: Path, when: str, delay: float
) -> None:
    target = tmp_path / "x.db"
    wrong = {"kind": "kill", "when": when, "delay": delay}
    ran = job({"target": str(target), "sources": sources, "wrong": wrong})
    assert ran.returncode == KILLED, ran.stderr
    ended = [line for line in ran.stdout.splitlines() if line in STAGES]
    goes_on(quick, sources, target, expected, ended)


@long
@pytest.mark.usefixtures("spark_available")
@pytest.mark.parametrize(("when", "delay"), WHEN)
def test_ctrl_c__in_any_stage_leaves_nothing_half_done(
    quick: Any, sources: list[str], expected: str, tmp_path: Path, when: str, delay: float
) -> None:
    target = tmp_path / "x.db"
    wrong = {"kind": "interrupt", "when": when, "delay": delay}
    ran = job({"target": str(target), "sources": sources, "wrong": wrong})
    assert ran.returncode in (INTERRUPTED, 0), ran.stderr
    assert "KeyboardInterrupt" not in ran.stderr
    # Some time after the closure, or behind the rename, the store may be there.
    assert is_absent(target) == (when != "placed") or when == "closure"
    assert not target.with_name("x.db.making").exists()
    ended = [line for line in ran.stdout.splitlines() if line in STAGES]
    goes_on(quick, sources, target, expected, ended)


# --- workers that are lost ----------------------------------------------------------------------


@long
@pytest.mark.parametrize("delay", [0.0, 0.7, 2.0, 5.0])
def test_worker__lost_in_the_closure_does_not_show(
    quick: Any, sources: list[str], expected: str, tmp_path: Path, delay: float
) -> None:
    target = tmp_path / "x.db"
    told = killing_after("triples", delay)
    import_dataset(quick, sources, target, progress=told, **WISHED)
    check(target, expected)
    settled()


@pytest.mark.long
def test_worker__lost_between_two_rounds_does_not_show(
    quick: Any, sources: list[str], expected: str, tmp_path: Path
) -> None:
    target = tmp_path / "x.db"
    rounds: list[int] = []

    def told(name: str, figures: Mapping[str, Any]) -> None:
        if "round" in figures:
            rounds.append(figures["round"])
            if len(rounds) == 2:
                kill_one()

    import_dataset(quick, sources, target, progress=told, **WISHED)
    assert len(rounds) > 2
    check(target, expected)
    settled()


@long
@pytest.mark.parametrize("delay", [0.0, 0.3, 0.8])
def test_worker__lost_while_tables_are_written_does_not_show(
    quick: Any, sources: list[str], expected: str, tmp_path: Path, delay: float
) -> None:
    tables = tmp_path / "tables"
    told = killing_after("closure", delay)
    import_dataset(quick, sources, tables.as_uri(), progress=told, **WISHED)
    pull(str(tables), tmp_path / "x.db")
    check(tmp_path / "x.db", expected)
    settled()


# --- full disks ---------------------------------------------------------------------------------

UNSHARE = ["unshare", "--mount", "--map-root-user"]


@long
@pytest.mark.usefixtures("spark_available")
@pytest.mark.parametrize("shuffles", [False, True])
def test_disk__that_is_full_in_any_stage_is_a_clear_error_and_the_job_goes_on(
    tmp_path: Path, shuffles: bool
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = [*UNSHARE, "mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(disk)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("no file systems of one's own can be made here (unshare --mount)")
    sources = write_sources(tmp_path / "in", 3000)
    expected = local_store(sources).digest()
    ran = job({"disk": str(disk), "sources": sources, "shuffles": shuffles}, *UNSHARE)
    assert ran.returncode == 0, ran.stderr
    runs = [json.loads(line) for line in ran.stdout.splitlines()]
    for each in runs:
        assert "No space left" in each["said"], each
        assert "\n" not in each["said"]
        assert not each["opens"]
        assert each["digest"] == expected
        ended = [stage for stage in STAGES if stage in each["ended"]]
        assert each["resumed"][: len(ended)] == ended
    failed_after = {(["", *each["ended"]])[-1] for each in runs}
    assert len(runs) == 1 if shuffles else failed_after == {"", *STAGES}
