"""The budget of one commit's inference: time, memory, new facts and new terms.

Start reading at `ReasoningBudget`. One budget serves all that a commit infers (`begin`), from
reading axioms to the last update; each `update` counts its own facts (`start`). Time and memory
are checked during the work. Nothing is refused by an estimate, only by what was used, or by the
exact size of the next allocation. An error names the rule at work, or the one that did most.

`clocks` measures what work costs. Two clocks are read, and the lower one counts: so a machine that
others use as well does not look slow, and neither do several threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import field
from typing import NoReturn, TypeAlias

from triplestore.data_classes import data_class
from triplestore.errors import BudgetError, CancelledError, TimeLimitError
from triplestore.kernels.jit import bytes_of_kernels, starting
from triplestore.maintenance.thresholds import MAINTENANCE
from triplestore.operators.context import Context, Flag, current
from triplestore.relations.facts.sorted_arrays import TooManyRowsError
from triplestore.thread_limits import memory_in_use

Clocks: TypeAlias = tuple[float, float]
"""Elapsed time, and processor time of this program, in seconds."""

NEVER: Clocks = (float("inf"), float("inf"))
"""A time that does not come."""


def clocks() -> Clocks:
    """Both clocks now, without the time of loading kernels: the first update of a process may wait
    several times as long for its kernels as it works (LUBM-1: 13 ms, then 2)."""
    passed, worked = starting()
    return time.perf_counter() - passed, time.process_time() - worked


def is_recent(time_before: Clocks) -> bool:
    """Whether less than 50 us have passed since a time."""
    return time.perf_counter() - starting()[0] - time_before[0] < 50e-6


def between(start: Clocks, end: Clocks) -> float:
    """The time that work took: less than the elapsed time where others had the processor, and less
    than the processor time where there are several processors.

    >>> between((1.0, 5.0), (4.0, 7.0))
    2.0
    """
    return max(0.0, min(end[0] - start[0], end[1] - start[1]))


def over(limit: Clocks) -> bool:
    """Whether both clocks are past a limit.

    >>> over(NEVER), over((0.0, -1.0))
    (False, True)
    """
    if limit is NEVER:
        return False
    passed, worked = starting()  # the processor's clock is asked second: it costs six times as much
    return time.perf_counter() - passed > limit[0] and time.process_time() - worked > limit[1]


class Overrun(Exception):  # noqa: N818 - not an error: the caller changes the method
    """An update took longer than its trial may. The caller does it in another way."""


@data_class(frozen=False)
class ReasoningBudget:
    """Limits of one commit's inference; None for no limit.

    facts, bytes, seconds, terms  new facts, memory, time and new terms
    made      number of facts made so far
    again     maximum number of them that held before: a fact that is derived again is not new
    overrun   when to raise `Overrun`
    blame     says what to name in an error

    >>> ReasoningBudget(facts=10).start().spend(11)
    Traceback (most recent call last):
    triplestore.errors.BudgetError: reasoning would make more than 10 facts; nothing has changed; \
