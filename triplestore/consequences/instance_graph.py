"""All rule instances that conclude changed facts, as arrays, and derivability in that graph.

Start reading at `InstanceGraph.of`. What held in the other state is given, so only premises that
changed count. Always true: every derivation of a changed fact is made of these instances and
leaves. A new rule of users is a leaf of its own. Instances that nothing changed in are `loose`.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from triplestore.consequences.changed_nodes import SCOPE_KEY, ChangedNodes
from triplestore.consequences.changed_premises import (
    OTHER,
    DependentInstances,
    Directions,
    instances_of,
)
from triplestore.consequences.closed_state import ClosedState
from triplestore.consequences.thresholds import CONSEQUENCES
from triplestore.consequences.transitive_edges import edges_seen
from triplestore.data_classes import data_class
from triplestore.datalog.program import Constraint, Rule, TripleAtom, TupleAtom
from triplestore.errors import BudgetError
from triplestore.relations.facts.fact_sets import RelationKey
from triplestore.relations.packed_keys import I64, Bools, Keys
from triplestore.thread_limits import look

NEVER = np.int64(1) << np.int64(40)
"""The height of what is not derivable."""


@data_class
class Derived:
    """What is derivable when some leaves are taken out.

    height  of each node; 0 for leaves, `NEVER` for what is not derivable
    chosen  the instance that derives it first; -1 for leaves and what is not derivable
    """

    height: I64
    chosen: I64


class InstanceGraph:
    """Instances as columns; the nodes are changed facts, then new rules, then `others`.

    others facts that changed in the other direction, on which negations and aggregates depend
    head   the fact that an instance concludes
    rule   its simple rule
    start  where its premises begin in `premise`; one more at the end
    leaf   which nodes need no instance
    loose  whether nothing that an instance depends on has changed
    """

    def __init__(self, nodes: ChangedNodes, finder: _Finder) -> None:
        self.nodes = nodes
        self.new_rules = finder.new_rules
        self.head, self.rule, counts, premise = finder.columns()
        own = len(nodes) + len(self.new_rules)
        opposite = premise >= OTHER
        self.others, places = np.unique(premise[opposite] - OTHER, return_inverse=True)
        self.premise = premise.copy()
        self.premise[opposite] = places + own
        self.size = own + len(self.others)
        self.start: I64 = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        self.counts = counts
        self.leaf: Bools = np.concatenate((nodes.leaf, np.ones(self.size - len(nodes), np.bool_)))
        self.loose: Bools = counts == 0
        self.edge_instance: I64 = np.repeat(np.arange(len(counts)), counts)
        order = np.argsort(self.premise, kind="stable")
        self._users = self.edge_instance[order]
        self._use_start: I64 = self.premise[order].searchsorted(np.arange(self.size + 1))
        by_head = np.argsort(self.head, kind="stable")
        self.of_head = by_head
        self.head_start: I64 = self.head[by_head].searchsorted(np.arange(self.size + 1))

    @classmethod
    def of(
        cls, full: ClosedState, base: ClosedState, nodes: ChangedNodes, other: ChangedNodes
    ) -> InstanceGraph:
        """The instances in a state that conclude what does not hold in the other one.

        other  what changed in the other direction
        """
        return cls(nodes, _Finder(full, base, Directions(nodes, other)))

    def derived(self, out: I64 | None = None, loose: bool = True) -> Derived:
        """What follows from the leaves without some of them; in rounds, so by least height.

        loose  whether instances without changed premises are used
        """
        height = np.full(self.size, NEVER, np.int64)
        chosen = np.full(self.size, -1, np.int64)
        allowed = self.leaf.copy()
        if out is not None:
            allowed[out] = False
        frontier = np.flatnonzero(allowed)
        height[frontier] = 0
        missing = self.counts.copy()
        ready = np.flatnonzero(self.loose) if loose else np.zeros(0, np.int64)
        level = 0
        while len(frontier) or len(ready):
            look("looking for causes")
            level += 1
            used = self._uses_of(frontier)
            if len(used):
                instances, times = np.unique(used, return_counts=True)
                missing[instances] -= times
                ready = np.concatenate((ready, instances[missing[instances] == 0]))
            ready = ready[height[self.head[ready]] == NEVER]
            frontier = self._settle(ready, level, height, chosen)
            ready = np.zeros(0, np.int64)
        return Derived(height, chosen)

    def _uses_of(self, nodes: I64) -> I64:
        lo, hi = self._use_start[nodes], self._use_start[nodes + 1]
        return self._users[ranges_of(lo, hi)]

    def _settle(self, ready: I64, level: int, height: I64, chosen: I64) -> I64:
        """Give the heads of instances their height, and the best of their instances."""
        if not len(ready):
            return ready
        heads = self.head[ready]
        order = np.lexsort((ready, self.counts[ready], heads))
        first = order[np.concatenate(([True], heads[order][1:] != heads[order][:-1]))]
        height[heads[first]] = level
        chosen[heads[first]] = ready[first]
        return heads[first]

    def premises(self, instance: int) -> I64:
        """The changed premises of one instance."""
        return self.premise[self.start[instance] : self.start[instance + 1]]


def ranges_of(lo: I64, hi: I64) -> I64:
    """The numbers of several ranges, one after the other.

    >>> ranges_of(np.array([2, 7]), np.array([4, 8])).tolist()
    [2, 3, 7]
    """
    sizes = hi - lo
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    found: I64 = np.arange(total) - np.repeat(ends - sizes, sizes) + np.repeat(lo, sizes)
    return found


class _Finder:
    """Finds the instances, slice by slice.

    new_rules  rules of users that the other state does not have
    """

    def __init__(self, full: ClosedState, base: ClosedState, nodes: Directions) -> None:
        self._nodes, self._full, self._base = nodes, full, base
        self._closed = full.closed
        self._rows = 0
        self._kept = 0
        self._of_rule: dict[int, list[list[int]]] = {}
        self.new_rules: list[Rule | Constraint] = []
        self._numbers: dict[int, int] = {}
        self._parts: list[tuple[I64, I64, I64, I64]] = []
        before = self._closed.run.check
        self._closed.run.check = self._check
        try:
            for relation, class_id, keys, first in nodes.own.slices():
                self._find(relation, class_id, keys, first)
        finally:
            self._closed.run.check = before

    def _check(self, rows: int) -> None:
        look("looking for causes")
        self._rows += rows
        if self._rows > CONSEQUENCES.instance_rows:
            raise BudgetError(
                f"the changed facts have more than {CONSEQUENCES.instance_rows:,} matches of rules"
            )

    def _find(self, relation: RelationKey, class_id: int, keys: Keys, first: int) -> None:
        closed, base = self._closed, self._base.closed
        rules = closed.rules(closed.slice_at(relation, class_id))
        step = CONSEQUENCES.goals_together
        large = len(keys) >= CONSEQUENCES.pairs_by_edges
        seen = edges_seen(closed, rules, relation) if large else {}
        for at in range(0, len(keys), step):
            goals = np.ascontiguousarray(keys[at : at + step])
            for found in instances_of(closed, base, self._nodes, rules, relation, goals, seen):
                if len(found.goal):
                    self._add(found, first + at)

    def _add(self, found: DependentInstances, first: int) -> None:
        self._kept += len(found.goal)
        if self._kept > CONSEQUENCES.kept_instances:
            raise BudgetError(
                f"the changed facts have more than {CONSEQUENCES.kept_instances:,} rule instances"
            )
        columns = list(found.changed)
        head = found.goal + first
        # An instance that needs its own head derives nothing.
        fine = np.ones(len(head), np.bool_)
        for column in columns:
            fine &= column != head
        rules = found.rule
        for rule in np.unique(rules).tolist():
            if self._states_scope(rule):
                fine &= rules != rule  # its conclusions are leaves
                continue
            sources = self._sources_of(rule)
            if not sources:
                continue
            mine = rules == rule
            for own in sources[1:]:  # the same rule by another axiom: an instance of its own
                rows = np.flatnonzero(mine & fine)
                more = [column[rows] for column in columns]
                more += [np.full(len(rows), node) for node in own]
                self._parts.append(_compact(head[rows], rules[rows], more))
            columns = columns + [np.where(mine, node, -1) for node in sources[0]]
        self._parts.append(_compact(head[fine], rules[fine], [c[fine] for c in columns]))

    def _states_scope(self, number: int) -> bool:
        """Whether a rule only says what the graphs of a scope assert."""
        body = self._full.written.rules[number].body
        first = body[0] if len(body) == 1 else None
        return isinstance(first, TupleAtom) and first.name.key == SCOPE_KEY

    def _sources_of(self, number: int) -> list[list[int]]:
        """What of a rule is new: a rule of users itself, or the axioms that changed; one item for
        each axiom that the rule was made from. Nothing of a rule that both states have."""
        known = self._of_rule.get(number)
        if known is None:
            known = self._of_rule[number] = self._new_in(number)
        return known

    def _new_in(self, number: int) -> list[list[int]]:
        origin = self._full.written.origins[number]
        if origin in self._base.program:
            return []
        given = origin in self._full.users and origin not in self._base.users
        # An axiom of an ontology file is kept as a rule without a body.
        if given or _is_axiom(origin):
            if id(origin) not in self._numbers:
                self._numbers[id(origin)] = len(self._nodes.own) + len(self.new_rules)
                self.new_rules.append(origin)
            return [[self._numbers[id(origin)]]]
        found = (self._changed(axioms) for axioms in self._full.sources_of(origin))
        return [one for one in found if one]

    def _changed(self, axioms: Iterable[TripleAtom]) -> list[int]:
        found = set()
        for axiom in axioms:
            relation, key = self._closed.place(axiom)
            found.add(int(self._nodes.own.find(relation, _array(relation, key))[0]))
        return sorted(node for node in found if node >= 0)

    def columns(self) -> tuple[I64, I64, I64, I64]:
        """Head, rule and number of premises of all instances, and the premises."""
        if not self._parts:
            none = np.zeros(0, np.int64)
            return none, none, none, none
        head, rule, counts, premise = (
            np.concatenate([part[place] for part in self._parts]) for place in range(4)
        )
        return head, rule, counts, premise


def _is_axiom(origin: Rule | Constraint) -> bool:
    """Whether a rule asserts a triple; rows about literals, which the store makes, do not count."""
    if origin.axioms or origin.body or not isinstance(origin, Rule):
        return False
    return isinstance(origin.heads[0], TripleAtom)


def _array(relation: RelationKey, key: int | bytes) -> Keys:
    if isinstance(relation, tuple):
        return np.array([key], dtype=f"S{4 * relation[1]}")
    return np.array([key], np.uint64)


def _compact(head: I64, rule: I64, columns: list[I64]) -> tuple[I64, I64, I64, I64]:
    """Instances with their distinct changed premises one after the other."""
    if not columns:
        none = np.zeros(0, np.int64)
        return head, rule, np.zeros(len(head), np.int64), none
    rows = np.sort(np.column_stack(columns), axis=1)
    keep = rows >= 0
    keep[:, 1:] &= rows[:, 1:] != rows[:, :-1]
    return head, rule, keep.sum(axis=1).astype(np.int64), rows[keep]
