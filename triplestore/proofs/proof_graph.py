"""What is known of proofs: facts as nodes, and links, which are rule instances between them.

Start reading at `ProofGraph`. What is always true: `height` of a node is that of the least proof in
the known links (`NEVER` if none proves it), so it never rises as more links become known. A link
never needs its own head, because a least proof never has such a step.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from triplestore.proofs.closed_facts import Closed, Key, Place, keys_of
from triplestore.proofs.concluding_instances import Instances, Premise
from triplestore.relations import EXPLICIT
from triplestore.relations.facts.fact_sets import RelationKey
from triplestore.relations.packed_keys import I64, U8, Keys

NEVER = 1 << 60
"""The height of what has no proof."""

_FEW = 16  # keys that are not made distinct before they are looked up


class ProofLink(NamedTuple):
    """One instance: the simple rule, the head, all premises, and those that are not stated."""

    rule: int
    head: int
    premises: tuple[int, ...]
    open: tuple[int, ...]


class ProofGraph:
    """Nodes and links, with the heights that follow from them.

    places    where the fact of each node is kept
    height    of its least proof, as far as is known; 0 if it is stated
    of, uses  links that conclude a node; those that need it while it is not stated
    """

    def __init__(self, closed: Closed) -> None:
        self.closed = closed
        self.places: list[Place] = []
        self.height: list[int] = []
        self.links: list[ProofLink] = []
        self.of: list[list[int]] = []
        self.uses: list[list[int]] = []
        self._nodes: dict[RelationKey, dict[Key, int]] = {}
        self._known: set[tuple[int, int, tuple[int, ...]]] = set()
        self._fresh: list[int] = []  # links by which heights have not been brought down yet

    # -- nodes -----------------------------------------------------------------------------------

    def node(self, place: Place) -> int:
        """The node of a fact that holds."""
        relation, key = place
        keys = keys_of(relation, [key])
        return int(self._nodes_of(relation, keys, self.closed.status(relation, keys))[0])

    def _nodes_of(self, relation: RelationKey, keys: Keys, status: U8) -> I64:
        """The nodes of facts, made where they are new."""
        known = self._nodes.setdefault(relation, {})
        found = []
        for key, state in zip(keys.tolist(), status.tolist(), strict=True):
            node = known.get(key)
            if node is None:
                node = known[key] = len(self.places)
                self.places.append((relation, key))
                self.height.append(0 if state == EXPLICIT else NEVER)
                self.of.append([])
                self.uses.append([])
            found.append(node)
        return np.array(found, dtype=np.int64)

    def _premise_nodes(self, premise: Premise) -> I64:
        keys, status = premise.keys, premise.status
        if premise.names is None:
            return self._distinct_nodes(premise.relation, keys, status)
        nodes = np.empty(len(keys), dtype=np.int64)
        for name, mine in premise.by_name():
            nodes[mine] = self._distinct_nodes(name, keys[mine], status[mine])
        return nodes

    def _distinct_nodes(self, relation: RelationKey, keys: Keys, status: U8) -> I64:
        if len(keys) < _FEW:
            return self._nodes_of(relation, keys, status)
        each, first, index = np.unique(keys, return_index=True, return_inverse=True)
        return self._nodes_of(relation, each, status[first])[index]

    # -- links ----------------------------------------------------------------------------------

    def add(self, heads: I64, instances: Instances) -> None:
        """Add instances as links; their goals are numbers of heads."""
        if len(instances) == 0:
            return
        columns = [self._premise_nodes(premise).tolist() for premise in instances.premises]
        rows = zip(*columns, strict=True) if columns else [()] * len(instances)
        goals = heads[instances.goal].tolist()
        for head, rule, premises in zip(goals, instances.rule.tolist(), rows, strict=True):
            self.link(rule, head, premises)

    def link(self, rule: int, head: int, premises: tuple[int, ...]) -> None:
        """Add one instance as a link."""
        known = (head, rule, premises)
        if head in premises or known in self._known:
            return
        self._known.add(known)
        self._fresh.append(len(self.links))
        open_ = tuple(dict.fromkeys(node for node in premises if self.height[node] > 0))
        for node in open_:
            self.uses[node].append(len(self.links))
        self.of[head].append(len(self.links))
        self.links.append(ProofLink(rule, head, premises, open_))

    def conclusions(self, goal: int, most: int) -> list[ProofLink]:
        """The links to a node of at most a height; of those of one rule and the same premises (two
        of its heads may be the same fact, or only values of a BIND differ) the first."""
        found: dict[tuple[int, tuple[int, ...]], ProofLink] = {}
        for i in self.of[goal]:
            link = self.links[i]
            if self.height_of(link) <= most:
                known = found.setdefault(self._as_written(link), link)
                if link.rule < known.rule:
                    found[self._as_written(link)] = link
        return list(found.values())

    def _as_written(self, link: ProofLink) -> tuple[int, tuple[int, ...]]:
        return id(self.closed.written.origins[link.rule]), link.premises

    def below(self, level: Iterable[int], seen: set[int]) -> list[int]:
        """What instances of a level need and is new."""
        found = []
        for node in level:
            for i in self.of[node]:
                for premise in self.links[i].open:
                    if premise not in seen:
                        seen.add(premise)
                        found.append(premise)
        return found

    # -- heights ---------------------------------------------------------------------------------

    def height_of(self, link: ProofLink) -> int:
        """The height of the proof that ends with an instance."""
        return min(NEVER, 1 + max([self.height[node] for node in link.open], default=0))

    def settle(self) -> None:
        """Bring heights down where new instances allow it, and then where that allows it."""
        queue: list[tuple[int, int]] = []
        for i in self._fresh:
            height = self.height_of(self.links[i])
            if height < NEVER:
                heappush(queue, (height, i))
        self._fresh.clear()
        while queue:
            height, i = heappop(queue)
            head = self.links[i].head
            if height >= self.height[head]:
                continue
            self.height[head] = height
            for user in self.uses[head]:
                above = self.height_of(self.links[user])
                if above < self.height[self.links[user].head]:
                    heappush(queue, (above, user))

    # -- choosing --------------------------------------------------------------------------------

    def smallest(self, goals: Iterable[int]) -> tuple[dict[int, ProofLink], dict[int, int]]:
        """For each proved node that the proofs of some nodes need, the last step of its smallest
        proof, and how many steps that has.

        It is of least height, then of fewest steps (one that is needed twice counts twice), then
        the first by the order of rules and of ids.
        """
        size: dict[int, int] = {}
        chosen: dict[int, ProofLink] = {}
        for node in sorted(self._within_least(goals), key=self.height.__getitem__):
            links = [self.links[i] for i in self.of[node]]
            least = [one for one in links if self.height_of(one) == self.height[node]]
            ranks = [self._rank(one, size) for one in least]
            best = min(range(len(ranks)), key=ranks.__getitem__)
            chosen[node], size[node] = least[best], ranks[best][0]
        return chosen, size

    def _rank(self, link: ProofLink, size: dict[int, int]) -> tuple[int, int, list[Place]]:
        steps = 1 + sum(size[premise] for premise in link.open)
        return steps, link.rule, [self.places[premise] for premise in link.premises]

    def _within_least(self, goals: Iterable[int]) -> set[int]:
        """The nodes, not stated, that some proof of least height of a goal has."""
        stack = [node for node in goals if 0 < self.height[node] < NEVER]
        found = set(stack)
        while stack:
            node = stack.pop()
            for i in self.of[node]:
                if self.height_of(self.links[i]) == self.height[node]:
                    for premise in self.links[i].open:
                        if premise not in found:
                            found.add(premise)
                            stack.append(premise)
        return found
