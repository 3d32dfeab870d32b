"""Why-not of a type or a superclass that needs an axiom without rules: the axiom comes first."""

from __future__ import annotations

import pytest

from tests.reasoning.equal_stores import MODES, PREFIXES
from triplestore import Store, WhyNot

SOME = "[ owl:onProperty :p ; owl:someValuesFrom :C ]"
NEEDED = [
    # data, the question, words of each axiom that is named
    (f":A rdfs:subClassOf {SOME} . :p rdfs:domain :B .", ":A rdfs:subClassOf :B",
     ["SomeValuesFrom(<http://ex.org/p>"]),
    (f":Z rdfs:subClassOf :A . :A rdfs:subClassOf {SOME} . :p rdfs:subPropertyOf :q . "
     ":q rdfs:domain :B . :B rdfs:subClassOf :T .", ":Z rdfs:subClassOf :T",
     ["SomeValuesFrom(<http://ex.org/p>"]),
    (":A rdfs:subClassOf [ owl:unionOf (:B :C) ] . :B rdfs:subClassOf :D . "
     ":C rdfs:subClassOf :D .", ":A rdfs:subClassOf :D", ["UnionOf"]),
    (":A rdfs:subClassOf [ owl:unionOf (:B :C) ] . :B rdfs:subClassOf :D . "
     ":C rdfs:subClassOf :D . :a a :A .", ":a a :D", ["UnionOf"]),
    (":D owl:disjointUnionOf (:A :B) .", ":A rdfs:subClassOf :D", ["DisjointUnion"]),
    (f":A rdfs:subClassOf {SOME} . [ owl:onProperty :p ; owl:minCardinality 1 ] rdfs:subClassOf :B"
     " .", ":A rdfs:subClassOf :B", ["SomeValuesFrom", "MinCardinality"]),
]  # fmt: skip
NOT_NEEDED = [
    # there are such axioms, and none is on the way
    (f":A rdfs:subClassOf {SOME} . :q rdfs:domain :B .", ":A rdfs:subClassOf :B"),
    (f":A rdfs:subClassOf {SOME} .", ":A rdfs:subClassOf :C"),
    (":A rdfs:subClassOf [ owl:unionOf (:B :C) ] .", ":B rdfs:subClassOf :A"),
    (f":A rdfs:subClassOf {SOME} . :p rdfs:domain :B .", ":A rdfs:subPropertyOf :B"),
    (f":A rdfs:subClassOf {SOME} . :p rdfs:domain :B .", ":New rdfs:subClassOf :Newer"),
    (":A rdfs:subClassOf :B .", ":B rdfs:subClassOf :A"),
]


def asked(data: str, question: str, mode: str) -> WhyNot:
    store = Store()
    store.load(PREFIXES + data, "turtle")
    store.reason("owl-rl", equality=mode)
    answer = store.why(question)
    assert isinstance(answer, WhyNot)
    return answer


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("data", "question", "words"), NEEDED)
def test_why_not__names_the_axioms_it_needs_first(
    data: str, question: str, words: list[str], mode: str
) -> None:
    answer = asked(data, question, mode)
    assert len(answer.outside) == len(words)
    for word in words:
        assert any(word in line for line in answer.outside), answer.outside
    lines = str(answer).splitlines()
    assert lines[0].startswith("it may need ") and "there is no rule" in lines[0]
    assert all("OWL 2 RL has no" in line for line in lines[1 : 1 + len(words)])
    assert "does not hold" in lines[1 + len(words)]
    assert str(answer).count("\nby rule ") <= 2
    assert answer.as_dict()["outside"] == list(answer.outside)


@pytest.mark.parametrize(("data", "question"), NOT_NEEDED)
def test_why_not__says_nothing_of_axioms_elsewhere(data: str, question: str) -> None:
    answer = asked(data, question, "rules")
    assert answer.outside == ()
    assert "does not hold" in str(answer).splitlines()[0]
