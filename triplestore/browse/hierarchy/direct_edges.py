"""The direct edges of a relation such as rdfs:subClassOf: start at `generating_edges`.

Under a regime the relation holds for all pairs of its closure. Direct are its asserted pairs, and
the inferred ones that do not follow from asserted ones; of these a pair (a, c) is left out if a has
another parent below c. Without inference all asserted pairs are direct. Everything is sets of ids.
Where no axiom but asserted pairs can conclude a pair, the closure is not read at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from triplestore.browse.index.term_usage import ids_of
from triplestore.browse.thresholds import BROWSE
from triplestore.datalog.program import Constant, TripleAtom
from triplestore.reasoning.program.in_force import InForce
from triplestore.relations import EXPLICIT
from triplestore.relations.layers.sorted_order import ranges
from triplestore.relations.packed_keys import (
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
    swap,
)

if TYPE_CHECKING:
    from triplestore.relations.views.plain import PlainRelation
    from triplestore.store.state_view import StateView

AreNodes = Callable[[U32], Bools]
"""Which ids are nodes; others, such as anonymous classes, are passed over."""

_SAMPLE = 500
"""Number of asserted pairs by which is seen whether a relation is closed."""


def generating_edges(
    view: StateView, name: int, are_nodes: AreNodes, beside: Sequence[str] = ()
) -> tuple[U64, bool]:
    """Edges (child, parent) between nodes, sorted, from which all pairs of a relation follow.

    beside  the IRIs of properties whose triples may conclude pairs of the relation

    The second value says whether the relation is closed; then `without_implied` leaves the direct
    edges, once equal nodes are one.
    """
    relation = view.tables.relation(name)
    told = told_pairs(view, name)
    if name in view.tables.closed:
        stored = view.tables.stored_relation(name).keys()
        return _between(merged(told, stored), are_nodes), True
    if view.rules() is None or not _is_closed(relation, told, are_nodes):
        every = merged(told, relation.keys()) if relation.inferred else told
        return _bridged(every, are_nodes), False
    edges = _bridged(told, are_nodes)
    if relation.inferred and not _only_closes(view, name, beside):
        edges = merged(edges, _beyond(_between(relation.keys(), are_nodes), edges))
    return edges, True


def merged(*parts: U64) -> U64:
    """All keys of some parts, sorted and distinct."""
    filled = [part for part in parts if len(part)]
    return distinct(np.sort(np.concatenate(filled))) if filled else NO_KEYS


def told_pairs(view: StateView, name: int) -> U64:
    """The asserted pairs of a property in all graphs, sorted."""
    relation = view.tables.relation(name)
    parts = [_told(relation)]
    if view.tables.quad_total():
        parts += [pack(s, o) for s, o, _ in view.tables.quads(name).scan()]
    return merged(*parts) if len(parts) > 1 else parts[0]


def _told(relation: PlainRelation) -> U64:
    """The asserted pairs; layers are merged only if a pair is in several."""
    if relation.stored_rows != len(relation):
        return relation.keys(where=EXPLICIT)
    parts = []
    for run in relation.runs(0):
        keys = run.keys[run.lo : run.hi]
        if run.uniform is None:
            keys = keys[run.statuses(run.lo, run.hi) == EXPLICIT]
        if run.uniform in (None, EXPLICIT):
            parts.append(keys)
    return parts[0] if len(parts) == 1 else merged(*parts)


def _between(edges: U64, are_nodes: AreNodes) -> U64:
    keep = (high(edges) != low(edges)) & are_nodes(high(edges)) & are_nodes(low(edges))
    found: U64 = edges[keep]
    return found


def _is_closed(relation: PlainRelation, told: U64, are_nodes: AreNodes) -> bool:
    """Whether a relation is transitive, as far as a sample of its asserted pairs shows."""
    sample = told[:: max(1, len(told) // _SAMPLE)]
    index, (beyond,) = relation.probe((0,), (low(sample),))
    pairs = pack(high(sample)[index], beyond)
    # That a class is below itself or owl:Thing is not always inferred.
    pairs = _between(pairs, are_nodes)
    return bool(relation.contains((high(pairs), low(pairs))).all())


def _only_closes(view: StateView, name: int, beside: Sequence[str]) -> bool:
    """Whether only asserted pairs conclude pairs: no other axioms, and no rules of users."""
    rules = view.rules()
    if not isinstance(rules, InForce):
        return False
    if any(view.tables.relation(other).explicit for other in ids_of(view.dictionary, beside)):
        return False
    key = view.dictionary.key(name)
    heads = () if rules.users is None else rules.users.program.rules
    concluded = (head for rule in heads for head in rule.heads if isinstance(head, TripleAtom))
    return not any(not isinstance(each.p, Constant) or each.p.key == key for each in concluded)


# -- pairs that do not follow from asserted ones --------------------------------------------------


def _beyond(whole: U64, told: U64) -> U64:
    """The pairs of a closed relation that asserted pairs do not lead to.

    whole, told  all pairs, and the asserted ones; sorted, without pairs of one node with itself
    """
    starts = start_of_runs(high(whole))
    firsts, sizes = high(whole)[starts[:-1]], np.diff(starts)
    # A parent that is also below the child proves nothing: its own pairs may follow from the child.
    strict = told[~in_sorted(swap(told), whole)]
    parents = low(strict)
    places = np.minimum(firsts.searchsorted(parents), max(len(firsts) - 1, 0))
    lengths = np.where(firsts[places] == parents, sizes[places], 0)
    rows = ranges(starts[:-1][places], lengths)
    follow = pack(np.repeat(high(strict), lengths), low(whole[rows]))
    return whole[~in_sorted(whole, merged(follow, told))]


def without_implied(edges: U64, relation: PlainRelation) -> U64:
    """The edges without those to a node that another parent of the child is below.

    edges     sorted, without cycles
    relation  transitive
    """
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
    pairs = pack(low(edges[right]), low(edges[left]))
    order = np.argsort(pairs)  # looked up in order, and each once
    pairs_once = distinct(pairs[order])
    held = pairs_once[relation.contains((high(pairs_once), low(pairs_once)))]
    implied = in_sorted(pairs, held)
    keep = np.ones(len(edges), np.bool_)
    keep[left[implied]] = False
    return edges[keep]


# -- without inference ----------------------------------------------------------------------------


def _bridged(edges: U64, are_nodes: AreNodes) -> U64:
    """The edges between nodes, and those that lead over other terms, such as anonymous classes."""
    edges = edges[high(edges) != low(edges)]
    from_node, to_node = are_nodes(high(edges)), are_nodes(low(edges))
    found = [edges[from_node & to_node]]
    onward, open_ = edges[~from_node], edges[from_node & ~to_node]
    for _ in range(BROWSE.bridged_rounds):
        if len(open_) == 0 or len(onward) == 0:
            break
        lo = high(onward).searchsorted(low(open_), side="left")
        sizes = high(onward).searchsorted(low(open_), side="right") - lo
        ends = low(onward[ranges(lo, sizes)])
        led = merged(pack(np.repeat(high(open_), sizes), ends))
        reached = are_nodes(low(led))
        found.append(led[reached & (high(led) != low(led))])
        open_ = led[~reached]
    return merged(*found)
