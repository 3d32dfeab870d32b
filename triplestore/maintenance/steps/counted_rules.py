"""The recursive rules of a stratum in the form that counting needs.

Start reading at `Recursion`. Other strategies need only the conclusion of an instance. Counting
needs to know when each of its body facts comes, so all variables of a rule are kept to the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from triplestore.data_classes import data_class
from triplestore.evaluate.binding_frames import Bindings
from triplestore.evaluate.conclusions import body_facts
from triplestore.relations.facts.fact_sets import FactSet, RelationKey
from triplestore.relations.packed_keys import I64, Bools, Keys
from triplestore.rules.families import LOWER, MIXED, OWN, Family, KnownOfFamily
from triplestore.rules.strata import CompiledStratum, Levels, Strata


@data_class(frozen=False)
class Recursion:
    """The recursive rules of a stratum, as families whose instances have all their variables.

    shapes  id of a family -> its shape
    width   maximum number of atoms of this stratum in a rule, with its head
    """

    rules: CompiledStratum
    shapes: dict[int, CountedShape]
    width: int

    @classmethod
    def of(cls, stratum: CompiledStratum, type_id: int) -> Recursion:
        """The recursive rules of a stratum."""
        wide, shapes = [], {}
        for family in stratum.recursive:
            used = (*family.body, *family.nots, family.head)
            every = tuple(dict.fromkeys(v for atom in used for v in atom.variables))
            made = replace(family, head=family.head._replace(terms=every), known=KnownOfFamily())
            wide.append(made)
            shapes[id(made)] = CountedShape.of(family)
        width = max(len(shape.own) for shape in shapes.values())
        return cls(Strata(wide, type_id)[stratum.number], shapes, width)


class CountedShape(NamedTuple):
    """The places of the atoms of a family, whose body is extended by its negations and its head.

    own    atoms that may match facts of this stratum; the head
    below  atoms that may match facts of lower strata
    nots   the first negated atom
    """

    every: Family
    own: tuple[int, ...]
    below: tuple[int, ...]
    nots: int

    @classmethod
    def of(cls, family: Family) -> CountedShape:
        """The shape of a family."""
        count = len(family.body)
        head = family.head._replace(own=OWN)
        every = replace(family, body=(*family.body, *family.nots, head), nots=())
        own = [i for i, atom in enumerate(family.body) if atom.own != LOWER]
        below = [i for i, atom in enumerate(family.body) if atom.own != OWN]
        below += range(count, len(every.body) - 1)
        return cls(every, (*own, len(every.body) - 1), tuple(below), count)


class Met(NamedTuple):
    """Instances of one family."""

    shape: CountedShape
    rows: Bindings
    n: int

    def facts(
        self, item: int, levels: Levels, stratum: int
    ) -> Iterator[tuple[RelationKey, Keys, I64]]:
        """The facts of a stratum that an atom matched, and the instances in which it matched."""
        family = self.shape.every
        for name, keys, where in body_facts(family, item, self.rows, self.n, levels.type_id):
            places = np.arange(self.n) if where is None else where
            if family.body[item].own == MIXED:
                own = levels.mask(name, keys, stratum)
                keys, places = keys[own], places[own]
            yield name, keys, places

    def need(self, added: FactSet, gone: FactSet, type_id: int) -> Bools:
        """Which instances have a fact that was added below, or negate one that is gone."""
        found = np.zeros(self.n, dtype=np.bool_)
        for item in self.shape.below:
            changed = gone if item >= self.shape.nots else added
            if not changed:
                continue
            for name, keys, where in body_facts(self.shape.every, item, self.rows, self.n, type_id):
                hit = changed.contains(name, keys)
                found[hit if where is None else where[hit]] = True
        return found


class NumberedInstances(NamedTuple):
    """Rule instances by the numbers of their facts.

    head   the numbers of their conclusions
    body   the numbers of their body facts of this stratum: as many rows as a body may have
    since  the round in which they were met; 0 for those with changes below
    fresh  whether one evaluation does not have them, because of changes below
    """

    head: I64
    body: I64
    since: I64
    fresh: Bools

    def take(self, which: I64) -> NumberedInstances:
        """Some of them."""
        return NumberedInstances(
            self.head[which], self.body[:, which], self.since[which], self.fresh[which]
        )
