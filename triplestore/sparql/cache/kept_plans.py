"""Plans that are kept for when the same state is asked the same again, or with other constants.

Start at `StatePlans`, of which each state that can be read has one. What is always true: a plan is
lent to one query at a time, and comes back when its result is gone, if it ran to its end; plans go
with the state whose relations they hold, so that they keep no older state alive; a kept plan gives
what a new one would. Plans that ran for long are not kept: planning takes a small part of that
time, and some of their operators hold what they saw last.
"""

from __future__ import annotations

import weakref
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from triplestore.operators.context import Context
    from triplestore.operators.operator import Operator
    from triplestore.sparql.algebra.nodes import Ask, Construct, Select
    from triplestore.sparql.plan.planner import Planner

_MOST = 128  # maximum number of plans of a state, and of kinds of plans with other constants
_MOST_ALIKE = 4  # maximum number of plans of one kind: for other sizes, or used at the same time
_QUICK = 0.02  # maximum seconds of a run after which a plan is kept
_BYTES = 1 << 18  # maximum bytes that its operators hold between two runs
_TERMS = 1000  # maximum number of terms looked up or made by a query whose plan is kept


class PlanKey(NamedTuple):
    """What was asked.

    of         what tells it from others but for its constants
    constants  those
    fixed      those of them that no plan can exchange; None if it is not known which
    """

    of: Hashable
    constants: tuple[bytes, ...] = ()
    fixed: tuple[bytes, ...] | None = None


@dataclass(slots=True)
class QueryPlan:
    """The operators of a query, with the planner that made them: terms and limits are its."""

    planner: Planner
    operator: Operator
    query: Ask | Construct | Select

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
            and planner.scope.terms.nbytes <= _BYTES
            and self.operator.bytes_kept() <= _BYTES
        )


class StatePlans:
    """The plans of one state, by what was asked."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, QueryPlan] = {}
        self._alike: dict[Hashable, list[QueryPlan]] = {}

    def __len__(self) -> int:
        return len(self._kept) + sum(map(len, list(self._alike.values())))

    def lend(self, question: PlanKey) -> QueryPlan | None:
        """A kept plan, which no one else gets until it is given back."""
        of, constants, fixed = question
        found = self._kept.pop((of, constants), None)
        if found is None and fixed is not None:
            found = self._with_others(self._alike.get((of, fixed), []), constants)
        return found

    def _with_others(
        self, plans: list[QueryPlan], constants: tuple[bytes, ...]
    ) -> QueryPlan | None:
        """One of some plans, with these constants put into it."""
        found, others = None, []
        while found is None:
            try:
                plan = plans.pop()
            except IndexError:  # there are none, or another thread has the last one
                break
            if plan.planner.slots.exchange(constants, plan.planner.scope.terms):
                found = plan
            else:
                others.append(plan)
        plans.extend(reversed(others))
        return found

    def give(self, question: PlanKey, plan: QueryPlan) -> None:
        """Keep a plan that ran to its end, and that nothing reads from any more."""
        # No lock: the collector may end a result, and so come here, while one is held.
        if not plan.is_worth_keeping():
            return
        of, constants, fixed = question
        if fixed is not None and plan.planner.slots.fits:
            plans = self._alike.setdefault((of, fixed), [])
            plans.append(plan)
            del plans[:-_MOST_ALIKE]
        else:
            self._kept[of, constants] = plan
        with suppress(StopIteration, KeyError, RuntimeError):  # another thread did the same
            for kept in (self._kept, self._alike):
                while len(kept) > _MOST:
                    kept.pop(next(iter(kept)))


class PlanLoan:
    """What a result has of a plan: when it goes, the plan is given back if it is finished."""

    __slots__ = ("_plan", "_plans", "_question", "finished")

    def __init__(self, plans: StatePlans, question: PlanKey, plan: QueryPlan) -> None:
        self._plans = weakref.ref(plans)
        self._question = question
        self._plan = plan
        self.finished = False

    def __del__(self) -> None:
        if getattr(self, "finished", False):  # not set where Ctrl-C came while it was made
            plans = self._plans()
            if plans is not None:
                plans.give(self._question, self._plan)
