"""Plans that are kept for the next equal query, or one with other constants, on the same state.

Start at `StatePlans`; each readable state has one. Always true: a plan is lent to one query
at a time, and is returned when its result is deleted, if it ran to its end; plans are dropped with
the state whose relations they hold, so they keep no older state alive; a kept plan returns the same
results as a new one. Plans that ran long are not kept: planning takes a small part of that time,
and some of their operators hold data of the last run.
"""

from __future__ import annotations

import weakref
from collections.abc import Hashable
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from triplestore.data_classes import data_class
from triplestore.sparql.thresholds import SPARQL

if TYPE_CHECKING:
    from triplestore.operators.context import Context
    from triplestore.operators.operator import Operator
    from triplestore.sparql.algebra.nodes import Ask, Construct, Select
    from triplestore.sparql.plan.planner import Planner


class PlanKey(NamedTuple):
    """The key of plans.

    of         all that the plan depends on, except constants
    constants  the constants of the text
    fixed      those that no plan can exchange; None if they are not known yet
    """

    of: Hashable
    constants: tuple[bytes, ...] = ()
    fixed: tuple[bytes, ...] | None = None


@data_class(frozen=False)
class QueryPlan:
    """The operators of a query, with their planner, which holds their terms and limits."""

    planner: Planner
    operator: Operator
    query: Ask | Construct | Select

    def begin(self, context: Context) -> None:
        """Prepare the plan for another query."""
        self.planner.context = context
        self.operator.clear_statistics()

    def is_worth_keeping(self) -> bool:
        """True if the plan can answer the same text again, and planning takes much of its time."""
        planner = self.planner
        return (
            planner.repeatable
            and planner.dataset.is_stored
            and self.operator.statistics.seconds < SPARQL.plan_seconds
            and planner.scope.terms.noted <= SPARQL.plan_terms
            and planner.scope.terms.nbytes <= SPARQL.plan_bytes
            and self.operator.bytes_kept() <= SPARQL.plan_bytes
        )


class StatePlans:
    """The kept plans of one state, by key."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, QueryPlan] = {}
        self._alike: dict[Hashable, list[QueryPlan]] = {}

    def __len__(self) -> int:
        return len(self._kept) + sum(map(len, list(self._alike.values())))

    def lend(self, question: PlanKey) -> QueryPlan | None:
        """A kept plan, removed until it is given back; None if there is none."""
        of, constants, fixed = question
        found = self._kept.pop((of, constants), None)
        if found is None and fixed is not None:
            found = self._with_others(self._alike.get((of, fixed), []), constants)
        return found

    def _with_others(
        self, plans: list[QueryPlan], constants: tuple[bytes, ...]
    ) -> QueryPlan | None:
        """One of some plans, with its constants exchanged for these."""
        found, others = None, []
        while found is None:
            try:
                plan = plans.pop()
            except IndexError:  # none is left, perhaps because another thread has the last one
                break
            if plan.planner.slots.exchange(constants, plan.planner.scope.terms):
                found = plan
            else:
                others.append(plan)
        plans.extend(reversed(others))
        return found

    def give(self, question: PlanKey, plan: QueryPlan) -> None:
        """Keep a plan that ran to its end and is no longer read from."""
        # No lock: the garbage collector may delete a result, and so call this, while one is held.
        if not plan.is_worth_keeping():
            return
        of, constants, fixed = question
        if fixed is not None and plan.planner.slots.fits:
            plans = self._alike.setdefault((of, fixed), [])
            plans.append(plan)
            del plans[: -SPARQL.similar_plans]
        else:
            self._kept[of, constants] = plan
        with suppress(StopIteration, KeyError, RuntimeError):  # another thread did the same
            for kept in (self._kept, self._alike):
                while len(kept) > SPARQL.plans:
                    kept.pop(next(iter(kept)))


class PlanLoan:
    """A result's hold on a plan: when it is deleted, the plan is given back if it is finished."""

    __slots__ = ("_plan", "_plans", "_question", "finished")

    def __init__(self, plans: StatePlans, question: PlanKey, plan: QueryPlan) -> None:
        self._plans = weakref.ref(plans)
        self._question = question
        self._plan = plan
        self.finished = False

    def __del__(self) -> None:
        if getattr(self, "finished", False):  # not set if Ctrl-C interrupted the constructor
            plans = self._plans()
            if plans is not None:
                plans.give(self._question, self._plan)
