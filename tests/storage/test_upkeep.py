"""Backup, optimize, verify and info of a store."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.databases import add, names_in, opened, subjects
from support.schedule import Schedule, changes_of, contents, key

from triplestore.errors import (
    StorageError,
)
from triplestore.relations import INFERRED, ChangedRows, Changes


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
