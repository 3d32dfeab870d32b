"""What each node reaches after some edges changed: only what depends on them is made anew.

Start reading at `update`. Edges within the order of ranks cost only the rows that change, found
from the changed edges upwards: a component is done again if an edge of it changed, or if one of its
successors reaches something else than before. Edges against the order, and edges taken out of
components of several nodes, number the components again first, which is linear and fast.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from triplestore.schemes.graph import NONE, Lists
from triplestore.schemes.packed import U32, frozen
from triplestore.schemes.reach import (
    _FIELDS,
    Reach,
    group_nodes,
    number_components,
)
from triplestore.schemes.scheme import Budget


@dataclass(frozen=True, slots=True)
class Moves:
    """Edges that change, by the numbers of their nodes, and where the nodes were before.

    moved    new number of each old node, or None if they are the same
    """

    gone_from: U32
    gone_to: U32
    come_from: U32
    come_to: U32
    moved: U32 | None = None

    def turned(self) -> Moves:
        """The same for the edges turned round."""
        return Moves(self.gone_to, self.gone_from, self.come_to, self.come_from, self.moved)


@dataclass(frozen=True, slots=True)
class Step:
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
    old: Reach, ahead: Lists, back: Lists, moves: Moves, budget: Budget | None = None
) -> Step:
    """What is reached along `ahead`, of which `old` knew all but the changed edges."""
    size = len(ahead.starts) - 1
    old_label, old_members = old.label, old.members
    if moves.moved is not None:
        old_label = np.full(size, NONE, dtype=np.uint32)
        old_label[moves.moved] = old.label
        old_members = moves.moved[old.members]
    draft, fresh = _relabelled(old, old_label, old_members, ahead, moves, budget)
    seeds = draft.rank[np.concatenate((draft.label[_sources(old, old_label, moves)], fresh))]
    dirty = np.zeros((draft.labels >> 6) + 1, dtype=np.uint64)
    places = seeds.astype(np.int64)
    np.bitwise_or.at(dirty, places >> 6, np.uint64(1) << (places & 63).astype(np.uint64))
    made, changed = draft._closed(ahead, back, old.head, dirty, budget)
    return Step(old, made, old_label, old_members, np.sort(changed))


def _sources(old: Reach, old_label: U32, moves: Moves) -> U32:
    """The nodes whose components must be looked at again: where edges begin that matter."""
    if len(moves.gone_from):
        return np.concatenate((moves.gone_from, moves.come_from))
    known = old.contains(old_label[moves.come_from], old_label[moves.come_to])
    return moves.come_from[~known]


def _relabelled(
    old: Reach, old_label: U32, old_members: U32, ahead: Lists, moves: Moves, budget: Budget | None
) -> tuple[Reach, U32]:
    """The components of the new graph, with the old rows; and which labels are new."""
    head = old.head.copy()
    if len(old_label) == len(old.label) and not _breaks_order(old, old_label, moves):
        return replace(old, head=head), np.zeros(0, dtype=np.uint32)
    component, count = number_components(ahead, budget)
    kept = _kept(old, old_label, component, count)
    fresh_count = int((kept == NONE).sum())
    fresh = np.arange(old.labels, old.labels + fresh_count, dtype=np.uint32)
    at_rank = kept
    at_rank[kept == NONE] = fresh
    labels = old.labels + fresh_count
    rank = np.full(labels, NONE, dtype=np.uint32)
    rank[at_rank] = np.arange(count, dtype=np.uint32)
    grown = np.zeros(_FIELDS * labels, dtype=np.int64)
    grown[: len(head)] = head
    dead = (rank[: old.labels] == NONE) & (old.rank != NONE)
    grown.reshape(-1, _FIELDS)[: old.labels][dead] = 0
    label = frozen(at_rank[component])
    firsts, members = group_nodes(label, labels)
    ranks = frozen(rank), frozen(at_rank)
    return Reach(label, firsts, members, *ranks, grown, old.pool), fresh


def _breaks_order(old: Reach, old_label: U32, moves: Moves) -> bool:
    """Whether components may be merged or split, or the order of ranks is wrong."""
    gone = old_label[moves.gone_from]
    inside = (gone == old_label[moves.gone_to]) & (moves.gone_from != moves.gone_to)
    if inside.any():
        return True
    one, other = old_label[moves.come_from], old_label[moves.come_to]
    return bool((old.rank[one] < old.rank[other]).any())


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
