"""Rules that are the same for every ontology: about the vocabulary itself, in text.

Start reading at `OWL_RL`. Table 9 of the OWL 2 RL/RDF rules (scm-*), equality (eq-*), constraints
that name their axioms by variables, and the RDFS rules about classes and properties. They are
ordinary rules over ordinary facts; what lists say is in `owl_rl` and `owl_rl_classes`.

Reflexive and universal triples of the vocabulary (`C ⊑ C`, `C ⊑ owl:Thing`) are made here, one for
each class or property: rules of the table have them as premises. The store does not list them.
"""

from __future__ import annotations

from functools import cache

from triplestore.datalog.program import Program
from triplestore.datalog.text import read

OWL_RL = """
rule "scm-cls" rdfs:subClassOf[?c, ?c], owl:equivalentClass[?c, ?c],
    rdfs:subClassOf[?c, owl:Thing], rdfs:subClassOf[owl:Nothing, ?c] :- owl:Class[?c] .
rule "scm-sco" rdfs:subClassOf[?a, ?c] :- rdfs:subClassOf[?a, ?b], rdfs:subClassOf[?b, ?c] .
rule "scm-eqc1" rdfs:subClassOf[?a, ?b], rdfs:subClassOf[?b, ?a] :- owl:equivalentClass[?a, ?b] .
rule "scm-eqc2" owl:equivalentClass[?a, ?b] :- rdfs:subClassOf[?a, ?b], rdfs:subClassOf[?b, ?a] .
rule "scm-op" rdfs:subPropertyOf[?p, ?p], owl:equivalentProperty[?p, ?p] :- owl:ObjectProperty[?p] .
rule "scm-dp" rdfs:subPropertyOf[?p, ?p], owl:equivalentProperty[?p, ?p] :-
    owl:DatatypeProperty[?p] .
rule "scm-spo" rdfs:subPropertyOf[?a, ?c] :-
    rdfs:subPropertyOf[?a, ?b], rdfs:subPropertyOf[?b, ?c] .
rule "scm-eqp1" rdfs:subPropertyOf[?a, ?b], rdfs:subPropertyOf[?b, ?a] :-
    owl:equivalentProperty[?a, ?b] .
rule "scm-eqp2" owl:equivalentProperty[?a, ?b] :-
    rdfs:subPropertyOf[?a, ?b], rdfs:subPropertyOf[?b, ?a] .
rule "scm-dom1" rdfs:domain[?p, ?d] :- rdfs:domain[?p, ?c], rdfs:subClassOf[?c, ?d] .
rule "scm-dom2" rdfs:domain[?p, ?c] :- rdfs:domain[?q, ?c], rdfs:subPropertyOf[?p, ?q] .
rule "scm-rng1" rdfs:range[?p, ?d] :- rdfs:range[?p, ?c], rdfs:subClassOf[?c, ?d] .
rule "scm-rng2" rdfs:range[?p, ?c] :- rdfs:range[?q, ?c], rdfs:subPropertyOf[?p, ?q] .
rule "scm-hv" rdfs:subClassOf[?c, ?d] :- owl:hasValue[?c, ?i], owl:onProperty[?c, ?p],
    owl:hasValue[?d, ?i], owl:onProperty[?d, ?q], rdfs:subPropertyOf[?p, ?q] .
rule "scm-svf1" rdfs:subClassOf[?c, ?d] :- owl:someValuesFrom[?c, ?a], owl:onProperty[?c, ?p],
    owl:someValuesFrom[?d, ?b], owl:onProperty[?d, ?p], rdfs:subClassOf[?a, ?b] .
rule "scm-svf2" rdfs:subClassOf[?c, ?d] :- owl:someValuesFrom[?c, ?a], owl:onProperty[?c, ?p],
    owl:someValuesFrom[?d, ?a], owl:onProperty[?d, ?q], rdfs:subPropertyOf[?p, ?q] .
rule "scm-avf1" rdfs:subClassOf[?c, ?d] :- owl:allValuesFrom[?c, ?a], owl:onProperty[?c, ?p],
    owl:allValuesFrom[?d, ?b], owl:onProperty[?d, ?p], rdfs:subClassOf[?a, ?b] .
rule "scm-avf2" rdfs:subClassOf[?d, ?c] :- owl:allValuesFrom[?c, ?a], owl:onProperty[?c, ?p],
    owl:allValuesFrom[?d, ?a], owl:onProperty[?d, ?q], rdfs:subPropertyOf[?p, ?q] .
"""
"""Table 9 but for scm-int and scm-uni, which read lists."""

