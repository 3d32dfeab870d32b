"""Work that several threads share is done once; errors and limits are those of the caller."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time

import pytest

from triplestore.kernels import parallel
from triplestore.thread_limits import limited, look


@pytest.fixture(autouse=True)
def three_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIPLESTORE_THREADS", "3")


def test_threads__are_as_many_as_the_setting_says(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parallel.thread_count() == 3
    for text in ("0", "many", ""):
        monkeypatch.setenv("TRIPLESTORE_THREADS", text)
        assert 1 <= parallel.thread_count() <= parallel.MOST_THREADS


def test_parts__are_done_once_each_and_by_several_threads() -> None:
    together = threading.Barrier(3, timeout=20)
    done: list[int] = []

    def do(part: int) -> None:
        if part < 3:
            together.wait()  # passes only if three threads are in it
        done.append(part)

    parallel.each(do, range(50))
    assert sorted(done) == list(range(50))
    assert parallel.results(lambda part: -part, range(5)) == [0, -1, -2, -3, -4]


def test_one_thread__does_everything_in_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIPLESTORE_THREADS", "1")
    assert set(parallel.results(lambda _: threading.get_ident(), range(9))) == {
        threading.get_ident()
    }


def test_work_inside_of_work__does_not_wait_for_itself() -> None:
    def inner(part: int) -> int:
        return sum(parallel.results(lambda one: one + part, range(20)))

    assert parallel.results(inner, range(40)) == [190 + 20 * part for part in range(40)]


def test_errors__are_those_of_the_first_part_that_failed() -> None:
    together = threading.Barrier(2, timeout=20)

    def fail(part: int) -> None:
        together.wait()
        raise KeyError(part)

    with pytest.raises(KeyError, match="0"):
        parallel.each(fail, range(2))


def test_limits_of_the_caller__hold_in_all_threads() -> None:
    seen: set[int] = set()

    class Limits:
        def look(self, about: object) -> None:
            seen.add(threading.get_ident())

        def needs(self, size: int) -> None:
            raise MemoryError(size)

    together = threading.Barrier(3, timeout=20)

    def do(part: int) -> None:
        together.wait()
        look()

    with limited(Limits()):
        parallel.each(do, range(3))
    assert len(seen) == 3


def test_ctrl_c__ends_the_work_after_the_parts_that_are_begun() -> None:
    done: list[int] = []

    def do(part: int) -> None:
        if part == 0:
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        done.append(part)

    with pytest.raises(KeyboardInterrupt):
        parallel.each(do, range(1000))
    after = len(done)
    time.sleep(0.05)
    assert len(done) == after < 1000


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # forking with threads is what is tested
def test_a_forked_process__has_threads_of_its_own() -> None:
    parallel.each(lambda _: time.sleep(0.001), range(9))
    context = multiprocessing.get_context("fork")
    process = context.Process(target=_in_child)
    process.start()
    process.join(20)
    alive = process.is_alive()
    process.kill()
    assert not alive and process.exitcode == 7


def _in_child() -> None:
    together = threading.Barrier(2, timeout=10)
    parallel.each(lambda _: together.wait(), range(2))
    os._exit(7)
