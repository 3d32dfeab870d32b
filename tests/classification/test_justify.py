"""Justifications are minimal, and all are found."""

from __future__ import annotations

from itertools import combinations

import pytest
from pyoxigraph import NamedNode, Quad

from tests.classification.medicine import NONSENSE, medicine
from tests.ontologies.el.checking import SUB
from tests.ontologies.el.oracle import Axiom, Completion
from tests.ontologies.el.random_el import RandomEL, Writer, name
from triplestore import Store
from triplestore.errors import UsageError

DIRECT = """@prefix : <http://e/> .
:Endocarditis <http://www.w3.org/2000/01/rdf-schema#subClassOf> :HeartDisease ."""


def test_justifications__of_one_way_are_one_set() -> None:
    found = medicine().justifications(":Endocarditis rdfs:subClassOf :HeartDisease")
    assert found.complete
    assert [len(one.axioms) for one in found] == [6]


def test_justifications__of_two_ways_are_two_sets() -> None:
    found = medicine(DIRECT).justifications(":Endocarditis rdfs:subClassOf :HeartDisease")
    assert sorted(len(one.axioms) for one in found) == [1, 6]


def test_justifications__limit() -> None:
    found = medicine(DIRECT).justifications(":Endocarditis rdfs:subClassOf :HeartDisease", limit=1)
    assert len(found) == 1
    assert not found.complete
    assert "may be more" in str(found)


def test_justifications__of_unsatisfiable_classes() -> None:
    (found,) = medicine(NONSENSE).justifications(":Nonsense rdfs:subClassOf owl:Nothing")
    assert set(found.axioms) == {
        ":Nonsense SubClassOf :Tissue",
        ":Nonsense SubClassOf :Inflammation",
        ":Inflammation SubClassOf :Disease",
        ":Tissue DisjointWith :Disease",
    }


def test_justifications__of_types() -> None:
    found = medicine().justifications(":case1 a :Disease")
    assert [len(one.axioms) for one in found] == [3]


def test_justifications__what_does_not_hold_is_refused() -> None:
    with pytest.raises(UsageError, match="does not hold"):
        medicine().justifications(":Disease rdfs:subClassOf :HeartDisease")


def test_justifications__need_the_regime() -> None:
    with pytest.raises(UsageError, match="owl-el"):
        Store().justifications(":a rdfs:subClassOf :b")


def minimal_sets(axioms: list[Axiom], goal: tuple[str, str]) -> set[frozenset[Axiom]]:
    """By trying all sets, the small ones first."""
    found: set[frozenset[Axiom]] = set()
    for size in range(len(axioms) + 1):
        for part in map(frozenset, combinations(axioms, size)):
            if any(known <= part for known in found):
                continue
            oracle = Completion(part, goal)
            if goal in oracle.subsumptions() or goal[0] in oracle.unsatisfiable():
                found.add(part)
    return found


def check(seed: int) -> int:
    """How many conclusions of a random ontology were compared."""
    maker, writer = RandomEL(seed, individuals=False), Writer()
    axioms = maker.ontology()[:7]
    triples = {axiom: frozenset(writer.triples(axiom)) for axiom in axioms}
    store = Store()
    store.extend([Quad(*t) for every in triples.values() for t in every])
    store.reason("owl-el")
    oracle = Completion(axioms)
    bad = oracle.unsatisfiable()
    goals = sorted(p for p in oracle.subsumptions() if p[1] not in bad)[:2]
    for goal in goals:
        quad = Quad(name(goal[0]), SUB, name(goal[1]))
        if quad not in store:
            continue
        found = store.justifications(quad, limit=100)
        wanted = minimal_sets(axioms, goal)
        of = {
            frozenset(axiom for axiom in axioms if triples[axiom] <= one.triples) for one in found
        }
        assert found.complete
        assert of == wanted, (seed, goal)
    return len(goals)


def test_justifications__of_random_ontologies_are_those_found_by_trying_all_sets() -> None:
    assert sum(map(check, range(4))) > 0


@pytest.mark.long
def test_justifications__of_many_random_ontologies() -> None:
    assert sum(map(check, range(4, 200))) > 50


def test_names_in_quads_are_accepted() -> None:
    quad = Quad(name("Endocarditis"), SUB, NamedNode("http://e/Disease"))
    assert len(medicine().justifications(quad)) == 1
