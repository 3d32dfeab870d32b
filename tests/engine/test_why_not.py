"""What is said of absent facts is true: each claim is checked against the oracle."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations

import pytest

from tests.engine.driver import Driver
from tests.engine.naive import Fact, Facts, Values, compute, ground, holds, join, matches, unify
from tests.engine.proving import atom_of, fact_of
from tests.engine.test_why import states
from triplestore.datalog.canonical import signature
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
from triplestore.engine.why import Attempt, why_not
from triplestore.expr.tree import variables_of


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


@pytest.mark.parametrize("part", range(4))
def test_why_not__random_programs__claims_are_true(part: int) -> None:
    checked = 0
    for seed in range(part * 10, part * 10 + 10):
        for state in list(states(seed))[-1:]:
            checked += check_absent(*state)
    assert checked > 40
