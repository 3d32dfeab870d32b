"""Crashes with rules in force: what is stated and what follows change together, or not at all.

As in `tests/storage/test_crashes.py` a schedule is traced, and for points of the trace the disk is
put together as a crash there may leave it. The store that is opened there must be one of the
committed states, none older than the last that was acknowledged, and its closure exact: every
inferred fact follows, none is missing, counters are right, and it goes on being maintained.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.faulty import CrashImages, FaultyFiles, Image, Note, restore
from support.schedule import SMALL

from tests.maintenance.naive import Fact
from tests.maintenance.notation import facts, program
from tests.reasoning.reasoned import check, quad_of, text_of
from triplestore import Store
from triplestore.datalog.program import Program
from triplestore.storage import Database
from triplestore.storage.thresholds import STORAGE

COMMITS = 40
RULES = [
    ":reach[?x, ?y] :- :edge[?x, ?y] .",
    ":reach[?x, ?z] :- :reach[?x, ?y], :edge[?y, ?z] .",
    ":Leaf[?y] :- :edge[?x, ?y], NOT :edge[?y, ?z] .",
    ":near[?y, ?x] :- :near[?x, ?y] . :near[:a, :b] .",
    ":near[?x, ?z] :- :near[?x, ?y], :near[?y, ?z] .",
    ":far[?x, ?z] :- :far[?x, ?y], :far[?y, ?z] . :far[?x, ?y] :- :edge[?x, ?y] .",
    ":degree[?x, ?n] :- AGGREGATE(:edge[?x, ?y] ON ?x BIND count(?y) AS ?n) .",
    ':path[?x, ?y, ?z] :- :edge[?x, ?y], :edge[?y, ?z] . constraint "c" "m" :- :edge[?x, ?x] .',
]


@pytest.fixture(autouse=True)
def small_numbers(tune: Callable[..., None]) -> None:
    """Sizes of writes so small that small stores meet them."""
    small = {"synced_bytes": 1500, "gathered_bytes": 300, "written_bytes": 32768}
    tune(STORAGE, reserve_bytes=3000, **small)


class State(NamedTuple):
    program: Program
    explicit: frozenset[Fact]


class Schedule:
    """Random commits through the store, each with what it leaves."""

    def __init__(self, files: FaultyFiles, path: Path, seed: int) -> None:
        self.files = files
        self.rng = random.Random(seed)
        self.store = opened(path, files)
        self.database = self.store._database
        self.program = Program()
        self.explicit: set[Fact] = set()
        self.states = {0: State(self.program, frozenset())}

    def run(self, commits: int) -> None:
        self._rules()
        kinds = [self._add, self._remove, self._load, self._rules, self._mixed, self._clear]
        for _ in range(commits):
            self.rng.choices(kinds, [8, 8, 3, 4, 4, 0.5])[0]()
            self.database.upkeep.run()
            if self.rng.random() < 0.05:
                self.store.optimize()
            if self.rng.random() < 0.05:
                self.database.upkeep.checkpoint()
        self.store.close()

    def _fact(self) -> Fact:
        name = self.rng.choice(["edge", "edge", "edge", "near", "reach", "far"])
        x, y = (self.rng.choice("abcdefg") for _ in range(2))
        (fact,) = facts(f"{name}({x}, {y})")
        return fact

    def _add(self) -> None:
        fact = self._fact()
        self._expect(self.explicit | {fact}, self.program)
        self.store.add(quad_of(fact))
        self._acknowledge()

    def _remove(self) -> None:
        if not self.explicit:
            return
        fact = self.rng.choice(sorted(self.explicit))
        self._expect(self.explicit - {fact}, self.program)
        self.store.remove(quad_of(fact))
        self._acknowledge()

    def _load(self) -> None:
        """A layer and a term segment in files of their own."""
        start = self.rng.randrange(10**6)
        new = {f for i in range(30) for f in facts(f"label(n{start}, m{start + i})")}
        new |= {self._fact() for _ in range(3)}
        self._expect(self.explicit | new, self.program)
        self.store.load(text_of(new), "nt")
        self._acknowledge()

    def _rules(self) -> None:
        chosen = program(" ".join(self.rng.sample(RULES, self.rng.randint(1, 3))))
        if self.rng.random() < 0.3 and len(self.program):
            self._expect(self.explicit, self.program - chosen)
            self.store.remove_rules(chosen)
        else:
            self._expect(self.explicit, self.program + chosen)
            schemes = self.rng.choice(["plain", "compressed", "compressed"])
            self.store.reason(rules=chosen, tuning={"schemes": schemes})
        self._acknowledge()

    def _mixed(self) -> None:
        added, rules = {self._fact() for _ in range(4)}, program(self.rng.choice(RULES))
        gone = set(self.rng.sample(sorted(self.explicit), min(3, len(self.explicit)))) - added
        self._expect((self.explicit | added) - gone, self.program + rules)
        with self.store.transaction() as t:
            t.load(text_of(added), "nt")
            t.add_rules(rules)
            t.remove_all(map(quad_of, gone))
        self._acknowledge()

    def _clear(self) -> None:
        self._expect(set(), self.program)
        self.store.clear()
        self._acknowledge()

    def _expect(self, explicit: set[Fact], program: Program) -> None:
        self.explicit, self.program = explicit, program
        self.states[self.store.commit + 1] = State(program, frozenset(explicit))

    def _acknowledge(self) -> None:
        self.states[self.store.commit] = State(self.program, frozenset(self.explicit))
        self.files.note(("acked", self.store.commit))


def opened(path: Path, files: FaultyFiles) -> Store:
    database = Database.open(path, files=files, thresholds=SMALL, background=False)
    store = Store.__new__(Store)
    store._setup(database)
    return store


def crashes(trace: list[Any], rng: random.Random, share: float) -> Iterator[tuple[Image, int]]:
    """Images of the disk at a share of the points of a trace, and the last commit promised."""
    images, acked = CrashImages(), 0
    for event in trace:
        if isinstance(event, Note):
            acked = event.value[1]
        images.follow(event)
        if rng.random() < share:
            for image in images.images(rng, 2):
                yield image, acked


def crash_everywhere(base: Path, seed: int, share: float, commits: int = COMMITS) -> int:
    files = FaultyFiles()
    schedule = Schedule(files, base / "store", seed)
    schedule.run(commits)
    rng = random.Random(seed)
    seen: list[Image] = []
    checked = 0
    for image, acked in crashes(files.trace, rng, share):
        if image in seen:
            continue
        seen = [*seen[-8:], image]
        checked += 1
        target = base / "crash"
        restore(image, base / "store", target)
        store = opened(target, FaultyFiles())
        assert store.commit >= acked, f"commit {acked} is lost"
        state = schedule.states[store.commit]
        where = f"seed {seed}, commit {store.commit}"
        assert store.verify() == []
        check(store, state.program, state.explicit, where)
        if rng.random() < 0.3:
            fact = schedule._fact()
            store.add(quad_of(fact))
            check(store, state.program, state.explicit | {fact}, f"{where}, and one more")
        store.close()
        shutil.rmtree(target)
    return checked


@pytest.mark.parametrize("seed", [1, 2])
def test_crash__leaves_what_is_stated_and_its_exact_closure(base: Path, seed: int) -> None:
    assert crash_everywhere(base, seed, 0.06) > 40


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 16))
def test_crash__at_every_point_leaves_an_exact_closure(base: Path, seed: int) -> None:
    crash_everywhere(base, seed, 0.7, 60)
