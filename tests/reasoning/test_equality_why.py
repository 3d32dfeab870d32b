"""Proofs where equals are rewritten: each step is stated or an instance of a rule, in no circle."""

from __future__ import annotations

from random import Random

import pytest
from pyoxigraph import Quad

from tests.ontologies.random_ontologies import EQUALITY, EVERYTHING, VALUES, Kind, make_pool
from tests.reasoning.equal_stores import LONG, PREFIXES, check_proof
from triplestore import Store
from triplestore.proofs import Proof
from triplestore.reasoning.equality.not_rewritten import SAME_AS_KEY
from triplestore.relations.views.equality import equality_of

SEEDS = [pytest.param(n, marks=LONG if n >= 2 else ()) for n in range(30)]


def rewriting(data: str) -> Store:
    store = Store()
    store.load(PREFIXES + data, "turtle")
    store.reason("owl-rl", equality="rewrite")
    return store


@pytest.mark.parametrize("kind", [EQUALITY, EVERYTHING, VALUES], ids=lambda kind: kind.name)
@pytest.mark.parametrize("seed", SEEDS)
def test_why__every_fact_of_a_random_store_has_a_proof(kind: Kind, seed: int) -> None:
    random = Random(seed)
    store = Store()
    store.extend(Quad(*fact) for fact in make_pool(random, kind, 25))
    store.reason("owl-rl", equality="rewrite")
    facts = sorted(store, key=str)
    for quad in random.sample(facts, min(len(facts), 40)):
        proof = store.why(quad)
        assert isinstance(proof, Proof)
        check_proof(store, proof)


def test_why__a_way_of_merges() -> None:
    store = rewriting(
        """:f a owl:FunctionalProperty . :g rdfs:subPropertyOf :f .
        :a owl:sameAs :b . :c owl:sameAs :b . :x :f :c , :d . :y :g :d ; :f :e . :e :p :o ."""
    )
    proof = store.why(":a owl:sameAs :e")
    assert isinstance(proof, Proof)
    check_proof(store, proof)
    used = [step.rule.name for step in proof if step.rule is not None]
    assert {"eq-trans", "eq-sym", "prp-fp", "prp-spo1"} <= set(used)
    proof = store.why(":a :p :o")
    assert isinstance(proof, Proof)
    check_proof(store, proof)
    assert ":p[:e, :o]  (asserted)" in str(proof)
    assert "too long" not in str(proof)


def test_why__two_equalities_that_support_each_other_are_proved_from_outside() -> None:
    store = rewriting(
        """:f a owl:FunctionalProperty . :x :f :u . :y :f :v . :g a owl:FunctionalProperty .
        :u :g :x . :v :g :y . :h a owl:FunctionalProperty . :z :h :x , :y ."""
    )
    for fact in (":x owl:sameAs :y", ":u owl:sameAs :v", ":v :g :x", ":x :f :v"):
        proof = store.why(fact)
        assert isinstance(proof, Proof)
        check_proof(store, proof)
        assert ":h[:z, :x]" in str(proof)


def test_why__values_of_two_properties_below_a_functional_one() -> None:
    store = rewriting(
        """:f a owl:FunctionalProperty . :g rdfs:subPropertyOf :f . :h rdfs:subPropertyOf :g .
        :x :h :a . :x :g :b . :y :f :a , :c . :z :p :a , :b , :c , :d ."""
    )
    for fact, rule in ((":a owl:sameAs :b", "prp-spo1"), (":b owl:sameAs :c", "eq-trans")):
        proof = store.why(fact)
        assert isinstance(proof, Proof)
        check_proof(store, proof)
        assert rule in [step.rule.name for step in proof if step.rule is not None]


def test_why__of_a_long_chain_is_as_long_as_the_way() -> None:
    chain = " . ".join(f":i{n} owl:sameAs :i{n + 1}" for n in range(400))
    store = rewriting(chain + " . :i400 :p :o .")
    proof = store.why(":i0 :p :o")
    assert isinstance(proof, Proof)
    check_proof(store, proof)
    assert sum(1 for step in proof if step.stated) == 401
    assert proof.height < 20


def test_why_not__names_what_is_missing() -> None:
    store = rewriting(":a owl:sameAs :b . :p rdfs:subPropertyOf :q . :a :p :x .")
    found = store.why(":b :q :y")
    assert not found
    assert "prp-spo1" in str(found)


def test_why__a_fact_that_is_asked_for_is_rewritten() -> None:
    store = rewriting(":a owl:sameAs :b . :a owl:differentFrom :b .")
    equality = equality_of(store._view().tables)
    assert equality is not None
    assert store._view().dictionary.key(equality.same_as) == SAME_AS_KEY
    for violation in store.violations():
        assert "owl:differentFrom[:a, :b]  (asserted)" in str(store.why(violation))
