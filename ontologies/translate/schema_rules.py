"""Rules that are the same for every ontology: about the vocabulary itself, in text.

Start reading at `OWL_RL`. Table 9 of the OWL 2 RL/RDF rules (scm-*), equality (eq-*), constraints
that name their axioms by variables, and the RDFS rules about classes and properties. They are
ordinary rules over ordinary facts; what lists say is in `owl_rl` and `owl_rl_classes`.

Trivial triples (`C ⊑ C`, `C ⊑ owl:Thing`) hold and are not made, unless they are asked for. Rules
of the table that have them as premises are repeated here, with the same id, for each way in which a
premise can be such a triple.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from triplestore.datalog.program import Constant, Program
from triplestore.datalog.text import read
from triplestore.ontologies.translate.datatypes import DATATYPES, OWL_DATATYPES
from triplestore.terms.vocabulary import RDFS_LITERAL

_HIERARCHIES = """
rule "scm-sco" rdfs:subClassOf[?a, ?c] :-
    rdfs:subClassOf[?a, ?b], rdfs:subClassOf[?b, ?c]BELOW(?a, ?c) .
rule "scm-eqc1" rdfs:subClassOf[?a, ?b] :- owl:equivalentClass[?a, ?b]BELOW(?a, ?b) .
rule "scm-eqc1" rdfs:subClassOf[?b, ?a] :- owl:equivalentClass[?a, ?b]BELOW(?b, ?a) .
rule "scm-eqc2" owl:equivalentClass[?a, ?b] :-
    rdfs:subClassOf[?a, ?b], rdfs:subClassOf[?b, ?a]DIFFERENT(?a, ?b) .
rule "scm-spo" rdfs:subPropertyOf[?a, ?c] :-
    rdfs:subPropertyOf[?a, ?b], rdfs:subPropertyOf[?b, ?c]DIFFERENT(?a, ?c) .
rule "scm-eqp1" rdfs:subPropertyOf[?a, ?b], rdfs:subPropertyOf[?b, ?a] :-
    owl:equivalentProperty[?a, ?b]DIFFERENT(?a, ?b) .
rule "scm-eqp2" owl:equivalentProperty[?a, ?b] :-
    rdfs:subPropertyOf[?a, ?b], rdfs:subPropertyOf[?b, ?a]DIFFERENT(?a, ?b) .
rule "scm-dom1" rdfs:domain[?p, ?d] :- rdfs:domain[?p, ?c], rdfs:subClassOf[?c, ?d] .
rule "scm-dom2" rdfs:domain[?p, ?c] :- rdfs:domain[?q, ?c], rdfs:subPropertyOf[?p, ?q] .
rule "scm-rng1" rdfs:range[?p, ?d] :- rdfs:range[?p, ?c], rdfs:subClassOf[?c, ?d] .
rule "scm-rng2" rdfs:range[?p, ?c] :- rdfs:range[?q, ?c], rdfs:subPropertyOf[?p, ?q] .
rule "scm-hv" rdfs:subClassOf[?c, ?d] :- owl:hasValue[?c, ?i], owl:onProperty[?c, ?p],
    owl:hasValue[?d, ?i], owl:onProperty[?d, ?q], rdfs:subPropertyOf[?p, ?q]DIFFERENT(?c, ?d) .
rule "scm-svf1" rdfs:subClassOf[?c, ?d] :- owl:someValuesFrom[?c, ?a], owl:onProperty[?c, ?p],
    owl:someValuesFrom[?d, ?b], owl:onProperty[?d, ?p], rdfs:subClassOf[?a, ?b]DIFFERENT(?c, ?d) .
rule "scm-svf2" rdfs:subClassOf[?c, ?d] :- owl:someValuesFrom[?c, ?a], owl:onProperty[?c, ?p],
    owl:someValuesFrom[?d, ?a], owl:onProperty[?d, ?q],
    rdfs:subPropertyOf[?p, ?q]DIFFERENT(?c, ?d) .
