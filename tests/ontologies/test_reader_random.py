"""Random ontologies: written as triples, shuffled and read, they are the same."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal

from tests.ontologies.reading import bare, n
from tests.ontologies.serialise import MEMBERS, NUMBERS, ONE_TRIPLE, TYPED, Serialiser
from triplestore.ontologies.model import axioms as ax
from triplestore.ontologies.model import expressions as ex
from triplestore.ontologies.model import vocabulary as v
from triplestore.ontologies.model.axiom_text import text
from triplestore.ontologies.model.expressions import Triple
from triplestore.ontologies.read import read_ontology

names = st.sampled_from([n(name) for name in "ABCD"])
properties = st.sampled_from([n("p"), n("q"), ex.InverseOf(n("p")), ex.InverseOf(n("r"))])
individuals = st.sampled_from([n("x"), n("y"), n("z")])
literals = st.sampled_from([Literal("a"), Literal(5), Literal("chat", language="fr")])
values = individuals | literals
facets = st.builds(ex.Facet, st.sampled_from(sorted(v.FACETS, key=str)), literals)


def tuples(items: st.SearchStrategy[Any], least: int = 0) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(items, min_size=least, max_size=3).map(tuple)


def described(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    kinds = [
        st.builds(kind, tuples(inner)) for kind in (ex.IntersectionOf, ex.UnionOf)
    ]  # fmt: skip
    kinds += [st.builds(kind, inner) for kind in (ex.ComplementOf, ex.DatatypeComplementOf)]
    kinds += [st.builds(kind, properties, inner) for kind in (ex.SomeValuesFrom, ex.AllValuesFrom)]
    kinds += [
        st.builds(kind, tuples(properties), inner)
        for kind in (ex.NarySomeValuesFrom, ex.NaryAllValuesFrom)
    ]
    numbers = st.integers(0, 3)
    kinds += [st.builds(kind, numbers, properties, st.none() | inner) for kind in NUMBERS]
    kinds += [
        st.builds(ex.OneOf, tuples(values)),
        st.builds(ex.HasValue, properties, values),
        st.builds(ex.HasSelf, properties),
        st.builds(ex.DatatypeRestriction, inner, tuples(facets)),
    ]
    return st.one_of(kinds)


classes = st.recursive(names, described, max_leaves=8)
OPERANDS: dict[type[Any], tuple[st.SearchStrategy[Any], st.SearchStrategy[Any]]] = {
    ax.SubClassOf: (classes, classes),
    ax.EquivalentClasses: (classes, classes),
    ax.DisjointClasses: (classes, classes),
    ax.DisjointUnion: (classes, tuples(classes)),
    ax.HasKey: (classes, tuples(properties)),
    ax.SubPropertyOf: (properties, properties),
    ax.EquivalentProperties: (properties, properties),
    ax.DisjointProperties: (properties, properties),
    ax.InverseProperties: (st.sampled_from([n("p"), n("q")]), properties),
    ax.PropertyDomain: (properties, classes),
    ax.PropertyRange: (properties, classes),
    ax.SameIndividual: (individuals, individuals),
    ax.DifferentIndividuals: (individuals, individuals),
    ax.PropertyChain: (tuples(properties), properties),
}
axioms = st.one_of(
    [st.builds(kind, *operands) for kind, operands in OPERANDS.items()]
    + [st.builds(kind, properties) for kind in TYPED]
    + [
        st.builds(ax.AllDisjointClasses, tuples(classes)),
        st.builds(ax.AllDisjointProperties, tuples(properties)),
        st.builds(ax.AllDifferent, tuples(individuals)),
        st.builds(ax.ClassAssertion, described(names), individuals),
        st.builds(ax.NegativePropertyAssertion, individuals, properties, values),
    ]
)


def check_round_trip(given_axioms: list[Any], seed: int) -> None:
    """What is read of the triples of axioms is the axioms, from exactly those triples."""
    written = Serialiser()
    for axiom in given_axioms:
        written.axiom(axiom)
    triples = list(written.triples)
    random.Random(seed).shuffle(triples)
    ontology = read_ontology(triples)
    stated = {triple for axiom in ontology.axioms for triple in axiom.triples}
    assert stated == set(triples)
    assert counted(ontology.axioms) == counted(once(given_axioms))
    assert ontology.problems == ()
    assert ontology.unused == ()


def counted(things: Any) -> Counter[str]:
    """Axioms by what they say, in text, since facets at one node have no order."""
    return Counter(text(bare(thing)) for thing in things)


def once(given_axioms: list[Any]) -> list[Any]:
    """Axioms that are one triple without blank nodes are the same triple when said twice."""
    plain: dict[Any, Any] = {}
    for index, axiom in enumerate(given_axioms):
        makes_nodes = type(axiom) in MEMBERS or isinstance(axiom, ax.NegativePropertyAssertion)
        of_lists = any(isinstance(part, tuple) and part for part in ex.content(axiom))
        has_nodes = makes_nodes or of_lists or any(ex.inside(axiom))
        plain[(index, axiom) if has_nodes else axiom] = axiom
    return list(plain.values())


@given(st.lists(axioms, min_size=1, max_size=5), st.integers(0, 9))
@settings(max_examples=150)
def test_read_ontology__gives_what_was_written(given_axioms: list[Any], seed: int) -> None:
    check_round_trip(given_axioms, seed)


@pytest.mark.long
@given(st.lists(axioms, min_size=1, max_size=12), st.integers(0, 99))
@settings(settings.get_profile("long"))
def test_read_ontology__gives_what_was_written_at_length(
    given_axioms: list[Any], seed: int
) -> None:
    check_round_trip(given_axioms, seed)


# --- Any triples at all --------------------------------------------------------------------------

nodes = st.sampled_from([*(BlankNode(f"b{i}") for i in range(4)), n("A"), n("p"), v.NIL])
predicates = st.sampled_from(sorted({*v.SCHEMA_PREDICATES, *v.ANNOTATION_PREDICATES}, key=str))
objects = nodes | st.sampled_from([Literal(1), Literal("x"), Literal(True)])
any_triples = st.tuples(nodes, predicates, objects) | st.tuples(
    nodes, st.just(v.TYPE), st.sampled_from(sorted(v.SCHEMA_CLASSES, key=str)) | nodes
)
dense_triples = st.tuples(
    nodes,
    st.sampled_from([v.FIRST, v.REST, v.UNION_OF, v.ON_PROPERTY, v.SOME_VALUES_FROM]),
    nodes,
)


def check_any(triples: list[Triple], more: Triple, seed: int) -> None:
    """Reading never fails, does not depend on order, uses given triples only, and is monotone."""
    ontology = read_ontology(triples)
    shuffled = list(triples)
    random.Random(seed).shuffle(shuffled)
    again = read_ontology(shuffled)
    assert {*again.axioms} == {*ontology.axioms}
    assert {*again.expressions} == {*ontology.expressions}
    assert {problem.code for problem in again.problems} == {
        problem.code for problem in ontology.problems
    }
    for part in (*ontology.axioms, *ontology.expressions):
        assert set(part.triples) <= set(triples)
        assert str(part)
    grown = read_ontology([*triples, more])
    assert own(ontology.expressions) <= own(grown.expressions)
    assert own(ontology.axioms) - own(ontology.expressions) <= own(grown.axioms) | {frozenset()}


def own(things: Any) -> set[frozenset[Triple]]:
    return {frozenset(thing.own) for thing in things}


@given(st.lists(any_triples | dense_triples, max_size=25), any_triples, st.integers(0, 9))
@settings(max_examples=250)
def test_read_ontology__any_triples(triples: list[Triple], more: Triple, seed: int) -> None:
    check_any(triples, more, seed)


@pytest.mark.long
@given(st.lists(any_triples | dense_triples, max_size=40), any_triples, st.integers(0, 99))
@settings(settings.get_profile("long"))
def test_read_ontology__any_triples_at_length(
    triples: list[Triple], more: Triple, seed: int
) -> None:
    check_any(triples, more, seed)


def test_the_serialiser__knows_every_kind() -> None:

    written = {*ONE_TRIPLE, *TYPED, *MEMBERS}
    rest = {ax.PropertyChain, ax.ClassAssertion, ax.NegativePropertyAssertion}
    unwritten = {ax.Deprecated, ax.DatatypeDefinition}
    classes = {kind for kind in vars(ax).values() if isinstance(kind, type)}
    all_kinds = {kind for kind in classes if issubclass(kind, ax.Axiom)} - {ax.Axiom}
    assert written | rest | unwritten == all_kinds
