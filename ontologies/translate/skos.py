"""SKOS and SKOS-XL: their axioms, rules and integrity conditions, by the ids of their statements.

Start reading at `AXIOMS`, which is data. A statement of the SKOS reference that is an axiom of OWL
is one here, so that properties of users below those of SKOS fit in: a sub-property of skos:broader
gives skos:broaderTransitive. skos:broader is not transitive, and skos:exactMatch is not
owl:sameAs. The others are rules (S36) and constraints, in text.
"""

from __future__ import annotations

from functools import cache

from pyoxigraph import NamedNode

from triplestore.datalog.program import Program
from triplestore.ontologies.model.expressions import Triple
from triplestore.ontologies.translate.schema_rules import vocabulary_rules
from triplestore.terms import vocabulary as iri

XL = "http://www.w3.org/2008/05/skos-xl#"

_PREFIXES = {
    "rdf": iri.RDF,
    "rdfs": iri.RDFS,
    "owl": iri.OWL,
    "skos": iri.SKOS,
    "xl": XL,
}

_STATEMENTS = """
S1   skos:Concept a owl:Class
S2   skos:ConceptScheme a owl:Class
S3   skos:inScheme a owl:ObjectProperty ; skos:hasTopConcept a owl:ObjectProperty
S3   skos:topConceptOf a owl:ObjectProperty
S4   skos:inScheme rdfs:range skos:ConceptScheme
S5   skos:hasTopConcept rdfs:domain skos:ConceptScheme
S6   skos:hasTopConcept rdfs:range skos:Concept
S7   skos:topConceptOf rdfs:subPropertyOf skos:inScheme
S8   skos:topConceptOf owl:inverseOf skos:hasTopConcept
S10  skos:altLabel a owl:AnnotationProperty ; skos:hiddenLabel a owl:AnnotationProperty
S10  skos:prefLabel a owl:AnnotationProperty
S11  skos:altLabel rdfs:subPropertyOf rdfs:label ; skos:hiddenLabel rdfs:subPropertyOf rdfs:label
S11  skos:prefLabel rdfs:subPropertyOf rdfs:label
S15  skos:notation a owl:DatatypeProperty
S16  skos:changeNote a owl:AnnotationProperty ; skos:definition a owl:AnnotationProperty
S16  skos:editorialNote a owl:AnnotationProperty ; skos:example a owl:AnnotationProperty
S16  skos:historyNote a owl:AnnotationProperty ; skos:note a owl:AnnotationProperty
S16  skos:scopeNote a owl:AnnotationProperty
S17  skos:changeNote rdfs:subPropertyOf skos:note ; skos:definition rdfs:subPropertyOf skos:note
S17  skos:editorialNote rdfs:subPropertyOf skos:note ; skos:example rdfs:subPropertyOf skos:note
S17  skos:historyNote rdfs:subPropertyOf skos:note ; skos:scopeNote rdfs:subPropertyOf skos:note
S18  skos:semanticRelation a owl:ObjectProperty ; skos:broader a owl:ObjectProperty
S18  skos:narrower a owl:ObjectProperty ; skos:related a owl:ObjectProperty
S18  skos:broaderTransitive a owl:ObjectProperty ; skos:narrowerTransitive a owl:ObjectProperty
S19  skos:semanticRelation rdfs:domain skos:Concept
S20  skos:semanticRelation rdfs:range skos:Concept
S21  skos:broaderTransitive rdfs:subPropertyOf skos:semanticRelation
S21  skos:narrowerTransitive rdfs:subPropertyOf skos:semanticRelation
S21  skos:related rdfs:subPropertyOf skos:semanticRelation
S22  skos:broader rdfs:subPropertyOf skos:broaderTransitive
S22  skos:narrower rdfs:subPropertyOf skos:narrowerTransitive
S23  skos:related a owl:SymmetricProperty
S24  skos:broaderTransitive a owl:TransitiveProperty
S24  skos:narrowerTransitive a owl:TransitiveProperty
S25  skos:narrower owl:inverseOf skos:broader
S26  skos:narrowerTransitive owl:inverseOf skos:broaderTransitive
S28  skos:Collection a owl:Class ; skos:OrderedCollection a owl:Class
S29  skos:OrderedCollection rdfs:subClassOf skos:Collection
S30  skos:member a owl:ObjectProperty ; skos:memberList a owl:ObjectProperty
S31  skos:member rdfs:domain skos:Collection
S33  skos:memberList rdfs:domain skos:OrderedCollection
S34  skos:memberList rdfs:range rdf:List
S35  skos:memberList a owl:FunctionalProperty
S38  skos:mappingRelation a owl:ObjectProperty ; skos:closeMatch a owl:ObjectProperty
S38  skos:exactMatch a owl:ObjectProperty ; skos:broadMatch a owl:ObjectProperty
S38  skos:narrowMatch a owl:ObjectProperty ; skos:relatedMatch a owl:ObjectProperty
S39  skos:mappingRelation rdfs:subPropertyOf skos:semanticRelation
S40  skos:closeMatch rdfs:subPropertyOf skos:mappingRelation
S40  skos:broadMatch rdfs:subPropertyOf skos:mappingRelation
S40  skos:narrowMatch rdfs:subPropertyOf skos:mappingRelation
S40  skos:relatedMatch rdfs:subPropertyOf skos:mappingRelation
S41  skos:broadMatch rdfs:subPropertyOf skos:broader
S41  skos:narrowMatch rdfs:subPropertyOf skos:narrower
S41  skos:relatedMatch rdfs:subPropertyOf skos:related
S42  skos:exactMatch rdfs:subPropertyOf skos:closeMatch
S43  skos:narrowMatch owl:inverseOf skos:broadMatch
S44  skos:relatedMatch a owl:SymmetricProperty ; skos:closeMatch a owl:SymmetricProperty
S44  skos:exactMatch a owl:SymmetricProperty
S45  skos:exactMatch a owl:TransitiveProperty
S47  xl:Label a owl:Class
S49  xl:literalForm a owl:DatatypeProperty
S50  xl:literalForm rdfs:domain xl:Label
S53  xl:prefLabel a owl:ObjectProperty ; xl:altLabel a owl:ObjectProperty
S53  xl:hiddenLabel a owl:ObjectProperty
S54  xl:prefLabel rdfs:range xl:Label ; xl:altLabel rdfs:range xl:Label
S54  xl:hiddenLabel rdfs:range xl:Label
S59  xl:labelRelation a owl:ObjectProperty
S60  xl:labelRelation rdfs:domain xl:Label
S61  xl:labelRelation rdfs:range xl:Label
S62  xl:labelRelation a owl:SymmetricProperty
"""


