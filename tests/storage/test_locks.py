"""One writer, with real processes: who is kept out, what they are told, and when they get in."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from support.schedule import changes_of, contents, key

from triplestore.errors import LockedError, ReadOnlyError, StorageError
from triplestore.storage import Database

HOLDER = """
import sys
from triplestore.storage import Database
database = Database.open(sys.argv[1])
print("open", flush=True)
sys.stdin.readline()
database.close()
print("closed", flush=True)
sys.stdin.readline()
"""


def add(database: Database, name: str) -> None:
    row = (key("p"), key(name), key("o"), None)
    with database.writing() as dictionary:
        database.commit([changes_of(dictionary, {row: 1}, {row: 0})])


@pytest.fixture
def holder(base):
    """Another process that has the store open for writing."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(base / "store")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdin is not None
    assert process.stdout.readline() == "open\n"
    yield process
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


def test_second_process__is_told_who_writes_and_how_to_read(base, holder):
    with pytest.raises(LockedError) as caught:
        Database.open(base / "store")
    message = str(caught.value)
    assert re.search(rf"being written by process {holder.pid} on \S+, since 20\d\d-", message)
    assert f"Store.read_only('{base / 'store'}')" in message
    with Database.open(base / "store", read_only=True) as reader:
        assert reader.state.commit == 0


def test_second_process__gets_in_when_the_first_closes(base, holder):
    holder.stdin.write("\n")
    holder.stdin.flush()
    assert holder.stdout.readline() == "closed\n"
    Database.open(base / "store").close()


def test_killed_process__is_no_obstacle(base, holder):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert (base / "store" / "LOCK").exists()
    with Database.open(base / "store") as database:
        add(database, "a")


def test_same_process__is_told_that_it_is_itself(base):
    with (
        Database.open(base / "store"),
        pytest.raises(LockedError, match="this very process, through another Store"),
    ):
        Database.open(base / "store")
    Database.open(base / "store").close()


def test_unreadable_lock_file__does_not_matter(base):
    with Database.open(base / "store"):
        (base / "store" / "LOCK").write_bytes(b"\xff{")
        with pytest.raises(LockedError, match="by another process; to read it"):
            Database.open(base / "store")


def test_another_thread__waits_for_the_writer(base):
    order: list[str] = []
    with Database.open(base / "store") as database:

        def other() -> None:
            add(database, "second")
            order.append("second")

        with database.writing() as dictionary:
            thread = threading.Thread(target=other)
            thread.start()
            time.sleep(0.05)
            row = (key("p"), key("first"), key("o"), None)
            database.commit([changes_of(dictionary, {row: 1}, {row: 0})])
            order.append("first")
        thread.join()
        assert order == ["first", "second"] and database.state.commit == 2


def test_another_thread__does_not_wait_longer_than_it_says(base):
    with Database.open(base / "store") as database:
        failures: list[Exception] = []

        def other() -> None:
            try:
                with database.writing(timeout=0.01):
                    pass
            except StorageError as error:
                failures.append(error)

        with database.writing():
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
        assert len(failures) == 1 and "writing for over 0.01 seconds" in str(failures[0])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_child__cannot_write_and_does_not_keep_the_lock(base):
    """Without care, a child that lives on would keep its parent's lock after the parent closed."""
    reading, writing = os.pipe()
    database = Database.open(base / "store")
    add(database, "a")
    child = os.fork()
    if child == 0:  # pragma: no cover - another process
        try:
            add(database, "b")
            verdict = b"wrote"
        except ReadOnlyError as error:
            verdict = b"refused" if "is a fork of" in str(error) else b"other"
        os.write(writing, verdict)
        time.sleep(30)
        os._exit(0)
    try:
        assert os.read(reading, 100) == b"refused"
        add(database, "c")
        database.close()
        with Database.open(base / "store") as database:
            assert len(contents(database.state)[0]) == 2
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reading)
        os.close(writing)


def test_forked_child__is_told_that_a_store_in_memory_is_meant(monkeypatch):
    with Database.open(None) as database, monkeypatch.context() as child:
        child.setattr(os, "getpid", lambda: 0)
        with pytest.raises(ReadOnlyError, match=r"^the store in memory was opened by process"):
            add(database, "a")


def test_lock_file__is_all_that_a_refused_process_touches(base, holder):
    names = {path.name for path in Path(base / "store").iterdir()}
    with pytest.raises(LockedError):
        Database.open(base / "store")
    assert {path.name for path in Path(base / "store").iterdir()} == names
