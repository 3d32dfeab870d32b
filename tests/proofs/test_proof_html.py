"""Proofs in notebooks: folding trees that are cut where they get too large."""

from __future__ import annotations

import pytest
from support.html_output import Read, read_html

from triplestore import Store
from triplestore.proofs import Proof, WhyNot
from triplestore.proofs import proof_html as made

PREFIX = "@prefix : <http://ex.org/> . "
ANCESTORS = """
    rule "base" :ancestor[?x, ?y] :- :parent[?x, ?y] .
    rule "step" :ancestor[?x, ?z] :- :ancestor[?x, ?y], :parent[?y, ?z] .
"""


def store_of(facts: str, rules: str) -> Store:
    store = Store()
    store.load(PREFIX + facts, "ttl")
    store.reason(rules=PREFIX + rules)
    return store


def proof_of(store: Store, fact: str, **options: int) -> tuple[Proof, Read, str]:
    proof = store.why(fact, **options)
    assert isinstance(proof, Proof)
    html = made.proof_html(proof, proof.prefixes or {})
    return proof, read_html(html), html


def absence_of(store: Store, fact: str) -> Read:
    absent = store.why(fact)
    assert isinstance(absent, WhyNot)
    return read_html(made.absence_html(absent, absent.prefixes or {}))


def test_proof__names_facts_rules_and_what_is_asserted() -> None:
    store = store_of(":ada :parent :bob . :bob :parent :cy .", ANCESTORS)
    _, found, html = proof_of(store, ":ada :ancestor :cy")
    assert found.text.startswith("proof of :ancestor[:ada, :cy]: 4 facts, 2 levels")
    assert "by rule step" in found.text
    assert ":parent[:bob, :cy] asserted" in found.text
    assert "<http://ex.org/parent>[<http://ex.org/bob>, <http://ex.org/cy>]" in found.titles
    assert html.count("<details") == 2


def test_proof__of_an_asserted_fact_is_one_line() -> None:
    store = store_of(":ada :parent :bob .", ANCESTORS)
    _, found, _ = proof_of(store, ":ada :parent :bob")
    assert found.text == ":parent[:ada, :bob] is asserted:parent[:ada, :bob] asserted"


def test_proof__shows_a_fact_once_in_the_order_of_its_text() -> None:
    store = store_of(
        ":a a :A .", ":B[?x] :- :A[?x] . :C[?x] :- :B[?x] . :D[?x] :- :B[?x], :C[?x] ."
    )
    _, found, _ = proof_of(store, ":a a :D")
    assert found.text.count(":A[:a] asserted") == 1
    assert found.text.index(":A[:a] asserted") < found.text.index(":B[:a] shown above")


def test_proof__alternatives_are_folded() -> None:
    store = store_of(":a a :A, :B .", ":C[?x] :- :A[?x] . :C[?x] :- :B[?x] .")
    proof, found, html = proof_of(store, ":a a :C", alternatives=3)
    assert len(proof.alternatives) == 1
    assert "alternative 1" in found.text
    assert "<details><summary>alternative 1" in html


def test_proof__that_is_deep_goes_on_in_further_trees() -> None:
    count = 3 * made.MAX_DEPTH
    chain = " ".join(f":n{i} :parent :n{i + 1} ." for i in range(count))
    store = store_of(chain, ANCESTORS)
    proof, found, _ = proof_of(store, f":n0 :ancestor :n{count}")
    assert proof.height == count
    assert "see [1] below" in found.text
    assert "[2] :ancestor" in found.text
    assert found.deepest < made.MAX_DEPTH + 10
    assert all(f":parent[:n{i}, :n{i + 1}] asserted" in found.text for i in range(count))


def test_proof__that_is_large_is_cut_and_says_so() -> None:
    chain = " ".join(f":n{i} :parent :n{i + 1} ." for i in range(300))
    store = store_of(chain, ANCESTORS)
    proof, found, _ = proof_of(store, ":n0 :ancestor :n300")
    assert len(proof) == 600
    left = found.text.rpartition("… and ")[2]
    steps, asserted = found.text.count("by rule"), found.text.count("] asserted")
    assert steps <= made.MAX_FACTS
    assert left == f"{600 - steps - asserted} more facts; print the proof to see all of them"


def test_proof__of_an_aggregate_lists_its_members() -> None:
    store = store_of(
        ":g :has :a, :b, :c .",
        ":size[?g, ?n] :- AGGREGATE(:has[?g, ?x] ON ?g BIND count(?x) AS ?n) .",
    )
    proof = store.why(":g :size 3", members=2)
    assert isinstance(proof, Proof)
    found = read_html(made.proof_html(proof, proof.prefixes or {}))
    assert "count(?x) = 3, of 3 matches" in found.text
    assert "and 1 more" in found.text
    assert ":has[:g, :a] asserted" in found.text


def test_proof__of_hostile_terms_is_only_text() -> None:
    evil = '"<script>alert(1)</script>"'
    store = store_of(f":a :p {evil} .", ":q[?x, ?y] :- :p[?x, ?y] .")
    _, found, html = proof_of(store, f":a :q {evil}")
    assert "<script>" in found.text
    assert "<script" not in html


def test_absence__says_how_far_rules_get() -> None:
    store = store_of(":a a :A .", 'rule "both" :C[?x] :- :A[?x], :B[?x] .')
    found = absence_of(store, ":a a :C")
    assert ":C[:a] does not hold" in found.text
    assert "rule both" in found.text
    assert "holds: :A[:a]" in found.text
    assert "no match: :B[:a]" in found.text


def test_absence__without_rules_says_so() -> None:
    found = absence_of(store_of("", ANCESTORS), ":a :likes :b")
    assert found.text.endswith("no rule concludes facts like it")


def test_absence__with_many_rules_is_cut() -> None:
    rules = " ".join(f":C[?x] :- :A{i}[?x] ." for i in range(made.MAX_ATTEMPTS + 5))
    found = absence_of(store_of("", rules), ":a a :C")
    assert found.text.count("no match") == made.MAX_ATTEMPTS
    assert found.text.endswith("and 5 more rules")


def test_absence__of_a_violation_names_the_constraint() -> None:
    store = store_of(":a :p :a .", 'constraint "loop" "in a loop" :- :p[?x, ?x] .')
    (violation,) = store.violations()
    proof = store.why(violation)
    assert isinstance(proof, Proof)
    found = read_html(made.proof_html(proof, proof.prefixes or {}))
    assert "inconsistency loop: in a loop" in found.text
    store.update("DELETE WHERE { ?x <http://ex.org/p> ?x }")
    absent = store.why(violation)
    assert isinstance(absent, WhyNot)
    text = read_html(made.absence_html(absent, absent.prefixes or {})).text
    assert text.startswith("constraint loop is not violated by these terms")


@pytest.mark.parametrize("count", [1, 2])
def test_summary__counts(count: int) -> None:
    store = store_of(" ".join(f":a a :A{i} ." for i in range(count)), ":C[?x] :- " + ", ".join(
        f":A{i}[?x]" for i in range(count)) + " .")  # fmt: skip
    proof = store.why(":a a :C")
    assert isinstance(proof, Proof)
    assert made.proof_summary(proof, proof.prefixes or {}) == (
        f"proof of :C[:a]: {count + 1} facts, 1 level"
    )
