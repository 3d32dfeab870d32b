"""Random small stores under rules or a regime, and random changes of them."""

from __future__ import annotations

import random

from pyoxigraph import NamedNode, Triple

from triplestore import Store
from triplestore.terms.vocabulary import OWL, RDF_TYPE, RDFS

NS = "http://e/"
TYPE = NamedNode(RDF_TYPE)

PROGRAMS = (
    "@prefix : <http://e/> . :p2[?x, ?z] :- :p1[?x, ?y], :p0[?y, ?z] . :C0[?x] :- :p2[?x, ?y] .",
    "@prefix : <http://e/> . :p1[?x, ?z] :- :p1[?x, ?y], :p1[?y, ?z] .\n"
    ":p1[?y, ?x] :- :p0[?x, ?y] .",
    "@prefix : <http://e/> . :C1[?x] :- :C0[?x], :p0[?x, ?y], :C0[?y] . :C2[?x] :- :C1[?x] .\n"
    'constraint "both" "in both" :- :C2[?x], :C3[?x] .',
)
"""Rules without negation."""

WITH_ABSENCE = (
    "@prefix : <http://e/> . :C3[?x] :- :C0[?x], NOT :p0[?x, ?y] .\n"
    ":C2[?x] :- :C1[?x], NOT :C3[?x] .",
    "@prefix : <http://e/> . :p2[?x, ?n] :- AGGREGATE(:p0[?x, ?y] ON ?x BIND COUNT(?y) AS ?n) .\n"
    ":C3[?x] :- :p2[?x, ?n], FILTER(?n > 1) .",
    "@prefix : <http://e/> . :r[?x, ?z] :- :p0[?x, ?y], :p1[?y, ?z] .\n"
    ":C3[?x] :- :C0[?x], NOT (:r[?x, ?y], :C1[?y]) .",
)
"""Rules with negation or aggregates."""


def name(kind: str, number: int) -> NamedNode:
    """A name such as `http://e/C2`."""
    return NamedNode(f"{NS}{kind}{number}")


def random_triple(chance: random.Random, axioms: bool) -> Triple:
    """A fact, or, if wanted, perhaps an axiom."""
    if axioms and chance.random() < 0.45:
        return random_axiom(chance)
    if chance.random() < 0.4:
        return Triple(name("i", chance.randrange(5)), TYPE, name("C", chance.randrange(4)))
    one, other = (name("i", chance.randrange(5)) for _ in range(2))
    return Triple(one, name("p", chance.randrange(3)), other)


def random_axiom(chance: random.Random) -> Triple:
    """An axiom of one triple."""
    classes = [name("C", chance.randrange(4)) for _ in range(2)]
    properties = [name("p", chance.randrange(3)) for _ in range(2)]
    kind = chance.randrange(9)
    if kind < 3:
        return Triple(classes[0], NamedNode(f"{RDFS}subClassOf"), classes[1])
    if kind < 5:
        end = "domain" if kind == 3 else "range"
        return Triple(properties[0], NamedNode(f"{RDFS}{end}"), classes[0])
    if kind == 5:
        return Triple(properties[0], NamedNode(f"{RDFS}subPropertyOf"), properties[1])
    if kind == 6:
        what = chance.choice(("SymmetricProperty", "TransitiveProperty"))
        return Triple(properties[0], TYPE, NamedNode(f"{OWL}{what}"))
    if kind == 7:
        return Triple(properties[0], NamedNode(f"{OWL}inverseOf"), properties[1])
    return Triple(classes[0], NamedNode(f"{OWL}disjointWith"), classes[1])


def random_store(chance: random.Random, size: int, *, absence: bool = False) -> tuple[Store, bool]:
    """A store with its rules, and whether these come from axioms.

    absence  whether the rules negate or aggregate
    """
    if absence:
        store = Store()
        store.extend([random_triple(chance, False) for _ in range(size)])
        store.reason(rules=chance.choice(WITH_ABSENCE))
        return store, False
    axioms = chance.random() < 0.7
    store = Store()
    store.extend([random_triple(chance, axioms) for _ in range(size)])
    if axioms:
        store.reason(chance.choice(("rdfs", "owl-rl", "owl-rl")))
    else:
        store.reason(rules=chance.choice(PROGRAMS))
    return store, axioms
