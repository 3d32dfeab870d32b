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

from typing import TypeAlias

import numpy as np

from triplestore.engine.compiled import nonrecursive_part
from triplestore.engine.maintain import Strategy, StratumUpdate, Task
from triplestore.engine.modules.kinds import SCHEMES
from triplestore.engine.modules.owned import Owned
from triplestore.engine.sets.arrays import places_in, sorted_distinct, unite, without
from triplestore.engine.sets.keys import Batch
from triplestore.engine.sets.stored import unsupported_keys
from triplestore.engine.strategies.overdelete import DRedCounting
from triplestore.engine.strategies.rematerialise import Rematerialise
from triplestore.engine.strategies.restated import stored_counts, stored_keys
from triplestore.engine.work import Work, united
from triplestore.schemes.attached import Attached, Structure
from triplestore.schemes.scheme import Pairs, Scheme
from triplestore.tables import EXPLICIT
from triplestore.tables.rows import NO_KEYS, U64, Bools, swap

Done: TypeAlias = tuple[str, str, tuple[Batch, Batch]]
"""How a stratum was done, why so, and what is gone and new."""


def close_group(owned: Owned, work: Work, task: Task) -> Done:
    """Bring the stratum of a group up to date."""
    structure = owned.structure(work.new())
    if structure is None:
        return _by_rules(owned, work, task)
    update = StratumUpdate(work, _counted_part(task, work.type_id))
    touched = united(update.touched(), update.gained())
    known = work.schemes.get(owned.anchor)
    if known is not None and known.structure == structure:
        scheme, gone, added = _changed(owned, work, known, touched)
        why = "external facts changed"
    else:
        scheme, gone, added = _built(owned, work, structure, touched)
        why = "all external facts"
    work.made_schemes[owned.anchor] = Attached(structure, owned.relations, scheme, False)
    update.settle(gone, added)
    work.budget.spend(sum(map(len, added.values())))
    work.rounds += 1
    return f"{structure.kind} closure", why, (gone, added)


def _by_rules(owned: Owned, work: Work, task: Task) -> Done:
    """Derive the stratum by the rules whose guards hold."""
    work.made_schemes[owned.anchor] = None
    for name in owned.relations:  # what rules derived that are gone was not looked for
        task.lost_rec.put(name, unsupported_keys(work.stored, name))
    strategy: Strategy = Rematerialise() if task.kept.families else DRedCounting()
    update = StratumUpdate(work, task)
    how, _ = strategy.run(update)
    return how, "rules of the group are not in force", update.outcome()


def _counted_part(task: Task, type_id: int) -> Task:
    """The same task for the nonrecursive rules only."""
    kept = nonrecursive_part(task.kept, type_id)
    fresh = None if task.fresh is None else nonrecursive_part(task.fresh, type_id)
    return Task(task.number, kept, fresh, task.minus, task.plus, task.lost)


# -- a change of what comes from outside -----------------------------------------------------------


def _changed(
    owned: Owned, work: Work, known: Attached, touched: Batch
) -> tuple[Scheme, Batch, Batch]:
    """The scheme after some facts were touched, and what is gone and new."""
    edges = sorted_distinct(_edges(owned, known.structure, touched))
    if len(edges) == 0:
        return known.scheme, {}, {}
    before, after = (np.zeros(len(edges), dtype=np.bool_) for _ in range(2))
    for name, turned in zip(owned.relations, known.structure.turned, strict=True):
        keys = swap(edges) if turned else edges
        before |= _was_external(work, name, keys)
        after |= _is_external(work, name, keys)
    removed, added = edges[before & ~after], edges[after & ~before]
    work.run.instances["closure"] += len(edges)
    scheme, difference = known.scheme.changed(removed, added, work.budget)
    lost, gained = (
        _rows(owned, work, known.structure, pairs) for pairs in (difference.lost, difference.gained)
    )
    return scheme, lost, gained


def _edges(owned: Owned, structure: Structure, facts: Batch) -> U64:
    """Facts of the group as edges of its closure, with repetitions."""
    found = [NO_KEYS]
    for name, turned in zip(owned.relations, structure.turned, strict=True):
        if name in facts:
            found.append(swap(facts[name]) if turned else facts[name])
    return np.concatenate(found)


def _was_external(work: Work, name: int, keys: U64) -> Bools:
    """Which facts came from outside before the update."""
    status, counts = work.stored.pairs(name).look_up(keys)
    found: Bools = (status == EXPLICIT) | (counts > 0)
    return found


def _is_external(work: Work, name: int, keys: U64) -> Bools:
    """Which facts come from outside now."""
    status, counts = work.stored.pairs(name).look_up(keys)
    if work.counts.stored is None:  # everything is derived anew: what was counted is no matter
        counts = np.zeros_like(counts)
    found: Bools = work.counts.current(name, keys, counts) > 0
    return found | work.stated(name, keys, status)


def _rows(owned: Owned, work: Work, structure: Structure, pairs: Pairs) -> Batch:
    """Pairs of the closure as facts of each property of the group."""
    count = pairs.count()
    if count == 0:
        return {}
    work.budget.check(count * len(owned.relations))
    ways = {turned: _written(pairs, turned) for turned in set(structure.turned)}
    work.run.instances["closure"] += count
    return {
        name: ways[turned] for name, turned in zip(owned.relations, structure.turned, strict=True)
    }


def _written(pairs: Pairs, turned: bool) -> U64:
    blocks = list(pairs.blocks(swapped=turned))
    return blocks[0] if len(blocks) == 1 else np.concatenate([NO_KEYS, *blocks])


# -- all of it -------------------------------------------------------------------------------------


def _built(
    owned: Owned, work: Work, structure: Structure, touched: Batch
) -> tuple[Scheme, Batch, Batch]:
    """The scheme of all that comes from outside, and in what it differs from what there was."""
    external: Batch = {}
    for name in owned.relations:
        keys = unite(_all_external(work, name), touched.get(name, NO_KEYS))
        keys = unite(keys, work.counts.changed(name)[0])  # rules that are recursive no more
        external[name] = keys[_is_external(work, name, keys)]
    edges = sorted_distinct(_edges(owned, structure, external))
    scheme = SCHEMES[structure.kind](edges, work.budget)
    now = _rows(owned, work, structure, scheme)
    gone: Batch = {}
    added: Batch = {}
    for name in owned.relations:
        held = work.stored.pairs(name).array(0)
        follows = now.get(name, NO_KEYS)
        if len(lost := _except(held, follows)):
            gone[name] = lost
        if len(new := _except(follows, held)):
            added[name] = new
    return scheme, gone, added


def _all_external(work: Work, name: int) -> U64:
    """The facts that came from outside before the update."""
    found: U64 = stored_keys(work.stored, name, EXPLICIT)
    if work.counts.stored is None:
        return found
    return unite(found, stored_counts(work.stored, name)[0])


def _except(keys: U64, taken: U64) -> U64:
    """The sorted keys that are not among others; fast where these are few."""
    if len(taken) * 4 > len(keys):
        return without(keys, taken)
    places = places_in(taken, keys)
    places = places[places >= 0]
    return np.delete(keys, places) if len(places) else keys
