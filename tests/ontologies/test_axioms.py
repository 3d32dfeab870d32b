"""Every kind of axiom and expression, from Turtle to the dataclass."""

from __future__ import annotations

from typing import get_args

import pytest
from pyoxigraph import Literal

from tests.ontologies.reading import bare_axioms, codes, n, read, triples
from triplestore.ontologies.model import axioms as ax
from triplestore.ontologies.model import expressions as ex
from triplestore.ontologies.model.axiom_text import text
from triplestore.ontologies.model.axioms import Axiom
from triplestore.ontologies.model.expressions import Expression
from triplestore.ontologies.read import read_ontology
from triplestore.terms.vocabulary import XSD_INTEGER

A, B, C = n("A"), n("B"), n("C")
P, Q, R = n("p"), n("q"), n("r")
X, Y, Z = n("x"), n("y"), n("z")
INVERSE = ex.InverseOf(P)
FIVE = Literal("5", datatype=n("xsd:integer"))

AXIOMS: list[tuple[str, Axiom]] = [
    (":A rdfs:subClassOf :B .", ax.SubClassOf(A, B)),
    (":A owl:equivalentClass :B .", ax.EquivalentClasses(A, B)),
    (":A owl:disjointWith :B .", ax.DisjointClasses(A, B)),
    (
        "[] a owl:AllDisjointClasses ; owl:members (:A :B :C) .",
        ax.AllDisjointClasses((A, B, C)),
    ),
    (":A owl:disjointUnionOf (:B :C) .", ax.DisjointUnion(A, (B, C))),
    (":A owl:hasKey (:p [owl:inverseOf :p]) .", ax.HasKey(A, (P, INVERSE))),
    (":p rdfs:subPropertyOf :q .", ax.SubPropertyOf(P, Q)),
    ("[owl:inverseOf :p] rdfs:subPropertyOf :q .", ax.SubPropertyOf(INVERSE, Q)),
    (
        ":r owl:propertyChainAxiom (:p [owl:inverseOf :p] :q) .",
        ax.PropertyChain((P, INVERSE, Q), R),
    ),
    (":p owl:equivalentProperty :q .", ax.EquivalentProperties(P, Q)),
    (":p owl:propertyDisjointWith :q .", ax.DisjointProperties(P, Q)),
    (
        "[] a owl:AllDisjointProperties ; owl:members (:p :q) .",
        ax.AllDisjointProperties((P, Q)),
    ),
    (":p owl:inverseOf :q .", ax.InverseProperties(P, Q)),
    (":p rdfs:domain :A .", ax.PropertyDomain(P, A)),
    (":p rdfs:range xsd:string .", ax.PropertyRange(P, n("xsd:string"))),
    (":p a owl:FunctionalProperty .", ax.FunctionalProperty(P)),
    (":p a owl:InverseFunctionalProperty .", ax.InverseFunctionalProperty(P)),
    (":p a owl:ReflexiveProperty .", ax.ReflexiveProperty(P)),
    (":p a owl:IrreflexiveProperty .", ax.IrreflexiveProperty(P)),
    (":p a owl:SymmetricProperty .", ax.SymmetricProperty(P)),
    (":p a owl:AsymmetricProperty .", ax.AsymmetricProperty(P)),
    (":p a owl:TransitiveProperty .", ax.TransitiveProperty(P)),
    ("[owl:inverseOf :p] a owl:FunctionalProperty .", ax.FunctionalProperty(INVERSE)),
    (":x owl:sameAs :y .", ax.SameIndividual(X, Y)),
    (":x owl:differentFrom :y .", ax.DifferentIndividuals(X, Y)),
    ("[] a owl:AllDifferent ; owl:members (:x :y :z) .", ax.AllDifferent((X, Y, Z))),
    ("[] a owl:AllDifferent ; owl:distinctMembers (:x :y) .", ax.AllDifferent((X, Y))),
    (
        "[] owl:sourceIndividual :x ; owl:assertionProperty :p ; owl:targetIndividual :y .",
        ax.NegativePropertyAssertion(X, P, Y),
    ),
    (
        "[] owl:sourceIndividual :x ; owl:assertionProperty :p ; owl:targetValue 5 .",
        ax.NegativePropertyAssertion(X, P, FIVE),
    ),
    (":x a [owl:complementOf :A] .", ax.ClassAssertion(ex.ComplementOf(A), X)),
    (
        ":A owl:equivalentClass [owl:unionOf (xsd:integer xsd:string)] .",
        ax.EquivalentClasses(A, ex.UnionOf((n("xsd:integer"), n("xsd:string")))),
    ),
    (":A a owl:DeprecatedClass .", ax.Deprecated(A)),
    (":p a owl:DeprecatedProperty .", ax.Deprecated(P)),
    (":p owl:deprecated true .", ax.Deprecated(P)),
    # Definitions as OWL 1 wrote them.
    (":A owl:intersectionOf (:B :C) .", ax.EquivalentClasses(A, ex.IntersectionOf((B, C)))),
    (":A owl:oneOf (:x) .", ax.EquivalentClasses(A, ex.OneOf((X,)))),
    (
        ":A owl:onProperty :p ; owl:hasValue :x .",
        ax.EquivalentClasses(A, ex.HasValue(P, X)),
    ),
]

