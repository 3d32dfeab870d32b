"""The examples of table 4: equality."""

from __future__ import annotations

TABLE = {
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
}
