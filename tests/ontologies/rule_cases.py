"""One small example or more for each rule of OWL 2 RL/RDF, as data for whoever implements them.

`CASES` is the table. In each case, deleting any triple of the premise takes all conclusions away
(or the inconsistency), but for the triples of `spare`. What is said of a case is checked against
the oracle in `test_oracle.py`.

    >>> len({case.rule for case in CASES}), CASES[0].rule
    (78, 'eq-ref')
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from textwrap import dedent

from tests.ontologies.oracle import Fact, triples, turtle


@dataclass(frozen=True)
class RuleCase:
    """A premise and what the rule makes of it.

    rule          the id in the W3C tables
    premise       Turtle; blank nodes keep their labels
    concludes     triples that hold, and not without the rule; literals may stand anywhere
    absent        triples that do not hold
    inconsistent  True if the rule notices an inconsistency in the premise
    spare         triples of the premise that the conclusions do not need
    about         what is special in this case, if a rule has several
    """

    rule: str
    premise: str
    concludes: str = ""
    absent: str = ""
    inconsistent: bool = False
    spare: str = ""
    about: str = ""

    @property
    def name(self) -> str:
        return f"{self.rule} {self.about}".strip()

    @cached_property
    def facts(self) -> list[Fact]:
        return turtle(self.premise)  # once: the cells of a list are other nodes each time

    @property
    def conclusions(self) -> list[Fact]:
        return triples(self.concludes)

    @property
    def absences(self) -> list[Fact]:
        return triples(self.absent)

    @property
    def needed(self) -> list[Fact]:
        """The triples of the premise without which nothing is concluded."""
        spare = set(triples(self.spare))
        return [fact for fact in self.facts if fact not in spare]


def read_cases(table: dict[str, str]) -> list[RuleCase]:
    """The cases of a table: to each rule, blocks of lines; see `CASES`."""
    return [case for rule, text in table.items() for case in _cases(rule, text)]


def _cases(rule: str, text: str) -> list[RuleCase]:
    cases = []
    for block in dedent(text).strip().split("\n\n"):
        parts = {"about": "", "if": "", "then": "", "not": "", "spare": ""}
        word = "if"
        for line in block.splitlines():
            start, _, rest = line.partition(":")
            if start in parts:
                word, line = start, rest
            parts[word] += line + "\n"
        false = parts["then"].strip() == "inconsistent"
        cases.append(
            RuleCase(
                rule=rule,
                premise=parts["if"],
                concludes="" if false else parts["then"],
                absent=parts["not"],
                inconsistent=false,
                spare=parts["spare"],
                about=parts["about"].strip(),
            )
        )
    return cases


# Blocks: about (what is special), if (the premise, in Turtle), then (the conclusions, or the word
# inconsistent), not (what does not follow), spare (what of the premise does not matter).
_TABLE = {
    # ------------------------------------------------------------------ table 4: equality
    "eq-ref": """
        if: ex:a ex:p ex:b .
        then: ex:a owl:sameAs ex:a . ex:p owl:sameAs ex:p . ex:b owl:sameAs ex:b .
        not: ex:a owl:sameAs ex:b . ex:c owl:sameAs ex:c .

        about: of a literal
        if: ex:a ex:p "x" .
        then: "x" owl:sameAs "x" .
        """,
    "eq-sym": """
        if: ex:a owl:sameAs ex:b .
        then: ex:b owl:sameAs ex:a .
        not: ex:b owl:differentFrom ex:a .

        about: below another property
        if: ex:a ex:is ex:b . ex:is rdfs:subPropertyOf owl:sameAs .
        then: ex:b owl:sameAs ex:a .
        not: ex:b ex:is ex:c .
        """,
    "eq-trans": """
        if: ex:a owl:sameAs ex:b . ex:b owl:sameAs ex:c .
        then: ex:a owl:sameAs ex:c . ex:c owl:sameAs ex:a .
        not: ex:a owl:sameAs ex:d .

        about: round a circle
        if: ex:a owl:sameAs ex:b . ex:b owl:sameAs ex:c . ex:c owl:sameAs ex:a .
        then: ex:a owl:sameAs ex:c .
        spare: ex:a owl:sameAs ex:b . ex:b owl:sameAs ex:c . ex:c owl:sameAs ex:a .
        """,
    "eq-rep-s": """
        if: ex:a owl:sameAs ex:b . ex:a ex:p ex:c .
        then: ex:b ex:p ex:c .
        not: ex:c ex:p ex:b .

        about: of a class
        if: ex:C owl:sameAs ex:D . ex:C rdfs:subClassOf ex:E . ex:x a ex:D .
        then: ex:x a ex:E .
        not: ex:E rdfs:subClassOf ex:C .

        about: of the head of a list
        if: ex:C owl:intersectionOf ex:l . ex:l owl:sameAs ex:m . ex:m rdf:first ex:D ;
            rdf:rest rdf:nil . ex:x a ex:C .
        then: ex:x a ex:D .
        """,
    "eq-rep-p": """
        if: ex:p owl:sameAs ex:q . ex:a ex:p ex:b .
        then: ex:a ex:q ex:b .
        not: ex:b ex:q ex:a .

        about: of the type itself
        if: rdf:type owl:sameAs ex:isA . ex:C rdfs:subClassOf ex:D . ex:x ex:isA ex:C .
        then: ex:x a ex:D . ex:x ex:isA ex:D .
        not: ex:x a ex:E .
        """,
    "eq-rep-o": """
        if: ex:a owl:sameAs ex:b . ex:c ex:p ex:a .
        then: ex:c ex:p ex:b .
        not: ex:b ex:p ex:c .

        about: of a class
        if: ex:C owl:sameAs ex:D . ex:x a ex:C .
        then: ex:x a ex:D .

        about: of a member of a list
        if: ex:C owl:oneOf _:l . _:l rdf:first ex:a ; rdf:rest rdf:nil . ex:a owl:sameAs ex:b .
        then: ex:b a ex:C .
        """,
    "eq-diff1": """
        if: ex:a owl:sameAs ex:b ; owl:differentFrom ex:b .
        then: inconsistent

        about: the other way round
        if: ex:a owl:sameAs ex:b . ex:b owl:differentFrom ex:a .
        then: inconsistent

        about: different from itself
        if: ex:a owl:differentFrom ex:a .
        then: inconsistent
        """,
    "eq-diff2": """
        if: _:d a owl:AllDifferent ; owl:members _:l . _:l rdf:first ex:a ; rdf:rest _:m .
            _:m rdf:first ex:b ; rdf:rest _:n . _:n rdf:first ex:c ; rdf:rest rdf:nil .
            ex:a owl:sameAs ex:c .
        then: inconsistent
        """,
    "eq-diff3": """
        if: _:d a owl:AllDifferent ; owl:distinctMembers _:l . _:l rdf:first ex:a ; rdf:rest _:m .
            _:m rdf:first ex:b ; rdf:rest rdf:nil . ex:b owl:sameAs ex:a .
        then: inconsistent
        """,
    # ---------------------------------------------------------------- table 5: properties
    "prp-ap": """
        if:
        then: rdfs:label a owl:AnnotationProperty . owl:versionInfo a owl:AnnotationProperty .
              owl:deprecated a owl:AnnotationProperty .
        not: ex:p a owl:AnnotationProperty .
        """,
    "prp-dom": """
        if: ex:p rdfs:domain ex:C . ex:a ex:p ex:b .
        then: ex:a a ex:C .
        not: ex:b a ex:C .

        about: of the type
        if: rdf:type rdfs:domain ex:Typed . ex:a a ex:C .
        then: ex:a a ex:Typed .
        not: ex:C a ex:Typed .

        about: of a domain
        if: rdfs:domain rdfs:domain ex:Property . ex:p rdfs:domain ex:C .
        then: ex:p a ex:Property .
        not: ex:C a ex:Property .

        about: the domain is inferred
        if: ex:p ex:dom ex:C . ex:dom rdfs:subPropertyOf rdfs:domain . ex:a ex:p 1 .
        then: ex:a a ex:C .
        """,
    "prp-rng": """
        if: ex:p rdfs:range ex:C . ex:a ex:p ex:b .
        then: ex:b a ex:C .
        not: ex:a a ex:C .

        about: a literal
        if: ex:p rdfs:range ex:Name . ex:a ex:p "Bob" .
            ex:C owl:onProperty ex:p ; owl:someValuesFrom ex:Name .
        then: "Bob" a ex:Name . ex:a a ex:C .
        spare: ex:C owl:onProperty ex:p . ex:C owl:someValuesFrom ex:Name .
        """,
    "prp-fp": """
        if: ex:p a owl:FunctionalProperty . ex:a ex:p ex:b , ex:c .
        then: ex:b owl:sameAs ex:c . ex:c owl:sameAs ex:b .
        not: ex:a owl:sameAs ex:b .

        about: the property is declared by inference
        if: ex:p a ex:Single . ex:Single rdfs:subClassOf owl:FunctionalProperty .
            ex:a ex:p ex:b , ex:c .
        then: ex:b owl:sameAs ex:c .

        about: a literal and an individual
        if: ex:p a owl:FunctionalProperty . ex:a ex:p ex:b , 1 . ex:c ex:q "01"^^xsd:integer .
        then: ex:c ex:q ex:b .
        not: ex:a ex:q ex:b .
        """,
    "prp-ifp": """
        if: ex:p a owl:InverseFunctionalProperty . ex:b ex:p ex:a . ex:c ex:p ex:a .
        then: ex:b owl:sameAs ex:c . ex:c owl:sameAs ex:b .
        not: ex:a owl:sameAs ex:b .

        about: a literal in two forms
        if: ex:p a owl:InverseFunctionalProperty . ex:b ex:p 1 . ex:c ex:p "01"^^xsd:int .
        then: ex:b owl:sameAs ex:c .

        about: literals of different value
        if: ex:p a owl:InverseFunctionalProperty . ex:b ex:p 1 . ex:c ex:p 1e0 .
        not: ex:b owl:sameAs ex:c .
        """,
    "prp-irp": """
        if: ex:p a owl:IrreflexiveProperty . ex:a ex:p ex:a .
        then: inconsistent
        """,
    "prp-symp": """
        if: ex:p a owl:SymmetricProperty . ex:a ex:p ex:b .
        then: ex:b ex:p ex:a .
        not: ex:a ex:p ex:a . ex:b ex:p ex:b .
        """,
    "prp-asyp": """
        if: ex:p a owl:AsymmetricProperty . ex:a ex:p ex:b . ex:b ex:p ex:a .
        then: inconsistent

        about: of one with itself
        if: ex:p a owl:AsymmetricProperty . ex:a ex:p ex:a .
        then: inconsistent
        """,
    "prp-trp": """
        if: ex:p a owl:TransitiveProperty . ex:a ex:p ex:b . ex:b ex:p ex:c .
        then: ex:a ex:p ex:c .
        not: ex:c ex:p ex:a . ex:a ex:p ex:a .

        about: a class of properties
        if: ex:p a ex:Order . ex:Order rdfs:subClassOf owl:TransitiveProperty .
            ex:a ex:p ex:b . ex:b ex:p ex:c .
        then: ex:a ex:p ex:c .

        about: chain of four
        if: ex:p a owl:TransitiveProperty .
            ex:a ex:p ex:b . ex:b ex:p ex:c . ex:c ex:p ex:d . ex:d ex:p ex:e .
        then: ex:a ex:p ex:e .
        not: ex:e ex:p ex:a .
        """,
    "prp-spo1": """
        if: ex:p rdfs:subPropertyOf ex:q . ex:a ex:p ex:b .
        then: ex:a ex:q ex:b .
        not: ex:b ex:q ex:a .

        about: a super-property of the type
        if: rdf:type rdfs:subPropertyOf ex:isA . ex:a a ex:C .
        then: ex:a ex:isA ex:C .
        not: ex:C ex:isA ex:a .

        about: a sub-property of the type
        if: ex:isA rdfs:subPropertyOf rdf:type . ex:C rdfs:subClassOf ex:D . ex:a ex:isA ex:C .
        then: ex:a a ex:D .
        not: ex:a ex:isA ex:D .

        about: a super-property of a word of the schema
        if: ex:below rdfs:subPropertyOf rdfs:subClassOf . ex:C ex:below ex:D . ex:a a ex:C .
        then: ex:a a ex:D .
        not: ex:C ex:below ex:C .

        about: three levels and a literal
        if: ex:p rdfs:subPropertyOf ex:q . ex:q rdfs:subPropertyOf ex:r . ex:a ex:p "v"@en .
        then: ex:a ex:r "v"@en .
        """,
    "prp-spo2": """
        if: ex:p owl:propertyChainAxiom _:l . _:l rdf:first ex:q ; rdf:rest _:m .
            _:m rdf:first ex:r ; rdf:rest rdf:nil . ex:a ex:q ex:b . ex:b ex:r ex:c .
        then: ex:a ex:p ex:c .
        not: ex:a ex:p ex:b . ex:b ex:p ex:c . ex:c ex:p ex:a .

        about: of three, with itself
        if: ex:p owl:propertyChainAxiom _:l . _:l rdf:first ex:p ; rdf:rest _:m .
            _:m rdf:first ex:q ; rdf:rest _:n . _:n rdf:first ex:r ; rdf:rest rdf:nil .
            ex:a ex:p ex:b . ex:b ex:q ex:c . ex:c ex:r ex:d . ex:d ex:q ex:e . ex:e ex:r ex:f .
        then: ex:a ex:p ex:f .
        not: ex:a ex:p ex:e .

        about: of one
        if: ex:p owl:propertyChainAxiom _:l . _:l rdf:first ex:q ; rdf:rest rdf:nil .
            ex:a ex:q ex:b .
        then: ex:a ex:p ex:b .

        about: over two spellings of a value
        if: ex:p owl:propertyChainAxiom _:l . _:l rdf:first ex:q ; rdf:rest _:m .
            _:m rdf:first ex:r ; rdf:rest rdf:nil . ex:a ex:q 1 .
            ex:s owl:inverseOf ex:r . ex:c ex:s 1.0 .
        then: ex:a ex:p ex:c .
        not: ex:a ex:p 1 .
        """,
    "prp-eqp1": """
        if: ex:p owl:equivalentProperty ex:q . ex:a ex:p ex:b .
        then: ex:a ex:q ex:b .
        not: ex:b ex:q ex:a .
        """,
    "prp-eqp2": """
        if: ex:p owl:equivalentProperty ex:q . ex:a ex:q ex:b .
        then: ex:a ex:p ex:b .
        not: ex:b ex:p ex:a .
        """,
    "prp-pdw": """
        if: ex:p owl:propertyDisjointWith ex:q . ex:a ex:p ex:b ; ex:q ex:b .
        then: inconsistent

        about: values that are one
        if: ex:p owl:propertyDisjointWith ex:q . ex:a ex:p 1 ; ex:q 1.0 .
        then: inconsistent
        """,
    "prp-adp": """
        if: _:d a owl:AllDisjointProperties ; owl:members _:l . _:l rdf:first ex:p ; rdf:rest _:m .
            _:m rdf:first ex:q ; rdf:rest _:n . _:n rdf:first ex:r ; rdf:rest rdf:nil .
            ex:a ex:p ex:b ; ex:r ex:b .
        then: inconsistent
        """,
    "prp-inv1": """
        if: ex:p owl:inverseOf ex:q . ex:a ex:p ex:b .
        then: ex:b ex:q ex:a .
        not: ex:a ex:q ex:b . ex:b ex:p ex:a .
        """,
    "prp-inv2": """
        if: ex:p owl:inverseOf ex:q . ex:a ex:q ex:b .
        then: ex:b ex:p ex:a .
        not: ex:a ex:p ex:b . ex:b ex:q ex:a .

        about: of a literal and back
        if: ex:p owl:inverseOf ex:q . ex:r owl:inverseOf ex:q . ex:a ex:p "x" .
        then: "x" ex:q ex:a . ex:a ex:r "x" .
        spare: ex:r owl:inverseOf ex:q .
        """,
    "prp-key": """
        if: ex:C owl:hasKey _:l . _:l rdf:first ex:p ; rdf:rest _:m .
            _:m rdf:first ex:q ; rdf:rest rdf:nil .
            ex:a a ex:C ; ex:p ex:v ; ex:q 7 . ex:b a ex:C ; ex:p ex:v ; ex:q "07"^^xsd:byte .
        then: ex:a owl:sameAs ex:b . ex:b owl:sameAs ex:a .
        not: ex:a owl:sameAs ex:v .

        about: only in one property of two
        if: ex:C owl:hasKey ( ex:p ex:q ) .
            ex:a a ex:C ; ex:p ex:v ; ex:q 7 . ex:b a ex:C ; ex:p ex:v ; ex:q 8 .
        not: ex:a owl:sameAs ex:b .

        about: of members only
        if: ex:C owl:hasKey ( ex:p ) . ex:a a ex:C ; ex:p ex:v . ex:b ex:p ex:v .
        not: ex:a owl:sameAs ex:b .
        """,
    "prp-npa1": """
        if: _:n owl:sourceIndividual ex:a ; owl:assertionProperty ex:p ; owl:targetIndividual ex:b .
            ex:a ex:p ex:b .
        then: inconsistent
        """,
    "prp-npa2": """
        if: _:n owl:sourceIndividual ex:a ; owl:assertionProperty ex:p ; owl:targetValue 1 .
            ex:a ex:p "1"^^xsd:int .
        then: inconsistent
        """,
    # ------------------------------------------------------------------- table 6: classes
    "cls-thing": """
        if:
        then: owl:Thing a owl:Class .
        not: ex:C a owl:Class .
        """,
    "cls-nothing1": """
        if:
        then: owl:Nothing a owl:Class .
        not: ex:C a owl:Class .
        """,
    "cls-nothing2": """
        if: ex:a a owl:Nothing .
        then: inconsistent

        about: in a class below it
        if: ex:a a ex:Empty . ex:Empty rdfs:subClassOf owl:Nothing .
        then: inconsistent
        """,
    "cls-int1": """
        if: ex:C owl:intersectionOf _:l . _:l rdf:first ex:D ; rdf:rest _:m .
            _:m rdf:first ex:E ; rdf:rest rdf:nil . ex:a a ex:D , ex:E . ex:b a ex:D .
        then: ex:a a ex:C .
        not: ex:b a ex:C .
        spare: ex:b a ex:D .

        about: of one class
        if: ex:C owl:intersectionOf _:l . _:l rdf:first ex:D ; rdf:rest rdf:nil . ex:a a ex:D .
        then: ex:a a ex:C .

        about: a list without an end
        if: ex:C owl:intersectionOf _:l . _:l rdf:first ex:D . ex:a a ex:D .
        not: ex:a a ex:C .
        """,
    "cls-int2": """
        if: ex:C owl:intersectionOf _:l . _:l rdf:first ex:D ; rdf:rest _:m .
            _:m rdf:first ex:E ; rdf:rest rdf:nil . ex:a a ex:C .
        then: ex:a a ex:E .
        not: ex:a a ex:F .
        """,
    "cls-uni": """
        if: ex:C owl:unionOf _:l . _:l rdf:first ex:D ; rdf:rest _:m .
            _:m rdf:first ex:E ; rdf:rest rdf:nil . ex:a a ex:E .
        then: ex:a a ex:C .
        not: ex:a a ex:D .
        """,
    "cls-com": """
        if: ex:C owl:complementOf ex:D . ex:a a ex:C , ex:D .
        then: inconsistent
        """,
    "cls-svf1": """
        if: ex:C owl:someValuesFrom ex:D ; owl:onProperty ex:p . ex:a ex:p ex:b . ex:b a ex:D .
        then: ex:a a ex:C .
        not: ex:b a ex:C .

        about: through an axiom
        if: _:c owl:someValuesFrom ex:D ; owl:onProperty ex:p . _:c rdfs:subClassOf ex:E .
            ex:a ex:p ex:b . ex:b a ex:D .
        then: ex:a a ex:E .
        """,
    "cls-svf2": """
        if: ex:C owl:someValuesFrom owl:Thing ; owl:onProperty ex:p . ex:a ex:p ex:b .
        then: ex:a a ex:C .
        not: ex:b a ex:C .

        about: of a literal
        if: ex:C owl:someValuesFrom owl:Thing ; owl:onProperty ex:p . ex:a ex:p "x" .
        then: ex:a a ex:C .
        """,
    "cls-avf": """
        if: ex:C owl:allValuesFrom ex:D ; owl:onProperty ex:p . ex:a a ex:C ; ex:p ex:b .
            ex:c ex:p ex:d .
        then: ex:b a ex:D .
        not: ex:d a ex:D . ex:a a ex:D .
        spare: ex:c ex:p ex:d .
        """,
    "cls-hv1": """
        if: ex:C owl:hasValue ex:v ; owl:onProperty ex:p . ex:a a ex:C .
        then: ex:a ex:p ex:v .
        not: ex:v ex:p ex:a .

        about: of a literal
        if: ex:C owl:hasValue 5 ; owl:onProperty ex:p . ex:a a ex:C .
        then: ex:a ex:p 5 .
        not: ex:a ex:p 6 .
        """,
    "cls-hv2": """
        if: ex:C owl:hasValue ex:v ; owl:onProperty ex:p . ex:a ex:p ex:v . ex:b ex:p ex:w .
        then: ex:a a ex:C .
        not: ex:b a ex:C .
        spare: ex:b ex:p ex:w .

        about: of a literal in another form
        if: ex:C owl:hasValue 5 ; owl:onProperty ex:p . ex:a ex:p 5.0 . ex:b ex:p 5e0 .
        then: ex:a a ex:C .
        not: ex:b a ex:C .
        spare: ex:b ex:p 5e0 .
        """,
    "cls-maxc1": """
        if: ex:C owl:maxCardinality "0"^^xsd:nonNegativeInteger ; owl:onProperty ex:p .
            ex:a a ex:C ; ex:p ex:b .
        then: inconsistent

        about: the number as an integer
        if: ex:C owl:maxCardinality 0 ; owl:onProperty ex:p . ex:a a ex:C ; ex:p ex:b .
        then: inconsistent
        """,
    "cls-maxc2": """
        if: ex:C owl:maxCardinality "1"^^xsd:nonNegativeInteger ; owl:onProperty ex:p .
            ex:a a ex:C ; ex:p ex:b , ex:c . ex:d ex:p ex:e , ex:f .
        then: ex:b owl:sameAs ex:c .
        not: ex:e owl:sameAs ex:f .
        spare: ex:d ex:p ex:e . ex:d ex:p ex:f .
        """,
    "cls-maxqc1": """
        if: ex:C owl:maxQualifiedCardinality "0"^^xsd:nonNegativeInteger ; owl:onProperty ex:p ;
            owl:onClass ex:D . ex:a a ex:C ; ex:p ex:b . ex:b a ex:D .
        then: inconsistent
        """,
    "cls-maxqc2": """
        if: ex:C owl:maxQualifiedCardinality "0"^^xsd:nonNegativeInteger ; owl:onProperty ex:p ;
            owl:onClass owl:Thing . ex:a a ex:C ; ex:p ex:b .
        then: inconsistent
        """,
    "cls-maxqc3": """
        if: ex:C owl:maxQualifiedCardinality "1"^^xsd:nonNegativeInteger ; owl:onProperty ex:p ;
            owl:onClass ex:D . ex:a a ex:C ; ex:p ex:b , ex:c , ex:d . ex:b a ex:D . ex:c a ex:D .
        then: ex:b owl:sameAs ex:c .
        not: ex:b owl:sameAs ex:d .
        spare: ex:a ex:p ex:d .
        """,
    "cls-maxqc4": """
        if: ex:C owl:maxQualifiedCardinality "1"^^xsd:nonNegativeInteger ; owl:onProperty ex:p ;
            owl:onClass owl:Thing . ex:a a ex:C ; ex:p ex:b , ex:c .
        then: ex:b owl:sameAs ex:c .
        not: ex:a owl:sameAs ex:c .
        """,
    "cls-oo": """
        if: ex:C owl:oneOf _:l . _:l rdf:first ex:a ; rdf:rest _:m .
            _:m rdf:first ex:b ; rdf:rest rdf:nil .
        then: ex:b a ex:C .
        not: ex:c a ex:C .

        about: of literals
        if: ex:C owl:oneOf _:l . _:l rdf:first 1 ; rdf:rest rdf:nil .
            ex:D owl:someValuesFrom ex:C ; owl:onProperty ex:p . ex:a ex:p 1.0 . ex:b ex:p 2 .
        then: ex:a a ex:D .
        not: ex:b a ex:D .
        spare: ex:b ex:p 2 .
        """,
    # ------------------------------------------------------------- table 7: class axioms
    "cax-sco": """
        if: ex:C rdfs:subClassOf ex:D . ex:a a ex:C .
        then: ex:a a ex:D .
        not: ex:C a ex:D .

        about: three levels
        if: ex:C rdfs:subClassOf ex:D . ex:D rdfs:subClassOf ex:E . ex:a a ex:C .
        then: ex:a a ex:E .

        about: an axiom that rests on itself
        if: ex:C rdfs:subClassOf ex:D . ex:a a ex:C .
            ex:D rdfs:subClassOf ex:E . ex:E rdfs:subClassOf ex:D .
        then: ex:a a ex:E .
        not: ex:a a ex:F .
        spare: ex:E rdfs:subClassOf ex:D .

        about: of classes as individuals
        if: ex:C a ex:Species . ex:Species rdfs:subClassOf ex:Kind . ex:a a ex:C .
        then: ex:C a ex:Kind .
        not: ex:a a ex:Kind . ex:a a ex:Species .
        spare: ex:a a ex:C .
        """,
    "cax-eqc1": """
        if: ex:C owl:equivalentClass ex:D . ex:a a ex:C .
        then: ex:a a ex:D .
        not: ex:C a ex:D .
        """,
    "cax-eqc2": """
        if: ex:C owl:equivalentClass ex:D . ex:a a ex:D .
        then: ex:a a ex:C .
        not: ex:D a ex:C .
        """,
    "cax-dw": """
        if: ex:C owl:disjointWith ex:D . ex:a a ex:C , ex:D .
        then: inconsistent
        """,
    "cax-adc": """
        if: _:d a owl:AllDisjointClasses ; owl:members _:l . _:l rdf:first ex:C ; rdf:rest _:m .
            _:m rdf:first ex:D ; rdf:rest _:n . _:n rdf:first ex:E ; rdf:rest rdf:nil .
            ex:a a ex:C , ex:E .
        then: inconsistent
        """,
    # ---------------------------------------------------------------- table 8: datatypes
    "dt-type1": """
        if:
        then: xsd:integer a rdfs:Datatype . rdf:PlainLiteral a rdfs:Datatype .
              rdfs:Literal a rdfs:Datatype . xsd:dateTimeStamp a rdfs:Datatype .
        not: ex:d a rdfs:Datatype .
        """,
    "dt-type2": """
        if: ex:a ex:p "7"^^xsd:byte .
        then: "7"^^xsd:byte a xsd:byte . "7"^^xsd:byte a xsd:integer . "7"^^xsd:byte a xsd:decimal .
              "7"^^xsd:byte a xsd:unsignedInt . "7"^^xsd:byte a rdfs:Literal .
        not: "7"^^xsd:byte a xsd:string . "7"^^xsd:byte a xsd:double .
             "7"^^xsd:byte a xsd:nonPositiveInteger .

        about: a range of values
        if: ex:C owl:someValuesFrom xsd:nonNegativeInteger ; owl:onProperty ex:p .
            ex:a ex:p 7 . ex:b ex:p -7 . ex:c ex:p 7.0 . ex:d ex:p "7" .
        then: ex:a a ex:C .
        not: ex:b a ex:C . ex:d a ex:C .
        spare: ex:b ex:p -7 . ex:c ex:p 7.0 . ex:d ex:p "7" .

        about: a decimal that is an integer
        if: ex:C owl:someValuesFrom xsd:integer ; owl:onProperty ex:p . ex:a ex:p 7.0 .
            ex:b ex:p 7.5 .
        then: ex:a a ex:C .
        not: ex:b a ex:C .
        spare: ex:b ex:p 7.5 .

        about: text with a language
        if: ex:C owl:someValuesFrom rdf:PlainLiteral ; owl:onProperty ex:p . ex:a ex:p "x"@en .
        then: ex:a a ex:C .
        not: "x"@en a xsd:string .
        """,
    "dt-eq": """
        if: ex:a ex:p 1 . ex:b ex:p "01"^^xsd:int .
        then: 1 owl:sameAs "01"^^xsd:int . "01"^^xsd:int owl:sameAs 1 .
        not: 1 owl:sameAs 1e0 .
        spare: ex:a ex:p 1 . ex:b ex:p "01"^^xsd:int .

        about: joined in a rule
        if: ex:p a owl:InverseFunctionalProperty . ex:a ex:p "a"^^xsd:token . ex:b ex:p "a" .
            ex:c ex:p "a"@en .
        then: ex:a owl:sameAs ex:b .
        not: ex:a owl:sameAs ex:c .
        spare: ex:c ex:p "a"@en .

        about: the tag of a language in capitals
        if: ex:p a owl:InverseFunctionalProperty . ex:a ex:p "a"@en-GB . ex:b ex:p "a"@en-gb .
        then: ex:a owl:sameAs ex:b .
        """,
    "dt-diff": """
        if: ex:p a owl:FunctionalProperty . ex:a ex:p 1 , 2 .
        then: inconsistent

        about: number and text
        if: ex:p a owl:FunctionalProperty . ex:a ex:p 1 , "1" .
        then: inconsistent
        """,
    "dt-not-type": """
        if: ex:p rdfs:range xsd:integer . ex:a ex:p "x" .
        then: inconsistent

        about: out of range
        if: ex:p rdfs:range xsd:unsignedByte . ex:a ex:p 256 .
        then: inconsistent

        about: ill-typed
        if: ex:a ex:p "x"^^xsd:integer .
        then: inconsistent

        about: number and floating point
        if: ex:p rdfs:range xsd:decimal . ex:a ex:p 1e0 .
        then: inconsistent
        """,
    # -------------------------------------------------------- table 9: schema vocabulary
    "scm-cls": """
        if: ex:C a owl:Class .
        then: ex:C rdfs:subClassOf ex:C . ex:C owl:equivalentClass ex:C .
              ex:C rdfs:subClassOf owl:Thing . owl:Nothing rdfs:subClassOf ex:C .
        not: owl:Thing rdfs:subClassOf ex:C . ex:C rdfs:subClassOf owl:Nothing .
        """,
    "scm-sco": """
        if: ex:C rdfs:subClassOf ex:D . ex:D rdfs:subClassOf ex:E .
        then: ex:C rdfs:subClassOf ex:E .
        not: ex:E rdfs:subClassOf ex:C .
        """,
    "scm-eqc1": """
        if: ex:C owl:equivalentClass ex:D .
        then: ex:C rdfs:subClassOf ex:D . ex:D rdfs:subClassOf ex:C .
        not: ex:C rdfs:subClassOf ex:E .
        """,
    "scm-eqc2": """
        if: ex:C rdfs:subClassOf ex:D . ex:D rdfs:subClassOf ex:C .
        then: ex:C owl:equivalentClass ex:D . ex:D owl:equivalentClass ex:C .
        not: ex:C owl:sameAs ex:D .
        """,
    "scm-op": """
        if: ex:p a owl:ObjectProperty .
        then: ex:p rdfs:subPropertyOf ex:p . ex:p owl:equivalentProperty ex:p .
        not: ex:q rdfs:subPropertyOf ex:q .
        """,
    "scm-dp": """
        if: ex:p a owl:DatatypeProperty .
        then: ex:p rdfs:subPropertyOf ex:p . ex:p owl:equivalentProperty ex:p .
        not: ex:q rdfs:subPropertyOf ex:q .
        """,
    "scm-spo": """
        if: ex:p rdfs:subPropertyOf ex:q . ex:q rdfs:subPropertyOf ex:r .
        then: ex:p rdfs:subPropertyOf ex:r .
        not: ex:r rdfs:subPropertyOf ex:p .
        """,
    "scm-eqp1": """
        if: ex:p owl:equivalentProperty ex:q .
        then: ex:p rdfs:subPropertyOf ex:q . ex:q rdfs:subPropertyOf ex:p .
        not: ex:p rdfs:subPropertyOf ex:r .
        """,
    "scm-eqp2": """
        if: ex:p rdfs:subPropertyOf ex:q . ex:q rdfs:subPropertyOf ex:p .
        then: ex:p owl:equivalentProperty ex:q . ex:q owl:equivalentProperty ex:p .
        not: ex:p owl:sameAs ex:q .
        """,
    "scm-dom1": """
        if: ex:p rdfs:domain ex:C . ex:C rdfs:subClassOf ex:D .
        then: ex:p rdfs:domain ex:D .
        not: ex:p rdfs:range ex:D .
        """,
    "scm-dom2": """
        if: ex:q rdfs:domain ex:C . ex:p rdfs:subPropertyOf ex:q .
        then: ex:p rdfs:domain ex:C .
        not: ex:p rdfs:range ex:C .
        """,
    "scm-rng1": """
        if: ex:p rdfs:range ex:C . ex:C rdfs:subClassOf ex:D .
        then: ex:p rdfs:range ex:D .
        not: ex:p rdfs:domain ex:D .
        """,
    "scm-rng2": """
        if: ex:q rdfs:range ex:C . ex:p rdfs:subPropertyOf ex:q .
        then: ex:p rdfs:range ex:C .
        not: ex:p rdfs:domain ex:C .
        """,
    "scm-hv": """
        if: ex:C owl:hasValue ex:v ; owl:onProperty ex:p . ex:D owl:hasValue ex:v ;
            owl:onProperty ex:q . ex:p rdfs:subPropertyOf ex:q .
        then: ex:C rdfs:subClassOf ex:D .
        not: ex:D rdfs:subClassOf ex:C .
        """,
    "scm-svf1": """
        if: ex:C owl:someValuesFrom ex:E ; owl:onProperty ex:p . ex:D owl:someValuesFrom ex:F ;
            owl:onProperty ex:p . ex:E rdfs:subClassOf ex:F .
        then: ex:C rdfs:subClassOf ex:D .
        not: ex:D rdfs:subClassOf ex:C .
        """,
    "scm-svf2": """
        if: ex:C owl:someValuesFrom ex:E ; owl:onProperty ex:p . ex:D owl:someValuesFrom ex:E ;
            owl:onProperty ex:q . ex:p rdfs:subPropertyOf ex:q .
        then: ex:C rdfs:subClassOf ex:D .
        not: ex:D rdfs:subClassOf ex:C .
        """,
    "scm-avf1": """
        if: ex:C owl:allValuesFrom ex:E ; owl:onProperty ex:p . ex:D owl:allValuesFrom ex:F ;
            owl:onProperty ex:p . ex:E rdfs:subClassOf ex:F .
        then: ex:C rdfs:subClassOf ex:D .
        not: ex:D rdfs:subClassOf ex:C .
        """,
    "scm-avf2": """
        if: ex:C owl:allValuesFrom ex:E ; owl:onProperty ex:p . ex:D owl:allValuesFrom ex:E ;
            owl:onProperty ex:q . ex:p rdfs:subPropertyOf ex:q .
        then: ex:D rdfs:subClassOf ex:C .
        not: ex:C rdfs:subClassOf ex:D .
        """,
    "scm-int": """
        if: ex:C owl:intersectionOf _:l . _:l rdf:first ex:D ; rdf:rest _:m .
            _:m rdf:first ex:E ; rdf:rest rdf:nil .
        then: ex:C rdfs:subClassOf ex:E .
        not: ex:E rdfs:subClassOf ex:C .
        """,
    "scm-uni": """
        if: ex:C owl:unionOf _:l . _:l rdf:first ex:D ; rdf:rest _:m .
            _:m rdf:first ex:E ; rdf:rest rdf:nil .
        then: ex:E rdfs:subClassOf ex:C .
        not: ex:C rdfs:subClassOf ex:E .
        """,
}
CASES = read_cases(_TABLE)
