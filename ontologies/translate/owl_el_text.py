"""The rules of the regime `owl-el`, in text: an ontology's axioms are data of a fixed program.

Start reading at `NORMAL_FORM`, then `SATURATION`. A *symbol* stands for a class expression: a named
class for itself, any other expression for a name that is made of its structure, so equal
expressions have one symbol, whatever else is in the ontology. `said` has the asserted axioms (see
`reasoning/program/asserted_axioms.py`). From these, `NORMAL_FORM` concludes rows of a few relations
(`told`, `some`, `and` ...). `SATURATION` closes them as in the literature on EL (the rules of CEL
and ELK); its result is `below`, which is transitive.

Relations are written as `name[...]`. With one or two columns they are properties whose name is a
literal, with more they are helpers: both are never shown (`translate/owl_el.py: rules_of`).

Two things keep the relations small. Only an expression itself has links to its fillers, since what
is below it gets the conclusions by transitivity. And an expression is a conclusion only if
something can follow from it (`needed`).
"""

from __future__ import annotations

SYMBOLS = """
used[?c] :- said[rdfs:subClassOf, ?c, ?d] .
used[?d] :- said[rdfs:subClassOf, ?c, ?d] .
used[?c] :- said[owl:equivalentClass, ?c, ?d] .
used[?d] :- said[owl:equivalentClass, ?c, ?d] .
used[?c] :- said[owl:disjointWith, ?c, ?d] .
used[?d] :- said[owl:disjointWith, ?c, ?d] .
used[?c] :- said[owl:someValuesFrom, ?n, ?c] .
used[?c] :- said[owl:allValuesFrom, ?n, ?c] .
used[?c] :- said[owl:onClass, ?n, ?c] .
used[?c] :- said[owl:complementOf, ?n, ?c] .
used[?n] :- said[owl:complementOf, ?n, ?c] .
used[?n] :- said[owl:intersectionOf, ?n, ?l] .
used[?n] :- said[owl:unionOf, ?n, ?l] .
used[?n] :- said[owl:disjointUnionOf, ?n, ?l] .
used[?n] :- said[owl:oneOf, ?n, ?l] .
used[?c] :- cell[?l], said[rdf:first, ?l, ?c] .
used[?c] :- said[rdfs:domain, ?r, ?c] .
used[?c] :- said[rdfs:range, ?r, ?c] .
used[?c] :- said[rdf:type, ?c, owl:Class] .
used[?c] :- said[rdf:type, ?c, rdfs:Class] .
cell[?l] :- said[owl:intersectionOf, ?n, ?l] .
cell[?l] :- said[owl:unionOf, ?n, ?l] .
cell[?l] :- said[owl:disjointUnionOf, ?n, ?l] .
cell[?l] :- said[owl:members, ?n, ?l], said[rdf:type, ?n, owl:AllDisjointClasses] .
cell[?t] :- cell[?l], said[rdf:rest, ?l, ?t] .
class[?c] :- used[?c], FILTER(ISIRI(?c) && !STRSTARTS(STR(?c), OWL)
    && !STRSTARTS(STR(?c), RDFS) && !STRSTARTS(STR(?c), RDF)) .
class[?c] :- used[?c], known[?c] .
known[owl:Thing] .
known[owl:Nothing] .
known[rdfs:Literal] .
known[rdf:langString] .
known[rdf:PlainLiteral] .
symbol[?c, ?c] :- class[?c] .
datatype[?d] :- used[?d], FILTER(ISIRI(?d) && STRSTARTS(STR(?d), XSD)) .
told[?d, ?e] :- narrower[?d, ?e], datatype[?d] .
narrower[xsd:integer, xsd:decimal] .
narrower[xsd:nonNegativeInteger, xsd:integer] .
narrower[xsd:positiveInteger, xsd:nonNegativeInteger] .
narrower[xsd:nonPositiveInteger, xsd:integer] .
narrower[xsd:negativeInteger, xsd:nonPositiveInteger] .
narrower[xsd:long, xsd:integer] .
narrower[xsd:int, xsd:long] .
narrower[xsd:short, xsd:int] .
narrower[xsd:byte, xsd:short] .
narrower[xsd:unsignedLong, xsd:nonNegativeInteger] .
narrower[xsd:unsignedInt, xsd:unsignedLong] .
narrower[xsd:unsignedShort, xsd:unsignedInt] .
narrower[xsd:unsignedByte, xsd:unsignedShort] .
narrower[xsd:normalizedString, xsd:string] .
narrower[xsd:token, xsd:normalizedString] .
narrower[xsd:dateTimeStamp, xsd:dateTime] .
"""
"""Names of classes are their own symbols."""