rule "scm-avf1" rdfs:subClassOf[?c, ?d] :- owl:allValuesFrom[?c, ?a], owl:onProperty[?c, ?p],
    owl:allValuesFrom[?d, ?b], owl:onProperty[?d, ?p], rdfs:subClassOf[?a, ?b]DIFFERENT(?c, ?d) .
rule "scm-avf2" rdfs:subClassOf[?d, ?c] :- owl:allValuesFrom[?c, ?a], owl:onProperty[?c, ?p],
    owl:allValuesFrom[?d, ?a], owl:onProperty[?d, ?q],
    rdfs:subPropertyOf[?p, ?q]DIFFERENT(?c, ?d) .
"""
_MACRO = re.compile(r"(DIFFERENT|BELOW)\((\S+), (\S+)\)")
_FILTERS = {
    "DIFFERENT": ", FILTER(!SAMETERM({one}, {other}))",
    "BELOW": """, FILTER(!SAMETERM({one}, {other}) && !SAMETERM({one}, owl:Nothing)
    && !SAMETERM({other}, owl:Thing))""",
}


def _with_filters(text: str) -> str:
    """The rules without trivial conclusions."""
    return _MACRO.sub(lambda m: _FILTERS[m[1]].format(one=m[2], other=m[3]), text)


def _are_datatypes(datatypes: Iterable[Constant]) -> str:
    return ", ".join(f"rdfs:Datatype[{one}]" for one in sorted(map(str, datatypes)))


OWL_RL_TRIVIAL = (
    _MACRO.sub("", _HIERARCHIES)
    + """
rule "scm-cls" rdfs:subClassOf[?c, ?c], owl:equivalentClass[?c, ?c],
    rdfs:subClassOf[?c, owl:Thing], rdfs:subClassOf[owl:Nothing, ?c] :- owl:Class[?c] .
rule "scm-op" rdfs:subPropertyOf[?p, ?p], owl:equivalentProperty[?p, ?p] :- owl:ObjectProperty[?p] .
rule "scm-dp" rdfs:subPropertyOf[?p, ?p], owl:equivalentProperty[?p, ?p] :-
    owl:DatatypeProperty[?p] .
rule "cls-thing" owl:Class[owl:Thing] .
rule "cls-nothing1" owl:Class[owl:Nothing] .
rule "dt-type1" DATATYPES .
rule "eq-ref" owl:sameAs[?s, ?s], owl:sameAs[?p, ?p], owl:sameAs[?o, ?o] :- [?s, ?p, ?o] .
rule "prp-ap" owl:AnnotationProperty[rdfs:label], owl:AnnotationProperty[rdfs:comment],
    owl:AnnotationProperty[rdfs:seeAlso], owl:AnnotationProperty[rdfs:isDefinedBy],
    owl:AnnotationProperty[owl:deprecated], owl:AnnotationProperty[owl:versionInfo],
    owl:AnnotationProperty[owl:priorVersion],
    owl:AnnotationProperty[owl:backwardCompatibleWith],
    owl:AnnotationProperty[owl:incompatibleWith] .
""".replace("DATATYPES", _are_datatypes(OWL_DATATYPES))
)
"""Table 9 except scm-int and scm-uni, which read lists; and what always holds."""

OWL_RL = (
    _with_filters(_HIERARCHIES)
    + """
rule "scm-sco" rdfs:subClassOf[?c, ?d] :- owl:Class[?c], rdfs:subClassOf[owl:Thing, ?d],
    FILTER(!SAMETERM(?c, ?d)) .
rule "scm-sco" rdfs:subClassOf[?c, ?d] :- rdfs:subClassOf[?c, owl:Nothing], owl:Class[?d],
    FILTER(!SAMETERM(?c, ?d) && !SAMETERM(?d, owl:Thing)) .
rule "scm-eqc2" owl:equivalentClass[?c, owl:Thing], owl:equivalentClass[owl:Thing, ?c] :-
    owl:Class[?c], rdfs:subClassOf[owl:Thing, ?c], FILTER(!SAMETERM(?c, owl:Thing)) .
