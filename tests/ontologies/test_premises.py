"""Axioms in the bodies of rules that are made of them: all that are needed, and shared."""

from __future__ import annotations

import pytest

from tests.ontologies.in_store import differences, rules_for, store_of
from tests.ontologies.oracle import close
from tests.ontologies.reading import read, triples
from triplestore.datalog.program import Rule
from triplestore.ontologies.translate.regimes import translate

MEMBERS = " ".join(f":i{n}" for n in range(12))
DIFFERENT = f"[] a owl:AllDifferent ; owl:members ( {MEMBERS} ) . "
REFLECTIVE = ":metaclass rdfs:subClassOf owl:TransitiveProperty . "


def pairs(turtle: str) -> list[Rule]:
    program = translate(read(turtle), ["owl-rl"], equal=True).program
    return [rule for rule in program.rules if rule.name == "eq-diff2"]


def test_rules__of_one_axiom_share_its_triples() -> None:
    found = pairs(DIFFERENT)
    assert len(found) >= 12 * 11 // 2
    assert len({id(rule.axioms) for rule in found}) == 1
    two = pairs(DIFFERENT + "[] a owl:AllDifferent ; owl:members ( :i1 :i2 ) .")
    assert len({id(rule.axioms) for rule in two}) == 2


def test_premises__where_a_rule_may_have_a_part_in_its_axiom() -> None:
    about = ":p a owl:TransitiveProperty . :q rdfs:subPropertyOf rdf:type . "
    program = translate(read(about + REFLECTIVE + DIFFERENT), ["owl-rl"], equal=True).program
    (rule,) = (rule for rule in program.rules if rule.name == "prp-trp")
    assert rule.axioms and all(atom in rule.body for atom in rule.axioms)
    for pair in pairs(about + REFLECTIVE + DIFFERENT):
        assert not pair.body, "nothing but a constraint reads pairs"


@pytest.mark.parametrize("data", [":i3 owl:sameAs :i5 .", ":x owl:sameAs :y ."])
def test_premises__as_the_oracle_has_it(data: str) -> None:
    facts = list(
        triples(REFLECTIVE + DIFFERENT + data + " :p a :metaclass . :x :p :i1 . :i1 :p :z .")
    )
    with store_of(facts, "owl-rl") as store:
        assert differences(store, close(facts, rules_for("owl-rl"))) == []
