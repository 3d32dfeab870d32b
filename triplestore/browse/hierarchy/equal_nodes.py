"""One node for those that are below each other: start at `collapse`.

Nodes that lead nowhere, or to which nothing leads, are in no cycle; they are taken away level by
level, as columns. What is left has cycles and is small, so Tarjan's algorithm in Python does it.
"""

from __future__ import annotations

import numpy as np

from triplestore.relations.packed_keys import U32, U64, distinct, high, low, pack


def collapse(edges: U64) -> tuple[U64, U32, U32]:
    """The edges between heads; nodes that are equal to others, increasing; the head of each.

    The head is the least of equal nodes. Edges are sorted and distinct, before and after.

    >>> edges = np.array([1 << 32 | 2, 2 << 32 | 1, 2 << 32 | 3], np.uint64)
    >>> left, members, heads = collapse(edges)
    >>> [(int(e) >> 32, int(e) & 0xFFFFFFFF) for e in left], members.tolist(), heads.tolist()
    ([(1, 3)], [1, 2], [1, 1])
    """
    groups = _components(_core(edges))
    if not groups:
        return edges[high(edges) != low(edges)], np.zeros(0, np.uint32), np.zeros(0, np.uint32)
    head = {node: min(group) for group in groups for node in group}
    members = np.array(sorted(head), np.uint32)
    heads = np.array([head[node] for node in members.tolist()], np.uint32)
    source, target = (_moved(ends, members, heads) for ends in (high(edges), low(edges)))
    stay = source != target
    return distinct(np.sort(pack(source[stay], target[stay]))), members, heads


def _moved(ids: U32, members: U32, heads: U32) -> U32:
    places = np.minimum(members.searchsorted(ids), len(members) - 1)
    return np.where(members[places] == ids, heads[places], ids)


def _core(edges: U64) -> U64:
    """The edges between nodes that have edges in both directions, again and again."""
    edges = edges[high(edges) != low(edges)]
    while len(edges):
        source, target = high(edges), low(edges)
        size = int(max(source.max(), target.max())) + 1
        leads, led = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
        leads[source], led[target] = True, True
        keep = led[source] & leads[target]
        if keep.all():
            break
        edges = edges[keep]
    return edges


def _components(edges: U64) -> list[list[int]]:
    """The strongly connected components of more than one node."""
    ahead: dict[int, list[int]] = {}
    for source, target in zip(high(edges).tolist(), low(edges).tolist(), strict=True):
        ahead.setdefault(source, []).append(target)
    number: dict[int, int] = {}
    least: dict[int, int] = {}
    stack: list[int] = []
    inside: set[int] = set()
    found: list[list[int]] = []
    for root in ahead:
        if root in number:
            continue
        calls = [(root, iter(ahead[root]))]
        number[root] = least[root] = len(number)
        stack.append(root)
        inside.add(root)
        while calls:
            node, left = calls[-1]
            other = next(left, None)
            if other is None:
                calls.pop()
                if calls:
                    below = calls[-1][0]
                    least[below] = min(least[below], least[node])
                if least[node] == number[node]:
                    group = _popped(stack, inside, node)
                    if len(group) > 1:
                        found.append(group)
            elif other not in number:
                number[other] = least[other] = len(number)
                stack.append(other)
                inside.add(other)
                calls.append((other, iter(ahead.get(other, ()))))
            elif other in inside:
                least[node] = min(least[node], number[other])
    return found


def _popped(stack: list[int], inside: set[int], node: int) -> list[int]:
    group = []
    while True:
        group.append(stack.pop())
        inside.discard(group[-1])
        if group[-1] == node:
            return group