rule "scm-eqc2" owl:equivalentClass[?c, owl:Nothing], owl:equivalentClass[owl:Nothing, ?c] :-
    owl:Class[?c], rdfs:subClassOf[?c, owl:Nothing], FILTER(!SAMETERM(?c, owl:Nothing)) .
rule "scm-dom1" rdfs:domain[?p, owl:Thing] :- rdfs:domain[?p, ?c], owl:Class[?c] .
rule "scm-rng1" rdfs:range[?p, owl:Thing] :- rdfs:range[?p, ?c], owl:Class[?c] .
rule "scm-svf1" rdfs:subClassOf[?c, ?d] :- owl:someValuesFrom[?c, ?a], owl:onProperty[?c, ?p],
    owl:someValuesFrom[?d, ?a], owl:onProperty[?d, ?p], owl:Class[?a],
    FILTER(!SAMETERM(?c, ?d)) .
rule "scm-svf1" rdfs:subClassOf[?c, ?d] :- owl:someValuesFrom[?d, owl:Thing],
    owl:onProperty[?d, ?p], owl:onProperty[?c, ?p], owl:someValuesFrom[?c, ?a], owl:Class[?a],
    FILTER(!SAMETERM(?c, ?d)) .
rule "scm-svf1" rdfs:subClassOf[?c, ?d] :- owl:someValuesFrom[?c, owl:Nothing],
    owl:onProperty[?c, ?p], owl:onProperty[?d, ?p], owl:someValuesFrom[?d, ?a], owl:Class[?a],
    FILTER(!SAMETERM(?c, ?d)) .
rule "scm-avf1" rdfs:subClassOf[?c, ?d] :- owl:allValuesFrom[?c, ?a], owl:onProperty[?c, ?p],
    owl:allValuesFrom[?d, ?a], owl:onProperty[?d, ?p], owl:Class[?a],
    FILTER(!SAMETERM(?c, ?d)) .
rule "scm-avf1" rdfs:subClassOf[?c, ?d] :- owl:allValuesFrom[?d, owl:Thing],
    owl:onProperty[?d, ?p], owl:onProperty[?c, ?p], owl:allValuesFrom[?c, ?a], owl:Class[?a],
    FILTER(!SAMETERM(?c, ?d)) .
rule "scm-avf1" rdfs:subClassOf[?c, ?d] :- owl:allValuesFrom[?c, owl:Nothing],
    owl:onProperty[?c, ?p], owl:onProperty[?d, ?p], owl:allValuesFrom[?d, ?a], owl:Class[?a],
    FILTER(!SAMETERM(?c, ?d)) .
rule "scm-op" <x-triplestore:owl/property>[?p, ?p, ?p] :- owl:ObjectProperty[?p] .
rule "scm-dp" <x-triplestore:owl/property>[?p, ?p, ?p] :- owl:DatatypeProperty[?p] .
rule "scm-hv" rdfs:subClassOf[?c, ?d] :- owl:hasValue[?c, ?i], owl:onProperty[?c, ?p],
    owl:hasValue[?d, ?i], owl:onProperty[?d, ?p], <x-triplestore:owl/property>[?p, ?p, ?p],
    FILTER(!SAMETERM(?c, ?d)) .
rule "scm-svf2" rdfs:subClassOf[?c, ?d] :- owl:someValuesFrom[?c, ?a], owl:onProperty[?c, ?p],
    owl:someValuesFrom[?d, ?a], owl:onProperty[?d, ?p],
    <x-triplestore:owl/property>[?p, ?p, ?p], FILTER(!SAMETERM(?c, ?d)) .
rule "scm-avf2" rdfs:subClassOf[?c, ?d] :- owl:allValuesFrom[?c, ?a], owl:onProperty[?c, ?p],
    owl:allValuesFrom[?d, ?a], owl:onProperty[?d, ?p],
    <x-triplestore:owl/property>[?p, ?p, ?p], FILTER(!SAMETERM(?c, ?d)) .
