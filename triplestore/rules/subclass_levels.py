"""Hierarchies: consecutive strata that have nothing but subclass rules, done as one.

Start reading at `Hierarchy`. Ten thousand levels of subclasses are ten thousand strata, at 0.2 ms
each even for a single fact. But what `C[?x] -> D[?x]` rules give a member depends on that member
only; so where consecutive strata have no other rules (and these are not recursive), they are one
block, in which the classes of each touched member are computed anew by one kernel, counters
included, and compared with what they were. A fact is as exact there as anywhere: nothing else
derives facts of these strata.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from triplestore.datalog.program import TYPE, Constant, Rule, TripleAtom, Variable
from triplestore.datalog.stratify import Stratum
from triplestore.relations.facts.fact_sets import Batch
from triplestore.relations.facts.sorted_arrays import places_in, sorted_distinct, unite, without
from triplestore.relations.packed_keys import (
    I64,
    NO_IDS,
    NO_KEYS,
    U8,
    U32,
    U64,
    high,
    low,
    pack,
    swap,
)

if TYPE_CHECKING:
    from triplestore.maintenance.steps.stratum_state import Task
    from triplestore.maintenance.update_state import Work
    from triplestore.rules.families import IdsOf

LEVELS = 4
"""So many consecutive strata are worth a block."""

_ROOM = 1 << 20
_SPAN = 16


def copied_class(rule: Rule) -> bool:
    """Whether a rule is `D[?x] :- C[?x]`."""
    if len(rule.body) != 1:
        return False
    head, item = rule.heads[0], rule.body[0]
    return (  # most rules are not, so what tells them apart for the least comes first
        type(item) is TripleAtom
        and type(item.o) is Constant
        and type(head) is TripleAtom
        and type(head.o) is Constant
        and item.p == TYPE
        and head.p == TYPE
        and type(head.s) is Variable
        and head.s == item.s
    )


def numbered(keys: U64) -> tuple[U32, U32, U32]:
    """The ids in some pairs, increasing, and for the first and the second id of each pair its place
    among these."""
    first, second = high(keys), low(keys)
    most = int(max(first.max(), second.max())) if len(keys) else 0
    if most > _SPAN * len(keys):
        ids = sorted_distinct(np.concatenate((first, second)))
        places = [ids.searchsorted(ends).astype(np.uint32) for ends in (first, second)]
        return ids, places[0], places[1]
    # Ids are close together: a flag for each there could be, and a place.
    there = np.zeros(most + 1, dtype=np.bool_)
    there[first] = there[second] = True
    ids = np.flatnonzero(there).astype(np.uint32)
    place = np.empty(most + 1, dtype=np.uint32)
    place[ids] = np.arange(len(ids), dtype=np.uint32)
    return ids, place[first], place[second]


def find_blocks(strata: Iterable[Stratum]) -> dict[int, int]:
    """Stratum -> the first stratum of its block, for strata that are in one."""
    found: dict[int, int] = {}
    run: list[int] = []
    for stratum in strata:
        plain = len(stratum) > 0 and not any(stratum.recursive)
        if plain and all(map(copied_class, stratum.rules)):
            run.append(stratum.number)
        else:
            _close(run, found)
    _close(run, found)
    return found


def _close(run: list[int], found: dict[int, int]) -> None:
    if len(run) >= LEVELS:
        found.update(dict.fromkeys(run, run[0]))
    run.clear()


@dataclass(slots=True)
class Hierarchy:
    """The subclass rules of one block.

    ids        the classes, increasing; edges name them by their places here
    starts     the rules of class c are heads[starts[c] : starts[c + 1]]
    concluded  1 for classes that a rule concludes
    rules      numbers of the rules, in no order; none for those that have no numbers
    bodies     ids of the classes from which a rule concludes, increasing
    """

    number: int
    ids: U64
    starts: I64
    heads: U32
    concluded: U8
    rules: list[int]
    bodies: U32

    @classmethod
    def of(cls, number: int, rules: Sequence[tuple[int, Rule]], ids_of: IdsOf) -> Hierarchy:
        """The hierarchy of numbered rules."""
        bodies = ids_of([_class_of(rule.body[0]) for _, rule in rules])
        heads = ids_of([_class_of(rule.heads[0]) for _, rule in rules])
        ids = np.unique(np.concatenate((bodies, heads))).astype(np.uint64)
        one = ids.searchsorted(bodies.astype(np.uint64))
        other = ids.searchsorted(heads.astype(np.uint64))
        order = np.argsort(one, kind="stable")
        starts = np.zeros(len(ids) + 1, dtype=np.int64)
        np.cumsum(np.bincount(one, minlength=len(ids)), out=starts[1:])
        concluded = np.zeros(len(ids), dtype=np.uint8)
        concluded[other] = 1
        return cls(
            number,
            ids,
            starts,
            other[order].astype(np.uint32),
            concluded,
            [rule for rule, _ in rules],
            np.unique(bodies),
        )

    @classmethod
    def of_keys(cls, number: int, keys: U64) -> Hierarchy:
        """The hierarchy of sorted pairs (class, class above it), of rules without numbers."""
        ids, one, other = numbered(keys)
        starts = np.zeros(len(ids) + 1, dtype=np.int64)
        np.cumsum(np.bincount(one, minlength=len(ids)), out=starts[1:])
        concluded = np.zeros(len(ids), dtype=np.uint8)
        concluded[other] = 1
        bodies = ids[starts[1:] > starts[:-1]]
        return cls(number, ids.astype(np.uint64), starts, other, concluded, [], bodies)

    def update(self, work: Work, task: Task, fresh: U32) -> tuple[Batch, Batch]:
        """Bring the block up to date; returns what is gone and what is new.

        fresh  classes from which new rules conclude
        """
        members = self._touched(work, task, fresh)
        if len(members) == 0:
            return {}, {}
        keys, given = self._facts(work, task, members)
        found, counts = self._close(work, members, keys, given)
        before = keys[self._concluded(keys)]
        before = before[work.held(work.type_id, before)]
        return self._apply(work, before, found, counts)

    def _places(self, keys: U64) -> I64:
        """The numbers of the classes of facts; -1 for others."""
        return places_in(keys >> np.uint64(32), self.ids)

    def _concluded(self, keys: U64) -> np.ndarray:
        places = self._places(keys)
        held: np.ndarray = (places >= 0) & (self.concluded[places] == 1)
        return held

    def _touched(self, work: Work, task: Task, fresh: U32) -> U32:
        """The members of which something changed that matters here."""
        name = work.type_id
        parts: list[U32] = []
        for changed in (work.gone, work.added):
            if name in changed:
                keys = changed[name].keys()
                parts.append(low(keys[self._places(keys) >= 0]))
        parts += [low(batch[name]) for batch in (task.minus, task.plus) if name in batch]
        parts += [low(keys) for keys in task.lost.get(name, ())]
        if len(fresh):
            parts.append(work.new().pairs(name).match(0, fresh)[1])
        filled = [part for part in parts if len(part)]
        return sorted_distinct(np.concatenate(filled)) if filled else NO_IDS

    def _facts(self, work: Work, task: Task, members: U32) -> tuple[U64, U8]:
        """Facts of the members as (class, member), sorted by member, and which are given."""
        name = work.type_id
        view = work.new().pairs(name)
        if len(members) * 4 > len(work.stored.pairs(name)):
            keys = view.keys()
        else:
            index, classes = view.match(1, members)
            keys = pack(classes, members[index])
        work.run.fetched += len(keys)
        keys = keys[self._places(keys) >= 0]
        plus = task.plus.get(name, NO_KEYS)
        if len(plus):
            keys = np.concatenate((keys, without(plus, np.sort(keys))))
        keys = swap(np.sort(swap(keys)))
        given = np.ones(len(keys), dtype=np.uint8)
        own = self._concluded(keys).nonzero()[0]
        given[own] = work.stated(name, keys[own])
        return keys, given

    def _close(self, work: Work, members: U32, keys: U64, given: U8) -> tuple[U64, U32]:
        """All facts of the members in classes of the block, sorted, and their counters."""
        from triplestore.kernels.closures.hierarchies import close_members

        holders = low(keys)
        each, starts = np.unique(holders, return_index=True)
        bounds = np.append(starts, len(keys)).astype(np.int64)
        classes = self._places(keys).astype(np.uint32)
        size = len(self.ids)
        truth, counts = np.zeros(size, dtype=np.uint8), np.zeros(size, dtype=np.uint32)
        stack, touched = np.empty(size, dtype=np.uint32), np.empty(size, dtype=np.uint32)
        room = max(size, min(_ROOM, 64 + 16 * len(keys) + size))
        out = [np.empty(room, dtype=np.uint32) for _ in range(3)]
        state = np.zeros(3, dtype=np.int64)
        pieces: list[tuple[U64, U32]] = []
        ids = self.ids.astype(np.uint32)
        while state[0] < len(each):
            state[1] = 0
            close_members(
                bounds, classes, given, self.starts, self.heads, self.concluded,
                truth, counts, stack, touched, out[0], out[1], out[2], state,
            )  # fmt: skip
            rows = int(state[1])
            found = pack(ids[out[0][:rows]], each[out[1][:rows]])
            order = np.argsort(found)
            pieces.append((found[order], out[2][:rows][order]))
            work.budget.check()
        work.run.instances["hierarchy"] += int(state[2])
        if len(pieces) == 1:
            return pieces[0]
        if not pieces:
            return NO_KEYS, NO_IDS
        every = np.concatenate([piece[0] for piece in pieces])
        order = np.argsort(every, kind="stable")
        return every[order], np.concatenate([piece[1] for piece in pieces])[order]

    def _apply(self, work: Work, before: U64, found: U64, counts: U32) -> tuple[Batch, Batch]:
        name = work.type_id
        if len(before) == 0:  # nothing to compare with, as when a hierarchy is new
            some = counts != 0
            work.counts.change(name, found[some], counts[some].astype(np.int64))
            return self._put(work, before, found)
        before = np.sort(before)
        gone, added = without(before, found), without(found, before)
        every = unite(before, found)
        was = np.zeros(len(every), dtype=np.int64)
        old = places_in(before, every)
        was[old] = work.counts.current(name, before)
        is_now = np.zeros(len(every), dtype=np.int64)
        is_now[places_in(found, every)] = counts
        moved = was != is_now
        work.counts.change(name, every[moved], (is_now - was)[moved])
        return self._put(work, gone, added)

    def _put(self, work: Work, gone: U64, added: U64) -> tuple[Batch, Batch]:
        name = work.type_id
        work.spend({name: added})
        work.gone.add(name, gone)
        work.added.add(name, added)
        work.rounds += 1
        return ({name: gone} if len(gone) else {}), ({name: added} if len(added) else {})


def _class_of(atom: object) -> bytes:
    assert isinstance(atom, TripleAtom) and isinstance(atom.o, Constant)
    return atom.o.key
