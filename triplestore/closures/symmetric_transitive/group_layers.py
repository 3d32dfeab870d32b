"""Nodes in groups: a change of few groups costs their size, not the size of all groups.

Start at `GroupLayers`. A layer is a sorted array of nodes with the group of each, and the members
of each group; it never changes. A change declares groups dead and puts the groups that replace them
into a new, small layer on top. A layer is merged with the one below unless that one is many times
larger, so that there are few layers, and a node is moved O(log n) times.
"""

from __future__ import annotations

import numpy as np

from triplestore.closures.symmetric_transitive.group_pairs import group_members
from triplestore.closures.thresholds import CLOSURES
from triplestore.data_classes import data_class
from triplestore.relations.facts.sorted_arrays import member
from triplestore.relations.layers.sorted_order import ranges
from triplestore.relations.packed_keys import I64, NO_IDS, U32, frozen

NONE = -1
_NO_GROUPS: I64 = np.empty(0, dtype=np.int64)


@data_class
class GroupLayer:
    """Groups of nodes: group g has members[starts[g] : starts[g + 1]], unless it is dead.

    nodes    sorted, distinct
    group    of each node: u32, since there are many of them
    alive    how many nodes are in groups that are not dead
    """

    nodes: U32
    group: U32
    members: U32
    starts: I64
    dead: I64
    alive: int

    @classmethod
    def of(cls, nodes: U32, group: I64) -> GroupLayer:
        """A layer of sorted nodes, whose groups are numbered without gaps."""
        groups = int(group.max(initial=-1)) + 1
        members, starts = group_members(nodes, group, groups)
        of = frozen(group.astype(np.uint32))
        return cls(frozen(nodes), of, frozen(members), frozen(starts), _NO_GROUPS, len(nodes))

    def nbytes(self) -> int:
        """The memory it takes."""
        arrays = (self.nodes, self.group, self.members, self.starts, self.dead)
        return sum(array.nbytes for array in arrays)

    def find(self, nodes: U32) -> I64:
        """The group of each node, or NONE."""
        if len(self.nodes) == 0:
            return np.full(len(nodes), NONE, dtype=np.int64)
        places = np.minimum(self.nodes.searchsorted(nodes), len(self.nodes) - 1)
        group = self.group[places].astype(np.int64)
        group[self.nodes[places] != nodes] = NONE
        if len(self.dead):
            group[member(group, self.dead)] = NONE
        return group

    def living(self) -> tuple[U32, I64]:
        """The nodes of the groups that are not dead, sorted, and their groups, renumbered."""
        group = self.group.astype(np.int64)
        if len(self.dead) == 0:
            return self.nodes, group
        number = np.ones(len(self.starts) - 1, dtype=np.int64)
        number[self.dead] = 0
        keep = number[group] == 1
        number = np.cumsum(number) - 1
        return self.nodes[keep], number[group[keep]]

    def without(self, groups: I64) -> GroupLayer:
        """The layer with these groups dead: sorted, none of them dead before."""
        dead = np.insert(self.dead, self.dead.searchsorted(groups), groups)
        gone = int((self.starts[groups + 1] - self.starts[groups]).sum())
        alive = self.alive - gone
        return GroupLayer(self.nodes, self.group, self.members, self.starts, dead, alive)


