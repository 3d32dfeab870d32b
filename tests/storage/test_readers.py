"""Readers of a store that a writer goes on changing."""

from __future__ import annotations

import errno
import os
import random
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from support.databases import add, names_in, opened, subjects
from support.faulty import FaultyFiles
from support.schedule import Schedule, contents

from triplestore.errors import (
    CorruptError,
    ReadOnlyError,
    StorageError,
)
from triplestore.storage import State
from triplestore.storage.files.system import RealFiles


class OnlyReading(RealFiles):
    """Files of a directory that cannot be written: any attempt fails the test."""

    def _refuse(self, *_: object) -> None:
        raise AssertionError("a reader tried to write")

    create = open = make_directory = rename = remove = link = sync_directory = lock = _refuse


def test_reader__takes_no_lock_and_changes_nothing(base):
    with opened(base / "store") as database:
        add(database, "a")
        before = {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in base.glob("store/*")}
        with opened(base / "store", read_only=True, files=OnlyReading()) as reader:
            assert subjects(reader.state) == {"a"}
            assert reader.verify() == []
            assert reader.info().read_only
            assert reader.refresh().commit == 1
            with pytest.raises(ReadOnlyError, match="opened read-only; open it with Store"):
                add(reader, "b")
        after = {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in base.glob("store/*")}
        assert after == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to read-only directories")
