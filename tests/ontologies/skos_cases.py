"""Examples for the statements of SKOS and SKOS-XL, in the form of `rule_cases`."""

from __future__ import annotations

from tests.ontologies.rule_cases import read_cases

_TABLE = {
    "S4": "if: ex:c skos:inScheme ex:s .\nthen: ex:s a skos:ConceptScheme .",
    "S5": "if: ex:s skos:hasTopConcept ex:c .\nthen: ex:s a skos:ConceptScheme .",
    "S6": "if: ex:s skos:hasTopConcept ex:c .\nthen: ex:c a skos:Concept .",
    "S7": "if: ex:c skos:topConceptOf ex:s .\nthen: ex:c skos:inScheme ex:s .",
    "S8": """
        if: ex:c skos:topConceptOf ex:s .
        then: ex:s skos:hasTopConcept ex:c .

        about: the other way
        if: ex:s skos:hasTopConcept ex:c .
        then: ex:c skos:topConceptOf ex:s ; skos:inScheme ex:s .
        """.replace(" ; skos:inScheme", " . ex:c skos:inScheme"),
    "S9": "if: ex:x a skos:Concept , skos:ConceptScheme .\nthen: inconsistent",
    "S11": """
        if: ex:c skos:prefLabel "a"@en .
        then: ex:c rdfs:label "a"@en .
        not: ex:c skos:altLabel "a"@en .

        about: hidden
        if: ex:c skos:hiddenLabel "a" .
        then: ex:c rdfs:label "a" .
        """,
    "S13": """
        if: ex:c skos:prefLabel "a"@en ; skos:altLabel "a"@en .
        then: inconsistent

        about: alternative and hidden
        if: ex:c skos:hiddenLabel "a" ; skos:altLabel "a" .
        then: inconsistent

        about: in two languages
        if: ex:c skos:prefLabel "a"@en ; skos:altLabel "a"@de .
        not: ex:c skos:prefLabel "a"@de .
        """,
    "S14": """
        if: ex:c skos:prefLabel "a"@en , "b"@en .
        then: inconsistent

        about: without a language
        if: ex:c skos:prefLabel "a" , "b" .
        then: inconsistent

        about: in two languages
        if: ex:c skos:prefLabel "a"@en , "a"@en-GB , "b"@de , "b" .
        not: ex:c skos:altLabel "a"@en .
        """,
    "S17": """
        if: ex:c skos:definition "a"@en .
        then: ex:c skos:note "a"@en .
        not: ex:c skos:scopeNote "a"@en .
        """,
    "S19": "if: ex:a skos:semanticRelation ex:b .\nthen: ex:a a skos:Concept .",
    "S20": "if: ex:a skos:semanticRelation ex:b .\nthen: ex:b a skos:Concept .",
    "S21": """
        if: ex:a skos:related ex:b .
        then: ex:a skos:semanticRelation ex:b . ex:a a skos:Concept .
        not: ex:a skos:broader ex:b .
        """,
    "S22": """
        if: ex:a skos:broader ex:b .
        then: ex:a skos:broaderTransitive ex:b .
        not: ex:b skos:broader ex:a .

        about: a property of one's own below
        if: ex:a ex:broaderGeneric ex:b . ex:broaderGeneric rdfs:subPropertyOf skos:broader .
        then: ex:a skos:broaderTransitive ex:b . ex:b skos:narrower ex:a .
        not: ex:b ex:broaderGeneric ex:a .
        """,
    "S23": "if: ex:a skos:related ex:b .\nthen: ex:b skos:related ex:a .",
    "S24": """
        if: ex:a skos:broader ex:b . ex:b skos:broader ex:c .
        then: ex:a skos:broaderTransitive ex:c . ex:c skos:narrowerTransitive ex:a .
        not: ex:a skos:broader ex:c . ex:c skos:narrower ex:a .
        """,
    "S25": """
        if: ex:a skos:broader ex:b .
        then: ex:b skos:narrower ex:a .

        about: the other way
        if: ex:a skos:narrower ex:b .
        then: ex:b skos:broader ex:a .
        """,
    "S26": "if: ex:a skos:broaderTransitive ex:b .\nthen: ex:b skos:narrowerTransitive ex:a .",
    "S27": """
        if: ex:a skos:related ex:b ; skos:broader ex:b .
        then: inconsistent

        about: over two steps
        if: ex:a skos:broader ex:b . ex:b skos:broader ex:c . ex:c skos:related ex:a .
        then: inconsistent
        """,
    "S29": "if: ex:x a skos:OrderedCollection .\nthen: ex:x a skos:Collection .",
    "S31": "if: ex:x skos:member ex:c .\nthen: ex:x a skos:Collection .",
    "S33": "if: ex:x skos:memberList ex:l .\nthen: ex:x a skos:OrderedCollection .",
    "S34": "if: ex:x skos:memberList ex:l .\nthen: ex:l a rdf:List .",
    "S36": """
        if: ex:x skos:memberList _:l . _:l rdf:first ex:a ; rdf:rest _:m .
            _:m rdf:first ex:b ; rdf:rest rdf:nil .
        then: ex:x skos:member ex:b .
        not: ex:x skos:member ex:c . ex:x skos:member _:l .
        """,
    "S37": """
        if: ex:x a skos:Collection , skos:Concept .
        then: inconsistent

        about: collections in semantic relations
        if: ex:x skos:member ex:c . ex:x skos:broader ex:d .
        then: inconsistent
        """,
    "S39": "if: ex:a skos:mappingRelation ex:b .\nthen: ex:a skos:semanticRelation ex:b .",
    "S40": "if: ex:a skos:closeMatch ex:b .\nthen: ex:a skos:mappingRelation ex:b .",
    "S41": """
        if: ex:a skos:broadMatch ex:b .
        then: ex:a skos:broader ex:b . ex:a skos:broaderTransitive ex:b .

        about: related
        if: ex:a skos:relatedMatch ex:b .
        then: ex:b skos:related ex:a .
        """,
    "S42": """
        if: ex:a skos:exactMatch ex:b .
        then: ex:a skos:closeMatch ex:b .
        not: ex:a owl:sameAs ex:b .
        """,
    "S43": "if: ex:a skos:broadMatch ex:b .\nthen: ex:b skos:narrowMatch ex:a .",
    "S44": """
        if: ex:a skos:exactMatch ex:b .
        then: ex:b skos:exactMatch ex:a .

        about: close, which is not transitive
        if: ex:a skos:closeMatch ex:b . ex:b skos:closeMatch ex:c .
        then: ex:b skos:closeMatch ex:a .
        not: ex:a skos:closeMatch ex:c .
        spare: ex:b skos:closeMatch ex:c .
        """,
    "S45": """
        if: ex:a skos:exactMatch ex:b . ex:b skos:exactMatch ex:c .
        then: ex:a skos:exactMatch ex:c .
        not: ex:a owl:sameAs ex:c .
        """,
    "S46": """
        if: ex:a skos:exactMatch ex:b ; skos:broadMatch ex:b .
        then: inconsistent

        about: related the other way
        if: ex:a skos:exactMatch ex:b . ex:b skos:relatedMatch ex:a .
        then: inconsistent
        """,
    "S48": "if: ex:x a skosxl:Label , skos:Concept .\nthen: inconsistent",
    "S50": 'if: ex:l skosxl:literalForm "a" .\nthen: ex:l a skosxl:Label .',
    "S52": 'if: ex:l skosxl:literalForm "a"@en , "b"@en .\nthen: inconsistent',
    "S54": "if: ex:c skosxl:altLabel ex:l .\nthen: ex:l a skosxl:Label .",
    "S55": """
        if: ex:c skosxl:prefLabel ex:l . ex:l skosxl:literalForm "a"@en .
        then: ex:c skos:prefLabel "a"@en . ex:c rdfs:label "a"@en .
        not: ex:c skos:altLabel "a"@en .
        """,
    "S56": """
        if: ex:c skosxl:altLabel ex:l . ex:l skosxl:literalForm "a"@en .
        then: ex:c skos:altLabel "a"@en .
        """,
    "S57": """
        if: ex:c skosxl:hiddenLabel ex:l . ex:l skosxl:literalForm "a"@en .
        then: ex:c skos:hiddenLabel "a"@en .
        """,
    "S58": "if: ex:c skosxl:prefLabel ex:l ; skosxl:altLabel ex:l .\nthen: inconsistent",
    "S60": "if: ex:k skosxl:labelRelation ex:l .\nthen: ex:k a skosxl:Label .",
    "S61": "if: ex:k skosxl:labelRelation ex:l .\nthen: ex:l a skosxl:Label .",
    "S62": "if: ex:k skosxl:labelRelation ex:l .\nthen: ex:l skosxl:labelRelation ex:k .",
}
CASES = read_cases(_TABLE)