ON_P = "owl:onProperty :p ;"
EXPRESSIONS: list[tuple[str, Expression]] = [
    ("owl:intersectionOf (:A :B)", ex.IntersectionOf((A, B))),
    ("owl:intersectionOf ()", ex.IntersectionOf(())),
    ("owl:unionOf (:A :B)", ex.UnionOf((A, B))),
    ("owl:complementOf :A", ex.ComplementOf(A)),
    ("owl:datatypeComplementOf :A", ex.DatatypeComplementOf(A)),
    ("owl:oneOf (:x :y)", ex.OneOf((X, Y))),
    ("owl:oneOf ('a' 5)", ex.OneOf((Literal("a"), FIVE))),
    (f"{ON_P} owl:someValuesFrom :A", ex.SomeValuesFrom(P, A)),
    ("owl:onProperty [owl:inverseOf :p] ; owl:someValuesFrom :A", ex.SomeValuesFrom(INVERSE, A)),
    (f"{ON_P} owl:allValuesFrom :A", ex.AllValuesFrom(P, A)),
    (
        "owl:onProperties (:p :q) ; owl:someValuesFrom :A",
        ex.NarySomeValuesFrom((P, Q), A),
    ),
    ("owl:onProperties (:p) ; owl:allValuesFrom :A", ex.NaryAllValuesFrom((P,), A)),
    (f"{ON_P} owl:hasValue :x", ex.HasValue(P, X)),
    (f"{ON_P} owl:hasValue 5", ex.HasValue(P, FIVE)),
    (f"{ON_P} owl:hasSelf true", ex.HasSelf(P)),
    (f"{ON_P} owl:minCardinality 2", ex.MinCardinality(2, P)),
    (f"{ON_P} owl:maxCardinality '0'^^xsd:nonNegativeInteger", ex.MaxCardinality(0, P)),
    (f"{ON_P} owl:maxCardinality 1.0", ex.MaxCardinality(1, P)),
    (f"{ON_P} owl:cardinality '01'^^xsd:int", ex.ExactCardinality(1, P)),
    (
        f"{ON_P} owl:minQualifiedCardinality 2 ; owl:onClass :A",
        ex.MinCardinality(2, P, A),
    ),
    (
        f"{ON_P} owl:maxQualifiedCardinality 1 ; owl:onClass [owl:complementOf :A]",
        ex.MaxCardinality(1, P, ex.ComplementOf(A)),
    ),
    (
        f"{ON_P} owl:qualifiedCardinality 1 ; owl:onDataRange xsd:string",
        ex.ExactCardinality(1, P, n("xsd:string")),
    ),
    (
        "owl:onDatatype xsd:integer ;"
        " owl:withRestrictions ([xsd:minInclusive 5] [xsd:maxExclusive 5])",
        ex.DatatypeRestriction(
            n("xsd:integer"),
            (ex.Facet(n("xsd:minInclusive"), FIVE), ex.Facet(n("xsd:maxExclusive"), FIVE)),
        ),
    ),
    (
        "owl:unionOf (:A [owl:intersectionOf (:B [owl:complementOf :C])])",
        ex.UnionOf((A, ex.IntersectionOf((B, ex.ComplementOf(C))))),
    ),
]


@pytest.mark.parametrize(("turtle", "expected"), AXIOMS, ids=[case[0][:50] for case in AXIOMS])
def test_read_ontology__gives_the_axiom(turtle: str, expected: Axiom) -> None:
    ontology = read(turtle)
    assert bare_axioms(ontology) == [expected]
    assert codes(ontology) == []
    assert ontology.unused == ()


@pytest.mark.parametrize(("turtle", "_expected"), AXIOMS, ids=[case[0][:50] for case in AXIOMS])
def test_axiom_triples__are_all_that_state_it(turtle: str, _expected: Axiom) -> None:
    given = triples(turtle)
    axiom = read_ontology(given).axioms[0]
    assert set(axiom.triples) == set(given)
    assert len(axiom.triples) == len(given)


