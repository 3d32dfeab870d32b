"""Families by stratum, and which of them look at a slice when it changes.

Start reading at `Strata`. A stratum none of whose bodies speaks of a changed slice is never
visited, and in one that is, only the families are run that speak of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from triplestore.relations.facts.fact_sets import ANY, Batch, RelationKey
from triplestore.relations.facts.sorted_arrays import sorted_distinct
from triplestore.relations.packed_keys import U64, Keys, high, in_sorted
from triplestore.rules.families import CompiledAtom, Family
from triplestore.rules.subclass_levels import Hierarchy
from triplestore.rules.subclass_pairs import BOTTOM
from triplestore.rules.thresholds import RULES
from triplestore.thread_limits import looking

if TYPE_CHECKING:
    from triplestore.rules.backward_rules import BackwardRules


@dataclass(slots=True)
class Triggers:
    """Which items of which families may match a fact: (family, number of the item)."""

    by_class: dict[int, list[tuple[Family, int]]] = field(default_factory=dict)
    by_relation: dict[RelationKey, list[tuple[Family, int]]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.by_class or self.by_relation)

    def add(self, family: Family, item: int, atom: CompiledAtom, type_id: int) -> None:
        """Say that an item of a family speaks of the relation of its atom."""
        classes = _classes_of(family, atom) if atom.relation == type_id else None
        if classes is None:
            self.by_relation.setdefault(atom.relation, []).append((family, item))
        else:
            for class_ in classes:
                self.by_class.setdefault(class_, []).append((family, item))

    def of(self, batch: Batch, type_id: int) -> Iterator[tuple[Family, int]]:
        """The items that may match facts of a batch, each once."""
        any_ = self.by_relation.get(ANY)
        if any_ and any(isinstance(name, int) for name in batch):
            yield from any_
        for name, keys in batch.items():
            yield from self.by_relation.get(name, ())
            if name == type_id and self.by_class:
                seen: set[tuple[int, int]] = set()
                for found in self._of_classes(keys):
                    for family, item in found:
                        if family.table is not None:  # it is there for several classes
                            one = id(family), item
                            if one in seen:
                                continue
                            seen.add(one)
                        yield family, item

    def _of_classes(self, keys: Keys) -> Iterator[list[tuple[Family, int]]]:
        """The items for each of the classes that have a slice in sorted keys."""
        if len(keys) <= 4 * len(self.by_class):
            for class_ in dict.fromkeys(high(keys).tolist()):
                yield self.by_class.get(class_, [])
            return
        classes = np.fromiter(self.by_class, dtype=np.uint64, count=len(self.by_class))
        lo = keys.searchsorted(classes << np.uint64(32))
        hi = keys.searchsorted((classes + np.uint64(1)) << np.uint64(32))
        for class_ in classes[lo < hi].tolist():
            yield self.by_class[class_]


def _classes_of(family: Family, atom: CompiledAtom) -> Collection[int] | None:
    """The classes an atom of types may speak of; None for any."""
    term, table = atom.terms[0], family.table
    if term < 0:
        return (-term,)
    if table is None or term not in table.variables or len(family.rules) > RULES.listed_rules:
        return None
    return set(table.columns[table.variables.index(term)].tolist())


@dataclass(slots=True)
class CompiledStratum:
    """The families of one stratum: nonrecursive, recursive, and those that aggregate."""

    number: int
    nonrecursive: list[Family] = field(default_factory=list)
    recursive: list[Family] = field(default_factory=list)
    aggregating: list[Family] = field(default_factory=list)
    lower: Triggers = field(default_factory=Triggers)
    """Positive atoms of nonrecursive rules, and those of recursive ones on lower strata."""
    own: Triggers = field(default_factory=Triggers)
    """Positive atoms of recursive rules that may match facts of this stratum."""
    negated: Triggers = field(default_factory=Triggers)
    """Negated atoms."""
    summed: Triggers = field(default_factory=Triggers)
    """Atoms of aggregates, negated ones too."""
    relations: set[RelationKey] | None = field(default_factory=set)
    """The relations that bodies speak of; None for all."""

    concluding: dict[RelationKey, list[Family]] = field(default_factory=dict)
    """Families by the relation of their heads; aggregating ones are left out."""
    by_class: tuple[list[Family], dict[int, list[Family]]] | None = None
    """Families that conclude types: of any class, and by class; once asked for."""
    plain: CompiledStratum | None = None
    """The same without the recursive families, once asked for."""
    cursors: BackwardRules | None = None
    """Its recursive rules for backward search, once asked for."""

    @property
    def families(self) -> list[Family]:
        """All of them."""
        return [*self.nonrecursive, *self.recursive, *self.aggregating]

    def concluded(self, relation: RelationKey) -> list[Family]:
        """The families that may conclude facts of a relation."""
        found = self.concluding.get(relation, [])
        if isinstance(relation, int) and ANY in self.concluding:
            return [*found, *self.concluding[ANY]]
        return found

    def concluded_types(self, type_id: int, classes: Iterable[int]) -> list[Family]:
        """The families that may conclude that something is of one of these classes."""
        if self.by_class is None:
            self.by_class = _by_class(self.concluded(type_id))
        every, of_class = self.by_class
        found = {family.number: family for family in every}
        for class_ in classes:
            found.update((family.number, family) for family in of_class.get(class_, ()))
        return list(found.values())


def _by_class(families: Iterable[Family]) -> tuple[list[Family], dict[int, list[Family]]]:
    every: list[Family] = []
    of_class: dict[int, list[Family]] = {}
    for family in families:
        term, table = family.head.terms[0], family.table
        if family.head.relation == ANY:
            every.append(family)
        elif term < 0:
            of_class.setdefault(-term, []).append(family)
        elif table is not None and term in table.variables:
            column = table.columns[table.variables.index(term)]
            for class_ in dict.fromkeys(column.tolist()):
                of_class.setdefault(class_, []).append(family)
        else:
            every.append(family)
    return every, of_class


def nonrecursive_part(stratum: CompiledStratum, type_id: int) -> CompiledStratum:
    """A stratum without its recursive families."""
    if not stratum.recursive:
        return stratum
    if stratum.plain is None:
        families = [*stratum.nonrecursive, *stratum.aggregating]
        number = stratum.number
        stratum.plain = Strata(families, type_id).get(number) or CompiledStratum(number)
    return stratum.plain


class Strata(dict[int, CompiledStratum]):
    """Families by stratum, hierarchies, and which strata look at a slice."""

    def __init__(
        self,
        families: Sequence[Family],
        type_id: int,
        hierarchies: dict[int, Hierarchy] | None = None,
    ) -> None:
        super().__init__()
        self.hierarchies = hierarchies or {}
        self.type_id = type_id
        self.families = families
        self._relations: dict[RelationKey, set[int]] = {}
        self._classes: dict[int, set[int]] = {}
        for family in looking(families):
            stratum = self.get(family.stratum)
            if stratum is None:
                stratum = self[family.stratum] = CompiledStratum(family.stratum)
            self._add(stratum, family)

    def and_bottom(self, keys: U64) -> Strata:
        """The same with these sub-class axioms at the bottom, if there are any."""
        if len(keys):
            self.hierarchies = {**self.hierarchies, BOTTOM: Hierarchy.of_keys(BOTTOM, keys)}
        return self

    def with_bottom_of(self, other: Strata) -> Strata:
        """The same with the bottom of others, if these have one."""
        if BOTTOM in other.hierarchies:
            self.hierarchies = {**self.hierarchies, BOTTOM: other.hierarchies[BOTTOM]}
        return self

    def _add(self, stratum: CompiledStratum, family: Family) -> None:
        if family.summary is not None:
            stratum.aggregating.append(family)
        else:
            (stratum.recursive if family.recursive else stratum.nonrecursive).append(family)
            stratum.concluding.setdefault(family.head.relation, []).append(family)
        for item, atom in enumerate((*family.body, *family.nots)):
            negated = item >= len(family.body)
            self._watch(family, atom)
            if atom.relation == ANY:
                stratum.relations = None
            elif stratum.relations is not None:
                stratum.relations.add(atom.relation)
            if family.summary is not None:
                stratum.summed.add(family, item, atom, self.type_id)
            elif negated:
                stratum.negated.add(family, item, atom, self.type_id)
            else:
                if atom.own != 1:
                    stratum.lower.add(family, item, atom, self.type_id)
                if atom.own and family.recursive:
                    stratum.own.add(family, item, atom, self.type_id)

    def _watch(self, family: Family, atom: CompiledAtom) -> None:
        if atom.relation == self.type_id:
            term = atom.terms[0]
            if term < 0:
                self._classes.setdefault(-term, set()).add(family.stratum)
                return
            if family.table is not None and term in family.table.variables:
                column = family.table.columns[family.table.variables.index(term)]
                for class_ in np.unique(column).tolist():
                    self._classes.setdefault(class_, set()).add(family.stratum)
                return
        self._relations.setdefault(atom.relation, set()).add(family.stratum)

    def watching(self, relation: RelationKey, keys: Keys) -> set[int]:
        """The strata with a body that speaks of the slices of these facts."""
        found = set(self._relations.get(relation, ()))
        if isinstance(relation, int):
            found |= self._relations.get(ANY, set())
        if relation == self.type_id and (self._classes or self.hierarchies):
            classes = sorted_distinct(high(keys))
            for class_ in classes.tolist() if self._classes else ():
                found |= self._classes.get(class_, set())
            for number, hierarchy in self.hierarchies.items():
                if number not in found and in_sorted(classes, hierarchy.bodies).any():
                    found.add(number)
        return found
