"""The stratum of each fact. Start at `Levels`.

Facts are numbered by stratum through their slices: a property, a class, a user's relation.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from triplestore.datalog.slices import Slice
from triplestore.datalog.stratify import Stratification
from triplestore.relations.facts.fact_sets import Batch, RelationKey
from triplestore.relations.packed_keys import I64, NO_IDS, U32, Bools, Keys, high, in_sorted
from triplestore.rules.families import IdsOf
from triplestore.rules.subclass_pairs import BOTTOM
from triplestore.thread_limits import looking


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
