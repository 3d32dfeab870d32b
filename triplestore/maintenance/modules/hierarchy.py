"""Hierarchies of classes: consecutive strata of subclass rules only, done as one.

The module computes the classes of each touched member anew and compares them with those it had
(`rules/subclass_levels`), so Diff, Del, Red and Add are one step, and exact.
"""

from __future__ import annotations

from triplestore.maintenance.modules.protocol import Module, StratumOutcome
from triplestore.maintenance.steps.stratum_state import Task
from triplestore.maintenance.update_state import Work
from triplestore.relations.packed_keys import NO_IDS
from triplestore.rules.subclass_levels import Hierarchy


class HierarchyModule(Module):
    """One block of subclass rules.

    block  all its rules
    fresh  those that are new; None for none
    """

    at = "a hierarchy of classes (rdfs:subClassOf)"

    def __init__(self, block: Hierarchy, fresh: Hierarchy | None) -> None:
        self.block = block
        self.fresh = fresh

    def update(self, work: Work, task: Task) -> StratumOutcome:
        """See `Module.update`."""
        bodies = NO_IDS if self.fresh is None else self.fresh.bodies
        return "hierarchy", "subclass rules only", self.block.update(work, task, bodies)