RESTRICTIONS = """
restricted[?n, ?r, ?k] :- said[owl:onProperty, ?n, ?r], said[owl:someValuesFrom, ?n, ?c],
    symbol[?c, ?k] .
restricted[?n, ?r, ?k] :- said[owl:onProperty, ?n, ?r], said[owl:hasValue, ?n, ?a],
    singleton[?a, ?k] .
restricted[?n, ?r, owl:Thing] :- said[owl:onProperty, ?n, ?r],
    said[owl:minCardinality, ?n, ?q], FILTER(?q = 1) .
restricted[?n, ?r, ?k] :- said[owl:onProperty, ?n, ?r],
    said[owl:minQualifiedCardinality, ?n, ?q], FILTER(?q = 1), filler[?n, ?k] .
counted[?n, ?r, owl:Thing] :- said[owl:onProperty, ?n, ?r],
    said[owl:minCardinality, ?n, ?q], FILTER(?q > 1) .
counted[?n, ?r, owl:Thing] :- said[owl:onProperty, ?n, ?r],
    said[owl:cardinality, ?n, ?q], FILTER(?q > 0) .
counted[?n, ?r, ?k] :- said[owl:onProperty, ?n, ?r],
    said[owl:minQualifiedCardinality, ?n, ?q], FILTER(?q > 1), filler[?n, ?k] .
counted[?n, ?r, ?k] :- said[owl:onProperty, ?n, ?r],
    said[owl:qualifiedCardinality, ?n, ?q], FILTER(?q > 0), filler[?n, ?k] .
filler[?n, ?k] :- said[owl:onClass, ?n, ?c], symbol[?c, ?k] .
filler[?n, ?c] :- said[owl:onDataRange, ?n, ?c], FILTER(ISIRI(?c)) .
made[?n, ?s, ?r, ?k] :- restricted[?n, ?r, ?k], BIND(SYMBOL("some", ?r, ?k) AS ?s) .
made[?n, ?s, ?r, ?k] :- counted[?n, ?r, ?k], BIND(SYMBOL("some", ?r, ?k) AS ?s) .
symbol[?n, ?s] :- restricted[?n, ?r, ?k], made[?n, ?s, ?r, ?k] .
some[?s, ?r, ?k] :- made[?n, ?s, ?r, ?k] .
symbol[?n, ?n] :- counted[?n, ?r, ?k] .
told[?n, ?s] :- counted[?n, ?r, ?k], made[?n, ?s, ?r, ?k] .
reflecting[?n, ?s, ?r] :- said[owl:onProperty, ?n, ?r], said[owl:hasSelf, ?n, ?v],
    FILTER(?v = true), BIND(SYMBOL("self", ?r, ?r) AS ?s) .
symbol[?n, ?s] :- reflecting[?n, ?s, ?r] .
self[?s, ?r] :- reflecting[?n, ?s, ?r] .
universal[?n, ?s, ?r, ?k] :- said[owl:onProperty, ?n, ?r], said[owl:allValuesFrom, ?n, ?c],
    symbol[?c, ?k], BIND(SYMBOL("all", ?r, ?k) AS ?s) .
symbol[?n, ?s] :- universal[?n, ?s, ?r, ?k] .
symbol[?n, ?n] :- said[owl:maxCardinality, ?n, ?q] .
symbol[?n, ?n] :- said[owl:maxQualifiedCardinality, ?n, ?q] .
symbol[?n, ?n] :- said[owl:cardinality, ?n, ?q], FILTER(?q < 1) .
symbol[?n, ?n] :- said[owl:qualifiedCardinality, ?n, ?q], FILTER(?q < 1) .
symbol[?n, ?n] :- said[owl:onDatatype, ?n, ?d] .
symbol[?n, ?n] :- said[owl:datatypeComplementOf, ?n, ?d] .
told[?n, ?d] :- said[owl:onDatatype, ?n, ?d] .
"""
"""Restrictions. What is outside of EL has a symbol of its own about which nothing is known."""

