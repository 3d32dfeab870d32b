"""Measured costs of a stratum, by which `auto` chooses a strategy.

Start reading at `Cost`. The cost of rematerialising is measured per row, so it stays right as the
store grows. The cost of deletion is not proportional to anything, so it is learned separately for
few and for many changes (`Size`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from triplestore.data_classes import data_class
from triplestore.maintenance.thresholds import MAINTENANCE


def smoothed(known: float | None, seconds: float) -> float:
    """A mean with one more measurement. A measurement far above the mean may be an accident."""
    if known is None:
        return seconds
    return known + MAINTENANCE.newest_weight * (min(seconds, 3 * known) - known)


@data_class(frozen=False)
class Patience:
    """Whether incremental deletion is tried where it has run out of time lately.

    One failure may be an exception. After two in a row, 2 updates are rematerialised at once, after
    three 4, and so on up to `MAINTENANCE.again`. So failed trials take a small part of the time.
    """

    failures: int = 0
    left: int = 0

    def ends(self) -> bool:
        """Whether this update is not tried."""
        self.left -= self.left > 0
        return self.failures > 1 and self.left > 0

    def learn(self, worked: bool, times: int = 1) -> None:
        """Note how a trial ended. A failure with many changes counts several times."""
        self.failures = 0 if worked else self.failures + times
        self.left = 0 if self.failures < 2 else min(1 << (self.failures - 1), MAINTENANCE.again) + 1


@data_class(frozen=False)
class Size:
    """What updates of about the same size have cost.

    each      name of a strategy -> seconds for each changed fact, or more if it was stopped
    updates   number of updates
    turn      which strategy is tried next where none has worked
    """

    each: dict[str, float] = field(default_factory=dict)
    patience: Patience = field(default_factory=Patience)
    updates: int = 0
    turn: int = 0

    def plan(self, names: Sequence[str], changes: int, allowed: float) -> list[tuple[str, float]]:
        """Strategies to try one after the other, with the seconds for each. There are none if all
        are known to take more than the allowed time. The first of two names is that of a search."""
        limits = MAINTENANCE
        if len(names) == 1:
            (name,) = names
            if self.each.get(name, 0.0) * changes <= allowed:
                return [(name, allowed)]
            self.each[name] *= limits.doubt
            return []
        if self.patience.failures > 1:
            self.turn += 1
            return [(names[-(self.turn % 2)], allowed)]
        known = {name: self.each[name] * changes for name in names if name in self.each}
        if not known:
            trial = (names[-1], allowed)
            pays = limits.probing_pays * allowed >= limits.least_seconds
            first = [(names[0], allowed)] if pays and changes < limits.many_changes else []
            return [*first, trial]
        best = min(known, key=known.__getitem__)
        if known[best] > allowed:
            self.each[best] *= limits.doubt
            return []
        other = next((name for name in names if name not in known), None)
        if other is None and self.updates % limits.again == 0:
            other = names[self.updates // limits.again % len(names)]
        if other is None or other == best:
            return [(best, allowed)]
        most = max(limits.trying_again * known[best], limits.least_seconds)
        return [(other, min(allowed, most)), (best, allowed)]

    def learn(self, name: str, changes: int, seconds: float) -> None:
        """Note how long a strategy took."""
        self.each[name] = smoothed(self.each.get(name), seconds / changes)


@data_class(frozen=False)
class Cost:
    """What a stratum has cost.

    full    seconds of rematerialising for each row that its rules read
    closed  whether `full` is only an estimate from the first closure
    sizes   cost of incremental deletion, by the number of changes (`_size`)
    rows    number of rows that rematerialising reads, when the store had `facts`
    """

    full: float | None = None
    closed: bool = False
    sizes: dict[int, Size] = field(default_factory=dict)
    rows: float = 0.0
    facts: int = -1

    def rematerialising(self, families: int, rows: float, recursive: bool, share: float) -> float:
        """The expected time if a share of the explicit facts is deleted."""
        each, rounds = self.full, 1
        if each is None:
            each = MAINTENANCE.row_seconds
            if recursive:
                each *= MAINTENANCE.assumed_instances
                rounds = MAINTENANCE.assumed_rounds
        evaluating = families * MAINTENANCE.family_seconds * rounds + each * rows * (1.0 - share)
        return evaluating + MAINTENANCE.compared_seconds * rows * share

    def learn_closure(self, seconds: float, families: int, rows: float) -> None:
        """Note how long the first closure took, which had nothing to compare with."""
        self.full = None
        self.learn_full(seconds + MAINTENANCE.comparing_seconds * rows, families, rows, 0.0)
        self.closed = True

    def learn_full(self, seconds: float, families: int, rows: float, share: float) -> None:
        """Note how long rematerialising took. If most facts are deleted, this says nothing about
        the cost of rows."""
        if share < MAINTENANCE.most_deleted:
            rest = seconds - families * MAINTENANCE.family_seconds
            rest -= MAINTENANCE.compared_seconds * rows * share
            known = None if self.closed else self.full
            self.full = smoothed(known, max(rest, 0.0) / (rows * (1.0 - share)))
            self.closed = False

    def of(self, changes: int) -> Size:
        """The cost of updates with this number of changes."""
        return self.sizes.setdefault(_size(changes), Size())

    def has_failed_with_fewer(self, changes: int) -> bool:
        """Whether fewer changes take too long, and this number was never tried. More changes do not
        take less time."""
        size = _size(changes)
        if size in self.sizes and self.sizes[size].updates:
            return False
        below = [number for number in self.sizes if number < size and self.sizes[number].updates]
        return bool(below) and self.sizes[max(below)].patience.ends()


def _size(changes: int) -> int:
    """Class of numbers of changes that are learned together: 1, 2 to 7, 8 to 31, 32 to 127, ..."""
    return changes.bit_length() // 2
