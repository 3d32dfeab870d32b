"""Snapshot isolation, by the histories that readers see while a writer writes.

Each commit n states `counter` = n, moves one unit between accounts so that their sum stays, and
writes n into the named bytes. A reader that looks at any moment must see all of one commit and
nothing of another, and never go back: the same in threads and in processes, beside checkpoints and
merges.
"""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from triplestore.relations import EXPLICIT, ChangedRows, Changes
from triplestore.storage import Database, State, StorageThresholds

ACCOUNTS, TOTAL = 12, 120
TUNING = StorageThresholds(
    journal_records=15, journal_bytes=30_000, large_rows=40, large_bytes=6000, reserve_after=4
)


def key(name: str, kind: int = 1) -> bytes:
    return bytes([kind]) + name.encode()


class Bank:
    """The writer of the histories."""

    def __init__(self, database: Database, seed: int) -> None:
        self.database = database
        self.rng = random.Random(seed)
        self.held = {f"account{n}": TOTAL // ACCOUNTS for n in range(ACCOUNTS)}
        self.filler: list[str] = []
        self._commit({}, {**self.held, "counter": 1})

    def transfer(self) -> None:
        """The next commit: one unit moves, the counter grows, other rows come and go."""
        source, target = self.rng.sample(sorted(self.held), 2)
        before = {name: self.held[name] for name in (source, target)}
        before["counter"] = self.database.state.commit
        after = {source: before[source] - 1, target: before[target] + 1}
        after["counter"] = before["counter"] + 1
        self.held |= {name: after[name] for name in (source, target)}
        self._commit(before, after)

    def _commit(self, before: dict[str, int], after: dict[str, int]) -> None:
        number = self.database.state.commit + 1
        rows = {(key(name), key(str(value), 3)): 0 for name, value in before.items()}
        rows |= {(key(name), key(str(value), 3)): EXPLICIT for name, value in after.items()}
        if number % 7 == 0:  # a large commit: 50 rows that the next of this kind removes
            rows |= {(key(name), key("x", 3)): 0 for name in self.filler}
            self.filler = [f"filler{number}-{i}" for i in range(50)]
            rows |= {(key(name), key("x", 3)): EXPLICIT for name in self.filler}
        with self.database.writing() as dictionary:
            flat = [part for row in rows for part in (key("is"), *row)]
            columns = dictionary.encode_keys(flat).reshape(-1, 3).T
            status = np.array(list(rows.values()), np.uint8)
            facts = ChangedRows.of(
                [np.ascontiguousarray(column) for column in columns],
                status,
                np.where(status == 0, EXPLICIT, 0),
            )
            self.database.commit([Changes(facts)], meta={"counter": str(number).encode()})


def check(state: State) -> int:
    """Look at everything in a state; its commit, if it holds together."""
    dictionary, tables = state.dictionary, state.tables
    values: dict[str, list[int]] = {}
    fillers: dict[str, int] = {}
    if state.commit == 0:
        return 0
    name = int(dictionary.lookup_keys([key("is")])[0])
    for s_block, o_block in tables.relation(name).scan():
        for s, o in zip(s_block.tolist(), o_block.tolist(), strict=True):
            subject = dictionary.key(s)[1:].decode()
            if subject.startswith("filler"):
                group = subject.partition("-")[0]
                fillers[group] = fillers.get(group, 0) + 1
            else:
                values.setdefault(subject, []).append(int(dictionary.key(o)[1:]))
    assert all(len(each) == 1 for each in values.values()), f"two values at once: {values}"
    (counter,) = values.pop("counter")
    assert counter == state.commit == int(state.meta["counter"]), (counter, state.commit)
    assert sum(each[0] for each in values.values()) == TOTAL, "a transfer is half-done"
    assert len(values) == ACCOUNTS
    assert list(fillers.values()) in ([], [50]), fillers
    assert tables.total() == ACCOUNTS + 1 + sum(fillers.values())
    return state.commit


def follow(path: Path, seconds: float) -> int:
    """Read again and again, refreshing, until the time is over; how many commits were seen."""
    reader = Database.open(path, read_only=True)
    end = time.monotonic() + seconds
    last, seen, kept = 0, 0, reader.state
    while time.monotonic() < end:
        now = check(reader.refresh())
        assert now >= last, f"went back from {last} to {now}"
        seen += now > last
        last = now
        if seen % 10 == 5:
            check(kept)  # an old state is still what it was
            kept = reader.state
    reader.close()
    return seen


@pytest.mark.parametrize("seed", range(2))
def test_threads__see_whole_commits_only(base, seed):
    database = Database.open(base / "store", thresholds=TUNING, durability="flush")
    bank = Bank(database, seed)
    stop = threading.Event()
    errors: list[BaseException] = []

    def read() -> None:
        last = 0
        try:
            while not stop.is_set():
                now = check(database.state)
                assert now >= last, f"went back from {last} to {now}"
                last = now
        except BaseException as error:  # noqa: BLE001 - of a thread, for the test to see
            errors.append(error)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(150):
        bank.transfer()
        if number == 75:
            database.optimize()
    stop.set()
    for thread in threads:
        thread.join()
    assert errors == []
    assert database.upkeep.error is None
    assert check(database.state) == 151
    database.close()


def test_processes__see_whole_commits_only(base):
    run_processes(base, readers=2, seconds=2.5)


@pytest.mark.long
def test_processes__see_whole_commits_only_for_long(base):
    run_processes(base, readers=4, seconds=60)


def run_processes(base: Path, readers: int, seconds: float) -> None:
    database = Database.open(base / "store", thresholds=TUNING)
    bank = Bank(database, 5)
    here = Path(__file__).resolve().parent
    program = (
        f"import sys; sys.path[:0] = [{str(here)!r}, {str(here.parent)!r}]\n"
        "from pathlib import Path\n"
        "import test_histories\n"
        f"print(test_histories.follow(Path({str(base / 'store')!r}), {seconds}))\n"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        for _ in range(readers)
    ]
    number = 0
    while any(process.poll() is None for process in processes):
        bank.transfer()
        number += 1
        if number % 100 == 0:
            database.optimize()
        if number % 250 == 0:
            database.close()  # another writer takes over
            bank.database = database = Database.open(base / "store", thresholds=TUNING)
    for process in processes:
        output, _ = process.communicate()
        assert process.returncode == 0
        assert int(output) > 3, "the reader saw hardly anything"
    assert check(database.state) == number + 1
    assert database.verify() == []
    database.close()
