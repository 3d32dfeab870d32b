"""A small ontology in which what is a disease of an organ follows from parts and sites."""

from __future__ import annotations

from triplestore import Store

MEDICINE = """
@prefix : <http://e/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Heart a owl:Class ; rdfs:subClassOf :Organ .
:Endocardium rdfs:subClassOf :Tissue ,
    [ a owl:Restriction ; owl:onProperty :partOf ; owl:someValuesFrom :Heart ] .
:Endocarditis rdfs:subClassOf :Inflammation ,
    [ a owl:Restriction ; owl:onProperty :hasLocation ; owl:someValuesFrom :Endocardium ] .
:Inflammation rdfs:subClassOf :Disease .
:HeartDisease owl:equivalentClass [ a owl:Class ; owl:intersectionOf ( :Disease
    [ a owl:Restriction ; owl:onProperty :hasLocation ; owl:someValuesFrom :Heart ] ) ] .
:CardiacDisease owl:equivalentClass :HeartDisease .
:hasLocation owl:propertyChainAxiom ( :hasLocation :partOf ) .
:Tissue owl:disjointWith :Disease .
:case1 a :Endocarditis .
"""

NONSENSE = """
@prefix : <http://e/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Nonsense rdfs:subClassOf :Tissue , :Inflammation .
"""


def medicine(*more: str) -> Store:
    """A store with the ontology under `owl-el`."""
    store = Store()
    for text in (MEDICINE, *more):
        store.load(text, "ttl")
    store.reason("owl-el")
    return store
