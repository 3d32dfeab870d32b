"""Every rule of the tables through a store: what it lists, also when premises come and go."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from pyoxigraph import Quad

from tests.ontologies import rdfs_cases, rule_cases, skos_cases
from tests.ontologies.oracle import OWL_RL as ORACLE
from tests.ontologies.oracle import SKOS, Fact, close, rdfs
from tests.ontologies.oracle.closing import Closure, _holds_always
from tests.ontologies.rule_cases import RuleCase
from triplestore import Store

# What the translation is known to leave out: see `ontologies/DESIGN.md`, "Known limits".
LEFT_OUT = {
    "eq-rep-p of the type itself": "axiomatic triples of OWL are not there to follow from",
    "prp-dom of the type": "likewise",
    "prp-spo1 a super-property of the type": "likewise",
    "prp-fp a literal and an individual": "no individual is a literal here",
    "prp-spo2 over two spellings of a value": "likewise",
    "dt-diff number and text": "an equality of literals gives them no types",
    "S22 a property of one's own below": "rdfs5 belongs to the regime, too",
}
CASES = [
    case
    for case in rule_cases.CASES + rdfs_cases.CASES + skos_cases.CASES
    if case.name not in LEFT_OUT
]
each_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def regime_of(case: RuleCase) -> str:
    if case.rule.startswith("rdf"):
        return "rdfs"
    return "skos" if case.rule.startswith("S") else "owl-rl"


OWL_RL = replace(ORACLE, axiomatic={})  # faster


def oracle_of(case: RuleCase, facts: list[Fact]) -> Closure:
    rules = {"rdfs": rdfs(facts), "skos": SKOS, "owl-rl": OWL_RL}[regime_of(case)]
    return close(facts, rules)


def listed(store: Store) -> set[Fact]:
    return {(quad.subject, quad.predicate, quad.object) for quad in store}


def noticed(store: Store) -> set[str]:
    return {violation.constraint for violation in store.violations()} - {"owl:Nothing"}


@cache
def of_itself(regime: str) -> frozenset[Fact]:
    """What a regime lists of an empty store: its own axioms."""
    store = Store()
    store.reason(regime)
    return frozenset(listed(store))


def check(store: Store, case: RuleCase, facts: list[Fact]) -> None:
    closure = oracle_of(case, facts)
    always = (_holds_always(closure._ruleset) | of_itself(regime_of(case))) - set(facts)
    assert listed(store) - always == closure.visible() - always
    assert noticed(store) == set(closure.inconsistent)


FIRST = {case.rule: case for case in reversed(CASES)}


OTHERS = [case for case in CASES if case is not FIRST[case.rule]]


@pytest.mark.parametrize("case", OTHERS, ids=[case.name for case in OTHERS])
def test_rules__list_what_follows(case: RuleCase) -> None:
    store = Store()
    store.extend([Quad(*fact) for fact in case.facts])
    store.reason(regime_of(case))
    check(store, case, case.facts)


def each_premise_goes(case: RuleCase) -> None:
    facts = case.facts
    store = Store()
    store.reason(regime_of(case))
    store.extend([Quad(*fact) for fact in facts])
    for fact in facts:
        store.remove(Quad(*fact))
        check(store, case, [other for other in facts if other != fact])
        store.add(Quad(*fact))
    check(store, case, facts)


@pytest.mark.parametrize("case", FIRST.values(), ids=list(FIRST))
def test_rules__follow_each_premise_as_it_goes_and_comes(case: RuleCase) -> None:
    each_premise_goes(case)


@pytest.mark.long
@each_case
def test_rules__follow_each_premise__all_cases(case: RuleCase) -> None:
    each_premise_goes(case)
