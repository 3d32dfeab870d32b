"""What bringing a closure up to date may take: time, memory, new facts and new terms.

Start reading at `Budget`. One is begun for all that a commit infers (`begin`), from reading axioms
to the last update, and each `update` counts its facts anew (`start`). Time and memory are looked at
on the way: nothing is refused by an estimate, only by what was used, or by the exact size of what
is to be made next. An error names what was at work, or did most.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from triplestore.errors import BudgetError, CancelledError, TimeLimitError
from triplestore.kernels.jit import bytes_of_kernels
from triplestore.maintenance.limits.clocks import NEVER, Clocks, over
from triplestore.operators.context import Context, Flag, current
from triplestore.relations.facts.sorted_arrays import TooManyRowsError
from triplestore.terms.guards.document_limits import USUAL
from triplestore.thread_limits import memory_in_use

FACT_BYTES = 16
"""What a new fact takes at the least, as a row in two orders."""

INTERVAL = 0.008
"""Memory is looked at so often, in seconds: a look costs up to 50 us."""

LEAST_BYTES = 32 << 20
"""Growth below this is not looked at: a module that is imported takes as much."""

FEW_BYTES = 1 << 20
"""What takes less than this is made without a look at memory."""

MOST_ROOM = 1 << 21
"""With a time limit, a join makes at most this many rows at once: some 50 ms."""

ROW_BYTES = 64
"""What a row of a join takes until it is a conclusion, copies included."""

MOST_TERMS = 1_000_000
"""Without `max_terms`, rules may make this many terms, or ten times those that are there."""

TIMES_TERMS = 10

TERM_COPIES = 4
"""A new term is noted, stored, and stored again when many are made a segment."""

MOST_STEPS = 50_000
"""Without `max_terms`, and as many times in one stratum new terms may come from new terms."""

LONGEST = USUAL.term
"""Without `max_terms`, the mean length of the terms of a step: what a document may hold. Texts that
double at each step reach it at once, and the budget of memory after minutes."""


class Overrun(Exception):  # noqa: N818 - nothing is wrong, who gave the time changes the method
    """An update took longer than it was given; who gave it the time does it another way."""


@dataclass(slots=True)
class Budget:
    """Limits of one commit's inference; None for no limit.

    facts, bytes, seconds, terms  new facts, memory, time and new terms
    made      how many facts were made so far
    again     how many of them at most held before: what is derived anew is not new
    overrun   when to raise `Overrun`
    blame     says what to name in an error

    >>> Budget(facts=10).start().spend(11)
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

    def begin(self) -> Budget:
        """Time and memory count from now on, for all updates that follow."""
        now = time.monotonic()
        self.deadline = float("inf") if self.seconds is None else now + self.seconds
        self._next = now + INTERVAL
        self._base, self._new_terms, self._term_bytes = -1, 0, 0
        self._begun = True
        return self

    def start(self) -> Budget:
        """Begin to count the facts of an update."""
        self.made = self.again = 0
        return self if self._begun else self.begin()

    def look(self, about: object = None) -> None:
        """`check` for loops far below an update; see `running`."""
        if about is not None:
            self._about, self.blame = about, None
        if time.monotonic() >= self._next:
            self.check()

    def computing(self) -> Context:
        """The same limits for the functions of expressions."""
        return Computing(self)

    def check(self, rows: int = 0) -> None:
        """Raise if it is time to stop, or if this many rows at once are too much."""
        if self.cancel is not None and self.cancel.is_set():
            raise CancelledError("reasoning was cancelled; nothing has changed")
        if over(self.overrun):
            raise Overrun
        now = time.monotonic()
        if now > self.deadline:
            raise TimeLimitError(
                f"reasoning took more than {self.seconds:g} seconds; nothing has changed; "
                f"{_raise_budget('max_seconds')}{self._suspect()}"
            )
        if now >= self._next:
            self._next = now + INTERVAL
            self._look_at_memory()
        if self.bytes is not None and rows * FACT_BYTES > self.bytes:
            self._too_many_bytes(rows * FACT_BYTES)
        self.needs(rows * FACT_BYTES)

    # -- memory ------------------------------------------------------------------------------------

    def needs(self, size: int) -> None:
        """Raise if there is no room for exactly this size, which is allocated next."""
        if size > FEW_BYTES and self.bytes is not None:
            self._look_at_memory()
            if self._grown() + size > max(self.bytes, LEAST_BYTES):
                self._too_many_bytes(size)

    def room(self) -> int:
        """How many rows a join may make at once."""
        most = 1 << 40 if self.seconds is None else MOST_ROOM
        if self.bytes is None:
            return most
        left = max(self.bytes, LEAST_BYTES) - self._grown()
        return max(1 << 16, min(most, left // (2 * ROW_BYTES)))

    def _look_at_memory(self) -> None:
        if self.bytes is None:
            return
        used, kernels = memory_in_use(), bytes_of_kernels()
        if self._base < 0:
            self._base = used
        else:
            self._base += kernels - self._kernels  # which were loaded since, and stay
        self._last, self._kernels = used, kernels
        if used - self._base > max(self.bytes, LEAST_BYTES):
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
        """What to raise where there is no more memory: an error of this package as it is, with
        what was at work, or one in the place of the system's."""
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
        """Count facts that were made."""
        self.made += facts
        self.foresee(0)

    def foresee(self, facts: int) -> None:
        """Raise if this many facts more, which are sure to be made, are too many."""
        made = self.made + facts
        if self.facts is not None and made - self.again > self.facts:
            raise BudgetError(
                f"reasoning would make more than {self.facts:,} facts; nothing has changed; "
                f"{_raise_budget('max_facts')}, or look for a rule that makes ever new terms"
                f"{self._suspect()}"
            )
        if self.bytes is not None and made * FACT_BYTES > self.bytes:
            raise BudgetError(
                f"reasoning would make more than {self.bytes:,} bytes of facts; nothing has "
                f"changed; {_raise_budget('max_bytes')}{self._suspect()}"
            )

    def spend_terms(self, count: int, size: int, known: int, stratum: int) -> None:
        """Count terms of some bytes that rules of a stratum made, beside the known ones."""
        if not self._known_terms:
            self._known_terms = known
        self._new_terms += count
        self._term_bytes += size
        if self.bytes is not None and TERM_COPIES * self._term_bytes > max(self.bytes, LEAST_BYTES):
            self._too_many_terms(f"{self._term_bytes:,} bytes of new terms")
        steps = self._steps[stratum] = self._steps.get(stratum, 0) + 1
        most = self.terms
        if most is None:
            most = max(MOST_TERMS, TIMES_TERMS * self._known_terms)
            if size > LONGEST * count:
                self._too_many_terms(f"terms of {size // count:,} bytes")
            if steps > MOST_STEPS:
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
    """A budget as the functions of expressions see it: they look at its clock, and say what they
    make before they make it. What is made shows in the memory of the process, so its sum is not
    compared with anything. The limits of the caller hold as well.

    >>> Computing(Budget(bytes=40_000_000).begin()).need(50_000_000)
    Traceback (most recent call last):
    triplestore.errors.BudgetError: reasoning needs 50,000,000 bytes at once, more than its budget \
of 40,000,000; nothing has changed; raise the budget (tuning={"max_bytes": ...}, --max-bytes)
    """

    __slots__ = ("_limits", "_outer")

    def __init__(self, limits: Budget) -> None:
        self._limits = limits
        self._outer = current()
        super().__init__(text=self._outer.text)

    def check(self) -> None:
        """Raise if it is time to stop."""
        self._outer.check()
        self._limits.look()

    def charge(self, size: int) -> None:
        """Raise if there is no room for this number of bytes, which are allocated next."""
        self._limits.needs(size)
        super().charge(size)


def _raise_budget(name: str) -> str:
    option = name.replace("_", "-")
    return f'raise the budget (tuning={{"{name}": ...}}, --{option})'