"""
)
"""The same without trivial conclusions; owl:Thing and owl:Nothing, and what is reflexive, apart."""

CONSTRAINTS = """
constraint "cls-nothing2" "a member of owl:Nothing" :- owl:Nothing[?x] .
constraint "cax-dw" "a member of two disjoint classes" :-
    owl:disjointWith[?c, ?d], [?x, rdf:type, ?c], [?x, rdf:type, ?d] .
constraint "cax-adc" "a member of two disjoint classes" :-
    <x-triplestore:pairs/cax-adc>[?axiom, ?c, ?d], [?x, rdf:type, ?c], [?x, rdf:type, ?d] .
"""
"""Constraints about classes, whose axioms are values of variables."""

EQUALITY = """
rule "eq-sym" owl:sameAs[?y, ?x] :- owl:sameAs[?x, ?y], FILTER(!SAMETERM(?x, ?y)) .
rule "eq-trans" owl:sameAs[?x, ?z] :-
    owl:sameAs[?x, ?y], owl:sameAs[?y, ?z], FILTER(!SAMETERM(?x, ?z)) .
rule "eq-rep-s" [?t, ?p, ?o] :- owl:sameAs[?s, ?t], [?s, ?p, ?o],
    FILTER(!SAMETERM(?p, owl:sameAs)),
    FILTER(!ISLITERAL(?s) && !ISLITERAL(?t) && (!SAMETERM(?t, ?o) || ?p NOT IN (REFLEXIVE))) .
rule "eq-rep-o" rdfs:subClassOf[?c, ?d], owl:equivalentClass[?c, ?d] :-
    owl:sameAs[?c, ?d], owl:Class[?c], FILTER(!SAMETERM(?c, ?d)) .
rule "eq-rep-o" rdfs:subPropertyOf[?p, ?q], owl:equivalentProperty[?p, ?q] :-
    owl:sameAs[?p, ?q], owl:ObjectProperty[?p], FILTER(!SAMETERM(?p, ?q)) .
rule "eq-rep-o" rdfs:subPropertyOf[?p, ?q], owl:equivalentProperty[?p, ?q] :-
    owl:sameAs[?p, ?q], owl:DatatypeProperty[?p], FILTER(!SAMETERM(?p, ?q)) .
rule "eq-rep-p" [?s, ?q, ?o] :- owl:sameAs[?p, ?q], [?s, ?p, ?o],
    FILTER(!SAMETERM(?s, ?o) || ?q NOT IN (REFLEXIVE)) .
rule "eq-rep-o" [?s, ?p, ?t] :- owl:sameAs[?o, ?t], [?s, ?p, ?o],
    FILTER(!SAMETERM(?p, owl:sameAs)),
    FILTER(!ISLITERAL(?o) && !ISLITERAL(?t) && (!SAMETERM(?s, ?t) || ?p NOT IN (REFLEXIVE))) .
""".replace(
    "REFLEXIVE",
    "owl:sameAs, rdfs:subClassOf, rdfs:subPropertyOf, owl:equivalentClass, owl:equivalentProperty",
)
"""Table 4 except eq-ref, without trivial conclusions; of the trivial premises of eq-rep-o, those
that say that names of one class or property are equivalent. A literal is replaced by no other:
rules match literals by value. What eq-rep-s and eq-rep-o conclude about owl:sameAs also follows by
eq-sym and eq-trans, which a module closes. By eq-rep-s and eq-rep-o it would take n³ instances for
n equals."""

LITERALS = """
constraint "dt-not-type" "an ill-typed literal" :-
    [?x, ?p, ?l], <x-triplestore:literals/ill-typed>[?l, ?l, ?l] .
"""
"""Ill-typed literals; the store says which these are."""

DIFFERENT = """
constraint "eq-diff1" "the same and different" :-
    owl:sameAs[?x, ?y], owl:differentFrom[?x, ?y] .
