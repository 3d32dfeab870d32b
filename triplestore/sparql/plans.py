"""Plans that are kept for when the same text is asked of the same state again.

Start at `Plans`, of which each state that can be read has one. What is always true: a plan is lent
to one query at a time, and comes back when its result is gone, if it ran to its end; plans go with
the state, of which they hold relations, so that nothing older than what is read is kept alive; a
kept plan gives what a new one would. Plans that took long are not kept: there planning is nothing,
and some of their operators hold what they saw last.
"""

from __future__ import annotations

import weakref
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triplestore.ops.context import Context
    from triplestore.ops.operator import Operator
    from triplestore.sparql.planner import Planner

_MOST = 128  # plans of one state
_QUICK = 0.02  # seconds of a run after which a plan is kept
_BYTES = 1 << 18  # so much its operators may hold between two runs
_TERMS = 1000  # so many terms looked up or made by a query are kept with its plan


@dataclass(slots=True)
class Plan:
    """The operators of a query, with the planner that made them: terms and limits are its."""

    planner: Planner
    operator: Operator

    def begin(self, context: Context) -> None:
        """Make it ready for another query."""
        self.planner.context = context
        self.operator.clear_statistics()

    def is_worth_keeping(self) -> bool:
        """True if the same text may be answered with it again, and planning counts there."""
        planner = self.planner
        return (
            planner.repeatable
            and planner.dataset.is_stored
            and self.operator.statistics.seconds < _QUICK
            and planner.scope.terms.noted <= _TERMS
            and self.operator.bytes_kept() <= _BYTES
        )


class Plans:
    """The plans of one state, by what was asked."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, Plan] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def lend(self, key: Hashable) -> Plan | None:
        """A kept plan, which is nobody else's until it is given back."""
        return self._kept.pop(key, None)

    def give(self, key: Hashable, plan: Plan) -> None:
        """Keep a plan that ran to its end, and that nothing reads from any more."""
        # No lock: the collector may end a result, and so come here, while one is held.
        if plan.is_worth_keeping():
            self._kept[key] = plan
            with suppress(StopIteration, KeyError, RuntimeError):  # another thread did the same
                while len(self._kept) > _MOST:
                    self._kept.pop(next(iter(self._kept)))


class Loan:
    """What a result has of a plan: when it goes, the plan is given back if it is finished."""

    __slots__ = ("_key", "_plan", "_plans", "finished")

    def __init__(self, plans: Plans, key: Hashable, plan: Plan) -> None:
        self._plans = weakref.ref(plans)
        self._key = key
        self._plan = plan
        self.finished = False

    def __del__(self) -> None:
        if self.finished:
            plans = self._plans()
            if plans is not None:
                plans.give(self._key, self._plan)
