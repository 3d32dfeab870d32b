"""Seeds for random tests: a few in `make test`, as many as fit into a given time with `make fuzz`.

A fuzzer is a test marked `fuzz` that loops over `seeds(n)`. It makes one random case from each seed
and compares it with something slow and obvious. The report of a failure names the seed, and
`TRIPLESTORE_FUZZ_SEED=seed` runs that one alone.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from inspect import signature
from typing import Any

current: int | None = None
"""The current seed, for the report of a failure."""


def seeds(count: int) -> Iterator[int]:
    """`count` seeds from 0 on; with TRIPLESTORE_FUZZ_SECONDS, new ones until the time is up."""
    global current
    alone = os.environ.get("TRIPLESTORE_FUZZ_SEED")
    seconds = float(os.environ.get("TRIPLESTORE_FUZZ_SECONDS", "0"))
    if alone is not None:
        chosen = iter([int(alone)])
    elif seconds:
        chosen = _until(time.monotonic() + seconds)
    else:
        chosen = iter(range(count))
    for seed in chosen:
        current = seed
        yield seed
    current = None


def each_seed(chosen: Iterable[int]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test once for each of these values of its argument `seed`: one test, not hundreds.

    The report of a failure names the seed. Not for tests with fixtures that a run changes.
    """
    alone = os.environ.get("TRIPLESTORE_FUZZ_SEED")
    values = tuple(chosen) if alone is None else (int(alone),)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def run(**arguments: Any) -> None:
            global current
            for seed in values:
                current = seed
                test(seed=seed, **arguments)
            current = None

        whole = signature(test)
        kept = [each for name, each in whole.parameters.items() if name != "seed"]
        run.__signature__ = whole.replace(parameters=kept)  # type: ignore[attr-defined]
        return run

    return decorate


def _until(end: float) -> Iterator[int]:
    first = int.from_bytes(os.urandom(5)) * 1000
    done = 0
    while time.monotonic() < end:
        yield first + done
        done += 1
    print(f"{done} seeds from {first} on", file=sys.__stderr__)
