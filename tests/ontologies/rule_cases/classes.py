"""The examples of table 6: classes and their expressions."""

from __future__ import annotations

TABLE = {
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

        about: of a class with two enumerations, one of a literal
        if: ex:C owl:oneOf _:l , _:m . _:l rdf:first "x" ; rdf:rest rdf:nil .
            _:m rdf:first ex:b ; rdf:rest rdf:nil .
        then: ex:b a ex:C .
        spare: ex:C owl:oneOf _:l . _:l rdf:first "x" . _:l rdf:rest rdf:nil .

        about: of a class that is a union, too
        if: ex:C owl:unionOf _:l ; owl:oneOf _:m . _:l rdf:first ex:D ; rdf:rest rdf:nil .
            _:m rdf:first ex:b ; rdf:rest rdf:nil . ex:d a ex:D .
        then: ex:b a ex:C .
        not: ex:d a ex:E .
        spare: ex:C owl:unionOf _:l . _:l rdf:first ex:D . _:l rdf:rest rdf:nil . ex:d a ex:D .
        """,
}
