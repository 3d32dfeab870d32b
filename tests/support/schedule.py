"""A schedule of mixed commits on a database, and a plain model of the state after each.

The model of a state is a set of rows (p, s, o, g) of keys (g is None in the default graph), with
their status, and the named bytes. `contents` reads the same from a real state.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from support.faulty import FaultyFiles
from triplestore.errors import StorageError
from triplestore.relations import EXPLICIT, HOLDS, INFERRED, ChangedRows, Changes, bulk_layer
from triplestore.storage import Database, State, StorageThresholds
from triplestore.terms import TermSegment

Row = tuple[bytes, bytes, bytes, bytes | None]
Contents = tuple[frozenset[tuple[Row, int]], frozenset[tuple[str, bytes]]]

SMALL = StorageThresholds(
    journal_bytes=6000,
    journal_records=9,
    large_bytes=2500,
    large_rows=25,
    reserve_after=3,
    retry_seconds=0.0,
)
"""Limits that are small enough for fifty commits to reach all of them."""


def key(text: str) -> bytes:
    return b"\x01http://example.org/" + text.encode()


def contents(state: State) -> Contents:
    """All rows and named bytes of a state, in the form of the model."""
    dictionary, tables = state.dictionary, state.tables
    rows: set[tuple[Row, int]] = set()
    for status in (EXPLICIT, INFERRED):
        for name in tables.names().tolist():
            for block in tables.relation(name).scan(status):
                for s, o in zip(*(column.tolist() for column in block), strict=True):
                    fact = (dictionary.key(name), dictionary.key(s), dictionary.key(o), None)
                    rows.add((fact, status))
        for name in tables.quad_names().tolist():
            for block in tables.quads(name).scan(status):
                for s, o, g in zip(*(column.tolist() for column in block), strict=True):
                    quad = (*map(dictionary.key, (name, s, o)), dictionary.key(g))
                    rows.add((quad, status))  # type: ignore[arg-type]
    assert len(rows) == tables.total(HOLDS) + tables.quad_total(HOLDS)
    return frozenset(rows), frozenset(state.meta.items())


@dataclass
class Schedule:
    """Random steps on a database, each with the expected state.

    `states[n]` are the contents after commit n, once that commit was begun; `acked` the number of
    the last commit that returned.
    """

    database: Database
    rng: random.Random
    backups: Path | None = None
    acked: int = 0
    made: list[tuple[Path, int]] = field(default_factory=list)
    on_ack: Callable[[int], None] = lambda commit: None
    on_backup: Callable[[Path, int], None] = lambda path, commit: None
    states: dict[int, Contents] = field(default_factory=dict)
    rows: dict[Row, int] = field(default_factory=dict)
    meta: dict[str, bytes] = field(default_factory=dict)
    between: bool = False

    def __post_init__(self) -> None:
        self.states[0] = self._contents()
        files = self.database.files
        if isinstance(files, FaultyFiles):
            files.before = self._interject

    def _interject(self, kind: str, path: Path) -> None:
        """Sometimes make a commit in the middle of background work, as another thread would.

        At the calls that background work makes without holding a lock.
        """
        unlocked = kind in ("create", "rename", "remove", "syncdir")
        if self.between and unlocked and self.rng.random() < 0.25:
            self.between = False
            self.rng.choice([self._small, self._remove, self._bulk, self._many])()
            self.between = self.rng.random() < 0.5

    def run(self, commits: int) -> None:
        """Make this many commits, with other operations between them."""
        for _ in range(commits):
            self.step()

    def attempt(self) -> Exception | None:
        """A step that may fail; then the model returns to the last commit."""
        try:
            self.step()
        except (StorageError, OSError) as error:
            self.between = False
            self.acked = self.database.state.commit
            self.rows = dict(self.states[self.acked][0])
            self.meta = dict(self.states[self.acked][1])
            return error
        return None

    def step(self) -> None:
        """One commit, followed by the background work that is due."""
        rng = self.rng
        if rng.random() < 0.08:
            self._abandon()
        kind = rng.choices(
            [
                self._small,
                self._remove,
                self._quads,
                self._bulk,
                self._many,
                self._meta,
                self._clear,
            ],
            [10, 6, 4, 3, 2, 2, 0.4],
        )[0]
        kind()
        self.between = True
        self.database.upkeep.run()
        self.between = False
        if rng.random() < 0.03:
            self.database.optimize()
        if rng.random() < 0.05:
            self.between = True
            self.database.upkeep.checkpoint()
            self.between = False
        if self.backups is not None and rng.random() < 0.04:
            self.backup()

    def backup(self) -> None:
        assert self.backups is not None
        path = self.backups / f"backup{len(self.made)}"
        self.made.append((path, self.acked))
        self.database.backup(path, link=self.rng.random() < 0.3)
        self.on_backup(path, self.acked)

    # -- commits --------------------------------------------------------------------------------

    def _small(self) -> None:
        rows = [self._row() for _ in range(self.rng.randrange(1, 4))]
        status = self.rng.choice([EXPLICIT, EXPLICIT, INFERRED])
        self._commit(dict.fromkeys(rows, status))

    def _remove(self) -> None:
        held = sorted(self.rows, key=repr)
        gone = self.rng.sample(held, min(len(held), self.rng.choice([1, 2, 10, 60])))
        self._commit(dict.fromkeys(gone, 0) or {self._row(): EXPLICIT})

    def _quads(self) -> None:
        graph = key(f"g{self.rng.randrange(3)}")
        rows = [(*self._row()[:3], graph) for _ in range(self.rng.randrange(1, 5))]
        self._commit(dict.fromkeys(rows, EXPLICIT))

    def _meta(self) -> None:
        name = self.rng.choice(["prefixes", "program"])
        value = None if self.rng.random() < 0.2 else self.rng.randbytes(self.rng.choice([3, 700]))
        self._commit({self._row(): EXPLICIT}, meta={name: value})

    def _many(self) -> None:
        """More changes than fit into a record."""
        count = self.rng.randrange(20, 80)
        self._commit({self._row(fresh=True): EXPLICIT for _ in range(count)})

    def _clear(self) -> None:
        self.rows.clear()
        self._commit({self._row(): EXPLICIT}, cleared=True)

    def _bulk(self) -> None:
        """A new layer and a new term segment, as a load makes them."""
        count = self.rng.choice([3, 40, 90])
        rows = sorted({self._row(fresh=True) for _ in range(count)}, key=repr)
        database = self.database
        with database.writing() as dictionary:
            keys = sorted({part for row in rows for part in row[:3] if part})
            known = dictionary.lookup_keys(keys)
            new = [k for k, i in zip(keys, known.tolist(), strict=True) if i == 0]
            segment = TermSegment.from_keys(dictionary.size + 1, new) if new else None
            numbers = {k: dictionary.size + 1 + i for i, k in enumerate(new)}
            numbers |= {k: i for k, i in zip(keys, known.tolist(), strict=True) if i}
            ids = [np.array([numbers[row[i]] for row in rows], np.uint32) for i in range(3)]
            layer = bulk_layer(*ids, below=database.state.tables)
            self._expect(dict.fromkeys(rows, EXPLICIT), {})
            database.commit([layer], segment=segment)
            self._ack()

    def _abandon(self) -> None:
        """A transaction that ends without a commit."""
        with self.database.writing() as dictionary:
            dictionary.encode_keys([key(f"abandoned{self.rng.random()}")])

    def _commit(
        self,
        changed: dict[Row, int],
        meta: dict[str, bytes | None] | None = None,
        cleared: bool = False,
    ) -> None:
        with self.database.writing() as dictionary:
            previous = {row: 0 if cleared else self.rows.get(row, 0) for row in changed}
            changes = changes_of(dictionary, changed, previous)
            self._expect(changed, meta or {})
            self.database.commit([changes], meta=meta, cleared=cleared)
            self._ack()

    def _expect(self, changed: dict[Row, int], meta: dict[str, bytes | None]) -> None:
        for row, status in changed.items():
            self.rows[row] = status
            if status == 0:
                del self.rows[row]
        for name, value in meta.items():
            self.meta[name] = value or b""
            if value is None:
                del self.meta[name]
        self.states[self.database.state.commit + 1] = self._contents()

    def _ack(self) -> None:
        self.acked = self.database.state.commit
        self.on_ack(self.acked)

    def _contents(self) -> Contents:
        return frozenset(self.rows.items()), frozenset(self.meta.items())

    def _row(self, fresh: bool = False) -> Row:
        span = 10**6 if fresh else 40
        s, o = self.rng.randrange(span), self.rng.randrange(span)
        return key(f"p{self.rng.randrange(3)}"), key(f"s{s}"), key(f"o{o}"), None


def changes_of(dictionary, changed: dict[Row, int], previous: dict[Row, int]) -> Changes:
    """Changes of facts and quads, with the terms encoded."""

    def rows_of(rows: Iterable[Row], width: int) -> ChangedRows | None:
        chosen = list(rows)
        if not chosen:
            return None
        flat = [part for row in chosen for part in row[:width]]
        columns = dictionary.encode_keys(flat).reshape(-1, width).T
        return ChangedRows.of(
            [np.ascontiguousarray(column) for column in columns],
            np.array([changed[row] for row in chosen], np.uint8),
            np.array([previous[row] for row in chosen], np.uint8),
        )

    parts: dict[str, ChangedRows] = {}
    facts = rows_of((row for row in changed if row[3] is None), 3)
    quads = rows_of((row for row in changed if row[3] is not None), 4)
    if facts is not None:
        parts["facts"] = facts
    if quads is not None:
        parts["quads"] = quads
    return Changes(**parts)
