"""Groups whose rules are regular chains: by reachability in a graph times an automaton.

Start reading at `chains_changed` and `chains_built`. Beside what comes from outside, edges are the
facts of the lower relations that chains go through; each has a label. What a change of labelled
edges does to each relation of the group is the scheme's answer, and exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from triplestore.closures.attached import Attached, Structure
from triplestore.closures.chains.automaton import Name
from triplestore.closures.chains.regular_closure import RegularClosure
from triplestore.closures.chains.regular_rules import ChainRule, regular_system
from triplestore.closures.scheme import PairDifference
from triplestore.maintenance.update_state import Work
from triplestore.relations.facts.fact_sets import Batch
from triplestore.relations.facts.sorted_arrays import sorted_distinct
from triplestore.relations.packed_keys import NO_KEYS, U64, Bools
from triplestore.rules.modules.module_groups import Owned

IsExternal: TypeAlias = Callable[[Work, int, U64], Bools]
"""Which facts come from outside."""


def system_of(structure: Structure) -> list[ChainRule]:
    """The chains of a structure, and with them that each relation has facts from outside."""
    chains = [ChainRule(head, body) for head, body in structure.chains]
    return chains + [ChainRule(name, ((outside(name), False),)) for name in structure.relations]


def outside(name: bytes) -> Name:
    """The label of the facts of a relation that come from outside."""
    return ("outside", name)


def chains_changed(
    owned: Owned,
    work: Work,
    known: Attached,
    touched: Batch,
    was_external: IsExternal,
    is_external: IsExternal,
) -> tuple[RegularClosure, dict[int, PairDifference]]:
    """The scheme after some facts were touched, and what that did to each relation."""
    removed: dict[Name, U64] = {}
    added: dict[Name, U64] = {}
    for name, key in zip(owned.relations, known.structure.relations, strict=True):
        keys = touched.get(name, NO_KEYS)
        before, after = was_external(work, name, keys), is_external(work, name, keys)
        removed[outside(key)], added[outside(key)] = keys[before & ~after], keys[after & ~before]
    for key, name in owned.letters.items():
        removed[key], added[key] = work.gone.keys_of(name), work.added.keys_of(name)
    work.run.instances["closure"] += sum(map(len, removed.values()))
    work.run.instances["closure"] += sum(map(len, added.values()))
    made, differences = known.chains.changed(removed, added, work.budget)
    found = zip(owned.relations, known.structure.relations, strict=True)
    return made, {name: differences[key] for name, key in found}


def chains_built(owned: Owned, work: Work, structure: Structure, external: Batch) -> RegularClosure:
    """The scheme of all that comes from outside and from below."""
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
