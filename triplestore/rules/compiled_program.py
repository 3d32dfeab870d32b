"""A program compiled: its families by stratum, and who must look when a slice changes.

Start reading at `Compiled`. Facts are numbered by stratum through their slices: a property, a
class, a user's relation. A stratum none of whose bodies speaks of a changed slice is never visited,
and in one that is, only the families are run that speak of it.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from triplestore.datalog.program import TYPE, Constraint, Program, Rule
from triplestore.datalog.rules import signature
from triplestore.datalog.slices import Slice
from triplestore.datalog.stratify import Method, Stratification, stratify
from triplestore.relations.facts.fact_sets import ANY, Batch, RelationKey
from triplestore.relations.facts.sorted_arrays import sorted_distinct
from triplestore.relations.packed_keys import (
    I64,
    NO_IDS,
    NO_KEYS,
    U32,
    U64,
    Bools,
    Keys,
    high,
    in_sorted,
)
from triplestore.rules.families import CompiledAtom, Family, IdsOf, compile_rules, recursive_rules
from triplestore.rules.modules.module_groups import Owned
from triplestore.rules.modules.own_strata import apart
from triplestore.rules.modules.recognise import find_groups
from triplestore.rules.simplify import SimpleProgram, simplify
from triplestore.rules.subclass_levels import Hierarchy, find_blocks
from triplestore.rules.subclass_pairs import (
    BOTTOM,
    Bottom,
    SubClasses,
    above_bottom,
    parted,
    without_bottom,
)
from triplestore.thread_limits import looking

if TYPE_CHECKING:
    from triplestore.maintenance.search.kernel_rules import Rules


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


_FEW_RULES = 64
"""Families of more rules look at every change of a type: no class need be listed for them."""


def _classes_of(family: Family, atom: CompiledAtom) -> Collection[int] | None:
    """The classes an atom of types may speak of; None for any."""
    term, table = atom.terms[0], family.table
    if term < 0:
        return (-term,)
    if table is None or term not in table.variables or len(family.rules) > _FEW_RULES:
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
    """Families that conclude types: of any class, and by class; once somebody asked for it."""
    plain: CompiledStratum | None = None
    """The same without the recursive families, once somebody asked for it."""
    cursors: Rules | None = None
    """Its recursive rules for backward search, once somebody asked for it."""

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


class Compiled:
    """A program, ready to be evaluated on the tables of one dictionary.

    program         as it was given
    simple          in the simple form that is evaluated
    stratification  of the simple form
    costs           what strata have cost, for strategies that choose by it
    modules         stratum -> the group of rules that a module owns there
    bottom          sub-class axioms that were given `beside` the program and are no rules of it, or
                    that are taken out of it (`pairs`): of 40,000 rules one more costs a fifth so
    """

    def __init__(
        self,
        program: Program,
        ids_of: IdsOf,
        strata: Method = "levels",
        *,
        hierarchies: bool = True,
        modules: bool = True,
        beside: SubClasses | None = None,
        pairs: bool = False,
    ) -> None:
        self.program = program
        self.ids_of = ids_of
        if pairs:
            program, beside = parted(program, ids_of)
        self.simple: SimpleProgram = simplify(program)
        self.bottom: Bottom | None = None
        if beside is not None:
            self.simple, self.bottom = without_bottom(self.simple, beside, ids_of)
        self.stratification: Stratification = stratify(self.simple.rules, strata)
        if self.bottom is not None:
            self.stratification = above_bottom(self.stratification)
        groups = []
        if modules and isinstance(strata, str):
            groups = find_groups(self.simple.rules, self.stratification)
        numbers: list[int] = []
        if groups:
            self.stratification, numbers = apart(self.stratification, groups)
        self.modules = {
            number: Owned.of(number, group, ids_of)
            for number, group in zip(numbers, groups, strict=True)
        }
        self.type_id = int(ids_of([TYPE.key])[0])
        self.method = strata
        self.with_modules = modules
        self.costs: dict[int, Any] = {}
        self._recursion: dict[int, frozenset[Hashable]] = {}
        self.anchors = frozenset(owned.anchor for owned in self.modules.values())
        others = [one for one in self.stratification if one.number not in self.modules]
        self.blocks = find_blocks(others) if hierarchies else {}

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules in simple form; families name them by their places here."""
        return self.simple.rules

    @property
    def origins(self) -> tuple[Rule | Constraint, ...]:
        """For each simple rule, the rule or constraint it was made from."""
        return self.simple.origins

    @cached_property
    def strata(self) -> Strata:
        """All rules, by stratum."""
        keys = NO_KEYS if self.bottom is None else self.bottom.keys
        return self._strata_of(range(len(self.rules))).and_bottom(keys)

    def strata_of(self, numbers: Iterable[int], blocks: bool = True) -> Strata:
        """Some of the rules, by stratum; nothing of the bottom.

        blocks  whether rules of a block make a hierarchy, or families like others
        """
        chosen = set(numbers)
        if blocks and 2 * len(chosen) > len(self.rules):
            return self._strata_without(set(range(len(self.rules))) - chosen)
        return self._strata_of(sorted(chosen), blocks)

    def strata_of_bottom(self, keys: U64) -> Strata:
        """Some axioms of the bottom, as families like others."""
        rules = [] if self.bottom is None else self.bottom.rules(keys)
        families = compile_rules(rules, self.stratification, self.ids_of)
        return Strata(families, self.type_id)

    def _strata_of(self, numbers: Sequence[int], blocks: bool = True) -> Strata:
        """Some of the rules, compiled."""
        plain = numbers
        copied: dict[int, list[int]] = {}
        if blocks and self.blocks:
            of = self._block_numbers()
            plain = [i for i in numbers if i not in of]
            for i in numbers:
                if i in of:
                    copied.setdefault(of[i], []).append(i)
        hierarchies = {n: self._hierarchy(n, members) for n, members in copied.items()}
        return Strata(self._families(plain), self.type_id, hierarchies)

    def _families(self, numbers: Sequence[int]) -> list[Family]:
        rules = [self.rules[i] for i in numbers]
        return compile_rules(rules, self.stratification, self.ids_of, numbers, self._recursive)

    @cached_property
    def _recursive(self) -> set[int]:
        """The identities of the rules that are recursive."""
        return recursive_rules(self.stratification)

    def _hierarchy(self, number: int, members: Sequence[int]) -> Hierarchy:
        return Hierarchy.of(number, [(i, self.rules[i]) for i in members], self.ids_of)

    def _strata_without(self, numbers: set[int]) -> Strata:
        """All rules but a few: families and hierarchies that have none of these are shared."""
        families: list[Family] = []
        for family in self.strata.families:
            if numbers.isdisjoint(family.rules):
                families.append(family)
                continue
            for made in self._families([i for i in family.rules if i not in numbers]):
                made.number = family.number  # the rest has one shape, so this is one family
                families.append(made)
        hierarchies = {}
        for number, known in self.strata.hierarchies.items():
            if self.bottom is not None and number == BOTTOM:
                continue
            if numbers.isdisjoint(known.rules):
                hierarchies[number] = known
            elif left := [i for i in known.rules if i not in numbers]:
                hierarchies[number] = self._hierarchy(number, left)
        return Strata(families, self.type_id, hierarchies)

    def _block_numbers(self) -> dict[int, int]:
        """Number of a rule -> its block, for those that are in one."""
        blocks = {
            id(rule): self.blocks[stratum.number]
            for stratum in self.stratification
            if stratum.number in self.blocks
            for rule in stratum.rules
        }
        return {i: blocks[id(rule)] for i, rule in enumerate(self.rules) if id(rule) in blocks}

    def recursion(self, number: int) -> frozenset[Hashable]:
        """What the recursive rules of a stratum are but for names."""
        found = self._recursion.get(number)
        if found is None:
            families = self.strata[number].recursive if number in self.strata else ()
            rules = [self.rules[i] for family in families for i in family.rules]
            found = self._recursion[number] = frozenset(map(signature, rules))
        return found

    @cached_property
    def signatures(self) -> dict[Hashable, int]:
        """What each simple rule is but for names -> its number: what programs are compared by."""
        return {signature(rule): i for i, rule in enumerate(self.rules)}

    @cached_property
    def levels(self) -> Levels:
        """The stratum of each fact."""
        bottom = NO_IDS if self.bottom is None else self.bottom.heads
        return Levels(self.stratification, self.ids_of, self.type_id, self.blocks, bottom)

    @cached_property
    def helpers(self) -> frozenset[RelationKey]:
        """The internal relations."""
        names = list(self.simple.helpers)
        ids = self.ids_of([key for key, _ in names]).tolist()
        return frozenset((i, arity) for i, (_, arity) in zip(ids, names, strict=True))

    @cached_property
    def violations(self) -> dict[int, Constraint]:
        """Id of an internal relation -> the constraint whose violations it lists."""
        keys = list(self.simple.violations)
        ids = self.ids_of(keys).tolist()
        return {i: self.simple.violations[key] for i, key in zip(ids, keys, strict=True)}


def recursive_numbers(compiled: Compiled) -> set[int]:
    """The numbers of the recursive rules."""
    recursive = recursive_rules(compiled.stratification)
    return {i for i, rule in enumerate(compiled.rules) if id(rule) in recursive}


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


class Levels:
    """The stratum that each fact belongs to; the strata of a block go by its first.

    bottom  classes of the bottom, increasing
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
        """The strata of the facts of classes."""
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
        """Facts by stratum."""
        found: dict[int, Batch] = {}
        for name, keys in batch.items():
            if name != self.type_id:
                found.setdefault(self.relation(name), {})[name] = keys
                continue
            levels = self.classes(high(keys))
            for level in np.unique(levels).tolist():
                found.setdefault(level, {})[name] = keys[levels == level]
        return found

    def mask(self, relation: RelationKey, keys: Keys, level: int) -> Bools:
        """Which facts are of a stratum."""
        if relation != self.type_id:
            return np.full(len(keys), self.relation(relation) == level)
        found: Bools = self.classes(high(keys)) == level
        return found
