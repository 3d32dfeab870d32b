"""Groups of rules that modules own: which are found, and that closures stay exact."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.maintenance.checking import check_state, engine_takes
from tests.maintenance.closures import closure_case
from tests.maintenance.driver import Driver
from tests.maintenance.notation import facts, program
from tests.maintenance.programs import UpdateStep
from tests.maintenance.written import WrittenClosure
from triplestore.closures import kinds
from triplestore.closures.attached import SYMMETRIC, TRANSITIVE
from triplestore.datalog.stratify import stratify
from triplestore.errors import BudgetError
from triplestore.maintenance import changed_rows, update_state
from triplestore.maintenance.modules import edge_rows
from triplestore.maintenance.strategies import STRATEGIES, strategy
from triplestore.relations.facts import difference_set
from triplestore.relations.thresholds import RELATIONS
from triplestore.rules.modules.recognise import ModuleGroup, find_groups
from triplestore.rules.modules.written_out import Choice, Mode
from triplestore.rules.simplify import simplify

TRANS = ":R[?x, ?z] :- :R[?x, ?y], :R[?y, ?z] . "
SYM = ":R[?y, ?x] :- :R[?x, ?y] . "


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Closures that are written out, whatever the schemes do."""
    for kind in (TRANSITIVE, SYMMETRIC):
        symmetric = kind == SYMMETRIC
        monkeypatch.setitem(
            kinds.SCHEMES,
            kind,
            lambda edges, _, symmetric=symmetric: WrittenClosure.build(edges, symmetric),
        )
    yield


# -- which groups there are ------------------------------------------------------------------------


def groups(text: str) -> list[ModuleGroup]:
    rules = simplify(program(text)).rules
    return find_groups(rules, stratify(rules))


def found(text: str) -> list[tuple[str, str]]:
    """Kind and properties of each group; those that are turned around with a minus."""
    return [
        (
            group.structure.kind,
            " ".join(
                ("-" if turned else "") + name.decode().rpartition("/")[2]
                for name, turned in zip(group.relations, group.structure.turned, strict=True)
            ),
        )
        for group in groups(text)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TRANS, [("transitive", "R")]),
        (":R[?a, ?b] :- :R[?c, ?b], :R[?a, ?c] .", [("transitive", "R")]),
        (TRANS + SYM, [("symmetric", "R")]),
        (":R[?z, ?x] :- :R[?x, ?y], :R[?y, ?z] . " + SYM, [("symmetric", "R")]),
        # symmetric by its inverse, which is transitive
        (
            ":S[?y, ?x] :- :R[?x, ?y] . :R[?x, ?y] :- :S[?x, ?y] . "
            ":S[?x, ?z] :- :S[?x, ?y], :S[?y, ?z] .",
            [("symmetric", "R S")],
        ),
        # an inverse pair, with transitivity said of one, or of both
        (
            TRANS + ":S[?y, ?x] :- :R[?x, ?y] . :R[?y, ?x] :- :S[?x, ?y] .",
            [("transitive", "R -S")],
        ),
        (
            TRANS + ":S[?y, ?x] :- :R[?x, ?y] . :R[?y, ?x] :- :S[?x, ?y] . "
            ":S[?x, ?z] :- :S[?x, ?y], :S[?y, ?z] . :R[?x, ?z] :- :R[?x, ?y], :S[?z, ?y] .",
            [("transitive", "R -S")],
        ),
        # properties below each other
        (
            TRANS + ":S[?x, ?y] :- :R[?x, ?y] . :R[?x, ?y] :- :S[?x, ?y] .",
            [("transitive", "R S")],
        ),
        # rules from below, and rules above
        (
            TRANS + ":R[?x, ?y] :- :P[?x, ?y], NOT :A[?x] . :U[?x] :- :R[?x, ?y] .",
            [("transitive", "R")],
        ),
        # two groups, one above the other
        (
            TRANS + ":S[?x, ?z] :- :S[?x, ?y], :S[?y, ?z] . :S[?x, ?y] :- :R[?x, ?y] .",
            [("transitive", "R"), ("transitive", "S")],
        ),
        # chains: linear ones, several relations at once, and a lower relation turned around
        (":R[?x, ?z] :- :P[?x, ?y], :R[?y, ?z] . :R[?x, ?y] :- :P[?x, ?y] .", [("chain", "R")]),
        (":R[?x, ?z] :- :R[?x, ?y], :P[?z, ?y] .", [("chain", "R")]),
        (
            ":R[?x, ?z] :- :P[?x, ?y], :S[?y, ?z] . :S[?x, ?z] :- :Q[?x, ?y], :R[?y, ?z] .",
            [("chain", "R S")],
        ),
        (TRANS + ":R[?x, ?z] :- :P[?x, ?y], :R[?y, ?z] .", [("chain", "R")]),
        # an axiom as a guard
        (
            ":R[?x, ?z] :- :R[?x, ?y], :R[?y, ?z], :Transitive[:R] .",
            [("transitive", "R")],
        ),
    ],
)
def test_find_groups__by_shape(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        SYM,  # nothing to close
        TRANS + ":R[?x, ?y] :- :S[?x, ?y] . :S[?x, ?y] :- :R[?x, ?y], :A[?x] .",  # goes through it
        ":R[?x, ?z] :- :R[?y, ?x], :R[?y, ?z] .",  # Euclidean
        TRANS + ":S[?y, ?x] :- :R[?x, ?y] . :R[?y, ?x] :- :S[?x, ?y] . "
        ":R[?x, ?z] :- :R[?x, ?y], :S[?y, ?z] .",  # R after its inverse
        ":R[?x, ?z] :- :R[?x, ?y], :R[?y, ?z], :A[?y] .",  # a condition on the middle
        ":R[?x, ?z] :- :R[?x, ?y], :R[?y, ?z], FILTER(?x != ?z) .",
        ":R[?x, ?z] :- :R[?x, ?y], :R[?w, ?z] .",  # not a chain
        ":R[?x, ?x] :- :R[?x, ?y], :R[?y, ?x] .",
        ":R[?x, :a] :- :R[?x, ?y], :R[?y, :a] .",
        TRANS + "[?x, ?p, ?y] :- [?y, ?p, ?x], :A[?x] .",  # anything may be concluded
        TRANS + ":S[?x, ?y] :- :R[?x, ?y] . :R[?x, ?z] :- :S[?x, ?y], :S[?y, ?z] .",  # no copy back
        ":R[?x, ?z] :- :R[?x, ?y], :R[?y, ?z], :R[:a, :b] .",  # a guard from the group itself
        ":R[?x, ?z] :- :R[?x, ?y], :R[?y, ?z], :A[:b] . :A[?x] :- :R[?x, ?y] .",
    ],
)
def test_find_groups__other_recursion_is_left_to_rules(text: str) -> None:
    assert found(text) == []


