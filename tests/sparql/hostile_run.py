"""Runs hostile queries in processes of their own: `python -m tests.sparql.hostile_run [names]`.

Each query runs in a fork of a process without other threads, so that a fork never inherits a held
lock. Tests start that process with `asked` instead of forking themselves.

Prints the wall time, CPU time, peak memory growth and outcome of each query. `--interrupt 1` sends
Ctrl-C after one second instead of setting a time limit; the times include that second. With
`--processor`, limits are CPU seconds, which other work on the machine does not change. Start at
`results`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from tests.sparql.hostile import DATA, Hostile
from tests.sparql.hostile_more import EVERY
from tests.sparql.random_hostile import random_hostile
from triplestore.errors import TripleStoreError
from triplestore.kernels.warm_up import our_kernels
from triplestore.sparql.results.solutions import Solutions

if TYPE_CHECKING:
    from triplestore import Store

_MOST_MEMORY = 4 << 30

_PATIENCE = 300
"""Seconds after which a process is ended that waits instead of working."""

_REPOSITORY = Path(__file__).resolve().parents[2]


class Limits(NamedTuple):
    """What a query may take.

    interrupt  seconds until a Ctrl-C
    most       seconds of processor after which its process is ended
    processor  the seconds are those of the processor
    """

    seconds: float | None = 2.0
    memory: int = 200_000_000
    interrupt: float | None = None
    most: int = 30
    processor: bool = False


class Spent:
    """A cancel flag that is set after some seconds of the processor, from now on."""

    def __init__(self, seconds: float | None) -> None:
        self._until = None if seconds is None else time.process_time() + seconds

    def is_set(self) -> bool:
        return self._until is not None and time.process_time() > self._until


class Found(NamedTuple):
    """What a query took, and what came of it."""

    name: str
    outcome: str
    wall: float
    cpu: float
    grown: int

    @property
    def is_regular(self) -> bool:
        """True if it ended with an answer or an error of the library."""
        return not self.outcome.startswith(("RAW", "DIED"))

    def __str__(self) -> str:
        taken = f"{self.wall:7.2f} {self.cpu:7.2f} {self.grown / 1e6:6.0f}"
        return f"{taken}  {self.name}: {self.outcome}"


def results(hostile: dict[str, Hostile], limits: Limits) -> Iterator[Found]:
    """Time and memory of each query, with one process for all queries of the same data."""
    for data in dict.fromkeys(one.data for one in hostile.values()):
        store = DATA[data]()
        warm(store)
        for name, one in hostile.items():
            if one.data == data:
                yield in_child(name, one, store, limits)


def asked(*arguments: object) -> list[Found]:
    """What `main` finds with these arguments, in a new process."""
    command = [sys.executable, "-m", "tests.sparql.hostile_run", "--json", *map(str, arguments)]
    run = subprocess.run(command, cwd=_REPOSITORY, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    return [Found(*json.loads(line)) for line in run.stdout.splitlines()]


def in_child(name: str, hostile: Hostile, store: Store, limits: Limits) -> Found:
    """Time and memory of one query, in a separate process."""
    return forked(name, lambda: _measured(name, hostile, store, limits), limits.most)


def forked(name: str, measure: Callable[[], Found], most: int) -> Found:
    """What is measured in a copy of this process, which may work for some seconds."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
            resource.setrlimit(resource.RLIMIT_CPU, (most, most))
            os.write(writing, json.dumps(measure()).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        ready, _, _ = select.select([pipe], [], [], _PATIENCE)
        if not ready:
            os.kill(child, signal.SIGKILL)
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    if not answer:
        return Found(name, f"DIED with status {status}", float(most), float(most), 0)
    return Found(*json.loads(answer))


def _measured(name: str, hostile: Hostile, store: Store, limits: Limits) -> Found:
    text = hostile.text()
    cancel = Spent(limits.seconds) if limits.processor else None
    timeout = None if limits.processor else limits.seconds

    def ask() -> str:
        result = store.query(text, timeout=timeout, budget=limits.memory, cancel=cancel)
        return str(result) if isinstance(result, bool) else f"{len(result)} rows"

    if limits.interrupt is not None:
        signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
        signal.setitimer(signal.ITIMER_REAL, limits.interrupt)
    return measured(name, ask)


def measured(name: str, work: Callable[[], str]) -> Found:
    """What some work took that says what came of it, or raises."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = _status("VmRSS")
    began, cpu = time.monotonic(), time.process_time()
    try:
        outcome = work()
    except TripleStoreError as error:
        outcome = f"{type(error).__name__}: {str(error)[:90]}"
    except KeyboardInterrupt:
        outcome = "interrupted"
    except BaseException as error:  # noqa: BLE001 - it is reported
        outcome = f"RAW {type(error).__name__}: {str(error)[:90]}"
    signal.setitimer(signal.ITIMER_REAL, 0)
    wall, spent = time.monotonic() - began, time.process_time() - cpu
    return Found(name, outcome, wall, spent, (_status("VmHWM") - before) << 10)


def warm(store: Store) -> None:
    """Make what every process needs once: modules, compiled kernels, buffers."""
    prepare_kernels()
    for text in (
        "SELECT ?a (COUNT(*) AS ?n) { ?a ?p ?o FILTER(STRLEN(STR(?o)) < 9 && REGEX(STR(?o), "
        '"^a.b")) } GROUP BY ?a ORDER BY ?n LIMIT 3',
        "SELECT DISTINCT ?o { ?a ?p ?o OPTIONAL { ?o ?q ?x } } ORDER BY ?o LIMIT 9",
    ):
        result = store.query(text)
        assert isinstance(result, Solutions)
        result.to_arrow()


def prepare_kernels() -> None:
    """Load every kernel, so that the time and memory of its first call do not count."""
    for kernel in our_kernels().values():
        kernel.prepare()


def _status(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1])
    raise KeyError(name)


def main(arguments: Iterable[str] | None = None) -> None:
    """Run the queries that are named, or all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--memory", type=int, default=200_000_000)
    parser.add_argument("--interrupt", type=float)
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("--most", type=int, default=30)
    parser.add_argument("--random", type=int, nargs="*", help="seeds of queries made at random")
    parser.add_argument("--json", action="store_true", help="one list for each, for programs")
    given = parser.parse_args(None if arguments is None else list(arguments))
    seconds = None if given.interrupt is not None else given.seconds
    if given.random is None:
        chosen = {name: EVERY[name] for name in given.names or EVERY}
    else:
        chosen = {f"seed {seed}": random_hostile(Random(seed)) for seed in given.random}
    if not given.json:
        sys.stdout.write(f"{'wall':>7} {'cpu':>7} {'MB':>6}  query: what came of it\n")
    limits = Limits(seconds, given.memory, given.interrupt, given.most, given.processor)
    for found in results(chosen, limits):
        sys.stdout.write(f"{json.dumps(found) if given.json else found}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
