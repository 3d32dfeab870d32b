"""The oracle itself: each rule on examples written by hand, and what it takes for trivial."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.ontologies import rdfs_cases, rule_cases, skos_cases
from tests.ontologies.oracle import OWL_RL, RULE_IDS, SKOS, close, rdfs
from tests.ontologies.oracle.closing import RuleSet
from tests.ontologies.rule_cases import RuleCase

CASES = rule_cases.CASES + rdfs_cases.CASES + skos_cases.CASES
each_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def rules_for(case: RuleCase) -> RuleSet:
    if case.rule.startswith("rdf"):
        return rdfs(case.facts)
    return SKOS if case.rule.startswith("S") else OWL_RL


def test_tables__have_every_rule() -> None:
    assert {case.rule for case in rule_cases.CASES} == set(RULE_IDS)
    assert len(RULE_IDS) == len(set(RULE_IDS)) == 78
    assert {case.rule for case in rdfs_cases.CASES} == {
        *(rule.name for rule in rdfs([]).patterns),
        "rdfs1",
    }
    stated = {*SKOS.axiomatic, *SKOS.lists, *(r.name for r in SKOS.patterns)}
    tested = {case.rule for case in skos_cases.CASES}
    assert tested == {name for name in stated if name.startswith("S")} - {"S35"}


@each_case
def test_rules__conclude_what_the_table_says(case: RuleCase) -> None:
    closure = close(case.facts, rules_for(case))
    assert [fact for fact in case.conclusions if fact not in closure] == []
    assert [fact for fact in case.absences if fact in closure] == []
    assert (case.rule in closure.inconsistent) == case.inconsistent


@each_case
def test_rules__conclude_nothing_without_any_of_the_premises(case: RuleCase) -> None:
    rules = rules_for(case)
    if rules is OWL_RL:
        rules = replace(rules, axiomatic={})  # faster
    for missing in case.needed:
        closure = close((fact for fact in case.facts if fact != missing), rules)
        assert [fact for fact in case.conclusions if fact in closure] == [], missing
        assert not closure.inconsistent, missing


FIRST_CASES = {case.rule: case for case in reversed(rule_cases.CASES)}


@pytest.mark.parametrize("case", FIRST_CASES.values(), ids=list(FIRST_CASES))
def test_rules__conclude_alone(case: RuleCase) -> None:
    """Many rules follow from others, so that none would miss them."""
    name = "prp-fp" if case.rule == "dt-diff" else case.rule
    rules = RuleSet(
        [rule for rule in OWL_RL.patterns if rule.name == name],
        {rule: function for rule, function in OWL_RL.lists.items() if rule == name},
        {rule: facts for rule, facts in OWL_RL.axiomatic.items() if rule == name},
        literals=name.startswith("dt-") or case.rule == "dt-diff",
    )
    if name in ("dt-eq", "dt-not-type", "eq-diff3"):
        rules = OWL_RL  # these need others
    closure = close(case.facts, rules)
    if case.inconsistent:
        assert closure.inconsistent
    else:
        assert case.conclusions[0] in closure
