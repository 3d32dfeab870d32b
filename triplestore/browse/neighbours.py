"""The facts around one resource as columns of ids, in all graphs: start at `Neighbours`.

Always true: counts are of distinct neighbours; a fact is inferred if no graph asserts it; nothing
is decoded. Facts that are not triples of RDF are left out.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from triplestore.data_classes import data_class
from triplestore.reasoning.visible import is_triple
from triplestore.relations import EXPLICIT, INFERRED, OBJECT, SUBJECT
from triplestore.relations.packed_keys import NO_IDS, U32, Bools

if TYPE_CHECKING:
    from triplestore.store.state_view import StateView

OUT, IN = "out", "in"
"""Directions: facts with the resource as subject, and as object."""

SIDES = {OUT: SUBJECT, IN: OBJECT}


@data_class
class NeighbourList:
    """The neighbours by one property in one direction.

    ids       asserted ones first, each part increasing
    inferred  which of them no graph asserts
    """

    ids: U32
    inferred: Bools

    @property
    def asserted_count(self) -> int:
        """How many are asserted."""
        return len(self.ids) - int(np.count_nonzero(self.inferred))


@data_class
class Neighbours:
    """What is around one resource.

    >>> from triplestore import NamedNode, Store
    >>> from triplestore.store.readable import view_of
    >>> store = Store()
    >>> _ = store.load("@prefix : <http://e/> . :a :p :b, :c .", "ttl")
    >>> (node,) = store.lookup_ids([NamedNode("http://e/a")]).tolist()
    >>> around = Neighbours(view_of(store), node)
    >>> (name,) = around.properties("out").tolist()
    >>> len(around.by(name, "out").ids)
    2
    """

    view: StateView
    node: int
    _found: dict[tuple[int, str], NeighbourList] = field(default_factory=dict)

    def properties(self, direction: str) -> U32:
        """The properties of facts with the resource on this side; increasing."""
        if not self.node:
            return NO_IDS
        names = self.view.tables.predicates_of_one(self.node, SIDES[direction])
        return names[self.view.dictionary.kinds(names) == 1] if self.view.hidden else names

    def by(self, name: int, direction: str) -> NeighbourList:
        """The neighbours by a property."""
        found = self._found.get((name, direction))
        if found is None:
            found = self._found[name, direction] = self._read(name, SIDES[direction])
        return found

    def graphs(self, name: int, direction: str, others: U32) -> dict[int, list[int]]:
        """Neighbour -> the named graphs that assert the fact with it, for some neighbours."""
        if not self.view.tables.quad_total():
            return {}
        node = np.full(len(others), self.node, np.uint32)
        ends = (node, others) if direction == OUT else (others, node)
        index, (graphs,) = self.view.tables.quads(name).probe((0, 1), ends)
        found: dict[int, list[int]] = {}
        for place, graph in zip(index.tolist(), graphs.tolist(), strict=True):
            found.setdefault(int(others[place]), []).append(graph)
        return found

    def _read(self, name: int, side: int) -> NeighbourList:
        relation = self.view.tables.relation(name)
        ends = relation.by_first if side == SUBJECT else relation.by_second
        told, inferred = ends(self.node, EXPLICIT), ends(self.node, INFERRED)
        in_graphs = self._in_graphs(name, side)
        if len(in_graphs):
            told = np.union1d(told, in_graphs)
            inferred = np.setdiff1d(inferred, in_graphs, assume_unique=True)
        if self.view.hidden:
            told, inferred = (self._shown(name, side, ids) for ids in (told, inferred))
        marks = np.repeat([False, True], [len(told), len(inferred)])
        return NeighbourList(np.concatenate((told, inferred)), marks)

    def _in_graphs(self, name: int, side: int) -> U32:
        if not self.view.tables.quad_total():
            return NO_IDS
        blocks = self.view.tables.quads(name).scan(order=side, first=self.node)
        parts = [block[1 - side] for block in blocks]
        return np.unique(np.concatenate(parts)) if parts else NO_IDS

    def _shown(self, name: int, side: int, others: U32) -> U32:
        node = np.full(len(others), self.node, np.uint32)
        subjects = node if side == SUBJECT else others
        names = np.full(len(others), name, np.uint32)
        return others[is_triple(self.view.dictionary, subjects, names)]