def test_compiled__a_group_has_a_stratum_of_its_own() -> None:
    driver = Driver(modules=True)
    text = ":C[?x] :- :B[?x] . :B[?x] :- :A[?x] . " + TRANS + ":D[?x] :- :R[?x, ?y], :C[?y] ."
    driver.step((), (), program(text), strategy("dred_c"))
    assert driver.compiled is not None
    (number,) = driver.compiled.modules
    assert [len(stratum) for stratum in driver.compiled.stratification] == [1, 1, 1, 1]
    assert len(driver.compiled.stratification.strata[number - 1]) == 1


# -- histories -------------------------------------------------------------------------------------


def follow(rules: str, *steps: str, mode: Mode = "plain") -> Driver:
    """Updates, each as `+` and `-` before facts, of which each is checked."""
    driver, held = Driver(modules=True), set()
    driver.choice = Choice(mode)
    for number, step in enumerate(steps):
        added = {f for part in step.split(";") if part.strip()[0] == "+" for f in facts(part)}
        removed = {f for part in step.split(";") if part.strip()[0] == "-" for f in facts(part)}
        held = (held - removed) | added
        what = program(rules) if number == 0 else None
        driver.step(added, removed, what, strategy("dred_c"))
        check_state(driver, program(rules), frozenset(held), f"after step {number}")
    return driver