constraint "eq-diff1" "the same and different from itself" :- owl:differentFrom[?x, ?x] .
constraint "eq-diff2" "the same, and members of one owl:AllDifferent" :-
    <x-triplestore:pairs/eq-diff2>[?axiom, ?x, ?y], owl:sameAs[?x, ?y] .
constraint "eq-diff3" "the same, and members of one owl:AllDifferent" :-
    <x-triplestore:pairs/eq-diff3>[?axiom, ?x, ?y], owl:sameAs[?x, ?y] .
constraint "eq-diff2" "itself, and twice a member of one owl:AllDifferent" :-
    <x-triplestore:pairs/eq-diff2>[?axiom, ?x, ?x] .
constraint "eq-diff3" "itself, and twice a member of one owl:AllDifferent" :-
    <x-triplestore:pairs/eq-diff3>[?axiom, ?x, ?x] .
constraint "dt-diff" "two literals of different values are the same" :- owl:sameAs[?x, ?y],
    FILTER(ISLITERAL(?x) && ISLITERAL(?y) && !<x-triplestore:same-value>(?x, ?y)) .
"""
"""Contradictory equalities; `x` is the same as itself, whether listed or not."""

RDFS = """
rule "rdfs5" rdfs:subPropertyOf[?a, ?c] :-
    rdfs:subPropertyOf[?a, ?b], rdfs:subPropertyOf[?b, ?c], FILTER(!SAMETERM(?a, ?c)) .
rule "rdfs11" rdfs:subClassOf[?a, ?c] :-
    rdfs:subClassOf[?a, ?b], rdfs:subClassOf[?b, ?c], FILTER(!SAMETERM(?a, ?c)) .
"""
"""The RDFS entailment rules that close hierarchies."""

RDFS_VOCABULARY = """
rule "rdf1" rdf:Property[?p] :- [?x, ?p, ?y] .
rule "rdfs12" rdfs:subPropertyOf[?p, rdfs:member] :- rdfs:ContainerMembershipProperty[?p] .
rule "rdfs13" rdfs:subClassOf[?d, rdfs:Literal] :- rdfs:Datatype[?d] .
rule "rdfs2" rdf:Property[?p] :- rdfs:domain[?p, ?c] .
rule "rdfs3" rdfs:Class[?c] :- rdfs:domain[?p, ?c] .
rule "rdfs2" rdf:Property[?p] :- rdfs:range[?p, ?c] .
rule "rdfs3" rdfs:Class[?c] :- rdfs:range[?p, ?c] .
rule "rdfs2" rdf:Property[?p] :- rdfs:subPropertyOf[?p, ?q] .
rule "rdfs3" rdf:Property[?q] :- rdfs:subPropertyOf[?p, ?q] .
rule "rdfs2" rdfs:Class[?c] :- rdfs:subClassOf[?c, ?d] .
rule "rdfs3" rdfs:Class[?d] :- rdfs:subClassOf[?c, ?d] .
rule "rdfs3" rdfs:Class[?c] :- [?x, rdf:type, ?c] .
rule "rdfs2" rdf:Statement[?x] :- rdf:subject[?x, ?y] .
rule "rdfs2" rdf:Statement[?x] :- rdf:predicate[?x, ?y] .
rule "rdfs2" rdf:Statement[?x] :- rdf:object[?x, ?y] .
rule "rdfs2" rdf:List[?x] :- rdf:first[?x, ?y] .
rule "rdfs2" rdf:List[?x] :- rdf:rest[?x, ?y] .
rule "rdfs3" rdf:List[?y] :- rdf:rest[?x, ?y] .
rule "rdfs7" rdfs:seeAlso[?x, ?y] :- rdfs:isDefinedBy[?x, ?y] .
rule "rdfs9" rdfs:Container[?x] :- rdf:Alt[?x] .
rule "rdfs9" rdfs:Container[?x] :- rdf:Bag[?x] .
rule "rdfs9" rdfs:Container[?x] :- rdf:Seq[?x] .
rule "rdfs9" rdf:Property[?p] :- rdfs:ContainerMembershipProperty[?p] .
rule "rdfs9" rdfs:Class[?d] :- rdfs:Datatype[?d] .
"""
"""What follows for classes and properties, from the axiomatic triples of RDFS among others."""

_DOMAINS = {
    "rdfs:Resource": "rdf:type rdfs:member rdfs:seeAlso rdfs:isDefinedBy rdfs:comment rdfs:label "
    "rdf:value",
    "rdf:Property": "rdfs:domain rdfs:range rdfs:subPropertyOf",
    "rdfs:Class": "rdfs:subClassOf",
    "rdf:Statement": "rdf:subject rdf:predicate rdf:object",
    "rdf:List": "rdf:first rdf:rest",
}
_RANGES = {
    "rdfs:Resource": "rdf:subject rdf:predicate rdf:object rdfs:member rdf:first rdfs:seeAlso "
    "rdfs:isDefinedBy rdf:value",
    "rdfs:Class": "rdf:type rdfs:domain rdfs:range rdfs:subClassOf",
    "rdf:Property": "rdfs:subPropertyOf",
    "rdfs:Literal": "rdfs:comment rdfs:label",
    "rdf:List": "rdf:rest",
}


def _of_words(predicate: str, words: dict[str, str]) -> str:
    """The triples that give words a domain, or a range."""
    pairs = [(one, class_) for class_, names in words.items() for one in names.split()]
    return ", ".join(f"{predicate}[{one}, {class_}]" for one, class_ in pairs)


RDFS_TRIVIAL = """
rule "rdfs6" rdfs:subPropertyOf[?p, ?p] :- rdf:Property[?p] .
rule "rdfs8" rdfs:subClassOf[?c, rdfs:Resource] :- rdfs:Class[?c] .
rule "rdfs10" rdfs:subClassOf[?c, ?c] :- rdfs:Class[?c] .
rule "rdfs4a" rdfs:Resource[?x] :- [?x, ?p, ?y] .
rule "rdfs4b" rdfs:Resource[?y] :- [?x, ?p, ?y] .
rule "rdfs1" DATATYPES .
rule "rdf-axiomatic" rdf:Property[rdf:type], rdf:Property[rdf:subject], rdf:Property[rdf:predicate],
    rdf:Property[rdf:object], rdf:Property[rdf:first], rdf:Property[rdf:rest],
    rdf:Property[rdf:value], rdf:List[rdf:nil] .
