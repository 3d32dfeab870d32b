"""Followers in a fork of a process: it has neither the threads nor the locks of its parent."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from pathlib import Path

from tests.live.followed import insert, next_of
from triplestore import Store
from triplestore.live.hub import LiveHub

CATS = "SELECT ?x { ?x a :Cat }"
SECONDS = 20.0


def following(store: Store) -> LiveHub:
    """The hub of a store that is followed."""
    assert store._hub is not None
    return store._hub


def test_following__begins_anew_in_a_fork(tmp_path: Path) -> None:
    held, enough = threading.Event(), threading.Event()

    def hold(lock: threading.Condition) -> None:
        with lock:
            held.set()
            enough.wait(SECONDS)

    path = tmp_path / "store"
    with Store(path) as writer, Store.read_only(path) as reader:
        writer.bind("", "http://ex.org/")
        reader.refresh()
        reader.subscribe(CATS)
        assert following(reader).wait_for(reader.commit, SECONDS)
        insert(writer, ":tom a :Cat")
        hub = following(reader)
        holder = threading.Thread(target=hold, args=[hub.changed])
        holder.start()
        assert held.wait(SECONDS)
        child = os.fork()  # while another thread has the lock
        if child == 0:
            with contextlib.suppress(BaseException):
                reader.refresh()
                with reader.subscribe(CATS, initial=True) as found:
                    right = len(next_of(found, 0).added) == 1
                hub.close()  # as the end of a process does
                reader.close()
                os._exit(not right)
            os._exit(2)
        enough.set()
        holder.join()
        assert ending(child) == 0


def ending(child: int) -> int | None:
    """How a child process ends; it is ended if it takes too long, then None."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return status
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None
