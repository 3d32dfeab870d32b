"""The examples of table 9: the vocabulary of schemas."""

from __future__ import annotations

TABLE = {
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
