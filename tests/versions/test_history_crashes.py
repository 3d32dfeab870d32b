"""After a crash at any point, the history has every commit that the store has, as it was."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from support.faulty import FaultyFiles

from tests.versions.copies import Content, Copy, content_of
from tests.versions.crashing import crashed_stores
from tests.versions.test_branches_random import write
from tests.versions.test_named_branches import opened, small_numbers
from triplestore.storage.thresholds import STORAGE
from triplestore.versions.history_records import FOLDER
from triplestore.versions.thresholds import VERSIONS

__all__ = ["small_numbers"]


class Schedule:
    """Random commits and upkeep of a store with a history, and what each commit left."""

    def __init__(self, files: FaultyFiles, path: Path, seed: int) -> None:
        self.files, self.path, self.rng = files, path, random.Random(seed)
        self.store = opened(path, files)
        self.copy, self.first = Copy(), 0
        self.seen: dict[int, Content] = {0: content_of(self.store)}

    def run(self, steps: int) -> None:
        for step in range(steps):
            kind = self.rng.random()
            if step == 1:
                self.store.keep_history()
                self.first = self.store.commit
            elif kind < 0.8:
                write(self.rng, self.store, self.copy)
            elif kind < 0.88:
                self.store._database.upkeep.run()
            elif kind < 0.93:
                self.store._database.upkeep.checkpoint()
            elif kind < 0.96:
                self.store.optimize()
            else:
                self.store.close()
                self.store = opened(self.path, self.files)
            self.seen[self.store.commit] = content_of(self.store)
            self.files.note(("acked", self.store.commit))
        self.store.close()


def crash_everywhere(base: Path, seed: int, share: float, steps: int) -> int:
    files, rng, checked = FaultyFiles(), random.Random(seed), 0
    schedule = Schedule(files, base / "store", seed)
    schedule.run(steps)
    for target, acked in crashed_stores(files, base, FOLDER, rng, share):
        check(target, schedule, acked, rng)
        checked += 1
    return checked


def check(target: Path, schedule: Schedule, acked: int, rng: random.Random) -> None:
    with opened(target, FaultyFiles()) as store:
        assert store.commit >= acked
        if rng.random() < 0.5:  # the journal goes before the history was looked at
            store._database.upkeep.checkpoint()
        numbers = list(range(schedule.first, store.commit + 1))
        if numbers:
            assert [each.commit for each in store.log()] == numbers[::-1]
            for number in rng.sample(numbers, min(len(numbers), 5)):
                assert content_of(store.at(number)) == schedule.seen[number], number
        assert store.verify() == []
        before = content_of(store)
        write(rng, store, Copy())
        if store.log() and store.commit not in numbers and numbers:
            assert content_of(store.at(numbers[-1])) == before


@pytest.fixture(autouse=True)
def small_history(tune: Callable[..., None], small_numbers: None) -> None:
    tune(VERSIONS, history_file_bytes=3000, packed_bytes=400)
    tune(STORAGE, journal_bytes=6000)


def test_crash__leaves_the_whole_history(tmp_path: Path) -> None:
    assert crash_everywhere(tmp_path, 1, 0.05, 25) > 10


@pytest.mark.long
@pytest.mark.parametrize("seed", range(40, 52))
def test_crash__at_every_point_leaves_the_whole_history(tmp_path: Path, seed: int) -> None:
    crash_everywhere(tmp_path, seed, 0.4, 50)
