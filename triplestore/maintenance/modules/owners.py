"""Which module owns a stratum: the one place that goes by the kind of a group."""

from __future__ import annotations

from triplestore.maintenance.modules.closure import ClosureModule
from triplestore.maintenance.modules.hierarchy import HierarchyModule
from triplestore.maintenance.modules.protocol import Module
from triplestore.maintenance.modules.union import UnionModule
from triplestore.rules.compiled_program import Compiled
from triplestore.rules.modules.module_groups import Owned
from triplestore.rules.strata import Strata


def module_for(owned: Owned) -> Module:
    """The module of a group of rules."""
    return UnionModule(owned) if owned.group.structure.is_union else ClosureModule(owned)


def module_of_stratum(compiled: Compiled, number: int, fresh: Strata | None) -> Module | None:
    """The module that owns a stratum; None if its rules are fired one by one.

    fresh  rules that are new
    """
    block = compiled.strata.hierarchies.get(number)
    if block is not None:
        return HierarchyModule(block, None if fresh is None else fresh.hierarchies.get(number))
    owned = compiled.modules.get(number)
    return None if owned is None else module_for(owned)
