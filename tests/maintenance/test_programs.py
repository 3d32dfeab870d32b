"""The random programs are what they say: accepted, finite, repeatable, and of every feature."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter

import pytest

from tests.maintenance.features import ALL, PLAIN, Features, found_in
from tests.maintenance.naive import naive
from tests.maintenance.notation import show
from tests.maintenance.programs import Case, is_accepted, random_case, random_program
from triplestore.datalog.program import Program
from triplestore.terms.term_keys import TYPED

# The least share of cases that must have each; those measured are in the module's docstring.
LEAST = {
    "recursion": 0.8,
    "strata": 0.5,
    "negation": 0.3,
    "negation_body": 0.3,
    "negation_guard": 0.02,
    "aggregates": 0.2,
    "constants": 0.6,
    "constants in a head": 0.4,
    "classes": 0.8,
    "classes in a head": 0.6,
    "tuples": 0.5,
    "tuples in a head": 0.3,
    "variable_property": 0.1,
    "variable_property in a head": 0.05,
    "variable_class": 0.1,
    "variable_class in a head": 0.05,
    "repeated": 0.4,
    "repeated in a head": 0.3,
    "cartesian": 0.2,
    "filters": 0.3,
    "binds": 0.2,
    "several_heads": 0.2,
    "bodiless": 0.1,
    "constraints": 0.2,
}


def all_rules(case: Case) -> Program:
    program = case.program
    for step in case.steps:
        program = program + step.added
    return program


def as_text(case: Case) -> str:
    return json.dumps(
        [[str(program), show(facts)] for program, facts in case.states()], ensure_ascii=False
    )


def test_cases__are_accepted_small_and_change_something() -> None:
    inferred = changed = states = 0
    for seed in range(120):
        before = None
        case = random_case(seed)
        assert 2 <= len(case.program) <= 10
        assert len(case.facts) <= 30
        assert len(case.steps) == 4
        for program, facts in case.states():
            assert is_accepted(program)
            closure = naive(program, facts, most=2000).facts
            inferred += closure > facts
            changed += before is not None and before != closure - facts
            before = closure - facts
            states += 1
    assert inferred > states / 2
    assert changed > states / 4


def test_cases__have_every_feature_often_enough() -> None:
    found: Counter[str] = Counter()
    seeds = range(250)
    for seed in seeds:
        found.update(found_in(all_rules(random_case(seed))))
    assert {name: found[name] for name, least in LEAST.items() if found[name] < least * 250} == {}


def test_cases__steps_do_all_they_can() -> None:
    found: Counter[str] = Counter()
    for seed in range(60):
        case = random_case(seed)
        states = list(case.states())
        for (program, facts), step in zip(states, case.steps, strict=False):
            found["adds"] += bool(step.additions - facts)
            found["adds what is there"] += bool(step.additions & facts - step.deletions)
            found["deletes"] += bool(step.deletions & facts)
            found["deletes what is not there"] += bool(step.deletions - facts)
            found["deletes and adds the same"] += bool(step.deletions & step.additions)
            found["deletes all"] += step.deletions >= facts
            found["adds rules"] += len(program + step.added) > len(program)
            found["removes rules"] += len(program - step.removed) < len(program)
    assert len(found) == 8
    assert min(found.values()) >= 5


@pytest.mark.parametrize("name", [name for name in vars(ALL) if name not in ("shapes",)])
def test_features__can_be_switched_off(name: str) -> None:
    for seed in range(25):
        case = random_case(seed, ALL.without(name), steps=2)
        program = all_rules(case)
        assert name not in found_in(program)
        if name == "rule_changes":
            assert program == case.program
        if name == "literals":
            assert not any(key[0] == TYPED for fact in case.facts for key in fact[1:])


@pytest.mark.parametrize("features", [PLAIN, Features().only(), ALL.only("aggregates", "tuples")])
def test_features__few_of_them_are_enough_for_a_program(features: Features) -> None:
    off = {name for name, likely in vars(features).items() if not likely}
    for seed in range(20):
        assert not off & found_in(random_program(seed, features))


def test_cases__are_the_same_in_every_process() -> None:
    run = (
        "from tests.maintenance.test_programs import *\n"
        "print([as_text(random_case(s)) for s in (1, 2)])"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", run],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1
