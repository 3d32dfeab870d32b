"""The facts that hold in one state and not in the other, numbered.

Start reading at `ChangedNodes.of`. Always true: the facts of a relation are sorted by their keys
and have consecutive numbers. Rows of helper relations (of negations, aggregates and violations) are
facts as well. A *leaf* is a fact that was asserted or removed itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from triplestore.data_classes import data_class
from triplestore.relations import EXPLICIT, ChangedRows, Changes
from triplestore.relations.facts.fact_sets import RelationKey
from triplestore.relations.packed_keys import I64, U8, Bools, Keys, key_of, pack
from triplestore.terms import Dictionary
from triplestore.terms.vocabulary import RDF_TYPE

SCOPE_KEY = b"\x01x-triplestore:scope/stated"
"""The relation of what the graphs of a scope assert: its rows are asserted, not inferred."""


@data_class
class NodesOfRelation:
    """The changed facts of one relation: sorted keys, and the number of the first."""

    keys: Keys
    first: int


class ChangedNodes:
    """Changed facts as numbers from 0 on.

    type_id    the id of rdf:type
    leaf       which were asserted (or removed) themselves
    relations  in the order of their numbers
    """

    def __init__(self, parts: dict[RelationKey, tuple[Keys, Bools]], type_id: int) -> None:
        self.type_id = type_id
        self.relations: dict[RelationKey, NodesOfRelation] = {}
        leaves: list[Bools] = []
        size = 0
        for name, (keys, leaf) in parts.items():
            order = np.argsort(keys, kind="stable")
            self.relations[name] = NodesOfRelation(keys[order], size)
            leaves.append(leaf[order])
            size += len(keys)
        self.leaf: Bools = np.concatenate(leaves) if leaves else np.zeros(0, np.bool_)
        self._starts = np.array([one.first for one in self.relations.values()], np.int64)
        self._names = list(self.relations)

    @classmethod
    def of(cls, net: Changes, dictionary: Dictionary, came: bool) -> ChangedNodes:
        """The facts that came, or that went, by the net changes between two states."""
        parts: dict[RelationKey, tuple[Keys, Bools]] = {}
        rows = _chosen(net.facts, came)
        type_id = int(dictionary.lookup_key(b"\x01" + RDF_TYPE.encode()))
        p, s, o = rows.columns
        leaf = _leaf(rows, came)
        scope = int(dictionary.lookup_key(SCOPE_KEY))
        told = _told(net.tuples.get((scope, 3)), came, type_id) if scope else None
        for name, places in _by_name(p):
            first, second = (o, s) if name == type_id else (s, o)
            keys = pack(first[places], second[places])
            leaves = leaf[places]
            if told is not None and name in told:
                leaves = leaves | np.isin(keys, told[name])
            parts[name] = keys, leaves
        for key, changed in net.tuples.items():
            if dictionary.key(key[0]) != SCOPE_KEY:
                chosen = _chosen(changed, came)
                if len(chosen):
                    parts[key] = key_of(chosen.columns), _leaf(chosen, came)
        return cls(parts, type_id)

    def __len__(self) -> int:
        return len(self.leaf)

    def find(self, relation: RelationKey, keys: Keys) -> I64:
        """The numbers of facts of a relation; -1 for those that did not change."""
        known = self.relations.get(relation)
        if known is None or len(known.keys) == 0:
            return np.full(len(keys), -1, np.int64)
        at = np.minimum(known.keys.searchsorted(keys), len(known.keys) - 1)
        found: I64 = np.where(known.keys[at] == keys, at + known.first, -1)
        return found

    def place(self, node: int) -> tuple[RelationKey, int | bytes]:
        """The relation of a fact, and its key."""
        which = int(self._starts.searchsorted(node, side="right")) - 1
        name = self._names[which]
        key: int | bytes = self.relations[name].keys[node - self._starts[which]].item()
        return name, key

    def slices(self) -> Iterator[tuple[RelationKey, int, Keys, int]]:
        """Facts that the same rules may conclude: relation, class (of rdf:type), keys, first."""
        for name, known in self.relations.items():
            if name != self.type_id or isinstance(name, tuple):
                yield name, 0, known.keys, known.first
                continue
            classes = known.keys >> np.uint64(32)
            starts = np.flatnonzero(np.concatenate(([True], classes[1:] != classes[:-1])))
            ends = np.append(starts[1:], len(classes))
            for lo, hi in zip(starts.tolist(), ends.tolist(), strict=True):
                yield name, int(classes[lo]), known.keys[lo:hi], known.first + lo


def _chosen(rows: ChangedRows, came: bool) -> ChangedRows:
    held, holds = rows.previous != 0, rows.status != 0
    return rows.take(holds & ~held if came else held & ~holds)


def _leaf(rows: ChangedRows, came: bool) -> Bools:
    status: U8 = rows.status if came else rows.previous
    found: Bools = status == EXPLICIT
    return found


def _told(rows: ChangedRows | None, came: bool, type_id: int) -> dict[int, Keys] | None:
    """What graphs of the scope began or ceased to assert: keys by property."""
    if rows is None:
        return None
    p, first, second = _chosen(rows, came).columns
    return {name: pack(first[places], second[places]) for name, places in _by_name(p)}


def _by_name(p: np.ndarray) -> Iterator[tuple[int, I64]]:
    order = np.argsort(p, kind="stable")
    names = p[order]
    if not len(p):
        return
    starts = np.flatnonzero(np.concatenate(([True], names[1:] != names[:-1])))
    for part in np.split(order, starts[1:]):
        yield int(p[part[0]]), part
