"""Blank nodes of two sets of quads, matched so that equal parts are equal.

Start reading at `match_blank_nodes`. Quads that have blank nodes in common form a *component*, for
example one axiom with its lists and restrictions. Each node gets a colour: a number that depends
only on the structure of its component. In each round it takes in the colours around it, until a
round distinguishes no more nodes of the component. Nodes that stay alike in one component are
equal by symmetry (as a rule); then one is marked, and the rounds begin again.

First, components that are equal on both sides are matched. Of the others, nodes are matched that
are described alike: by the terms that lead to them, or by what is said of them, if that is unique
on both sides. So an axiom in which one member of a list changed keeps its other nodes.
Always true: the matching is one to one, so renaming by it never makes two nodes one.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeAlias

import numpy as np

from triplestore.comparison.sides.quad_rows import QuadRows, columns_in
from triplestore.data_classes import data_class
from triplestore.relations.packed_keys import I64, U32, U64, Bools

MARKS = 64
"""Maximum number of times that alike nodes are told apart by marking one."""

_FACTORS = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93], np.uint64
)


def match_blank_nodes(old: QuadRows, new: QuadRows, is_blank: Bools) -> tuple[U32, U32]:
    """New blank nodes and the old ones that they are equal to.

    old, new  quads in which each has all quads of the blank nodes that it has
    is_blank  by id, which terms are blank nodes
    """
    one, other = _Colouring.of(old, is_blank), _Colouring.of(new, is_blank)
    pairs: dict[int, int] = {}
    _match_equal(one, other, pairs)
    _match_alike(one, other, pairs)
    return np.array(list(pairs), np.uint32), np.array(list(pairs.values()), np.uint32)


def has_blank(rows: QuadRows, is_blank: Bools) -> Bools:
    """Which quads have a blank node."""
    s, _, o, g = columns_in(rows)
    found: Bools = is_blank[s] | is_blank[o] | is_blank[g]
    return found


@data_class
class _Colouring:
    """The blank nodes of some quads.

    nodes      their ids, sorted
    places     the columns of the quads
    colour     of each node
    component  of each node, as the number of its first node
    """

    nodes: I64
    places: tuple[I64, I64, I64, I64]
    colour: U64
    component: I64

    @classmethod
    def of(cls, rows: QuadRows, is_blank: Bools) -> _Colouring:
        s, p, o, g = (column.astype(np.int64) for column in columns_in(rows))
        every = np.concatenate((s, o, g)) if len(s) else np.zeros(0, np.int64)
        nodes = np.unique(every[is_blank[every]]) if len(every) else every
        component = _components(nodes, (s, o, g), is_blank)
        colour = _coloured(nodes, (s, p, o, g), is_blank, component)
        return cls(nodes, (s, p, o, g), colour, component)


def _components(nodes: I64, places: tuple[I64, I64, I64], is_blank: Bools) -> I64:
    """Of each node the least number of a node that it is connected with."""
    found = np.arange(len(nodes))
    edges = []
    for one, other in ((0, 1), (0, 2), (1, 2)):
        both = is_blank[places[one]] & is_blank[places[other]]
        pair = (nodes.searchsorted(places[at][both]) for at in (one, other))
        edges.append(np.column_stack(tuple(pair)))
    first, second = np.concatenate(edges).T if edges else (nodes, nodes)
    while True:
        least = np.minimum(found[first], found[second])
        before = found.copy()
        np.minimum.at(found, found[first], least)
        np.minimum.at(found, found[second], least)
        found = found[found]
        if (found == before).all():
            return found


def _mixed(numbers: U64) -> U64:
    for constant in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        numbers = (numbers ^ (numbers >> np.uint64(33))) * np.uint64(constant)
    return numbers ^ (numbers >> np.uint64(33))


def _coloured(
    nodes: I64, places: tuple[I64, I64, I64, I64], is_blank: Bools, component: I64
) -> U64:
    """The colours of nodes; they depend on nothing outside of their component."""
    if not len(nodes):
        return np.zeros(0, np.uint64)
    at = [nodes.searchsorted(column) for column in places]
    blank = [is_blank[column] for column in places]
    fixed = [_mixed(column.astype(np.uint64)) for column in places]
    colour = np.full(len(nodes), 0x1234567, np.uint64)
    active = np.ones(len(nodes), np.bool_)
    told = np.zeros(len(nodes), np.int64)
    for _ in range(MARKS):
        while active.any():
            total = np.zeros(len(places[0]), np.uint64)
            for column in range(4):
                known = fixed[column].copy()
                inside = blank[column]
                known[inside] = colour[at[column][inside]]
                total += known * _FACTORS[column]
            around = np.zeros(len(nodes), np.uint64)
            for column in (0, 2, 3):
                mine = np.flatnonzero(blank[column])
                seen = _mixed(total[mine] + _FACTORS[column])
                np.add.at(around, at[column][mine], seen)
            fresh = _mixed(colour * _FACTORS[1] + around)
            colour = np.where(active, fresh, colour)
            now = _kinds(colour, component)
            active &= (now > told)[component]
            told = now
        sizes = np.bincount(component, minlength=len(nodes))
        alike = told < sizes
        if not alike.any():
            break
        marked = _one_of_alike(colour, component, alike[component])
        colour[marked] = _mixed(colour[marked] + _FACTORS[3])
        active = alike[component]
        told = np.where(alike, 0, told)
    return colour


def _kinds(colour: U64, component: I64) -> I64:
    """How many colours each component has."""
    order = np.lexsort((colour, component))
    new = np.ones(len(order), np.bool_)
    new[1:] = (colour[order][1:] != colour[order][:-1]) | (
        component[order][1:] != component[order][:-1]
    )
    return np.bincount(component[order][new], minlength=len(colour))


def _one_of_alike(colour: U64, component: I64, wanted: Bools) -> I64:
    """In each of these components, the first of the nodes that share the least shared colour."""
    order = np.lexsort((colour, component))
    same = np.zeros(len(order), np.bool_)
    same[1:] = (colour[order][1:] == colour[order][:-1]) & (
        component[order][1:] == component[order][:-1]
    )
    first = order[:-1][same[1:] & ~same[:-1]]
    first = first[wanted[first]]
    _, once = np.unique(component[first], return_index=True)
    found: I64 = first[once]
    return found


# -- matching -------------------------------------------------------------------------------------


def _match_equal(one: _Colouring, other: _Colouring, pairs: dict[int, int]) -> None:
    """Match the nodes of components with the same colours."""
    olds, news = _by_shape(one), _by_shape(other)
    for shape, members in news.items():
        for mine, its in zip(members, olds.get(shape, ()), strict=False):
            mine_order = mine[np.argsort(other.colour[mine], kind="stable")]
            its_order = its[np.argsort(one.colour[its], kind="stable")]
            nodes = other.nodes[mine_order].tolist()
            pairs.update(zip(nodes, one.nodes[its_order].tolist(), strict=True))


def _by_shape(of: _Colouring) -> dict[tuple[int, int], list[I64]]:
    """Number of nodes and sum of colours -> components, as numbers of nodes."""
    if not len(of.nodes):
        return {}
    order = np.argsort(of.component, kind="stable")
    which = of.component[order]
    starts = np.flatnonzero(np.concatenate(([True], which[1:] != which[:-1])))
    sums = np.add.reduceat(_mixed(of.colour[order]), starts)
    found: dict[tuple[int, int], list[I64]] = {}
    parts = np.split(order, starts[1:])
    for part, total in zip(parts, sums.tolist(), strict=True):
        found.setdefault((len(part), total), []).append(part)
    return found


def _match_alike(one: _Colouring, other: _Colouring, pairs: dict[int, int]) -> None:
    """Match nodes that are left, by rows that say the same of them, until none is found."""
    taken = set(pairs.values())
    left = [
        list(zip(*(c.tolist() for c in side.places), strict=True))
        for side in (_rest(one, taken), _rest(other, set(pairs)))
    ]
    old_nodes = set(one.nodes.tolist()) - taken
    new_nodes = set(other.nodes.tolist()) - set(pairs)
    while old_nodes and new_nodes:
        found: dict[int, int] = {}
        for described in (_led_to, _saying):
            olds, news = described(left[0], old_nodes, {}), described(left[1], new_nodes, pairs)
            for description, mine in news.items():
                its = olds.get(description, set())
                if len(its) == len(mine) == 1:
                    (new,), (old,) = mine, its
                    if new not in found and old not in found.values():
                        found[new] = old
            if found:
                break
        else:
            return
        pairs.update(found)
        old_nodes -= set(found.values())
        new_nodes -= set(found)


def _rest(side: _Colouring, matched: set[int]) -> _Colouring:
    """The rows that have a node which is not matched."""
    open_ = ~np.isin(side.nodes, np.fromiter(matched, np.int64, len(matched)))
    waiting = side.nodes[open_]
    s, _, o, g = side.places
    rows = np.isin(s, waiting) | np.isin(o, waiting) | np.isin(g, waiting)
    places = tuple(column[rows] for column in side.places)
    return _Colouring(side.nodes, (places[0], places[1], places[2], places[3]), *_UNUSED)


_UNUSED = (np.zeros(0, np.uint64), np.zeros(0, np.int64))


_Row: TypeAlias = "tuple[int, int, int, int]"


def _led_to(rows: list[_Row], nodes: set[int], names: dict[int, int]) -> dict[Hashable, set[int]]:
    """Known subject and property of a row -> the open nodes that are its object."""
    found: dict[Hashable, set[int]] = {}
    for s, p, o, g in rows:
        if o in nodes and s not in nodes and g not in nodes:
            found.setdefault((names.get(s, s), p, names.get(g, g)), set()).add(o)
    return found


def _saying(rows: list[_Row], nodes: set[int], names: dict[int, int]) -> dict[Hashable, set[int]]:
    """All that is said of open nodes -> these nodes, as far as only known terms are in it."""
    said: dict[int, set[_Row]] = {}
    unknown = set()
    for s, p, o, g in rows:
        if s in nodes:
            if o in nodes or g in nodes:
                unknown.add(s)
            said.setdefault(s, set()).add((0, p, names.get(o, o), names.get(g, g)))
    found: dict[Hashable, set[int]] = {}
    for node, description in said.items():
        if node not in unknown:
            found.setdefault(frozenset(description), set()).add(node)
    return found
