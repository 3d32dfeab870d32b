"""Reading whole ontologies: what is half, odd, deep or said twice; annotations and headers."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from pyoxigraph import BlankNode, Dataset, Literal, Quad, RdfFormat, parse

from tests.ontologies.reading import HEADER, bare, bare_axioms, codes, n, read, triples
from tests.ontologies.test_axioms import AXIOMS, EXPRESSIONS
from triplestore.ontologies.model import axioms as ax
from triplestore.ontologies.model import expressions as ex
from triplestore.ontologies.model import vocabulary as v
from triplestore.ontologies.model.axiom_text import text
from triplestore.ontologies.model.expressions import Triple, innermost_first
from triplestore.ontologies.model.schema_graph import SchemaGraph
from triplestore.ontologies.read import read_ontology

A, B, C = n("A"), n("B"), n("C")
P, Q = n("p"), n("q")

HALVES: Mapping[str, tuple[str, list[str]]] = {
    "a restriction without a filler": (
        ":A rdfs:subClassOf [owl:onProperty :p] .",
        ["restriction-without-filler"],
    ),
    "a restriction without a property": (
        ":A rdfs:subClassOf [owl:someValuesFrom :B] .",
        ["restriction-without-property"],
    ),
    "a restriction and nothing": ("[] a owl:Restriction .", ["restriction-empty"]),
    "a property that is a literal": (
        "[] owl:onProperty 'p' ; owl:someValuesFrom :B .",
        ["no-class-or-property"],
    ),
    "a filler that is a literal": (
        "[] owl:onProperty :p ; owl:allValuesFrom 5 .",
        ["no-class-or-property"],
    ),
    "an operand that is a literal": ("[] owl:unionOf (:A 5) .", ["no-class-or-property"]),
    "a cardinality that is a word": (
        "[] owl:onProperty :p ; owl:maxCardinality 'one' .",
        ["cardinality-no-number"],
    ),
    "a negative cardinality": (
        "[] owl:onProperty :p ; owl:maxCardinality -1 .",
        ["cardinality-no-number"],
    ),
    "a cardinality with a fraction": (
        "[] owl:onProperty :p ; owl:maxCardinality 1.5 .",
        ["cardinality-no-number"],
    ),
    "a cardinality that is a double": (
        "[] owl:onProperty :p ; owl:maxCardinality 1e0 .",
        ["cardinality-no-number"],
    ),
    "a cardinality that is a double without an exponent": (
        "[] owl:onProperty :p ; owl:maxCardinality '1'^^xsd:double .",
        ["cardinality-no-number"],
    ),
    "a cardinality that is an IRI": (
        "[] owl:onProperty :p ; owl:maxCardinality :one .",
        ["cardinality-no-number"],
    ),
    "a qualified cardinality of nothing": (
        "[] owl:onProperty :p ; owl:maxQualifiedCardinality 1 .",
        ["cardinality-without-filler"],
    ),
    "a self that is false": (
        "[] owl:onProperty :p ; owl:hasSelf false .",
        ["not-true"],
    ),
    "a datatype restricted by nothing": (
        "[] owl:onDatatype xsd:integer .",
        ["datatype-without-facets"],
    ),
    "a facet that is none": (
        "[] owl:onDatatype xsd:integer ; owl:withRestrictions ([:max 5]) .",
        ["facet-missing"],
    ),
    "a facet with an IRI": (
        "[] owl:onDatatype xsd:integer ; owl:withRestrictions ([xsd:maxInclusive :five]) .",
        ["facet-missing"],
    ),
    "a facet with an IRI among good ones": (
        "[] owl:onDatatype xsd:integer ;"
        " owl:withRestrictions ([xsd:maxInclusive :five ; xsd:minInclusive 1]) .",
        ["facet-missing"],
    ),
    "a broken list": (
        ":A owl:equivalentClass [owl:unionOf [rdf:first :B]] .",
        ["broken-list", "list-without-rest"],
    ),
    "a broken chain": (":p owl:propertyChainAxiom :q .", ["broken-list"]),
    "a chain with a literal": (":p owl:propertyChainAxiom (:q 5) .", ["no-class-or-property"]),
    "a key with a literal": (":A owl:hasKey (5) .", ["no-class-or-property"]),
    "disjoint classes without members": (
        "[] a owl:AllDisjointClasses .",
        ["without-members"],
    ),
    "members of nothing": ("[] owl:members (:A :B) .", ["members-without-type"]),
    "a negative assertion without a target": (
        "[] owl:sourceIndividual :x ; owl:assertionProperty :p .",
        ["half-negative-assertion"],
    ),
    "a negative assertion of nothing": (
        "[] a owl:NegativePropertyAssertion .",
        ["half-negative-assertion"],
    ),
    "a subclass of a literal": (":A rdfs:subClassOf 'B' .", ["no-class-or-property"]),
    "an import that is a literal": (
        "<http://example.org/o> a owl:Ontology ; owl:imports 'other' .",
        ["import-no-iri"],
    ),
}


@pytest.mark.parametrize("name", HALVES)
def test_halves__are_reported_with_their_triples_and_give_no_axiom(name: str) -> None:
    turtle, expected = HALVES[name]
    given = triples(turtle)
    ontology = read_ontology(given)
    assert codes(ontology) == expected
    assert not any(
        isinstance(part, ex.Expression) for axiom in ontology.axioms for part in ex.content(axiom)
    )
    for problem in ontology.problems:
        assert problem.triples
        assert set(problem.triples) <= set(given)
        assert problem.message
        assert problem.remedy
    assert ontology.unused == ()


def test_half__leaves_the_other_axioms_of_the_node() -> None:
    ontology = read(":A rdfs:subClassOf :B, 'C', [owl:onProperty :p] .")
    assert ax.SubClassOf(A, B) in bare_axioms(ontology)


ODD: Mapping[str, tuple[str, list[object], list[str]]] = {
    "a cardinality in a string": (
        "_:x owl:onProperty :p ; owl:maxCardinality '1' .",
        [ex.MaxCardinality(1, P)],
        ["cardinality-string"],
    ),
    "a self in a string": (
        "_:x owl:onProperty :p ; owl:hasSelf 'true' .",
        [ex.HasSelf(P)],
        ["not-true"],
    ),
    "two facets at one node": (
        "_:x owl:onDatatype xsd:integer ;"
        " owl:withRestrictions ([xsd:minInclusive 1 ; xsd:maxInclusive 2]) .",
        [
            ex.DatatypeRestriction(
                n("xsd:integer"),
                (
                    ex.Facet(n("xsd:maxInclusive"), Literal(2)),
                    ex.Facet(n("xsd:minInclusive"), Literal(1)),
                ),
            )
        ],
        [],
    ),
    "a list in two ways": (
        "_:x owl:unionOf _:l . _:l rdf:first :A, :B ; rdf:rest () .",
        [ex.UnionOf((A,)), ex.UnionOf((B,))],
        ["list-two-firsts", "several-constructors"],
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_spellings__are_read_and_reported(name: str) -> None:
    turtle, expected, problems = ODD[name]
    ontology = read(turtle)
    assert [bare(expression) for expression in ontology.expressions] == expected
    assert codes(ontology) == problems


def test_old_spellings__are_read_silently() -> None:
    ontology = read(
        ":A a rdfs:Class . :p a rdf:Property . :D a owl:DataRange ; owl:oneOf (1 2) ."
        "[] a owl:AllDifferent ; owl:distinctMembers (:x :y) ."
        "<http://example.org/o> a owl:Ontology . :old a owl:OntologyProperty ."
    )
    assert codes(ontology) == []
    assert A in ontology.declared[v.CLASS]
    assert P in ontology.declared[v.PROPERTY]
    assert n("D") in ontology.declared[v.DATATYPE]
    assert n("old") in ontology.declared[v.ANNOTATION_PROPERTY]


def test_declared__takes_every_spelling() -> None:
    ontology = read(":p a owl:SymmetricProperty . :q a owl:DatatypeProperty . :x a :A .")
    assert ontology.declared[v.OBJECT_PROPERTY] == {P}
    assert ontology.declared[v.PROPERTY] == {P, Q}
    assert ontology.declared[v.DATA_PROPERTY] == {Q}
    assert ontology.declared[v.CLASS] == frozenset()


def test_blank_node_with_two_constructors__stays_a_name() -> None:
    ontology = read(":A rdfs:subClassOf _:x . _:x owl:complementOf :B ; owl:unionOf (:C) .")
    sub, *definitions = ontology.axioms
    assert isinstance(sub, ax.SubClassOf)
    assert isinstance(sub.sup, BlankNode)
    said = [one for one in definitions if isinstance(one, ax.EquivalentClasses)]
    assert len(said) == len(definitions)
    assert {bare(one).right for one in said} == {ex.ComplementOf(B), ex.UnionOf((C,))}
    assert all(one.left == sub.sup for one in said)
    assert codes(ontology) == ["several-constructors"]


def test_a_triple_more__takes_no_reading_away() -> None:
    """Readers of a growing graph must not lose rules: all that could be used still can."""
    before = triples("_:x owl:onProperty :p ; owl:someValuesFrom :B . :A rdfs:subClassOf _:x .")
    node = before[-1][2]
    for more in (
        (node, v.ALL_VALUES_FROM, C),
        (node, v.ON_PROPERTY, Q),
        (node, v.SOME_VALUES_FROM, C),
        (node, v.INVERSE_OF, P),
        (node, v.UNION_OF, v.NIL),
        (node, v.UNION_OF, A),
    ):
        ontology = read_ontology([*before, more])
        assert ex.SomeValuesFrom(P, B) in [bare(found) for found in ontology.expressions]
        assert {before[-1]} <= {t for axiom in ontology.axioms for t in axiom.triples}


def test_parts_said_twice__are_read_in_every_combination() -> None:
    ontology = read("_:x owl:onProperty :p, :q ; owl:someValuesFrom :A, :B .")
    assert {bare(found) for found in ontology.expressions} == {
        ex.SomeValuesFrom(p, filler) for p in (P, Q) for filler in (A, B)
    }
    negative = read(
        "[] owl:sourceIndividual :x ; owl:assertionProperty :p, :q ;"
        " owl:targetIndividual :y, :z ; owl:targetValue 1 ."
    )
    assert {bare(axiom) for axiom in negative.axioms} == {
        ax.NegativePropertyAssertion(n("x"), p, target)
        for p in (P, Q)
        for target in (n("y"), n("z"), Literal(1))
    }
    assert all(len(axiom.triples) == 3 for axiom in negative.axioms)


def test_a_type_without_a_description__is_no_axiom() -> None:
    assert read(":x a _:b, :C . :C owl:complementOf :A . :y a :C .").counts() == {
        "EquivalentClasses": 1
    }


def test_unused__has_what_came_into_nothing() -> None:
    given = triples("[] owl:onClass :A . [] owl:withRestrictions () . :x :p :y .")
    assert set(read_ontology(given).unused) == set(given[:2])


def test_names_with_constructors__are_equivalent_and_not_replaced() -> None:
    ontology = read(":S rdfs:subClassOf :A . :A owl:complementOf :B ; owl:oneOf (:x) .")
    assert set(bare_axioms(ontology)) == {
        ax.SubClassOf(n("S"), A),
        ax.EquivalentClasses(A, ex.ComplementOf(B)),
        ax.EquivalentClasses(A, ex.OneOf((n("x"),))),
    }
    assert codes(ontology) == []


def test_a_named_restriction__is_equivalent_to_what_it_says() -> None:
    ontology = read(":A rdfs:subClassOf :R . :R owl:onProperty :p ; owl:hasValue :x .")
    assert ax.EquivalentClasses(n("R"), ex.HasValue(P, n("x"))) in bare_axioms(ontology)


def test_expressions_inside_themselves__stay_names_in_any_order() -> None:
    given = triples(
        ":A rdfs:subClassOf _:top . _:top owl:complementOf _:x ."
        "_:x owl:complementOf _:y . _:y owl:complementOf _:x . _:self owl:unionOf (_:self :B) ."
    )
    for order in (given, list(reversed(given))):
        ontology = read_ontology(order)
        assert codes(ontology) == ["expression-inside-itself"]
        (problem,) = ontology.problems
        complements = {t for t in problem.triples if t[1] == v.COMPLEMENT_OF}
        assert len(complements) == 2, "the one above the circle is not to blame"
        assert ontology.counts() == {"SubClassOf": 1, "EquivalentClasses": 4}
        for axiom in ontology.axioms:
            if isinstance(axiom, ax.EquivalentClasses):
                assert list(ex.inside(axiom.right)) == []


def test_an_inverse_in_a_circle__is_an_axiom() -> None:
    ontology = read("_:x owl:inverseOf _:y . _:y owl:inverseOf _:x . _:x rdfs:subPropertyOf :p .")
    assert ontology.counts() == {"SubPropertyOf": 1, "InverseProperties": 2}
    for axiom in ontology.axioms:
        assert len(axiom.triples) == 1


def test_inverse_of_a_blank_node__by_name() -> None:
    ontology = read(":p owl:inverseOf _:x . _:x owl:inverseOf :q .")
    assert bare_axioms(ontology) == [ax.InverseProperties(P, ex.InverseOf(Q))]


def test_a_class_expression_as_a_property__is_left_a_name() -> None:
    ontology = read("_:x owl:complementOf :A . _:x rdfs:subPropertyOf :p . _:y owl:inverseOf :p ."
                    "_:y rdfs:subClassOf :A .")  # fmt: skip
    assert all(
        isinstance(axiom.sub, BlankNode)
        for axiom in ontology.axioms
        if isinstance(axiom, ax.SubClassOf | ax.SubPropertyOf)
    )


def test_unused_expressions__are_given_too() -> None:
    ontology = read("[] owl:onProperty :p ; owl:hasValue :x .")
    (expression,) = ontology.expressions
    assert bare(expression) == ex.HasValue(P, n("x"))
    assert isinstance(expression.node, BlankNode)
    assert len(expression.triples) == 2
    assert ontology.axioms == ()


def test_shared_expressions__are_one() -> None:
    ontology = read(":A rdfs:subClassOf _:x . :B rdfs:subClassOf _:x . _:x owl:complementOf :C .")
    one, other = ontology.axioms
    assert isinstance(one, ax.SubClassOf)
    assert isinstance(other, ax.SubClassOf)
    assert one.sup is other.sup


def nested(depth: int) -> list[Triple]:
    """`:A` below a complement of a complement of ..."""
    nodes = [BlankNode(f"n{i}") for i in range(depth)]
    found: list[Triple] = [(A, v.SUB_CLASS_OF, nodes[0])]
    for node, inner in zip(nodes, [*nodes[1:], B], strict=True):
        found.append((node, v.COMPLEMENT_OF, inner))
    return found


def test_deep_nesting__needs_no_recursion() -> None:
    depth = 5_000
    given = nested(depth)
    one, other = read_ontology(given), read_ontology(reversed(given))
    (axiom,), (again,) = one.axioms, other.axioms
    assert axiom == again
    assert hash(axiom) == hash(again)
    assert set(axiom.triples) == set(given)
    assert len(repr(axiom)) > depth / 2
    inner = innermost_first(axiom)
    assert len(inner) == depth
    assert isinstance(inner[0], ex.ComplementOf)
    assert inner[0].operand == B


def test_wide_sharing__is_linear() -> None:
    """Each level uses the one below twice: 2^200 paths, 200 expressions."""
    lines = "".join(f"_:n{i} owl:unionOf (_:n{i + 1} _:n{i + 1}) ." for i in range(200))
    ontology = read(f":A rdfs:subClassOf _:n0 . {lines} _:n200 owl:complementOf :B .")
    (axiom,) = ontology.axioms
    assert len(innermost_first(axiom)) == 201
    assert len(axiom.triples) == 2 + 200 * 5
    assert axiom == read_ontology(axiom.triples).axioms[0]
    assert text(axiom, most=100).endswith("...")


def test_input__may_be_quads_of_several_graphs() -> None:
    quads = list(parse(HEADER + ":A rdfs:subClassOf :B .", format=RdfFormat.TURTLE))
    twice = [*quads, *(Quad(q.subject, q.predicate, q.object, n("g")) for q in quads)]
    assert bare_axioms(read_ontology(Dataset(twice))) == [ax.SubClassOf(A, B)]
    assert bare_axioms(read_ontology(quad.triple for quad in twice)) == [ax.SubClassOf(A, B)]
    assert bare_axioms(read_ontology(SchemaGraph(twice))) == [ax.SubClassOf(A, B)]


def test_triples_that_are_no_rdf__do_no_harm() -> None:
    literal = Literal("x")
    odd = [
        (literal, predicate, literal)
        for predicate in (*v.SCHEMA_PREDICATES, *v.ANNOTATION_PREDICATES, v.IMPORTS, v.DEPRECATED)
    ]
    odd += [(literal, v.TYPE, cls) for cls in (*v.SCHEMA_CLASSES, *v.DECLARATION_CLASSES)]
    odd += [(literal, v.SAME_AS, A), (literal, v.TYPE, v.ONTOLOGY)]
    ontology = read_ontology(odd)
    assert ontology.counts().keys() <= {"SameIndividual", "DifferentIndividuals"} | {
        "NegativePropertyAssertion"
    }
    assert ontology.problems


# --- Annotations ---------------------------------------------------------------------------------

ANNOTATED = """
[] a owl:Axiom ; owl:annotatedSource :A ; owl:annotatedProperty rdfs:subClassOf ;
   owl:annotatedTarget {target} ; rdfs:comment "why" .
