"""Programs as tutorials of other systems have them, in our syntax, over small data.

What should follow was found by hand, from what each tutorial says of its program. Each is closed,
loses all its facts one by one and gets them back: at the end, and at the start, the same follows.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from triplestore import Store

PREFIXES = """@prefix : <http://e/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
"""


class Published(NamedTuple):
    """Data in Turtle, rules, and what follows in Turtle."""

    data: str
    rules: str
    follows: str


PROGRAMS = {
    # transitive and composed relations, property paths as rules
    "family": Published(
        ":ann :parent :bob . :bob :parent :cid . :bob :brother :dan . :cid a :Male .",
        """[?x, :ancestor, ?y] :- [?x, :parent, ?y] .
        [?x, :ancestor, ?z] :- [?x, :ancestor, ?y], [?y, :ancestor, ?z] .
        [?x, :uncle, ?z] :- [?x, :parent, ?y], [?y, :brother, ?z] .
        [?y, :father, ?x], :Father[?x] :- [?x, a, :Male], [?y, :parent, ?x] .
        :related[?x, ?y], :related[?y, ?x] :- :ancestor[?x, ?y] .""",
        """:ann :ancestor :bob, :cid ; :uncle :dan ; :related :bob, :cid .
        :bob :ancestor :cid ; :father :cid ; :related :ann, :cid .
        :cid a :Father ; :related :ann, :bob .""",
    ),
    # calculations, and aggregates per department; one without employees has none
    "salaries": Published(
        """:x :in :d ; :salary 10 . :y :in :d ; :salary 15 . :z :in :e ; :salary 7.5 .
        :d a :Dept . :e a :Dept . :f a :Dept .""",
        """[?d, :average, ?a] :- [?d, rdf:type, :Dept],
            AGGREGATE([?x, :in, ?d], [?x, :salary, ?s] ON ?d BIND AVG(?s) AS ?a) .
        [?d, :size, ?n] :- AGGREGATE([?x, :in, ?d] ON ?d BIND COUNT(DISTINCT ?x) AS ?n) .
        [?d, :size, 0] :- [?d, a, :Dept], NOT EXISTS ?x IN [?x, :in, ?d] .
        [?x, :above, ?d] :- [?x, :in, ?d], [?x, :salary, ?s], [?d, :average, ?a], FILTER(?s > ?a) .
        :best[?d, ?x] :- AGGREGATE(:in[?y, ?d], :salary[?y, ?s] ON ?d BIND MAX(?s) AS ?m),
            :in[?x, ?d], :salary[?x, ?t], FILTER(?t = ?m) .""",
        """:d :average 12.5 ; :size 2 ; :best :y . :e :average 7.5 ; :size 1 ; :best :z .
        :f :size 0 . :y :above :d .""",
    ),
    # defaults with exceptions
    "penguins": Published(
        ":tweety a :Bird . :opus a :Penguin . :rock a :RocketPenguin .",
        """:Penguin[?x] :- :RocketPenguin[?x] . :Bird[?x] :- :Penguin[?x] .
        :Flies[?x] :- :Bird[?x], NOT :Exception[?x] .
        :Flies[?x] :- :RocketPenguin[?x] .
        :Exception[?x] :- :Penguin[?x] .""",
        """:opus a :Bird, :Exception . :tweety a :Flies .
        :rock a :Penguin, :Bird, :Exception, :Flies .""",
    ),
    # what is mandatory, and cycles that must not be
    "parts": Published(
        """:car a :Product ; :name "car" . :door a :Product .
        :a :partOf :b . :b :partOf :a, :c .""",
        """:inside[?x, ?z] :- :partOf[?x, ?z] .
        :inside[?x, ?z] :- :partOf[?x, ?y], :inside[?y, ?z] .
        :Cyclic[?x] :- :inside[?x, ?x] .
        [?x, a, owl:Nothing] :- [?x, a, :Product], NOT EXISTS ?n IN ([?x, :name, ?n]) .""",
        """:a :inside :a, :b, :c ; a :Cyclic . :b :inside :a, :b, :c ; a :Cyclic .
        :door a owl:Nothing .""",
    ),
    # ordered things: first, last, and what comes next
    "order": Published(
        ":a :at 1 . :b :at 5 . :c :at 3 . :d :at 3.5 .",
        """:before[?x, ?y] :- :at[?x, ?i], :at[?y, ?j], FILTER(?i < ?j) .
        :next[?x, ?y] :- :before[?x, ?y], NOT EXISTS ?z IN (:before[?x, ?z], :before[?z, ?y]) .
        :First[?x] :- :at[?x, ?n], NOT EXISTS ?y IN :before[?y, ?x] .
        :rank[?x, ?n] :- AGGREGATE(:before[?y, ?x] ON ?x BIND COUNT(?y) AS ?m), BIND(?m + 1 AS ?n) .
        :rank[?x, 1] :- :First[?x] .""",
        """:a :before :b, :c, :d ; :next :c ; a :First ; :rank 1 .
        :c :before :b, :d ; :next :d ; :rank 2 . :d :before :b ; :next :b ; :rank 3 .
        :b :rank 4 .""",
    ),
    # a new name for each pair of values, and text put together
    "names": Published(
        """:a :first "Ann" ; :last "Lee" ; :born "1990-05-06"^^xsd:date .
        :b :first "Bob"@en ; :last "X/Y" ; :born "2001-01-02"^^xsd:date .""",
        """:named[?n, ?x], :Name[?n] :- :first[?x, ?f], :last[?x, ?l],
            BIND(IRI(CONCAT("http://e/", LCASE(STR(?f)), "-", ENCODE_FOR_URI(?l))) AS ?n) .
        :short[?x, ?s] :- :last[?x, ?l], BIND(UCASE(SUBSTR(STRBEFORE(?l, "/"), 1, 3)) AS ?s),
            FILTER(CONTAINS(?l, "/")) .
        :year[?x, ?y] :- :born[?x, ?d], BIND(YEAR(?d) AS ?y) .
        :Adult[?x] :- :born[?x, ?d], FILTER(?d <= "2000-01-01"^^xsd:date) .
        :match[?x, ?m] :- :first[?x, ?f], FILTER(REGEX(?f, "^b", "i")),
            BIND(REPLACE(STR(?f), "[aeiou]", "*") AS ?m) .""",
        """:ann-Lee :named :a ; a :Name . :bob-X%2FY :named :b ; a :Name . :b :short "X" .
        :a :year 1990 ; a :Adult . :b :year 2001 ; :match "B*b" .""",
    ),
    # relations of three columns: flights with stops, up to a bound
    "flights": Published(
        ":osl :to :cph, :ams . :cph :to :ams . :ams :to :osl .",
        """:trip[?x, ?y, 1] :- :to[?x, ?y] .
        :trip[?x, ?z, ?n] :- :trip[?x, ?y, ?m], :to[?y, ?z], BIND(?m + 1 AS ?n), FILTER(?n <= 4) .
        :legs[?x, ?y, ?n] :- AGGREGATE(:trip[?x, ?y, ?m] ON ?x ?y BIND MIN(?m) AS ?n) .
        :far[?x, ?y] :- :legs[?x, ?y, 2], FILTER(?x != ?y) .
        :round[?x, ?n] :- :legs[?x, ?x, ?n] .""",
        ":cph :far :osl ; :round 3 . :ams :far :cph ; :round 2 . :osl :round 2 .",
    ),
    # rules about any property, as of RDFS and OWL-Horst, with axioms as facts
    "axioms": Published(
        """:knows a :Symmetric . :near a :Transitive . :friend :below :knows . :owns :inverse :of .
        :x :friend :y . :u :near :v . :v :near :w . :x :owns :z . :friend :domain :Person .""",
        """[?y, ?p, ?x] :- [?p, a, :Symmetric], [?x, ?p, ?y] .
        [?x, ?p, ?z] :- [?p, a, :Transitive], [?x, ?p, ?y], [?y, ?p, ?z] .
        [?x, ?q, ?y] :- [?p, :below, ?q], [?x, ?p, ?y] .
        [?y, ?q, ?x] :- [?p, :inverse, ?q], [?x, ?p, ?y] .
        [?x, a, ?c] :- [?p, :domain, ?c], [?x, ?p, ?y] .""",
        ":x :knows :y ; a :Person . :y :knows :x . :u :near :w . :z :of :x .",
    ),
    # a shape said by rules: exactly one address, and only texts as names
    "shapes": Published(
        """:a a :Person ; :email "a@e" ; :name "A" . :b a :Person ; :email "b@e", "c@e" ; :name 5 .
        :c a :Person .""",
        """:emails[?x, ?n] :- :Person[?x], AGGREGATE(:email[?x, ?m] ON ?x BIND COUNT(*) AS ?n) .
        :Invalid[?x] :- :emails[?x, ?n], FILTER(?n != 1) .
        :Invalid[?x] :- :Person[?x], NOT :emails[?x, 1] .
        :Invalid[?x] :- :name[?x, ?n], FILTER(DATATYPE(?n) NOT IN (xsd:string, rdf:langString)) .
        :Valid[?x] :- :Person[?x], NOT :Invalid[?x] .""",
        ":a :emails 1 ; a :Valid . :b :emails 2 ; a :Invalid . :c a :Invalid .",
    ),
    # same generation, and what is unreachable
    "generations": Published(
        ":a :up :c . :b :up :c . :c :up :e . :d :up :e . :x a :Node . :a a :Node . :e a :Node .",
        """:same[?x, ?y] :- :up[?x, ?z], :up[?y, ?z] .
        :same[?x, ?y] :- :up[?x, ?u], :same[?u, ?v], :up[?y, ?v] .
        :reach[?x, ?y] :- :up[?x, ?y] . :reach[?x, ?z] :- :reach[?x, ?y], :up[?y, ?z] .
        :apart[?x, ?y] :- :Node[?x], :Node[?y], NOT :reach[?x, ?y], NOT :reach[?y, ?x],
            FILTER(?x != ?y) .""",
        """:a :same :a, :b ; :reach :c, :e ; :apart :x . :b :same :a, :b ; :reach :c, :e .
        :c :same :c, :d ; :reach :e . :d :same :c, :d ; :reach :e .
        :x :apart :a, :e . :e :apart :x .""",
    ),
}


def shown(store: Store, facts: str) -> set[str]:
    return {str(quad) for quad in store.quads_for_pattern(None, None, None, facts=facts)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs__of_other_systems_conclude_what_they_say(name: str) -> None:
    data, rules, follows = PROGRAMS[name]
    wanted = Store()
    wanted.load(PREFIXES + follows, "turtle")
    store = Store()
    store.load(PREFIXES + data, "turtle")
    stated = list(store.quads_for_pattern(None, None, None))
    store.reason(rules=PREFIXES + rules)
    assert shown(store, "inferred") == shown(wanted, "all")
    for quad in stated:
        store.remove(quad)
        again = Store()
        again.extend(store.quads_for_pattern(None, None, None, facts="explicit"))
        again.reason(rules=PREFIXES + rules)
        assert shown(store, "inferred") == shown(again, "inferred")
    assert len(store) == 0
    for quad in reversed(stated):
        store.add(quad)
    assert shown(store, "inferred") == shown(wanted, "all")
    assert store.verify(closure=True) == []
