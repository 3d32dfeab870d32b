"""Stale closures: never read from, closed by whoever opens the store for writing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from triplestore import Store
from triplestore.errors import StaleError, UsageError
from triplestore.storage import Database
from triplestore.storage.metadata import STALE
from triplestore.store.transaction import writer_of

PREFIX = "@prefix : <http://ex.org/> ."
RULES = (
    PREFIX
    + """
:ancestor[?x, ?y] :- :parent[?x, ?y] .
:ancestor[?x, ?z] :- :ancestor[?x, ?y], :parent[?y, ?z] .
"""
)
FAMILY = PREFIX + " :a :parent :b . :b :parent :c ."


def make_stale(path: Path) -> Store:
    """A store with rules, to which two more generations were added without what follows."""
    store = Store(path)
    store.load(FAMILY, "ttl")
    store.reason(rules=RULES)
    with store.transaction() as transaction:
        transaction.load(PREFIX + " :c :parent :d . :d :parent :e .", "ttl")
        writer_of(transaction).put_off_inference()
    return store


def test_stale__no_answer_comes_from_a_stale_closure(tmp_path: Path) -> None:
    store = make_stale(tmp_path / "db")
    with pytest.raises(StaleError, match=r"some 6 facts"):
        len(store)
    with pytest.raises(StaleError, match="up to date"):
        store.snapshot()
    with pytest.raises(StaleError, match="open the store for writing"):
        Store.read_only(tmp_path / "db")


def test_stale__a_reader_that_goes_on_is_refused(tmp_path: Path) -> None:
    store = Store(tmp_path / "db")
    store.load(FAMILY, "ttl")
    store.reason(rules=RULES)
    reader = Store.read_only(tmp_path / "db")
    assert len(reader) == 5
    with store.transaction() as transaction:
        transaction.load(PREFIX + " :c :parent :d .", "ttl")
        writer_of(transaction).put_off_inference()
    with pytest.raises(StaleError):
        reader.refresh()
        len(reader)


def test_stale__opening_for_writing_closes(tmp_path: Path) -> None:
    make_stale(tmp_path / "db")._database.close()
    store = Store(tmp_path / "db")
    assert (store.count("explicit"), store.count("inferred")) == (4, 10)
    assert STALE not in store._database.state.meta
    store.remove_all(list(store.quads_for_pattern(None, None, None, None, facts="explicit"))[:1])
    fresh = Store()
    fresh.load(
        "\n".join(
            f"{quad} ."
            for quad in store.quads_for_pattern(None, None, None, None, facts="explicit")
        ),
        "nt",
    )
    fresh.reason(rules=RULES)
    assert set(map(str, fresh)) == set(map(str, store))


def test_stale__facts_that_follow_no_more_are_gone(tmp_path: Path) -> None:
    store = Store(tmp_path / "db")
    store.load(FAMILY, "ttl")
    store.reason(rules=RULES)
    with store.transaction() as transaction:
        transaction.update("PREFIX : <http://ex.org/> DELETE DATA { :b :parent :c }")
        writer_of(transaction).put_off_inference()
    store._database.close()
    assert len(Store(tmp_path / "db")) == 2


def test_stale__without_rules_there_is_nothing_to_put_off(tmp_path: Path) -> None:
    store = Store(tmp_path / "db")
    with store.transaction() as transaction:
        transaction.load(FAMILY, "ttl")
        writer_of(transaction).put_off_inference()
    assert len(store) == 2


def test_stale__strict_stores_put_nothing_off(tmp_path: Path) -> None:
    store = Store(tmp_path / "db")
    store.reason(rules=RULES, strict=True)
    with store.transaction() as transaction, pytest.raises(UsageError, match="strict"):
        writer_of(transaction).put_off_inference()


def test_stale__the_estimate_is_in_proportion(tmp_path: Path) -> None:
    make_stale(tmp_path / "db")._database.close()
    with Database.open(tmp_path / "db", read_only=True) as database:
        assert json.loads(database.state.meta[STALE])["facts"] == 6
