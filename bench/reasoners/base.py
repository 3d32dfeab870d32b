"""The interface of adapters of reasoners, and the measurement of a run.

Start at `Reasoner`. A run does the steps of `Session` in order; each is timed separately. Always
true: a session runs in a new process (`bench.child` calls `child`), and the peak of memory is read
before the result.
"""

from __future__ import annotations

import resource
import signal
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from bench.child import Clock, peak_bytes
from bench.harness import Harness, MeasurementError, Result, run_once
from bench.reasoners.task import Task

MOST_BYTES = 16 << 30
"""Maximum address space of a run."""

STEPS = ("parse", "import", "reason")


class Session(Protocol):
    """One computation of a closure. The steps are called once each, in this order."""

    def parse(self) -> None:
        """Read the program and translate it for the reasoner."""

    def load(self) -> None:
        """Read the facts (the step `import`)."""

    def reason(self) -> None:
        """Compute everything that follows."""

    def inside(self) -> Mapping[str, float]:
        """Seconds of other steps, for reasoners that do them in `reason`."""

    def count(self) -> int:
        """The number of facts."""

    def contents(self) -> set[tuple[Any, ...]]:
        """All facts: (name of the relation, numbers...), or triples of texts of an RDF peer."""


class Reasoner(Protocol):
    """A system that can compute closures."""

    @property
    def name(self) -> str: ...

    @property
    def packages(self) -> tuple[str, ...]:
        """The distributions whose versions go into the report."""

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules that must be there; imported by `start`."""

    @property
    def rdf(self) -> bool:
        """Whether it reasons with an ontology over RDF instead of rules over integers."""

    def refuses(self, task: Task) -> str | None:
        """Why a task cannot be given to it; None if it can."""

    def start(self) -> None:
        """Do the imports and other work of a first use in a process."""

    def open(self, task: Task) -> Session:
        """A session on a task."""


def missing(reasoner: Reasoner) -> str | None:
    """Why a reasoner cannot be used here; None if it can."""
    absent = [module for module in reasoner.modules if find_spec(module) is None]
    return f"{', '.join(absent)} not installed" if absent else None


def limit(seconds: float) -> None:
    """In a child: limit the seconds and the memory of the process."""
    signal.setitimer(signal.ITIMER_REAL, seconds)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))


def why_it_ended(error: MeasurementError, seconds: float) -> str:
    """Why a run has ended early, for the report."""
    lines = str(error).strip().splitlines()
    if f"failed ({-signal.SIGALRM:d})" in lines[0]:
        return f"over {seconds:g} s"
    return f"failed: {lines[-1][:60]}"


def take_turns(
    results: dict[str, Result], harness: Harness, seconds: float, enough: float
) -> dict[str, str]:
    """Run the cases several times, turn by turn; returns why some ended early.

    Cases that fail or take too long are removed from the results. A case is not repeated if its
    main number is above `enough`.
    """
    absent = {}
    for turn in range(harness.repeats):
        for name, result in list(results.items()):
            if turn and result[result.main] > enough:
                continue
            try:
                run = run_once(result.case)
            except MeasurementError as error:
                absent[name] = why_it_ended(error, seconds)
                del results[name]
                harness.say(f"{result.case.label}: {absent[name]}")
                continue
            result.runs.append(run)
            harness.say(f"{result.case.label}, run {turn + 1}: {run[result.main]:.4g} s")
    return absent


def child(reasoner: str, task: str, seconds: float) -> dict[str, Any]:
    """In a child: `measure`, with a limit of seconds."""
    limit(seconds)
    return measure(reasoner, task)


def measure(reasoner: str, task: str) -> dict[str, Any]:
    """One run, with the seconds of every step."""
    from bench.reasoners import REASONERS

    adapter, clock, opened = REASONERS[reasoner], Clock(), Task.open(Path(task))
    with clock.part("start"):
        adapter.start()
    session = adapter.open(opened)
    with clock.part("parse"):
        session.parse()
    with clock.part("import"):
        session.load()
    with clock.part("reason"):
        session.reason()
    peak = peak_bytes()
    found = {**clock.seconds, "reason wall s": clock.seconds["reason s"]}
    for step, seconds in session.inside().items():
        found[f"{step} s"] += seconds
        found["reason s"] -= seconds
    found["total s"] = sum(found[f"{step} s"] for step in STEPS)
    return {**found, "reasoning peak bytes": peak, "facts": session.count()}