rule "rdfs-axiomatic" DOMAINS .
rule "rdfs-axiomatic" RANGES .
rule "rdfs-axiomatic" rdfs:subClassOf[rdf:Alt, rdfs:Container],
    rdfs:subClassOf[rdf:Bag, rdfs:Container], rdfs:subClassOf[rdf:Seq, rdfs:Container],
    rdfs:subClassOf[rdfs:ContainerMembershipProperty, rdf:Property],
    rdfs:subPropertyOf[rdfs:isDefinedBy, rdfs:seeAlso], rdfs:subClassOf[rdfs:Datatype, rdfs:Class] .
""".replace("DATATYPES", _are_datatypes(DATATYPES - {Constant.iri(RDFS_LITERAL)}))
RDFS_TRIVIAL = RDFS_TRIVIAL.replace("DOMAINS", _of_words("rdfs:domain", _DOMAINS))
RDFS_TRIVIAL = RDFS_TRIVIAL.replace("RANGES", _of_words("rdfs:range", _RANGES))
"""The RDFS rules that speak of everything, which datatypes there are, and the axiomatic triples of
RDF and RDFS; of rdf:_1 and the like there are those in use, which a store says."""


@cache
def vocabulary_rules(text: str) -> Program:
    """One of the texts of this package as a program, read once. Its rules have names and no places
    in files.

    >>> len(vocabulary_rules(RDFS))
    2
    """
    found = read(text)
    rules = [replace(rule, source=None) for rule in found.rules]
    constraints = [replace(constraint, source=None) for constraint in found.constraints]
    return Program(rules, constraints, found.prefixes)
