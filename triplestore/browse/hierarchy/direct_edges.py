"""The direct edges of a relation such as rdfs:subClassOf: start at `direct_edges`.

Under a regime the relation holds for all pairs of its closure. Direct are its asserted pairs, and
the inferred ones that do not follow from asserted ones; of these a pair (a, c) is left out if a has
another parent below c. Without inference all asserted pairs are direct. Everything is sets of ids:
of the closure only the numbers of pairs are needed for a node with one asserted parent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from triplestore.browse.thresholds import BROWSE
from triplestore.relations import EXPLICIT
from triplestore.relations.layers.sorted_order import ranges
from triplestore.relations.packed_keys import (
    I64,
    NO_KEYS,
    U32,
    U64,
    Bools,
    distinct,
    high,
    in_sorted,
    low,
    pack,
    start_of_runs,
)

if TYPE_CHECKING:
    from triplestore.relations.views.plain import PlainRelation
    from triplestore.store.state_view import StateView

_SAMPLE = 500
"""Number of asserted pairs by which is seen whether a relation is closed."""


def direct_edges(view: StateView, name: int, is_node: Bools) -> U64:
    """The direct edges (child, parent) of a relation between nodes, sorted and distinct.

    is_node  by id, which terms are nodes; others, such as anonymous classes, are passed over
    """
    relation = view.tables.relation(name)
    told = _told(view, name, relation)
    if name in view.tables.closed:
        found = _between(np.union1d(told, view.tables.stored_relation(name).keys()), is_node)
        return without_implied(found, relation)
    if not relation.inferred or not _is_closed(relation, told):
        every = np.union1d(told, relation.keys()) if relation.inferred else told
        return _bridged(every, is_node)
    whole = relation.keys()
    whole = whole[is_node[low(whole)] & is_node[high(whole)]]
    told = _between(told, is_node)
    return without_implied(np.union1d(told, _beyond(whole, told)), relation)


def _told(view: StateView, name: int, relation: PlainRelation) -> U64:
    """The asserted pairs in all graphs."""
    found = relation.keys(where=EXPLICIT)
    if view.tables.quad_total():
        more = [pack(s, o) for s, o, _ in view.tables.quads(name).scan()]
        if more:
            found = np.union1d(found, np.concatenate(more))
    return found


def _between(edges: U64, is_node: Bools) -> U64:
    source, target = high(edges), low(edges)
    return edges[is_node[source] & is_node[target] & (source != target)]


def _is_closed(relation: PlainRelation, told: U64) -> bool:
    """Whether a relation is transitive, as far as a sample of its asserted pairs shows."""
    sample = told[:: max(1, len(told) // _SAMPLE)]
    index, (beyond,) = relation.probe((0,), (low(sample),))
    return bool(relation.contains((high(sample)[index], beyond)).all())


# -- pairs that do not follow from asserted ones --------------------------------------------------


def _beyond(whole: U64, told: U64) -> U64:
    """The pairs of a closed relation that asserted pairs do not lead to.

    whole, told  all pairs, and the asserted ones; sorted
    """
    whole = whole[high(whole) != low(whole)]
    children = high(whole)
    starts = start_of_runs(children)
    firsts, sizes = children[starts[:-1]], np.diff(starts)
    of_node = _Sizes(firsts, starts[:-1], sizes)
    parents, counts = np.unique(high(told), return_counts=True)
    single = parents[counts == 1]
    led = told[in_sorted(high(told), single)]
    expected = of_node.sizes_of(low(led)) + 1
    fits = of_node.sizes_of(high(led)) == expected
    open_ = np.setdiff1d(firsts, high(led)[fits], assume_unique=True)
    if len(open_) == 0:
        return NO_KEYS
    return _not_led_to(whole, told, open_, of_node)


class _Sizes:
    """Where the pairs of each child are among all pairs."""

    def __init__(self, firsts: U32, starts: I64, sizes: I64) -> None:
        self.firsts, self.starts, self.sizes = firsts, starts, sizes

    def _places(self, nodes: U32) -> tuple[I64, Bools]:
        places = np.minimum(self.firsts.searchsorted(nodes), max(len(self.firsts) - 1, 0))
        return places, self.firsts[places] == nodes

    def sizes_of(self, nodes: U32) -> I64:
        """The number of pairs of each child."""
        places, known = self._places(nodes)
        return np.where(known, self.sizes[places], 0)

    def starts_of(self, nodes: U32) -> I64:
        """Where the pairs of each child begin."""
        return self.starts[self._places(nodes)[0]]


def _not_led_to(whole: U64, told: U64, open_: U32, of_node: _Sizes) -> U64:
    """The pairs of some children that neither are asserted nor follow from asserted pairs."""
    led = told[in_sorted(high(told), open_)]
    sizes = of_node.sizes_of(low(led))
    rows = ranges(of_node.starts_of(low(led)), sizes)
    follow = pack(np.repeat(high(led), sizes), low(whole[rows]))
    follow = np.sort(np.concatenate((follow, led)))
    own_sizes = of_node.sizes_of(open_)
    own = whole[ranges(of_node.starts_of(open_), own_sizes)]
    return own[~in_sorted(own, follow)]


def without_implied(edges: U64, relation: PlainRelation) -> U64:
    """The edges without those to a node that another parent of the child is strictly below.

    relation  transitive
    """
    edges = np.sort(edges)
    starts = start_of_runs(high(edges))
    sizes = np.diff(starts)
    several = sizes > 1
    wide = sizes[several]
    if int((wide * wide).sum()) > BROWSE.reduced_pairs:
        return edges
    first = starts[:-1][several]
    # Each edge of these children with each edge of the same child.
    each = ranges(first, wide)
    widths = np.repeat(wide, wide)
    left = np.repeat(each, widths)
    right = ranges(np.repeat(first, wide), widths)
    different = left != right
    left, right = left[different], right[different]
    upper, under = low(edges[left]), low(edges[right])
    implied = relation.contains((under, upper)) & ~relation.contains((upper, under))
    keep = np.ones(len(edges), np.bool_)
    keep[left[implied]] = False
    return edges[keep]


# -- without inference ----------------------------------------------------------------------------


def _bridged(edges: U64, is_node: Bools) -> U64:
    """The edges between nodes, and those that lead over what is no node, such as an anonymous
    class."""
    found = [_between(edges, is_node)]
    source, target = high(edges), low(edges)
    onward = edges[~is_node[source] & (source != target)]
    open_ = edges[is_node[source] & ~is_node[target]]
    for _ in range(BROWSE.bridged_rounds):
        if len(open_) == 0 or len(onward) == 0:
            break
        lo = high(onward).searchsorted(low(open_), side="left")
        sizes = high(onward).searchsorted(low(open_), side="right") - lo
        ends = low(onward[ranges(lo, sizes)])
        led = distinct(np.sort(pack(np.repeat(high(open_), sizes), ends)))
        found.append(_between(led, is_node))
        open_ = led[~is_node[low(led)]]
    return distinct(np.sort(np.concatenate(found)))
