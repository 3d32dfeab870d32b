"""Groups whose rules are regular chains: reachability in a graph times an automaton.

Start reading at `Chain`. The papers have no such module: the thesis names it as future work. Its
bounds for Add, Del and Red hold here as for tc. The edges are the external facts, and the facts of
lower relations that chains go through; each has a label. The scheme finds exactly how a change of
labelled edges changes each relation of the group.
"""

from __future__ import annotations

from triplestore.closures.attached import CHAINS, Attached, Structure
from triplestore.closures.chains.automaton import Name
from triplestore.closures.chains.regular_closure import RegularClosure
from triplestore.closures.chains.regular_rules import regular_system
from triplestore.closures.scheme import PairDifference
from triplestore.maintenance.modules.one_closure import written_out
from triplestore.maintenance.modules.protocol import ClosureKind, FactsByRelation
from triplestore.maintenance.update_state import Work
from triplestore.relations.facts.fact_sets import Batch
from triplestore.relations.facts.sorted_arrays import sorted_distinct
from triplestore.relations.packed_keys import NO_KEYS, U64
from triplestore.relations.pair_relation import PairRelation
from triplestore.rules.modules.chain_shapes import outside, system_of
from triplestore.rules.modules.module_groups import Owned


class Chain(ClosureKind):
    """Chains. Their edges are facts of other relations too, so they are always written out."""

    kind = CHAINS
    compresses = False

    def built(
        self, owned: Owned, work: Work, structure: Structure, external: Batch
    ) -> tuple[Attached, list[PairRelation]]:
        """See `ClosureKind.built`."""
        chains = _built(owned, work, structure, external)
        closures = [chains.relation(key) for key in structure.relations]
        work.budget.check(sum(one.count() for one in closures))
        return Attached(structure, owned.relations, chains, False), closures

    def changed(
        self, owned: Owned, work: Work, known: Attached, touched: Batch
    ) -> tuple[Attached, FactsByRelation, FactsByRelation]:
        """See `ClosureKind.changed`."""
        scheme, differences = _changed(owned, work, known, touched)
        lost: FactsByRelation = {}
        gained: FactsByRelation = {}
        for name, difference in differences.items():
            for facts, pairs in ((lost, difference.lost), (gained, difference.gained)):
                count = pairs.count()
                work.run.instances["closure"] += count
                work.budget.check(count)
                if count:
                    facts[name] = written_out(pairs.blocks())
        return known._replace(scheme=scheme), lost, gained


def _changed(
    owned: Owned, work: Work, known: Attached, touched: Batch
) -> tuple[RegularClosure, dict[int, PairDifference]]:
    """The scheme after some facts were touched, and the changes of each relation."""
    removed: dict[Name, U64] = {}
    added: dict[Name, U64] = {}
    for name, key in zip(owned.relations, known.structure.relations, strict=True):
        keys = touched.get(name, NO_KEYS)
        before, after = work.was_supported(name, keys), work.supported(name, keys)
        removed[outside(key)], added[outside(key)] = keys[before & ~after], keys[after & ~before]
    for key, name in owned.letters.items():
        removed[key], added[key] = work.gone.keys_of(name), work.added.keys_of(name)
    work.run.instances["closure"] += sum(map(len, removed.values()))
    work.run.instances["closure"] += sum(map(len, added.values()))
    made, differences = known.chains.changed(removed, added, work.budget)
    found = zip(owned.relations, known.structure.relations, strict=True)
    return made, {name: differences[key] for name, key in found}


def _built(owned: Owned, work: Work, structure: Structure, external: Batch) -> RegularClosure:
    """The scheme of all external facts and facts from below."""
    automaton = regular_system(system_of(structure))
    assert automaton is not None, "it was found before"
    edges: dict[Name, U64] = {}
    for name, key in zip(owned.relations, structure.relations, strict=True):
        edges[outside(key)] = external.get(name, NO_KEYS)
    new = work.new()
    for key, name in owned.letters.items():
        edges[key] = sorted_distinct(new.pairs(name).keys())
        work.budget.check(len(edges[key]))
    return RegularClosure.build(automaton, edges, work.budget)
