"""The examples of table 8: datatypes and their literals."""

from __future__ import annotations

TABLE = {
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
}
