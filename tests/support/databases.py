"""Databases for tests: opening, filling with a few facts, and reading."""

from __future__ import annotations

from pathlib import Path

from support.schedule import SMALL, changes_of, contents, key
from triplestore.relations import EXPLICIT
from triplestore.storage import Database, State


def opened(path: Path | None, **options) -> Database:
    options = {"thresholds": SMALL, "background": False, **options}
    return Database.open(path, **options)


def add(database: Database, *names: str, **options) -> State:
    """Commit one fact for each name."""
    rows = {(key("p"), key(name), key("o"), None): EXPLICIT for name in names}
    with database.writing() as dictionary:
        changes = changes_of(dictionary, rows, dict.fromkeys(rows, 0))
        return database.commit([changes], **options)


def names_in(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def subjects(state: State) -> set[str]:
    return {row[1].decode().rpartition("/")[2] for row, _ in contents(state)[0]}
