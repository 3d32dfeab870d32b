"""Relations defined by chains, as reachability in the product of a graph and an automaton.

Start reading at `RegularClosure`. Its transitive closure is kept by `TransitiveClosure` over pairs
(node, state): (x, z) is in a relation if (x, start) reaches (z, end). So the cost of an update
depends on the changed pairs there, and the changes of each relation are exact by construction.

The closure also holds pairs between other states. If few edges lie on a path from a start to an
end, the closure gets only these edges.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from triplestore.closures.chains.automaton import Automaton, Language, Name
from triplestore.closures.chains.chain_relation import ChainRelation, Ends, MeantPairs, TurnedPairs
from triplestore.closures.chains.product_graph import NodePlaces, ids_of, product, still_made
from triplestore.closures.chains.useful_edges import UsefulEdges
from triplestore.closures.scheme import PairDifference, WorkLimit
from triplestore.closures.symmetric_transitive.edge_set import EdgeSet
from triplestore.closures.thresholds import CLOSURES
from triplestore.closures.transitive.transitive_closure import TransitiveClosure
from triplestore.relations.facts.sorted_arrays import sorted_distinct, without
from triplestore.relations.packed_keys import NO_KEYS, U64
from triplestore.relations.pair_relation import PairRelation, inverse

Edges = Mapping[Name, U64]
"""Edges by label, in any order; labels without edges may be left out."""


class Fact(NamedTuple):
    """An edge of a label, with its nodes in their order."""

    label: Name
    subject: int
    object: int


class RegularClosure:
    """The relations of an automaton over labelled edges; immutable.

    >>> import numpy as np
    >>> from triplestore.closures.chains.regular_rules import ChainRule, regular_system
    >>> near, part = ("near", False), ("part", False)
    >>> chains = regular_system([ChainRule("in", (near,)), ChainRule("in", (("in", False), part))])
    >>> edges = {"near": np.array([1 << 32 | 2], np.uint64)}
    >>> closure = RegularClosure.build(chains, edges)
    >>> larger, differences = closure.changed({}, {"part": np.array([2 << 32 | 5], np.uint64)})
    >>> larger.relation("in").match(0, np.array([1], np.uint32))[1].tolist()
    [2, 5]
    >>> differences["in"].gained.count(), larger.proof("in", 1, 5)[1]
    (1, Fact(label='part', subject=2, object=5))
    """

    __slots__ = ("_closure", "_edges", "_places", "_relations", "_useful", "automaton")

    def __init__(
        self,
        automaton: Automaton,
        places: NodePlaces,
        edges: Mapping[Name, EdgeSet],
        closure: TransitiveClosure,
        useful: UsefulEdges | None = None,
    ) -> None:
        self.automaton, self._places, self._edges = automaton, places, edges
        self._closure, self._useful = closure, useful
        self._relations = {
            name: ChainRelation(closure, self._ends(words))
            for name, words in automaton.defined.items()
        }

    @classmethod
    def build(
        cls, automaton: Automaton, edges: Edges, budget: WorkLimit | None = None
    ) -> RegularClosure:
        """The relations of an automaton, which is reduced first, over some edges."""
        automaton = automaton.reduced()
        known = {label: sorted_distinct(edges.get(label, NO_KEYS)) for label in automaton.labels}
        places = NodePlaces(ids_of(known.values()))
        keys = product(automaton.arcs, known, places, automaton.states)
        words = automaton.defined.values()
        ends = (state for one in words for state in one.accepting)
        useful = UsefulEdges.of(keys, automaton.states, (one.start for one in words), ends)
        kept = useful.edges()
        trimmed = len(kept) < CLOSURES.useful_share * len(keys)
        closure = TransitiveClosure.build(kept if trimmed else keys, budget)
        sets = {label: EdgeSet(keys) for label, keys in known.items()}
        return cls(automaton, places, sets, closure, useful if trimmed else None)

    @property
    def edges(self) -> dict[Name, U64]:
        """The edges of each label, sorted."""
        return {label: keys.keys() for label, keys in self._edges.items()}

    def nbytes(self) -> int:
        """The memory it takes, edges included."""
        edges = sum(keys.nbytes() for keys in self._edges.values())
        useful = self._useful.nbytes() if self._useful is not None else 0
        kept = sum(relation.kept_bytes() for relation in self._relations.values())
        return edges + useful + kept + self._closure.nbytes() + self._places.ids.nbytes

    def relation(self, name: Name) -> PairRelation:
        """The pairs of a defined relation."""
        found = self._relations[name]
        return inverse(found) if self.automaton.defined[name].turned else found

    def changed(
        self, removed: Edges, added: Edges, budget: WorkLimit | None = None
    ) -> tuple[RegularClosure, dict[Name, PairDifference]]:
        """The relations of the edges without `removed` and then with `added`, by label.

        Removing absent edges, or adding existing ones, changes nothing. The second result is the
        difference of each defined relation.
        """
        sets = dict(self._edges)
        gone, come = {}, {}
        for label in sets:
            plus = sorted_distinct(added.get(label, NO_KEYS))
            minus = without(sorted_distinct(removed.get(label, NO_KEYS)), plus)
            gone[label] = minus[sets[label].contains(minus)]
            come[label] = plus[~sets[label].contains(plus)]
            if len(gone[label]) or len(come[label]):
                sets[label] = sets[label].changed(gone[label], come[label])
        places = self._places.extended(ids_of(come.values()))
        arcs, states = self.automaton.arcs, self.automaton.states
        plus = product(arcs, come, places, states)
        minus = product(arcs, gone, places, states)
        minus = minus[~still_made(minus, arcs, sets, places, states)]
        useful = self._useful
        if useful is not None:
            useful, plus = useful.changed(minus, plus)
        closure, change = self._closure.changed(minus, plus, budget)
        made = RegularClosure(self.automaton, places, sets, closure, useful)
        return made, {name: made._difference(self, name, change) for name in self._relations}

    def _difference(
        self, before: RegularClosure, name: Name, change: PairDifference
    ) -> PairDifference:
        words = self.automaton.defined[name]
        ends = self._ends(words)
        found = PairDifference(MeantPairs(change.lost, ends), MeantPairs(change.gained, ends))
        self._relations[name].follows(before._relations[name], found)
        if words.turned:
            return PairDifference(TurnedPairs(found.lost), TurnedPairs(found.gained))
        return found

    def _ends(self, words: Language) -> Ends:
        (end,) = words.accepting
        return Ends(self._places, self.automaton.states, words.start, end)

    def proof(self, name: Name, subject: int, obj: int) -> list[Fact]:
        """Edges that lead from one node to another and spell a word of the relation; fewest first.

        Empty if the pair is not in the relation.
        """
        words = self.automaton.defined[name]
        if words.turned:
            subject, obj = obj, subject
        ends, states, ids = self._ends(words), self.automaton.states, self._places.ids
        here, there = self._places.of(np.array([subject, obj], dtype=np.uint32)).tolist()
        if here < 0 or there < 0:
            return []
        way = self._closure.path(here * states + ends.start, there * states + ends.end)
        nodes = [(int(ids[node // states]), node % states) for node in way]
        facts = [self._fact(*step) for step in pairwise(nodes)]
        return facts[::-1] if words.turned else facts

    def _fact(self, one: tuple[int, int], other: tuple[int, int]) -> Fact:
        """An edge that makes a step of the product."""
        for arc in self.automaton.arcs:
            if (arc.source, arc.target) != (one[1], other[1]):
                continue
            subject, obj = (other[0], one[0]) if arc.turned else (one[0], other[0])
            if self._edges[arc.label].contains(_key(subject, obj))[0]:
                return Fact(arc.label, subject, obj)
        raise AssertionError(f"no edge from {one} to {other}")


def _key(subject: int, obj: int) -> U64:
    return np.array([subject << 32 | obj], dtype=np.uint64)
