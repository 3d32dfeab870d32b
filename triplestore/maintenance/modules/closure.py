"""A module that owns a stratum: the closure of a group of rules, by a scheme.

Start reading at `ClosureModule`. The stratum of the group is done in three steps. The nonrecursive
rules say, by the counters, which facts are *external* (asserted, or derived by a nonrecursive
rule). The scheme says exactly how a change of these changes the closure. The difference is what is
gone and new. Nothing is overdeleted, and no proof is searched.

If there is no scheme yet, or other rules of the group are in force now, the closure is built from
all external facts and compared with what held before. If guards fail and no scheme fits the rules
that are left, these rules derive the stratum from scratch.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from triplestore.closures.attached import Attached, Structure
from triplestore.maintenance.dred_c import DRedC
from triplestore.maintenance.modules.chain import Chain
from triplestore.maintenance.modules.one_closure import is_compressed
from triplestore.maintenance.modules.protocol import (
    ClosureKind,
    FactsByRelation,
    Module,
    StratumOutcome,
)
from triplestore.maintenance.modules.symmetric_transitive import SymmetricTransitive
from triplestore.maintenance.modules.transitive import Transitive
from triplestore.maintenance.rematerialise import Rematerialise
from triplestore.maintenance.steps.stratum import Strategy, StratumUpdate
from triplestore.maintenance.steps.stratum_state import Task
from triplestore.maintenance.update_state import Work, united
from triplestore.relations.facts.difference_set import DifferenceSet
from triplestore.relations.facts.fact_sets import Batch, KeySet
from triplestore.relations.facts.sorted_arrays import unite, without
from triplestore.relations.facts.stored_facts import StoredPairs, unsupported_keys
from triplestore.relations.packed_keys import NO_KEYS, U64
from triplestore.relations.pair_relation import PairRelation
from triplestore.rules.modules.module_groups import Owned
from triplestore.rules.strata import nonrecursive_part

CLOSURE_KINDS: dict[str, ClosureKind] = {
    one.kind: one for one in (Transitive(), SymmetricTransitive(), Chain())
}
"""How the closures of each kind are found."""


class ClosureModule(Module):
    """The rules of a group that is a closure."""

    def __init__(self, owned: Owned) -> None:
        self.owned = self.at = owned

    def update(self, work: Work, task: Task) -> StratumOutcome:
        """See `Module.update`."""
        return close_group(self.owned, work, task)

    def is_kept_otherwise(self, work: Work) -> bool:
        """See `Module.is_kept_otherwise`."""
        group = self.owned.group
        known = work.schemes.get(self.owned.anchor)
        if known is None:
            wanted = work.choice.says and work.choice.mode_of(group.relations) == "compressed"
            return wanted and CLOSURE_KINDS[group.structure.kind].compresses
        kind = CLOSURE_KINDS.get(known.structure.kind)
        if kind is None or not kind.compresses:
            return False
        if not known.compressed and not work.choice.says:
            return False
        return is_compressed(work, known) != known.compressed


def close_group(owned: Owned, work: Work, task: Task) -> StratumOutcome:
    """Bring the stratum of a group up to date."""
    structure = owned.structure(work.new())
    if structure is None:
        return _by_rules(owned, work, task)
    update = StratumUpdate(work, _counted_part(task, work.type_id))
    touched = united(update.touched(), update.gained())
    known = work.schemes.get(owned.anchor)
    if known is not None and known.structure == structure:
        made, gone, added = CLOSURE_KINDS[structure.kind].changed(owned, work, known, touched)
        why = "edges changed"
    else:
        made, gone, added = _built(owned, work, structure, touched)
        why = "all edges"
    work.made_schemes[owned.anchor] = made
    for sets, found in ((work.gone, gone), (work.added, added)):
        for name, facts in found.items():
            sets.put(name, facts if isinstance(facts, DifferenceSet) else KeySet(facts))
    if not made.compressed:
        asserted = sum(len(work.plus.get(name, ())) for name in added)
        work.budget.spend(max(0, sum(map(len, added.values())) - asserted))
    work.rounds += 1
    kept = "compressed, " if made.compressed else ""
    return f"{structure.kind} closure", kept + why, (gone, added)


def _by_rules(owned: Owned, work: Work, task: Task) -> StratumOutcome:
    """Derive the stratum by the rules whose guards hold."""
    work.made_schemes[owned.anchor] = None
    if not (_is_touched(work, task) or owned.anchor in work.schemes):
        return "rules", "nothing has changed", ({}, {})
    for name in owned.relations:  # nothing looked for what the removed rules derived
        task.lost_rec.put(name, unsupported_keys(work.stored, name))
    strategy: Strategy = Rematerialise() if task.kept.families else DRedC()
    counters, work.recursive = work.recursive, None  # facts that a module owns have no counters
    update = StratumUpdate(work, task)
    how, _ = strategy.run(update)
    work.recursive = counters
    return how, "rules of the group are not in force", update.outcome()


def _is_touched(work: Work, task: Task) -> bool:
    """Whether anything changed that rules of the stratum read."""
    update = StratumUpdate(work, task)
    below = (update.low_gone, update.low_added, update.large_gone, update.large_added)
    own = (task.fresh, task.fewer, task.minus, task.plus, task.lost, task.lost_rec)
    return any(map(bool, (*below, *own)))


def _counted_part(task: Task, type_id: int) -> Task:
    """The same task for the nonrecursive rules only."""
    kept = nonrecursive_part(task.kept, type_id)
    fresh = None if task.fresh is None else nonrecursive_part(task.fresh, type_id)
    return Task(task.number, kept, fresh, task.minus, task.plus, task.lost)


# -- from scratch --------------------------------------------------------------------------------


def _built(
    owned: Owned, work: Work, structure: Structure, touched: Batch
) -> tuple[Attached, FactsByRelation, FactsByRelation]:
    """The scheme of all external facts, and how it differs from what held before."""
    external: Batch = {}
    for name in owned.relations:
        keys = unite(work.all_supported(name), touched.get(name, NO_KEYS))
        keys = unite(keys, work.counts.changed(name)[0])  # of rules that are no longer recursive
        from_outside = work.supported(name, keys)
        external[name] = keys if from_outside.all() else keys[from_outside]
    made, closures = CLOSURE_KINDS[structure.kind].built(owned, work, structure, external)
    gone: FactsByRelation = {}
    added: FactsByRelation = {}
    for name, new in zip(owned.relations, closures, strict=True):
        old = work.stored.pairs(name)
        lost, common = _compared(old, new, external[name])
        if len(lost):
            gone[name] = lost
        count = new.count() - common
        work.run.instances["closure"] += count
        if made.compressed and count:
            added[name] = DifferenceSet(new, old, count, partial(_without, new, old))
        elif count:
            added[name] = _written_without(new.blocks(), count, old)
    return made, gone, added


def _compared(old: StoredPairs, new: PairRelation, external: U64) -> tuple[U64, int]:
    """The old pairs that are not among the new ones, and the number of those that are. External
    pairs are among the new ones, so they are not looked up. Without derived pairs these are all."""
    lost, common = [NO_KEYS], 0
    for keys in old.blocks():
        open_ = without(keys, external)
        held = new.contains_keys(open_)
        lost.append(open_[~held])
        common += len(keys) - len(open_) + int(np.count_nonzero(held))
    return np.concatenate(lost), common


def _without(new: PairRelation, old: StoredPairs) -> Iterator[U64]:
    for keys in new.blocks():
        left = keys[~old.contains_keys(keys)]
        if len(left):
            yield left


def _written_without(blocks: Iterator[U64], count: int, old: StoredPairs) -> U64:
    """The keys of sorted blocks that are not among the old ones; there are `count`. Never more than
    these and one block are in memory."""
    found: U64 = np.empty(count, dtype=np.uint64)
    taken, at = old.array(0), 0
    for block in blocks:
        lo, hi = taken.searchsorted(block[0]), taken.searchsorted(block[-1], side="right")
        keys = without(block, taken[lo:hi])
        found[at : at + len(keys)] = keys
        at += len(keys)
    assert at == count
    return found
