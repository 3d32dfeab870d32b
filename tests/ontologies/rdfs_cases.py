"""Examples for the RDFS entailment rules, in the form of `rule_cases`."""

from __future__ import annotations

from tests.ontologies.rule_cases import read_cases

_TABLE = {
    "rdf1": """
        if: ex:a ex:p ex:b .
        then: ex:p a rdf:Property .
        not: ex:a a rdf:Property .
        """,
    "rdfs1": """
        if:
        then: xsd:string a rdfs:Datatype . rdf:langString a rdfs:Datatype .
        not: ex:d a rdfs:Datatype .
        """,
    "rdfs2": """
        if: ex:p rdfs:domain ex:C . ex:a ex:p ex:b .
        then: ex:a a ex:C .
        not: ex:b a ex:C .
        """,
    "rdfs3": """
        if: ex:p rdfs:range ex:C . ex:a ex:p ex:b .
        then: ex:b a ex:C .
        not: ex:a a ex:C .
        """,
    "rdfs4a": """
        if: ex:a ex:p ex:b .
        then: ex:a a rdfs:Resource .
        not: ex:c a rdfs:Resource .
        """,
    "rdfs4b": """
        if: ex:a ex:p ex:b .
        then: ex:b a rdfs:Resource .
        not: ex:c a rdfs:Resource .
        """,
    "rdfs5": """
        if: ex:p rdfs:subPropertyOf ex:q . ex:q rdfs:subPropertyOf ex:r .
        then: ex:p rdfs:subPropertyOf ex:r .
        not: ex:r rdfs:subPropertyOf ex:p .
        """,
    "rdfs6": """
        if: ex:p a rdf:Property .
        then: ex:p rdfs:subPropertyOf ex:p .
        not: ex:p rdfs:subPropertyOf ex:q .
        """,
    "rdfs7": """
        if: ex:p rdfs:subPropertyOf ex:q . ex:a ex:p ex:b .
        then: ex:a ex:q ex:b .
        not: ex:b ex:q ex:a .
        """,
    "rdfs8": """
        if: ex:C a rdfs:Class .
        then: ex:C rdfs:subClassOf rdfs:Resource .
        not: rdfs:Resource rdfs:subClassOf ex:C .
        """,
    "rdfs9": """
        if: ex:C rdfs:subClassOf ex:D . ex:a a ex:C .
        then: ex:a a ex:D .
        not: ex:C a ex:D .
        """,
    "rdfs10": """
        if: ex:C a rdfs:Class .
        then: ex:C rdfs:subClassOf ex:C .
        not: ex:C rdfs:subClassOf ex:D .
        """,
    "rdfs11": """
        if: ex:C rdfs:subClassOf ex:D . ex:D rdfs:subClassOf ex:E .
        then: ex:C rdfs:subClassOf ex:E .
        not: ex:E rdfs:subClassOf ex:C .
        """,
    "rdfs12": """
        if: ex:p a rdfs:ContainerMembershipProperty . ex:a ex:p ex:b .
        then: ex:p rdfs:subPropertyOf rdfs:member . ex:a rdfs:member ex:b .
        spare: ex:a ex:p ex:b .
        not: ex:b rdfs:member ex:a .

        about: of a container
        if: ex:a rdf:_7 ex:b .
        then: ex:a rdfs:member ex:b .
        not: ex:b rdfs:member ex:a .
        """,
    "rdfs13": """
        if: ex:d a rdfs:Datatype .
        then: ex:d rdfs:subClassOf rdfs:Literal .
        not: rdfs:Literal rdfs:subClassOf ex:d .
        """,
}
CASES = read_cases(_TABLE)
