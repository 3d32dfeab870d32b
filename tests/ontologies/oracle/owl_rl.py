"""The OWL 2 RL/RDF rules by their ids: tables 4 to 9 of the OWL 2 profiles.

Rules without lists are text. Those that read lists are functions over a graph, one for each id,
which yield facts to conclude or `Violation`s. Rules about literals are in `values` and `closing`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from .graph import Graph
from .patterns import read_rules
from .values import OWL_RL_DATATYPES, identity
from .vocabulary import SAME_AS, TYPE, Fact, Term, term, terms, triples


@dataclass(frozen=True)
class Violation:
    """An inconsistency: the rule that noticed it and the terms that it is about."""

    rule: str
    about: tuple[Term, ...]


TABLE_4 = """
eq-ref       | ?s ?p ?o | ?s owl:sameAs ?s . ?p owl:sameAs ?p . ?o owl:sameAs ?o
eq-sym       | ?x owl:sameAs ?y | ?y owl:sameAs ?x
eq-trans     | ?x owl:sameAs ?y . ?y owl:sameAs ?z | ?x owl:sameAs ?z
eq-rep-s     | ?s owl:sameAs ?t . ?s ?p ?o | ?t ?p ?o
eq-rep-p     | ?p owl:sameAs ?q . ?s ?p ?o | ?s ?q ?o
eq-rep-o     | ?o owl:sameAs ?n . ?s ?p ?o | ?s ?p ?n
eq-diff1     | ?x owl:sameAs ?y . ?x owl:differentFrom ?y | false
"""
TABLE_5 = """
prp-dom      | ?p rdfs:domain ?c . ?x ?p ?y | ?x a ?c
prp-rng      | ?p rdfs:range ?c . ?x ?p ?y | ?y a ?c
prp-fp       | ?p a owl:FunctionalProperty . ?x ?p ?y . ?x ?p ?z | ?y owl:sameAs ?z
prp-ifp      | ?p a owl:InverseFunctionalProperty . ?x ?p ?z . ?y ?p ?z | ?x owl:sameAs ?y
prp-irp      | ?p a owl:IrreflexiveProperty . ?x ?p ?x | false
prp-symp     | ?p a owl:SymmetricProperty . ?x ?p ?y | ?y ?p ?x
prp-asyp     | ?p a owl:AsymmetricProperty . ?x ?p ?y . ?y ?p ?x | false
prp-trp      | ?p a owl:TransitiveProperty . ?x ?p ?y . ?y ?p ?z | ?x ?p ?z
prp-spo1     | ?p rdfs:subPropertyOf ?q . ?x ?p ?y | ?x ?q ?y
prp-eqp1     | ?p owl:equivalentProperty ?q . ?x ?p ?y | ?x ?q ?y
prp-eqp2     | ?p owl:equivalentProperty ?q . ?x ?q ?y | ?x ?p ?y
prp-pdw      | ?p owl:propertyDisjointWith ?q . ?x ?p ?y . ?x ?q ?y | false
prp-inv1     | ?p owl:inverseOf ?q . ?x ?p ?y | ?y ?q ?x
prp-inv2     | ?p owl:inverseOf ?q . ?x ?q ?y | ?y ?p ?x
prp-npa1     | ?n owl:sourceIndividual ?x . ?n owl:assertionProperty ?p .
               ?n owl:targetIndividual ?y . ?x ?p ?y
             | false
prp-npa2     | ?n owl:sourceIndividual ?x . ?n owl:assertionProperty ?p .
               ?n owl:targetValue ?y . ?x ?p ?y
             | false
"""
TABLE_6 = """
cls-nothing2 | ?x a owl:Nothing | false
cls-com      | ?c owl:complementOf ?d . ?x a ?c . ?x a ?d | false
cls-svf1     | ?c owl:someValuesFrom ?d . ?c owl:onProperty ?p . ?x ?p ?y . ?y a ?d | ?x a ?c
cls-svf2     | ?c owl:someValuesFrom owl:Thing . ?c owl:onProperty ?p . ?x ?p ?y | ?x a ?c
cls-avf      | ?c owl:allValuesFrom ?d . ?c owl:onProperty ?p . ?x a ?c . ?x ?p ?y | ?y a ?d
cls-hv1      | ?c owl:hasValue ?y . ?c owl:onProperty ?p . ?x a ?c | ?x ?p ?y
cls-hv2      | ?c owl:hasValue ?y . ?c owl:onProperty ?p . ?x ?p ?y | ?x a ?c
cls-maxc1    | ?c owl:maxCardinality '0'^^xsd:nonNegativeInteger . ?c owl:onProperty ?p .
               ?x a ?c . ?x ?p ?y
             | false
