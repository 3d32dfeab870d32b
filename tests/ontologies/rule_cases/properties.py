"""The examples of table 5: axioms about properties."""

from __future__ import annotations

TABLE = {
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
}
