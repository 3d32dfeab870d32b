"""The graph whose nodes are pairs (node, state) of a graph and an automaton.

An edge leads from (x, q) to (y, r) if an arc from q to r has a label that an edge from x to y has.
Its nodes are numbered `place of the node * states + state`. The place of a node never changes; as
long as nodes come in increasing order of their ids, as new terms do, places are in the order of
ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from triplestore.closures.chains.automaton import Arc, Name
from triplestore.closures.edge_graph import NONE
from triplestore.closures.symmetric_transitive.edge_set import EdgeSet
from triplestore.errors import BudgetError
from triplestore.relations.facts.sorted_arrays import sorted_distinct
from triplestore.relations.packed_keys import (
    I64,
    NO_IDS,
    NO_KEYS,
    U32,
    U64,
    Bools,
    frozen,
    high,
    low,
    pack,
    swap,
)


class NodePlaces:
    """The place of each node, by its id: 0, 1, ...; immutable.

    >>> import numpy as np
    >>> some = NodePlaces(np.array([5, 9], np.uint32)).extended(np.array([7], np.uint32))
    >>> some.of(np.array([7, 9, 8], np.uint32)).tolist(), some.in_order
    ([2, 1, -1], False)
    """

    def __init__(self, ids: U32) -> None:
        self.ids: U32 = frozen(ids)
        self.in_order = bool((ids[1:] > ids[:-1]).all())

    @cached_property
    def _sorted(self) -> tuple[U32, I64]:
        order = np.argsort(self.ids, kind="stable")
        return self.ids[order], order

    def of(self, ids: U32) -> I64:
        """The place of each id, or -1."""
        nodes, order = (self.ids, None) if self.in_order else self._sorted
        if len(nodes) == 0:
            return np.full(len(ids), -1, dtype=np.int64)
        at = np.minimum(nodes.searchsorted(ids), len(nodes) - 1)
        return np.where(nodes[at] == ids, at if order is None else order[at], -1)

    def extended(self, ids: U32) -> NodePlaces:
        """With places for more, sorted ids; those that have one keep it."""
        fresh = ids[self.of(ids) < 0]
        return NodePlaces(np.concatenate((self.ids, fresh))) if len(fresh) else self


def ids_of(edges: Iterable[U64]) -> U32:
    """The ids in edges, sorted and distinct."""
    parts = [NO_IDS, *(part for keys in edges for part in (high(keys), low(keys)))]
    return sorted_distinct(np.concatenate(parts))


def numbered(places: I64, states: int, state: int) -> U32:
    """The numbers of the nodes at these places in one state."""
    return (places * states + state).astype(np.uint32)


def edges_by(arc: Arc, keys: U64, places: NodePlaces, states: int) -> U64:
    """The edges that an arc makes of some edges of its label, in any order."""
    if len(places.ids) * states >= NONE:
        raise BudgetError(
            f"chains over {len(places.ids):,} nodes with {states} states are too many to number"
        )
    here, there = places.of(high(keys)), places.of(low(keys))
    if arc.turned:
        here, there = there, here
    return pack(numbered(here, states, arc.source), numbered(there, states, arc.target))


def product(arcs: Sequence[Arc], edges: Mapping[Name, U64], places: NodePlaces, states: int) -> U64:
    """All edges that the arcs make, sorted and distinct."""
    parts = [edges_by(arc, edges.get(arc.label, NO_KEYS), places, states) for arc in arcs]
    return sorted_distinct(np.concatenate([NO_KEYS, *parts]))


def still_made(
    keys: U64, arcs: Sequence[Arc], edges: Mapping[Name, EdgeSet], places: NodePlaces, states: int
) -> Bools:
    """Which edges between (node, state) pairs some arc makes of the edges of its label."""
    here, there = high(keys), low(keys)
    found = np.zeros(len(keys), dtype=np.bool_)
    for arc in arcs:
        at = ((here % states == arc.source) & (there % states == arc.target)).nonzero()[0]
        if len(at) == 0 or arc.label not in edges:
            continue
        back = pack(places.ids[here[at] // states], places.ids[there[at] // states])
        found[at] |= edges[arc.label].contains(swap(back) if arc.turned else back)
    return found
