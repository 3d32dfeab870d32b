"""A store that was closed knows how far its journal goes: a shorter one is damage, never an older
state. (After a crash nothing on disk can tell a lost end from one that was never written.)"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.faulty import FaultyFiles
from support.fuzzing import seeds
from support.schedule import SMALL, Schedule, contents

from triplestore.errors import StorageError
from triplestore.storage import Database
from triplestore.storage.files.journal import _HEADER, _record_at
from triplestore.storage.files.system import RealFiles
from triplestore.storage.upkeep.verify import verify_files


def write_and_close(path: Path, rng: random.Random) -> None:
    """Some lives of a store, each closed: with commits or without, in any durability."""
    for _ in range(rng.randrange(1, 4)):
        durability = rng.choice(["commit", "group", "flush"])
        database = Database.open(
            path, files=FaultyFiles(), thresholds=SMALL, background=False, durability=durability
        )
        schedule = Schedule(database, rng)
        schedule.rows = dict(contents(database.state)[0])
        schedule.meta = dict(contents(database.state)[1])
        schedule.run(rng.randrange(14))
        database.close()


def shorter(data: bytes, rng: random.Random) -> Iterator[bytes]:
    """The same journal cut at the end of each record, of the header, and anywhere."""
    place = _HEADER.size
    while found := _record_at(data, place):
        yield data[:place]
        place = found[1]
    yield b""
    yield data[: rng.randrange(len(data))]


@pytest.mark.fuzz
def test_journal_cut_after_close__is_noticed(base):
    for seed in seeds(12):
        rng = random.Random(seed)
        path, copy = base / f"store{seed}", base / "copy"
        write_and_close(path, rng)
        for journal in path.glob("journal*"):
            for cut in shorter(journal.read_bytes(), rng):
                shutil.copytree(path, copy)
                (copy / journal.name).write_bytes(cut)
                for read_only in (True, False):
                    with pytest.raises(StorageError, match="journal"):
                        Database.open(copy, read_only=read_only).close()
                assert list(verify_files(RealFiles(), copy, lambda _: None))
                shutil.rmtree(copy)
            shutil.copytree(path, copy)
            (copy / journal.name).unlink()
            with pytest.raises(StorageError, match="journal"):
                Database.open(copy)
            shutil.rmtree(copy)
        shutil.rmtree(path)