HISTORIES = {
    "D1": (TRANS, "+R(a, b) R(b, c)", "-R(a, b) R(b, c)"),
    "D2": (
        TRANS + ":S[?x, ?y] :- :R[?x, ?y] . :R[?x, ?z] :- :S[?x, ?y], :L[?y, ?z] .",
        "+R(a, b) L(b, c)",
        "+R(b, c)",
        "-R(a, b)",
    ),
    "D3": (
        TRANS + ":R[?x, ?y] :- :P[?x, ?y] .",
        "+R(a, b) R(b, c) R(c, d) R(a, e) R(e, c)",
        "-R(b, c); +P(a, c)",
        "-R(a, e)",
    ),
    "D4": (TRANS + ":R[?x, ?y] :- :P[?x, ?y] .", "+R(a, b) P(a, b)", "-R(a, b)"),
    "D5": (
        TRANS + ":U[?x, ?y] :- :R[?x, ?y] .",
        "+R(a, b) R(b, c)",
        "+R(a, c)",
        "-R(a, b)",
        "-R(a, c)",
    ),
    "stale counters": (
        TRANS + ":R[?x, ?y] :- :P[?x, ?y] .",
        "+P(a, b) P(b, c) P(a, c)",
        "-P(a, c) P(b, c)",
    ),
    "a cycle loses an edge": (TRANS + SYM, "+R(a, b) R(b, c) R(c, a)", "-R(a, b)"),
    "a loop alone": (TRANS + SYM, "+R(c, c)", "+R(a, b)", "-R(c, c)", "-R(a, b)"),
    "a pair and its inverse asserted": (
        TRANS + ":S[?y, ?x] :- :R[?x, ?y] . :R[?y, ?x] :- :S[?x, ?y] .",
        "+R(a, b) S(b, a) R(b, c)",
        "-R(a, b)",
        "-S(b, a)",
    ),
    "both ways of a symmetric edge asserted": (
        TRANS + SYM,
        "+R(a, b) R(b, a) R(b, c)",
        "-R(a, b)",
        "-R(b, a)",
    ),
    "negation above": (
        TRANS + ":A[?x] :- :N[?x], NOT :R[?x, :c] .",
        "+N(a) N(b) R(a, b)",
        "+R(b, c)",
        "-R(a, b)",
    ),
    "a chain": (
        ":R[?x, ?z] :- :R[?x, ?y], :P[?y, ?z] . :U[?x] :- :R[?x, ?y], NOT :A[?y] .",
        "+R(a, b) P(b, c) P(c, d) A(d)",
        "+P(d, b)",
        "-R(a, b); +R(e, c)",
        "-P(c, d)",
    ),
    "chains of two relations above a closure": (
        ":P[?x, ?z] :- :P[?x, ?y], :P[?y, ?z] . "
        ":R[?x, ?z] :- :P[?x, ?y], :S[?y, ?z] . :S[?x, ?z] :- :Q[?y, ?x], :R[?y, ?z] . "
        ":S[?x, ?y] :- :T[?x, ?y] .",
        "+P(a, b) P(b, c) T(c, d) Q(b, a)",
        "+Q(b, e) S(e, a)",
        "-P(b, c)",
        "-T(c, d); +P(b, c)",
        "-S(e, a)",
    ),
    "a guard comes and goes": (
        ":R[?x, ?z] :- :R[?x, ?y], :R[?y, ?z], :T[:R] .",
        "+R(a, b) R(b, c)",
        "+T(R)",
        "-T(R); +R(c, d)",
        "+T(R); -R(a, b)",
    ),
}


@pytest.mark.parametrize("mode", ["plain", "compressed"])
@pytest.mark.parametrize("name", HISTORIES)
def test_modules__histories_that_went_wrong_once(name: str, mode: Mode) -> None:
    follow(*HISTORIES[name], mode=mode)


def test_modules__nothing_is_overdeleted() -> None:
    edges = " ".join(f"R(n{i}, n{i + 1})" for i in range(20))
    driver = follow(TRANS, f"+{edges} R(n0, n2)", "-R(n0, n1)")
    closure = driver.step((), facts("R(n0, n2)"), None, strategy("dred_c"))
    (report,) = closure.strata
    assert (report.strategy, report.gone, report.added) == ("transitive closure", 19, 0)


def test_modules__changes_of_a_compressed_closure_are_listed_for_rules_that_read_them_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listed: list[int] = []
    stream = difference_set.DifferenceSet.keys

    def noted(found: difference_set.DifferenceSet) -> Any:
        listed.append(len(found))
        return stream(found)

    monkeypatch.setattr(difference_set.DifferenceSet, "keys", noted)
    monkeypatch.setattr(difference_set.DifferenceSet, "blocks", noted)
    above = ":A[?x] :- :R[?x, :n9] ."
    for rules, expected in ((TRANS, []), (TRANS + above, [25])):
        driver = Driver(modules=True)
        driver.choice = Choice("compressed")
        edges = facts(" ".join(f"R(n{i}, n{i + 1})" for i in range(9)))
        driver.step(edges, (), program(rules), strategy("dred_c"))
        listed.clear()
        closure = driver.step((), facts("R(n4, n5)"), None, strategy("dred_c"))
        assert closure.strata[0].gone == 25
        assert listed == expected


