"""A module at work: the closure of one group of rules, by a scheme instead of rule by rule.

Start reading at `close_group`. The stratum of the group is done in three steps: the nonrecursive
rules say, by the counters, which facts come from outside (*external* facts: they are stated, or a
nonrecursive rule derives them); the scheme says what the change of these does to the closure,
exactly; and that is what is gone and new. Nothing is overdeleted, and no proof is looked for.

Where there is no scheme yet, or the chains of the group come to something else than before, the
closure is built from all external facts and compared with what there was. Where guards fail, and
the rules that are left come to nothing that a scheme knows, the stratum is derived anew by them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from triplestore.closures.attached import CHAINS, UNION, Attached, Structure
from triplestore.closures.kinds import SCHEMES
from triplestore.closures.scheme import PairStream, Scheme
from triplestore.maintenance.dred import DRedCounting
from triplestore.maintenance.modules.chain import chains_built, chains_changed
from triplestore.maintenance.modules.external_facts import all_external, is_external, was_external
from triplestore.maintenance.modules.union import Done, close_union
from triplestore.maintenance.rematerialise import Rematerialise
from triplestore.maintenance.steps.stratum import Strategy, StratumUpdate, Task
from triplestore.maintenance.update_state import Work, united
from triplestore.relations.facts.difference_set import DifferenceSet, PairLookup
from triplestore.relations.facts.fact_sets import Batch, KeySet, RelationKey
from triplestore.relations.facts.sorted_arrays import sorted_distinct, unite, without
from triplestore.relations.facts.stored_facts import StoredPairs, unsupported_keys
from triplestore.relations.packed_keys import NO_KEYS, U64, swap
from triplestore.relations.pair_relation import PairRelation, inverse
from triplestore.rules.compiled_program import nonrecursive_part
from triplestore.rules.modules.module_groups import Owned

Facts: TypeAlias = dict[RelationKey, Any]
"""Facts by relation, like a `Batch`, but for those that are too many to be written out."""


def close_group(owned: Owned, work: Work, task: Task) -> Done:
    """Bring the stratum of a group up to date."""
    if owned.group.structure.kind == UNION:
        return close_union(owned, work, task)
    structure = owned.structure(work.new())
    if structure is None:
        return _by_rules(owned, work, task)
    update = StratumUpdate(work, _counted_part(task, work.type_id))
    touched = united(update.touched(), update.gained())
    known = work.schemes.get(owned.anchor)
    if known is not None and known.structure == structure:
        change = _chains_changed if structure.kind == CHAINS else _changed
        made, gone, added = change(owned, work, known, touched)
        why = "edges changed"
    else:
        made, gone, added = _built(owned, work, structure, touched)
        why = "all edges"
    work.made_schemes[owned.anchor] = made
    for sets, found in ((work.gone, gone), (work.added, added)):
        for name, facts in found.items():
            sets.put(name, facts if isinstance(facts, DifferenceSet) else KeySet(facts))
    if not made.compressed:
        stated = sum(len(work.plus.get(name, ())) for name in added)
        work.budget.spend(max(0, sum(map(len, added.values())) - stated))
    work.rounds += 1
    kept = "compressed, " if made.compressed else ""
    return f"{structure.kind} closure", kept + why, (gone, added)


def _by_rules(owned: Owned, work: Work, task: Task) -> Done:
    """Derive the stratum by the rules whose guards hold."""
    work.made_schemes[owned.anchor] = None
    if not (_is_touched(work, task) or owned.anchor in work.schemes):
        return "rules", "nothing has changed", ({}, {})
    for name in owned.relations:  # what rules derived that are gone was not looked for
        task.lost_rec.put(name, unsupported_keys(work.stored, name))
    strategy: Strategy = Rematerialise() if task.kept.families else DRedCounting()
    counters, work.recursive = work.recursive, None  # facts that a module owns have none
    update = StratumUpdate(work, task)
    how, _ = strategy.run(update)
    work.recursive = counters
    return how, "rules of the group are not in force", update.outcome()


def _is_touched(work: Work, task: Task) -> bool:
    """Whether anything has changed that rules of the stratum look at."""
    update = StratumUpdate(work, task)
    below = (update.low_gone, update.low_added, update.large_gone, update.large_added)
    own = (task.fresh, task.fewer, task.minus, task.plus, task.lost, task.lost_rec)
    return any(map(bool, (*below, *own)))


def _counted_part(task: Task, type_id: int) -> Task:
    """The same task for the nonrecursive rules only."""
    kept = nonrecursive_part(task.kept, type_id)
    fresh = None if task.fresh is None else nonrecursive_part(task.fresh, type_id)
    return Task(task.number, kept, fresh, task.minus, task.plus, task.lost)


# -- a change of what comes from outside -----------------------------------------------------------


def _changed(
    owned: Owned, work: Work, known: Attached, touched: Batch
) -> tuple[Attached, Facts, Facts]:
    """The scheme after some facts were touched, and what is gone and new."""
    edges = sorted_distinct(_edges(owned, known.structure, touched))
    before, after = (np.zeros(len(edges), dtype=np.bool_) for _ in range(2))
    for name, turned in zip(owned.relations, known.structure.turned, strict=True):
        keys = swap(edges) if turned else edges
        before |= was_external(work, name, keys)
        after |= is_external(work, name, keys)
    removed, added = edges[before & ~after], edges[after & ~before]
    work.run.instances["closure"] += len(edges)
    scheme, difference = known.closure.changed(removed, added, work.budget)
    made = _attached(owned, work, known.structure, scheme)
    lost: Facts = {}
    gained: Facts = {}
    for name, turned in zip(owned.relations, known.structure.turned, strict=True):
        old, new = work.stored.pairs(name), _seen(scheme, turned)
        _put(lost, work, made, name, difference.lost, turned, old, new)
        _put(gained, work, made, name, difference.gained, turned, new, old)
    return made, lost, gained


def _chains_changed(
    owned: Owned, work: Work, known: Attached, touched: Batch
) -> tuple[Attached, Facts, Facts]:
    """The same for chains."""
    scheme, differences = chains_changed(owned, work, known, touched, was_external, is_external)
    made = known._replace(scheme=scheme)
    lost: Facts = {}
    gained: Facts = {}
    for name, difference in differences.items():
        for facts, pairs in ((lost, difference.lost), (gained, difference.gained)):
            count = pairs.count()
            work.run.instances["closure"] += count
            work.budget.check(count)
            if count:
                facts[name] = _written(pairs.blocks())
    return made, lost, gained


def _attached(owned: Owned, work: Work, structure: Structure, scheme: Scheme) -> Attached:
    """A scheme, and whether the closure is written out."""
    made = Attached(structure, owned.relations, scheme, False)
    if work.is_compressed(made):
        return made._replace(compressed=True)
    work.budget.check(scheme.count() * len(owned.relations))
    return made


def _put(
    facts: Facts,
    work: Work,
    made: Attached,
    name: int,
    pairs: PairStream,
    turned: bool,
    these: PairLookup,
    others: PairLookup,
) -> None:
    """Add pairs of a closure to facts. Where the closure is compressed nobody needs a list of them,
    unless a rule, a counter or a reader asks for it."""
    count = pairs.count()
    if count == 0:
        return
    work.run.instances["closure"] += count
    if made.compressed:
        facts[name] = DifferenceSet(these, others, count, lambda: pairs.blocks(swapped=turned))
    else:
        facts[name] = _written(pairs.blocks(swapped=turned))


def _edges(owned: Owned, structure: Structure, facts: Batch) -> U64:
    """Facts of the group as edges of its closure, with repetitions."""
    found = []
    for name, turned in zip(owned.relations, structure.turned, strict=True):
        if name in facts:
            found.append(swap(facts[name]) if turned else facts[name])
    return found[0] if len(found) == 1 else np.concatenate([NO_KEYS, *found])


def _written(blocks: Iterator[U64]) -> U64:
    found = list(blocks)
    return found[0] if len(found) == 1 else np.concatenate([NO_KEYS, *found])


# -- all of it -------------------------------------------------------------------------------------


def _built(
    owned: Owned, work: Work, structure: Structure, touched: Batch
) -> tuple[Attached, Facts, Facts]:
    """The scheme of all that comes from outside, and in what it differs from what there was."""
    external: Batch = {}
    for name in owned.relations:
        keys = unite(all_external(work, name), touched.get(name, NO_KEYS))
        keys = unite(keys, work.counts.changed(name)[0])  # rules that are recursive no more
        from_outside = is_external(work, name, keys)
        external[name] = keys if from_outside.all() else keys[from_outside]
    made, closures = _made(owned, work, structure, external)
    gone: Facts = {}
    added: Facts = {}
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


def _made(
    owned: Owned, work: Work, structure: Structure, external: Batch
) -> tuple[Attached, list[PairRelation]]:
    """The scheme, and the closure of each relation."""
    if structure.kind == CHAINS:
        chains = chains_built(owned, work, structure, external)
        closures = [chains.relation(key) for key in structure.relations]
        work.budget.check(sum(one.count() for one in closures))
        made = Attached(structure, owned.relations, chains, False)
        return made, closures
    edges = sorted_distinct(_edges(owned, structure, external))
    scheme = SCHEMES[structure.kind](edges, work.budget)
    made = _attached(owned, work, structure, scheme)
    return made, [_seen(scheme, turned) for turned in structure.turned]


def _seen(scheme: PairRelation, turned: bool) -> PairRelation:
    """The pairs of a relation of the group, given the closure."""
    return inverse(scheme) if turned else scheme


def _compared(old: StoredPairs, new: PairRelation, external: U64) -> tuple[U64, int]:
    """The old pairs that are not among the new, and how many are. The external ones are, so they
    need not be looked for: of what nothing was derived from yet, these are all."""
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
    """The keys of sorted blocks that are not among the old ones, of which there are `count`; never
    more than these and a block are in memory."""
    found: U64 = np.empty(count, dtype=np.uint64)
    taken, at = old.array(0), 0
    for block in blocks:
        lo, hi = taken.searchsorted(block[0]), taken.searchsorted(block[-1], side="right")
        keys = without(block, taken[lo:hi])
        found[at : at + len(keys)] = keys
        at += len(keys)
    assert at == count
    return found
