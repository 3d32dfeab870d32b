"""What a search knows of facts and of waiting instances, kept by kernels.

Start reading at `NumberedFacts`, which is `CheckedFacts` with a hash table, and `LinkedInstances`,
which is `WaitingInstances` with chains instead of sorted runs.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.kernels.rules import backward, waiting
from triplestore.maintenance.search.checked_facts import CheckedFacts
from triplestore.relations.facts.fact_sets import ANY, Batch, RelationKey
from triplestore.relations.packed_keys import I64, U64, Keys, start_of_runs

I32: TypeAlias = NDArray[np.int32]

_SLOTS = 256


class NumberedFacts(CheckedFacts):
    """Facts by number; those of two columns by a hash table.

    places         the number of each relation of two columns; `names` are these in order
    key, relation  of each fact; relation -1 for facts of more columns
    """

    __slots__ = (
        "capacity",
        "key",
        "names",
        "needs",
        "places",
        "relation",
        "slots",
        "state",
        "waits",
    )

    def __init__(self, names: list[int]) -> None:
        super().__init__()
        self.names = list(names)
        self.places = {name: place for place, name in enumerate(names)}
        self.capacity = 0
        self.key: U64 = np.zeros(0, dtype=np.uint64)
        self.relation: I32 = np.zeros(0, dtype=np.int32)
        self.state: I64 = np.zeros(0, dtype=np.int64)
        self.waits: I32 = np.zeros(0, dtype=np.int32)
        self.needs: I32 = np.zeros(0, dtype=np.int32)
        self.slots: I32 = np.zeros(_SLOTS, dtype=np.int32)
        self.make_room(len(self.flags))

    def make_room(self, more: int) -> None:
        """Make room for this many more facts."""
        size = self.count + more
        if size > self.capacity:
            self.capacity = size = 2 * size
            for name in ("flags", "depth", "age", "waiting", "key", "relation", "waits", "needs"):
                setattr(self, name, _longer(getattr(self, name), size, self.count))
            cursor = backward.STATE
            self.state = _longer(self.state, size * cursor, self.count * cursor)
        if 2 * (self.count + more) > len(self.slots):
            wanted = 1 << (4 * (self.count + more)).bit_length()
            self.slots = np.zeros(wanted, dtype=np.int32)
            backward.fill_slots(self.key, self.relation, self.count, self.slots)

    def place(self, name: int) -> int:
        """The number of a relation."""
        found = self.places.get(name)
        if found is None:
            found = self.places[name] = len(self.names)
            self.names.append(name)
        return found

    def add(self, relation: RelationKey, keys: Keys) -> I64:
        """See `CheckedFacts.add`."""
        self.make_room(len(keys))
        if isinstance(relation, int):
            return self._hashed(relation, keys, adds=True)
        self.relation[self.count : self.count + len(keys)] = -1
        return super().add(relation, keys)

    def find(self, relation: RelationKey, keys: Keys) -> I64:
        """See `CheckedFacts.find`."""
        if isinstance(relation, int):
            return self._hashed(relation, keys, adds=False)
        return super().find(relation, keys)

    def _hashed(self, relation: int, keys: Keys, *, adds: bool) -> I64:
        assert relation != ANY, "facts are of one relation"
        found = np.empty(len(keys), dtype=np.int64)
        self.count = backward.find_facts(
            self.place(relation),
            keys,
            self.key,
            self.relation,
            self.slots,
            self.count,
            adds,
            found,
        )
        return found

    def batch(self, numbers: I64) -> Batch:
        """See `CheckedFacts.batch`."""
        wide = self.relation[numbers] < 0
        made = super().batch(numbers[wide]) if wide.any() else {}
        for name, keys, _ in self.by_relation(numbers[~wide] if wide.any() else numbers):
            made[name] = keys
        return made

    def by_relation(self, numbers: I64) -> list[tuple[int, U64, I64]]:
        """The facts of two columns, each given once, as (relation, sorted keys, their numbers)."""
        if len(numbers) == 0:
            return []
        key, relation = self.key[numbers], self.relation[numbers]
        if (relation == relation[0]).all():
            order = key.argsort()
            return [(self.names[int(relation[0])], key[order], numbers[order])]
        order = np.lexsort((key, relation))
        key, relation, numbers = key[order], relation[order], numbers[order]
        bounds = start_of_runs(relation).tolist()
        return [
            (self.names[int(relation[low])], key[low:high], numbers[low:high])
            for low, high in pairwise(bounds)
        ]


class LinkedInstances:
    """Instances that wait for facts; see `WaitingInstances`."""

    def __init__(self, facts: NumberedFacts) -> None:
        self.facts = facts
        self.counts = np.zeros(2, dtype=np.int64)
        self.goal = self.rest = np.zeros(0, dtype=np.int32)
        self.entry_of = self.entry_fact = np.zeros(0, dtype=np.int32)
        self.next_wait = self.next_need = np.zeros(0, dtype=np.int32)
        self.stack: I64 = np.zeros(0, dtype=np.int64)

    @property
    def size(self) -> int:
        """The number of instances."""
        return int(self.counts[0])

    def add(self, goals: I64, children: I32, width: int) -> I64:
        """Remember that goals[i] follows from facts. For each goal `width` facts are written,
        each as its number plus one, or 0 for none. Returns the goals of instances that wait for
        nothing."""
        self._make_room(len(goals), len(children))
        facts, ready = self.facts, np.empty(len(goals), dtype=np.int64)
        done = waiting.remember(
            goals,
            children,
            width,
            facts.flags,
            self.goal,
            self.rest,
            self.entry_of,
            self.entry_fact,
            self.next_wait,
            self.next_need,
            facts.waits,
            facts.needs,
            self.counts,
            ready,
        )
        return ready[:done]

    def _make_room(self, instances: int, entries: int) -> None:
        count, used = self.counts.tolist()
        if count + instances > len(self.goal):
            for name in ("goal", "rest"):
                setattr(self, name, _longer(getattr(self, name), 2 * (count + instances), count))
        if used + entries > len(self.entry_of):
            for name in ("entry_of", "entry_fact", "next_wait", "next_need"):
                setattr(self, name, _longer(getattr(self, name), 2 * (used + entries), used))

    def _room_for_all(self) -> I64:
        if len(self.stack) < self.facts.count:
            self.stack = np.empty(self.facts.capacity, dtype=np.int64)
        return self.stack

    def prove(self, numbers: I64) -> int:
        """Mark facts as proved, with their consequences; returns the number of new ones."""
        facts, stack = self.facts, self._room_for_all()
        proved: int = waiting.prove(
            numbers,
            len(numbers),
            facts.flags,
            self.goal,
            self.rest,
            self.entry_of,
            self.next_wait,
            facts.waits,
            stack,
        )
        return proved

    def enliven(self, numbers: I64) -> None:
        """Mark facts as needed for an open goal, with all facts that they wait for."""
        facts, stack = self.facts, self._room_for_all()
        waiting.enliven(numbers, facts.flags, self.entry_fact, self.next_need, facts.needs, stack)

    def bury(self) -> None:
        """Mark facts without a proof: needed facts that are not proved, unless they are blocked or
        need a blocked fact."""
        facts, stack = self.facts, self._room_for_all()
        waiting.bury(
            facts.flags, facts.count, self.goal, self.entry_of, self.next_wait, facts.waits, stack
        )


def _longer(array: NDArray[Any], size: int, used: int) -> NDArray[Any]:
    made = np.zeros(size, dtype=array.dtype)
    made[:used] = array[:used]
    return made
