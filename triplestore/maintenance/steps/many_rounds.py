"""Long chains of rounds with few facts: many rounds in one call of a kernel.

Start reading at `Climb`. A chain of ten thousand nodes takes as many rounds, of some thirty
microseconds each, however few facts a round adds or deletes. Suppose that a round concluded facts
of one relation only, that few small rules (`evaluate.small_rules`) read these facts and the facts
that follow from them, and that all these facts are of that relation. Then no other rule matters in
the next rounds. The kernel does them, until nothing is new or there are too many facts. Results and
counts do not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from triplestore.evaluate.small_rules import Done, kernel_shape
from triplestore.maintenance.thresholds import MAINTENANCE
from triplestore.maintenance.update_state import Work
from triplestore.relations.facts.body_views import PairView, Setting
from triplestore.relations.facts.fact_sets import Batch, RelationKey
from triplestore.relations.facts.sorted_arrays import loaded_kernels, sorted_distinct, unite
from triplestore.relations.packed_keys import I64, NO_KEYS, U64, Bools
from triplestore.rules.body_plans import KernelStage
from triplestore.rules.families import Family
from triplestore.rules.strata import Triggers

RULES = 4
"""Maximum number of rules: the kernel has room for the rows of this many."""


class Rounds(NamedTuple):
    """The result of a call.

    new     the facts of all rounds, in order
    left    conclusions of the last round, unsorted
    ends    for each round, the end of its facts; `fetched` and `instances` are its numbers
    """

    new: U64
    left: U64
    ends: I64
    fetched: I64
    instances: I64

    def until(self, wrong: Bools) -> Rounds:
        """The rounds before the first one with a wrong fact; the facts of that round are left."""
        if not wrong.any():
            return self
        last = int(self.ends.searchsorted(wrong.argmax(), side="right"))
        end = int(self.ends[last - 1]) if last else 0
        parts = (self.ends[:last], self.fetched[:last], self.instances[:last])
        return Rounds(self.new[:end], self.new[end : self.ends[last]], *parts)


class Climb:
    """The rounds of one insertion or one deletion, if there are many."""

    def __init__(self, work: Work, triggers: Sequence[Triggers]) -> None:
        self._work = work
        self._triggers = triggers
        self._refused = work.recursive is not None  # every instance must be counted

    def up(self, found: Batch) -> tuple[Batch, Batch]:
        """After a round of insertion: from its conclusions to the new facts of many rounds, and the
        facts that are left to check."""
        if not self._begins(found):
            return {}, found
        work = self._work

        def held(name: int) -> tuple[U64, U64] | None:
            rows = _arrays(work.new(), name, 0)
            return None if rows is None or len(rows[2]) or len(rows[3]) else rows[:2]

        return self._go(found, "insertion", work.new, held, lambda name, keys: keys == 0)

    def down(self, found: Batch) -> tuple[Batch, Batch]:
        """The same for deletion, where facts with a nonrecursive derivation stay: the facts that
        many rounds delete, and those that are left to check."""
        if not self._begins(found):
            return {}, found
        work = self._work

        def held(name: int) -> tuple[U64, U64]:
            return work.gone.keys_of(name), NO_KEYS

        return self._go(found, "deletion", work.survivors, held, work.supported)

    def _begins(self, found: Batch) -> bool:
        """Whether there are few facts, of one relation of two columns."""
        if self._refused or len(found) != 1:
            return False
        ((name, keys),) = found.items()
        return isinstance(name, int) and len(keys) <= MAINTENANCE.kernel_round_facts

    def _go(
        self,
        found: Batch,
        phase: str,
        setting: Callable[[], Setting],
        held: Callable[[int], tuple[U64, U64] | None],
        wrong: Callable[[RelationKey, U64], Bools],
    ) -> tuple[Batch, Batch]:
        ((name, keys),) = found.items()
        assert isinstance(name, int), "of two columns"
        rules = self._rules(name, keys, setting())
        out_of = None if rules is None else held(name)
        self._refused = out_of is None
        if rules is None or out_of is None:
            return {}, found
        self._work.budget.check()
        made = _call(keys, rules, out_of)
        made = made.until(wrong(name, made.new))
        self._refused = len(made.ends) < MAINTENANCE.rounds_before_kernel
        done = Done(int(made.fetched.sum()), 0, int(made.instances.sum()))
        self._work.rounds += len(made.ends)
        self._work.run.count(done, phase, len(rules) * len(made.ends))
        new, left = Batch(), Batch()
        for batch, facts in ((new, np.sort(made.new)), (left, sorted_distinct(made.left))):
            if len(facts):
                batch[name] = facts
        return new, left

    def _rules(
        self, name: int, keys: U64, setting: Setting
    ) -> list[tuple[KernelStage, RelationArrays]] | None:
        """The rules for the kernel, with the rows of their other atoms; None if it cannot do one of
        them."""
        only = [] if loaded_kernels() is None else self._only(name, keys)
        found = []
        for family, item in only:
            shape = kernel_shape(family, item, setting)
            if shape is None or len(shape.stages) > 1 or shape.stages[0].item < 0:
                return None
            rows = _arrays(setting, shape.stages[0].relation, shape.stages[0].place)
            if rows is None:
                return None
            found.append((shape.stages[0], rows))
        return found or None

    def _only(self, name: int, keys: U64) -> list[tuple[Family, int]]:
        """The rules, with their atoms, that read some facts and all facts that follow by them; none
        if there are others, too many, or one that reads the facts by two atoms."""
        found = self._looking(name, keys)
        for family, _ in found:  # the list grows in the loop
            if len(found) > RULES or not _is_plain(family, name):
                return []
            if name != self._work.type_id:
                continue
            class_ = -family.head.terms[0]
            if class_ <= 0:
                if any(triggers.by_class for triggers in self._triggers):
                    return []
                continue
            one = np.array([class_ << 32 | 1], dtype=np.uint64)
            found += [each for each in self._looking(name, one) if each not in found]
        return found if len({id(family) for family, _ in found}) == len(found) else []

    def _looking(self, name: int, keys: U64) -> list[tuple[Family, int]]:
        type_id = self._work.type_id
        return [one for each in self._triggers for one in each.of({name: keys}, type_id)]


def _is_plain(family: Family, name: int) -> bool:
    one = len(family.rules) == 1 and family.table is None
    return one and family.head.relation == name


RelationArrays: TypeAlias = tuple[U64, U64, U64, U64]
"""The rows of a relation as two arrays, and two arrays of rows that are excluded from them."""


def _arrays(setting: Setting, relation: int, place: int) -> RelationArrays | None:
    view = setting.view(relation)
    arrays = view.arrays(place, MAINTENANCE.kernel_room) if isinstance(view, PairView) else None
    if arrays is None:
        return None
    runs, (minus, less) = arrays
    later = NO_KEYS
    for run in runs[1:]:
        later = unite(later, run) if len(later) else run
    return runs[0] if runs else NO_KEYS, later, minus, less


def _call(
    keys: U64, rules: Sequence[tuple[KernelStage, RelationArrays]], held: tuple[U64, U64]
) -> Rounds:
    from triplestore.kernels.rules.fire import climb

    rows = [array for _, four in rules for array in four]
    rows += [NO_KEYS] * (4 * RULES - len(rows))
    constants = [stage.constants for stage, _ in rules]
    bases = np.cumsum([0, *map(len, constants[:-1])], dtype=np.int64)
    specs = np.concatenate([stage.spec for stage, _ in rules])
    room, most = MAINTENANCE.kernel_room, MAINTENANCE.kernel_rounds
    out, found = np.empty(room, dtype=np.uint64), np.empty(room, dtype=np.uint64)
    found[: len(keys)] = keys
    table = np.zeros(2 * room, dtype=np.uint64)
    ends, fetched, instances = (np.empty(most + 1, dtype=np.int64) for _ in range(3))
    told = (tuple(rows), *held, specs, np.concatenate(constants), bases, len(keys))
    rounds = climb(*told, out, found, table, ends, fetched, instances)
    total, left = ends[rounds - 1] if rounds else 0, instances[rounds]
    parts = (ends[:rounds], fetched[:rounds], instances[:rounds])
    return Rounds(out[:total], found[:left].copy(), *parts)