cls-maxc2    | ?c owl:maxCardinality '1'^^xsd:nonNegativeInteger . ?c owl:onProperty ?p .
               ?x a ?c . ?x ?p ?y . ?x ?p ?z
             | ?y owl:sameAs ?z
cls-maxqc1   | ?c owl:maxQualifiedCardinality '0'^^xsd:nonNegativeInteger .
               ?c owl:onProperty ?p . ?c owl:onClass ?d . ?x a ?c . ?x ?p ?y . ?y a ?d
             | false
cls-maxqc2   | ?c owl:maxQualifiedCardinality '0'^^xsd:nonNegativeInteger .
               ?c owl:onProperty ?p . ?c owl:onClass owl:Thing . ?x a ?c . ?x ?p ?y
             | false
cls-maxqc3   | ?c owl:maxQualifiedCardinality '1'^^xsd:nonNegativeInteger .
               ?c owl:onProperty ?p . ?c owl:onClass ?d . ?x a ?c . ?x ?p ?y . ?y a ?d .
               ?x ?p ?z . ?z a ?d
             | ?y owl:sameAs ?z
cls-maxqc4   | ?c owl:maxQualifiedCardinality '1'^^xsd:nonNegativeInteger .
               ?c owl:onProperty ?p . ?c owl:onClass owl:Thing . ?x a ?c . ?x ?p ?y . ?x ?p ?z
             | ?y owl:sameAs ?z
"""
TABLE_7 = """
cax-sco      | ?c rdfs:subClassOf ?d . ?x a ?c | ?x a ?d
cax-eqc1     | ?c owl:equivalentClass ?d . ?x a ?c | ?x a ?d
cax-eqc2     | ?c owl:equivalentClass ?d . ?x a ?d | ?x a ?c
cax-dw       | ?c owl:disjointWith ?d . ?x a ?c . ?x a ?d | false
"""
TABLE_9 = """
scm-cls      | ?c a owl:Class
             | ?c rdfs:subClassOf ?c . ?c owl:equivalentClass ?c .
               ?c rdfs:subClassOf owl:Thing . owl:Nothing rdfs:subClassOf ?c
scm-sco      | ?c rdfs:subClassOf ?d . ?d rdfs:subClassOf ?e | ?c rdfs:subClassOf ?e
scm-eqc1     | ?c owl:equivalentClass ?d | ?c rdfs:subClassOf ?d . ?d rdfs:subClassOf ?c
scm-eqc2     | ?c rdfs:subClassOf ?d . ?d rdfs:subClassOf ?c | ?c owl:equivalentClass ?d
scm-op       | ?p a owl:ObjectProperty | ?p rdfs:subPropertyOf ?p . ?p owl:equivalentProperty ?p
scm-dp       | ?p a owl:DatatypeProperty | ?p rdfs:subPropertyOf ?p . ?p owl:equivalentProperty ?p
scm-spo      | ?p rdfs:subPropertyOf ?q . ?q rdfs:subPropertyOf ?r | ?p rdfs:subPropertyOf ?r
scm-eqp1     | ?p owl:equivalentProperty ?q | ?p rdfs:subPropertyOf ?q . ?q rdfs:subPropertyOf ?p
scm-eqp2     | ?p rdfs:subPropertyOf ?q . ?q rdfs:subPropertyOf ?p | ?p owl:equivalentProperty ?q
scm-dom1     | ?p rdfs:domain ?c . ?c rdfs:subClassOf ?d | ?p rdfs:domain ?d
scm-dom2     | ?q rdfs:domain ?c . ?p rdfs:subPropertyOf ?q | ?p rdfs:domain ?c
scm-rng1     | ?p rdfs:range ?c . ?c rdfs:subClassOf ?d | ?p rdfs:range ?d
scm-rng2     | ?q rdfs:range ?c . ?p rdfs:subPropertyOf ?q | ?p rdfs:range ?c
scm-hv       | ?c owl:hasValue ?i . ?c owl:onProperty ?p . ?d owl:hasValue ?i .
               ?d owl:onProperty ?q . ?p rdfs:subPropertyOf ?q
             | ?c rdfs:subClassOf ?d
