"""Blocks of subclass rules: as exact as any other rules, and found where nothing else is."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from tests.maintenance.checking import check_case
from tests.maintenance.notation import TYPE_KEY, key
from tests.maintenance.programs import Case, UpdateStep
from triplestore.datalog.program import Program
from triplestore.datalog.text import read
from triplestore.maintenance.strategies import STRATEGIES, strategy
from triplestore.rules.compiled_program import Compiled
from triplestore.rules.thresholds import RULES
from triplestore.terms import Dictionary

CLASSES = "ABCDEFGHIJ"
OTHERS = (
    ":A[?x] :- :p[?x, ?y] .",
    ":B[?y] :- :p[?x, ?y], NOT :q[?y, ?y] .",
    ":q[?x, ?y] :- :J[?x], :p[?x, ?y] .",
    ":K[?x] :- :C[?x], NOT :I[?x] .",
    ":q[?x, ?x] :- :K[?x] .",
    ":C[?x] :- :A[?x], :p[?x, :a] .",
)


def subclass(one: int, other: int) -> str:
    return f":{CLASSES[other]}[?x] :- :{CLASSES[one]}[?x] ."


def program(rules: set[str]) -> Program:
    return read("@prefix : <http://e/> . " + " ".join(sorted(rules)))


def case(seed: int) -> Case:
    """A random hierarchy, now and then with other rules below, above and beside it."""
    rng = random.Random(seed)
    edges = [subclass(*sorted(rng.sample(range(10), 2))) for _ in range(rng.randint(4, 16))]
    pool = sorted({*edges, *rng.sample(OTHERS, rng.randint(0, 3))})
    rules = set(rng.sample(pool, max(2, len(pool) - 3)))

    def fact() -> tuple[str, bytes, bytes, bytes]:
        s, o = key(rng.choice("abcde")), key(rng.choice("abcde"))
        if rng.random() < 0.7:
            return ("t", s, TYPE_KEY, key(rng.choice(CLASSES)))
        return ("t", s, key(rng.choice("pq")), o)

    facts = frozenset(fact() for _ in range(rng.randint(3, 15)))
    start, held, current = program(rules), set(facts), set(rules)
    steps = []
    for _ in range(5):
        gone = {f for f in held if rng.random() < 0.3}
        come = {fact() for _ in range(rng.randint(0, 3))}
        swap = rng.random() < 0.5
        out = {r for r in current if rng.random() < 0.15} if swap else set()
        into = {r for r in pool if rng.random() < 0.15} - current if swap else set()
        steps.append(UpdateStep(frozenset(come), frozenset(gone), program(into), program(out)))
        current = (current - out) | into
        held = (held - gone) | come
    return Case(seed, start, facts, tuple(steps))


@pytest.fixture
def short_blocks(tune: Callable[..., None]) -> Iterator[None]:
    """Every stratum of subclass rules is a block."""
    tune(RULES, block_strata=1)
    yield


@pytest.mark.parametrize("part", range(4))
def test_hierarchies__random_schedules__equal_the_oracle(part: int, short_blocks: None) -> None:
    for seed in range(part * 20, part * 20 + 20):
        rng = random.Random(seed)
        check_case(case(seed), lambda rng=rng: strategy(rng.choice(list(STRATEGIES))))  # type: ignore[misc]


@pytest.mark.long
def test_hierarchies__many_random_schedules__equal_the_oracle(short_blocks: None) -> None:
    for seed in range(1_000, 4_000):
        rng = random.Random(seed)
        check_case(case(seed), lambda rng=rng: strategy(rng.choice(list(STRATEGIES))))  # type: ignore[misc]


def test_hierarchies__are_found_where_strata_have_only_subclass_rules() -> None:
    dictionary = Dictionary()
    levels = [subclass(i, i + 1) for i in range(9)]
    plain = Compiled(program(set(levels)), dictionary.encode_keys)
    assert list(plain.strata.hierarchies) == [1]
    assert plain.strata.families == []
    mixed = Compiled(program({*levels, ":E[?x] :- :p[?x, ?y] ."}), dictionary.encode_keys)
    assert set(mixed.blocks.values()) == {5}  # from the first stratum above the one of E
    assert len(mixed.strata.families) == 5
    off = Compiled(program(set(levels)), dictionary.encode_keys, hierarchies=False)
    assert off.blocks == {}
