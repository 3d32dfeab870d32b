"""Families by stratum, which of them read a slice that changes, and the stratum of each fact.

Start reading at `Strata`. A stratum is visited only if a body reads a changed slice, and there only
the families that read it are run. `Levels` has the stratum of each fact.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from triplestore.data_classes import data_class
from triplestore.datalog.slices import Slice
from triplestore.datalog.stratify import Stratification
from triplestore.relations.facts.fact_sets import ANY, Batch, RelationKey
from triplestore.relations.facts.sorted_arrays import sorted_distinct
from triplestore.relations.packed_keys import I64, NO_IDS, U32, U64, Bools, Keys, high, in_sorted
from triplestore.rules.families import CompiledAtom, Family, IdsOf
from triplestore.rules.subclass_levels import Hierarchy
from triplestore.rules.subclass_pairs import BOTTOM
from triplestore.rules.thresholds import RULES
from triplestore.thread_limits import looking

if TYPE_CHECKING:
    from triplestore.rules.backward_rules import BackwardRules
    from triplestore.rules.leap_rules import LeapRule


@data_class(frozen=False)
class Triggers:
    """The items of families that may match a fact: (family, number of the item)."""

    by_class: dict[int, list[tuple[Family, int]]] = field(default_factory=dict)
    by_relation: dict[RelationKey, list[tuple[Family, int]]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.by_class or self.by_relation)

    def add(self, family: Family, item: int, atom: CompiledAtom, type_id: int) -> None:
        """Register an item of a family for the relation of its atom."""
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
                        if family.table is not None:  # it is listed for several classes
                            one = id(family), item
                            if one in seen:
                                continue
                            seen.add(one)
                        yield family, item

    def _of_classes(self, keys: Keys) -> Iterator[list[tuple[Family, int]]]:
        """The items for each class that has facts among sorted keys."""
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
    """The classes that an atom of types may match; None for any."""
    term, table = atom.terms[0], family.table
    if term < 0:
        return (-term,)
    if table is None or term not in table.variables or len(family.rules) > RULES.listed_rules:
        return None
    return set(table.columns[table.variables.index(term)].tolist())


@data_class(frozen=False)
class CompiledStratum:
    """The families of one stratum: nonrecursive, recursive, and aggregating ones."""

    number: int
    nonrecursive: list[Family] = field(default_factory=list)
    recursive: list[Family] = field(default_factory=list)
    aggregating: list[Family] = field(default_factory=list)
    lower: Triggers = field(default_factory=Triggers)
    """Positive atoms of nonrecursive rules, and positive atoms of recursive rules on lower
    strata."""
    own: Triggers = field(default_factory=Triggers)
    """Positive atoms of recursive rules that may match facts of this stratum."""
    negated: Triggers = field(default_factory=Triggers)
    """Negated atoms."""
    summed: Triggers = field(default_factory=Triggers)
    """Atoms of aggregates, with negated ones."""
    relations: set[RelationKey] | None = field(default_factory=set)
    """The relations in bodies; None for all."""

    concluding: dict[RelationKey, list[Family]] = field(default_factory=dict)
    """Families by the relation of their heads, without aggregating ones."""
    by_class: tuple[list[Family], dict[int, list[Family]]] | None = None
    """Families that conclude types: of any class, and by class; made when needed."""
    plain: CompiledStratum | None = None
    """The same without the recursive families; made when needed."""
    leap_rules: dict[int, LeapRule] | None = None
    """Its transitive rules that others go through; made when needed."""
    cursors: BackwardRules | None = None
    """Its recursive rules for backward search; made when needed."""

    @property
    def families(self) -> list[Family]:
        """All families."""
        return [*self.nonrecursive, *self.recursive, *self.aggregating]

    def concluded(self, relation: RelationKey) -> list[Family]:
        """The families that may conclude facts of a relation."""
        found = self.concluding.get(relation, [])
        if isinstance(relation, int) and ANY in self.concluding:
            return [*found, *self.concluding[ANY]]
        return found

    def concluded_types(self, type_id: int, classes: Iterable[int]) -> list[Family]:
        """The families that may conclude facts of these classes."""
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
    """Families by stratum, hierarchies, and the strata that read a slice."""

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
        """Add these subclass axioms as the bottom, if there are any."""
        if len(keys):
            self.hierarchies = {**self.hierarchies, BOTTOM: Hierarchy.of_keys(BOTTOM, keys)}
        return self

    def with_bottom_of(self, other: Strata) -> Strata:
        """Add the bottom of another program's strata, if it has one."""
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
                for class_ in sorted_distinct(column).tolist():
                    self._classes.setdefault(class_, set()).add(family.stratum)
                return
        self._relations.setdefault(atom.relation, set()).add(family.stratum)

    def watching(self, relation: RelationKey, keys: Keys) -> set[int]:
        """The strata with a body that reads the slices of these facts."""
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


class Levels:
    """The stratum of each fact, found by its slice: a property, a class or a user's relation. The
    strata of a block count as its first.

    bottom  classes of the bottom, in increasing order
    """

    def __init__(
        self,
        strata: Stratification,
        ids_of: IdsOf,
        type_id: int,
        blocks: Mapping[int, int] | None = None,
        bottom: U32 = NO_IDS,
    ) -> None:
        self.type_id = type_id
        self._bottom = bottom
        blocks = blocks or {}
        self._relations: dict[RelationKey, int] = {}
        self._classes: dict[int, int] = {}
        self._property = strata.level_of(Slice("property", b""))
        self._class = strata.level_of(Slice("class", b""))
        slices = [slice_ for slice_ in strata.levels if slice_.name]
        ids = ids_of([s.name for s in slices]).tolist() if slices else []
        for slice_, i in looking(zip(slices, ids, strict=True)):
            level = strata.levels[slice_]
            level = blocks.get(level, level)
            if slice_.kind == "property":
                self._relations[i] = level
            elif slice_.kind == "class":
                self._classes[i] = level
            elif slice_.kind == "tuple":
                self._relations[i, slice_.arity] = level

    def relation(self, relation: RelationKey) -> int:
        """The stratum of all facts of a relation that is not rdf:type."""
        default = 0 if isinstance(relation, tuple) else self._property
        return self._relations.get(relation, default)

    def classes(self, ids: U32) -> I64:
        """The strata of the facts of some classes."""
        levels = self._classes
        if len(ids) < 64:
            found = np.array([levels.get(i, self._class) for i in ids.tolist()], dtype=np.int64)
            found[in_sorted(ids, self._bottom)] = BOTTOM
            return found
        each, index = np.unique(ids, return_inverse=True)
        found = np.array([levels.get(i, self._class) for i in each.tolist()], dtype=np.int64)
        found[in_sorted(each, self._bottom)] = BOTTOM
        return found[index]

    def split(self, batch: Batch) -> dict[int, Batch]:
        """The facts of each stratum."""
        found: dict[int, Batch] = {}
        for name, keys in batch.items():
            if name != self.type_id:
                found.setdefault(self.relation(name), {})[name] = keys
                continue
            levels = self.classes(high(keys))
            for level in sorted_distinct(levels).tolist():
                found.setdefault(level, {})[name] = keys[levels == level]
        return found

    def mask(self, relation: RelationKey, keys: Keys, level: int) -> Bools:
        """Which facts belong to a stratum."""
        if relation != self.type_id:
            return np.full(len(keys), self.relation(relation) == level)
        found: Bools = self.classes(high(keys)) == level
        return found
