"""Backward search by kernels: instances that conclude goals, a few at a time.

Start reading at `Cursors`, which does for simple families what `Pieces` does for others. Stored
rows are read in place; only those of small layers are copied, if there are many (`_Runs`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from triplestore.checked_columns import Column
from triplestore.kernels.rules import backward as kernels
from triplestore.maintenance.search.numbered_facts import I32, NumberedFacts
from triplestore.maintenance.thresholds import MAINTENANCE
from triplestore.relations.facts.body_views import Setting
from triplestore.relations.facts.fact_sets import FactSet
from triplestore.relations.facts.stored_facts import ClosedPairs, Stored
from triplestore.relations.layers.sorted_order import SortedRun
from triplestore.relations.packed_keys import (
    I64,
    NO_IDS,
    NO_KEYS,
    NO_STATUS,
    U8,
    U32,
    U64,
    frozen,
    last_of_equals,
)
from triplestore.rules.backward_rules import BackwardRules

_NONE = np.zeros(0, dtype=np.int64)
_NO_KEYS, _NO_STATUS = frozen(NO_KEYS.copy()), frozen(NO_STATUS.copy())
_NO_COUNTS = frozen(NO_IDS.copy())


class CursorInstances(NamedTuple):
    """Instances by their goals, with the facts that they need: `STEPS` facts each, given as the
    number plus one, or 0 for none; the number of rows read; and the number of facts known
    before."""

    goals: I64
    facts: I32
    looked: int
    known: int


class Cursors:
    """The position of each goal among the instances that conclude it."""

    def __init__(
        self,
        rules: BackwardRules,
        facts: NumberedFacts,
        stored: Stored,
        setting: Setting,
        gone: FactSet,
    ) -> None:
        self.rules = rules
        self.facts = facts
        self.setting = setting
        self.others = set(rules.others)
        """Families that are left to `Pieces`."""
        self._runs = _Runs(stored, rules.names)
        self._ready = np.zeros(len(rules.groups), dtype=np.uint8)
        self._known = np.zeros(len(rules.families), dtype=np.bool_)
        self._usable = np.zeros(len(rules.rules), dtype=np.uint8)
        self._gone, self._gone_starts = _by_place(gone, rules)
        self._goals = np.empty(0, dtype=np.int64)
        self._needed = np.empty(0, dtype=np.int32)
        self._result = np.zeros(4, dtype=np.int64)

    def open(self, numbers: I64) -> None:
        """Add goals."""
        facts, rules = self.facts, self.rules
        missing = np.empty(2 * len(numbers), dtype=np.int64)
        count = kernels.open_cursors(
            numbers,
            facts.key,
            facts.relation,
            rules.groups,
            rules.starts,
            self._ready,
            facts.state,
            facts.waiting,
            missing,
        )
        if count:
            self._make_ready(missing[:count])

    def _make_ready(self, groups: I64) -> None:
        rules = self.rules
        starts = rules.starts
        members = [rules.rules[starts[g] : starts[g + 1]] for g in groups.tolist()]
        families = np.unique(rules.family_of[np.concatenate(members)])
        for number in families[~self._known[families]].tolist():
            self._known[number] = True
            family = rules.families[number]
            if all(self._runs.has(place) for place in rules.spoken_of[number]):
                rules.make_ready(number, self.setting)
                self._usable[rules.first[number] : rules.first[number + 1]] = 1
            else:
                self.others.add(family)
        self._runs.finish()

    def look_up(self, numbers: I64) -> tuple[U8, I64]:
        """The stored statuses and counts of facts that instances need."""
        facts, runs = self.facts, self._runs
        status, count = np.empty(len(numbers), np.uint8), np.empty(len(numbers), np.int64)
        kernels.look_up_facts(
            numbers,
            facts.key,
            facts.relation,
            runs.counted_at,
            runs.first,
            runs.stop,
            runs.slots,
            runs.begins,
            runs.ends,
            runs.status,
            runs.arrays,
            runs.statuses,
            runs.counts,
            status,
            count,
        )
        return status, count

    def pull(self, goals: I64, quota: I64) -> Iterator[CursorInstances]:
        """Up to quota[i] more instances of goals[i]; facts that these need get numbers."""
        facts, rules, runs = self.facts, self.rules, self._runs
        size = min(int(quota.sum()), MAINTENANCE.cursor_instances)
        if size > len(self._goals):
            self._goals = np.empty(2 * size, dtype=np.int64)
            self._needed = np.empty(2 * size * kernels.STEPS, dtype=np.int32)
        result, begin = self._result, 0
        while begin < len(goals):
            facts.make_room(min(size, 64) * kernels.STEPS + kernels.STEPS)
            known = result[0] = facts.count
            kernels.pull(
                goals,
                quota,
                begin,
                MAINTENANCE.cursor_looks,
                facts.key,
                facts.relation,
                facts.flags,
                facts.slots,
                facts.state,
                facts.waiting,
                rules.starts,
                rules.rules,
                rules.specs,
                self._usable,
                runs.first,
                runs.stop,
                runs.slots,
                runs.begins,
                runs.ends,
                runs.status,
                runs.arrays,
                runs.statuses,
                self._gone,
                self._gone_starts,
                self._goals,
                self._needed,
                result,
            )
            facts.count, found, looked, begin = result.tolist()
            used = found * kernels.STEPS
            yield CursorInstances(self._goals[:found], self._needed[:used], looked, known)


def _by_place(gone: FactSet, rules: BackwardRules) -> tuple[U64, I64]:
    """The facts of all relations, by their numbers, and where each relation begins."""
    sizes = np.zeros(len(rules.names) + 1, dtype=np.int64)
    found = {rules.places[name]: gone.keys_of(name) for name in gone if name in rules.places}
    for place, keys in found.items():
        sizes[place + 1] = len(keys)
    parts = [found[place] for place in sorted(found)]
    return np.concatenate([NO_KEYS, *parts]), sizes.cumsum()


class _Runs:
    """The places of the rows of relations for the kernel: at 2 * relation + place in front.

    The largest layers are read in place. Runs of the others are copied to one more array; runs of a
    relation between two that stay are merged, and the newest status counts.
    """

    def __init__(self, stored: Stored, names: Sequence[int]) -> None:
        self._stored = stored
        self._names = names
        self._usable: list[bool | None] = [None] * len(names)
        layers = sorted(stored.tables.layers, key=lambda layer: -layer.rows)
        orders = [o for ly in layers for o in (ly.facts.forward, ly.facts.backward)]
        self._orders = orders[: min(MAINTENANCE.cursor_layers, kernels.RUNS - 1)]
        self._kept = {id(order): slot for slot, order in enumerate(self._orders)}
        self.first = np.zeros(2 * len(names), dtype=np.int64)
        self.stop = np.zeros(2 * len(names), dtype=np.int64)
        self.counted_at = np.zeros(len(names), dtype=np.int64)
        """The place in front in the order of a relation that has counts: subjects."""
        self._rows: list[tuple[int, int, int, int]] = []
        self._copied: list[tuple[U64, U8, U32]] = []
        self._size = self._done = 0
        self.arrays: tuple[U64, ...] = ()
        self.statuses: tuple[U8, ...] = ()
        self.counts: tuple[U32, ...] = ()
        self.slots = self.begins = self.ends = self.status = _NONE
        """For each run its array, begin and end in it, and the status of its rows, or -1 if each
        has its own."""
        self._hand_out()

    def has(self, place: int) -> bool:
        """Whether a relation can be read in this way; if so, it is from now on."""
        found = self._usable[place]
        if found is None:
            found = self._usable[place] = self._can_read(place)
            if found:
                self._add(place)
        return found

    def _can_read(self, place: int) -> bool:
        pairs = self._stored.pairs(self._names[place])
        if isinstance(pairs, ClosedPairs):
            return False
        runs = (run for front in (0, 1) for run in pairs.relation.runs(front))
        return all(not run.keys.in_file or len(run) <= MAINTENANCE.unverified_rows for run in runs)

    def _add(self, place: int) -> None:
        pairs = self._stored.pairs(self._names[place])
        self.counted_at[place] = pairs.flipped
        for front in (0, 1):
            self.first[2 * place + front] = len(self._rows)
            self._add_runs(pairs.relation.runs(1 - front if pairs.flipped else front))
            self.stop[2 * place + front] = len(self._rows)

    def _add_runs(self, runs: Sequence[SortedRun]) -> None:
        small: list[SortedRun] = []
        for run in runs:
            slot = self._kept.get(id(run.order))
            if slot is None:
                small.append(run)
                continue
            self._copy(small)
            small = []
            for column in (run.keys, run.order.status, run.order.count):
                if column is not None and column.in_file:
                    column[run.lo : run.hi]  # verifies the rows
            self._rows.append((slot, run.lo, run.hi, -1 if run.uniform is None else run.uniform))
        self._copy(small)

    def _copy(self, runs: Sequence[SortedRun]) -> None:
        if not runs:
            return
        keys = np.concatenate([run.keys[run.lo : run.hi] for run in runs])
        status = np.concatenate([run.statuses(run.lo, run.hi) for run in runs])
        count = np.concatenate([run.order.counts(run.lo, run.hi) for run in runs])
        order = keys.argsort(kind="stable")
        newest = order[last_of_equals(keys[order])]
        low = self._size
        self._size += len(newest)
        self._copied.append((keys[newest], status[newest], count[newest]))
        self._rows.append((kernels.RUNS - 1, low, self._size, -1))

    def finish(self) -> None:
        """Make arrays of the added runs."""
        if self._done == len(self._rows):
            return
        new = np.array(self._rows[self._done :], dtype=np.int64)
        self._done = len(self._rows)
        self.slots = np.concatenate((self.slots, new[:, 0]))
        self.begins = np.concatenate((self.begins, new[:, 1]))
        self.ends = np.concatenate((self.ends, new[:, 2]))
        self.status = np.concatenate((self.status, new[:, 3]))
        self._hand_out()

    def _hand_out(self) -> None:
        keys, status, count = zip(*[(NO_KEYS, NO_STATUS, NO_IDS), *self._copied], strict=True)
        together = (np.concatenate(keys), np.concatenate(status), np.concatenate(count))
        self._copied = [together]
        missing = kernels.RUNS - 1 - len(self._orders)
        arrays = [_whole(order.keys, _NO_KEYS) for order in self._orders]
        statuses = [_whole(order.status, _NO_STATUS) for order in self._orders]
        counts = [_whole(order.count, _NO_COUNTS) for order in self._orders]
        self.arrays = (*arrays, *[_NO_KEYS] * missing, frozen(together[0].view()))
        self.statuses = (*statuses, *[_NO_STATUS] * missing, frozen(together[1].view()))
        self.counts = (*counts, *[_NO_COUNTS] * missing, frozen(together[2].view()))


def _whole(column: Column | None, missing: NDArray[Any]) -> NDArray[Any]:
    """A column of which only verified rows may be read."""
    return missing if column is None else column.spans(_NONE, _NONE)
