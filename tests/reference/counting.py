"""Counting for recursive programs: every round of the old and the new evaluation, side by side.

*Revisited*, algorithms 2 and 3 (with the minus in lines 23 and 36). The trace says how often each
fact is derived in each round of semi-naive evaluation, stratum by stratum. An update goes through
both runs in lockstep and considers only the instances that one of them considers and the other does
not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from tests.reference.facts import Fact, Table
from tests.reference.matching import Changes, Instance, Matcher, Test
from tests.reference.report import Phase, Report, without_views
from tests.reference.rules import Level, PlainRule
from tests.reference.state import Materialisation, Trace, considered


def trace(state: Materialisation) -> Trace:
    """The trace of a materialisation, made by counting semi-naive evaluation unless it is there."""
    if state.trace is None:
        state.trace = _Replay(state, None, state.explicit, set()).run()
    return state.trace


def counting(
    state: Materialisation, deletions: Iterable[Fact] = (), additions: Iterable[Fact] = ()
) -> Report:
    """Maintain a materialisation and its trace by recursive counting; its counters are lost."""
    asserted = set(additions)
    removed = (set(deletions) & state.explicit) - asserted
    asserted -= state.explicit
    replay = _Replay(state, trace(state), asserted, removed)
    state.trace = replay.run()
    state.explicit = (state.explicit - removed) | asserted
    state.table, state.held = Table(replay.new), replay.new
    state.counters = None
    report = replay.report
    report.deleted = without_views(replay.only_old)
    report.added = without_views(replay.only_new)
    return report


class _Replay:
    """The old and the new run: I_o, I_n, and what only one of them has, I_on and I_no.

    Without a trace there is no old run, not even of rules that need no facts: algorithm 2.
    """

    def __init__(
        self, state: Materialisation, trace: Trace | None, asserted: set[Fact], removed: set[Fact]
    ) -> None:
        self.rules = state.rules
        self.is_first = trace is None
        self.trace: Trace = {at: Counter(counts) for at, counts in (trace or {}).items()}
        self.asserted = asserted
        self.removed = removed
        self.table = Table()
        self.matcher = Matcher(self.table, plan=state.plan)
        self.report = Report()
        self.old: set[Fact] = set()
        self.new: set[Fact] = set()
        self.only_old: set[Fact] = set()
        self.only_new: set[Fact] = set()

    def run(self) -> Trace:
        """Both runs to their ends; the new trace, without empty rounds."""
        for level in self.rules.levels:
            self._views(level)
            self._stratum(level)
        return {at: counts for at, counts in self.trace.items() if counts}

    def _views(self, level: Level) -> None:
        for view in level.views:
            self._both(
                self.matcher.rows(view, self.old.__contains__),
                self.matcher.rows(view, self.new.__contains__),
            )

    def _stratum(self, level: Level) -> None:
        number = level.number
        counts = self._round(number, 1)
        latest_old = set(counts)
        self._change(counts, self._of(level, self.removed), -1)
        self._change(counts, self._of(level, self.asserted), 1)
        rules = level.rules  # recursive ones, too: see Level
        if self.is_first:
            self._first(counts, rules, "add lower", self.new, None, 1)
        else:
            only_old, only_new = self.only_old, self.only_new
            self._first(counts, rules, "remove lower", self.old, (only_old, only_new), -1)
            self._first(counts, rules, "add lower", self.new, (only_new, only_old), 1)
        latest_new = set(counts)
        at = 1
        while True:
            latest_old -= self.old
            latest_new -= self.new
            if not latest_old and not latest_new:
                return
            self._both(latest_old, latest_new)
            if latest_old == latest_new and not self.only_old and not self.only_new:
                self._rest(number, at)
                return
            at += 1
            counts = self._round(number, at)
            next_old = set(counts)
            removed = self._one_sided(level, "remove", latest_old, latest_new)
            added = self._one_sided(level, "add", latest_old, latest_new)
            self._change(counts, removed, -1)
            self._change(counts, added, 1)
            latest_old, latest_new = next_old, set(counts)

    def _round(self, stratum: int, at: int) -> Counter[Fact]:
        return self.trace.setdefault((stratum, at), Counter())

    def _of(self, level: Level, facts: Iterable[Fact]) -> set[Fact]:
        return {fact for fact in facts if self.rules.level_of(fact) == level.number}

    def _both(self, latest_old: set[Fact], latest_new: set[Fact]) -> None:
        """Lines 29 and 30: let both runs have what is new to them."""
        self.old |= latest_old
        self.new |= latest_new
        for fact in latest_old | latest_new:
            self.table.add(fact)
        self.only_old = (self.only_old - latest_new) | (latest_old - self.new)
        self.only_new = (self.only_new - latest_old) | (latest_new - self.old)

    def _rest(self, stratum: int, at: int) -> None:
        """Lines 31 and 32: from here the runs are the same, so the trace has all there is."""
        later = [counts for (s, i), counts in self.trace.items() if s == stratum and i > at]
        for counts in later:
            for fact in counts:
                self.table.add(fact)
            self.old.update(counts)
            self.new.update(counts)

    def _first(
        self,
        counts: Counter[Fact],
        rules: Sequence[PlainRule],
        phase: Phase,
        run: set[Fact],
        changes: Changes | None,
        by: int,
    ) -> None:
        """Lines 23 and 24: instances over lower strata that only one of the runs has."""
        holds = run.__contains__
        found = considered(self.report, phase, self.matcher, rules, holds, holds, changes)
        self._change(counts, [instance.head for instance in found], by)

    def _one_sided(
        self, level: Level, phase: Phase, latest_old: set[Fact], latest_new: set[Fact]
    ) -> list[Fact]:
        """Lines 36 and 37: the heads of instances that one run considers now and the other not.

        Either they hold in that run only; or in both, but the other has considered them before.
        """
        one, other, latest, other_latest = self.old, self.new, latest_old, latest_new
        only: Changes = (self.only_old, self.only_new)
        if phase == "add":
            one, other, latest, other_latest = other, one, other_latest, latest
            only = (self.only_new, self.only_old)
        holds = one.__contains__

        def earlier(fact: Fact) -> bool:
            return fact in one and fact in other and fact not in other_latest

        def either(fact: Fact) -> bool:
            return fact in one or fact in other

        rules = level.recursive
        found = self._considered(phase, rules, holds, holds, latest, only)
        both = {fact for fact in latest if fact in other and fact not in other_latest}
        found += self._considered(phase, rules, earlier, either, both, None)
        return [instance.head for instance in found]

    def _considered(
        self,
        phase: Phase,
        rules: Sequence[PlainRule],
        positive: Test,
        negative: Test,
        latest: set[Fact],
        only: Changes | None,
    ) -> list[Instance]:
        return considered(
            self.report, phase, self.matcher, rules, positive, negative, (latest, ()), only
        )

    @staticmethod
    def _change(counts: Counter[Fact], facts: Iterable[Fact], by: int) -> None:
        for fact in facts:
            counts[fact] += by
            if counts[fact] < 0:
                raise AssertionError(f"a derivation of {fact} was subtracted twice")
            if not counts[fact]:
                del counts[fact]
