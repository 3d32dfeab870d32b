"""Relations that share one closure, in two directions: transitive ones, with their inverses.

Start reading at `OneClosure`. Its edges are the external facts of all relations of the group.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from triplestore.closures.attached import Attached, Structure
from triplestore.closures.kinds import SCHEMES
from triplestore.closures.scheme import PairStream, Scheme
from triplestore.maintenance.modules.protocol import ClosureKind, FactsByRelation
from triplestore.maintenance.update_state import Work
from triplestore.relations.facts.difference_set import DifferenceSet, PairLookup
from triplestore.relations.facts.fact_sets import Batch
from triplestore.relations.facts.sorted_arrays import sorted_distinct
from triplestore.relations.packed_keys import NO_KEYS, U64, swap
from triplestore.relations.pair_relation import PairRelation, inverse
from triplestore.rules.modules.module_groups import Owned


class OneClosure(ClosureKind):
    """A structure that is one closure, by the scheme of its kind."""

    def built(
        self, owned: Owned, work: Work, structure: Structure, external: Batch
    ) -> tuple[Attached, list[PairRelation]]:
        """See `ClosureKind.built`."""
        edges = sorted_distinct(_edges(owned, structure, external))
        scheme = SCHEMES[self.kind](edges, work.budget)
        made = _attached(owned, work, structure, scheme)
        return made, [_seen(scheme, turned) for turned in structure.turned]

    def changed(
        self, owned: Owned, work: Work, known: Attached, touched: Batch
    ) -> tuple[Attached, FactsByRelation, FactsByRelation]:
        """See `ClosureKind.changed`."""
        edges = sorted_distinct(_edges(owned, known.structure, touched))
        before, after = (np.zeros(len(edges), dtype=np.bool_) for _ in range(2))
        for name, turned in zip(owned.relations, known.structure.turned, strict=True):
            keys = swap(edges) if turned else edges
            before |= work.was_supported(name, keys)
            after |= work.supported(name, keys)
        removed, added = edges[before & ~after], edges[after & ~before]
        work.run.instances["closure"] += len(edges)
        scheme, difference = known.closure.changed(removed, added, work.budget)
        made = _attached(owned, work, known.structure, scheme)
        lost: FactsByRelation = {}
        gained: FactsByRelation = {}
        for name, turned in zip(owned.relations, known.structure.turned, strict=True):
            old, new = work.stored.pairs(name), _seen(scheme, turned)
            _put(lost, work, made, name, difference.lost, turned, old, new)
            _put(gained, work, made, name, difference.gained, turned, new, old)
        return made, lost, gained


def _seen(scheme: PairRelation, turned: bool) -> PairRelation:
    """The pairs of a relation of the group, from the closure."""
    return inverse(scheme) if turned else scheme


def is_compressed(work: Work, closure: Attached) -> bool:
    """Whether one closure is to be kept by its scheme alone."""
    names = closure.structure.relations
    before = closure.ids[0] in work.stored.tables.closed
    return work.choice.compressed(names, closure.closure, before, work.budget.bytes)


def _attached(owned: Owned, work: Work, structure: Structure, scheme: Scheme) -> Attached:
    """The scheme, with whether the closure is written out."""
    made = Attached(structure, owned.relations, scheme, False)
    if is_compressed(work, made):
        return made._replace(compressed=True)
    work.budget.check(scheme.count() * len(owned.relations))
    return made


def _put(
    facts: FactsByRelation,
    work: Work,
    made: Attached,
    name: int,
    pairs: PairStream,
    turned: bool,
    these: PairLookup,
    others: PairLookup,
) -> None:
    """Add pairs of a closure to facts. Pairs of a compressed closure are listed only if a rule, a
    counter or a reader needs them."""
    count = pairs.count()
    if count == 0:
        return
    work.run.instances["closure"] += count
    if made.compressed:
        facts[name] = DifferenceSet(these, others, count, lambda: pairs.blocks(swapped=turned))
    else:
        facts[name] = written_out(pairs.blocks(swapped=turned))


def _edges(owned: Owned, structure: Structure, facts: Batch) -> U64:
    """The facts of the group as edges of its closure, with repetitions."""
    found = []
    for name, turned in zip(owned.relations, structure.turned, strict=True):
        if name in facts:
            found.append(swap(facts[name]) if turned else facts[name])
    return found[0] if len(found) == 1 else np.concatenate([NO_KEYS, *found])


def written_out(blocks: Iterator[U64]) -> U64:
    """The keys of all blocks."""
    found = list(blocks)
    return found[0] if len(found) == 1 else np.concatenate([NO_KEYS, *found])
