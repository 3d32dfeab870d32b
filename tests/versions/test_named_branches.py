"""Named branches are kept with their store, across closing, moving and crashes."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.faulty import FaultyFiles
from support.schedule import SMALL

from tests.versions.copies import PREFIX, Copy, content_of, made_anew
from tests.versions.crashing import crashed_stores
from tests.versions.test_branches_random import write
from triplestore import Store, errors
from triplestore.storage import Database
from triplestore.storage.thresholds import STORAGE
from triplestore.versions.branch_journals import FOLDER, KeptBranch

DATA = "@prefix : <http://ex.org/> . "


def opened(path: Path, files: FaultyFiles) -> Store:
    store = Store.__new__(Store)
    store._setup(Database.open(path, files=files, thresholds=SMALL, background=False))
    return store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Store(tmp_path / "store") as store:
        store.load(DATA + ":a :p :b . _:x :q 1 .", "ttl")
        store.reason(rules=PREFIX + ":r[?y, ?x] :- :p[?x, ?y] .")
    return tmp_path / "store"


def test_named_branch__is_as_it_was_when_it_is_opened_again(path: Path) -> None:
    with Store(path) as store:
        with store.branch("try") as branch:
            branch.load(DATA + ":c :p :d . _:x :q 2 .", "ttl")
            branch.add_rules(PREFIX + ":s[?x] :- :r[?x, ?y] .")
            branch.bind("more", "http://more.org/")
            branch.update(PREFIX + "DELETE DATA { :a :p :b }")
            before = content_of(branch)
        store.load(DATA + ":e :p :f .", "ttl")
    with Store(path) as store, store.branch("try") as branch:
        assert content_of(branch) == before
        assert branch.prefixes["more"] == "http://more.org/"
        assert branch.is_stale
        assert len(branch.program.rules) == 2


def test_branches__are_listed_and_deleted(path: Path) -> None:
    with Store(path) as store:
        store.branch("one").close()
        with store.branch("two") as branch:
            branch.load(DATA + ":c :p :d, :e .", "ttl")
        listed = [(each.name, each.base, each.commits, each.edits) for each in store.branches()]
        assert listed == [("one", 2, 0, 0), ("two", 2, 1, 2)]
        store.delete_branch("one")
        assert [each.name for each in store.branches()] == ["two"]
        with pytest.raises(errors.MissingError, match="the store has: two"):
            store.delete_branch("one")


def test_named_branch__is_gone_when_it_was_committed(path: Path) -> None:
    with Store(path) as store:
        branch = store.branch("try")
        branch.load(DATA + ":c :p :d .", "ttl")
        branch.commit()
        assert store.branches() == []
        with pytest.raises(errors.UsageError, match="it was committed"):
            branch.load(DATA + ":c :p :e .", "ttl")
        assert len(store.branch("try").diff().added) == 0


def test_committed_branch__whose_file_is_left_does_not_come_back(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(path) as store, store.branch("try") as branch:
        branch.load(DATA + ":c :p :d .", "ttl")
        with monkeypatch.context() as killed:
            killed.setattr(KeptBranch, "remove", lambda self: None)
            branch.commit()
    with Store(path) as store:
        assert store.branches() == []
        with store.branch("try") as again:
            assert not again.diff()
        assert len(list((path / FOLDER).iterdir())) == 1


def test_named_branch__is_closed_with_its_store(path: Path) -> None:
    with Store(path) as store:
        branch = store.branch("try")
        branch.load(DATA + ":c :p :d .", "ttl")
        private = store.branch()
    with pytest.raises(errors.UsageError, match="it was closed"):
        branch.load(DATA + ":c :p :e .", "ttl")
    assert len(branch.diff(branch.snapshot()).added) == 0
    private.load(DATA + ":c :p :e .", "ttl")
    with pytest.raises(errors.UsageError, match="is closed"):
        private.commit()
    with Store(path) as store, store.branch("try") as again:
        assert len(again.diff().added) == 1


def test_named_branch__is_open_once(path: Path) -> None:
    with (
        Store(path) as store,
        store.branch("try"),
        pytest.raises(errors.LockedError, match="open already"),
    ):
        store.branch("try")


def test_named_branch__whose_base_is_not_kept_says_so_and_can_be_rebased(path: Path) -> None:
    with Store(path) as store:
        with store.branch("try") as branch:
            branch.load(DATA + ":c :p :d .", "ttl")
        store.load(DATA + ":e :p :f .", "ttl")
        store._database.upkeep.checkpoint()
        store.load(DATA + ":g :p :h .", "ttl")
    with Store(path) as store:
        with pytest.raises(errors.LostPlaceError, match="based on commit 2"):
            store.branch("try")
        with store.branch("try", rebase=True) as branch:
            assert branch.base == store.commit
            assert len(branch.diff().added) == 1
            assert len(branch.diff().inferred_added) == 1
        assert store.branch("try").base == store.commit


def test_named_branch__survives_optimize(path: Path) -> None:
    with Store(path) as store, store.branch("try") as branch:
        branch.load(DATA + ":c :p :d .", "ttl")
        before = content_of(branch)
        store.optimize()
        assert content_of(branch) == before
        branch.close()
        with store.branch("try") as again:
            assert content_of(again) == before
            again.commit()
        assert content_of(store) == before


@pytest.mark.parametrize("name", ["", " x", "a\nb", "x" * 201])
def test_branch__refuses_names_that_cannot_be_shown(path: Path, name: str) -> None:
    with Store(path) as store, pytest.raises(errors.UsageError, match="name of a branch"):
        store.branch(name)


def test_named_branch__needs_a_directory_and_a_writer(path: Path) -> None:
    with pytest.raises(errors.UsageError, match="in memory"):
        Store().branch("try")
    with Store.read_only(path) as reader:
        with pytest.raises(errors.ReadOnlyError):
            reader.branch("try")
        with reader.branch() as branch:
            branch.load(DATA + ":c :p :d .", "ttl")
            assert len(branch.diff(reader).inferred_added) == 1
            with pytest.raises(errors.ReadOnlyError):
                branch.commit()


# -- crashes --------------------------------------------------------------------------------


class Kept:
    """What is known of a store and its branches after each step."""

    def __init__(self, store: Copy, branches: dict[str, tuple[Copy, Copy]]) -> None:
        self.store = store.copy()
        self.branches = {n: (base.copy(), own.copy()) for n, (base, own) in branches.items()}


class Schedule:
    """Random steps of a store and its named branches, each with what it leaves."""

    def __init__(self, files: FaultyFiles, path: Path, seed: int) -> None:
        self.files, self.rng = files, Random(seed)
        self.store = opened(path, files)
        self.copy = Copy()
        self.branches: dict[str, tuple[Copy, Copy]] = {}
        self.states = [Kept(self.copy, self.branches)]
        self.open: dict[str, Any] = {}

    def run(self, steps: int) -> None:
        for _ in range(steps):
            kind = self.rng.random()
            if kind < 0.3:
                write(self.rng, self.store, self.copy)
            elif kind < 0.75:
                self._write_branch()
            elif kind < 0.85:
                self._rebase()
            elif kind < 0.95:
                self._end()
            else:
                self.store._database.upkeep.checkpoint()
            self._acknowledge()
        self.store.close()

    def _acknowledge(self) -> None:
        self.states.append(Kept(self.copy, self.branches))
        self.files.note(("acked", len(self.states) - 1))

    def _branch(self) -> str:
        name = self.rng.choice("xyz")
        if name not in self.open:
            self.open[name] = self.store.branch(name)
            self.branches[name] = (self.copy.copy(), self.copy.copy())
            self._acknowledge()
        return name

    def _write_branch(self) -> None:
        name = self._branch()
        write(self.rng, self.open[name], self.branches[name][1])

    def _rebase(self) -> None:
        name = self._branch()
        base, own = self.branches[name]
        self.open[name].rebase()
        self.branches[name] = (self.copy.copy(), made_anew(base, own, self.copy))

    def _end(self) -> None:
        name = self._branch()
        branch = self.open.pop(name)
        base, own = self.branches.pop(name)
        if self.rng.random() < 0.3:
            self.store.delete_branch(name)
            return
        unmoved = not branch.is_stale
        branch.commit(rebase=True)
        self.copy = own if unmoved else made_anew(base, own, self.copy)


def found_in(store: Store) -> tuple[Any, dict[str, Any]]:
    """What a store shows, and its branches; None for one whose base is not kept."""
    branches: dict[str, Any] = {}
    for each in store.branches():
        try:
            with store.branch(each.name) as branch:
                branches[each.name] = content_of(branch)
        except errors.LostPlaceError:
            branches[each.name] = None
    return content_of(store), branches


def is_as(kept: Kept, found: tuple[Any, dict[str, Any]]) -> bool:
    content, branches = found
    return (
        kept.store.content() == content
        and kept.branches.keys() == branches.keys()
        and all(
            shown is None or shown == kept.branches[name][1].content()
            for name, shown in branches.items()
        )
    )


def crash_everywhere(base: Path, seed: int, share: float, steps: int) -> int:
    files, rng, checked = FaultyFiles(), random.Random(seed), 0
    schedule = Schedule(files, base / "store", seed)
    schedule.run(steps)
    for target, acked in crashed_stores(files, base, FOLDER, rng, share):
        with opened(target, FaultyFiles()) as store:
            assert store.verify() == []
            found = found_in(store)
            possible = schedule.states[acked : acked + 2]
            assert any(is_as(kept, found) for kept in possible), (seed, acked)
            with store.branch("later") as later:
                later.load(DATA + ":later :p :b .", "ttl")
            with store.branch("later") as later:
                assert len(later.diff().added) == 1
        checked += 1
    return checked


@pytest.fixture
def small_numbers(tune: Callable[..., None]) -> None:
    small = {"synced_bytes": 1500, "gathered_bytes": 300, "written_bytes": 32768}
    tune(STORAGE, reserve_bytes=3000, **small)


def test_crash__leaves_store_and_branches_as_after_some_step(
    tmp_path: Path, small_numbers: None
) -> None:
    assert crash_everywhere(tmp_path, 3, 0.1, 20) > 10


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20, 32))
def test_crash__at_every_point_leaves_branches_as_after_some_step(
    tmp_path: Path, small_numbers: None, seed: int
) -> None:
    crash_everywhere(tmp_path, seed, 0.6, 40)
