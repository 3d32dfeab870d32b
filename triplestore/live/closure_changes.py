"""The pairs that came to closures and went from them, where tables keep labels instead of rows.

Start at `moved_pairs`. A pair of a closure can only have come or gone if its first node reaches a
changed edge, so only such nodes are compared. A union of relations is compared as a whole if one of
its parts changed.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from triplestore.closures.scheme import Scheme
from triplestore.relations import Tables
from triplestore.relations.packed_keys import NO_KEYS, U64, high, in_sorted, low, pack
from triplestore.relations.pair_relation import PairRelation
from triplestore.relations.views.equality import EQUALITY, equality_of


def moved_pairs(before: Tables, after: Tables, changed: Collection[int]) -> dict[int, U64]:
    """For each closed relation, pairs that may hold in one of the tables only.

    changed  the relations with changed rows
    """
    schemes = [_schemes_of(tables) for tables in (before, after)]
    names = schemes[0].keys() | schemes[1].keys()
    found: dict[int, U64] = {}
    unions = []
    for name in sorted(names):
        one, other = schemes[0].get(name), schemes[1].get(name)
        if any(each is not None and not isinstance(each, Scheme) for each in (one, other)):
            unions.append(name)
        elif one is not other:
            keys = _of_closure(before, after, name, one, other)
            if len(keys):
                found[name] = keys
    for name in unions:
        same = schemes[0].get(name) is schemes[1].get(name)
        if not same or changed or found:
            keys = _of_all(_pairs(before, name), _pairs(after, name))
            if len(keys):
                found[name] = keys
    return found


def _schemes_of(tables: Tables) -> dict[int, Any]:
    """The closures that are not stored as rows, by relation."""
    return {
        name: pairs
        for key, attached in tables.schemes.items()
        if key != EQUALITY
        for name, pairs, _ in attached.closures()
    }


def _pairs(tables: Tables, name: int) -> PairRelation:
    found = tables.closed.get(name)
    return tables.stored_relation(name) if found is None else found


def _of_closure(
    before: Tables, after: Tables, name: int, one: Scheme | None, other: Scheme | None
) -> U64:
    """The difference of two closures of single relations."""
    views = _pairs(before, name), _pairs(after, name)
    if one is None or other is None:
        return _of_all(*views)
    edges = np.setxor1d(one.edges, other.edges)
    ends = np.concatenate((high(edges), low(edges)))
    for tables in (before, after):
        equality = equality_of(tables)
        if equality is not None:
            ends = np.concatenate((ends, equality.classes.expand(ends)[1]))
    ends = np.unique(ends)
    nodes = np.unique(np.concatenate((ends, *(view.match(1, ends)[1] for view in views))))
    sides = []
    for view in views:
        index, found = view.match(0, nodes)
        sides.append(pack(nodes[index], found))
    candidates = np.unique(np.concatenate(sides))
    held = [view.contains_keys(candidates) for view in views]
    moved: U64 = candidates[held[0] != held[1]]
    return moved


def _of_all(one: PairRelation, other: PairRelation) -> U64:
    """The pairs of one of two relations only, by reading both."""
    parts = [NO_KEYS]
    for these, those in ((one, other), (other, one)):
        for keys in these.blocks():
            left = ~those.contains_keys(keys)
            if left.any():
                parts.append(keys[left])
    both = np.sort(np.concatenate(parts))
    return both if len(both) < 2 else both[~in_sorted(both, both[1:][both[1:] == both[:-1]])]