@pytest.mark.parametrize("mode", ["plain", "compressed"])
def test_modules__program_changes(mode: Mode) -> None:
    """A group comes, becomes another, and goes, with the facts of its properties in place."""
    asserted = frozenset(facts("R(a, b) R(b, c) S(c, d) S(e, a) P(d, f) A(a)"))
    texts = [
        ":R[?x, ?y] :- :P[?x, ?y] .",
        TRANS,
        TRANS + ":R[?x, ?y] :- :P[?x, ?y] .",
        TRANS + ":S[?y, ?x] :- :R[?x, ?y] . :R[?y, ?x] :- :S[?x, ?y] .",
        TRANS + SYM + ":S[?y, ?x] :- :R[?x, ?y] . :R[?y, ?x] :- :S[?x, ?y] .",
        TRANS + ":S[?y, ?x] :- :R[?x, ?y] .",
        TRANS + ":S[?x, ?y] :- :R[?x, ?y], :A[?x] . :R[?x, ?y] :- :S[?x, ?y] .",
        TRANS + SYM,
        SYM,
        "",
    ]
    for first in range(len(texts)):
        driver = Driver(modules=True)
        driver.choice = Choice(mode)
        for text in [*texts[first:], *texts[:first], *texts[first:]]:
            driver.step(asserted, (), program(text), strategy("dred_c"))
            check_state(driver, program(text), asserted, text)


@pytest.mark.parametrize("mode", ["plain", "compressed"])
@pytest.mark.parametrize("before", [TRANS, TRANS + SYM])
@pytest.mark.parametrize("beside", ["", ":R[?x, ?y] :- :P[?x, ?y] ."])
def test_modules__rules_replaced_by_some_whose_guard_does_not_hold__leave_nothing(
    before: str, beside: str, mode: Mode
) -> None:
    """No rule of the group stays, so that nothing says what the old ones derived but the facts."""
    asserted = frozenset(facts("R(a, b) R(b, c) R(c, d) P(d, e) P(a, c)"))
    driver = Driver(modules=True)
    driver.choice = Choice(mode)
    for text in (before, ":R[?x, ?z] :- :R[?x, ?y], :R[?y, ?z], :T[:R] . " + beside):
        driver.step(asserted, (), program(text), strategy("dred_c"))
        check_state(driver, program(text), asserted, text)


# -- random schedules ------------------------------------------------------------------------------

MODES: tuple[Mode, ...] = ("plain", "compressed")


def run(
    first: int, count: int, name: str, monkeypatch: pytest.MonkeyPatch, tune: Callable[..., None]
) -> None:
    """Run some cases, beginning with a seed. Closures are kept as rows, by their schemes, or in
    a random way in each step; changed ones and their edges are read at once, or in pieces."""
    for seed in range(first, first + count):
        case = closure_case(seed)
        if not engine_takes(case):
            continue
        rng = random.Random(seed)
        tune(RELATIONS, written_pairs=rng.choice((0, 2, 1 << 21)))
        for part in (update_state, edge_rows):
            monkeypatch.setattr(part, "BLOCK", 2 if seed % 2 else 1 << 16)
        mode: Mode | None = rng.choice((*MODES, None, None))
        names = list(STRATEGIES) if name == "mixed" else [name]
        driver, before = Driver(modules=True), None
        for number, (rules, explicit) in enumerate(case.states()):
            driver.choice = Choice(mode or rng.choice(MODES))
            driver.modules = mode is not None or rng.random() < 0.8
            changed = rules if rules != before else None
            before = rules
            step = case.steps[number - 1] if number else UpdateStep(explicit, frozenset())
            how = strategy(rng.choice(names))
            driver.step(step.additions, step.deletions, changed, how)
            driver.tables.validate()
            check_state(driver, rules, explicit, f"seed {seed} after step {number}")


@pytest.mark.parametrize("name", [*STRATEGIES, "mixed"])
def test_modules__random_schedules__equal_the_oracle(
    name: str, monkeypatch: pytest.MonkeyPatch, tune: Callable[..., None]
) -> None:
    run(100, 8, name, monkeypatch, tune)


