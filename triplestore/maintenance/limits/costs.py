"""What a stratum has cost and what it may cost: the measurements that `auto` chooses by.

Start reading at `Cost`. The cost of rematerialising is measured per row, so what was learned stays
right as the store grows. The cost of deleting is not proportional to anything, so it is learned
separately for few and for many changes (`Size`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

PER_FAMILY = 40e-6
"""Seconds for one evaluation of one family."""

PER_ROW = 30e-9
"""Seconds for each row that rematerialising looks at, before there is a measurement."""

PER_COMPARED = 50e-9
"""Seconds for each row that held before and is not derived again."""

ROUNDS, INSTANCES = 20, 2
"""Rounds of a recursive stratum, and instances for each row, that are assumed before there is a
measurement."""

COMPARING = 20e-9
"""Seconds for each row by which rematerialising takes longer than the first closure, because it
compares (LUBM-10: 2 to 12 ns where facts are in one run, 15 to 50 ns after updates)."""

LEAST = 2e-3
"""Minimum time limit of an update, in seconds: it is not worth stopping a shorter one."""

ALLOWED = 0.95
"""Maximum time of another strategy, as a part of the expected time of rematerialising."""

DELETING, REDERIVING = 0.22, 0.5
"""Maximum time of overdeletion, as a part of that, and of overdeletion with rederivation: facts
that were deleted in vain have to be inserted again, which takes as long as both."""

DROPPING = 0.3
"""Maximum number of facts that overdeletion may delete, as a part of all rows."""

PROBE, WORTH = 0.15, 0.25
"""Maximum time of a search for proofs about which nothing is known, as a part of what is allowed,
until it is hopeful. It saves nothing where `LEAST` is more than `WORTH` of what is allowed."""

HOPEFUL = 16
"""A search goes on if it has proved one in this many facts that it looked at. Where most facts
have several derivations this shows after few rounds (9 to 14 of 100 after the eighth); on chains it
never does."""

TRYING = 0.7
"""Maximum time of a strategy that is tried again, as a part of the best known time."""

DOUBT = 0.7
"""Factor by which a high cost shrinks each time it is used without a new measurement."""

AGAIN = 32
"""Number of updates of a size after which a strategy that was not the best is tried again."""

MANY = 100
"""Minimum number of changes that are many: a failed update of this size is not an exception."""

NO_EXCEPTION = 4
"""Number of failures that one failed update of many changes counts for."""

MISJUDGED = 1.5
"""Where rematerialising took this many times as long as expected, the trial says nothing."""

MOST = 0.45
"""Minimum part of all explicit facts whose deletion makes rematerialising the best choice."""

SLOW = 0.3
"""Weight of the last measurement beside those before it."""


def smoothed(known: float | None, seconds: float) -> float:
    """One more measurement. One that is far above all before may be an accident."""
    if known is None:
        return seconds
    return known + SLOW * (min(seconds, 3 * known) - known)


@dataclass(slots=True)
class Patience:
    """Whether facts are taken away incrementally, where that has run out of time lately.

    One update that did may be an exception. After two in a row 2 updates are rematerialised at
    once, after three 4, and so on up to `AGAIN`: so the time that is lost is a small part of what
    is done.
    """

    failures: int = 0
    left: int = 0

    def ends(self) -> bool:
        """Whether this one update is not tried."""
        self.left -= self.left > 0
        return self.failures > 1 and self.left > 0

    def learn(self, worked: bool, times: int = 1) -> None:
        """Note how a trial ended; a failure with many changes counts several times."""
        self.failures = 0 if worked else self.failures + times
        self.left = 0 if self.failures < 2 else min(1 << (self.failures - 1), AGAIN) + 1


@dataclass(slots=True)
class Size:
    """What updates of about the same size have cost.

    each      name -> seconds for each changed fact, of strategies that have worked, and of those
              that took longer
    updates   how many there were
    turn      which strategy is tried next where none has worked
    """

    each: dict[str, float] = field(default_factory=dict)
    patience: Patience = field(default_factory=Patience)
    updates: int = 0
    turn: int = 0

    def plan(self, names: Sequence[str], changes: int, allowed: float) -> list[tuple[str, float]]:
        """Strategies to be tried one after the other, with the seconds for each; none, if all are
        known to take more than is allowed. The first of two names is that of a search."""
        if len(names) == 1:
            (name,) = names
            if self.each.get(name, 0.0) * changes <= allowed:
                return [(name, allowed)]
            self.each[name] *= DOUBT
            return []
        if self.patience.failures > 1:
            self.turn += 1
            return [(names[-(self.turn % 2)], allowed)]
        known = {name: self.each[name] * changes for name in names if name in self.each}
        if not known:
            trial = (names[-1], allowed)
            worth = changes < MANY and WORTH * allowed >= LEAST
            return [(names[0], allowed), trial] if worth else [trial]
        best = min(known, key=known.__getitem__)
        if known[best] > allowed:
            self.each[best] *= DOUBT
            return []
        other = next((name for name in names if name not in known), None)
        if other is None and self.updates % AGAIN == 0:
            other = names[self.updates // AGAIN % len(names)]
        if other is None or other == best:
            return [(best, allowed)]
        return [(other, min(allowed, max(TRYING * known[best], LEAST))), (best, allowed)]

    def learn(self, name: str, changes: int, seconds: float) -> None:
        """What a strategy took."""
        self.each[name] = smoothed(self.each.get(name), seconds / changes)


@dataclass(slots=True)
class Cost:
    """What a stratum has cost.

    full    seconds that rematerialising took for each row its rules looked at
    closed  whether that was only concluded from the first closure
    sizes   what taking facts away has cost, by the number of changes (`size_of`)
    rows    the rows that rematerialising looks at, when the store had `facts`
    """

    full: float | None = None
    closed: bool = False
    sizes: dict[int, Size] = field(default_factory=dict)
    rows: float = 0.0
    facts: int = -1

    def rematerialising(self, families: int, rows: float, recursive: bool, share: float) -> float:
        """The time expected, when a share of the explicit facts is deleted."""
        each, rounds = self.full, 1
        if each is None:
            each, rounds = PER_ROW, ROUNDS if recursive else 1
            each *= INSTANCES if recursive else 1
        anew = each * rows * (1.0 - share)
        return families * PER_FAMILY * rounds + anew + PER_COMPARED * rows * share

    def learn_closure(self, seconds: float, families: int, rows: float) -> None:
        """What the first closure took, which had nothing to compare with."""
        self.full = None
        self.learn_full(seconds + COMPARING * rows, families, rows, 0.0)
        self.closed = True

    def learn_full(self, seconds: float, families: int, rows: float, share: float) -> None:
        """Note how long it took. Where most is deleted this does not tell what rows cost."""
        if share < MOST:
            rest = seconds - families * PER_FAMILY - PER_COMPARED * rows * share
            known = None if self.closed else self.full
            self.full = smoothed(known, max(rest, 0.0) / (rows * (1.0 - share)))
            self.closed = False

    def of(self, changes: int) -> Size:
        """What updates with this number of changes have cost."""
        return self.sizes.setdefault(_size(changes), Size())

    def has_failed_with_fewer(self, changes: int) -> bool:
        """Whether fewer changes take too long and nothing is known of this many: more do not take
        less."""
        size = _size(changes)
        if size in self.sizes and self.sizes[size].updates:
            return False
        below = [number for number in self.sizes if number < size and self.sizes[number].updates]
        return bool(below) and self.sizes[max(below)].patience.ends()


def _size(changes: int) -> int:
    """Numbers of changes that are learned together: 1, 2 to 7, 8 to 31, 32 to 127, ..."""
    return changes.bit_length() // 2