BOOLEANS = """
conjunction[?l, ?k] :- cell[?l], said[rdf:first, ?l, ?c], said[rdf:rest, ?l, rdf:nil],
    symbol[?c, ?k] .
joined[?l, ?s, ?a, ?b] :- cell[?l], said[rdf:first, ?l, ?c], symbol[?c, ?a],
    said[rdf:rest, ?l, ?t], conjunction[?t, ?b], BIND(SYMBOL("and", ?a, ?b) AS ?s) .
conjunction[?l, ?s] :- joined[?l, ?s, ?a, ?b] .
described[?n, ?k] :- said[owl:intersectionOf, ?n, ?l], conjunction[?l, ?k] .
and[?s, ?a, ?b] :- joined[?l, ?s, ?a, ?b] .
option[?l] :- said[owl:unionOf, ?n, ?l] .
option[?l] :- said[owl:disjointUnionOf, ?n, ?l] .
option[?t] :- option[?l], said[rdf:rest, ?l, ?t] .
disjunction[?l, ?k] :- option[?l], said[rdf:first, ?l, ?c], said[rdf:rest, ?l, rdf:nil],
    symbol[?c, ?k] .
parted[?l, ?s, ?a, ?b] :- option[?l], said[rdf:first, ?l, ?c], symbol[?c, ?a],
    said[rdf:rest, ?l, ?t], disjunction[?t, ?b], BIND(SYMBOL("or", ?a, ?b) AS ?s) .
disjunction[?l, ?s] :- parted[?l, ?s, ?a, ?b] .
described[?n, ?k] :- said[owl:unionOf, ?n, ?l], disjunction[?l, ?k] .
described[?n, ?k] :- said[owl:disjointUnionOf, ?n, ?l], disjunction[?l, ?k] .
told[?a, ?s], told[?b, ?s] :- parted[?l, ?s, ?a, ?b] .
complement[?n, ?s, ?k] :- said[owl:complementOf, ?n, ?c], symbol[?c, ?k],
    BIND(SYMBOL("not", ?k, ?k) AS ?s) .
described[?n, ?s] :- complement[?n, ?s, ?k] .
apart[?s, ?k] :- complement[?n, ?s, ?k] .
choice[?l] :- said[owl:oneOf, ?n, ?l] .
choice[?t] :- choice[?l], said[rdf:rest, ?l, ?t] .
chosen[?l, ?k] :- choice[?l], said[rdf:first, ?l, ?a], said[rdf:rest, ?l, rdf:nil],
    singleton[?a, ?k] .
picked[?l, ?s, ?a, ?b] :- choice[?l], said[rdf:first, ?l, ?c], singleton[?c, ?a],
    said[rdf:rest, ?l, ?t], chosen[?t, ?b], BIND(SYMBOL("or", ?a, ?b) AS ?s) .
chosen[?l, ?s] :- picked[?l, ?s, ?a, ?b] .
told[?a, ?s], told[?b, ?s] :- picked[?l, ?s, ?a, ?b] .
described[?n, ?k] :- said[owl:oneOf, ?n, ?l], chosen[?l, ?k] .
symbol[?n, ?k] :- described[?n, ?k], FILTER(ISBLANK(?n)) .
told[?n, ?k], told[?k, ?n] :- described[?n, ?k], FILTER(ISIRI(?n)) .
"""
"""Intersections as chains of binary ones; unions, enumerations and complements as far as something
is sound to say: members are below a union, and nothing is in a class and in its complement."""

