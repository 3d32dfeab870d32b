"""Which changed facts the instances of rules depend on, negations and aggregates included.

Start reading at `instances_of`. An atom depends on the fact it matches; a negation on the fact that
is absent, if that held in the other state; an aggregate on all changed facts among the members of
its group, in both states. Facts of the other direction are numbered from `OTHER` on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from triplestore.consequences.changed_nodes import ChangedNodes
from triplestore.consequences.transitive_edges import EdgeSight
from triplestore.evaluate.binding_frames import Bindings
from triplestore.proofs.body_matching import Matching, Sees
from triplestore.proofs.closed_facts import Closed, Concluding
from triplestore.proofs.concluding_instances import columns_in, rules_of, summarised_goals
from triplestore.relations.facts.fact_sets import ANY, RelationKey
from triplestore.relations.packed_keys import I64, Keys, key_of, low, pack
from triplestore.rules.families import CompiledAtom, Family

OTHER = np.int64(1) << np.int64(40)
"""Added to the number of a fact that changed in the other direction."""


class DependentInstances(NamedTuple):
    """Instances: number of the goal, simple rule, and columns of changed facts (-1: none)."""

    goal: I64
    rule: I64
    changed: list[I64]


class Directions(NamedTuple):
    """The changed facts: of the state at hand, and of the other one."""

    own: ChangedNodes
    other: ChangedNodes

    def turned(self) -> Directions:
        """The same seen from the other state; numbers stay those of this one."""
        return Directions(self.other, self.own)


def instances_of(
    closed: Closed,
    base: Closed,
    nodes: Directions,
    rules: Concluding,
    relation: RelationKey,
    goals: Keys,
    seen: Mapping[int, EdgeSight],
) -> Iterator[DependentInstances]:
    """The instances of some rules that conclude goals, family by family.

    seen  how transitive families are matched, by their numbers; others with all facts
    """
    if len(rules.copied):
        yield _copies(closed, nodes, rules, goals)
    for family in rules.families:
        if family.summary is not None:
            yield _aggregates(closed, base, nodes, family, relation, goals)
        else:
            yield _plain(closed, nodes, family, relation, goals, seen.get(family.number))


def _copies(
    closed: Closed, nodes: Directions, rules: Concluding, goals: Keys
) -> DependentInstances:
    """The instances of `C[?x] :- D[?x]` for all such D at once."""
    members, count = low(goals), len(goals)
    keys = pack(np.repeat(rules.copied, count), np.tile(members, len(rules.copied)))
    held = closed.status(closed.type_id, keys).nonzero()[0]
    changed = nodes.own.find(closed.type_id, keys[held])
    return DependentInstances(held % count, rules.numbers[held // count], [changed])


def _plain(
    closed: Closed,
    nodes: Directions,
    family: Family,
    relation: RelationKey,
    goals: Keys,
    sight: EdgeSight | None,
) -> DependentInstances:
    sees: Sees = (lambda item: closed.all) if sight is None else sight.sees
    matching = Matching.of_goals(closed, family, relation, goals, sees)
    if sight is not None and matching.n:
        matching.match(sight.second)
    rows, n = matching.finish()
    if n == 0:
        return DependentInstances(_NONE, _NONE, [])
    numbers = rows[family.width]
    assert numbers is not None
    changed = _changed_in(nodes, family, rows, n, own=0, other=OTHER)
    return DependentInstances(numbers.astype(np.int64), rules_of(family, rows, n), changed)


_NONE: I64 = np.zeros(0, dtype=np.int64)


def _changed_in(
    nodes: Directions,
    family: Family,
    rows: Bindings,
    n: int,
    *,
    own: int | np.int64,
    other: int | np.int64,
) -> list[I64]:
    """For each atom and negation of a body, the changed fact that it depends on in each row."""
    found = [_numbers(nodes.own, atom, rows, n, own) for atom in family.body]
    return found + [_numbers(nodes.other, atom, rows, n, other) for atom in family.nots]


def _numbers(
    nodes: ChangedNodes, atom: CompiledAtom, rows: Bindings, n: int, start: int | np.int64
) -> I64:
    columns = columns_in(atom, rows, n)
    if atom.relation != ANY:
        found = nodes.find(atom.relation, key_of(columns))
        return np.where(found >= 0, found + start, -1)
    s, p, o = columns
    found = np.full(n, -1, np.int64)
    for name in np.unique(p).tolist():
        mine = p == name
        flipped = nodes.type_id == name
        first, second = (o, s) if flipped else (s, o)
        found[mine] = nodes.find(name, pack(first[mine], second[mine]))
    return np.where(found >= 0, found + start, -1)


def _aggregates(
    closed: Closed,
    base: Closed,
    nodes: Directions,
    family: Family,
    relation: RelationKey,
    goals: Keys,
) -> DependentInstances:
    """One instance for each goal that an aggregate rule concludes, with all changed members."""
    rows, hit = summarised_goals(closed, family, relation, goals)
    numbers = rows[family.width]
    if numbers is None or len(numbers) == 0:
        return DependentInstances(_NONE, _NONE, [])
    goal = numbers[hit].astype(np.int64)
    members = [
        *_members(closed, nodes, family, rows, hit, own=0, other=OTHER),
        *_members(base, nodes.turned(), family, rows, hit, own=OTHER, other=0),
    ]
    rule = np.full(len(goal), family.rules[0], dtype=np.int64)
    return DependentInstances(goal, rule, _padded(members, len(goal)))


def _members(
    state: Closed,
    nodes: Directions,
    family: Family,
    rows: Bindings,
    hit: np.ndarray,
    *,
    own: int | np.int64,
    other: int | np.int64,
) -> list[tuple[I64, I64]]:
    """The changed facts in the matches of the groups: places of goals, and facts."""
    assert family.summary is not None
    start: Bindings = [None] * (family.width + 1)
    for variable in family.summary.groups:
        column = rows[variable]
        assert column is not None
        start[variable] = column[hit]
    count = int(np.count_nonzero(hit))
    start[family.width] = np.arange(count, dtype=np.uint32)
    found, n = Matching(state, family, start, count, lambda item: state.all).finish()
    if n == 0:
        return []
    places = found[family.width]
    assert places is not None
    changed = _changed_in(nodes, family, found, n, own=own, other=other)
    return [(places[c >= 0].astype(np.int64), c[c >= 0]) for c in changed]


def _padded(members: list[tuple[I64, I64]], count: int) -> list[I64]:
    """Pairs of places and facts as columns, as many as the largest group needs."""
    if not members:
        return []
    pairs = np.column_stack([np.concatenate(part) for part in zip(*members, strict=True)])
    pairs = np.unique(pairs, axis=0)
    place, fact = pairs[:, 0], pairs[:, 1]
    rank = np.arange(len(place)) - place.searchsorted(place)
    columns = np.full((count, int(rank.max(initial=-1)) + 1), -1, np.int64)
    columns[place, rank] = fact
    return list(columns.T)