class GroupLayers:
    """A partition of nodes into groups; immutable.

    A group is known by its number: numbers of the groups of a lower layer come first. The numbers
    are those of this version only.

    >>> import numpy as np
    >>> some = GroupLayers.of(np.array([2, 3, 5], np.uint32), np.array([0, 1, 0]))
    >>> some.find(np.array([5, 4, 3, 2], np.uint32)).tolist()
    [0, -1, 1, 0]
    >>> changed = some.changed(np.array([0]), np.array([5, 7], np.uint32), np.array([0, 0]))
    >>> changed.nodes().tolist()
    [3, 5, 7]
    """

    __slots__ = ("_first", "_layers")

    def __init__(self, layers: tuple[GroupLayer, ...]) -> None:
        self._layers = layers
        groups = [0, *(len(layer.starts) - 1 for layer in layers)]
        self._first = np.cumsum(groups)

    @classmethod
    def of(cls, nodes: U32, group: I64) -> GroupLayers:
        """The partition of sorted nodes by groups that are numbered without gaps."""
        return cls((GroupLayer.of(nodes, group),)) if len(nodes) else cls(())

    def __len__(self) -> int:
        return sum(layer.alive for layer in self._layers)

    def nbytes(self) -> int:
        """The memory it takes."""
        return sum(layer.nbytes() for layer in self._layers)

    def find(self, nodes: U32) -> I64:
        """The group of each node, or NONE."""
        found = np.full(len(nodes), NONE, dtype=np.int64)
        for first, layer in zip(self._first.tolist(), self._layers, strict=False):
            group = layer.find(nodes)
            known = group != NONE
            found[known] = group[known] + first
        return found

    def ranges(self, groups: I64) -> tuple[I64, I64, U32]:
        """Where the members of each group (NONE: no members) lie, and the array they lie in."""
        if len(self._layers) == 1:  # the array of all members is there, and need not be copied
            layer = self._layers[0]
            at = groups if len(groups) and groups.min() > NONE else np.maximum(groups, 0)
            lo, hi = layer.starts[at], layer.starts[at + 1]
            hi = np.where(groups == NONE, lo, hi)
            return lo, hi, layer.members
        lo, hi = np.zeros((2, len(groups)), dtype=np.int64)
        arrays: list[U32] = []
        offset = 0
        for first, layer in zip(self._first.tolist(), self._layers, strict=False):
            here = ((groups >= first) & (groups < first + len(layer.starts) - 1)).nonzero()[0]
            if len(here) == 0:
                continue
            own = groups[here] - first
            lo[here], hi[here], members = _needed(layer, own, offset)
            arrays.append(members)
            offset += len(members)
        return lo, hi, np.concatenate(arrays) if arrays else NO_IDS

    def all_ranges(self) -> tuple[U32, I64, I64, U32]:
        """All nodes, sorted; where the members of the group of each lie; the array they lie in."""
        nodes, lo, hi, offset = NO_IDS, _NO_GROUPS, _NO_GROUPS, 0
        for layer in self._layers:
            own, group = layer.nodes, layer.group
            if len(layer.dead):
                alive = ~member(group, layer.dead.astype(np.uint32))
                own, group = own[alive], group[alive]
            at, end = layer.starts[group] + offset, layer.starts[group + np.uint32(1)] + offset
            offset += len(layer.members)
            if len(nodes) == 0:
                nodes, lo, hi = own, at, end
                continue
            places = nodes.searchsorted(own)
            nodes = np.insert(nodes, places, own)
            lo, hi = np.insert(lo, places, at), np.insert(hi, places, end)
        members = [layer.members for layer in self._layers]
        if len(members) == 1:
            return nodes, lo, hi, members[0]
        return nodes, lo, hi, np.concatenate(members) if members else NO_IDS

    def sizes(self, groups: I64) -> I64:
        """The number of members of each group (NONE: 0)."""
        found = np.zeros(len(groups), dtype=np.int64)
        for first, layer in zip(self._first.tolist(), self._layers, strict=False):
            own = groups - first
            here = (own >= 0) & (own < len(layer.starts) - 1)
            own = own[here]
            found[here] = layer.starts[own + 1] - layer.starts[own]
        return found

    def nodes(self) -> U32:
        """All nodes, sorted."""
        parts = [layer.living()[0] for layer in self._layers]
        if len(parts) == 1:
            return parts[0]
        return np.sort(np.concatenate(parts)) if parts else NO_IDS

    def changed(self, dead: I64, nodes: U32, group: I64) -> GroupLayers:
        """The partition without the sorted groups `dead`, and with new groups of sorted nodes."""
        layers: list[GroupLayer] = []
        for first, layer in zip(self._first.tolist(), self._layers, strict=False):
            own = dead[(dead >= first) & (dead < first + len(layer.starts) - 1)] - first
            layers.append(layer.without(own) if len(own) else layer)
        if len(nodes):
            layers.append(GroupLayer.of(nodes, group))
        return GroupLayers(_settled(layers))


def _needed(layer: GroupLayer, groups: I64, offset: int) -> tuple[I64, I64, U32]:
    """The ranges of these groups of a layer, as they will lie `offset` ids further on.

    Where they are few, their members are copied together; else all members are taken.
    """
    lo, hi = layer.starts[groups], layer.starts[groups + 1]
    used = np.unique(groups)
    sizes = layer.starts[used + 1] - layer.starts[used]
    if 2 * int(sizes.sum()) > len(layer.members):
        return lo + offset, hi + offset, layer.members
    ends = np.cumsum(sizes)
    at = used.searchsorted(groups)
    places = ranges(layer.starts[used], sizes)
    return (ends - sizes)[at] + offset, ends[at] + offset, layer.members[places]


def _settled(layers: list[GroupLayer]) -> tuple[GroupLayer, ...]:
    """The layers, merged where one is not many times larger than the next above, or mostly dead."""
    done: list[GroupLayer] = []
    for layer in layers:
        done.append(layer)
        while len(done) > 1 and done[-2].alive < CLOSURES.layer_ratio * done[-1].alive:
            upper = done.pop()
            done[-1] = _merged(done[-1], upper)
    if done and 2 * done[0].alive < len(done[0].nodes):
        done[0] = GroupLayer.of(*done[0].living())
    return tuple(layer for layer in done if layer.alive)


def _merged(lower: GroupLayer, upper: GroupLayer) -> GroupLayer:
    nodes, group = lower.living()
    more, more_group = upper.living()
    more_group = more_group + (int(group.max(initial=-1)) + 1)
    places = nodes.searchsorted(more)
    return GroupLayer.of(np.insert(nodes, places, more), np.insert(group, places, more_group))
