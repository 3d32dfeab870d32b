"""The tables of rules through a store: each case, and each again without each of its premises."""

from __future__ import annotations

from typing import Any

import pytest
from pyoxigraph import Quad

from tests.ontologies import rdfs_cases, rule_cases, skos_cases
from tests.ontologies.deviations import DEVIATIONS
from tests.ontologies.in_store import differences, inconsistent, rules_for, store_of
from tests.ontologies.oracle import Fact, close
from tests.ontologies.oracle.closing import is_rdf
from tests.ontologies.oracle.vocabulary import PREFIXES
from tests.ontologies.rule_cases import RuleCase

CASES = rule_cases.CASES + rdfs_cases.CASES + skos_cases.CASES


def regime_of(case: RuleCase) -> str:
    if case.rule.startswith("rdf"):
        return "rdfs"
    return "skos" if case.rule.startswith("S") else "owl-rl"


WORDS = tuple(f"<{PREFIXES[name]}" for name in ("rdf", "rdfs", "skos", "skosxl"))


def is_about_words(fact: Fact) -> bool:
    """Says something of the words of a language, such as the axioms that SKOS brings."""
    return str(fact[0]).startswith(WORDS)


def parameter(case: RuleCase) -> Any:
    known = DEVIATIONS.get(case.name)
    marks = [] if known is None else [pytest.mark.xfail(reason=known)]
    return pytest.param(case, id=case.name, marks=marks)


@pytest.mark.parametrize("case", [parameter(case) for case in CASES])
def test_rule__in_a_store(case: RuleCase) -> None:
    """As a whole, without each premise, and with it again."""
    regime = regime_of(case)
    rules = rules_for(regime, case.facts)
    whole = close(case.facts, rules)
    with store_of((), regime) as store:
        store.extend(Quad(*fact) for fact in case.facts)
        assert differences(store, whole, is_about_words) == []
        unfound = [fact for fact in case.conclusions if is_rdf(fact) and Quad(*fact) not in store]
        assert unfound == []
        assert [fact for fact in case.absences if is_rdf(fact) and Quad(*fact) in store] == []
        assert (case.rule in inconsistent(store)) == case.inconsistent
        for fact in case.facts:
            without = close((other for other in case.facts if other != fact), rules)
            store.remove(Quad(*fact))
            assert differences(store, without, is_about_words) == [], fact
            store.add(Quad(*fact))
            assert differences(store, whole, is_about_words) == [], fact
