"""The database as its users see it: commits, reopening, readers, backup, optimize, errors."""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.faulty import FaultyFiles
from support.schedule import SMALL, Schedule, changes_of, contents, key

from triplestore.errors import (
    CorruptError,
    FormatError,
    ReadOnlyError,
    StorageError,
    UsageError,
)
from triplestore.storage import Database, State, Tuning
from triplestore.storage.files import RealFiles
from triplestore.storage.manifest import read_manifest
from triplestore.tables import EXPLICIT, INFERRED, ChangedRows, Changes, Layer, merge_layers


def opened(path: Path | None, **options) -> Database:
    options = {"tuning": SMALL, "background": False, **options}
    return Database.open(path, **options)


def add(database: Database, *names: str, **options) -> State:
    """Commit one fact for each name."""
    rows = {(key("p"), key(name), key("o"), None): EXPLICIT for name in names}
    with database.writing() as dictionary:
        changes = changes_of(dictionary, rows, dict.fromkeys(rows, 0))
        return database.commit([changes], **options)


def names_in(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def subjects(state: State) -> set[str]:
    return {row[1].decode().rpartition("/")[2] for row, _ in contents(state)[0]}


# -- commits and reopening ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("durability", ["commit", "group", "flush"])
def test_database__is_what_the_model_says_and_so_it_is_reopened(base, seed, durability):
    database = opened(base / "store", durability=durability)
    schedule = Schedule(database, random.Random(seed), base)
    for _ in range(6):
        schedule.run(12)
        assert contents(database.state) == schedule.states[schedule.acked]
        assert database.verify() == []
        database.close()
        database = schedule.database = opened(base / "store", durability=durability)
        assert contents(database.state) == schedule.states[schedule.acked]
    for path, commit in schedule.made:
        with opened(path, read_only=True) as copy:
            assert contents(copy.state) == schedule.states[commit]
    database.close()


@pytest.mark.parametrize("seed", range(3))
def test_database__in_memory_does_the_same(base, seed):
    database = opened(None)
    schedule = Schedule(database, random.Random(seed), base)
    schedule.run(60)
    assert contents(database.state) == schedule.states[schedule.acked]
    assert len(database.state.tables.layers) < 12
    for path, commit in schedule.made:
        with opened(path) as copy:
            assert contents(copy.state) == schedule.states[commit]


def test_state__stays_what_it_was_whatever_happens_after_it(base):
    database = opened(base / "store")
    schedule = Schedule(database, random.Random(5))
    kept: list[State] = []
    for _ in range(50):
        schedule.step()
        kept.append(database.state)
    database.optimize()
    shutil.rmtree(base / "store")
    for state in kept:
        assert contents(state) == schedule.states[state.commit]
    database.broken = StorageError("its files are gone")
    database.close()


def test_commit__of_nothing_is_none(base):
    with opened(base / "store") as database:
        before = add(database, "a")
        with database.writing():
            assert database.commit() is before


def test_transaction__without_a_commit_takes_its_terms_back(base):
    with opened(base / "store") as database:
        add(database, "a")
        size = database.dictionary.size
        with database.writing() as dictionary:
            dictionary.encode_keys([key("x"), key("y")])
            assert dictionary.size == size + 2
        assert database.dictionary.size == size
        add(database, "b")
    with opened(base / "store") as database:
        assert subjects(database.state) == {"a", "b"}


def test_commit__that_fails_leaves_no_trace(base, monkeypatch):
    with opened(base / "store") as database:
        add(database, "a")
        state = database.state

        def fail(*_: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(database, "sync_journal", fail)
            with pytest.raises(KeyboardInterrupt):
                add(database, "b")
        assert database.state is state
        add(database, "c")
    with opened(base / "store") as database:
        assert subjects(database.state) == {"a", "c"}


def test_staged_tables__are_used_only_while_they_fit(base):
    with opened(None) as database:
        add(database, "a")
        before = database.state.tables
        with database.writing() as dictionary:
            row = (key("p"), key("b"), key("o"), None)
            changes = changes_of(dictionary, {row: EXPLICIT}, {row: 0})
            staged = (before, before.push(Layer.build(changes)))
            assert database.commit([changes], staged=staged).tables is staged[1]
        with database.writing() as dictionary:
            row = (key("p"), key("c"), key("o"), None)
            changes = changes_of(dictionary, {row: EXPLICIT}, {row: 0})
            database.commit([changes], staged=staged)
        assert subjects(database.state) == {"a", "b", "c"}


def test_recovery__of_many_small_commits_is_one_layer(base):
    tuning = Tuning(journal_records=10**9, journal_bytes=10**9)
    with opened(base / "store", tuning=tuning, durability="flush") as database:
        for n in range(3000):
            add(database, f"s{n}")
    with opened(base / "store", tuning=tuning) as database:
        assert len(database.state.tables.layers) == 1
        assert len(subjects(database.state)) == 3000


def test_background_thread__checkpoints_and_merges_and_ends(base):
    tuning = Tuning(journal_records=20, journal_bytes=10**6, reserve_after=3)
    with Database.open(base / "store", tuning=tuning) as database:
        for n in range(700):
            add(database, f"s{n}")
    assert database.maintenance.error is None
    assert not any(t.name == "triplestore-maintenance" for t in threading.enumerate())
    info = Database.open(base / "store", background=False).info()
    assert info.journal_commits < 700 and sum(info.layers) == 700


def slow_merge(monkeypatch, until) -> threading.Event:
    """Let merges of layers go on, pausing, until something is the case (or they are stopped)."""
    began = threading.Event()

    def merge(layers, bottom, *, pause=lambda: None):
        if sum(layer.rows for layer in layers) > 900:
            began.set()
            while not until():
                pause()
                time.sleep(0.001)
        return merge_layers(layers, bottom, pause=pause)

    monkeypatch.setattr("triplestore.storage.maintenance.merge_layers", merge)
    return began


def test_long_merge__does_not_keep_the_journal_from_being_checkpointed(base, monkeypatch):
    tuning = Tuning(journal_records=20, journal_bytes=10**6, large_rows=300)
    with Database.open(base / "store", tuning=tuning) as database:
        goal = 10**9
        began = slow_merge(monkeypatch, lambda: database.disk.manifest.commit >= goal)
        add(database, *(f"a{n}" for n in range(600)))
        add(database, *(f"b{n}" for n in range(600)))
        assert began.wait(30)
        goal = database.state.commit + 40
        for n in range(60):
            add(database, f"c{n}")
        end = time.monotonic() + 30
        while database.state.tables.layers[0].rows < 1200 and time.monotonic() < end:
            time.sleep(0.01)
        assert database.disk.manifest.commit >= goal and database.maintenance.error is None
        assert database.state.tables.layers[0].rows == 1200
        assert database.state.tables.total() == 1260 and database.verify() == []
    with opened(base / "store") as database:
        assert database.state.tables.total() == 1260


def test_closing__does_not_wait_for_a_long_merge(base, monkeypatch):
    tuning = Tuning(large_rows=300)
    began = slow_merge(monkeypatch, lambda: False)
    database = Database.open(base / "store", tuning=tuning)
    add(database, *(f"a{n}" for n in range(600)))
    add(database, *(f"b{n}" for n in range(600)))
    assert began.wait(30)
    database.close()
    assert database.maintenance.error is None
    monkeypatch.undo()
    with opened(base / "store") as database:
        assert database.state.tables.total() == 1200
        database.maintenance.run()
        assert len(database.state.tables.layers) == 1
        assert {"layer", "terms"} >= {
            name[:5] for name in names_in(base / "store") if "seg" in name
        }


def test_store_that_was_not_closed__is_closed_with_its_process(base):
    program = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "from support.schedule import *\n"
        f"database = Database.open({str(base / 'store')!r}, durability='flush')\n"
        "row = (key('p'), key('a'), key('o'), None)\n"
        "with database.writing() as d:\n"
        "    database.commit([changes_of(d, {row: 1}, {row: 0})])\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    with opened(base / "store") as database:
        assert subjects(database.state) == {"a"}
        assert database.disk.manifest.durable == 1


def test_forgotten_database__lets_go_of_its_lock(base):
    database = opened(base / "store")
    add(database, "a")
    del database
    with opened(base / "store") as database:
        assert subjects(database.state) == {"a"}


# -- readers --------------------------------------------------------------------------------------


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
            database.maintenance.checkpoint()
        elif what == "merges":
            schedule._bulk()
            schedule._bulk()
            database.maintenance.run()
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
    database.maintenance.checkpoint()
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


# -- backup, optimize, verify, info ---------------------------------------------------------------


@pytest.mark.parametrize("link", [False, True])
def test_backup__is_a_store_of_its_own(base, link):
    with opened(base / "store") as database:
        schedule = Schedule(database, random.Random(3))
        schedule.run(40)
        database.backup(base / "copy", link=link)
        commit = database.state.commit
        schedule.run(40)
    with opened(base / "copy") as copy:
        assert copy.state.commit == commit
        assert contents(copy.state) == schedule.states[commit]
        assert copy.verify() == []
        Schedule(copy, random.Random(4)).run(20)
    with opened(base / "store") as database:
        assert contents(database.state) == schedule.states[schedule.acked]


def test_backup__goes_to_an_empty_directory_only(base):
    with opened(base / "store") as database:
        (base / "full").mkdir()
        (base / "full" / "letter.txt").write_text("dear")
        with pytest.raises(StorageError, match="full is not empty"):
            database.backup(base / "full")
        (base / "empty").mkdir()
        database.backup(base / "empty")
    assert names_in(base / "full") == {"letter.txt"}


def test_backup__does_not_copy_damage(base):
    with opened(base / "store") as database:
        Schedule(database, random.Random(3)).run(30)
        database.optimize()
    victim = max(base.glob("store/terms*"), key=lambda path: path.stat().st_size)
    data = bytearray(victim.read_bytes())
    data[100] ^= 1
    victim.write_bytes(data)
    with opened(base / "store", read_only=True) as database:
        with pytest.raises(StorageError, match="differs from what was written"):
            database.backup(base / "copy")
        assert not any(base.glob("copy/*"))


def test_optimize__drops_removed_rows_and_unused_terms(base):
    with opened(base / "store") as database:
        schedule = Schedule(database, random.Random(6))
        schedule.run(80)
        database.optimize()
        state = database.state
        assert contents(state) == schedule.states[schedule.acked]
        assert len(state.tables.layers) == 1 and len(state.dictionary.segments) == 1
        used = {part for row, _ in contents(state)[0] for part in row if part}
        assert state.dictionary.size == len(used)
        assert {state.dictionary.key(i + 1) for i in range(len(used))} == used
        state.tables.validate()
        schedule.run(20)
        assert contents(database.state) == schedule.states[schedule.acked]


def test_optimize__renumbers_graphs_and_relations_of_any_arity(base):
    with opened(base / "store") as database:
        with database.writing() as dictionary:
            unused, name, a, b, g = dictionary.encode_keys([key(n) for n in "unabg"]).tolist()
            facts = ChangedRows.of(([unused], [unused], [a]))
            triples = ChangedRows.of(([a, b], [b, a], [b, b]), INFERRED)
            graphs = ChangedRows.of(([g],))
            database.commit([Changes(facts, graphs=graphs, tuples={(name, 3): triples})])
            gone = ChangedRows.of(([unused], [unused], [a]), 0, 1)
            database.commit([Changes(gone)])
        database.optimize()
    with opened(base / "store") as database:
        state = database.state
        state.tables.validate()
        assert state.dictionary.new_keys(0, 4) == [key(n) for n in "nabg"]
        assert state.tables.graphs().tolist() == [4]
        assert state.tables.tuple_names() == [(1, 3)]
        (block,) = state.tables.tuples(1, 3).scan(INFERRED)
        assert [column.tolist() for column in block] == [[2, 3], [3, 2], [3, 3]]
        assert state.tables.total() == 0


def test_optimize__of_an_empty_store_is_an_empty_store(base):
    with opened(base / "store") as database:
        database.optimize()
        add(database, "a")
        with database.writing() as dictionary:
            row = (key("p"), key("a"), key("o"), None)
            database.commit([changes_of(dictionary, {row: 0}, {row: 1})])
        database.optimize()
        assert database.state.term_count == 0 and database.state.tables.layers == ()
        add(database, "b")
    with opened(base / "store") as database:
        assert subjects(database.state) == {"b"}


def test_verify__looks_inside_of_the_rows(base):
    with opened(None) as database:
        add(database, *"abcdef")
        assert database.verify() == []
        layer = database.state.tables.layers[0]
        layer.facts.forward.keys._array.flags.writeable = True
        layer.facts.forward.keys._array[0] = np.uint64(2**63)
        assert len(database.verify()) == 1


def test_info__adds_up(base):
    with opened(base / "store", durability="group") as database:
        Schedule(database, random.Random(8)).run(30)
        info = database.info()
        assert info.path == base / "store" and info.durability == "group"
        assert info.commit == database.state.commit
        assert sum(info.term_segments) <= info.terms == database.state.term_count
        assert set(info.files) == names_in(base / "store")
        assert info.disk_bytes == sum(p.stat().st_size for p in base.glob("store/*"))


def test_files_that_nothing_names__are_removed_by_the_next_writer(base):
    with opened(base / "store") as database:
        Schedule(database, random.Random(9)).run(30)
    before = names_in(base / "store")
    for name in ("terms-000900.seg", "journal-000099.log", "MANIFEST.new"):
        (base / "store" / name).write_bytes(b"left behind")
    (base / "store" / "notes.txt").write_text("mine")
    with opened(base / "store", read_only=True):
        assert names_in(base / "store") > before
    with opened(base / "store"):
        assert names_in(base / "store") == before | {"notes.txt"}


# -- errors ---------------------------------------------------------------------------------------


def test_mistyped_path__is_refused_and_nothing_is_made(base):
    with pytest.raises(StorageError, match=r"there is no store at .*tpyo: check the path"):
        opened(base / "tpyo", read_only=True)
    with pytest.raises(StorageError, match="there is no store at"):
        opened(base / "tpyo", create=False)
    assert not (base / "tpyo").exists()
    (base / "empty").mkdir()
    with pytest.raises(StorageError, match=r"there is no store in .*, it is empty"):
        opened(base / "empty", read_only=True)


@pytest.mark.parametrize("read_only", [True, False])
def test_directory_of_something_else__is_refused(base, read_only):
    (base / "photos").mkdir()
    (base / "photos" / "cat.jpg").write_bytes(b"...")
    with pytest.raises(FormatError, match=r"photos is not a store: .* holds cat\.jpg"):
        opened(base / "photos", read_only=read_only)
    assert names_in(base / "photos") == {"cat.jpg"}
    with pytest.raises(StorageError, match=r"cat\.jpg is a file; a store is a directory"):
        opened(base / "photos" / "cat.jpg", read_only=read_only)


def test_missing_manifest__is_not_taken_for_a_new_store(base):
    with opened(base / "store") as database:
        add(database, "a")
    (base / "store" / "MANIFEST").unlink()
    with pytest.raises(FormatError, match="journal with commits but no MANIFEST"):
        opened(base / "store")
    with opened(base / "other") as database:
        Schedule(database, random.Random(1)).run(30)
    (base / "other" / "MANIFEST").unlink()
    with pytest.raises(FormatError, match="files of a store but no MANIFEST"):
        opened(base / "other")


@pytest.mark.parametrize("kind", ["terms", "layer", "journal"])
@pytest.mark.parametrize("read_only", [True, False])
def test_missing_file__is_named(base, kind, read_only):
    with opened(base / "store") as database:
        Schedule(database, random.Random(1)).run(30)
        database.maintenance.checkpoint()
        add(database, "a")
    victim = next(base.glob(f"store/{kind}*"))
    victim.unlink()
    with pytest.raises(CorruptError, match=rf"{victim.name} is damaged: it is missing"):
        opened(base / "store", read_only=read_only)


def test_newer_format__is_refused_with_the_way_out(base, monkeypatch):
    opened(base / "store").close()
    manifest = read_manifest(RealFiles(), base / "store")
    with monkeypatch.context() as patch:
        patch.setattr("triplestore.storage.manifest.VERSION", 9)
        (base / "store" / "MANIFEST").write_bytes(manifest.to_bytes())
    for read_only in (True, False):
        with pytest.raises(FormatError, match=r"format 9, written by a newer .*: upgrade"):
            opened(base / "store", read_only=read_only)


def test_truncated_journal__of_a_closed_store_is_noticed(base):
    tuning = Tuning()
    with opened(base / "store", tuning=tuning) as database:
        for name in "abc":
            add(database, name)
        ends = database.disk.journal.end
    journal = next(base.glob("store/journal*"))
    data = journal.read_bytes()
    assert len(data) == ends
    for size in (len(data) - 3, len(data) - 150, 64):
        journal.write_bytes(data[:size])
        with pytest.raises(CorruptError, match="commit 3 was made durable"):
            opened(base / "store", read_only=True)
        with pytest.raises(CorruptError, match="commit 3 was made durable"):
            opened(base / "store")


def test_closed_database__says_so(base):
    database = opened(base / "store")
    database.close()
    database.close()
    for call in (database.refresh, database.verify, database.optimize, database.flush):
        if call == database.refresh:
            continue
        with pytest.raises(UsageError, match="is closed"):
            call()


def test_unknown_durability__is_refused():
    with pytest.raises(UsageError, match="commit, group, flush"):
        Database.open(None, durability="eventually")