CONSTRAINTS = """
constraint "cls-nothing2" "a member of owl:Nothing" :- owl:Nothing[?x] .
constraint "cax-dw" "a member of two disjoint classes" :-
    owl:disjointWith[?c, ?d], [?x, rdf:type, ?c], [?x, rdf:type, ?d] .
constraint "cax-adc" "a member of two disjoint classes" :-
    <x-triplestore:pairs/cax-adc>[?axiom, ?c, ?d], [?x, rdf:type, ?c], [?x, rdf:type, ?d] .
"""
"""Constraints about classes, whose axioms are values of variables."""

EQUALITY = """
rule "eq-sym" owl:sameAs[?y, ?x] :- owl:sameAs[?x, ?y] .
rule "eq-trans" owl:sameAs[?x, ?z] :- owl:sameAs[?x, ?y], owl:sameAs[?y, ?z] .
rule "eq-rep-s" [?t, ?p, ?o] :- owl:sameAs[?s, ?t], [?s, ?p, ?o] .
rule "eq-rep-p" [?s, ?q, ?o] :- owl:sameAs[?p, ?q], [?s, ?p, ?o] .
rule "eq-rep-o" [?s, ?p, ?t] :- owl:sameAs[?o, ?t], [?s, ?p, ?o] .
"""
"""Table 4 but for eq-ref, whose conclusions are trivial."""

DIFFERENT = """
constraint "eq-diff1" "the same and different" :-
    owl:sameAs[?x, ?y], owl:differentFrom[?x, ?y] .
constraint "eq-diff1" "the same and different from itself" :- owl:differentFrom[?x, ?x] .
constraint "eq-diff2" "the same, and members of one owl:AllDifferent" :-
    <x-triplestore:pairs/eq-diff2>[?axiom, ?x, ?y], owl:sameAs[?x, ?y] .
constraint "eq-diff3" "the same, and members of one owl:AllDifferent" :-
    <x-triplestore:pairs/eq-diff3>[?axiom, ?x, ?y], owl:sameAs[?x, ?y] .
constraint "dt-diff" "two literals of different values are the same" :- owl:sameAs[?x, ?y],
    FILTER(ISLITERAL(?x) && ISLITERAL(?y) && !<x-triplestore:same-value>(?x, ?y)) .
"""
"""Equalities that may not be; `x` is the same as itself, whatever is listed."""

TRIVIAL = """
rule "cls-thing" owl:Class[owl:Thing] .
rule "cls-nothing1" owl:Class[owl:Nothing] .
rule "eq-ref" owl:sameAs[?s, ?s], owl:sameAs[?p, ?p], owl:sameAs[?o, ?o] :- [?s, ?p, ?o] .
rule "prp-ap" owl:AnnotationProperty[rdfs:label], owl:AnnotationProperty[rdfs:comment],
    owl:AnnotationProperty[rdfs:seeAlso], owl:AnnotationProperty[rdfs:isDefinedBy],
    owl:AnnotationProperty[owl:deprecated], owl:AnnotationProperty[owl:versionInfo],
    owl:AnnotationProperty[owl:priorVersion],
    owl:AnnotationProperty[owl:backwardCompatibleWith],
    owl:AnnotationProperty[owl:incompatibleWith] .
"""
"""What holds always, and is made only where trivial triples are asked for."""

RDFS = """
rule "rdfs5" rdfs:subPropertyOf[?a, ?c] :-
    rdfs:subPropertyOf[?a, ?b], rdfs:subPropertyOf[?b, ?c] .
rule "rdfs6" rdfs:subPropertyOf[?p, ?p] :- rdf:Property[?p] .
rule "rdfs8" rdfs:subClassOf[?c, rdfs:Resource] :- rdfs:Class[?c] .
rule "rdfs10" rdfs:subClassOf[?c, ?c] :- rdfs:Class[?c] .
rule "rdfs11" rdfs:subClassOf[?a, ?c] :- rdfs:subClassOf[?a, ?b], rdfs:subClassOf[?b, ?c] .
rule "rdfs12" rdfs:subPropertyOf[?p, rdfs:member] :- rdfs:ContainerMembershipProperty[?p] .
rule "rdfs13" rdfs:subClassOf[?d, rdfs:Literal] :- rdfs:Datatype[?d] .
"""
"""The RDFS entailment rules about classes and properties themselves."""

RDFS_TRIVIAL = """
rule "rdf1" rdf:Property[?p] :- [?x, ?p, ?y] .
rule "rdfs4a" rdfs:Resource[?x] :- [?x, ?p, ?y] .
rule "rdfs4b" rdfs:Resource[?y] :- [?x, ?p, ?y] .
"""
"""The RDFS rules that speak of everything."""


@cache
def vocabulary_rules(text: str) -> Program:
    """One of the texts of this module as a program; read once.

    >>> len(vocabulary_rules(RDFS))
    7
    """
    return read(text)
