"""Proofs under `owl-el` speak of classes and axioms only."""

from __future__ import annotations

from tests.classification.medicine import NONSENSE, medicine
from triplestore.classification.el_proof import ElProof

QUESTION = ":Endocarditis rdfs:subClassOf :HeartDisease"


def proof() -> ElProof:
    found = medicine().why(QUESTION)
    assert isinstance(found, ElProof)
    return found


def test_why__names_the_axioms() -> None:
    assert set(proof().axioms) == {
        ":Endocarditis SubClassOf :Inflammation",
        ":Endocarditis SubClassOf :hasLocation some :Endocardium",
        ":Endocardium SubClassOf :partOf some :Heart",
        ":Inflammation SubClassOf :Disease",
        ":HeartDisease EquivalentTo :Disease and (:hasLocation some :Heart)",
    } | {axiom for axiom in proof().axioms if "SubPropertyChain" in axiom}
    assert any("SubPropertyChain" in axiom for axiom in proof().axioms)


def test_why__shows_no_representatives() -> None:
    assert "x-triplestore" not in str(proof())
    assert "el:" not in str(proof())
    assert "_:" not in str(proof()).replace("SubPropertyChain _:", "")


def test_why__each_step_follows_from_later_ones() -> None:
    for number, step in enumerate(proof().el_steps):
        assert all(premise != number for premise in step.premises)
        assert step.premises or step.axioms or " and " in step.text


def test_why__rules_are_in_detail() -> None:
    assert "el:below" in str(proof().detailed)


def test_why__unsatisfiable_has_the_disjointness() -> None:
    found = medicine(NONSENSE).why(":Nonsense rdfs:subClassOf owl:Nothing")
    assert isinstance(found, ElProof)
    assert ":Tissue DisjointWith :Disease" in found.axioms


def test_why__types_of_individuals() -> None:
    found = medicine().why(":case1 a :HeartDisease")
    assert isinstance(found, ElProof)
    assert str(found).startswith(":case1 : :HeartDisease")


def test_why__of_violations_has_the_axioms() -> None:
    store = medicine("@prefix : <http://e/> . :bad a :Tissue, :Disease .")
    (violation,) = store.violations()
    assert str(violation).endswith("?a = <http://e/bad>")
    found = store.why(violation)
    assert isinstance(found, ElProof)
    assert set(found.axioms) == {
        ":bad Type :Tissue",
        ":bad Type :Disease",
        ":Tissue DisjointWith :Disease",
    }
    assert "x-triplestore" not in str(found)


def test_why__json_has_subsumptions() -> None:
    assert proof().as_dict()["subsumptions"][0]["text"] == ":Endocarditis ⊑ :HeartDisease"


def test_why__of_what_does_not_follow_says_what_a_definition_lacks() -> None:
    found = medicine().why(":Inflammation rdfs:subClassOf :HeartDisease")
    assert not found
    assert str(found).splitlines() == [
        ":Inflammation ⊑ :HeartDisease does not follow from the axioms",
        "it would follow from :Inflammation ⊑ :CardiacDisease",
        "it would follow from :Inflammation ⊑ :hasLocation some :Heart",
    ]


def test_why__of_types_that_do_not_follow_shows_no_representatives() -> None:
    found = medicine().why(":case1 a :Heart")
    assert not found
    assert "x-triplestore" not in str(found)
    assert "el:" not in str(found)
