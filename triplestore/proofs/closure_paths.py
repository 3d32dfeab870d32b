"""Proofs of pairs of a large closure: from a shortest path of its edges, halved again and again.

Start reading at `Walks.links`. A closure of n nodes has some n instances for each of its pairs, so
a search by levels finds n * n facts two levels down. But the scheme of the closure knows a shortest
path, and every fact on the way to the proof is the pair of two nodes of it: a path of k edges takes
k - 1 instances, and as many levels as k can be halved. Copies between the relations of a group
(turned around or not) are put in between where they are needed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from triplestore.closures.attached import CLOSED, Attached
from triplestore.datalog.program import Atom, Constant, TripleAtom, TupleAtom, Variable
from triplestore.datalog.slices import Slice
from triplestore.proofs.closed_facts import Closed, Place, ground, unify
from triplestore.proofs.thresholds import PROOFS
from triplestore.relations import EXPLICIT
from triplestore.relations.facts.fact_sets import RelationKey
from triplestore.rules.modules.chain_shapes import ChainShape, shape_of


class Instance(NamedTuple):
    """A rule instance: the simple rule, the fact it concludes, and those that its atoms match."""

    rule: int
    head: Place
    premises: tuple[Place, ...]


class Walks:
    """The large closures of closed tables."""

    def __init__(self, closed: Closed) -> None:
        self._closures: dict[RelationKey, _Closure] = {}
        for attached in closed.tables.schemes.values():
            closed_whole = attached.structure.kind in CLOSED
            if closed_whole and attached.closure.count() > PROOFS.closure_pairs:
                found = _Closure(closed, attached)
                self._closures.update(dict.fromkeys(attached.ids, found))

    def rules(self, relation: RelationKey) -> frozenset[int]:
        """The rules of a group, which are not to be looked at one by one."""
        found = self._closures.get(relation)
        return frozenset() if found is None else found.rules

    def links(self, place: Place) -> tuple[list[Instance], bool] | None:
        """Instances that prove a pair from edges of its closure, and whether that is the smallest
        proof; None if it is an edge, or not in a large closure."""
        found = self._closures.get(place[0])
        return None if found is None else found.links(place)


class _Closure:
    """One closure, and the chains of its group that are in force."""

    def __init__(self, closed: Closed, attached: Attached) -> None:
        self._closed = closed
        self._attached = attached
        structure = attached.structure
        self._turned = dict(zip(attached.ids, structure.turned, strict=True))
        self._id_of = dict(zip(structure.relations, attached.ids, strict=True))

    @cached_property
    def _shapes(self) -> list[ChainShape]:
        """The chains of the group whose guards hold."""
        written = self._closed.written
        found = []
        for name in self._attached.structure.relations:
            for number in written.concluding(Slice("property", name)):
                shape = shape_of(written.rules[number], number)
                if shape is None or any(s.relation not in self._id_of for s in shape.steps):
                    continue
                if all(self._closed.holds(guard) for guard in shape.guards):
                    found.append(shape)
        return found

    @property
    def rules(self) -> frozenset[int]:
        """The numbers of the rules."""
        return frozenset(shape.rule for shape in self._shapes)

    def links(self, place: Place) -> tuple[list[Instance], bool] | None:
        """See `Walks.links`."""
        relation, key = place
        assert isinstance(relation, int)
        if self._is_external(relation, key):
            return None
        start, end = divmod(key, 1 << 32)
        if self._turned[relation]:
            start, end = end, start
        walk = self._attached.closure.path(start, end)
        if self._turned[relation]:
            walk = walk[::-1]
        made: dict[Place, Instance] = {}
        self._prove(relation, tuple(walk), made)
        inner = {one.head for one in made.values()}
        edges = {p for one in made.values() for p in one.premises if p not in inner}
        stated = all(self._is_stated(edge) for edge in edges)
        return list(made.values()), stated and len(self._id_of) == 1 and not self._symmetric

    @property
    def _symmetric(self) -> bool:
        return any(len(shape.steps) == 1 for shape in self._shapes)

    def _prove(self, relation: int, walk: tuple[int, ...], made: dict[Place, Instance]) -> None:
        """Instances for the fact from the first to the last node of a walk."""
        place = _place(relation, walk[0], walk[-1])
        if place in made:
            return
        if len(walk) == 2:
            self._copy(relation, walk, made, self._sources(walk))
            return
        joins: dict[tuple[int, bool], ChainShape] = {}
        for shape in self._shapes:
            if len(shape.steps) == 2:
                head = self._id_of[shape.head]
                way = self._turned[head] != self._turned[relation]
                joins.setdefault((head, way), shape)
        last = self._copy(relation, walk, made, set(joins))
        head, way = last
        here = walk[::-1] if way else walk
        self._join(joins[last], here, made)

    def _sources(self, walk: tuple[int, ...]) -> set[tuple[int, bool]]:
        """The external facts between two nodes: (relation, whether it is from second to first)."""
        found = set()
        for relation in self._turned:
            for way in (False, True):
                one, other = walk[::-1] if way else walk
                if self._is_external(relation, one << 32 | other):
                    found.add((relation, way))
        return found

    def _copy(
        self,
        relation: int,
        walk: tuple[int, ...],
        made: dict[Place, Instance],
        sources: set[tuple[int, bool]],
    ) -> tuple[int, bool]:
        """Copies that lead to a fact from the nearest of some sources; which that is."""
        goal = (relation, False)
        before: dict[tuple[int, bool], tuple[ChainShape, tuple[int, bool]]] = {}
        seen, queue = {goal}, deque([goal])
        while queue:
            at = queue.popleft()
            if at in sources:
                break
            for shape in self._shapes:
                if len(shape.steps) == 1 and self._id_of[shape.head] == at[0]:
                    (step,) = shape.steps
                    source = (self._id_of[step.relation], at[1] != step.turned)
                    if source not in seen:
                        seen.add(source)
                        queue.append(source)
                        before[source] = (shape, at)
        else:
            raise AssertionError("a pair of a closure does not follow from its edges")
        found = at
        while at != goal:
            shape, at = before[at]
            one, other = (walk[-1], walk[0]) if at[1] else (walk[0], walk[-1])
            self._add(shape, _place(at[0], one, other), None, made)
        return found

    def _join(self, shape: ChainShape, walk: tuple[int, ...], made: dict[Place, Instance]) -> None:
        """An instance that puts two halves of a walk together, and those behind it."""
        middle = len(walk) // 2
        head = _place(self._id_of[shape.head], walk[0], walk[-1])
        if head in made:
            return
        self._add(shape, head, walk[middle], made)
        for step, half in zip(shape.steps, (walk[: middle + 1], walk[middle:]), strict=True):
            self._prove(self._id_of[step.relation], half[::-1] if step.turned else half, made)

    def _add(
        self, shape: ChainShape, head: Place, middle: int | None, made: dict[Place, Instance]
    ) -> None:
        closed = self._closed
        rule = closed.written.rules[shape.rule]
        values: dict[Variable, Constant] = {}
        unify(rule.heads[0], closed.fact(head), values)
        if middle is not None:
            for variable in _variables(rule.body):
                values.setdefault(variable, Constant(closed.terms.key(middle)))
        premises = tuple(closed.place(ground(atom, values)) for atom in _atoms(rule.body))
        made.setdefault(head, Instance(shape.rule, head, premises))

    def _is_external(self, relation: int, key: int) -> bool:
        status, counts = self._closed.stored.pairs(relation).look_up(
            np.array([key], dtype=np.uint64)
        )
        return bool(status[0] == EXPLICIT or counts[0] > 0)

    def _is_stated(self, place: Place) -> bool:
        relation, key = place
        return self._closed.is_stated(self._closed.fact((relation, key)))


def _place(relation: int, subject: int, obj: int) -> Place:
    return relation, subject << 32 | obj


def _atoms(body: tuple[object, ...]) -> Iterator[Atom]:
    for item in body:
        assert isinstance(item, TripleAtom | TupleAtom)
        yield item


def _variables(body: tuple[object, ...]) -> Iterator[Variable]:
    for atom in _atoms(body):
        yield from (term for term in atom.terms if isinstance(term, Variable))
