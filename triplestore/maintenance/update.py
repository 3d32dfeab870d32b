"""Updates: from changes of facts and rules to the rows that a commit writes.

Start reading at `update`. It compares two programs and two sets of asserted facts, maintains the
closure, and says which rows get which status and count.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np

from triplestore.closures.attached import UNION
from triplestore.evaluate.conclusions import Heads, conclude
from triplestore.expressions.query_terms import QueryTerms
from triplestore.maintenance.budget import ReasoningBudget
from triplestore.maintenance.changed_rows import Closure, write
from triplestore.maintenance.mat_mod import Maintenance
from triplestore.maintenance.modules.edge_rows import write_with_edges
from triplestore.maintenance.modules.union import owned_views, viewed_rules
from triplestore.maintenance.steps.stratum import Strategy
from triplestore.maintenance.steps.traces import Traces
from triplestore.maintenance.update_state import Work
from triplestore.relations import Tables
from triplestore.relations.facts.counts import RecursiveCounts
from triplestore.relations.facts.fact_sets import Batch, RelationKey
from triplestore.relations.facts.sorted_arrays import counted
from triplestore.rules.compiled_program import Compiled, recursive_numbers
from triplestore.rules.modules.written_out import Choice
from triplestore.rules.program_difference import ProgramDifference
from triplestore.rules.strata import Strata


def update(
    compiled: Compiled,
    closed: Tables,
    asserted: Tables,
    plus: Batch,
    minus: Batch,
    strategy: Strategy,
    *,
    previous: Compiled | None = None,
    rewritten: Batch | None = None,
    terms: QueryTerms | None = None,
    budget: ReasoningBudget | None = None,
    recursive: RecursiveCounts | None = None,
    traces: Traces | None = None,
    choice: Choice | None = None,
) -> Closure:
    """The rows that make `asserted` closed under a program.

    closed     tables closed under the `previous` program (under no rules, if None)
    asserted   these tables after facts were asserted (`plus`) and retracted (`minus`)
    rewritten  other facts whose rows differ between the two
    choice     how closures are kept
    traces     known traces of the closed tables; afterwards, those of the result
    recursive  the recursive counters of the closed tables, if they are kept. Their changes are
               the closure's `work.recursive`, to be kept when the closure is committed
    """
    started = time.perf_counter()
    work = Work(compiled, closed, terms, budget)
    work.choice = choice or work.choice
    work.same_program = previous is compiled
    if recursive is not None:
        work.recursive = recursive.begin()
    for name, keys in plus.items():
        work.plus.add(name, keys)
    for name, keys in minus.items():
        work.minus.add(name, keys)
    for name, keys in (rewritten or {}).items():
        work.rewritten.add(name, keys)
    if traces is not None:
        traces.begin(compiled)
        work.traces = traces if work.same_program else None
    maintenance = _prepare(work, compiled, previous, strategy)
    maintenance.run()
    before, after = work.closed_relations()
    if before or after:
        closure = write_with_edges(work, asserted, before, after)
    else:
        closure = write(work, asserted)
    closure.strata = maintenance.reports
    if traces is not None:
        traces.end([report.number for report in maintenance.reports])
    closure.seconds = time.perf_counter() - started
    return closure


def _prepare(
    work: Work, compiled: Compiled, previous: Compiled | None, strategy: Strategy
) -> Maintenance:
    """Find which rules stay, come and go."""
    if previous is compiled:
        if any(one.structure.kind == UNION for one in work.schemes.values()):
            orphans = viewed_rules(work.schemes, compiled) - owned_views(work.schemes, compiled)
            if orphans:  # modules are switched off, so the views are written out now
                _count_more(work, compiled, orphans, 1, None)
        return Maintenance(work, compiled.strata, strategy)
    if previous is None:
        return Maintenance(work, compiled.strata_of(()), strategy, compiled.strata)
    difference = ProgramDifference(previous, compiled)
    if _owned(previous) != _owned(compiled):
        work.recursive = None  # facts that a module owned have no counters
    _reclassify(work, compiled, previous, difference)
    removed, coming, staying = [], None, compiled.strata
    if difference.gone:
        removed.append(previous.strata_of(difference.gone, blocks=False))
    if len(difference.gone_pairs):
        removed.append(previous.strata_of_bottom(difference.gone_pairs))
    if difference.fresh or len(difference.fresh_pairs):
        coming = compiled.strata_of(difference.fresh).and_bottom(difference.fresh_pairs)
    if difference.fresh:
        rest = [*(i for _, i in difference.kept), *difference.raised]
        staying = compiled.strata_of(rest).with_bottom_of(compiled.strata)
    return Maintenance(work, staying, strategy, coming, removed, previous)


def _owned(compiled: Compiled) -> set[RelationKey]:
    """The relations whose recursive derivations are left to a module, and not counted."""
    return {name for owned in compiled.modules.values() for name in owned.relations}


def _reclassify(
    work: Work,
    compiled: Compiled,
    previous: Compiled,
    difference: ProgramDifference,
) -> None:
    """Rules that stay but become recursive or nonrecursive, or no longer conclude into a view:
    their instances are added to the counters or removed. Nothing else changes."""
    was = recursive_numbers(previous) | viewed_rules(work.schemes, previous)
    is_now = recursive_numbers(compiled) | owned_views(work.schemes, compiled)
    owned = _owned(compiled)
    kept = difference.kept
    more = [i for before, i in kept if before in was and i not in is_now]
    fewer = [i for before, i in kept if before not in was and i in is_now]
    fewer += [i for i in difference.raised if i in is_now]
    for numbers, sign in ((fewer, -1), (more, 1)):
        if numbers:
            _count_more(work, compiled, numbers, sign, owned)
    lowered = [i for i in difference.lowered if i in was]
    if lowered:
        _count_more(work, previous, lowered, 1, owned)


def _count_more(
    work: Work,
    compiled: Compiled,
    numbers: Iterable[int],
    sign: int,
    owned: set[RelationKey] | None,
) -> None:
    """Add to the counters, or subtract, the conclusions of some rules from the old facts; the
    recursive counters change the other way.

    owned  relations whose facts have no recursive counters; None for all
    """
    heads = all_heads(work, compiled.strata_of(numbers, blocks=False))
    for name, keys in heads.taken().items():
        facts, times = counted(keys)
        work.counts.change(name, facts, times.astype(np.int64) * sign)
        if work.recursive is not None and owned is not None and name not in owned:
            work.recursive.change(name, facts, times.astype(np.int64) * -sign)


def all_heads(work: Work, strata: Strata) -> Heads:
    """The conclusions of all instances of some rules over the stored facts."""
    heads, old = Heads(), work.old()
    for family in strata.families:
        assert family.summary is None, "what aggregates look at is complete: they never recurse"
        rows, n = work.run.whole(family, old, "reclassified rules")
        conclude(family, rows, n, work.type_id, heads)
    return heads


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
