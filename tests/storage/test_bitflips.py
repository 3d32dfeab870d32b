"""Flipped bits: in any file of a store, at any place, noticed; never a wrong answer.

A store with files of every kind is made once. Then one bit somewhere is flipped: opening must
refuse it, or reading must, or what is read must be right, and `verify` must name the file. The one
exception: the zeros behind the last record of a journal are read by nobody but `verify`.
"""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path

import pytest
from support.faulty import FaultyFiles
from support.schedule import SMALL, Contents, Schedule, contents

from triplestore.errors import StorageError
from triplestore.storage import Database
from triplestore.storage.files.system import RealFiles
from triplestore.storage.upkeep.verify import verify_files


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> tuple[Path, Contents]:
    """A store with checkpointed files, bulk files that only the journal names, and a journal."""
    path = tmp_path_factory.mktemp("flips") / "store"
    database = Database.open(path, files=FaultyFiles(), thresholds=SMALL, background=False)
    schedule = Schedule(database, random.Random(11))
    schedule.run(60)
    schedule._commit({schedule._row(): 1}, meta={"prefixes": bytes(300)})
    database.upkeep.checkpoint()
    schedule._bulk()
    schedule._many()
    schedule._small()
    names = {re.split(r"[-.]", name.name)[0] for name in path.iterdir()}
    assert names == {"LOCK", "MANIFEST", "journal", "layer", "meta", "terms"}
    expected = contents(database.state)
    copy = path.parent / "copy"  # as it is in the middle of the writer's life
    shutil.copytree(path, copy)
    database.close()
    return copy, expected


def places(content: bytes, rng: random.Random, count: int) -> list[int]:
    """Positions everywhere in a file, and more of them at its ends."""
    size = len(content)
    ends = [*range(min(64, size)), *range(max(0, size - 64), size)]
    return [rng.choice(ends) if rng.random() < 0.4 else rng.randrange(size) for _ in range(count)]


def check_flip(directory: Path, victim: Path, expected: Contents) -> None:
    """Open, read and verify a store with one damaged file."""
    try:
        with Database.open(directory, read_only=True) as database:
            assert contents(database.state) == expected, f"a wrong answer: {victim.name}"
            found = database.verify()
    except StorageError as error:
        assert victim.name in str(error), error
        found = []
    problems = [*found, *map(str, verify_files(RealFiles(), directory, lambda _: None))]
    assert problems, f"nothing found in {victim.name}"
    assert all(victim.name in problem or "journal" in victim.name for problem in problems)


@pytest.mark.parametrize("kind", ["MANIFEST", "journal", "layer", "meta", "terms"])
def test_flipped_bit__is_noticed(store, kind, base):
    flip_bits(store, kind, base, 25)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["MANIFEST", "journal", "layer", "meta", "terms"])
def test_flipped_bit__is_noticed_wherever_it_is(store, kind, base):
    flip_bits(store, kind, base, 3000)


def flip_bits(store: tuple[Path, Contents], kind: str, base: Path, count: int) -> None:
    original, expected = store
    directory = base / "store"
    shutil.copytree(original, directory)
    victims = sorted(directory.glob(f"{kind}*"))
    rng = random.Random(count)
    for number in range(count):
        victim = victims[number % len(victims)]
        content = victim.read_bytes()
        (place,) = places(content, rng, 1)
        flipped = bytearray(content)
        flipped[place] ^= 1 << rng.randrange(8)
        victim.write_bytes(flipped)
        check_flip(directory, victim, expected)
        victim.write_bytes(content)


@pytest.mark.parametrize("kind", ["MANIFEST", "journal", "layer", "meta", "terms"])
def test_file_cut_off__is_noticed(store, kind, base):
    """At any length. (Of a journal after a crash only the unwritten zeros may be missing.)"""
    original, expected = store
    directory = base / "store"
    shutil.copytree(original, directory)
    rng = random.Random(1)
    for victim in sorted(directory.glob(f"{kind}*")):
        content = victim.read_bytes()
        for size in [0, 1, len(content) - 1, *(rng.randrange(len(content)) for _ in range(10))]:
            victim.write_bytes(content[:size])
            if kind == "journal":
                check_cut_journal(directory, expected)
            else:
                check_flip(directory, victim, expected)
        victim.write_bytes(content)


def check_cut_journal(directory: Path, expected: Contents) -> None:
    """A journal that was being written may end anywhere after a crash: an older state then."""
    try:
        with Database.open(directory, read_only=True) as database:
            held = contents(database.state)
            assert held == expected or len(held[0]) < len(expected[0])
    except StorageError as error:
        assert "journal" in str(error)


def test_lock_file__says_nothing_that_matters(store, base):
    original, expected = store
    shutil.copytree(original, base / "store")
    (base / "store" / "LOCK").write_bytes(b"\0" * 50)
    with Database.open(base / "store", thresholds=SMALL) as database:
        assert contents(database.state) == expected and database.verify() == []
