"""Rules of the W3C that the oracle has as functions, in the words of its tables, and notes."""

from __future__ import annotations

LIST_RULES = {
    "eq-diff2": "?x a owl:AllDifferent . ?x owl:members (?z1 ... ?zn) . ?zi owl:sameAs ?zj ⇒ false",
    "eq-diff3": "?x a owl:AllDifferent . ?x owl:distinctMembers (?z1 ... ?zn) . ?zi owl:sameAs ?zj "
    "⇒ false",
    "prp-ap": "true ⇒ ?p a owl:AnnotationProperty, for each built-in annotation property",
    "prp-spo2": "?p owl:propertyChainAxiom (?p1 ... ?pn) . ?u1 ?p1 ?u2 ... ?un ?pn ?un+1 "
    "⇒ ?u1 ?p ?un+1",
    "prp-adp": "?x a owl:AllDisjointProperties . ?x owl:members (?p1 ... ?pn) . ?u ?pi ?v . "
    "?u ?pj ?v ⇒ false",
    "prp-key": "?c owl:hasKey (?p1 ... ?pn) . ?x a ?c . ?y a ?c . ?x ?pi ?zi . ?y ?pi ?zi "
    "⇒ ?x owl:sameAs ?y",
    "cls-thing": "true ⇒ owl:Thing a owl:Class",
    "cls-nothing1": "true ⇒ owl:Nothing a owl:Class",
    "cls-int1": "?c owl:intersectionOf (?c1 ... ?cn) . ?y a ?c1 ... ?y a ?cn ⇒ ?y a ?c",
    "cls-int2": "?c owl:intersectionOf (?c1 ... ?cn) . ?y a ?c ⇒ ?y a ?c1 ... ?y a ?cn",
    "cls-uni": "?c owl:unionOf (?c1 ... ?cn) . ?y a ?ci ⇒ ?y a ?c",
    "cls-oo": "?c owl:oneOf (?y1 ... ?yn) ⇒ ?y1 a ?c ... ?yn a ?c",
    "cax-adc": "?x a owl:AllDisjointClasses . ?x owl:members (?c1 ... ?cn) . ?z a ?ci . ?z a ?cj "
    "⇒ false",
    "scm-int": "?c owl:intersectionOf (?c1 ... ?cn) ⇒ ?c rdfs:subClassOf ?c1 ... ?cn",
    "scm-uni": "?c owl:unionOf (?c1 ... ?cn) ⇒ ?c1 ... ?cn rdfs:subClassOf ?c",
    "dt-type1": "true ⇒ ?d a rdfs:Datatype, for each datatype of OWL 2 RL",
    "dt-type2": "the value of the literal ?l is in the datatype ?d ⇒ ?l a ?d",
    "dt-eq": "two literals with the same value ⇒ ?l1 owl:sameAs ?l2",
    "dt-diff": "two literals with different values ⇒ ?l1 owl:differentFrom ?l2",
    "dt-not-type": "?l a ?d, and the value of the literal ?l is not in ?d ⇒ false",
}

NOTES = {
    "dt-type2": "A type of a literal is not an RDF triple and not listed. Where a rule asks for "
    "a datatype, its body has a filter on the value.",
    "dt-eq": "Literals are compared by value: where an axiom compares values, rules are made "
    "twice, for the same term and for other spellings of the value.",
    "dt-diff": "A constraint compares the values of literals that are the same.",
    "dt-not-type": "The store says which literals are ill-typed.",
}

SKOS_LISTS = {
    "S14": "?x skos:prefLabel ?one . ?x skos:prefLabel ?other, of one language ⇒ false",
    "S36": "?x skos:memberList (?c1 ... ?cn) ⇒ ?x skos:member ?c1 ... ?cn",
    "S52": "?x skosxl:literalForm ?one . ?x skosxl:literalForm ?other, of different value ⇒ false",
}