"""


def test_annotations__of_an_axiom() -> None:
    ontology = read(":A rdfs:subClassOf :B ." + ANNOTATED.format(target=":B"))
    (axiom,) = ontology.axioms
    assert axiom.annotations == (ax.Annotation(n("rdfs:comment"), Literal("why")),)
    assert len(axiom.triples) == 1
    assert codes(ontology) == []


def test_annotations__are_no_part_of_what_an_axiom_is() -> None:
    plain = triples(":A rdfs:subClassOf :B .")
    annotated = triples(":A rdfs:subClassOf :B ." + ANNOTATED.format(target=":B"))
    assert read_ontology(plain).axioms == read_ontology(annotated).axioms


def test_annotations__of_annotations() -> None:
    ontology = read(
        ":A rdfs:subClassOf :B . _:x a owl:Axiom ; owl:annotatedSource :A ;"
        " owl:annotatedProperty rdfs:subClassOf ; owl:annotatedTarget :B ; :note 'one' ."
        "[] a owl:Annotation ; owl:annotatedSource _:x ; owl:annotatedProperty :note ;"
        " owl:annotatedTarget 'one' ; :note 'two' ."
    )
    two = ax.Annotation(n("note"), Literal("two"))
    assert ontology.axioms[0].annotations == (ax.Annotation(n("note"), Literal("one"), (two,)),)


def test_annotations__that_come_back_to_themselves_end() -> None:
    ontology = read(
        ":A rdfs:subClassOf :B . _:x owl:annotatedSource :A ;"
        " owl:annotatedProperty rdfs:subClassOf ; owl:annotatedTarget :B ; :note 'one' ."
        "_:y owl:annotatedSource _:x ; owl:annotatedProperty :note ; owl:annotatedTarget 'one' ;"
        " :note 'two' . _:y owl:annotatedSource _:y ; owl:annotatedTarget 'two' ."
    )
    assert len(ontology.axioms[0].annotations) == 1


@pytest.mark.parametrize(
    "said",
    [
        "[owl:onProperty [owl:inverseOf :q] ; owl:someValuesFrom [owl:unionOf (:B)]]",
        "[owl:intersectionOf (:B :C)]",
    ],
)
def test_annotations__find_an_axiom_that_is_written_twice(said: str) -> None:
    ontology = read(f":A rdfs:subClassOf {said} ." + ANNOTATED.format(target=said))
    (axiom,) = [axiom for axiom in ontology.axioms if isinstance(axiom, ax.SubClassOf)]
    assert len(axiom.annotations) == 1
    assert codes(ontology) == []


def test_annotations__in_circles_are_not_followed_again_and_again() -> None:
    ontology = read(
        ":A rdfs:subClassOf :B . _:x owl:annotatedSource :A ; :note 'a', 'b' ;"
        " owl:annotatedProperty rdfs:subClassOf ; owl:annotatedTarget :B ."
        "_:y owl:annotatedSource _:x, _:y ; owl:annotatedProperty :note ; :note 'a', 'b' ;"
        " owl:annotatedTarget 'a', 'b' ."
    )
    (axiom,) = ontology.axioms
    assert [len(annotation.annotations) for annotation in axiom.annotations] == [2, 2]
    assert axiom.annotations[0].annotations[0].annotations == ()


def test_annotations__find_a_chain_that_is_written_twice() -> None:
    ontology = read(
        ":p owl:propertyChainAxiom (:q [owl:inverseOf :q]) ."
        "[] owl:annotatedSource :p ; owl:annotatedProperty owl:propertyChainAxiom ;"
        " owl:annotatedTarget (:q [owl:inverseOf :q]) ; :note 'why' ."
    )
    (axiom,) = ontology.axioms
    assert len(axiom.annotations) == 1


def test_annotations__of_an_axiom_that_is_not_there_are_reported() -> None:
    for target in (":C", "[owl:complementOf :C]"):
        stated = ":A rdfs:subClassOf :B, [owl:complementOf :B] ."
        ontology = read(stated + ANNOTATED.format(target=target))
        assert codes(ontology) == ["annotated-axiom-missing"]
        assert not any(axiom.annotations for axiom in ontology.axioms)


def test_annotations__of_nothing_are_reported() -> None:
    ontology = read("[] owl:annotatedSource :A ; owl:annotatedTarget :B .")
    assert codes(ontology) == ["half-annotation"]


def test_annotations__at_the_node_of_the_axiom() -> None:
    ontology = read(
        "[] a owl:AllDisjointClasses ; owl:members (:A :B) ; rdfs:comment 'why' ."
        "[] owl:sourceIndividual :x ; owl:assertionProperty :p ; owl:targetValue 1 ; :note 'no' ."
    )
    assert [len(axiom.annotations) for axiom in ontology.axioms] == [1, 1]


# --- Headers -------------------------------------------------------------------------------------


def test_headers__name_version_and_imports() -> None:
    ontology = read(
        ":o a owl:Ontology ; owl:versionIRI :o1 ; owl:imports :part, :other ."
        ":part a owl:Ontology ; owl:imports :other ."
    )
    assert ontology.iri == n("o")
    assert ontology.version == n("o1")
    assert set(ontology.imports) == {n("part"), n("other")}
    assert [header.iri for header in ontology.headers] == [n("o"), n("part")]


def test_headers__the_first_is_imported_by_no_other() -> None:
    assert read(":z a owl:Ontology ; owl:imports :a . :a a owl:Ontology .").iri == n("z")
    assert read(":a owl:imports :a . :b a owl:Ontology .").iri == n("a")


def test_headers__without_a_type_or_a_name() -> None:
    assert read(":o owl:imports :part .").iri == n("o")
    assert isinstance(read("[] a owl:Ontology .").iri, BlankNode)
    nothing = read(":A rdfs:subClassOf :B .")
    assert (nothing.iri, nothing.version, nothing.imports) == (None, None, ())


# --- What a store has to fetch -------------------------------------------------------------------


def test_vocabulary__what_is_fetched_by_it_is_enough() -> None:
    texts = [turtle for turtle, _ in AXIOMS]
    texts += [f":A rdfs:subClassOf [ {turtle} ] ." for turtle, _ in EXPRESSIONS]
    for turtle in texts:
        given = triples(turtle)
        fetched = [
            triple
            for triple in given
            if triple[1] in v.SCHEMA_PREDICATES
            or (triple[1] == v.TYPE and triple[2] in v.SCHEMA_CLASSES)
        ]
        nothing_follows = (ax.SameIndividual, ax.DifferentIndividuals, ax.ClassAssertion)
        expected = [
            axiom
            for axiom in read_ontology(given).axioms
            if not isinstance(axiom, (*nothing_follows, ax.Deprecated))
        ]
        assert list(read_ontology(fetched).axioms) == expected, turtle


# --- Slips ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("turtle", "meant"),
    [
        (":A owl:subClassOf :B .", "did you mean rdfs:subClassOf?"),
        (":A rdfs:subclassOf :B .", "did you mean rdfs:subClassOf?"),
        (":p a owl:TransitivProperty .", "did you mean owl:TransitiveProperty?"),
        (":A a rdfs:Clas .", "Class?"),
        (":p owl:InverseOf :q .", "did you mean owl:inverseOf?"),
        (":x rdf:hasPart :y .", "it was taken"),
    ],
)
def test_names_that_do_not_exist__are_reported(turtle: str, meant: str) -> None:
    given = triples(turtle)
    ontology = read_ontology(given)
    assert codes(ontology) == ["unknown-name"]
    (problem,) = ontology.problems
    assert meant in problem.remedy
    assert problem.triples == tuple(given)


def test_names_that_exist__are_not_reported() -> None:
    everything = (*v.SCHEMA_PREDICATES, *v.HEADER_PREDICATES, *v.FACT_PREDICATES, n("rdf:_12"))
    classes = (*v.SCHEMA_CLASSES, *v.DECLARATION_CLASSES, v.AXIOM, v.ANNOTATION, v.ONTOLOGY)
    used: list[Triple] = [(A, predicate, B) for predicate in everything]
    used += [(A, v.TYPE, cls) for cls in classes]
    assert "unknown-name" not in codes(read_ontology(used))
