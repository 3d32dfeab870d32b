"""Subscriptions to queries with triple terms: their rows are those of asking anew."""

from __future__ import annotations

from random import Random

import pytest

from tests.live.followed import Followed
from tests.sparql.triple_queries import PROLOGUE, QueryMaker, quad
from triplestore import Store

FIXED = [
    "SELECT ?s ?o ?r { ?s :p ?o ~ ?r }",
    "SELECT ?s (COUNT(*) AS ?n) { ?r rdf:reifies <<( ?s ?p ?o )>> } GROUP BY ?s",
    "SELECT ?x { ?x ?y <<( ?s :q <<( ?s ?q ?o )>> )>> OPTIONAL { ?x :p ?z } }",
    "SELECT ?g ?x { GRAPH ?g { ?x ?y <<( :a ?p ?o )>> } }",
    "SELECT ?x { ?x :p+ <<( ?s ?p ?o )>> }",
]


@pytest.mark.parametrize("seed", range(2))
def test_subscriptions__equal_asking_anew(seed: int) -> None:
    random = Random(seed)
    store = Store()
    followed = Followed(store)
    queries = [PROLOGUE + text for text in FIXED]
    queries += [QueryMaker(random).query() for _ in range(6)]
    for text in queries:
        followed.add(text)
    assert len(followed.rows) >= len(FIXED)
    there = []
    for _ in range(12):
        with store.transaction() as t:
            for _ in range(random.choice((1, 2, 15))):
                there.append(quad(random))
                t.add(there[-1])
            if random.random() < 0.6:
                t.remove(there.pop(random.randrange(len(there))))
        followed.check()
