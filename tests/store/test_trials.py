"""Trials: transactions that show what a change would do, and are rolled back."""

from __future__ import annotations

from pathlib import Path

import pytest

from triplestore import Store, errors

PREFIX = "@prefix : <http://ex.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
ANIMALS = PREFIX + ":Cat rdfs:subClassOf :Animal . :tom a :Cat ."


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Store(tmp_path / "store") as store:
        store.load(ANIMALS, "ttl")
        store.reason("owl-rl")
    return tmp_path / "store"


def test_trial__shows_what_follows_and_leaves_nothing(path: Path) -> None:
    with Store(path) as store:
        before, terms = sorted(map(str, store)), store.info().terms
        with store.trial() as trial:
            trial.load(PREFIX + ":kit a :Cat .", "ttl")
            assert trial.ask("ASK { :kit a :Animal }")
            assert not store.ask("ASK { :kit a :Animal }")
        assert (sorted(map(str, store)), store.info().terms) == (before, terms)


def test_trial__cannot_be_committed(path: Path) -> None:
    with Store(path) as store, store.trial() as trial:
        trial.load(PREFIX + ":kit a :Cat .", "ttl")
        with pytest.raises(errors.UsageError, match="trial"):
            trial.commit()
        assert store.commit == 2


def test_trial__of_a_store_opened_for_reading_follows_its_writer(path: Path) -> None:
    with Store(path) as store, Store.read_only(path) as reader:
        for name in ("kit", "ben"):
            with reader.trial() as trial:
                trial.load(PREFIX + ":new a :Cat .", "ttl")
                assert trial.ask("ASK { :new a :Animal }")
            store.load(PREFIX + f":{name} a :Cat .", "ttl")
            assert reader.refresh()
            assert sorted(map(str, reader)) == sorted(map(str, store))


def test_trial__of_a_closed_store_is_refused(path: Path) -> None:
    store = Store.read_only(path)
    store.close()
    with pytest.raises(errors.UsageError, match="closed"), store.trial():
        pass