AXIOMS = """
rule "subClassOf" told[?x, ?y] :- said[rdfs:subClassOf, ?c, ?d], symbol[?c, ?x], symbol[?d, ?y] .
rule "equivalentClass" told[?x, ?y], told[?y, ?x] :- said[owl:equivalentClass, ?c, ?d],
    symbol[?c, ?x], symbol[?d, ?y] .
rule "disjointWith" apart[?x, ?y] :- said[owl:disjointWith, ?c, ?d], symbol[?c, ?x],
    symbol[?d, ?y] .
exclusive[?l] :- said[owl:members, ?n, ?l], said[rdf:type, ?n, owl:AllDisjointClasses] .
exclusive[?l] :- said[owl:disjointUnionOf, ?n, ?l] .
later[?l, ?t] :- exclusive[?l], said[rdf:rest, ?l, ?t] .
exclusive[?t] :- exclusive[?l], said[rdf:rest, ?l, ?t] .
later[?l, ?u] :- later[?l, ?t], said[rdf:rest, ?t, ?u] .
rule "members" apart[?x, ?y] :- later[?l, ?m], said[rdf:first, ?l, ?c], symbol[?c, ?x],
    said[rdf:first, ?m, ?d], symbol[?d, ?y], FILTER(!SAMETERM(?x, ?y)) .
rule "domain" domain[?r, ?k] :- said[rdfs:domain, ?s, ?c], symbol[?c, ?k], role[?r, ?s] .
rule "range" range[?r, ?k] :- said[rdfs:range, ?s, ?c], symbol[?c, ?k], role[?r, ?s] .
told[?s, ?a], told[?s, ?b] :- and[?s, ?a, ?b] .
conflict[owl:Nothing, ?x, ?y] :- apart[?x, ?y] .
"""

ROLES = """
property[?r] :- some[?s, ?r, ?b] .
property[?r] :- self[?s, ?r] .
property[?r] :- said[rdfs:domain, ?r, ?c] .
property[?r] :- said[rdfs:range, ?r, ?c] .
property[?r] :- said[rdf:type, ?r, owl:ReflexiveProperty] .
property[?r] :- transitive[?r] .
property[?r], property[?s] :- wider[?r, ?s] .
property[?r], property[?s], property[?t] :- chain[?r, ?s, ?t] .
rule "subPropertyOf" wider[?r, ?s] :- said[rdfs:subPropertyOf, ?r, ?s] .
rule "equivalentProperty" wider[?r, ?s], wider[?s, ?r] :- said[owl:equivalentProperty, ?r, ?s] .
rule "propertyChainAxiom" chain[?r, ?s, ?t] :- said[owl:propertyChainAxiom, ?t, ?l],
    said[rdf:first, ?l, ?r], said[rdf:rest, ?l, ?m], said[rdf:first, ?m, ?s],
    said[rdf:rest, ?m, rdf:nil] .
wider[?r, ?t] :- said[owl:propertyChainAxiom, ?t, ?l], said[rdf:first, ?l, ?r],
    said[rdf:rest, ?l, rdf:nil] .
suffix[?m] :- said[owl:propertyChainAxiom, ?t, ?l], said[rdf:rest, ?l, ?m],
    said[rdf:rest, ?m, ?n], said[rdf:first, ?n, ?r] .
suffix[?n] :- suffix[?m], said[rdf:rest, ?m, ?n], said[rdf:rest, ?n, ?o],
    said[rdf:first, ?o, ?r] .
composed[?m, ?s] :- suffix[?m], BIND(SYMBOL("chain", ?m, ?m) AS ?s) .
rule "propertyChainAxiom" chain[?r, ?s, ?t] :- said[owl:propertyChainAxiom, ?t, ?l],
    said[rdf:first, ?l, ?r], said[rdf:rest, ?l, ?m], composed[?m, ?s] .
chain[?r, ?s, ?t] :- composed[?m, ?t], said[rdf:first, ?m, ?r], said[rdf:rest, ?m, ?n],
    composed[?n, ?s] .
chain[?r, ?s, ?t] :- composed[?m, ?t], said[rdf:first, ?m, ?r], said[rdf:rest, ?m, ?n],
    said[rdf:first, ?n, ?s], said[rdf:rest, ?n, rdf:nil] .
rule "TransitiveProperty" transitive[?r] :- said[rdf:type, ?r, owl:TransitiveProperty] .
role[?r, ?r] :- property[?r] .
role[?r, ?s] :- wider[?r, ?s] .
rule "subPropertyOf" role[?r, ?t] :- role[?r, ?s], role[?s, ?t] .
reflexive[?r] :- said[rdf:type, ?r, owl:ReflexiveProperty] .
reflexive[?s] :- reflexive[?r], role[?r, ?s] .
reflexive[?t] :- chain[?r, ?s, ?t], reflexive[?r], reflexive[?s] .
role[?s, ?t] :- chain[?r, ?s, ?t], reflexive[?r] .
role[?r, ?t] :- chain[?r, ?s, ?t], reflexive[?s] .
"""

