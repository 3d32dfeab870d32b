"""Rule instances that conclude given facts, a few at a time: backward evaluation that can pause.

Start reading at `Pieces`. A family's plan from its head is cut into stages. A stage is a step that
makes rows, and the tests behind it. Rows wait before each stage, with the places of its source that
they have not taken yet. A pull says how many more instances each goal may have. It takes rows from
the last stage first, so that few rows wait in the middle. Always true: every instance comes once,
and a goal with a million instances costs only those that were asked for.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from triplestore.evaluate.binding_frames import Bindings
from triplestore.evaluate.evaluation import Evaluation
from triplestore.maintenance.search.checked_facts import DEAD, PROVED, CheckedFacts
from triplestore.maintenance.search.row_sources import (
    Opened,
    ProbeSource,
    RowSource,
    Taken,
    source_of,
)
from triplestore.maintenance.thresholds import MAINTENANCE
from triplestore.relations.facts.body_views import Setting
from triplestore.relations.facts.fact_sets import RelationKey
from triplestore.relations.packed_keys import I64, U32, Bools, Keys, start_of_runs
from triplestore.rules.body_plans import (
    HEAD,
    AtomStep,
    BodyPlan,
    BodyStep,
    ComputeStep,
    TableStep,
    plan_for,
)
from triplestore.rules.families import LOWER, Family

_DONE = PROVED | DEAD

_TIMES = (1, 4, 16, 64)
"""Number of rows that are taken for each needed instance; more if all rows before failed a test."""


class Pieces:
    """The instances of a family that conclude facts of one relation.

    body  whether the instances' own body facts are needed; if not, only their existence counts
    """

    def __init__(
        self,
        run: Evaluation,
        facts: CheckedFacts,
        family: Family,
        relation: RelationKey,
        setting: Setting,
        body: bool = True,
    ) -> None:
        self.run = run
        self.facts = facts
        self.family = family
        self.relation = relation
        wanted = {family.width}
        if body:
            wanted.update(v for atom in family.body if atom.own != LOWER for v in atom.variables)
        self.stages = _stages(family, plan_for(family, HEAD, setting), setting, wanted)

    def open(self, keys: Keys, numbers: I64) -> None:
        """Add goals."""
        rows, n = self.run.goals(self.family, self.relation, keys)
        if n == 0:
            return
        places = rows[self.family.width]
        assert places is not None
        rows[self.family.width] = numbers[places].astype(np.uint32)
        self._put(0, rows, n)

    def pull(self, goals: I64, need: I64, setting: Setting, nots: Setting) -> tuple[Bindings, int]:
        """Up to need[goal] more instances for each of some goals. `need` is reduced by those that
        came; it is 0 for other goals.

        The number of the goal is the last column. There may be more instances even if fewer come
        than are needed, because the rows that were read may have failed tests.
        """
        found: list[tuple[Bindings, int]] = []
        if not any(stage.chunks for stage in self.stages):
            return [], 0
        for times in _TIMES:
            quota = need
            if times > 1:
                quota = np.zeros(len(need), dtype=np.int64)
                quota[goals] = need[goals] * times
            moved = False
            for level in range(len(self.stages) - 1, -1, -1):
                if self.stages[level].chunks:
                    moved |= self._down(level, need, quota, setting, nots, found)
            if not moved:  # no rows wait for these goals
                break
            goals = goals[(need[goals] > 0) & (self.facts.waiting[goals] > 0)]
            if len(goals) == 0 or not any(stage.chunks for stage in self.stages):
                break
        return _joined(found)

    def _put(self, level: int, rows: Bindings, n: int) -> None:
        stage = self.stages[level]
        opened, size = stage.source.open(rows, n)
        chunk = _Chunk(rows, _goals(rows, self.family.width), opened, size)
        chunk = chunk.kept(size > 0)
        if len(chunk.goal):
            np.add.at(self.facts.waiting, chunk.goal, 1)
            stage.put(chunk, self.facts)

    def _down(
        self,
        level: int,
        need: I64,
        quota: I64,
        setting: Setting,
        nots: Setting,
        found: list[tuple[Bindings, int]],
    ) -> bool:
        """Take waiting rows through a stage, and through all later ones; returns whether any were
        taken from this stage.

        quota  maximum number of rows of each goal that leave a step; rows that pass all tests and
               are not needed yet wait behind the last stage
        """
        stage, last = self.stages[level], len(self.stages) - 1
        taken = stage.take(need if level == last else quota, self.facts, self.run, setting)
        for rows, n in taken:
            if stage.tests:
                rows, n = self.run.follow(self.family, stage.plan, rows, n, setting, "", nots)
            if n == 0:
                continue
            if level == last or (level + 1 == last and quota is need):
                np.subtract.at(need, _goals(rows, self.family.width), 1)
                found.append((rows, n))
            else:
                self._put(level + 1, rows, n)
        if taken and level < last and self.stages[level + 1].chunks:
            self._down(level + 1, need, quota, setting, nots, found)
        return bool(taken)


class _Chunk:
    """Rows that wait together."""

    __slots__ = ("at", "goal", "opened", "rows", "size", "spent")

    def __init__(
        self, rows: Bindings, goal: I64, opened: Opened, size: I64, at: I64 | None = None
    ) -> None:
        self.rows = rows
        self.goal = goal
        self.opened = opened
        self.size = size
        self.at = np.zeros(len(goal), dtype=np.int64) if at is None else at
        self.spent = 0

    def kept(self, keep: Bools) -> _Chunk:
        """The rows where a mask is true."""
        if keep.all():
            return self
        return _Chunk(
            [None if c is None else c[keep] for c in self.rows],
            self.goal[keep],
            tuple(column[keep] for column in self.opened),
            self.size[keep],
            self.at[keep],
        )

    def choose(self, need: I64) -> tuple[I64, I64]:
        """The rows to continue with, and the number of places of each; `need` is reduced by
        these."""
        wanted = need[self.goal]
        chosen = ((wanted > 0) & (self.at < self.size)).nonzero()[0]
        if len(chosen) == 0:
            return chosen, chosen
        goal = self.goal[chosen]
        left = self.size[chosen] - self.at[chosen]
        if len(chosen) == 1:
            count = np.minimum(left, need[goal])
            need[goal] -= count
            return chosen, count
        order = np.argsort(goal, kind="stable")
        chosen, goal, left = chosen[order], goal[order], left[order]
        bounds = start_of_runs(goal)
        begins = bounds[:-1]
        total = left.cumsum() - left
        before = total - np.repeat(total[begins], bounds[1:] - begins)
        count = np.minimum(np.maximum(need[goal] - before, 0), left)
        need[goal[begins]] -= np.add.reduceat(count, begins)
        some = count > 0
        return chosen[some], count[some]


class _Wait:
    """No step: rows wait here until they are needed."""

    most = 1 << 62

    def open(self, rows: Bindings, n: int) -> tuple[Opened, I64]:
        """See `RowSource.open`."""
        return (), np.ones(n, dtype=np.int64)

    def take(self, rows: Bindings, opened: Opened, at: I64, count: I64, setting: Setting) -> Taken:
        """See `RowSource.take`."""
        return np.arange(len(at)), {}, 0


class _Stage:
    """A step that makes rows, the tests behind it, and the rows that wait before it."""

    def __init__(self, source: RowSource, tests: list[BodyStep]) -> None:
        self.source = source
        self.tests = tests
        self.chunks: list[_Chunk] = []

    @cached_property
    def plan(self) -> BodyPlan:
        """The tests."""
        return BodyPlan((), tuple(self.tests), ())

    def put(self, chunk: _Chunk, facts: CheckedFacts) -> None:
        """Let rows wait; chunks are joined to keep their number low."""
        chunks = self.chunks
        chunks.append(chunk)
        short = MAINTENANCE.short_run
        while len(chunks) > 1 and len(chunks[-2].goal) < max(short, 2 * len(chunks[-1].goal)):
            last, before = chunks.pop(), chunks.pop()
            joined = _cleaned(_join(before, last), facts)
            if len(joined.goal):
                chunks.append(joined)

    def take(
        self, need: I64, facts: CheckedFacts, run: Evaluation, setting: Setting
    ) -> list[tuple[Bindings, int]]:
        """The rows that the step makes, at most need[goal] of each goal; `need` does not change."""
        chosen = [(chunk, *chunk.choose(need)) for chunk in self.chunks]
        found: list[tuple[Bindings, int]] = []
        if not any(len(rows) for _, rows, _ in chosen):
            return found
        for chunk, rows, count in chosen:
            if len(rows) == 0:
                continue
            np.add.at(need, chunk.goal[rows], count)
            rows, count = rows[: self.source.most], count[: self.source.most]
            found.append(self._step(chunk, rows, count, run, setting))
            chunk.at[rows] += count
            spent = rows[chunk.at[rows] == chunk.size[rows]]
            np.subtract.at(facts.waiting, chunk.goal[spent], 1)
            chunk.spent += len(spent)
        self.chunks = [
            _cleaned(chunk, facts) if 2 * chunk.spent > len(chunk.goal) else chunk
            for chunk in self.chunks
        ]
        self.chunks = [chunk for chunk in self.chunks if len(chunk.goal)]
        return found

    def _step(
        self, chunk: _Chunk, rows: I64, count: I64, run: Evaluation, setting: Setting
    ) -> tuple[Bindings, int]:
        frame: Bindings = [None if c is None else c[rows] for c in chunk.rows]
        opened = tuple(column[rows] for column in chunk.opened)
        index, values, looked = self.source.take(frame, opened, chunk.at[rows], count, setting)
        run.fetched += looked
        run.check(len(index))
        made: Bindings = [None if c is None else c[index] for c in frame]
        for variable, column in values.items():
            made[variable] = column
        return made, len(index)


def _stages(family: Family, plan: BodyPlan, setting: Setting, wanted: set[int]) -> list[_Stage]:
    """The steps of a plan as stages; each keeps the columns that are needed behind it."""
    needed = set(wanted)
    steps: list[BodyStep] = []
    for step in reversed(plan.steps):
        steps.append(_keeping(step, tuple(sorted(needed))))
        if isinstance(step, AtomStep):
            needed.update(term for term in step.atom.terms if term >= 0)
        elif isinstance(step, TableStep):
            needed.update((*step.bound, *step.free))
        else:
            needed.update(v for v in (step.computation.target, *step.computation.needs) if v >= 0)
    steps.reverse()
    made: list[_Stage] = []
    stage = _Stage(_Wait(), [])
    for step in steps:
        if isinstance(step, ComputeStep) or not step.free:
            stage.tests.append(step)
            continue
        if stage.tests or not isinstance(stage.source, _Wait):
            made.append(stage)
        stage = _Stage(source_of(family, step, setting), [])
        if isinstance(stage.source, ProbeSource):  # its rows come all at once, and wait behind it
            made.append(stage)
            stage = _Stage(_Wait(), [])
    return [*made, stage, _Stage(_Wait(), [])]


def _keeping(step: BodyStep, keep: tuple[int, ...]) -> BodyStep:
    if isinstance(step, AtomStep):
        return AtomStep(step.item, step.atom, step.negated, step.bound, step.free, step.same, keep)
    if isinstance(step, TableStep):
        return TableStep(step.bound, step.free, keep)
    return ComputeStep(step.computation, keep)


def _goals(rows: Bindings, width: int) -> I64:
    goals: U32 | None = rows[width]
    assert goals is not None
    return goals.astype(np.int64)


def _join(one: _Chunk, other: _Chunk) -> _Chunk:
    rows: Bindings = [
        None if a is None or b is None else np.concatenate((a, b))
        for a, b in zip(one.rows, other.rows, strict=True)
    ]
    opened = tuple(np.concatenate(pair) for pair in zip(one.opened, other.opened, strict=True))
    return _Chunk(
        rows,
        np.concatenate((one.goal, other.goal)),
        opened,
        np.concatenate((one.size, other.size)),
        np.concatenate((one.at, other.at)),
    )


def _cleaned(chunk: _Chunk, facts: CheckedFacts) -> _Chunk:
    """The rows that have places left, and whose goals are not decided."""
    return chunk.kept((chunk.at < chunk.size) & ((facts.flags[chunk.goal] & _DONE) == 0))


def _joined(found: list[tuple[Bindings, int]]) -> tuple[Bindings, int]:
    if len(found) < 2:
        return found[0] if found else ([], 0)
    rows: Bindings = [
        None if any(c is None for c in columns) else np.concatenate(columns)
        for columns in zip(*(rows for rows, _ in found), strict=True)
    ]
    return rows, sum(n for _, n in found)
