"""The database as its users see it: commits, reopening, errors."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import threading
import time

import pytest
from support.databases import add, names_in, opened, subjects
from support.schedule import Schedule, changes_of, contents, key

from triplestore.errors import (
    CorruptError,
    FormatError,
    StorageError,
    UsageError,
)
from triplestore.relations import EXPLICIT, Layer, merge_layers
from triplestore.storage import Database, State, StorageThresholds
from triplestore.storage.files.manifest import read_manifest
from triplestore.storage.files.system import RealFiles

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
    thresholds = StorageThresholds(journal_records=10**9, journal_bytes=10**9)
    with opened(base / "store", thresholds=thresholds, durability="flush") as database:
        for n in range(3000):
            add(database, f"s{n}")
    with opened(base / "store", thresholds=thresholds) as database:
        assert len(database.state.tables.layers) == 1
        assert len(subjects(database.state)) == 3000


def test_background_thread__checkpoints_and_merges_and_ends(base):
    thresholds = StorageThresholds(journal_records=20, journal_bytes=10**6, reserve_after=3)
    with Database.open(base / "store", thresholds=thresholds) as database:
        for n in range(700):
            add(database, f"s{n}")
    assert database.upkeep.error is None
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

    monkeypatch.setattr("triplestore.storage.upkeep.background.merge_layers", merge)
    return began


def test_long_merge__does_not_keep_the_journal_from_being_checkpointed(base, monkeypatch):
    thresholds = StorageThresholds(journal_records=20, journal_bytes=10**6, large_rows=300)
    with Database.open(base / "store", thresholds=thresholds) as database:
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
        assert database.disk.manifest.commit >= goal and database.upkeep.error is None
        assert database.state.tables.layers[0].rows == 1200
        assert database.state.tables.total() == 1260 and database.verify() == []
    with opened(base / "store") as database:
        assert database.state.tables.total() == 1260


def test_closing__does_not_wait_for_a_long_merge(base, monkeypatch):
    thresholds = StorageThresholds(large_rows=300)
    began = slow_merge(monkeypatch, lambda: False)
    database = Database.open(base / "store", thresholds=thresholds)
    add(database, *(f"a{n}" for n in range(600)))
    add(database, *(f"b{n}" for n in range(600)))
    assert began.wait(30)
    database.close()
    assert database.upkeep.error is None
    monkeypatch.undo()
    with opened(base / "store") as database:
        assert database.state.tables.total() == 1200
        database.upkeep.run()
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


# -- errors ---------------------------------------------------------------------------------------


def test_mistyped_path__is_refused_and_nothing_is_made(base):
    with pytest.raises(StorageError, match=r"there is no store at .*tpyo: check the path"):
        opened(base / "tpyo", read_only=True)
    with pytest.raises(StorageError, match="there is no store at"):
        opened(base / "tpyo", create=False)
    assert not (base / "tpyo").exists()
    (base / "empty").mkdir()
    with pytest.raises(StorageError, match=r"there is no store in .*, which is empty"):
        opened(base / "empty", read_only=True)


@pytest.mark.parametrize("read_only", [True, False])
def test_directory_of_something_else__is_refused(base, read_only):
    (base / "photos").mkdir()
    (base / "photos" / "cat.jpg").write_bytes(b"...")
    with pytest.raises(FormatError, match=r"photos is not a store: .* holds cat\.jpg"):
        opened(base / "photos", read_only=read_only)
    assert names_in(base / "photos") == {"cat.jpg"}
    with pytest.raises(StorageError, match=r"cat\.jpg is a file, but a store is a directory"):
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
        database.upkeep.checkpoint()
        add(database, "a")
    victim = next(base.glob(f"store/{kind}*"))
    victim.unlink()
    with pytest.raises(CorruptError, match=rf"{victim.name} is damaged: it is missing"):
        opened(base / "store", read_only=read_only)


def test_newer_format__is_refused_with_the_way_out(base, monkeypatch):
    opened(base / "store").close()
    manifest = read_manifest(RealFiles(), base / "store")
    with monkeypatch.context() as patch:
        patch.setattr("triplestore.storage.files.manifest.VERSION", 9)
        (base / "store" / "MANIFEST").write_bytes(manifest.to_bytes())
    for read_only in (True, False):
        with pytest.raises(FormatError, match=r"format 9, written by a newer .*: upgrade"):
            opened(base / "store", read_only=read_only)


def test_truncated_journal__of_a_closed_store_is_noticed(base):
    thresholds = StorageThresholds()
    with opened(base / "store", thresholds=thresholds) as database:
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