NEEDS = """
needed[?x] :- told[?x, ?y] .
needed[?a], needed[?b] :- conflict[?k, ?a, ?b] .
conflict[?s, ?a, ?b] :- needed[?s], and[?s, ?a, ?b] .
asked[?s, ?r, ?b] :- needed[?s], some[?s, ?r, ?b] .
needed[?b] :- asked[?s, ?r, ?b] .
wanted[?m, ?r, ?c] :- asked[?m, ?s, ?c], role[?r, ?s] .
composes[?a, ?b, ?t] :- chain[?r, ?s, ?t], role[?a, ?r], role[?b, ?s], useful[?t] .
repeats[?a, ?b, ?t] :- transitive[?t], role[?a, ?t], role[?b, ?t], useful[?t] .
useful[?r] :- wanted[?m, ?r, ?c] .
useful[?r] :- domain[?r, ?c] .
useful[?a], useful[?b] :- composes[?a, ?b, ?t] .
useful[?a], useful[?b] :- repeats[?a, ?b, ?t] .
ends[?s, ?r, ?b] :- some[?s, ?r, ?b] .
narrowed[?s, ?f, ?r, ?b] :- some[?s, ?r, ?b], range[?r, ?k], BIND(SYMBOL("range", ?r, ?b) AS ?f) .
told[?f, ?b], ends[?s, ?r, ?f] :- narrowed[?s, ?f, ?r, ?b] .
rule "range" told[?f, ?k] :- narrowed[?s, ?f, ?r, ?b], range[?r, ?k] .
step[?s, ?r, ?b] :- ends[?s, ?r, ?b], useful[?r] .
linked[?s] :- step[?s, ?r, ?b] .
target[?b] :- step[?s, ?r, ?b] .
end[?c] :- asked[?m, ?r, ?c] .
right[?b] :- conflict[?k, ?a, ?b] .
toend[?c, ?c] :- end[?c] .
tolink[?m, ?m] :- linked[?m] .
toright[?b, ?b] :- right[?b] .
any[?x] :- symbol[?n, ?x] .
any[?f] :- narrowed[?s, ?f, ?r, ?b] .
any[?s] :- some[?s, ?r, ?b] .
any[?s] :- and[?s, ?a, ?b] .
"""
"""What saturation needs: nothing here depends on what is below what."""

NORMAL_FORM = SYMBOLS + RESTRICTIONS + BOOLEANS + AXIOMS + ROLES + NEEDS

