"""Rules that match and make triple terms."""

from __future__ import annotations

from random import Random

import pyoxigraph as ox
import pytest

from tests.sparql.triple_queries import quad
from triplestore import Store
from triplestore.errors import ProgramError

PREFIXES = "@prefix : <http://e/> . "

RULES = """
:said[?s, ?o] :- [?r, rdf:reifies, <<( ?s :p ?o )>>], :q[?r, ?w] .
:deep[?x, ?m] :- [?x, rdf:reifies, <<( ?y ?q <<( ?k :p ?m )>> )>>] .
:about[?s, <<( ?r :says ?t )>>] :- [?r, rdf:reifies, ?t], :p[?r, <<( ?s ?v ?o )>>] .
:outer[?r, ?s] :- :about[?s, <<( ?r ?v <<( ?s ?q ?o )>> )>>] .
:unasserted[?r, ?s] :- [?r, rdf:reifies, <<( ?s :q ?o )>>], NOT :q[?s, ?o] .
:count[?s, ?n] :- AGGREGATE([?r, rdf:reifies, <<( ?s ?p ?o )>>] ON ?s BIND COUNT(?r) AS ?n) .
"""


def facts(store: Store) -> set[str]:
    return set(map(str, store.quads_for_pattern(None, None, None, None)))


@pytest.mark.parametrize("seed", range(2))
def test_maintenance__equals_a_fresh_closure(seed: int) -> None:
    random = Random(seed)
    store = Store()
    store.reason(rules=PREFIXES + RULES)
    asserted: dict[str, ox.Quad] = {}
    for _ in range(5):
        with store.transaction() as t:
            for _ in range(random.choice((1, 5, 40))):
                one = ox.Quad(*quad(random).triple)
                asserted[str(one)] = one
                t.add(one)
            for name in random.sample(sorted(asserted), len(asserted) // 4):
                t.remove(asserted.pop(name))
        fresh = Store()
        fresh.extend(asserted.values())
        fresh.reason(rules=PREFIXES + RULES)
        assert facts(store) == facts(fresh)
    assert any("/about>" in fact for fact in facts(store))


def test_body__matches_parts_that_are_bound_elsewhere() -> None:
    store = Store()
    store.load(PREFIXES + ":x :p :y {| :by :ada |} ; :q :z {| :by :bob |} . :ada a :Known .", "ttl")
    store.reason(
        rules=PREFIXES + ":ok[?s, ?o] :- [?r, rdf:reifies, <<( ?s ?p ?o )>>], [?s, ?p, ?o], "
        ":by[?r, ?w], :Known[?w] ."
    )
    found = [str(q) for q in store if q.predicate.value == "http://e/ok"]
    assert found == ["<http://e/x> <http://e/ok> <http://e/y>"]


def test_head__makes_a_term_that_queries_and_rules_match() -> None:
    store = Store()
    store.load(PREFIXES + ":a :p :b . :b :p :c .", "ttl")
    store.reason(
        rules=PREFIXES
        + """:claim[:log, <<( ?x :reaches ?y )>>] :- :p[?x, ?z], :p[?z, ?y] .
        :from[?l, ?x] :- :claim[?l, <<( ?x :reaches ?y )>>] ."""
    )
    text = "PREFIX : <http://e/> SELECT ?x ?y ?f { :log :claim <<( ?x :reaches ?y )>> ; :from ?f }"
    assert [str(term) for row in store.query(text) for term in row] == [
        "<http://e/a>", "<http://e/c>", "<http://e/a>",
    ]  # fmt: skip
    store.remove(ox.Quad(*(ox.NamedNode(f"http://e/{name}") for name in "bpc")))
    assert list(store.query(text)) == []


def test_recursion__must_limit_the_depth() -> None:
    store = Store()
    with pytest.raises(ProgramError, match=r"FILTER\(!ISTRIPLE\(\?o\)\)"):
        store.reason(rules=PREFIXES + ":n[?x, <<( ?x :n ?o )>>] :- :n[?x, ?o] .")
    store.load(PREFIXES + ":a :n 1 , 2 .", "ttl")
    store.reason(rules=PREFIXES + ":n[?x, <<( ?x :n ?o )>>] :- :n[?x, ?o], FILTER(!ISTRIPLE(?o)) .")
    assert len(store) == 4


def test_equality__parts_are_terms_as_written() -> None:
    """Under sameAs a whole subject or object is replaced, as OWL 2 RL says; not a part of it."""
    store = Store()
    store.load(
        PREFIXES + "@prefix owl: <http://www.w3.org/2002/07/owl#> . :a owl:sameAs :b . "
        ":r :says <<( :b :p :x )>> . :a a :C .",
        "ttl",
    )
    store.reason("owl-rl", equality="rewrite")
    ask = "PREFIX : <http://e/> ASK { :r :says <<( %s :p :x )>> . %s a :C }"
    assert store.query(ask % (":b", ":b"))
    assert not store.query(ask % (":a", ":a"))
    joined = "PREFIX : <http://e/> SELECT ?s { :r :says <<( ?s :p :x )>> . ?s a :C }"
    assert [str(row["s"]) for row in store.query(joined)] == ["<http://e/b>"]
