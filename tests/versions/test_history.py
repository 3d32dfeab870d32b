"""Past commits are as they were, whatever was done to the store since."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyoxigraph as ox
import pytest
from support.faulty import FaultyFiles
from support.fuzzing import each_seed, seeds

from tests.versions.copies import PREFIX, RULES, Content, Copy, content_of
from tests.versions.test_branches_random import equal_individuals, write
from tests.versions.test_named_branches import opened
from triplestore import Store, errors

DATA = "@prefix : <http://ex.org/> . "


class Remembered:
    """A store with a history, and what was seen after each of its commits."""

    def __init__(self, seed: int, path: Path | None = None, copy: Copy | None = None) -> None:
        self.rng = Random(seed)
        self.path = path
        self.store = Store() if path is None else opened(path, FaultyFiles())
        self.copy = copy or Copy()
        if self.rng.random() < 0.4:
            self.store.reason(tuning={"schemes": "compressed"})
        write(self.rng, self.store, self.copy)
        self.store.keep_history()
        self.first = self.store.commit
        self.seen: dict[int, Content] = {}
        self._look()

    def _look(self) -> None:
        self.seen[self.store.commit] = content_of(self.store)

    def step(self) -> None:
        kind = self.rng.random()
        if kind < 0.8:
            write(self.rng, self.store, self.copy)
            self._look()
        elif kind < 0.86:
            self.store.optimize()
        elif kind < 0.92:
            self.store._database.upkeep.run()
        elif kind < 0.96:
            self.store._database.upkeep.checkpoint()
        elif self.path is not None:
            self.store.close()
            self.store = opened(self.path, FaultyFiles())

    def check(self) -> None:
        """Each past commit, and each difference of two."""
        numbers = list(range(self.first, self.store.commit + 1))
        assert [each.commit for each in self.store.log()] == numbers[::-1]
        for number in self.rng.sample(numbers, len(numbers)):
            past = self.store.at(number)
            assert content_of(past) == self.seen[number], number
            assert past.commit == number
        past = self.store.at(self.rng.choice(numbers))
        assert past.audit(thorough=True).problems() == []
        self.check_changes(self.rng.choice(numbers))

    def check_changes(self, since: int) -> None:
        with self.store.changes(since=since) as feed:
            known = self.seen[since]
            asserted, inferred = set(known.asserted), set(known.inferred)
            while (changes := feed.next(timeout=0)) is not None:
                for quad, follows in changes.removed:
                    (inferred if follows else asserted).remove(quad)
                for quad, follows in changes.added:
                    (inferred if follows else asserted).add(quad)
                now = self.seen[changes.commit]
                assert (asserted, inferred) == (now.asserted, now.inferred), changes.commit
            newest = self.seen[self.store.commit]
            assert (asserted, inferred) == (newest.asserted, newest.inferred)


def run(seed: int, path: Path | None, steps: int = 16, copy: Copy | None = None) -> None:
    remembered = Remembered(seed, path, copy)
    for _ in range(steps):
        remembered.step()
    remembered.check()
    remembered.store.close()


@each_seed(range(6))
def test_past_commits_in_memory__are_as_they_were(seed: int) -> None:
    run(seed, None)


@pytest.mark.parametrize("seed", range(4))
def test_past_commits_on_disk__are_as_they_were(tmp_path: Path, seed: int) -> None:
    run(seed, tmp_path / "store")


def test_past_commits_with_representatives__are_as_they_were(tmp_path: Path) -> None:
    run(2, tmp_path / "store", copy=equal_individuals())


@pytest.mark.long
def test_past_commits_with_representatives__are_as_they_were_often(tmp_path: Path) -> None:
    for seed in seeds(60):
        run(seed, tmp_path / str(seed), 20, equal_individuals())


@pytest.mark.long
def test_past_commits__are_as_they_were_over_many_schedules(tmp_path: Path) -> None:
    for seed in seeds(600):
        run(seed, tmp_path / str(seed) if seed % 2 else None, 30)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Store(tmp_path / "store") as store:
        store.load(DATA + ":a :q :b . _:x :p 1 .", "ttl")
        store.reason(rules=PREFIX + RULES[0])
        store.keep_history()
        for target in "cdef":
            store.load(DATA + f":b :q :{target} .", "ttl")
    return tmp_path / "store"


def numbers(store: Store) -> list[int]:
    return [each.commit for each in store.log()]


def test_history__is_not_kept_unless_asked_for(tmp_path: Path) -> None:
    with Store(tmp_path / "store") as store:
        store.load(DATA + ":a :p :b .", "ttl")
        assert store.log() == []
        assert sorted(each.name for each in (tmp_path / "store").iterdir()) == [
            "LOCK",
            "MANIFEST",
            "journal-000001.log",
        ]


def test_history__says_what_when_and_by_whom(path: Path) -> None:
    before = time.time()
    with Store(path) as store, store.transaction(message="más", author="Ada") as t:
        t.load(DATA + ":f :q :g .", "ttl")
    with Store(path) as store:
        newest, earlier = store.log(2)
    assert (newest.message, newest.author) == ("más", "Ada")
    assert before <= newest.time <= time.time()
    assert (newest.change.added, newest.change.inferred_added) == (1, 2)
    assert (earlier.message, earlier.commit) == (None, newest.commit - 1)


def test_branch__is_committed_with_a_message(path: Path) -> None:
    with Store(path) as store, store.branch() as branch:
        branch.load(DATA + ":f :q :g .", "ttl")
        branch.commit(message="tried", author="Ada")
        newest = store.log(1)[0]
    assert (newest.message, newest.author, newest.change.added) == ("tried", "Ada", 1)


def test_history__ends_where_its_limits_say(path: Path) -> None:
    with Store(path) as store:
        last = store.commit
        assert numbers(store) == list(range(last, 2, -1))
        store.keep_history(commits=3)
        assert numbers(store) == [last + 1, last, last - 1]
        with pytest.raises(errors.LostPlaceError, match=f"begins with commit {last - 1}"):
            store.at(3)
        store.keep_history(commits=100)
        assert numbers(store) == [last + 2, last + 1, last, last - 1]
        store.keep_history(size=1)
        assert numbers(store) == [last + 3]


def test_history__forgets_by_age(path: Path) -> None:
    with Store(path) as store:
        store.keep_history(age=timedelta(hours=1))
        assert len(numbers(store)) > 3
        store.keep_history(age=0.0)
        time.sleep(0.01)
        assert numbers(store) == [store.commit]


@pytest.mark.parametrize("limits", [{"commits": -1}, {"age": -1.0}, {"size": True}])
def test_history__refuses_limits_that_are_none(limits: dict[str, Any]) -> None:
    with pytest.raises(errors.UsageError, match="cannot limit a history"):
        Store().keep_history(**limits)


def test_history_that_is_off__is_gone(path: Path) -> None:
    with Store(path) as store:
        store.keep_history(off=True)
        assert store.log() == []
        assert list((path / "history").iterdir()) == []
        store._database.upkeep.checkpoint()
        with pytest.raises(errors.LostPlaceError, match="keeps no history"):
            store.at(3)
        store.keep_history()
        assert numbers(store) == [store.commit]


def test_history__is_in_backups(path: Path, tmp_path: Path) -> None:
    with Store(path) as store:
        seen = {number: content_of(store.at(number)) for number in numbers(store)}
        store.backup(tmp_path / "copy")
    with Store(tmp_path / "copy") as store:
        assert {number: content_of(store.at(number)) for number in numbers(store)} == seen
        store.load(DATA + ":new :q :newer .", "ttl")
        assert len(numbers(store)) == len(seen) + 1
        assert store.verify() == []


def test_history__can_be_read_beside_the_writer(path: Path) -> None:
    with Store(path) as store, Store.read_only(path) as reader:
        assert numbers(reader) == numbers(store)
        store.load(DATA + ":new :q :newer .", "ttl")
        reader.refresh()
        assert numbers(reader) == numbers(store)
        assert content_of(reader.at(4)) == content_of(store.at(4))


def test_damaged_history__is_found_and_does_not_hurt_the_store(path: Path) -> None:
    (file,) = (path / "history").iterdir()
    data = bytearray(file.read_bytes())
    data[200] ^= 1
    file.write_bytes(data)
    with Store(path) as store:
        assert len(store.verify()) == 1
        before = len(store)
        store.load(DATA + ":x :p :y .", "ttl")
        assert len(store) == before + 1
        store.keep_history(off=True)
        assert store.verify() == []


def test_commits_of_branches__are_kept_on_the_base_of_a_named_one(path: Path) -> None:
    with Store(path) as store:
        with store.branch("try") as branch:
            branch.load(DATA + ":f :q :g .", "ttl")
            before = content_of(branch)
        for name in "xyz":
            store.load(DATA + f":{name} :q :a .", "ttl")
            store._database.upkeep.checkpoint()
        store.optimize()
        with store.branch("try") as again:
            assert content_of(again) == before


def test_past_counts__are_those_of_then(tmp_path: Path) -> None:
    with Store(tmp_path / "store") as store:
        store.reason(rules=PREFIX + ":Both[?x] :- :p[?x, ?y] .")
        store.keep_history()
        store.load(DATA + ":a :p :b, :c .", "ttl")
        store.branch("try").close()
        store.update(PREFIX + "DELETE WHERE { :a :p ?x }")
        store._database.upkeep.checkpoint()
        assert store.at(3).audit(thorough=True).problems() == []
        with store.branch("try") as branch:
            for left, name in ((1, "b"), (0, "c")):
                branch.update(PREFIX + f"DELETE DATA {{ :a :p :{name} }}")
                assert branch.count("inferred") == left
                assert branch.audit(thorough=True).problems() == []


def test_feed__goes_from_the_past_to_what_is_new(path: Path) -> None:
    with Store(path) as store:
        with store.changes(since=3) as feed:
            first = feed.next(timeout=5)
            assert first is not None
            assert first.commit == 4
            store.load(DATA + ":new :q :newer .", "ttl")
            seen = [first.commit]
            while (changes := feed.next(timeout=0.5)) is not None:
                seen.append(changes.commit)
        assert seen == list(range(4, store.commit + 1))
        store._database.upkeep.checkpoint()
    with Store(path) as store, pytest.raises(errors.LostPlaceError):
        store.changes(since=1)


def test_past_terms__are_known_after_optimize(path: Path) -> None:
    with Store(path) as store:
        gone = ox.Quad(ox.NamedNode("http://gone"), ox.NamedNode("http://p"), ox.Literal("gone"))
        store.add(gone)
        number = store.commit
        store.remove(gone)
        store.optimize()
        store.load(DATA + ":one :q :two, :three, :four .", "ttl")
        assert gone in store.at(number)
        assert gone not in store.at(number + 1)
