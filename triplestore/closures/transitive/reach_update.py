"""Updates what each node reaches after a change of edges: only dependent rows are recomputed.

Start reading at `update`. Edges that agree with the order of ranks cost only the rows that change.
These are found upwards from the changed edges: a component is recomputed if one of its edges
changed, or if one of its successors reaches other nodes than before. For edges against the order,
and edges removed from components of several nodes, the components are numbered again first, which
is linear and fast.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from triplestore.closures.edge_graph import NONE, Lists
from triplestore.closures.scheme import WorkLimit
from triplestore.closures.transitive.reach import _FIELDS, Reach
from triplestore.closures.transitive.strong_components import Components, bitmap, number_components
from triplestore.data_classes import data_class
from triplestore.relations.facts.sorted_arrays import sorted_distinct
from triplestore.relations.packed_keys import U32


@data_class
class Moves:
    """The changed edges, by the numbers of their nodes, and the new numbers of nodes.

    moved    new number of each old node, or None if they are the same
    """

    gone_from: U32
    gone_to: U32
    come_from: U32
    come_to: U32
    moved: U32 | None = None

    def turned(self) -> Moves:
        """The same for the edges turned around."""
        return Moves(self.gone_to, self.gone_from, self.come_to, self.come_from, self.moved)


@data_class
class ReachStep:
    """Two versions, whose labels mean the same where both use them.

    old_label, old_members   those of the old version, by the numbers nodes have now; nodes that
                             are new have the label NONE
    changed                  labels of the new version that reach other labels than before, or
                             that are new
    """

    old: Reach
    new: Reach
    old_label: U32
    old_members: U32
    changed: U32


def update(
    old: Reach, ahead: Lists, back: Lists, moves: Moves, budget: WorkLimit | None = None
) -> ReachStep:
    """What is reached along `ahead`, given `old` for the graph before the change."""
    size = len(ahead.starts) - 1
    old_label, old_members = old.label, old.members
    if moves.moved is not None:
        old_label = np.full(size, NONE, dtype=np.uint32)
        old_label[moves.moved] = old.label
        old_members = moves.moved[old.members]
    if _breaks_order(old, old_label, moves):
        draft, fresh = _relabelled(old, old_label, ahead, budget)
    elif moves.moved is not None:
        draft, fresh = _extended(old, old_label, old_members, moves)
    else:
        draft, fresh = old, np.zeros(0, dtype=np.uint32)
    sources = draft.label[_sources(old, old_label, ahead, moves)]
    if draft is old:
        if len(sources) == 0:
            return ReachStep(old, old, old_label, old_members, fresh)
        draft = replace(old, head=old.head.copy())
    seeds = draft.parts.rank[np.concatenate((sources, fresh))].astype(np.int64)
    dirty = bitmap(seeds, len(draft.parts.heavy))
    made, changed = draft._closed(ahead, back, old.head, dirty, budget)
    return ReachStep(old, made, old_label, old_members, np.sort(changed))


def _sources(old: Reach, old_label: U32, ahead: Lists, moves: Moves) -> U32:
    """The nodes whose components must be recomputed: the sources of relevant changed edges."""
    if len(moves.gone_from) == 0:
        known = old.contains(old_label[moves.come_from], old_label[moves.come_to])
        return moves.come_from[~known]
    if len(moves.gone_from) == 1 and len(moves.come_from) == 0 and _spare(old, ahead, moves):
        return moves.come_from
    return np.concatenate((moves.gone_from, moves.come_from))


def _spare(old: Reach, ahead: Lists, moves: Moves) -> bool:
    """Whether the only removed edge leads where another edge of its node leads as well.

    What the successors reach is unchanged, because none of them reaches the node.
    """
    node = int(moves.gone_from[0])
    label, end = old.label[node], old.label[moves.gone_to]
    if label == end[0] or old.firsts[int(label) + 1] - old.firsts[int(label)] > 1:
        return False
    others = old.label[ahead.cols[ahead.starts[node] : ahead.starts[node + 1]]]
    others = others[others != label]
    reached = old.contains(others, np.repeat(end, len(others)))
    return bool(reached.any() or (others == end[0]).any())


def _relabelled(
    old: Reach, old_label: U32, ahead: Lists, budget: WorkLimit | None
) -> tuple[Reach, U32]:
    """The components of the new graph, with the old rows; and which labels are new."""
    component, count = number_components(ahead, budget)
    at_rank = _kept(old, old_label, component, count)
    new = at_rank == NONE
    labels = old.labels + int(new.sum())
    fresh = np.arange(old.labels, labels, dtype=np.uint32)
    at_rank[new] = fresh
    rank = np.full(labels, NONE, dtype=np.uint32)
    rank[at_rank] = np.arange(count, dtype=np.uint32)
    head = np.zeros(_FIELDS * labels, dtype=np.int64)
    head[: len(old.head)] = old.head
    dead = (rank[: old.labels] == NONE).nonzero()[0]
    head.reshape(-1, _FIELDS)[dead] = 0
    parts = Components.of(at_rank[component], rank, at_rank)
    return Reach(parts, head, old.pool, old.live, old.low, old.end), fresh


def _extended(old: Reach, old_label: U32, old_members: U32, moves: Moves) -> tuple[Reach, U32]:
    """The old components and the new nodes, which rank below all others or above them."""
    low = sorted_distinct(moves.come_to[old_label[moves.come_to] == NONE])
    high = sorted_distinct(moves.come_from[old_label[moves.come_from] == NONE])
    nodes = np.concatenate((low, high))
    fresh = np.arange(old.labels, old.labels + len(nodes), dtype=np.uint32)
    label = old_label.copy()
    label[nodes] = fresh
    below, above = fresh[: len(low)], fresh[len(low) :]
    at_rank = np.concatenate((below, old.parts.at_rank, above))
    rank = np.full(old.labels + len(nodes), NONE, dtype=np.uint32)
    rank[at_rank] = np.arange(len(at_rank), dtype=np.uint32)
    head = np.zeros(_FIELDS * len(rank), dtype=np.int64)
    head[: len(old.head)] = old.head
    firsts = np.concatenate((old.firsts, old.firsts[-1] + np.arange(1, len(nodes) + 1)))
    heavy = np.zeros((len(rank) >> 6) + 1, dtype=np.uint64)
    heavy[: len(old.parts.heavy)] = old.parts.heavy
    members = np.concatenate((old_members, nodes))
    parts = Components(label, rank, at_rank, firsts, members, heavy)
    return Reach(parts, head, old.pool, old.live, old.low, old.end), fresh


def _breaks_order(old: Reach, old_label: U32, moves: Moves) -> bool:
    """Whether components may merge or split, or ranks are in the wrong order."""
    inside = old_label[moves.gone_from] == old_label[moves.gone_to]
    if (inside & (moves.gone_from != moves.gone_to)).any():
        return True
    one, other = old_label[moves.come_from], old_label[moves.come_to]
    known = (one != NONE) & (other != NONE)
    rank = old.parts.rank
    if (rank[one[known]] < rank[other[known]]).any():
        return True
    # A new node that edges lead to ranks below all others, so none may lead on from it.
    low, high = moves.come_to[other == NONE], moves.come_from[one == NONE]
    return bool(len(low) and len(high) and np.isin(low, high).any())


def _kept(old: Reach, old_label: U32, component: U32, count: int) -> U32:
    """The old label of each component that has the same nodes as before; NONE for the others."""
    kept = np.full(count, NONE, dtype=np.uint32)
    kept[component] = old_label
    mixed = kept[component] != old_label
    kept[component[mixed]] = NONE
    some = (kept != NONE).nonzero()[0]
    labels = kept[some].astype(np.int64)
    sizes = np.bincount(component, minlength=count)[some]
    kept[some[sizes != old.firsts[labels + 1] - old.firsts[labels]]] = NONE
    return kept