def test_reader__works_on_a_read_only_directory(base):
    with opened(base / "store") as database:
        add(database, "a")
    for path in (*base.glob("store/*"), base / "store"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    with opened(base / "store", read_only=True) as reader:
        assert subjects(reader.state) == {"a"}
    with pytest.raises(StorageError, match="open it read-only"):
        opened(base / "store")
    (base / "store").chmod(0o755)


class Overtaken(RealFiles):
    """Files of a reader that is overtaken by a writer just before its n-th call."""

    def __init__(self, call: int, meanwhile: Callable[[], None]) -> None:
        self.calls = 0
        self._call = call
        self._meanwhile = meanwhile

    def _count(self) -> None:
        self.calls += 1
        if self.calls - 1 == self._call:
            self._meanwhile()

    def read(self, path: Path, start: int = 0, size: int = -1) -> bytes:
        self._count()
        return super().read(path, start, size)

    def map(self, path: Path) -> memoryview:
        self._count()
        return super().map(path)

    def exists(self, path: Path) -> bool:
        self._count()
        return super().exists(path)


@pytest.mark.parametrize("refreshing", [False, True])
@pytest.mark.parametrize("what", ["commits", "checkpoint", "merges", "optimize", "another writer"])
def test_reader__sees_a_committed_state_wherever_the_writer_overtakes_it(base, what, refreshing):
    database = opened(base / "store")
    schedule = Schedule(database, random.Random(21))
    schedule.run(20)
    schedule._bulk()

    def meanwhile() -> None:
        database = schedule.database
        if what == "another writer":
            database.close()
            database = schedule.database = opened(base / "store")
        elif what == "optimize":
            database.optimize()
        elif what == "checkpoint":
            database.upkeep.checkpoint()
        elif what == "merges":
            schedule._bulk()
            schedule._bulk()
            database.upkeep.run()
        schedule._small()
        schedule._remove()

    reached = 0
    for call in range(16):
        files = Overtaken(-1 if refreshing else call, meanwhile)
        before = schedule.acked
        with opened(base / "store", read_only=True, files=files) as reader:
            if refreshing:
                meanwhile()
                before, files.calls, files._call = schedule.acked, 0, call
                reader.refresh()
            assert before <= reader.state.commit <= schedule.acked
            assert contents(reader.state) == schedule.states[reader.state.commit]
            reached += files.calls > call
            files._call = -1
            assert contents(reader.refresh()) == schedule.states[schedule.acked]
    assert reached > 4
    schedule.database.close()


class WaitsAtNextJournal(RealFiles):
    """Files of a reader that has read the last journal there is, and waits before the next one."""

    def __init__(self) -> None:
        self.arrived, self.go_on = threading.Event(), threading.Event()

    def exists(self, path: Path) -> bool:
        if "journal" in path.name:
            self.arrived.set()
            self.go_on.wait(30)
        return super().exists(path)


def test_reader__between_two_manifests_of_optimize_does_not_mix_old_and_new_ids(base):
    """It reads the one, and goes on to journals when ids have changed and commits followed."""
    writing = FaultyFiles()
    database = opened(base / "store", files=writing)
    schedule = Schedule(database, random.Random(22))
    schedule.run(20)
    schedule._remove()  # so that optimize has terms to drop
    reading = WaitsAtNextJournal()
    seen: list[State] = []

    def read() -> None:
        with opened(base / "store", read_only=True, files=reading) as reader:
            seen.append(reader.state)

    thread = threading.Thread(target=read)
    renames = 0

    def before(kind: str, path: Path) -> None:
        nonlocal renames
        renames += kind == "rename"
        if kind == "rename" and renames == 2:
            thread.start()
            reading.arrived.wait(30)

    writing.before = before
    database.optimize()
    writing.before = lambda kind, path: None
    schedule._small()
    schedule._small()
    reading.go_on.set()
    thread.join()
    assert renames == 2
    assert contents(seen[0]) == schedule.states[seen[0].commit]
    database.close()


class HalfSeen(RealFiles):
    """A reader's files, in which the newest record is seen half-written, some times."""

    def __init__(self, times: int) -> None:
        self.times = times

    def read(self, path: Path, start: int = 0, size: int = -1) -> bytes:
        data = super().read(path, start, size)
        if "journal" in path.name and self.times and len(data) > 200:
            self.times -= 1
            data = data[:-100] + bytes([255]) * 50 + data[-50:]
        return data


def test_reader__looks_again_at_a_record_that_is_being_written(base):
    with opened(base / "store", durability="flush") as database:
        add(database, "a")
        add(database, "b")
        with opened(base / "store", read_only=True, files=HalfSeen(4)) as reader:
            assert subjects(reader.state) == {"a", "b"}
        with pytest.raises(CorruptError, match="commit 2, at byte"):
            opened(base / "store", read_only=True, files=HalfSeen(100))


class NotWritable(RealFiles):
    """A directory on a read-only file system."""

    def _refuse(self, path: Path, *_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    create = open = make_directory = rename = remove = lock = _refuse


def test_writer__of_a_read_only_directory_is_told_to_open_it_read_only(base):
    with opened(base / "store") as database:
        add(database, "a")
    with pytest.raises(StorageError, match=r"Read-only file system; .* open it read-only"):
        opened(base / "store", files=NotWritable())
    with pytest.raises(StorageError, match="Read-only file system"):
        opened(base / "new", files=NotWritable())
    with opened(base / "store", files=NotWritable(), read_only=True) as reader:
        assert subjects(reader.state) == {"a"}


@pytest.mark.parametrize("seed", range(4))
def test_refresh__follows_whatever_the_writer_does(base, seed):
    rng = random.Random(seed)
    database = opened(base / "store")
    reader = opened(base / "store", read_only=True)
    schedule = Schedule(database, rng)
    seen: list[State] = []
    for _ in range(40):
        schedule.run(rng.randrange(1, 5))
        if rng.random() < 0.1:
            database.close()
            database = schedule.database = opened(base / "store")
        state = reader.refresh()
        assert state.commit == schedule.acked
        assert contents(state) == schedule.states[state.commit]
        assert reader.refresh() is state
        seen.append(state)
    for state in seen:
        assert contents(state) == schedule.states[state.commit]
    reader.close()
    database.close()


def test_refresh__opens_only_what_is_new(base):
    database = opened(base / "store")
    Schedule(database, random.Random(1)).run(40)
    database.optimize()
    reader = opened(base / "store", read_only=True)
    layer = reader.state.tables.layers[0]
    add(database, "new")
    assert reader.refresh().tables.layers[0] is layer
    database.upkeep.checkpoint()
    assert reader.refresh().tables.layers[0] is layer
    database.close()


def test_reader__keeps_what_it_opened_when_its_files_are_removed(base):
    database = opened(base / "store")
    schedule = Schedule(database, random.Random(2))
    schedule.run(30)
    reader = opened(base / "store", read_only=True)
    before = reader.state
    names = names_in(base / "store")
    schedule.run(30)
    database.optimize()
    assert not names & {n for n in names_in(base / "store") if n.endswith(".seg")}
    assert contents(before) == schedule.states[before.commit]
    reader.backup(base / "copy")
    with opened(base / "copy") as copy:
        assert contents(copy.state) == schedule.states[before.commit]
    database.close()