@pytest.mark.parametrize(
    ("turtle", "expected"), EXPRESSIONS, ids=[case[0][:60] for case in EXPRESSIONS]
)
def test_read_ontology__gives_the_expression(turtle: str, expected: Expression) -> None:
    ontology = read(f":S rdfs:subClassOf [ {turtle} ] .")
    assert bare_axioms(ontology) == [ax.SubClassOf(n("S"), expected)]
    assert codes(ontology) == []
    (axiom,) = ontology.axioms
    assert len(axiom.triples) == len(triples(f":S rdfs:subClassOf [ {turtle} ] ."))


ALL_KINDS = {
    kind
    for kind in vars(ax).values()
    if isinstance(kind, type) and issubclass(kind, Axiom) and kind is not Axiom
}


def test_cases__cover_every_kind() -> None:
    kinds = {type(axiom) for _, axiom in AXIOMS} | {ax.DatatypeDefinition}
    assert kinds == ALL_KINDS
    made = {type(expression) for _, expression in EXPRESSIONS}
    assert made == set(get_args(ex.Description))


def test_datatype_definition__is_told_by_the_declaration_or_by_xsd() -> None:
    declared = read(":D a rdfs:Datatype ; owl:equivalentClass [owl:oneOf ('a')] .")
    assert bare_axioms(declared) == [ax.DatatypeDefinition(n("D"), ex.OneOf((Literal("a"),)))]
    known = read(":D owl:equivalentClass xsd:integer .")
    assert bare_axioms(known) == [ax.DatatypeDefinition(n("D"), n("xsd:integer"))]
    old = read(":D a owl:DataRange ; owl:oneOf ('a') .")
    assert bare_axioms(old) == [ax.EquivalentClasses(n("D"), ex.OneOf((Literal("a"),)))]


def test_declarations__are_no_premises() -> None:
    (axiom,) = read(
        ":A a owl:Class ; rdfs:subClassOf [a owl:Restriction, owl:Class ; owl:onProperty :p ;"
        " owl:someValuesFrom [a owl:Class ; owl:unionOf (:B)]] . :p a owl:ObjectProperty ."
    ).axioms
    assert not any(triple[1] == n("rdf:type") for triple in axiom.triples)
    assert len(axiom.triples) == 6


def test_types_that_make_the_axiom__are_premises() -> None:
    (axiom,) = read("[] a owl:AllDisjointClasses ; owl:members (:A :B) .").axioms
    assert [str(triple[1]) for triple in axiom.triples[:2]] == [
        str(n("rdf:type")),
        str(n("owl:members")),
    ]


def test_axioms__stated_twice_are_two() -> None:
    ontology = read(
        ":A rdfs:subClassOf [owl:complementOf :B] . :A rdfs:subClassOf [owl:complementOf :B] ."
    )
    one, other = ontology.axioms
    assert one != other
    assert len({one, other}) == 2


def test_axioms__read_again_are_equal() -> None:
    turtle = "_:r owl:onProperty :p ; owl:someValuesFrom _:c . _:c owl:unionOf _:l . "
    turtle += "_:l rdf:first :A ; rdf:rest () . :A rdfs:subClassOf _:r ."
    given = triples(turtle)
    one, other = read_ontology(given), read_ontology(list(reversed(given)))
    assert one.axioms == other.axioms
    assert {*one.axioms} == {*other.axioms}


def test_equality__sees_what_is_deep_inside() -> None:
    inner = ex.ComplementOf(A, node=n("n"))
    assert ex.UnionOf((B, inner)) == ex.UnionOf((B, ex.ComplementOf(A, node=n("n"))))
    assert ex.UnionOf((B, inner)) != ex.UnionOf((B, ex.ComplementOf(C, node=n("n"))))
    assert ex.UnionOf((B, inner)) != ex.UnionOf((B, ex.ComplementOf(A, node=n("m"))))
    assert ex.UnionOf((B, inner)) != ex.UnionOf((B,))
    assert ex.ComplementOf(A) != ex.DatatypeComplementOf(A)


def test_printing__is_short_and_bounded() -> None:
    chain = ax.PropertyChain((P, INVERSE), Q)
    assert text(chain, {"": "http://example.org/"}) == "PropertyChain((:p InverseOf(:p)) :q)"
    assert text(ex.MaxCardinality(1, P)) == f"MaxCardinality(1 {P})"
    assert text(ex.HasValue(P, FIVE)).endswith('"5"^^xsd:integer)')
    shared: ex.ClassExpression = A
    for _ in range(100):
        shared = ex.IntersectionOf((shared, shared))
    assert len(text(shared)) < 1_000_000
    assert XSD_INTEGER not in text(FIVE)
