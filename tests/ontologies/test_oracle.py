"""The oracle itself: each rule on examples written by hand, and what it takes for trivial."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.ontologies.oracle import OWL_RL, RULE_IDS, close
from tests.ontologies.rule_cases import CASES, RuleCase

WITHOUT_AXIOMATIC = replace(OWL_RL, axiomatic={})  # faster
each_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def test_table__has_every_rule() -> None:
    assert {case.rule for case in CASES} == set(RULE_IDS)
    assert len(RULE_IDS) == len(set(RULE_IDS)) == 78


@each_case
def test_rules__conclude_what_the_table_says(case: RuleCase) -> None:
    closure = close(case.facts)
    assert [fact for fact in case.conclusions if fact not in closure] == []
    assert [fact for fact in case.absences if fact in closure] == []
    noticed = "eq-diff1" if case.rule == "dt-diff" else case.rule
    assert (noticed in closure.inconsistent) == case.inconsistent


@each_case
def test_rules__conclude_nothing_without_any_of_the_premises(case: RuleCase) -> None:
    for missing in case.needed:
        facts = [fact for fact in case.facts if fact != missing]
        closure = close(facts, WITHOUT_AXIOMATIC)
        assert [fact for fact in case.conclusions if fact in closure] == [], missing
        assert not closure.inconsistent, missing
