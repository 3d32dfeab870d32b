"""Traces, for counting: how often each fact is derived in each round of its stratum.

Start reading at `Trace`. The rounds of a stratum are those of semi-naive evaluation. Round 1 has
the facts that are asserted, or that a nonrecursive rule derives. Round i + 1 has what recursive
rules derive from facts of which the latest comes in round i. The status and the count of a fact say
how often it is derived in round 1. So a trace has recursive derivations only, and a stratum without
recursive rules needs none.

A store keeps `Traces` in memory, like an index. A missing trace is made when it is needed. An
update by another strategy, or a change of the program, drops the traces that it makes wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np

from triplestore.relations.facts.fact_sets import RelationKey
from triplestore.relations.layers.sorted_order import ranges
from triplestore.relations.packed_keys import I64, Keys

NEVER = np.int64(1 << 40)
"""The round of facts that no round derives."""


class Derivations(NamedTuple):
    """By fact and round: the number of derivations, or the change of that number."""

    keys: Keys
    rounds: I64
    times: I64

    @classmethod
    def of(cls, keys: Keys, rounds: I64, times: I64) -> Derivations:
        """From rows in any order; rows of one fact and round are added up."""
        order = np.argsort(rounds, kind="stable")
        order = order[np.argsort(keys[order], kind="stable")]
        keys, rounds, times = keys[order], rounds[order], times[order]
        if len(keys):
            begins = np.ones(len(keys), dtype=np.bool_)
            np.not_equal(keys[1:], keys[:-1], out=begins[1:])
            begins[1:] |= rounds[1:] != rounds[:-1]
            (starts,) = begins.nonzero()
            keys, rounds, times = keys[starts], rounds[starts], np.add.reduceat(times, starts)
        some = times != 0
        return (
            cls(keys, rounds, times) if some.all() else cls(keys[some], rounds[some], times[some])
        )

    def totals(self) -> tuple[Keys, I64]:
        """The number of derivations of each fact in all rounds."""
        made = Derivations.of(self.keys, np.zeros_like(self.rounds), self.times)
        return made.keys, made.times

    def look_up(self, keys: Keys) -> tuple[I64, I64]:
        """The rows for facts: (number of the fact, row)."""
        lo = self.keys.searchsorted(keys)
        sizes = self.keys.searchsorted(keys, side="right") - lo
        return np.repeat(np.arange(len(keys)), sizes), ranges(lo, sizes)


class Trace:
    """The recursive derivations of one stratum. It never changes: `changed` makes another trace,
    which shares most of its arrays.

    >>> keys, one = np.array([1 << 32 | 5], np.uint64), np.array([1])
    >>> made = Trace().changed({9: Derivations(keys, one * 2, one * 3)})
    >>> made = made.changed({9: Derivations.of(keys.repeat(2), np.array([2, 4]), one.repeat(2))})
    >>> [column.tolist() for column in made.look_up(9, keys)]
    [[0, 0], [2, 4], [4, 1]]
    >>> made.first(9, keys).tolist()
    [2]
    """

    __slots__ = ("_runs",)

    def __init__(self, runs: Mapping[RelationKey, tuple[Derivations, ...]] | None = None) -> None:
        # The runs of a relation are added up. Each has more than twice the rows of the next one, so
        # that a row is merged O(log n) times.
        self._runs = {} if runs is None else runs

    def __len__(self) -> int:
        return sum(len(run.keys) for runs in self._runs.values() for run in runs)

    @property
    def nbytes(self) -> int:
        """Size of all arrays."""
        return sum(column.nbytes for runs in self._runs.values() for run in runs for column in run)

    def look_up(self, relation: RelationKey, keys: Keys) -> tuple[I64, I64, I64]:
        """When facts are derived: (number of the fact, round, number of derivations), in this
        order."""
        parts = []
        for run in self._runs.get(relation, ()):
            index, rows = run.look_up(keys)
            if len(rows):
                parts.append((index, run.rounds[rows], run.times[rows]))
        if not parts:
            none = np.zeros(0, dtype=np.int64)
            return none, none, none
        if len(parts) == 1:
            return parts[0]
        index, rounds, times = (np.concatenate(column) for column in zip(*parts, strict=True))
        return Derivations.of(index, rounds, times)

    def first(self, relation: RelationKey, keys: Keys) -> I64:
        """The first round in which each fact is derived."""
        found = np.full(len(keys), NEVER, dtype=np.int64)
        index, rounds, _ = self.look_up(relation, keys)
        if len(index):
            starts = np.ones(len(index), dtype=np.bool_)
            np.not_equal(index[1:], index[:-1], out=starts[1:])
            found[index[starts]] = rounds[starts]
        return found

    def changed(self, more: Mapping[RelationKey, Derivations]) -> Trace:
        """The trace with more derivations, or fewer."""
        made = dict(self._runs)
        for relation, run in more.items():
            if len(run.keys) == 0:
                continue
            runs = [*made.get(relation, ()), run]
            while len(runs) > 1 and len(runs[-2].keys) <= 2 * len(runs[-1].keys):
                last, before = runs.pop(), runs.pop()
                runs.append(_merged(before, last))
            made[relation] = tuple(runs)
        return Trace(made)

    def relations(self) -> Iterator[tuple[RelationKey, Derivations]]:
        """All derivations, relation by relation."""
        for relation, runs in self._runs.items():
            whole = runs[0]
            for run in runs[1:]:
                whole = _merged(whole, run)
            if len(whole.keys):
                yield relation, whole


def _merged(one: Derivations, other: Derivations) -> Derivations:
    columns = (np.concatenate(pair) for pair in zip(one, other, strict=True))
    return Derivations.of(*columns)


Mark: TypeAlias = tuple[object, Mapping[int, Trace]]
"""A copy of the traces."""


class Traces:
    """The traces of the closure of one store. `update` maintains them.

    The store calls what `update` cannot know: `restore` when a transaction is undone, `clear` when
    the tables are not those that the last update left.
    """

    def __init__(self) -> None:
        self._program: object = None
        self._kept: Mapping[int, Trace] = {}
        self._made: dict[int, Trace] = {}

    def begin(self, program: object) -> None:
        """Begin an update; traces of another program are dropped."""
        if program is not self._program:
            self._program, self._kept = program, {}
        self._made = {}

    def of(self, stratum: int) -> Trace | None:
        """The trace of a stratum as it was before the update, if there is one."""
        return self._kept.get(stratum)

    def keep(self, stratum: int, trace: Trace) -> None:
        """Set the trace of a stratum after the update."""
        self._made[stratum] = trace

    def end(self, touched: Collection[int]) -> None:
        """End an update; traces of strata that it touched are made or dropped."""
        kept = {number: trace for number, trace in self._kept.items() if number not in touched}
        self._kept = {**kept, **self._made}
        self._made = {}

    def clear(self) -> None:
        """Drop all traces."""
        self._program, self._kept, self._made = None, {}, {}

    def mark(self) -> Mark:
        """The state that `restore` returns to."""
        return self._program, self._kept

    def restore(self, mark: Mark) -> None:
        """Undo everything since a mark."""
        self._program, self._kept = mark
        self._made = {}

    @property
    def nbytes(self) -> int:
        """Size of all traces."""
        return sum(trace.nbytes for trace in self._kept.values())
