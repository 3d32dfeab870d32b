"""Errors of the system: whatever call fails, nothing committed is lost, and the store says why.

A schedule runs with one call failing (EIO, ENOSPC; writes also half-done). What fails without a
doubt about what is on disk, fails alone, and the store goes on; after that doubt (a failed sync,
an unpublished manifest) the store can only be read. Either way it reopens with what was committed.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.faulty import DISK_FULL, IO_ERROR, CrashImages, Failure, FaultyFiles, Note, restore
from support.schedule import SMALL, Schedule, contents

from triplestore.errors import ReadOnlyError, StorageError
from triplestore.storage import Database

STEPS = 25

pytestmark = pytest.mark.usefixtures("small_numbers")


def calls_of(base: Path, seed: int) -> list[tuple[str, str]]:
    """The calls that a schedule makes when nothing fails."""
    files = FaultyFiles()
    run(base, seed, files)
    return files.calls


def run(base: Path, seed: int, files: FaultyFiles) -> tuple[Schedule | None, list[Exception]]:
    """Run a schedule on these files; None if the store could not even be made."""
    rng = random.Random(seed)
    try:
        database = Database.open(base / "store", files=files, thresholds=SMALL, background=False)
    except StorageError as error:
        assert files.failed, error
        return None, [error]
    files.note(("acked", 0))
    schedule = Schedule(database, rng, base / "backups")
    schedule.on_ack = lambda commit: files.note(("acked", commit))
    errors = [error for _ in range(STEPS) if (error := schedule.attempt()) is not None]
    if database.broken is not None:
        with pytest.raises(ReadOnlyError, match="can only be read since this error"):
            database.require_writable()
    try:
        database.close()
    except StorageError as error:
        errors.append(error)
    return schedule, errors


def check_failure(base: Path, seed: int, failure: Failure) -> str:
    """One call fails; what became of the store: "went on", "read-only" or "not made"."""
    files = FaultyFiles(failure)
    schedule, errors = run(base, seed, files)
    for error in errors:
        assert isinstance(error, StorageError), f"a bare {error!r}"
        assert str(base) in str(error), error
    files.failure = None
    if schedule is None:
        with Database.open(base / "store", files=files, background=False) as database:
            assert database.state.commit == 0 and database.verify() == []
        return "not made"
    broken = schedule.database.broken is not None
    kind = files.calls[failure.call][0]
    if failure.error == DISK_FULL:
        assert not broken or kind in ("sync", "rename", "syncdir"), kind
    assert contents(schedule.database.state) == schedule.states[schedule.acked]
    if failure.call % 3 == 0:
        check_crashes(base, schedule, files, random.Random(seed))
    with Database.open(base / "store", files=files, background=False, thresholds=SMALL) as database:
        commit = database.state.commit
        assert commit == schedule.acked or (broken and commit == schedule.acked + 1)
        assert contents(database.state) == schedule.states[commit]
        assert database.verify() == []
        database.upkeep.checkpoint()
        assert contents(database.state) == schedule.states[commit]
    return "read-only" if broken else "went on"


def check_crashes(base: Path, schedule: Schedule, files: FaultyFiles, rng: random.Random) -> None:
    """A crash at some point after the failure, too."""
    images, acked = CrashImages(), 0
    points = {rng.randrange(len(files.trace)) for _ in range(2)} | {len(files.trace) - 1}
    for place, event in enumerate(files.trace):
        if isinstance(event, Note):
            acked = event.value[1]
        images.follow(event)
        if place not in points:
            continue
        for number, image in enumerate(images.images(rng, 1)):
            target = base / f"crash{place}-{number}"
            restore(image, base / "store", target)
            with Database.open(target, files=FaultyFiles(), background=False) as database:
                assert database.state.commit >= acked
                assert contents(database.state) == schedule.states[database.state.commit]


def failures(calls: list[tuple[str, str]]) -> list[Failure]:
    every = []
    for call, (kind, _) in enumerate(calls):
        for error in (IO_ERROR, DISK_FULL):
            every.append(Failure(call, error))
            if kind == "write":
                every.append(Failure(call, error, partly=True))
    return every


def check_failures(base: Path, seed: int, count: int | None) -> set[str]:
    (base / "calls").mkdir(parents=True)
    every = failures(calls_of(base / "calls", seed))
    if count is not None:
        every = random.Random(seed).sample(every, count)
    outcomes = set()
    for number, failure in enumerate(every):
        folder = base / f"failure{number}"
        folder.mkdir()
        outcomes.add(check_failure(folder, seed, failure))
    return outcomes


def test_failing_call__loses_nothing_that_was_committed(base):
    assert check_failures(base, 5, 60) >= {"went on", "read-only"}


@pytest.mark.long
@pytest.mark.parametrize("seed", range(30, 34))
def test_failing_call__loses_nothing_wherever_it_is(base, seed):
    assert check_failures(base, seed, None) == {"went on", "read-only", "not made"}


@pytest.mark.parametrize("seed", range(4))
def test_full_disk__refuses_commits_until_there_is_room(base, seed):
    files = FaultyFiles()
    database = Database.open(base / "store", files=files, thresholds=SMALL, background=False)
    schedule = Schedule(database, random.Random(seed))
    schedule.run(12)
    files.failure = Failure(len(files.calls), DISK_FULL, partly=True, again=True)
    before = schedule.acked
    files.calls.append(("write", ""))  # all writes from here on
    refused = [error for _ in range(6) if (error := schedule.attempt())]
    assert len(refused) == 6 and schedule.acked == before, refused
    assert all("No space left on device" in str(error) for error in refused), refused
    assert all("no commit is lost" in str(error) for error in refused)
    assert contents(database.state) == schedule.states[before]
    files.failure = None
    schedule.run(12)
    database.close()
    with Database.open(base / "store", read_only=True) as database:
        assert contents(database.state) == schedule.states[schedule.acked]
        assert database.verify() == []


def test_failed_sync__makes_the_store_read_only_and_says_so(base):
    files = FaultyFiles()
    database = Database.open(base / "store", files=files, thresholds=SMALL, background=False)
    schedule = Schedule(database, random.Random(7))
    schedule.run(3)
    last_sync = max(n for n, (kind, _) in enumerate(files.calls) if kind == "sync")
    assert "journal" in files.calls[last_sync][1]
    files.failure = Failure(len(files.calls) + 1, IO_ERROR)  # after the write of the next record
    error = schedule.attempt()
    assert isinstance(error, StorageError) and "Input/output error" in str(error)
    with pytest.raises(ReadOnlyError, match="can only be read since this error: syncing"):
        schedule.database.require_writable()
    assert contents(database.state) == schedule.states[schedule.acked]
    database.close()
