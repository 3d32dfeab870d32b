"""Reasoning through the public interface: always the closure of what is stated, and no more."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.maintenance.naive import Fact
from tests.maintenance.programs import Case, random_case
from tests.reasoning.reasoned import (
    GRAPH,
    check,
    check_tables,
    facts_of,
    is_rdf,
    quad_of,
    text_of,
)
from triplestore import Store
from triplestore.datalog.program import Program
from triplestore.datalog.text import read
from triplestore.datalog.text import write as write_program
from triplestore.errors import ProgramError
from triplestore.maintenance.strategies import STRATEGIES
from triplestore.maintenance.thresholds import MAINTENANCE
from triplestore.rules.simplify import simplify
from triplestore.store.thresholds import STORE

CASES = 6


def sensible(case: Case) -> bool:
    """Whether all programs of a case can be kept, and evaluated: a negation may need a guard that
    recurses, and an aggregate without results cannot be written as text."""
    try:
        for program, _ in case.states():
            simplify(program)
            read(write_program(program))
    except ProgramError:
        return False
    return True


@pytest.fixture(autouse=True)
def bounds(monkeypatch: pytest.MonkeyPatch, tune: Callable[..., None]) -> None:
    """`run_case` sets bounds so small that small cases meet them; here they are set back."""
    tune(MAINTENANCE, large_layer=MAINTENANCE.large_layer)
    tune(
        STORE,
        buffered_writes=STORE.buffered_writes,
        single_writes=STORE.single_writes,
        combined_rows=STORE.combined_rows,
    )


def write(t, rng: random.Random, additions: list[Fact], deletions: list[Fact]) -> None:
    """Additions and deletions in one of many ways, with reading in between now and then."""
    steps = [(False, fact) for fact in deletions] + [(True, fact) for fact in additions]
    if rng.random() < 0.5:  # and what comes to nothing
        stay = sorted(facts_of(t, "explicit") - set(deletions))
        follow = sorted(facts_of(t, "inferred") - set(additions))
        twice = [(False, fact) for fact in rng.sample(stay, min(2, len(stay)))]
        twice += [(True, fact) for fact in rng.sample(follow, min(2, len(follow)))]
        steps = [*twice, *steps, *((not add, fact) for add, fact in twice)]
    while steps:
        size = rng.choice((1, 2, 5, len(steps)))
        part, steps = steps[:size], steps[size:]
        added = [fact for add, fact in part if add]
        if len(added) == len(part) and rng.random() < 0.5:
            t.load(text_of(added), "nt")  # also settles what came before
        else:
            for add, fact in part:
                (t.add if add else t.remove)(quad_of(fact))
        if rng.random() < 0.3:
            len(list(t)), t.diff()
        if rng.random() < 0.2:
            t.add((*quad_of(part[0][1]).triple, GRAPH))


def random_tuning(rng: random.Random) -> dict[str, str | bool]:
    """A strategy, and often with tables in memory."""
    return {
        "strategy": rng.choice(["auto", "counting", "dred_c", *STRATEGIES]),
        "recursive_counters": rng.random() < 0.7,
        "traces": rng.random() < 0.7,
    }


def run_case(
    seed: int,
    path: Path | None = None,
    make: Callable[[int], Case] = random_case,
    tuning: Callable[[random.Random], dict[str, Any]] = random_tuning,
) -> None:
    case, rng = make(seed), random.Random(seed)
    if not sensible(case):
        return
    MAINTENANCE.large_layer = rng.choice((3, 4096))  # many rows become a layer, not changes
    STORE.buffered_writes = rng.choice((1, 2, 3, 1000))
    STORE.single_writes = rng.choice((0, 8))
    STORE.combined_rows = (0, 1 << 10)[STORE.single_writes > 0]
    store = Store() if path is None else Store(path, durability="flush")
    explicit = {fact for fact in case.facts if is_rdf(fact)}
    store.load(text_of(explicit), "nt")
    store.reason(rules=case.program)
    check(store, case.program, explicit, f"seed {seed}")
    program = case.program
    for number, step in enumerate(case.steps):
        where = f"seed {seed} after step {number}"
        additions = sorted(fact for fact in step.additions if is_rdf(fact))
        deletions = sorted(fact for fact in step.deletions if is_rdf(fact))
        program = program - step.removed + step.added
        before = set(explicit)
        explicit = (explicit - set(deletions)) | set(additions)
        if rng.random() < 0.5:
            store.reason(tuning=tuning(rng))
        if rng.random() < 0.1:
            store.clear()
            additions, deletions, before = sorted(explicit), [], set()
        with store.transaction() as t:
            first = rng.random() < 0.5
            if first:
                write(t, rng, additions, deletions)
            if len(step.removed):
                t.remove_rules(step.removed)
            if len(step.added):
                t.add_rules(step.added)
            if not first:
                write(t, rng, additions, deletions)
            if rng.random() < 0.3:
                check(t, program, explicit, where)
        graph = list(store.quads_for_pattern(None, None, None, GRAPH))
        store.remove_graph(GRAPH)
        assert t.change.added == len(explicit - before) + len(graph), where
        assert t.change.removed == len(before - explicit), where
        check(store, program, explicit, where)
        check_tables(store, where)
        if rng.random() < 0.1:
            store.optimize()
        if rng.random() < 0.1:
            store.reason("none")
            check(store, Program(), explicit, f"{where}, turned off")
            store.reason(rules=program)
        if path is not None and rng.random() < 0.4:
            store.close()
            store = Store(path, durability="flush")
            check(store, program, explicit, f"{where}, opened again")
    store.close()


@pytest.mark.parametrize("part", range(2))
def test_store__along_random_schedules_equals_the_oracle(part: int) -> None:
    for seed in range(part * CASES, (part + 1) * CASES):
        run_case(seed)


def test_durable_store__along_random_schedules_equals_the_oracle(tmp_path: Path) -> None:
    for seed in range(500, 500 + CASES):
        run_case(seed, tmp_path / str(seed))


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
def test_store__along_many_random_schedules_equals_the_oracle(part: int, tmp_path: Path) -> None:
    for seed in range(1000 + part * 200, 1200 + part * 200):
        run_case(seed, tmp_path / str(seed) if seed % 3 == 0 else None)
