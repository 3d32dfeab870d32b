"""Crashes: stopped at any point, with any part of what was not synced on disk, nothing is lost.

One run of a schedule of mixed commits is traced. For points of the trace, the disk is put together
as a crash there may leave it, and the store is opened: it must hold exactly one of the committed
states, none older than the last that was acknowledged, and `verify` must be clean.
"""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.faulty import CrashImages, FaultyFiles, Image, Note, restore
from support.schedule import SMALL, Contents, Schedule, changes_of, contents, key

from triplestore.errors import StorageError
from triplestore.relations import EXPLICIT
from triplestore.storage import Database

COMMITS = 50

pytestmark = pytest.mark.usefixtures("small_numbers")


@dataclass
class Run:
    """A traced schedule."""

    directory: Path
    backups: Path
    trace: list[Any]
    states: dict[int, Contents]
    closed: bool


def traced(base: Path, seed: int, durability: str = "commit", commits: int = COMMITS) -> Run:
    files = FaultyFiles()
    directory, backups = base / "store", base / "backups"
    database = Database.open(
        directory, files=files, thresholds=SMALL, background=False, durability=durability
    )
    files.note(("acked", 0))
    schedule = Schedule(database, random.Random(seed), backups)
    schedule.on_ack = lambda commit: files.note(("acked", commit))
    schedule.on_backup = lambda path, commit: files.note(("backup", path, commit))
    schedule.run(commits)
    schedule.backup()
    database.close()
    files.note(("closed", schedule.acked))
    assert contents(database.state) == schedule.states[schedule.acked]
    return Run(directory, backups, files.trace, schedule.states, True)


def check(run: Run, image: Image, acked: int, oldest: int, target: Path, go_on: bool) -> None:
    """Open the store in this image: a committed state, not too old; and it can be written to."""
    restore(image, run.directory, target)
    # FaultyFiles: without real syncs, which would take most of the time.
    with Database.open(target, files=FaultyFiles(), background=False, thresholds=SMALL) as database:
        state = database.state
        assert state.commit >= oldest, f"commit {oldest} is lost: {state.commit}"
        assert contents(state) == run.states[state.commit]
        assert database.verify() == []
        if go_on:
            row = (key("p0"), key("after"), key("the crash"), None)
            with database.writing() as dictionary:
                database.commit([changes_of(dictionary, {row: EXPLICIT}, {row: 0})])
            database.upkeep.checkpoint()
    if go_on:
        with Database.open(target, read_only=True) as database:
            expected = run.states[state.commit][0] | {(row, EXPLICIT)}
            assert contents(database.state)[0] == expected
            assert database.verify() == []
    shutil.rmtree(target)


def check_backups(run: Run, image: Image, done: dict[Path, int], target: Path) -> None:
    """A backup that was finished is there; any other is whole, or no store."""
    for path in {Path(name).parent for name in image}:
        if path.parent != run.backups:
            continue
        restore(image, path, target)
        try:
            with Database.open(target, read_only=True) as database:
                assert contents(database.state) == run.states[database.state.commit]
                assert database.verify() == []
        except StorageError:
            assert path not in done, f"the finished backup {path} cannot be opened"
        shutil.rmtree(target)


def crash_everywhere(
    run: Run, rng: random.Random, share: float, mixtures: int, base: Path, strict: bool = True
) -> int:
    """Check images at (a share of) all points of a trace; how many."""
    images = CrashImages()
    acked = oldest = checked = 0
    done: dict[Path, int] = {}
    for event in run.trace:
        if isinstance(event, Note):
            kind, *rest = event.value
            if kind == "backup":
                done[rest[0]] = rest[1]
            else:
                acked = rest[0]
                oldest = acked if strict or kind == "closed" else oldest
        images.follow(event)
        if rng.random() > share:
            continue
        seen: list[Image] = []
        for image in images.images(rng, mixtures):
            if image in seen:
                continue
            seen.append(image)
            target = base / f"crash{checked}"
            check(run, image, acked, oldest, target, go_on=rng.random() < 0.1)
            if rng.random() < 0.2:
                check_backups(run, image, done, target)
            checked += 1
    return checked


@pytest.mark.parametrize("seed", [1, 2])
def test_crash__leaves_a_committed_state(base, seed):
    run = traced(base, seed)
    assert crash_everywhere(run, random.Random(seed), 0.08, 2, base) > 60


@pytest.mark.parametrize("durability", ["group", "flush"])
def test_crash__without_waiting_for_the_disk_leaves_a_committed_state(base, durability):
    """An older one perhaps, but one; and after closing, the last one."""
    run = traced(base, 3, durability, commits=25)
    crash_everywhere(run, random.Random(3), 0.1, 3, base, strict=False)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 16))
def test_crash__leaves_a_committed_state_at_every_point(base, seed):
    run = traced(base, seed)
    crash_everywhere(run, random.Random(seed), 1.0, 4, base)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20, 23))
@pytest.mark.parametrize("durability", ["group", "flush"])
def test_crash__of_other_durabilities_at_every_point(base, seed, durability):
    run = traced(base, seed, durability)
    crash_everywhere(run, random.Random(seed), 1.0, 4, base, strict=False)


def test_schedule__meets_everything_that_can_happen(base):
    """The schedules are worth something only if they reach large commits, merges and the rest."""
    run = traced(base, 1)
    names = {change[0] for event in run.trace for change in getattr(event, "changes", ())}
    kinds = {name.split("-")[0] for name in names}
    assert {"terms", "layer", "meta", "journal", "MANIFEST", "MANIFEST.new"} <= kinds
    assert sum(name.startswith("journal") for name in names) >= 4
    assert len(run.states) > COMMITS
