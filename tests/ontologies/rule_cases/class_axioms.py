"""The examples of table 7: axioms about classes."""

from __future__ import annotations

TABLE = {
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
}