scm-svf1     | ?c owl:someValuesFrom ?y . ?c owl:onProperty ?p . ?d owl:someValuesFrom ?z .
               ?d owl:onProperty ?p . ?y rdfs:subClassOf ?z
             | ?c rdfs:subClassOf ?d
scm-svf2     | ?c owl:someValuesFrom ?y . ?c owl:onProperty ?p . ?d owl:someValuesFrom ?y .
               ?d owl:onProperty ?q . ?p rdfs:subPropertyOf ?q
             | ?c rdfs:subClassOf ?d
scm-avf1     | ?c owl:allValuesFrom ?y . ?c owl:onProperty ?p . ?d owl:allValuesFrom ?z .
               ?d owl:onProperty ?p . ?y rdfs:subClassOf ?z
             | ?c rdfs:subClassOf ?d
scm-avf2     | ?c owl:allValuesFrom ?y . ?c owl:onProperty ?p . ?d owl:allValuesFrom ?y .
               ?d owl:onProperty ?q . ?p rdfs:subPropertyOf ?q
             | ?d rdfs:subClassOf ?c
"""

PATTERNS = read_rules(TABLE_4 + TABLE_5 + TABLE_6 + TABLE_7 + TABLE_9)

Conclusions: TypeAlias = Iterator[Fact | Violation]


def eq_diff2(graph: Graph) -> Conclusions:
    """Members of an owl:AllDifferent (owl:members) that are the same."""
    return _all_different(graph, "eq-diff2", term("owl:members"))


def eq_diff3(graph: Graph) -> Conclusions:
    """Members of an owl:AllDifferent (owl:distinctMembers) that are the same."""
    return _all_different(graph, "eq-diff3", term("owl:distinctMembers"))


def _all_different(graph: Graph, rule: str, members: Term) -> Conclusions:
    for node in graph.subjects(TYPE, term("owl:AllDifferent")):
        for x, y in _pairs(graph, node, members):
            if graph.holds((x, SAME_AS, y)):
                yield Violation(rule, (x, y))


def _pairs(graph: Graph, node: Term, members: Term) -> Iterator[tuple[Term, Term]]:
    """Any two places of the lists that the node has as members."""
    for head in graph.objects(node, members):
        for reading in graph.lists(head):
            yield from combinations(reading, 2)


def prp_spo2(graph: Graph) -> Conclusions:
    """A chain of properties below a property."""
    for p, _, head in graph.match(None, term("owl:propertyChainAxiom"), None):
        for chain in graph.lists(head):
            for start, end in _chained(graph, chain):
                yield (start, p, end)


def _chained(graph: Graph, chain: tuple[Term, ...]) -> set[tuple[Term, Term]]:
    if not chain:
        return set()
    pairs = {(x, y) for x, _, y in graph.match(None, chain[0], None)}
    for p in chain[1:]:
        pairs = {(x, z) for x, y in pairs for z in graph.objects(y, p)}
    return pairs


def prp_adp(graph: Graph) -> Conclusions:
    """Properties that are pairwise disjoint share a pair."""
    for node in graph.subjects(TYPE, term("owl:AllDisjointProperties")):
        for p, q in _pairs(graph, node, term("owl:members")):
            for x, _, y in graph.match(None, p, None):
                if graph.holds((x, q, y)):
                    yield Violation("prp-adp", (x, p, q, y))


def prp_key(graph: Graph) -> Conclusions:
    """Two members of a class that agree on all properties of a key."""
    for c, _, head in graph.match(None, term("owl:hasKey"), None):
        members = graph.subjects(TYPE, c)
        for key in graph.lists(head):
            if key:
                for x in members:
                    for y in members:
                        if all(_agree(graph, x, y, p) for p in key):
                            yield (x, SAME_AS, y)


def _agree(graph: Graph, x: Term, y: Term, p: Term) -> bool:
    return any(graph.holds((y, p, value)) for value in graph.objects(x, p))


def cls_int1(graph: Graph) -> Conclusions:
    """Members of all classes of an intersection."""
    for c, _, head in graph.match(None, term("owl:intersectionOf"), None):
        for classes in graph.lists(head):
            if classes:
                for y in graph.subjects(TYPE, classes[0]):
                    if all(graph.holds((y, TYPE, d)) for d in classes[1:]):
                        yield (y, TYPE, c)


def cls_int2(graph: Graph) -> Conclusions:
    """Members of an intersection, in each of its classes."""
    for c, _, head in graph.match(None, term("owl:intersectionOf"), None):
        for d in _members(graph, head):
            for y in graph.subjects(TYPE, c):
                yield (y, TYPE, d)


def cls_uni(graph: Graph) -> Conclusions:
    """Members of a class of a union."""
    for c, _, head in graph.match(None, term("owl:unionOf"), None):
        for d in _members(graph, head):
            for y in graph.subjects(TYPE, d):
                yield (y, TYPE, c)


def cls_oo(graph: Graph) -> Conclusions:
    """Members of an enumeration."""
    for c, _, head in graph.match(None, term("owl:oneOf"), None):
        for y in _members(graph, head):
            yield (y, TYPE, c)


def cax_adc(graph: Graph) -> Conclusions:
    """Classes that are pairwise disjoint share a member."""
    for node in graph.subjects(TYPE, term("owl:AllDisjointClasses")):
        for c, d in _pairs(graph, node, term("owl:members")):
            for x in graph.subjects(TYPE, c):
                if graph.holds((x, TYPE, d)):
                    yield Violation("cax-adc", (x, c, d))


def scm_int(graph: Graph) -> Conclusions:
    """An intersection is below each of its classes."""
    for c, _, head in graph.match(None, term("owl:intersectionOf"), None):
        for d in _members(graph, head):
            yield (c, term("rdfs:subClassOf"), d)


def scm_uni(graph: Graph) -> Conclusions:
    """Each class of a union is below it."""
    for c, _, head in graph.match(None, term("owl:unionOf"), None):
        for d in _members(graph, head):
            yield (d, term("rdfs:subClassOf"), c)


def _members(graph: Graph, head: Term) -> dict[Term, None]:
    return dict.fromkeys(one for reading in graph.lists(head) for one in reading)


LIST_RULES: dict[str, Callable[[Graph], Conclusions]] = {
    "eq-diff2": eq_diff2,
    "eq-diff3": eq_diff3,
    "prp-spo2": prp_spo2,
    "prp-adp": prp_adp,
    "prp-key": prp_key,
    "cls-int1": cls_int1,
    "cls-int2": cls_int2,
    "cls-uni": cls_uni,
    "cls-oo": cls_oo,
    "cax-adc": cax_adc,
    "scm-int": scm_int,
    "scm-uni": scm_uni,
}
LITERAL_RULES = ["dt-type2", "dt-eq", "dt-diff", "dt-not-type"]

ANNOTATION_PROPERTIES = terms(
    """rdfs:label rdfs:comment rdfs:seeAlso rdfs:isDefinedBy owl:deprecated owl:versionInfo
    owl:priorVersion owl:backwardCompatibleWith owl:incompatibleWith"""
)
AXIOMATIC: dict[str, list[Fact]] = {
    "prp-ap": [(p, TYPE, term("owl:AnnotationProperty")) for p in ANNOTATION_PROPERTIES],
    "cls-thing": triples("owl:Thing a owl:Class"),
    "cls-nothing1": triples("owl:Nothing a owl:Class"),
    "dt-type1": [(dt, TYPE, term("rdfs:Datatype")) for dt in OWL_RL_DATATYPES],
}
RULE_IDS = [r.name for r in PATTERNS] + list(LIST_RULES) + list(AXIOMATIC) + LITERAL_RULES


def differ(x: Term, y: Term) -> bool:
    """True for two literals of different values (dt-diff)."""
    a, b = identity(x), identity(y)
    return isinstance(a, tuple) and isinstance(b, tuple) and a != b
