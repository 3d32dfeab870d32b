"""Look for proofs backwards from a fact: which rule instances conclude it, and what they need.

Start reading at `Explorer`. Facts are nodes, instances lead from their premises to their heads.
What is always true: `height` of a node is that of the least proof in the instances that are known
(infinite if there is none), so it falls or stays as more become known; an instance that needs its
own head, or the fact that is asked about, is left out, because no least proof has it.

Least height
    Nodes are expanded level by level from the goal. When levels 0 to D-1 are known, every proof of
    a height up to D is: so the search ends, with the least height, at a depth equal to it.
One that is enough
    Of a fact with an instance of stated facts only, its other instances are not kept: it has
    height 1 whatever they are. Before a wide level is expanded, only such instances are looked
    for: if they complete a proof, what else there is on that level is never seen.
Forwards
    Where levels become too wide (a dense transitive relation has n^2 facts two levels down), the
    rules behind the goal are fired forwards from what is stated until it comes; then all heights
    are known, and a proof is read off: the smallest, if it does not have very many rivals.
Some proof
    Where that would take too long, too, another search takes instances with at most one premise
    that is not stated first, one step after the other, and others only when these are used up. Its
    proof is well-founded, but may be higher than need be.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Literal, NamedTuple

import numpy as np

from triplestore.datalog.slices import Slice
from triplestore.engine.sets.keys import RelationKey
from triplestore.engine.sets.views import Setting
from triplestore.engine.why.closed import Closed, Key, Place, keys_of
from triplestore.engine.why.instances import Instances, Premise, concluding, linear
from triplestore.engine.why.rounds import Heights, rounds, rules_behind
from triplestore.errors import BudgetError
from triplestore.tables import EXPLICIT
from triplestore.tables.rows import I64, U8, Bools, Keys, in_sorted

NEVER = 1 << 60
"""The height of what has no proof."""

_WIDE = 64  # facts on a level from which it is worth to look for stated premises first
_AT_ONCE = 4096  # facts that are expanded together
_STEP = 256  # the same in the search for some proof
_MANY = 2000  # facts of one height from which one instance of each is enough, to read off a proof
_FEW = 16  # keys that are not made distinct before they are looked up
_KEPT = 10  # what an instance that is kept costs, in rows
_CHEAPER = 100  # so many more rows may be looked at forwards, where they are not kept

Mode = Literal["stated", "least", "linear", "all"]
"""Which instances are looked for: of stated facts only, of less high ones, ..."""


@dataclass(slots=True)
class Limits:
    """How far to look.

    seconds  for each of the two searches
    rows     of rule instances that each of them looks at
    depth    levels; for a proof that is higher, the search is not by levels
    """

    seconds: float = 5.0
    rows: int = 1_000_000
    depth: int = 1_000_000


class _Spent(Exception):  # noqa: N818 - it is no error
    """A search came to its limits."""


class Link(NamedTuple):
    """One instance: the simple rule, the head, all premises, and those that are not stated."""

    rule: int
    head: int
    premises: tuple[int, ...]
    open: tuple[int, ...]


class Explorer:
    """What is known of proofs, while it grows.

    asked  the fact that alternatives are wanted for: all its instances are kept, so many at most
    """

    def __init__(self, closed: Closed, limits: Limits | None = None) -> None:
        self.closed = closed
        closed.run.check = self._check
        self.limits = limits or Limits()
        self.links: list[Link] = []
        self.places: list[Place] = []
        self.height: list[int] = []
        self.of: list[list[int]] = []  # node -> links that conclude it
        self.uses: list[list[int]] = []  # node -> links that need it, while it is not stated
        self.expanded: list[Mode | None] = []
        self.complete = True  # whether every height that was asked for is known to be the least
        self.asked = -1
        self.keep = 0
        self._nodes: dict[RelationKey, dict[Key, int]] = {}
        self._known: set[tuple[int, int, tuple[int, ...]]] = set()
        self._fresh: list[int] = []  # links by which heights have not been brought down yet
        self._deadline = time.monotonic() + self.limits.seconds
        self._rows = self._most = 0
        self._exhausted = self._one_each = False

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
                self.expanded.append(None)
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
            self._begin(time.monotonic() + self.limits.seconds, _CHEAPER)
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

    def alternatives(self, goal: int, count: int) -> tuple[list[Link], bool]:
        """The last steps of the smallest proofs of a node that do not need it, the least first.

        So many, if there are as many; True beside them if there are no others.
        """
        try:
            self._begin(time.monotonic() + self.limits.seconds)
            exhausted = self._by_levels(goal, count) and self._exhausted
        except _Spent:
            self.complete = exhausted = False
        found = sorted(self._conclusions(goal, NEVER - 1), key=self._height_of)
        if len(found) > count:
            most = self._height_of(found[count - 1])
            listed = [one for one in found if self._height_of(one) <= most]
        else:
            listed = found
        _, size = self.smallest({node for link in listed for node in link.open})
        listed.sort(key=lambda one: (self._height_of(one), *self._rank(one, size)))
        return listed[:count], exhausted and len(found) <= count

    def ask(self, goal: int, keep: int) -> None:
        """Say which fact is asked about: it proves nothing, and keeps so many direct instances."""
        self.asked, self.keep = goal, keep

    def _begin(self, deadline: float, times: int = 1) -> None:
        self._rows, self._deadline, self._most = 0, deadline, times * self.limits.rows

    def _check(self, rows: int) -> None:
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

        count  if given, go on until so many instances of the goal have one
        """
        level, seen = [goal], {goal}
        self._exhausted = False
        for depth in range(1, self.limits.depth + 1):
            if len(level) > _WIDE:
                self._expand(level, "stated")
                if self._done(goal, depth, count):
                    return True
            self._expand([node for node in level if self.height[node] > 1 or node == goal], "all")
            if self._done(goal, depth, count):
                return True
            level = self._below(level, seen)
            if not level:
                self._exhausted = True
                return self.height[goal] < NEVER
        raise _Spent

    def _done(self, goal: int, depth: int, count: int) -> bool:
        if not count:
            return self.height[goal] <= depth
        return len(self._conclusions(goal, depth)) >= count

    def _conclusions(self, goal: int, most: int) -> list[Link]:
        """The links to a node of at most a height; of those of one rule and the same premises (two
        of its heads may be the same fact, or only values of a BIND differ) the first."""
        found: dict[tuple[int, tuple[int, ...]], Link] = {}
        for i in self.of[goal]:
            link = self.links[i]
            if self._height_of(link) <= most:
                known = found.setdefault(self._as_written(link), link)
                if link.rule < known.rule:
                    found[self._as_written(link)] = link
        return list(found.values())

    def _as_written(self, link: Link) -> tuple[int, tuple[int, ...]]:
        return id(self.closed.written.origins[link.rule]), link.premises

    def _below(self, level: Iterable[int], seen: set[int]) -> list[int]:
        """What instances of a level need and is new."""
        found = []
        for node in level:
            for i in self.of[node]:
                for premise in self.links[i].open:
                    if premise not in seen:
                        seen.add(premise)
                        found.append(premise)
        return found

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
                self._one_each = len(nodes) > _MANY
                self.complete &= not self._one_each
                below = Setting(closed.stated.stored, plus=[given, heights.derived])
                self._expand(nodes, "least", below)
                for node in self._below(nodes, seen):
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
            if self.expanded[node] != "all":
                first.append(node)
            else:
                known.extend(self._below([node], seen))
        while first or second:
            if first:
                nodes = [first.popleft() for _ in range(min(_STEP, len(first)))]
                self._expand(nodes, "linear")
                second.extend(nodes)
            else:
                nodes = [second.popleft() for _ in range(min(_STEP // 16, len(second)))]
                self._expand([node for node in nodes if self.height[node] == NEVER], "all")
            if self.height[goal] < NEVER:
                return True
            first.extend(self._below(nodes, seen))
        return False

    # -- expanding -------------------------------------------------------------------------------

    def _expand(self, nodes: list[int], mode: Mode, sees: Setting | None = None) -> None:
        """Find the instances that conclude these nodes.

        sees  what atoms are matched with, if that does not follow from the mode
        """
        done = ("all", "linear", "stated") if mode == "stated" else ("all",)
        groups: dict[tuple[RelationKey, int], list[int]] = {}
        for node in nodes:
            if self.expanded[node] in done or (node == self.asked and mode == "stated"):
                continue
            groups.setdefault(self._kind_of(node), []).append(node)
        try:
            for (relation, class_id), members in groups.items():
                of = self.closed.slice_at(relation, class_id)
                for at in range(0, len(members), _AT_ONCE):
                    part = members[at : at + _AT_ONCE]
                    self._expand_slice(of, relation, part, mode, sees)
                    for node in part:
                        self.expanded[node] = mode
        finally:
            self._settle()

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
        if mode == "linear":
            found = list(linear(closed, of, relation, goals))
        else:
            if sees is None:
                sees = closed.stated if mode == "stated" else closed.all
            found = list(concluding(closed, of, relation, goals, sees))
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
            self._add_rows(heads, rest)

    def _add_direct(self, heads: I64, instances: Instances) -> None:
        """Keep the first instance of each goal; some more of that which is asked about."""
        if len(instances) == 0:
            return
        first = instances.first_of_goals()
        if self.keep:
            mine = np.flatnonzero(heads[instances.goal] == self.asked)[: self.keep]
            first = np.union1d(first, mine)
        self._add_rows(heads, instances.take(first))

    def _add_rows(self, heads: I64, instances: Instances) -> None:
        if len(instances) == 0:
            return
        self._check(_KEPT * len(instances))
        columns = [self._premise_nodes(premise).tolist() for premise in instances.premises]
        rows = zip(*columns, strict=True) if columns else [()] * len(instances)
        goals = heads[instances.goal].tolist()
        for head, rule, premises in zip(goals, instances.rule.tolist(), rows, strict=True):
            if head in premises:
                continue
            known = (head, rule, premises)
            if known in self._known:
                continue
            self._known.add(known)
            self._fresh.append(len(self.links))
            open_ = tuple([node for node in premises if self.height[node] > 0])
            if len(open_) > 1 and len(set(open_)) < len(open_):
                open_ = tuple(dict.fromkeys(open_))
            for node in open_:
                self.uses[node].append(len(self.links))
            self.of[head].append(len(self.links))
            self.links.append(Link(rule, head, premises, open_))

    # -- heights ---------------------------------------------------------------------------------

    def _height_of(self, link: Link) -> int:
        """The height of the proof that ends with an instance."""
        return min(NEVER, 1 + max([self.height[node] for node in link.open], default=0))

    def _settle(self) -> None:
        """Bring heights down where new instances allow it, and then where that allows it."""
        queue: list[tuple[int, int]] = []
        for i in self._fresh:
            height = self._height_of(self.links[i])
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
                above = self._height_of(self.links[user])
                if above < self.height[self.links[user].head]:
                    heappush(queue, (above, user))

    # -- choosing --------------------------------------------------------------------------------

    def smallest(self, goals: Iterable[int]) -> tuple[dict[int, Link], dict[int, int]]:
        """For each proved node that the proofs of some nodes need, the last step of its smallest
        proof, and how many steps that has.

        It is of least height, then of fewest steps (one that is needed twice counts twice), then
        the first by the order of rules and of ids.
        """
        size: dict[int, int] = {}
        chosen: dict[int, Link] = {}
        for node in sorted(self._within_least(goals), key=self.height.__getitem__):
            links = [self.links[i] for i in self.of[node]]
            least = [one for one in links if self._height_of(one) == self.height[node]]
            ranks = [self._rank(one, size) for one in least]
            best = min(range(len(ranks)), key=ranks.__getitem__)
            chosen[node], size[node] = least[best], ranks[best][0]
        return chosen, size

    def _rank(self, link: Link, size: dict[int, int]) -> tuple[int, int, list[Place]]:
        steps = 1 + sum(size[premise] for premise in link.open)
        return steps, link.rule, [self.places[premise] for premise in link.premises]

    def _within_least(self, goals: Iterable[int]) -> set[int]:
        """The nodes, not stated, that some proof of least height of a goal has."""
        stack = [node for node in goals if 0 < self.height[node] < NEVER]
        found = set(stack)
        while stack:
            node = stack.pop()
            for i in self.of[node]:
                if self._height_of(self.links[i]) == self.height[node]:
                    for premise in self.links[i].open:
                        if premise not in found:
                            found.add(premise)
                            stack.append(premise)
        return found