def test_modules__random_schedules_with_written_closures__equal_the_oracle(
    written: None, monkeypatch: pytest.MonkeyPatch, tune: Callable[..., None]
) -> None:
    run(0, 15, "mixed", monkeypatch, tune)


@pytest.mark.long
@pytest.mark.parametrize("part", range(40))
def test_modules__many_random_schedules__equal_the_oracle(
    part: int, monkeypatch: pytest.MonkeyPatch, tune: Callable[..., None]
) -> None:
    run(1_000 + part * 250, 250, "mixed", monkeypatch, tune)


# -- large closures --------------------------------------------------------------------------------


ABOVE = (
    TRANS
    + ":A[?x] :- :R[?x, ?y] . :B[?y] :- :A[?y], :R[?x, ?y] . :C[?x] :- :N[?x], NOT :R[?x, :n3] . "
    + ":S[?x, ?y] :- :R[?x, ?y], :N[?y] ."
)


def test_modules__one_side_of_a_large_closure__is_counted_without_its_pairs(
    tune: Callable[..., None],
) -> None:
    tune(RELATIONS, written_pairs=10)
    edges = " ".join(f"R(n{i}, n{i + 1})" for i in range(30))
    driver = Driver(modules=True)
    driver.choice = Choice("compressed")
    held = facts(f"{edges} N(n3) N(n20)")
    closure = driver.step(held, (), program(ABOVE), strategy("dred_c"))
    check_state(driver, program(ABOVE), frozenset(held), "at first")
    assert closure.instances["projected"] == 30 * 31 // 2  # those of A; for B there are fewer
    for number, change in enumerate(("R(n4, n5)", "R(n0, n1) R(n28, n29)")):
        closure = driver.step((), facts(change), None, strategy("dred_c"))
        held -= facts(change)
        check_state(driver, program(ABOVE), frozenset(held), f"after deletion {number}")
        assert closure.instances["projected"] > 0
        closure = driver.step(facts(change), (), None, strategy("dred_c"))
        held |= facts(change)
        check_state(driver, program(ABOVE), frozenset(held), f"after addition {number}")


@pytest.mark.parametrize(
    ("rule", "times"),
    [
        (":A[:w] :- :R[?x, ?y] .", 1),
        (":q[:w, ?z] :- :R[?x, ?y], :N[?z] .", 2),
        (":q[?z, :w] :- :R[?x, ?y], :N[?z], :p[?z, ?u] .", 2),
    ],
)
def test_modules__no_side_of_a_large_closure__is_counted_by_one_pair(
    rule: str, times: int, tune: Callable[..., None]
) -> None:
    tune(RELATIONS, written_pairs=10)
    rules = program(TRANS + rule + " :B[?x] :- :A[?x] .")
    driver = Driver(modules=True)
    driver.choice = Choice("compressed")
    edges = " ".join(f"R(n{i}, n{i + 1})" for i in range(30))
    held = facts(f"{edges} N(n3) N(n20) p(n3, n4) p(n3, n5)")
    closure = driver.step(held, (), rules, strategy("dred_c"))
    check_state(driver, rules, frozenset(held), "at first")
    assert closure.instances["projected"] == times * 30 * 31 // 2
    assert closure.fetched < 100  # the pairs were not gone through
    for change in ("R(n4, n5)", "R(n0, n1) R(n28, n29) N(n20)", edges):
        driver.step((), facts(change), None, strategy("dred_c"))
        held -= facts(change)
        check_state(driver, rules, frozenset(held), f"after deletion of {change}")
        driver.step(facts(change), (), None, strategy("dred_c"))
        held |= facts(change)
        check_state(driver, rules, frozenset(held), f"after addition of {change}")


def test_counts__that_do_not_fit__are_refused_not_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changed_rows, "MOST_DERIVATIONS", 10)
    rules = program(":A[:w] :- :p[?x, ?y] .")
    driver = Driver()
    driver.step(facts(" ".join(f"p(n{i}, n{i})" for i in range(10))), (), rules, strategy("dred_c"))
    with pytest.raises(BudgetError, match="would have 11 derivations"):
        driver.step(facts("p(n10, n10)"), (), None, strategy("dred_c"))
    many = facts(" ".join(f"p(n{i}, n{i})" for i in range(12)))
    with pytest.raises(BudgetError, match="would have 12 derivations"):
        Driver().step(many, (), rules, strategy("rematerialise"))