SATURATION = """
below[?x, ?y] :- told[?x, ?y], FILTER(!SAMETERM(?x, ?y)) .
rule "transitive" below[?x, ?z] :- below[?x, ?y], below[?y, ?z], FILTER(!SAMETERM(?x, ?z)) .
toend[?x, ?c] :- below[?x, ?c], end[?c], target[?x] .
tolink[?x, ?m] :- below[?x, ?m], linked[?m], target[?x] .
toright[?x, ?m] :- below[?x, ?m], right[?m] .
rule "intersection" below[?x, ?k] :- below[?x, ?a], toright[?x, ?b], conflict[?k, ?a, ?b],
    FILTER(!SAMETERM(?x, ?k)) .
rule "intersection" below[?a, ?k] :- toright[?a, ?b], conflict[?k, ?a, ?b],
    FILTER(!SAMETERM(?a, ?k)) .
rule "exists" below[?n, ?m] :- path[?n, ?r, ?b], toend[?b, ?c], wanted[?m, ?r, ?c],
    FILTER(!SAMETERM(?n, ?m)) .
rule "exists" below[?n, ?m] :- path[?n, ?r, ?b], wanted[?m, ?r, owl:Thing],
    FILTER(!SAMETERM(?n, ?m)) .
rule "domain" below[?n, ?k] :- path[?n, ?r, ?b], domain[?r, ?k], FILTER(!SAMETERM(?n, ?k)) .
rule "bottom" below[?n, owl:Nothing] :- ends[?n, ?r, ?b], below[?b, owl:Nothing] .
rule "bottom" below[?n, owl:Nothing] :- ends[?n, ?r, owl:Nothing] .
onward[?b, ?s, ?c] :- target[?b], tolink[?b, ?m], path[?m, ?s, ?c] .
path[?n, ?r, ?b] :- step[?n, ?r, ?b] .
rule "transitive property" path[?n, ?t, ?c] :- step[?n, ?r, ?b], onward[?b, ?s, ?c],
    repeats[?r, ?s, ?t] .
rule "chain" step[?n, ?t, ?c] :- path[?n, ?r, ?b], onward[?b, ?s, ?c], composes[?r, ?s, ?t] .
rule "reflexive" below[?x, ?m] :- below[?x, ?c], wanted[?m, ?r, ?c], reflexive[?r],
    FILTER(!SAMETERM(?x, ?m)) .
rule "reflexive" below[?c, ?m] :- wanted[?m, ?r, ?c], reflexive[?r], FILTER(!SAMETERM(?c, ?m)) .
rule "reflexive" told[owl:Thing, ?m] :- wanted[?m, ?r, owl:Thing], reflexive[?r] .
rule "reflexive" told[owl:Thing, ?m] :- self[?m, ?r], reflexive[?r] .
rule "reflexive" told[owl:Thing, ?c] :- range[?r, ?c], reflexive[?r] .
rule "reflexive" told[owl:Thing, ?c] :- domain[?r, ?c], reflexive[?r] .
tells[?x, ?r] :- below[?x, ?s], self[?s, ?t], role[?t, ?r] .
tells[?s, ?r] :- self[?s, ?t], role[?t, ?r] .
rule "self" below[?x, ?m] :- tells[?x, ?r], self[?m, ?r], FILTER(!SAMETERM(?x, ?m)) .
rule "self" below[?x, ?c] :- tells[?x, ?r], range[?r, ?c], FILTER(!SAMETERM(?x, ?c)) .
rule "self" step[?x, ?r, ?x], linked[?x], target[?x], tolink[?x, ?x] :- tells[?x, ?r] .
rule "everything" below[?x, ?y] :- below[owl:Thing, ?y], any[?x], FILTER(!SAMETERM(?x, ?y)) .
rule "everything" below[?y, owl:Thing] :- below[owl:Thing, ?y] .
rule "everything" below[?b, ?k] :- conflict[?k, owl:Thing, ?b], FILTER(!SAMETERM(?b, ?k)) .
rule "everything" below[?b, ?k] :- conflict[?k, ?b, owl:Thing], FILTER(!SAMETERM(?b, ?k)) .
"""

INDIVIDUALS = """
one[?a] :- said[owl:hasValue, ?n, ?a] .
one[?a] :- choice[?l], said[rdf:first, ?l, ?a] .
one[?a], one[?b] :- said[owl:sameAs, ?a, ?b] .
one[?a], one[?b] :- said[owl:differentFrom, ?a, ?b] .
one[?a] :- differing[?l], said[rdf:first, ?l, ?a] .
one[?a] :- said[owl:sourceIndividual, ?n, ?a] .
one[?a] :- said[owl:targetIndividual, ?n, ?a] .
one[?a] :- said[owl:targetValue, ?n, ?a] .
one[?a] :- said[rdf:type, ?a, owl:NamedIndividual] .
singleton[?a, ?k] :- one[?a], BIND(SYMBOL("one", ?a, ?a) AS ?k) .
rule "sameAs" told[?x, ?y], told[?y, ?x] :- said[owl:sameAs, ?a, ?b], singleton[?a, ?x],
    singleton[?b, ?y] .
rule "differentFrom" conflict[owl:Nothing, ?x, ?y] :- said[owl:differentFrom, ?a, ?b],
    singleton[?a, ?x], singleton[?b, ?y] .
differing[?l] :- said[rdf:type, ?n, owl:AllDifferent], said[owl:members, ?n, ?l] .
differing[?l] :- said[rdf:type, ?n, owl:AllDifferent], said[owl:distinctMembers, ?n, ?l] .
after[?l, ?t] :- differing[?l], said[rdf:rest, ?l, ?t] .
differing[?t] :- differing[?l], said[rdf:rest, ?l, ?t] .
after[?l, ?u] :- after[?l, ?t], said[rdf:rest, ?t, ?u] .
rule "AllDifferent" conflict[owl:Nothing, ?x, ?y] :- after[?l, ?m], said[rdf:first, ?l, ?a],
    singleton[?a, ?x], said[rdf:first, ?m, ?b], singleton[?b, ?y], FILTER(!SAMETERM(?x, ?y)) .
denied[?n, ?s, ?r, ?k] :- said[owl:assertionProperty, ?n, ?r],
    said[owl:targetIndividual, ?n, ?b], singleton[?b, ?k], BIND(SYMBOL("some", ?r, ?k) AS ?s) .
denied[?n, ?s, ?r, ?k] :- said[owl:assertionProperty, ?n, ?r], said[owl:targetValue, ?n, ?b],
    singleton[?b, ?k], BIND(SYMBOL("some", ?r, ?k) AS ?s) .
some[?s, ?r, ?k] :- denied[?n, ?s, ?r, ?k] .
rule "NegativePropertyAssertion" conflict[owl:Nothing, ?x, ?s] :-
    said[owl:sourceIndividual, ?n, ?a], singleton[?a, ?x], denied[?n, ?s, ?r, ?k] .
nominal[?a, ?k] :- singleton[?a, ?k] .
single[?k], any[?k] :- nominal[?a, ?k] .
rule "type" below[?k, ?d] :- nominal[?a, ?k], datatype[?d], FILTER(ISLITERAL(?a)),
    FILTER(WITHIN(?a, ?d)) .
typed[?a, ?k] :- rdf:type[?a, ?c], symbol[?c, ?k] .
nominal[?a, ?k] :- typed[?a, ?c], BIND(SYMBOL("one", ?a, ?a) AS ?k) .
rule "type" below[?x, ?k] :- typed[?a, ?k], nominal[?a, ?x] .
rule "sameAs" below[?y, ?x] :- below[?x, ?y], single[?x], single[?y] .
"""
"""Individuals as classes of one member, beside classes of the same name."""

