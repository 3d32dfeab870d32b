"""The table of recursive counters, computed from scratch."""

from __future__ import annotations

import numpy as np

from triplestore.evaluate.conclusions import Heads, conclude
from triplestore.expressions.query_terms import QueryTerms
from triplestore.maintenance.budget import ReasoningBudget
from triplestore.maintenance.update_state import Work
from triplestore.relations import Tables
from triplestore.relations.facts.counts import RecursiveCounts
from triplestore.relations.facts.sorted_arrays import counted
from triplestore.rules.compiled_program import Compiled


def count_recursive(
    compiled: Compiled,
    closed: Tables,
    terms: QueryTerms | None = None,
    budget: ReasoningBudget | None = None,
) -> RecursiveCounts:
    """The recursive counters of closed tables: one evaluation of all recursive rules."""
    work = Work(compiled, closed, terms, budget)
    made, old = RecursiveCounts(), work.old()
    for number, stratum in compiled.strata.items():
        if number in compiled.modules:
            continue  # its counters are never needed
        heads = Heads()
        for family in stratum.recursive:
            rows, n = work.run.whole(family, old, "counting")
            conclude(family, rows, n, work.type_id, heads)
            work.budget.check()
        for name, keys in heads.taken().items():
            facts, times = counted(keys)
            made.add(name, facts, times.astype(np.int64))
    return made
