"""A small store with all that the pages show: rules, constraints, equals, concepts, odd terms."""

from __future__ import annotations

from triplestore import Store

NAMESPACE = "http://village.example/"
DATA = f"""@prefix : <{NAMESPACE}> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
:Animal a owl:Class ; rdfs:label "animal"@en .
:Dog a owl:Class ; rdfs:subClassOf :Animal ; rdfs:label "dog"@en .
:Puppy a owl:Class ; rdfs:subClassOf :Dog ; rdfs:label "puppy"@en .
:Cat a owl:Class ; rdfs:subClassOf :Animal ; rdfs:label "cat"@en .
:parentOf a owl:ObjectProperty ; rdfs:subPropertyOf :ancestorOf ; rdfs:label "is a parent of"@en .
:ancestorOf a owl:ObjectProperty, owl:TransitiveProperty ; rdfs:label "is an ancestor of"@en .
:livesWith a owl:ObjectProperty ; rdfs:label "lives with"@en .
:rex a :Dog ; rdfs:label "Rex"@en ; :parentOf :bello .
:bello a :Dog ; rdfs:label "Bello"@en ; :parentOf :waldi ; :livesWith :mimi .
:waldi a :Puppy ; rdfs:label "Waldi"@en ; rdfs:comment "The youngest of them."@en ;
    owl:sameAs :wally .
:mimi a :Cat ; rdfs:label "Mimi"@en .
:tom a :Cat ; rdfs:label "<img src=x onerror=alert(1)>"@en ; :home <javascript:alert(1)> ;
    :says "<b>bold</b><script>alert(1)</script>" .
:pets a skos:ConceptScheme ; skos:prefLabel "Pets"@en .
:mammals a skos:Concept ; skos:inScheme :pets ; skos:topConceptOf :pets ;
    skos:prefLabel "mammals"@en .
:canines a skos:Concept ; skos:inScheme :pets ; skos:broader :mammals ;
    skos:prefLabel "canines"@en .
"""
RULES = f"""@prefix : <{NAMESPACE}> .
rule "friend" :FriendOfCats[?x] :- :Dog[?x], :livesWith[?x, ?y], :Cat[?y] .
constraint "name" "is owned, but has no name" :- :ownedBy[?x, ?y], NOT :named[?x, ?z] .
"""
MANY = 300
"""Members of one class, and subclasses of one class, so that lists have more than one page."""


def village() -> Store:
    """The village under OWL 2 RL and two rules of its own."""
    store = Store()
    sheep = "".join(f":sheep{n} a :Sheep .\n" for n in range(MANY))
    kinds = "".join(f":Kind{n:04} rdfs:subClassOf :Kind .\n" for n in range(4 * MANY))
    store.load(DATA + sheep + kinds, "ttl")
    store.load(f"<{NAMESPACE}rex> <{NAMESPACE}ownedBy> <{NAMESPACE}ann> .", "ttl")
    store.reason("owl-rl", rules=RULES)
    return store


def term(name: str) -> str:
    """A term of the village, as in N-Triples."""
    return f"<{NAMESPACE}{name}>"