CONCLUSIONS = """
rule "subClassOf" rdfs:subClassOf[?x, ?y] :- below[?x, ?y], class[?x], class[?y],
    FILTER(!SAMETERM(?x, owl:Nothing) && !SAMETERM(?y, owl:Thing)) .
rule "equivalentClass" owl:equivalentClass[?x, ?y] :- below[?x, ?y], below[?y, ?x],
    class[?x], class[?y] .
rule "bottom" rdfs:subClassOf[?x, owl:Nothing], owl:equivalentClass[?x, owl:Nothing] :-
    below[?x, owl:Nothing], class[?x] .
rule "type" rdf:type[?a, ?c] :- nominal[?a, ?k], below[?k, ?c], class[?c],
    FILTER(!ISLITERAL(?a) && !SAMETERM(?c, owl:Thing)) .
constraint "el-unsatisfiable" "the class cannot have a member" :- below[?x, owl:Nothing], class[?x],
    FILTER(!SAMETERM(?x, owl:Nothing)) .
rule "bottom" impossible[?a] :- nominal[?a, ?k], below[?k, owl:Nothing] .
constraint "el-inconsistent" "the individual cannot exist" :- impossible[?a] .
constraint "el-inconsistent-top" "nothing can exist" :- below[owl:Thing, owl:Nothing] .
"""
"""What users see."""

ASSERTION = """
typed[?a, owl:Thing], typed[?b, owl:Thing] :- useful[ROLE], ROLE[?a, ?b] .
typed[?b, owl:Thing] :- range[ROLE, ?c], ROLE[?a, ?b] .
typed[?a, owl:Thing], typed[?b, owl:Thing] :- below[owl:Thing, ?c], ROLE[?a, ?b] .
rule "assertion" step[?x, ROLE, ?y], linked[?x], target[?y], tolink[?x, ?x], ends[?x, ROLE, ?y] :-
    useful[ROLE], ROLE[?a, ?b], nominal[?a, ?x], nominal[?b, ?y] .
rule "range" below[?y, ?c] :- range[ROLE, ?c], ROLE[?a, ?b], nominal[?b, ?y],
    FILTER(!SAMETERM(?y, ?c)) .
"""
"""What is asserted with one property of the data."""

FROM_OTHERS = """
rule "subClassOf" below[?x, ?y] :- rdfs:subClassOf[?x, ?y], class[?x], class[?y],
    FILTER(!SAMETERM(?x, ?y)) .
rule "sameAs" below[?x, ?y] :- owl:sameAs[?a, ?b], nominal[?a, ?x], nominal[?b, ?y],
    FILTER(!SAMETERM(?x, ?y)) .
"""
"""What other rules conclude, if there are any."""
