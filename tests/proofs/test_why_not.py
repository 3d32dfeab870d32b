"""What is said of absent facts is true: each claim is checked against the oracle."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
import pytest

from tests.maintenance.checking import engine_takes
from tests.maintenance.closures import closure_case, union_case
from tests.maintenance.driver import Driver
from tests.maintenance.naive import (
    Fact,
    Facts,
    Values,
    compute,
    ground,
    holds,
    join,
    matches,
    unify,
)
from tests.maintenance.notation import fact, facts, program
from tests.maintenance.programs import UpdateStep
from tests.proofs.proving import atom_of, fact_of
from tests.proofs.test_why import check_state, states
from triplestore.datalog.program import (
    Aggregate,
    Bind,
    Filter,
    Item,
    Not,
    Program,
    TripleAtom,
    TupleAtom,
    Variable,
    bound_by,
    variables_in,
)
from triplestore.datalog.rules import signature
from triplestore.errors import CorruptError, UsageError
from triplestore.expressions.tree import variables_of
from triplestore.maintenance.strategies import strategy
from triplestore.proofs import Attempt, WhyNot, why_not
from triplestore.proofs.thresholds import PROOFS
from triplestore.relations import INFERRED, ChangedRows, Changes, Layer
from triplestore.rules.modules.written_out import Choice


def absent_facts(held: set[Fact], count: int, rng: random.Random) -> Iterator[Fact]:
    """Facts that do not hold: some that do, with a term of another one in place of one."""
    listed = sorted(held)
    terms = sorted({term for one in listed for term in one[1:]})
    for _ in range(count):
        made = list(rng.choice(listed))
        made[rng.randrange(1, len(made))] = rng.choice(terms)
        if tuple(made) not in held:
            yield tuple(made)


def near_misses(program: Program, closure: Facts, count: int) -> list[Fact]:
    """Facts that would follow if conditions were not there."""
    found: set[Fact] = set()
    for rule in program.rules:
        body = [item for item in rule.body if not isinstance(item, Not | Filter)]
        if len(body) < len(rule.body):
            for values in matches(body, closure, {}):
                found |= {ground(head, values) for head in rule.heads}
    return sorted(found - closure.all)[:count]


def check_absent(driver: Driver, program: Program, explicit: set[Fact], count: int = 12) -> int:
    """Check what is said of some absent facts: of how many."""
    held = set(driver.facts())
    closure = Facts(held)
    rng = random.Random(len(held))
    parts = {signature(part): part for rule in program.rules for part in rule.split()}
    checked = 0
    assert driver.compiled is not None
    absent = [*absent_facts(held, count, rng)] if held else []
    for one in absent + near_misses(program, closure, count):
        answer = why_not(driver.compiled, driver.tables, driver.dictionary, atom_of(one))
        fitting = [part for part in parts.values() if unify(part.heads[0], one, {}) is not None]
        assert answer.rules == len(answer.attempts) == len(fitting)
        nearness = [attempt.nearness for attempt in answer.attempts]
        assert nearness == sorted(nearness)
        for attempt in answer.attempts:
            check_attempt(attempt, one, program, closure)
        answer.json()
        assert str(answer).count("\n") >= len(answer.attempts)
        checked += 1
    return checked


def check_attempt(attempt: Attempt, absent: Fact, program: Program, closure: Facts) -> None:
    rule = attempt.rule
    assert rule in program.rules
    body = list(rule.body)
    assert sorted(map(str, (*attempt.matched, attempt.missing, *attempt.left))) == sorted(
        map(str, body)
    )
    given = {variable: value.key for variable, value in attempt.given.items()}
    assert any(unify(head, absent, {}) == given for head in rule.heads)
    assert attempt.exact
    values = {variable: value.key for variable, value in attempt.values.items()}
    found = list(fitting(attempt.matched, body, given, closure))
    assert attempt.ways == len(found)
    assert values in found, "the example is one"
    for missing in [(*attempt.matched, attempt.missing), *([(attempt.missing,)] * attempt.alone)]:
        assert not list(fitting(missing, body, given, closure)), "it is not true in any of them"
    for items in combinations(body, len(attempt.matched) + 1):
        if can_be_looked_at(items, body, given):
            assert not list(fitting(items, body, given, closure)), "more items can be true"
    check_instead(attempt, values, closure)


def fitting(
    items: tuple[Item, ...], body: list[Item], given: Values, closure: Facts
) -> Iterator[Values]:
    """The matches of some items of a body that agree with what the fact says."""
    targets = {item.variable for item in body if isinstance(item, Bind)}
    start = {variable: key for variable, key in given.items() if variable not in targets}
    if not all(bound(items, start).issuperset(needs(item, body)) for item in items):
        start = dict(given)
    for values in matches(items, closure, start):
        made = join(values, given)
        if made is not None:
            yield made


def can_be_looked_at(items: tuple[Item, ...], body: list[Item], given: Values) -> bool:
    """Whether all conditions among some items have values for what they need."""
    known = bound(items, given)
    atoms = [item for item in body if isinstance(item, TripleAtom | TupleAtom | Aggregate)]
    if any(map(is_guarded, items)) and not set(atoms) <= set(items):
        return False
    return all(known.issuperset(needs(item, body)) for item in items)


def is_guarded(item: Item) -> bool:
    """Whether a negation compares what its own atoms do not bind: it comes after all atoms."""
    if not isinstance(item, Not):
        return False
    used = {v for one in item.body if isinstance(one, Filter) for v in variables_of(one.expression)}
    return not used <= set(bound_by(item.body))


def bound(items: tuple[Item, ...], given: Values) -> set[Variable]:
    return {*bound_by(items), *given}


def needs(item: Item, body: list[Item]) -> set[Variable]:
    """The variables that must have values before an item can be looked at."""
    if isinstance(item, Not):
        return set(variables_in(item)) & set(bound_by(body))
    return set(variables_of(item.expression)) if isinstance(item, Filter | Bind) else set()


def check_instead(attempt: Attempt, values: Values, closure: Facts) -> None:
    item = attempt.missing
    if isinstance(item, Not):
        atoms = [one for one in item.body if isinstance(one, TripleAtom | TupleAtom)]
        if needs(item, list(attempt.rule.body)) <= values.keys():
            assert not holds(item, closure, values)
            assert len(attempt.facts) == len(atoms)
            assert all(fact_of(one) in closure.all for one in attempt.facts)
            assert all(
                unify(atom, fact_of(one), values) is not None
                for atom, one in zip(atoms, attempt.facts, strict=True)
            )
    elif isinstance(item, Bind):
        if set(variables_of(item.expression)) <= values.keys():
            key = compute(item.expression, values)
            assert [one.key for one in attempt.found] == ([] if key is None else [key])
    else:
        assert not attempt.facts
        assert not attempt.found or isinstance(item, Aggregate)


@pytest.mark.parametrize("part", range(2))
def test_why_not__random_programs__claims_are_true(part: int) -> None:
    checked = 0
    for seed in range(part * 10, part * 10 + 10):
        for state in list(states(seed))[-1:]:
            checked += check_absent(*state)
    assert checked > 40


def check_schemes(seed: int) -> tuple[int, int]:
    """Check proofs and what is said of absent facts where closures and unions are not written out,
    after a schedule of updates: how many facts there were of each kind."""
    case = (closure_case, union_case)[seed % 2](seed)
    if not engine_takes(case):
        return 0, 0
    driver, before = Driver(modules=True), None
    driver.choice = Choice("compressed")
    for number, (rules, stated) in enumerate(case.states()):
        step = case.steps[number - 1] if number else UpdateStep(stated, frozenset())
        changed = rules if rules != before else None
        driver.step(step.additions, step.deletions, changed, strategy("dred_c"))
        before = rules
    if not driver.tables.schemes:
        return 0, 0
    return check_state(driver, rules, set(stated)), check_absent(driver, rules, set(stated))


def test_why_not__beside_schemes__claims_are_true() -> None:
    checked = [check_schemes(seed) for seed in range(20)]
    assert min(map(sum, zip(*checked, strict=True))) > 40


@pytest.mark.long
@pytest.mark.parametrize("part", range(5))
def test_why_not__beside_many_schemes__claims_are_true(part: int) -> None:
    for seed in range(100 + part * 60, 160 + part * 60):
        check_schemes(seed)


# --- one absent fact after the other -------------------------------------------------------------


def answer_to(rules: str, stated: str, goal: str, **options: int) -> WhyNot:
    driver = Driver()
    driver.step(facts(stated), (), program(rules), strategy("dred_c"))
    assert driver.compiled is not None
    return why_not(
        driver.compiled, driver.tables, driver.dictionary, atom_of(fact(goal)), **options
    )


def said(rules: str, stated: str, goal: str) -> str:
    """The last lines of the answer, from what holds on."""
    lines = str(answer_to(rules, stated, goal)).splitlines()
    return "\n".join(line for line in lines if line.startswith(("├", "└")))


@pytest.mark.parametrize(
    ("rules", "stated", "expected"),
    [
        (":D[?x] :- :A[?x], :p[?x, ?y] .", "A(a)", "├─ holds: :A[:a]\n└─ no match: :p[:a, ?y]"),
        (
            ":D[?x] :- :p[?x, ?y], :A[?y] .",
            "p(a, b) p(b, c) A(d)",
            "├─ holds: :p[:a, :b]\n└─ no match: :A[:b]",
        ),
        (
            ":D[?x] :- :A[?x], NOT :B[?x] .",
            "A(a) B(a)",
            "├─ holds: :A[:a]\n└─ in the way: :B[:a], against NOT :B[:a]",
        ),
        (
            ":D[?x] :- :A[?x], NOT (:p[?x, ?y], :B[?y]) .",
            "A(a) p(a, b) p(a, c) B(c)",
            "├─ holds: :A[:a]\n└─ in the way: :p[:a, :c], :B[:c], against NOT (:p[:a, ?y], :B[?y])",
        ),
        (
            ":D[?x] :- :p[?x, ?y], NOT (:p[?x, ?z], FILTER(?z > ?y)) , :A[?y] .",
            "p(a, 1) p(a, 2) A(1)",
            "├─ holds: :p[:a, 1]\n├─ holds: :A[1]\n"
            "└─ in the way: :p[:a, 2], against NOT (:p[:a, ?z], FILTER(?z > 1))",
        ),
        (
            ":D[?x] :- NOT (:p[?k, ?z], FILTER(?z > ?y)), :q[?x, ?y], :B[?x] .",
            "p(a, 2) q(a, 1)",
            "├─ holds: :q[:a, 1]\n├─ no match: :B[:a]\n"
            "└─ also open: NOT (:p[?k, ?z], FILTER(?z > 1))",
        ),
        (
            ":D[?x] :- :p[?x, ?y], FILTER(?y > 5) .",
            "p(a, 1)",
            "├─ holds: :p[:a, 1]\n└─ not true: 1 > 5",
        ),
        (
            ":D[?x] :- :A[?x], BIND(?x + 1 AS ?y), :p[?x, ?y] .",
            "A(a) p(a, b)",
            "├─ holds: :A[:a]\n├─ holds: :p[:a, :b]\n└─ no value: :a + 1",
        ),
        (
            ":D[?x] :- AGGREGATE(:p[?x, ?y] ON ?x BIND count(?y) AS ?n), FILTER(?n > 2) .",
            "p(a, 1) p(a, 2)",
            "├─ holds: AGGREGATE(:p[:a, ?y] ON ?x BIND count(?y) AS ?n)\n└─ not true: 2 > 2",
        ),
    ],
)
def test_why_not__says_what_is_missing(rules: str, stated: str, expected: str) -> None:
    assert said(rules, stated, "D(a)") == expected


def test_why_not__several_cases__are_counted() -> None:
    rules = ":D[?x] :- :p[?x, ?y], :A[?y] ."
    assert "(nor in 1 other case)" in said(rules, "p(a, b) p(a, c) A(d)", "D(a)")
    assert "(nor in 2 other cases)" in said(rules, "p(a, b) p(a, c) p(a, e) A(d)", "D(a)")


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("n(a, 3)", "└─ count(?y) = 2, not 3"),
        ("n(b, 3)", "└─ nothing to aggregate: AGGREGATE(:p[:b, ?y] ON ?x BIND count(?y) AS ?n)"),
        ("m(a, 3)", "├─ holds: :A[:a]\n└─ 1 + 1 is 2, not 3"),
        ("k(a, 3)", "├─ holds: :A[:a]\n└─ count(?y) = 2, not 3"),
    ],
)
def test_why_not__values__are_said(goal: str, expected: str) -> None:
    rules = """:n[?x, ?n] :- AGGREGATE(:p[?x, ?y] ON ?x BIND count(?y) AS ?n) .
        :m[?x, ?n] :- :A[?x], BIND(1 + 1 AS ?n) .
        :k[?x, ?n] :- :A[?x], AGGREGATE(:p[?x, ?y] ON ?x BIND count(?y) AS ?n) ."""
    assert said(rules, "A(a) p(a, 1) p(a, 2)", goal) == expected


def test_why_not__nearest_rules__come_first() -> None:
    rules = """rule "far" :D[?x] :- :p[?x, ?y], :q[?y, ?z], :B[?z] .
        rule "copy" :D[?x] :- :C[?x] . rule "near" :D[?x] :- :A[?x], :C[?x] ."""
    answer = answer_to(rules, "A(a)", "D(a)")
    assert [attempt.rule.name for attempt in answer.attempts] == ["near", "copy", "far"]
    assert not answer


def test_why_not__many_rules__some_are_looked_at() -> None:
    rules = " ".join(f":D[?x] :- :C{i}[?x], :A[?x] ." for i in range(30))
    answer = answer_to(rules, "A(a)", "D(a)", most=4)
    assert (answer.rules, len(answer.attempts)) == (30, 4)
    assert str(answer).endswith("and 26 more rules")


def test_why_not__no_rule_fits__is_said() -> None:
    for goal in ("E(a)", "D(b)", "unheard_of(a, b)"):
        answer = answer_to(":D[:a] :- :A[?x] .", "B(b)", goal)
        assert answer.rules == 0
        assert str(answer).endswith(
            "does not hold: it is not asserted, and no rule concludes facts like it"
        )


def test_why_not__what_takes_too_much__is_not_claimed(tune: Callable[..., None]) -> None:
    rules, stated = ":D[?x] :- :p[?x, ?y], :q[?y, ?z], :A[?z] .", "p(a, b) q(b, c) A(a)"
    assert answer_to(rules, stated, "D(a)").attempts[0].exact
    tune(PROOFS, attempt_sets=1)
    (attempt,) = answer_to(rules, stated, "D(a)").attempts
    assert not attempt.exact
    assert "not everything was looked at" in str(answer_to(rules, stated, "D(a)"))


def test_why_not__of_what_holds__is_refused() -> None:
    with pytest.raises(UsageError, match="holds: ask why"):
        answer_to("", "A(a)", "A(a)")


def test_why_not__a_consequence_that_is_not_there__is_refused() -> None:
    driver = Driver()
    driver.step(facts("A(a)"), (), program(":B[?x] :- :A[?x], :A[?y] ."), strategy("dred_c"))
    for name, keys in driver.batch(facts("B(a)")).items():
        p = np.full(1, name, dtype=np.uint32)
        s, o = keys.astype(np.uint32), (keys >> np.uint64(32)).astype(np.uint32)
        gone = ChangedRows.of((p, s, o), 0, INFERRED)
        driver.tables = driver.tables.push(Layer.build(Changes(facts=gone)))
    assert driver.compiled is not None
    with pytest.raises(CorruptError, match="verify the closure"):
        why_not(driver.compiled, driver.tables, driver.dictionary, atom_of(fact("B(a)")))


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_why_not__many_random_programs__claims_are_true(part: int) -> None:
    for seed in range(10_000 + part * 200, 10_200 + part * 200):
        for state in list(states(seed))[-1:]:
            check_absent(*state)