def _axioms() -> tuple[tuple[str, Triple], ...]:
    found = []
    for line in _STATEMENTS.strip().splitlines():
        name, _, text = line.partition(" ")
        for part in text.split(";"):
            s, p, o = part.split()
            found.append((name, (_node(s), _node("rdf:type" if p == "a" else p), _node(o))))
    return tuple(found)


def _node(name: str) -> NamedNode:
    prefix, _, local = name.partition(":")
    return NamedNode(_PREFIXES[prefix] + local)


AXIOMS = _axioms()
"""The statements that are axioms of OWL, each a triple with the id of its statement."""

_RULES = f"""
@prefix skosxl: <{XL}> .
rule "S36" <x-triplestore:skos/list>[?l, ?l, ?l] :- rdf:rest[?l, rdf:nil], rdf:first[?l, ?x] .
rule "S36" <x-triplestore:skos/list>[?l, ?l, ?l] :-
    <x-triplestore:skos/list>[?m, ?m, ?m], rdf:rest[?l, ?m], rdf:first[?l, ?x] .
rule "S36" <x-triplestore:skos/rest>[?c, ?c, ?l] :-
    skos:memberList[?c, ?l], <x-triplestore:skos/list>[?l, ?l, ?l] .
rule "S36" <x-triplestore:skos/rest>[?c, ?c, ?m] :-
    <x-triplestore:skos/rest>[?c, ?c, ?l], rdf:rest[?l, ?m], <x-triplestore:skos/list>[?m, ?m, ?m] .
rule "S36" skos:member[?c, ?x] :- <x-triplestore:skos/rest>[?c, ?c, ?l], rdf:first[?l, ?x] .
rule "S55" skos:prefLabel[?x, ?text] :- skosxl:prefLabel[?x, ?l], skosxl:literalForm[?l, ?text] .
rule "S56" skos:altLabel[?x, ?text] :- skosxl:altLabel[?x, ?l], skosxl:literalForm[?l, ?text] .
rule "S57" skos:hiddenLabel[?x, ?text] :-
    skosxl:hiddenLabel[?x, ?l], skosxl:literalForm[?l, ?text] .

constraint "S9" "a concept and a concept scheme" :- skos:Concept[?x], skos:ConceptScheme[?x] .
constraint "S13" "a preferred and an alternative label" :-
    skos:prefLabel[?x, ?l], skos:altLabel[?x, ?l] .
constraint "S13" "a preferred and a hidden label" :-
    skos:prefLabel[?x, ?l], skos:hiddenLabel[?x, ?l] .
constraint "S13" "an alternative and a hidden label" :-
    skos:altLabel[?x, ?l], skos:hiddenLabel[?x, ?l] .
constraint "S14" "two preferred labels in one language" :- skos:prefLabel[?x, ?l],
    skos:prefLabel[?x, ?m], FILTER(LANG(?l) = LANG(?m) && STR(?l) < STR(?m)) .
constraint "S27" "related and broader, perhaps in several steps" :-
    skos:related[?x, ?y], skos:broaderTransitive[?x, ?y] .
constraint "S37" "a collection and a concept" :- skos:Collection[?x], skos:Concept[?x] .
constraint "S37" "a collection and a concept scheme" :-
    skos:Collection[?x], skos:ConceptScheme[?x] .
constraint "S46" "an exact and a broad match" :- skos:exactMatch[?x, ?y], skos:broadMatch[?x, ?y] .
constraint "S46" "an exact and a related match" :-
    skos:exactMatch[?x, ?y], skos:relatedMatch[?x, ?y] .
constraint "S48" "a label and a concept" :- skosxl:Label[?x], skos:Concept[?x] .
constraint "S48" "a label and a concept scheme" :- skosxl:Label[?x], skos:ConceptScheme[?x] .
constraint "S48" "a label and a collection" :- skosxl:Label[?x], skos:Collection[?x] .
constraint "S58" "a preferred and an alternative label" :-
    skosxl:prefLabel[?x, ?l], skosxl:altLabel[?x, ?l] .
constraint "S58" "a preferred and a hidden label" :-
    skosxl:prefLabel[?x, ?l], skosxl:hiddenLabel[?x, ?l] .
constraint "S58" "an alternative and a hidden label" :-
    skosxl:altLabel[?x, ?l], skosxl:hiddenLabel[?x, ?l] .
constraint "S52" "a label with two literal forms" :- skosxl:literalForm[?x, ?l],
    skosxl:literalForm[?x, ?m], FILTER(STR(?l) < STR(?m) || LANG(?l) < LANG(?m)) .
"""


@cache
def rules() -> Program:
    """The statements that are not axioms of OWL.

    >>> sorted({constraint.id for constraint in rules().constraints})[:3]
    ['S13', 'S14', 'S27']
    """
    return vocabulary_rules(_RULES)