raise the budget (tuning={"max_facts": ...}, --max-facts), or look for a rule that makes ever new \
terms
    """

    facts: int | None = None
    bytes: int | None = None
    seconds: float | None = None
    cancel: Flag | None = None
    progress: Callable[[str], None] | None = None
    terms: int | None = None
    made: int = 0
    again: int = 0
    deadline: float = float("inf")
    overrun: Clocks = NEVER
    blame: Callable[[], str] | None = None
    _new_terms: int = 0
    _known_terms: int = 0
    _term_bytes: int = 0
    _steps: dict[int, int] = field(default_factory=dict)
    _begun: bool = False
    _next: float = 0.0
    _base: int = -1
    _last: int = 0
    _kernels: int = 0
    _about: object = None

    # -- the clock ---------------------------------------------------------------------------------

    def begin(self) -> ReasoningBudget:
        """Start to count time and memory, for all updates that follow."""
        now = time.monotonic()
        self.deadline = float("inf") if self.seconds is None else now + self.seconds
        self._next = now + MAINTENANCE.look_interval
        self._base, self._new_terms, self._term_bytes = -1, 0, 0
        self._begun = True
        return self

    def start(self) -> ReasoningBudget:
        """Start to count the facts of an update."""
        self.made = self.again = 0
        return self if self._begun else self.begin()

    def look(self, about: object = None) -> None:
        """`check` for loops far below an update.

        about  what is at work, to be named in an error
        """
        if about is not None:
            self._about, self.blame = about, None
        if time.monotonic() >= self._next:
            self.check()

    def computing(self) -> Context:
        """The same limits for the functions of expressions."""
        return Computing(self)

    def check(self, rows: int = 0) -> None:
        """Raise if the work must stop, or if this many rows at once are too many."""
        if self.cancel is not None and self.cancel.is_set():
            raise CancelledError("reasoning was cancelled; nothing has changed")
        if self.overrun is not NEVER and over(self.overrun):
            raise Overrun
        now = time.monotonic()
        if now > self.deadline:
            raise TimeLimitError(
                f"reasoning took more than {self.seconds:g} seconds; nothing has changed; "
                f"{_raise_budget('max_seconds')}{self._suspect()}"
            )
        if now >= self._next:
            self._next = now + MAINTENANCE.look_interval
            self._look_at_memory()
        if self.bytes is not None and rows:
            size = rows * MAINTENANCE.fact_bytes
            if size > self.bytes:
                self._too_many_bytes(size)
            self.needs(size)

    # -- memory ------------------------------------------------------------------------------------

    def needs(self, size: int) -> None:
        """Raise if there is no room for the next allocation, which has exactly this size."""
        if size > MAINTENANCE.few_bytes and self.bytes is not None:
            self._look_at_memory()
            if self._grown() + size > max(self.bytes, MAINTENANCE.least_bytes):
                self._too_many_bytes(size)

    def room(self) -> int:
        """Maximum number of rows that a join may make at once."""
        most = 1 << 40 if self.seconds is None else MAINTENANCE.timed_join_rows
        if self.bytes is None:
            return most
        left = max(self.bytes, MAINTENANCE.least_bytes) - self._grown()
        return max(1 << 16, min(most, left // (2 * MAINTENANCE.join_row_bytes)))

    def _look_at_memory(self) -> None:
        if self.bytes is None:
            return
        used, kernels = memory_in_use(), bytes_of_kernels()
        if self._base < 0:
            self._base = used
        else:
            self._base += kernels - self._kernels  # kernels that were loaded since then stay
        self._last, self._kernels = used, kernels
        if used - self._base > max(self.bytes, MAINTENANCE.least_bytes):
            raise BudgetError(
                f"reasoning took more than its budget of {self.bytes:,} bytes of memory; nothing "
                f"has changed; {_raise_budget('max_bytes')}{self._suspect()}"
            )

    def _grown(self) -> int:
        return 0 if self._base < 0 else max(0, self._last - self._base)

    def _too_many_bytes(self, size: int) -> NoReturn:
        assert self.bytes is not None
        taken = f" beside {self._grown():,} in use" if size <= self.bytes else ""
        raise BudgetError(
            f"reasoning needs {size:,} bytes at once{taken}, more than its budget of "
            f"{self.bytes:,}; nothing has changed; {_raise_budget('max_bytes')}{self._suspect()}"
        )

    def named(self, error: MemoryError) -> BudgetError:
        """The error to raise when memory has run out: an error of this package as it is, with the
        rule at work, or one in place of the system's."""
        if isinstance(error, TooManyRowsError):
            return BudgetError(f"{error}{self._suspect()}")
        if isinstance(error, BudgetError):
            return error
        return BudgetError(
            "there is no more memory; nothing has changed; a budget would have ended it earlier "
            f'(tuning={{"max_bytes": ...}}, --max-bytes){self._suspect()}'
        )

    # -- facts and terms ---------------------------------------------------------------------------

    def spend(self, facts: int) -> None:
        """Count new facts."""
        self.made += facts
        self.foresee(0)

    def foresee(self, facts: int) -> None:
        """Raise if this many more facts, which are sure to be made, are too many."""
        made = self.made + facts
        if self.facts is not None and made - self.again > self.facts:
            raise BudgetError(
                f"reasoning would make more than {self.facts:,} facts; nothing has changed; "
                f"{_raise_budget('max_facts')}, or look for a rule that makes ever new terms"
                f"{self._suspect()}"
            )
        if self.bytes is not None and made * MAINTENANCE.fact_bytes > self.bytes:
            raise BudgetError(
                f"reasoning would make more than {self.bytes:,} bytes of facts; nothing has "
                f"changed; {_raise_budget('max_bytes')}{self._suspect()}"
            )

    def spend_terms(self, count: int, size: int, known: int, stratum: int) -> None:
        """Count new terms, with their bytes, that rules of a stratum made beside the known ones."""
        if not self._known_terms:
            self._known_terms = known
        self._new_terms += count
        self._term_bytes += size
        copied = MAINTENANCE.term_copies * self._term_bytes
        if self.bytes is not None and copied > max(self.bytes, MAINTENANCE.least_bytes):
            self._too_many_terms(f"{self._term_bytes:,} bytes of new terms")
        steps = self._steps[stratum] = self._steps.get(stratum, 0) + 1
        most = self.terms
        if most is None:
            most = max(MAINTENANCE.most_terms, MAINTENANCE.times_terms * self._known_terms)
            if size > MAINTENANCE.longest_terms * count:
                self._too_many_terms(f"terms of {size // count:,} bytes")
            if steps > MAINTENANCE.most_steps:
                self._too_many_terms(f"new terms {steps:,} times, one after the other")
        if self._new_terms > most:
            self._too_many_terms(f"more than {most:,} new terms")

    def _too_many_terms(self, what: str) -> NoReturn:
        raise BudgetError(
            f"reasoning made {what}; nothing has changed; give its rules an end (a FILTER), or "
            f"{_raise_budget('max_terms')}{self._suspect()}"
        )

    def _suspect(self) -> str:
        name = "" if self.blame is None else self.blame()
        if not name and self._about is not None:
            text = " ".join(str(self._about).split())
            name = f"at work was {text[:200]}{'...' if len(text) > 200 else ''}"
        return f"; {name}" if name else ""


class Computing(Context):
    """A budget as the functions of expressions see it: they check its clock, and announce large
    allocations. Memory in use is measured for the whole process, so nothing is summed up here. The
    limits of the caller hold as well.

    >>> Computing(ReasoningBudget(bytes=40_000_000).begin()).need(50_000_000)
    Traceback (most recent call last):
    triplestore.errors.BudgetError: reasoning needs 50,000,000 bytes at once, more than its budget \
of 40,000,000; nothing has changed; raise the budget (tuning={"max_bytes": ...}, --max-bytes)
    """

    __slots__ = ("_limits", "_outer")

    def __init__(self, limits: ReasoningBudget) -> None:
        self._limits = limits
        self._outer = current()
        super().__init__(text=self._outer.text)

    def check(self) -> None:
        """Raise if the work must stop."""
        self._outer.check()
        self._limits.look()

    def charge(self, size: int) -> None:
        """Raise if there is no room for the next allocation, of this many bytes."""
        self._limits.needs(size)
        super().charge(size)


def _raise_budget(name: str) -> str:
    option = name.replace("_", "-")
    return f'raise the budget (tuning={{"{name}": ...}}, --{option})'
