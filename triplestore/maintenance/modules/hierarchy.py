"""The module of class hierarchies: blocks of strata that have only subclass rules.

Start reading at `HierarchyModule`. The classes of a member depend on that member only. So a kernel
computes the classes of each touched member again, with counters, and they are compared with the old
ones. Diff, Del, Red and Add are one step, and exact.
"""

from __future__ import annotations

import numpy as np

from triplestore.maintenance.modules.protocol import Module, StratumOutcome
from triplestore.maintenance.steps.stratum_state import Task
from triplestore.maintenance.thresholds import MAINTENANCE
from triplestore.maintenance.update_state import Work
from triplestore.relations.facts.fact_sets import Batch
from triplestore.relations.facts.sorted_arrays import places_in, sorted_distinct, unite, without
from triplestore.relations.packed_keys import NO_IDS, NO_KEYS, U8, U32, U64, low, pack, swap
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
        return "hierarchy", "subclass rules only", update_hierarchy(self.block, work, task, bodies)


def update_hierarchy(block: Hierarchy, work: Work, task: Task, fresh: U32) -> tuple[Batch, Batch]:
    """Bring a block of subclass rules up to date; returns what is gone and what is new.

    fresh  body classes of new rules
    """
    members = _touched(block, work, task, fresh)
    if len(members) == 0:
        return {}, {}
    keys, given = _facts(block, work, task, members)
    found, counts = _close(block, work, members, keys, given)
    before = keys[block.concludes(keys)]
    before = before[work.held(work.type_id, before)]
    return _apply(work, before, found, counts)


def _touched(block: Hierarchy, work: Work, task: Task, fresh: U32) -> U32:
    """The members with changes that matter here."""
    name = work.type_id
    parts: list[U32] = []
    for changed in (work.gone, work.added):
        if name in changed:
            keys = changed[name].keys()
            parts.append(low(keys[block.places(keys) >= 0]))
    parts += [low(batch[name]) for batch in (task.minus, task.plus) if name in batch]
    parts += [low(keys) for keys in task.lost.get(name, ())]
    if len(fresh):
        parts.append(work.new().pairs(name).match(0, fresh)[1])
    filled = [part for part in parts if len(part)]
    return sorted_distinct(np.concatenate(filled)) if filled else NO_IDS


def _facts(block: Hierarchy, work: Work, task: Task, members: U32) -> tuple[U64, U8]:
    """Facts of the members as (class, member), sorted by member, and which of them are given."""
    name = work.type_id
    view = work.new().pairs(name)
    if len(members) * 4 > len(work.stored.pairs(name)):
        keys = view.keys()
    else:
        index, classes = view.match(1, members)
        keys = pack(classes, members[index])
    work.run.fetched += len(keys)
    keys = keys[block.places(keys) >= 0]
    plus = task.plus.get(name, NO_KEYS)
    if len(plus):
        keys = np.concatenate((keys, without(plus, np.sort(keys))))
    keys = swap(np.sort(swap(keys)))
    given = np.ones(len(keys), dtype=np.uint8)
    own = block.concludes(keys).nonzero()[0]
    given[own] = work.asserted(name, keys[own])
    return keys, given


def _close(block: Hierarchy, work: Work, members: U32, keys: U64, given: U8) -> tuple[U64, U32]:
    """All facts of the members in classes of the block, sorted, and their counters."""
    from triplestore.kernels.closures.hierarchies import close_members

    holders = low(keys)
    each, starts = np.unique(holders, return_index=True)
    bounds = np.append(starts, len(keys)).astype(np.int64)
    classes = block.places(keys).astype(np.uint32)
    size = len(block.ids)
    truth, counts = np.zeros(size, dtype=np.uint8), np.zeros(size, dtype=np.uint32)
    stack, touched = np.empty(size, dtype=np.uint32), np.empty(size, dtype=np.uint32)
    room = max(size, min(MAINTENANCE.hierarchy_rows, 64 + 16 * len(keys) + size))
    out = [np.empty(room, dtype=np.uint32) for _ in range(3)]
    state = np.zeros(3, dtype=np.int64)
    pieces: list[tuple[U64, U32]] = []
    ids = block.ids.astype(np.uint32)
    while state[0] < len(each):
        state[1] = 0
        close_members(
            bounds, classes, given, block.starts, block.heads, block.concluded,
            truth, counts, stack, touched, out[0], out[1], out[2], state,
        )  # fmt: skip
        rows = int(state[1])
        found = pack(ids[out[0][:rows]], each[out[1][:rows]])
        order = np.argsort(found)
        pieces.append((found[order], out[2][:rows][order]))
        work.budget.check()
    work.run.instances["hierarchy"] += int(state[2])
    if len(pieces) == 1:
        return pieces[0]
    if not pieces:
        return NO_KEYS, NO_IDS
    every = np.concatenate([piece[0] for piece in pieces])
    order = np.argsort(every, kind="stable")
    return every[order], np.concatenate([piece[1] for piece in pieces])[order]


def _apply(work: Work, before: U64, found: U64, counts: U32) -> tuple[Batch, Batch]:
    name = work.type_id
    if len(before) == 0:  # nothing to compare with, for example in a new hierarchy
        some = counts != 0
        work.counts.change(name, found[some], counts[some].astype(np.int64))
        return _put(work, before, found)
    before = np.sort(before)
    gone, added = without(before, found), without(found, before)
    every = unite(before, found)
    was = np.zeros(len(every), dtype=np.int64)
    old = places_in(before, every)
    was[old] = work.counts.current(name, before)
    is_now = np.zeros(len(every), dtype=np.int64)
    is_now[places_in(found, every)] = counts
    moved = was != is_now
    work.counts.change(name, every[moved], (is_now - was)[moved])
    return _put(work, gone, added)


def _put(work: Work, gone: U64, added: U64) -> tuple[Batch, Batch]:
    name = work.type_id
    work.spend({name: added})
    work.gone.add(name, gone)
    work.added.add(name, added)
    work.rounds += 1
    return ({name: gone} if len(gone) else {}), ({name: added} if len(added) else {})
