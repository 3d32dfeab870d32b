"""Properties above closures as views: which there are, and that everything stays exact."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from tests.maintenance.checking import check_state, engine_takes
from tests.maintenance.closures import union_case
from tests.maintenance.driver import Driver
from tests.maintenance.notation import facts, program
from tests.maintenance.programs import UpdateStep
from tests.proofs.test_audit import audited
from tests.proofs.test_why import check_state as check_proofs
from triplestore.closures.attached import UNION
from triplestore.datalog.stratify import stratify
from triplestore.maintenance.strategies import STRATEGIES, strategy
from triplestore.relations.thresholds import RELATIONS
from triplestore.rules.modules.recognise import find_groups
from triplestore.rules.modules.written_out import Choice, Mode
from triplestore.rules.simplify import simplify

TRANS = ":R[?x, ?z] :- :R[?x, ?y], :R[?y, ?z] . "
UP = ":S[?x, ?y] :- :R[?x, ?y] . "
MODES: tuple[Mode, ...] = ("plain", "compressed")


def unions(text: str) -> dict[str, list[tuple[str, bool]]]:
    rules = simplify(program(text)).rules
    return {
        group.relations[0].decode()[-1]: [
            (step[0].decode()[-1], step[1]) for _, (step,) in group.structure.chains
        ]
        for group in find_groups(rules, stratify(rules))
        if group.structure.kind == UNION
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TRANS + UP, {"S": [("R", False)]}),
        (TRANS + ":S[?y, ?x] :- :R[?x, ?y] .", {"S": [("R", True)]}),
        (TRANS + UP + ":S[?x, ?y] :- :P[?x, ?y] .", {"S": [("P", False), ("R", False)]}),
        (TRANS + UP + ":T[?x, ?y] :- :S[?x, ?y] .", {"S": [("R", False)], "T": [("S", False)]}),
        (TRANS + UP + ":S[?x, ?x] :- :A[?x] . :B[?x] :- :S[?x, ?y] .", {"S": [("R", False)]}),
        (":S[?x, ?y] :- :P[?x, ?y] .", {}),  # nothing is closed
        (TRANS + ":S[?x, ?y] :- :R[?x, ?y], :A[?x] .", {}),  # some of the pairs
        (TRANS + UP + ":S[?y, ?x] :- :S[?x, ?y], :A[?x] .", {}),  # recursive by itself
        (TRANS + UP + ":R[?x, ?y] :- :S[?x, ?y] .", {}),  # one closure
    ],
)
def test_find_groups__properties_above_closures(text: str, expected: Any) -> None:
    assert unions(text) == expected


def follow(rules: str, *steps: str, mode: Mode = "compressed", views: int = 1) -> Driver:
    """Updates, each as `+` and `-` before facts, of which each is checked."""
    driver, held = Driver(modules=True), set()
    driver.choice = Choice(mode)
    for number, step in enumerate(steps):
        added = {f for part in step.split(";") if part.strip()[0] == "+" for f in facts(part)}
        removed = {f for part in step.split(";") if part.strip()[0] == "-" for f in facts(part)}
        held = (held - removed) | added
        driver.step(added, removed, None if number else program(rules), strategy("dred_c"))
        check_state(driver, program(rules), frozenset(held), f"after step {number}")
        assert viewed(driver) == views
    return driver


def viewed(driver: Driver) -> int:
    return sum(one.structure.kind == UNION for one in driver.tables.schemes.values())


HISTORIES = {
    "a part changes": ("", "+R(a, b) R(b, c)", "+R(c, d)", "-R(b, c)"),
    "asserted, too": ("", "+R(a, b) R(b, c)", "+S(a, c) S(x, y)", "-R(a, b)", "-S(a, c)"),
    "in two parts": (
        ":S[?x, ?y] :- :P[?x, ?y] .",
        "+R(a, b) R(b, c) P(a, c)",
        "-R(a, b)",
        "-P(a, c); +R(a, c)",
    ),
    "by another rule, too": (
        ":S[?x, ?y] :- :P[?x, ?y], :A[?x] . ",
        "+R(a, b) P(a, b) A(a) P(a, c)",
        "-R(a, b)",
        "-A(a)",
    ),
    "turned": (":S[?y, ?x] :- :P[?x, ?y] .", "+R(a, b) P(b, a) P(c, a)", "-R(a, b)", "-P(b, a)"),
    "read above": (
        ":A[?x] :- :S[?x, ?y] . :B[?x] :- :N[?x], NOT :S[?x, :c] . :T[?x, ?z] :- :S[?x, ?y], "
        ":S[?y, ?z] .",
        "+R(a, b) R(b, c) N(a) N(b) N(c)",
        "-R(b, c)",
        "+S(c, c); +S(b, c)",
    ),
}


@pytest.mark.parametrize("large", [0, 1 << 21])
@pytest.mark.parametrize("name", HISTORIES)
def test_unions__histories(name: str, large: int, tune: Callable[..., None]) -> None:
    tune(RELATIONS, written_pairs=large)
    rules, *steps = HISTORIES[name]
    follow(TRANS + UP + rules, *steps)


def test_unions__a_view_has_rows_for_what_is_stated_only() -> None:
    ladder = UP + ":T[?x, ?y] :- :S[?x, ?y] ."
    edges = " ".join(f"R(n{i}, n{i + 1})" for i in range(20))
    driver = follow(TRANS + ladder, f"+{edges} S(a, b)", views=2)
    assert driver.tables.rows == 21
    assert driver.tables.total() == 20 * 21 // 2 * 3 + 2


def test_unions__of_rows_and_of_few_pairs__have_rows() -> None:
    driver = Driver(modules=True)
    driver.choice = Choice("auto")
    driver.step(facts("R(a, b) R(b, c)"), (), program(TRANS + UP), strategy("dred_c"))
    assert viewed(driver) == 0
    assert driver.tables.rows == 6


def test_unions__program_changes() -> None:
    """A union comes, has other parts, becomes a closure, and goes, with facts in place."""
    asserted = frozenset(facts("R(a, b) R(b, c) S(c, d) S(e, a) P(d, f) P(a, c) A(a) T(b, a)"))
    texts = [
        TRANS + UP,
        TRANS + UP + ":S[?y, ?x] :- :P[?x, ?y] .",
        TRANS + UP + ":S[?x, ?y] :- :P[?x, ?y] . :T[?y, ?x] :- :S[?x, ?y] .",
        TRANS + ":S[?y, ?x] :- :P[?x, ?y] .",
        TRANS + UP + ":R[?x, ?y] :- :S[?x, ?y] .",
        UP + ":S[?x, ?z] :- :S[?x, ?y], :S[?y, ?z] .",
        TRANS + UP + ":S[?x, ?z] :- :S[?x, ?y], :S[?y, ?z] . :T[?x, ?y] :- :S[?x, ?y] .",
        "",
    ]
    for first in range(len(texts)):
        driver = Driver(modules=True)
        driver.choice = Choice("compressed")
        for text in [*texts[first:], *texts[:first], *texts[first::-1]]:
            driver.step(asserted, (), program(text), strategy("dred_c"))
            check_state(driver, program(text), asserted, text)


# -- random schedules ------------------------------------------------------------------------------


def run(first: int, count: int, tune: Callable[..., None]) -> int:
    """Run some cases, beginning with a seed; returns how often there was a view."""
    found = 0
    for seed in range(first, first + count):
        case = union_case(seed)
        if not engine_takes(case):
            continue
        rng = random.Random(seed)
        tune(RELATIONS, written_pairs=rng.choice((0, 2, 1 << 21)))
        mode: Mode | None = rng.choice(("compressed", "compressed", None))
        driver, before = Driver(modules=True), None
        for number, (rules, explicit) in enumerate(case.states()):
            driver.choice = Choice(mode or rng.choice(MODES))
            driver.modules = mode is not None or rng.random() < 0.8
            changed = rules if rules != before else None
            before = rules
            step = case.steps[number - 1] if number else UpdateStep(explicit, frozenset())
            how = strategy(rng.choice(list(STRATEGIES)))
            driver.step(step.additions, step.deletions, changed, how)
            driver.tables.validate()
            check_state(driver, rules, explicit, f"seed {seed} after step {number}")
            found += viewed(driver)
    return found


@pytest.mark.parametrize("part", range(2))
def test_unions__random_schedules__equal_the_oracle(part: int, tune: Callable[..., None]) -> None:
    assert run(part * 20, 20, tune) > 10


def test_unions__audit_and_proofs_are_right() -> None:
    found = 0
    for seed in range(20):
        case = union_case(seed)
        if not engine_takes(case):
            continue
        rules, asserted = next(iter(case.states()))
        driver = Driver(modules=True)
        driver.choice = Choice("compressed")
        driver.step(asserted, (), rules, strategy("dred_c"))
        for thorough in (False, True):
            assert audited(driver, thorough).differences == []
        if viewed(driver):
            found += check_proofs(driver, rules, set(asserted))
    assert found > 50


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_unions__many_random_schedules__equal_the_oracle(
    part: int, tune: Callable[..., None]
) -> None:
    run(1_000 + part * 250, 250, tune)
