"""The conclusions of rule instances, and the facts that their bodies matched.

Start at `conclude` and `Heads`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np

from triplestore.evaluate.binding_frames import Bindings, column
from triplestore.relations.facts.fact_sets import ANY, Batch, RelationKey
from triplestore.relations.facts.sorted_arrays import (
    beside,
    counted_pieces,
    distinct_pieces,
    summed,
    unite,
)
from triplestore.relations.packed_keys import I64, U32, Columns, Keys, key_of, pack
from triplestore.rules.families import Family


class Heads(dict[RelationKey, list[Keys]]):
    """Conclusions of rules: by relation, pieces of keys, unsorted and with repetitions.

    summed  further conclusions, as sorted keys with their numbers, where pieces were too large
    """

    summed: Mapping[RelationKey, tuple[Keys, I64]] = MappingProxyType({})

    def put(self, relation: RelationKey, keys: Keys) -> None:
        """Add some conclusions."""
        if len(keys):
            self.setdefault(relation, []).append(keys)

    def copied(self) -> Heads:
        """The same conclusions, to be added to."""
        made = Heads({name: list(parts) for name, parts in self.items()})
        made.summed = self.summed
        return made

    def sum_up(self, others: Heads) -> None:
        """Add the number of each conclusion, without keeping the conclusions one by one."""
        for name, found in others.counted():
            self._add_sum(name, found[0], found[1].astype(np.int64))

    def extend(self, others: Heads) -> None:
        """Add all conclusions of another `Heads`."""
        for name, parts in others.items():
            self.setdefault(name, []).extend(parts)
        for name, (keys, times) in others.summed.items():
            self._add_sum(name, keys, times)

    def _add_sum(self, name: RelationKey, keys: Keys, times: I64) -> None:
        before = self.summed.get(name)
        now = (keys, times) if before is None else summed(*before, keys, times)
        self.summed = {**self.summed, name: now}

    def taken(self) -> dict[RelationKey, Keys]:
        """The conclusions of each relation in one piece; those that are summed up come once."""
        found = {
            name: parts[0] if len(parts) == 1 else np.concatenate(parts)
            for name, parts in self.items()
        }
        for name, (keys, _) in self.summed.items():
            found[name] = np.concatenate((found[name], keys)) if name in found else keys
        return found

    def distinct(self) -> Batch:
        """The conclusions of each relation, sorted, each fact once."""
        found = {name: distinct_pieces(parts) for name, parts in self.items()}
        for name, (keys, _) in self.summed.items():
            found[name] = unite(found[name], keys) if name in found else keys
        return found

    def counted(self) -> Iterator[tuple[RelationKey, tuple[Keys, U32 | I64]]]:
        """The conclusions of each relation, sorted, each fact once, with its number."""
        for name, parts in self.items():
            keys, times = counted_pieces(parts)
            if name in self.summed:
                yield name, summed(keys, times.astype(np.int64), *self.summed[name])
            else:
                yield name, (keys, times)
        for name, found in self.summed.items():
            if name not in self:
                yield name, found


def heads_of(family: Family, rows: Bindings, n: int) -> list[tuple[RelationKey, Keys]]:
    """The conclusions of the instances of a frame, with their relation."""
    head = family.head
    first, *rest = head.terms
    if first < 0 and len(rest) == 1 and head.relation != ANY:  # facts of one class
        return [(head.relation, beside(-first, column(rows, rest[0], n)))]
    columns = [column(rows, term, n) for term in head.terms]
    if head.relation != ANY:
        if len(columns) == 2:
            return [(head.relation, pack(columns[0], columns[1]))]
        return [(head.relation, key_of(columns))]
    raise AssertionError("a head with a variable property needs `triples_by_name`")


def triples_by_name(columns: Columns, type_id: int) -> list[tuple[RelationKey, Keys]]:
    """Triples (s, p, o) as keys of each property."""
    s, p, o = columns
    found: list[tuple[RelationKey, Keys]] = []
    for name in np.unique(p).tolist():
        mine = p == name
        first, second = (o[mine], s[mine]) if name == type_id else (s[mine], o[mine])
        found.append((name, pack(first, second)))
    return found


def conclude(family: Family, rows: Bindings, n: int, type_id: int, heads: Heads) -> None:
    """Add the conclusions of the instances of a frame."""
    if n == 0:
        return
    if family.head.relation == ANY:
        columns = tuple(column(rows, term, n) for term in family.head.terms)
        for name, keys in triples_by_name(columns, type_id):
            heads.put(name, keys)
        return
    for name, keys in heads_of(family, rows, n):
        heads.put(name, keys)


def body_facts(
    family: Family, item: int, rows: Bindings, n: int, type_id: int
) -> list[tuple[RelationKey, Keys, I64 | None]]:
    """The facts that one atom of the body matched in the instances of a frame, by relation.

    Each comes with the rows of the frame to which it belongs; None for all rows in order.
    """
    atom = family.body[item]
    columns = tuple(column(rows, term, n) for term in atom.terms)
    if atom.relation != ANY:
        return [(atom.relation, key_of(columns), None)]
    s, p, o = columns
    found: list[tuple[RelationKey, Keys, I64 | None]] = []
    for name in np.unique(p).tolist():
        mine = np.flatnonzero(p == name)
        first, second = (o[mine], s[mine]) if name == type_id else (s[mine], o[mine])
        found.append((name, pack(first, second), mine))
    return found
