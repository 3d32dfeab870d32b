"""SWRL rules from RDF."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from pyoxigraph import Literal, RdfFormat, parse

from tests.ontologies.reading import bare, codes, n, read, triples
from triplestore.ontologies.model import expressions as ex
from triplestore.ontologies.model import swrl
from triplestore.ontologies.read import read_ontology

X, Y = swrl.SwrlVariable(n("x")), swrl.SwrlVariable(n("y"))
A, B, P = n("A"), n("B"), n("p")
VARIABLES = ":x a swrl:Variable . :y a swrl:Variable ."

ATOMS: list[tuple[str, swrl.SwrlAtom]] = [
    ("a swrl:ClassAtom ; swrl:classPredicate :A ; swrl:argument1 :x", swrl.ClassAtom(A, X)),
    (
        "a swrl:ClassAtom ; swrl:classPredicate [owl:complementOf :A] ; swrl:argument1 :i",
        swrl.ClassAtom(ex.ComplementOf(A), n("i")),
    ),
    (
        "a swrl:DataRangeAtom ; swrl:dataRange xsd:integer ; swrl:argument1 :x",
        swrl.DataRangeAtom(n("xsd:integer"), X),
    ),
    (
        "a swrl:IndividualPropertyAtom ; swrl:propertyPredicate :p ;"
        " swrl:argument1 :x ; swrl:argument2 :y",
        swrl.IndividualPropertyAtom(P, X, Y),
    ),
    (
        "a swrl:IndividualPropertyAtom ; swrl:propertyPredicate [owl:inverseOf :p] ;"
        " swrl:argument1 :x ; swrl:argument2 :i",
        swrl.IndividualPropertyAtom(ex.InverseOf(P), X, n("i")),
    ),
    (
        "a swrl:DatavaluedPropertyAtom ; swrl:propertyPredicate :p ;"
        " swrl:argument1 :x ; swrl:argument2 'v'",
        swrl.DatavaluedPropertyAtom(P, X, Literal("v")),
    ),
    (
        "a swrl:SameIndividualAtom ; swrl:argument1 :x ; swrl:argument2 :y",
        swrl.SameIndividualAtom(X, Y),
    ),
    (
        "a swrl:DifferentIndividualsAtom ; swrl:argument1 :x ; swrl:argument2 :y",
        swrl.DifferentIndividualsAtom(X, Y),
    ),
    (
        "a swrl:BuiltinAtom ; swrl:builtin swrlb:add ; swrl:arguments (:x :y 5)",
        swrl.BuiltinAtom(n("swrlb:add"), (X, Y, Literal(5))),
    ),
]


@pytest.mark.parametrize(("atom", "expected"), ATOMS, ids=[case[0][:50] for case in ATOMS])
def test_read__gives_the_atom_and_its_triples(atom: str, expected: swrl.SwrlAtom) -> None:
    turtle = f"[] a swrl:Imp ; swrl:body ([ {atom} ]) ; swrl:head ()."
    used = "".join(f"{name} a swrl:Variable ." for name in (":x", ":y") if f"{name}" in turtle)
    given = triples(turtle + used)
    ontology = read_ontology(given)
    (rule,) = ontology.rules
    assert bare(rule) == swrl.SwrlRule((expected,), ())
    assert set(rule.triples) == set(given)
    assert codes(ontology) == []


def test_cases__cover_every_kind() -> None:
    from typing import get_args

    assert {type(atom) for _, atom in ATOMS} == set(get_args(swrl.SwrlAtom))


def test_read__keeps_the_order_of_atoms_and_the_annotations() -> None:
    atoms = " ".join(f"[ {atom} ]" for atom, _ in ATOMS[:3])
    ontology = read(
        f"[] a swrl:Imp ; rdfs:label 'why' ; swrl:body ({atoms}) ; swrl:head ([ {ATOMS[3][0]} ]) ."
        + VARIABLES
    )
    (rule,) = ontology.rules
    assert bare(rule) == swrl.SwrlRule(tuple(atom for _, atom in ATOMS[:3]), (ATOMS[3][1],))
    assert [annotation.value for annotation in rule.annotations] == [Literal("why")]
    assert ontology.axioms == ()


def test_a_name_is_a_variable_only_if_it_says_so() -> None:
    (rule,) = read(f"[] a swrl:Imp ; swrl:body ([ {ATOMS[0][0]} ]) ; swrl:head () .").rules
    assert bare(rule.body[0]) == swrl.ClassAtom(A, n("x"))


BROKEN: Mapping[str, tuple[str, list[str]]] = {
    "no head": ("[] a swrl:Imp ; swrl:body () .", ["rule-half"]),
    "no body": ("[] a swrl:Imp ; swrl:head () .", ["rule-half"]),
    "a broken list": (
        "[] a swrl:Imp ; swrl:head () ; swrl:body [ rdf:first :a ] .",
        ["broken-list", "list-without-rest"],
    ),
    "an atom of no type": (
        "[] a swrl:Imp ; swrl:head () ; swrl:body ([ swrl:classPredicate :A ]) .",
        ["atom-half"],
    ),
    "an atom without an argument": (
        "[] a swrl:Imp ; swrl:head () ; swrl:body ([ a swrl:ClassAtom ; swrl:classPredicate :A ])"
        " .",
        ["atom-half"],
    ),
    "a class that is a literal": (
        "[] a swrl:Imp ; swrl:head () ;"
        " swrl:body ([ a swrl:ClassAtom ; swrl:classPredicate 'A' ; swrl:argument1 :x ]) .",
        ["atom-half"],
    ),
    "an atom that is a literal": (
        "[] a swrl:Imp ; swrl:head () ; swrl:body ('atom') .",
        ["atom-half"],
    ),
    "arguments that are no list": (
        "[] a swrl:Imp ; swrl:head () ; swrl:body ([ a swrl:BuiltinAtom ;"
        " swrl:builtin swrlb:add ; swrl:arguments :x ]) .",
        ["atom-half", "broken-list"],
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_read__half_rules_are_reported_and_not_read(name: str) -> None:
    turtle, expected = BROKEN[name]
    given = triples(turtle)
    ontology = read_ontology(given)
    assert ontology.rules == ()
    assert codes(ontology) == expected
    for problem in ontology.problems:
        assert problem.triples
        assert set(problem.triples) <= set(given)


def test_read__what_is_said_in_two_ways_is_read_in_both() -> None:
    ontology = read(
        "[] a swrl:Imp ; swrl:head () ; swrl:body"
        " ([ a swrl:ClassAtom ; swrl:classPredicate :A, :B ; swrl:argument1 :x ]) ." + VARIABLES
    )
    assert {bare(rule.body[0]) for rule in ontology.rules} == {
        swrl.ClassAtom(A, X),
        swrl.ClassAtom(B, X),
    }


def test_read__too_many_ways_are_cut_and_reported() -> None:
    atom = "[ a swrl:ClassAtom ; swrl:classPredicate :A, :B ; swrl:argument1 :x ]"
    ontology = read(f"[] a swrl:Imp ; swrl:head () ; swrl:body ({atom * 30}) . {VARIABLES}")
    assert len(ontology.rules) == 64
    assert codes(ontology) == ["rule-ambiguous"]


def test_read__the_rules_of_the_relations_ontology(shared_data: Path) -> None:
    file = shared_data / "owl-real" / "obo-relations" / "ro.owl"
    ontology = read_ontology(parse(path=str(file), format=RdfFormat.RDF_XML))
    assert len(ontology.rules) == file.read_text().count("swrl#Imp")
    assert all(rule.body and rule.head for rule in ontology.rules)
    assert codes(ontology) == []
