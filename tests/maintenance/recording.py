"""Which rule instances an update of the engine considers, phase by phase.

`recorded` makes plans keep all variables, and notes each instance as ground atoms, so
that tests can say what the papers' theorems say: nothing twice, old instances first, then new ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.maintenance.driver import Driver
from tests.maintenance.naive import Fact
from triplestore.evaluate import evaluation
from triplestore.evaluate.evaluation import Evaluation
from triplestore.maintenance.search import instance_pieces, kernel_search
from triplestore.maintenance.search.instance_pieces import Pieces
from triplestore.maintenance.search.proof_search import BackwardSearch
from triplestore.maintenance.steps import rederive
from triplestore.maintenance.steps.stratum import StratumUpdate
from triplestore.maintenance.thresholds import MAINTENANCE
from triplestore.relations.facts.fact_sets import ANY, Batch
from triplestore.relations.packed_keys import columns_of
from triplestore.rules import body_plans
from triplestore.rules.families import CompiledAtom, Family


class Ground(NamedTuple):
    """A rule instance, as facts of ids: ("t", s, p, o) or ("r", name, *arguments)."""

    family: int
    positive: tuple[Fact, ...]
    negative: tuple[Fact, ...]
    head: Fact
    recursive: bool


class Recording:
    """What was considered in one update."""

    def __init__(self) -> None:
        self.type_id = 0
        self.found: dict[str, list[Ground]] = {}
        self.dropped: set[Fact] = set()
        self.brought: set[Fact] = set()
        self.looking_for: str | None = None
        """The phase of a search for one instance of each goal."""
        self.goals: set[int] = set()

    def clear(self) -> None:
        self.found.clear()
        self.dropped.clear()
        self.brought.clear()

    def of(self, *phases: str) -> list[Ground]:
        return [one for phase in phases for one in self.found.get(phase, ())]

    def repeated(self, *phases: str) -> dict[Ground, int]:
        return {one: times for one, times in Counter(self.of(*phases)).items() if times > 1}

    def note(self, phase: str, family: Family, rows: list[Any], n: int) -> None:
        if n == 0:
            return
        atoms = [*family.body, *family.nots, family.head]
        columns = [_facts(atom, rows, n, self.type_id) for atom in atoms]
        count = len(family.body)
        for row in zip(*columns, strict=True):
            self.found.setdefault(phase, []).append(
                Ground(id(family), row[:count], row[count:-1], row[-1], family.recursive)
            )

    def note_batch(self, target: set[Fact], batch: Batch) -> None:
        for name, keys in batch.items():
            columns = columns_of(keys, name[1] if isinstance(name, tuple) else 2)
            terms = tuple(range(len(columns)))
            target.update(_facts(CompiledAtom(name, terms), columns, len(keys), self.type_id))


def _facts(atom: CompiledAtom, rows: Any, n: int, type_id: int) -> list[Fact]:
    columns = [[-term] * n if term < 0 else np.asarray(rows[term]).tolist() for term in atom.terms]
    name = atom.relation
    if isinstance(name, tuple):
        return [("r", name[0], *row) for row in zip(*columns, strict=True)]
    if name == ANY:
        return [("t", *row) for row in zip(*columns, strict=True)]
    first, second = columns
    if name == type_id:
        first, second = second, first
    return [("t", s, name, o) for s, o in zip(first, second, strict=True)]


def recorded(monkeypatch: pytest.MonkeyPatch, tune: Callable[..., None]) -> Recording:
    """Note all instances of all updates from now on."""
    made = Recording()
    changed, whole = Evaluation.changed, Evaluation.whole
    keeps, stages, pull = body_plans._with_keeps, instance_pieces._stages, Pieces.pull
    meet, derivable_keys = BackwardSearch._meet, rederive.derivable_keys
    drop, bring = StratumUpdate.drop, StratumUpdate.outcome

    def all_kept(family: Family, steps: Any, start: Any) -> Any:
        every = tuple(range(family.width + 1))
        return [instance_pieces._keeping(step, every) for step in keeps(family, steps, start)]

    def note_changed(self: Evaluation, family: Family, *args: Any) -> Any:
        rows, n = changed(self, family, *args)
        if family.summary is None:
            made.note(args[3], family, rows, n)  # pivot, batch, around, phase
        return rows, n

    def note_whole(self: Evaluation, family: Family, setting: Any, phase: str, *heads: Any) -> Any:
        rows, n = whole(self, family, setting, phase, *heads)
        if family.summary is None:
            made.note(phase, family, rows, n)
        return rows, n

    def note_pull(self: Pieces, *args: Any) -> Any:
        rows, n = pull(self, *args)
        if n and made.looking_for is not None:
            goals = rows[self.family.width].tolist()
            first = [i for i, goal in enumerate(goals) if goal not in made.goals]
            seen = dict(zip((goals[i] for i in reversed(first)), reversed(first), strict=True))
            made.goals.update(seen)
            chosen = np.array(sorted(seen.values()), dtype=np.int64)
            kept = [None if column is None else column[chosen] for column in rows]
            made.note(made.looking_for, self.family, kept, len(chosen))
        return rows, n

    def note_goals(work: Any, kept: Any, name: Any, keys: Any, phase: str, *args: Any) -> Any:
        made.looking_for, made.goals = phase, set()
        try:
            return derivable_keys(work, kept, name, keys, phase, *args)
        finally:
            made.looking_for = None

    def note_meet(self: BackwardSearch, found: Any) -> Any:
        for family, rows, n in found:
            made.note("backward", family, rows, n)
        return meet(self, found)

    def note_drop(self: StratumUpdate, batch: Batch) -> Batch:
        made.note_batch(made.dropped, batch)
        return drop(self, batch)

    def note_outcome(self: StratumUpdate) -> Any:
        for batch in self._all_gained:
            made.note_batch(made.brought, batch)
        return bring(self)

    monkeypatch.setattr(evaluation, "fire_small", lambda *_: None)  # it makes no instances
    monkeypatch.setattr(
        kernel_search, "loaded_kernels", lambda: None
    )  # nor does a search with kernels
    tune(MAINTENANCE, rounds_before_kernel=1 << 60)  # nor do many rounds in one call
    monkeypatch.setattr(body_plans, "_with_keeps", all_kept)
    monkeypatch.setattr(
        instance_pieces,
        "_stages",
        lambda family, plan, setting, wanted: stages(
            family, plan, setting, set(range(family.width + 1))
        ),
    )
    monkeypatch.setattr(Evaluation, "changed", note_changed)
    monkeypatch.setattr(Evaluation, "whole", note_whole)
    monkeypatch.setattr(Pieces, "pull", note_pull)
    monkeypatch.setattr(BackwardSearch, "_meet", note_meet)
    monkeypatch.setattr(StratumUpdate, "drop", note_drop)
    monkeypatch.setattr(StratumUpdate, "outcome", note_outcome)
    monkeypatch.setattr(rederive, "derivable_keys", note_goals)
    return made


def held(driver: Driver) -> set[Fact]:
    """What holds, helper relations and all, as facts of ids."""
    found: set[Fact] = set()
    for name in driver.tables.names().tolist():
        for s, o in driver.tables.relation(name).scan():
            found |= {("t", a, name, b) for a, b in zip(s.tolist(), o.tolist(), strict=True)}
    for name in driver.tables.tuple_names():
        for columns in driver.tables.tuples(*name).scan():
            rows = zip(*(column.tolist() for column in columns), strict=True)
            found |= {("r", name[0], *row) for row in rows}
    return found


def in_keys(driver: Driver, some: Iterable[Fact]) -> Iterator[Fact]:
    """Facts of ids as facts of term keys."""
    for fact in some:
        yield (fact[0], *(driver.dictionary.key(term) for term in fact[1:]))


def is_instance_of(one: Ground, facts: set[Fact]) -> bool:
    """Whether an instance's body is true in a closure."""
    return all(fact in facts for fact in one.positive) and not any(
        fact in facts for fact in one.negative
    )
