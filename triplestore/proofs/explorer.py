"""Look for proofs backwards from a fact: which rule instances conclude it, and what they need.

Start reading at `Explorer.prove`. An instance that needs the fact that is asked about is left out:
no least proof has it, and alternatives must not.

Least height
    Nodes are expanded level by level from the goal. When levels 0 to D-1 are known, every proof of
    a height up to D is: so the search ends, with the least height, at a depth equal to it.
One that is enough
    Of a fact with an instance of asserted facts only, its other instances are not kept: it has
    height 1 whatever they are. Before a wide level is expanded, only such instances are looked
    for: if they complete a proof, what else there is on that level is never seen.
Forwards
    Where levels become too wide (a dense transitive relation has n^2 facts two levels down), the
    rules behind the goal are fired forwards from asserted facts until it comes; then all heights
    are known, and a proof is read off: the smallest, if it does not have very many rivals.
Some proof
    Where that would take too long as well, another search takes instances with at most one premise
    that is not stated first, one step after the other, and others only when these are used up. Its
    proof is well-founded, but may be higher than the smallest.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Literal

import numpy as np

from triplestore.data_classes import data_class
from triplestore.datalog.slices import Slice
from triplestore.errors import BudgetError
from triplestore.proofs.closed_facts import Closed, keys_of
from triplestore.proofs.closure_paths import Walks
from triplestore.proofs.concluding_instances import Instances, concluding, linear
from triplestore.proofs.forward_rounds import Heights, rounds, rules_behind
from triplestore.proofs.proof_graph import NEVER, ProofGraph, ProofLink
from triplestore.proofs.thresholds import PROOFS
from triplestore.relations.facts.body_views import Setting
from triplestore.relations.facts.fact_sets import RelationKey
from triplestore.relations.packed_keys import I64, Bools, in_sorted
from triplestore.thread_limits import look

Mode = Literal["stated", "least", "linear", "all"]
"""Which instances are looked for: all premises stated, of less height, all but one stated, any."""


@data_class(frozen=False)
class Limits:
    """How far to look.

    seconds  for each way to search
    rows     of rule instances that each looks at
    depth    levels; for a proof that is higher, the search is not by levels
    """

    seconds: float = 5.0
    rows: int = 1_000_000
    depth: int = 1_000_000


class _Spent(Exception):  # noqa: N818 - not an error
    """A search came to its limits."""


class Explorer(ProofGraph):
    """Searches for proofs, and what they have found.

    expanded  node -> which of the instances that conclude it are known
    complete  whether all proofs that were looked for are the smallest
    asked     the fact in question; `keep` is how many of its direct instances are kept, if several
    """

    def __init__(self, closed: Closed, limits: Limits | None = None) -> None:
        super().__init__(closed)
        closed.run.check = self._check
        self.limits = limits or Limits()
        self.expanded: dict[int, Mode] = {}
        self.complete = True
        self.asked = -1
        self.keep = 0
        self._deadline = time.monotonic() + self.limits.seconds
        self._rows = self._most = 0
        self._exhausted = self._one_each = False
        self._walks = Walks(closed)

    # -- searching -------------------------------------------------------------------------------

    def prove(self, goal: int, exact: bool = False) -> bool:
        """Look for a least proof of a node, and for some proof if that takes too long.

        exact  do not settle for some proof: `BudgetError` instead
        """
        if self.height[goal] == 0:
            return True
        try:
            self._begin(self._deadline)
            return self._by_levels(goal)
        except _Spent:
            pass
        try:
            more = 0.0 if exact else self.limits.seconds
            self._begin(self._deadline + more, PROOFS.forward_rows)
            return self._by_rounds(goal)
        except _Spent:
            if exact:
                raise self._too_large(goal) from None
        self.complete = False
        if self.height[goal] < NEVER:
            return True
        try:
            self._begin(time.monotonic() + self.limits.seconds)
            return self._by_steps(goal)
        except _Spent:
            raise self._too_large(goal) from None

    def alternatives(self, goal: int, count: int) -> tuple[list[ProofLink], bool]:
        """The last steps of the smallest proofs of a node that do not need it, the least first.

        At most `count`; and True if these are all.
        """
        try:
            self._begin(time.monotonic() + self.limits.seconds)
            exhausted = self._by_levels(goal, count) and self._exhausted
        except _Spent:
            self.complete = exhausted = False
        found = sorted(self.conclusions(goal, NEVER - 1), key=self.height_of)
        if len(found) > count:
            most = self.height_of(found[count - 1])
            listed = [one for one in found if self.height_of(one) <= most]
        else:
            listed = found
        _, size = self.smallest({node for link in listed for node in link.open})
        listed.sort(key=lambda one: (self.height_of(one), *self._rank(one, size)))
        return listed[:count], exhausted and len(found) <= count

    def ask(self, goal: int, keep: int) -> None:
        """Say which fact is asked about: it proves nothing, and keeps `keep` direct instances."""
        self.asked, self.keep = goal, keep

    def _begin(self, deadline: float, times: int = 1) -> None:
        self._rows, self._deadline, self._most = 0, deadline, times * self.limits.rows

    def _check(self, rows: int) -> None:
        look("searching for a proof")
        self._rows += rows
        if self._rows > self._most or time.monotonic() > self._deadline:
            raise _Spent

    def _too_large(self, goal: int) -> BudgetError:
        return BudgetError(
            f"no proof of {self.closed.fact(self.places[goal])} within {self.limits.rows:,} rule "
            f"instances and {self.limits.seconds:g} seconds; raise the limits"
        )

    def _by_levels(self, goal: int, count: int = 0) -> bool:
        """Whether a node has a proof, which is of least height then.

        count  if given, go on until this many instances of the goal have one
        """
        level, seen = [goal], {goal}
        self._exhausted = False
        for depth in range(1, self.limits.depth + 1):
            if len(level) > PROOFS.wide_level:
                self._expand(level, "stated")
                if self._done(goal, depth, count):
                    return True
            self._expand([node for node in level if self.height[node] > 1 or node == goal], "all")
            if self._done(goal, depth, count):
                return True
            level = self.below(level, seen)
            if not level:
                self._exhausted = True
                return self.height[goal] < NEVER
        raise _Spent

    def _done(self, goal: int, depth: int, count: int) -> bool:
        if not count:
            return self.height[goal] <= depth
        return len(self.conclusions(goal, depth)) >= count

    def _by_rounds(self, goal: int) -> bool:
        """Whether a node has a proof, which is of least height then."""
        closed = self.closed
        relation, key = self.places[goal]
        wanted = keys_of(relation, [key])
        numbers, given = rules_behind(closed, self._slice_of(goal))
        heights = Heights()
        for fresh in rounds(closed, numbers, given, self._check):
            heights.add(fresh)
            if relation in fresh and in_sorted(wanted, fresh[relation])[0]:
                break
        else:
            return False
        levels: dict[int, list[int]] = {len(heights.batches): [goal]}
        seen = {goal}
        for height in range(len(heights.batches), 0, -1):
            heights.forget(height)
            nodes = levels.get(height, [])
            if nodes:
                self._one_each = len(nodes) > PROOFS.one_each
                self.complete &= not self._one_each
                below = Setting(closed.stated.stored, plus=[given, heights.derived])
                self._expand(nodes, "least", below)
                for node in self.below(nodes, seen):
                    relation, key = self.places[node]
                    its = int(heights.of(relation, keys_of(relation, [key]))[0])
                    levels.setdefault(its, []).append(node)
        self._one_each = False
        return True

    def _by_steps(self, goal: int) -> bool:
        """Whether a node has a proof, which need not be the least."""
        seen, first, second = {goal}, deque[int](), deque[int]()
        known = deque([goal])
        while known:  # go on from where the search by levels has been
            node = known.popleft()
            if self.expanded.get(node) != "all":
                first.append(node)
            else:
                known.extend(self.below([node], seen))
        while first or second:
            if first:
                nodes = [first.popleft() for _ in range(min(PROOFS.step_nodes, len(first)))]
                self._expand(nodes, "linear")
                second.extend(nodes)
            else:
                nodes = [second.popleft() for _ in range(min(PROOFS.step_nodes // 16, len(second)))]
                self._expand([node for node in nodes if self.height[node] == NEVER], "all")
            if self.height[goal] < NEVER:
                return True
            first.extend(self.below(nodes, seen))
        return False

    # -- expanding -------------------------------------------------------------------------------

    def _expand(self, nodes: list[int], mode: Mode, sees: Setting | None = None) -> None:
        """Find the instances that conclude these nodes.

        sees  what atoms are matched with, if that does not follow from the mode
        """
        done = ("all", "linear", "stated") if mode == "stated" else ("all",)
        groups: dict[tuple[RelationKey, int], list[int]] = {}
        for node in nodes:
            if self.expanded.get(node) in done or (node == self.asked and mode == "stated"):
                continue
            if self._walk(node):
                continue
            groups.setdefault(self._kind_of(node), []).append(node)
        try:
            for (relation, class_id), members in groups.items():
                of = self.closed.slice_at(relation, class_id)
                for at in range(0, len(members), PROOFS.expanded_together):
                    part = members[at : at + PROOFS.expanded_together]
                    self._expand_slice(of, relation, part, mode, sees)
                    for node in part:
                        self.expanded[node] = mode
        finally:
            self.settle()

    def _walk(self, node: int) -> bool:
        """Whether a fact is a pair of a large closure, whose proof follows a path."""
        found = self._walks.links(self.places[node])
        if found is None:
            return False
        instances, smallest = found
        self.complete &= smallest
        for one in instances:
            head = self.node(one.head)
            if self.height[head]:
                self.link(one.rule, head, tuple(map(self.node, one.premises)))
                self.expanded[head] = "all"
        return True

    def _kind_of(self, node: int) -> tuple[RelationKey, int]:
        """The relation of a fact, and its class if that is rdf:type."""
        relation, key = self.places[node]
        return relation, key >> 32 if relation == self.closed.type_id else 0

    def _slice_of(self, node: int) -> Slice:
        return self.closed.slice_at(*self._kind_of(node))

    def _expand_slice(
        self,
        of: Slice,
        relation: RelationKey,
        nodes: list[int],
        mode: Mode,
        sees: Setting | None,
    ) -> None:
        closed = self.closed
        goals = keys_of(relation, [self.places[node][1] for node in nodes])
        order = np.argsort(goals, kind="stable")
        goals, heads = goals[order], np.array(nodes, dtype=np.int64)[order]
        left_out = self._walks.rules(relation)
        if left_out:
            self.complete = False  # an edge that follows may have a smaller proof as a pair
        rules = closed.rules(of).without(left_out)
        if mode == "linear":
            found = list(linear(closed, rules, relation, goals))
        else:
            if sees is None:
                sees = closed.stated if mode == "stated" else closed.all
            found = list(concluding(closed, rules, relation, goals, sees))
        if self.asked >= 0:
            found = [one.without(self.places[self.asked]) for one in found]
        self._add(heads, [one for one in found if len(one)])

    def _add(self, heads: I64, found: list[Instances]) -> None:
        """Keep what may matter of some instances."""
        proved = np.zeros(len(heads), dtype=np.bool_)
        direct: list[Bools] = []
        for instances in found:
            mask = instances.direct()
            direct.append(mask)
            proved[instances.goal[mask]] = True
        if self.keep:
            proved[heads == self.asked] = False
        for instances, mask in zip(found, direct, strict=True):
            self._add_direct(heads, instances.take(np.flatnonzero(mask)))
            rest = instances.take(np.flatnonzero(~mask & ~proved[instances.goal]))
            if self._one_each:
                rest = rest.take(rest.first_of_goals())
            self._keep(heads, rest)

    def _add_direct(self, heads: I64, instances: Instances) -> None:
        """Keep the first instance of each goal; some more of that which is asked about."""
        if len(instances) == 0:
            return
        first = instances.first_of_goals()
        if self.keep:
            mine = np.flatnonzero(heads[instances.goal] == self.asked)[: self.keep]
            first = np.union1d(first, mine)
        self._keep(heads, instances.take(first))

    def _keep(self, heads: I64, instances: Instances) -> None:
        self._check(PROOFS.kept_cost * len(instances))
        self.add(heads, instances)
