"""Which asserted changes cause each inferred change.

Start reading at `blame`. For facts that came, the new state is the full one and the old one the
base; for facts that went, the other way round: a fact goes for exactly the reasons for which it
would come back. What holds in both states is given. The causes of a fact are those leaves of its
derivation of least height that changed; if the fact still follows without them, those of the next
derivation are added, until it does not. So always true where `exact`: with its causes only, the
fact changes; with all other changes and without its causes, it does not.

Derivations are shared: the sets are computed for all facts at once, height by height. Which facts
need a second derivation is decided for all at once, too: `_surely` is a greatest fixpoint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from triplestore.consequences.cause_sets import CauseSets
from triplestore.consequences.changed_nodes import ChangedNodes
from triplestore.consequences.closed_state import ClosedState
from triplestore.consequences.instance_graph import NEVER, Derived, InstanceGraph
from triplestore.consequences.thresholds import CONSEQUENCES
from triplestore.relations import Changes
from triplestore.relations.packed_keys import I64, Bools


class Blame:
    """The causes of all changed facts of one direction.

    graph    the facts (`graph.nodes`) and the rule instances between them
    causes   for each node the number of its set of causes; 0 if none was found
    first    the same for the causes of the derivation of least height only
    exact    whether these are all causes of a node, and only those
    """

    def __init__(self, graph: InstanceGraph) -> None:
        self.graph = graph
        self.sets = CauseSets()
        self.derived = graph.derived()
        self.first = self._sets_of(self.derived)
        self.causes = self.first.copy()
        self.exact: Bools = self.first > 0
        if len(graph.head):
            self._extend(np.flatnonzero(~self._surely() & self.exact))

    # -- the first derivation ----------------------------------------------------------------------

    def _sets_of(self, derived: Derived) -> I64:
        """The leaves of each node's chosen derivation."""
        graph, sets = self.graph, self.sets
        found = np.zeros(graph.size, np.int64)
        leaves = np.flatnonzero(derived.height == 0)
        found[leaves] = [sets.of(frozenset([leaf])) for leaf in leaves.tolist()]
        order = np.argsort(derived.height, kind="stable")
        heights = derived.height[order]
        starts = np.flatnonzero(np.concatenate(([True], heights[1:] != heights[:-1])))
        for part in np.split(order, starts[1:]) if len(order) else ():
            if 0 < derived.height[part[0]] < NEVER:
                found[part] = self._union_of(derived.chosen[part], found)
        return found

    def _union_of(self, instances: I64, known: I64) -> I64:
        graph = self.graph
        counts = graph.counts[instances]
        found = np.zeros(len(instances), np.int64)
        for place in range(int(counts.max(initial=0))):
            rows = np.flatnonzero(counts > place)
            sets = known[graph.premise[graph.start[instances[rows]] + place]]
            found[rows] = self.sets.unions(found[rows], sets)
        return found

    # -- other derivations -------------------------------------------------------------------------

    def _surely(self) -> Bools:
        """Nodes that surely do not follow without their causes: all their instances need a premise
        that surely does not follow without some of these."""
        graph = self.graph
        head, loose = graph.head[graph.edge_instance], graph.loose
        within = graph.edge_instance == self.derived.chosen[head]
        others = np.flatnonzero(~within)
        within[others] = self.sets.subsets(
            self.first[graph.premise[others]], self.first[head[others]]
        )
        within &= self.first[graph.premise] > 0
        sure = np.ones(graph.size, np.bool_)
        while True:
            blocked = np.zeros(len(graph.head), np.bool_)
            blocked[graph.edge_instance[within & sure[graph.premise]]] = True
            wrong = graph.head[~blocked | loose]
            if not sure[wrong].any():
                return sure
            sure[wrong] = False

    def _extend(self, unsure: I64) -> None:
        """Take the causes out, set by set, and add those of what follows all the same."""
        work = self.graph.size + len(self.graph.premise)
        left = min(CONSEQUENCES.removals, CONSEQUENCES.removal_work // work)
        waiting = unsure
        while len(waiting):
            further = []
            order = np.argsort(self.causes[waiting], kind="stable")
            waiting = waiting[order]
            each, starts = np.unique(self.causes[waiting], return_index=True)
            for name, group in zip(each.tolist(), np.split(waiting, starts[1:]), strict=True):
                if not left:
                    self.exact[group] = False
                    continue
                left -= 1
                further.append(self._without(name, group))
            waiting = np.concatenate(further) if further else waiting[:0]

    def _without(self, causes: int, group: I64) -> I64:
        """The nodes of a group that follow without its causes; other causes are added to theirs."""
        members = self.sets.members[causes]
        out = np.fromiter(members, np.int64, len(members))
        derived = self.graph.derived(out)
        alive = group[derived.height[group] < NEVER]
        for node in alive.tolist():
            more = self._leaves_of(node, derived)
            wider = self.sets.union(causes, self.sets.of(more))
            if wider == causes:
                self.exact[node] = False
            self.causes[node] = wider
        return alive[self.exact[alive]]

    def _leaves_of(self, node: int, derived: Derived) -> frozenset[int]:
        found: set[int] = set()
        seen, stack = {node}, [node]
        while stack:
            at = stack.pop()
            if derived.height[at] == 0:
                found.add(at)
                continue
            for premise in self.graph.premises(int(derived.chosen[at])).tolist():
                if premise not in seen:
                    seen.add(premise)
                    stack.append(premise)
        return frozenset(found)

    # -- what others ask ---------------------------------------------------------------------------

    def inferred(self) -> I64:
        """The changed facts that were not asserted or removed themselves."""
        found: I64 = np.flatnonzero(~self.graph.nodes.leaf)
        return found

    def steps(self, node: int) -> list[tuple[int, int]]:
        """The (fact, instance) pairs of a node's first derivation, the last step first."""
        found: dict[int, int] = {}
        stack = [node]
        while stack:
            at = stack.pop()
            if at in found or at >= len(self.graph.nodes):
                continue
            instance = int(self.derived.chosen[at])
            found[at] = instance
            if instance >= 0:
                stack.extend(reversed(self.graph.premises(instance).tolist()))
        return list(found.items())


class AssertedCause(NamedTuple):
    """A cause by its direction and its number: an asserted change, or a rule that is new."""

    came: bool
    leaf: int


class BlamedChanges:
    """The blames of both directions, and the causes of their facts in either of them.

    What depends on the absence of a fact that went is caused by what made that go.
    """

    def __init__(self, blames: Mapping[bool, Blame]) -> None:
        self.blames = blames
        self._known: dict[tuple[bool, int], frozenset[AssertedCause]] = {}

    def causes(self, came: bool, node: int) -> frozenset[AssertedCause]:
        """The causes of a fact."""
        return self.of_set(came, int(self.blames[came].causes[node]))

    def of_set(self, came: bool, name: int) -> frozenset[AssertedCause]:
        """The causes in a set of one direction."""
        found = self._known.get((came, name))
        if found is None:
            self._known[came, name] = frozenset()  # strata exclude circles; this is to be safe
            found = self._known[came, name] = self._expanded(came, name)
        return found

    def _expanded(self, came: bool, name: int) -> frozenset[AssertedCause]:
        graph = self.blames[came].graph
        own = graph.size - len(graph.others)
        found: set[AssertedCause] = set()
        for leaf in self.blames[came].sets.members[name]:
            if leaf < own:
                found.add(AssertedCause(came, leaf))
            else:
                found |= self.causes(not came, int(graph.others[leaf - own]))
        return frozenset(found)


def blame(states: Mapping[bool, ClosedState], net: Changes) -> BlamedChanges:
    """The causes of all that came and went between two states.

    states  the new state (True) and the old one
    net     the rows in which they differ
    """
    dictionary = states[True].dictionary
    nodes = {came: ChangedNodes.of(net, dictionary, came) for came in (True, False)}
    graphs = {
        came: InstanceGraph.of(states[came], states[not came], nodes[came], nodes[not came])
        for came in (True, False)
    }
    return BlamedChanges({came: Blame(graphs[came]) for came in (True, False)})
