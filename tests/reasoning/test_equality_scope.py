"""Equality by rewriting where named graphs count: as rules have it, after every update."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from pyoxigraph import DefaultGraph, NamedNode, Quad

from tests.ontologies.random_ontologies import EQUALITY, EVERYTHING, META, VALUES, Kind, make_pool
from tests.reasoning.equal_stores import (
    LONG,
    MODES,
    PREFIXES,
    assert_alike,
    check_proof,
    classes_of,
)
from triplestore import Store
from triplestore.proofs import Proof
from triplestore.reasoning.program.graph_scope import is_of_scope
from triplestore.relations.views.equality import equality_of, representatives

GRAPHS = [NamedNode(f"http://ex.org/graph{number}") for number in (1, 2)]
SEEDS = [pytest.param(n, marks=LONG if n >= 1 else ()) for n in range(60)]


def stores_of(data: str = "", **options: object) -> tuple[Store, Store]:
    """Two stores with the same quads, one in each mode."""
    stores = (Store(), Store())
    for store, mode in zip(stores, MODES, strict=True):
        store.load(PREFIXES + data, "trig")
        store.reason("owl-rl", equality=mode, **{"scope": "union", **options})
    return stores


@pytest.mark.parametrize("kind", [EQUALITY, VALUES, EVERYTHING, META], ids=lambda kind: kind.name)
@pytest.mark.parametrize("seed", SEEDS)
def test_scope__along_random_schedules_equals_rules(kind: Kind, seed: int) -> None:
    random = Random(seed)
    facts = make_pool(random, kind, random.choice((15, 30)))
    pool = [Quad(*fact, graph) for fact in facts for graph in random.choices(GRAPHS, k=2)]
    pool += [Quad(*fact) for fact in random.sample(facts, len(facts) // 3)]
    stores = stores_of()
    held: set[Quad] = set()
    for _ in range(6):
        removed = set(random.sample(sorted(held, key=str), random.randint(0, len(held)) // 2))
        added = set(random.sample(pool, random.randint(1, len(pool)) // 2))
        held = (held - removed) | added
        if random.random() < 0.2:
            scope = random.choice(["union", "default", [GRAPHS[0]]])
            for store in stores:
                store.reason(scope=scope)
        done = []
        for store in stores:
            with store.transaction() as t:
                for quad in removed:
                    t.remove(quad)
                for quad in added:
                    t.add(quad)
            done.append(t.change)
        assert_alike(*stores)
        if kind is EQUALITY:  # others have types in classes without a name
            assert done[0] == done[1]
    assert_alike(*stores)


@pytest.mark.parametrize(
    ("data", "gone", "classes"),
    [
        (":one { :a owl:sameAs :b . :a :p :x } :two { :b :p :y }", ":a owl:sameAs :b", 1),
        (":one { :a owl:sameAs :b } :b :p :y . :a :q :b .", ":a owl:sameAs :b", 1),
        (":one { :f a owl:FunctionalProperty . :x :f :u , :v } :u :q :w .", ":x :f :u", 1),
        (":one { :g rdfs:subPropertyOf :f . :x :g :u } :f a owl:FunctionalProperty . "
         ":x :f :v .", ":g rdfs:subPropertyOf :f", 1),
        (":one { :x :p :y } :two { :x :p :y } :x owl:sameAs :z .", ":x :p :y", 1),
        (":one { :a owl:sameAs :a , :b } :two { :c owl:sameAs :c }", ":a owl:sameAs :a", 1),
        # types: the class stands before the member in what graphs state
        (":one { :x a :C } :two { :y a :C } :x owl:sameAs :y . :C rdfs:subClassOf :D .",
         ":x a :C", 1),
        # what is a class, or a property, is left to rules
        (":one { :C owl:sameAs :E . :x a :C } :E rdfs:subClassOf :D .", ":C owl:sameAs :E", 0),
        (":one { :p owl:sameAs :q } :two { :x :p :y }", ":p owl:sameAs :q", 0),
    ],
)  # fmt: skip
def test_scope__of_equals_that_come_and_go(data: str, gone: str, classes: int) -> None:
    stores = stores_of(data)
    assert classes_of(stores[1]) == classes
    assert_alike(*stores)
    for word in ("DELETE", "INSERT"):
        for store in stores:
            prefixes = PREFIXES.replace("@prefix", "PREFIX").replace(" .", "")
            store.update(f"{prefixes} {word} DATA {{ GRAPH :one {{ {gone} }} }}")
        assert_alike(*stores)
    for scope in (["http://ex.org/two"], "default", "union"):
        for store in stores:
            store.reason(scope=scope)
        assert_alike(*stores)


def test_scope__is_durable(tmp_path: Path) -> None:
    data = ":one { :a owl:sameAs :b . :a :p :x } :two { :b :p :y , :a }"
    rules, _ = stores_of(data)
    path = str(tmp_path / "store")
    with Store(path) as store:
        store.load(PREFIXES + data, "trig")
        store.reason("owl-rl", equality="rewrite", scope="union")
    for gone in (":a :p :x", ":a owl:sameAs :b"):
        with Store(path) as store:
            assert_alike(rules, store)
            for each in (rules, store):
                each.update(
                    "PREFIX : <http://ex.org/> PREFIX owl: <http://www.w3.org/2002/07/owl#> "
                    f"DELETE DATA {{ GRAPH :one {{ {gone} }} }}"
                )
            assert_alike(rules, store)
            store.optimize()
            assert_alike(rules, store)


def test_scope__what_graphs_state_is_stored_in_its_own_terms() -> None:
    chain = " . ".join(f":i{n} owl:sameAs :i{n + 1}" for n in range(99))
    store = stores_of(f":one {{ {chain} . :i50 :p :x , :y }} :two {{ :i7 :p :x }}")[1]
    assert classes_of(store) == 1
    tables = store._view().tables
    equality = equality_of(tables)
    assert equality is not None
    told = store._view().dictionary.lookup_keys([b"\x01x-triplestore:scope/stated"]).tolist()[0]
    assert len(tables.tuples(told, 3)) == 99 + 2 + 1
    bare = tables.with_schemes({})
    anew = representatives(bare, equality.classes, equality.same_as, told)
    assert [*anew.tuples(told, 3).keys()] == [*equality.tables.tuples(told, 3).keys()]
    assert (
        len(equality.tables.tuples(told, 3)) == 2
    )  # that :i0 is the same as itself need not be said


@pytest.mark.parametrize(
    ("data", "fact"),
    [
        (":one { :a owl:sameAs :b . :a :p :x }", ":b :p :x"),
        (":one { :a owl:sameAs :b } :two { :b owl:sameAs :c }", ":a owl:sameAs :c"),
        (":one { :f a owl:FunctionalProperty . :x :f :u } :x :f :v . :u :p :o .", ":v :p :o"),
        (":one { :x a :C } :x owl:sameAs :y . :C rdfs:subClassOf :D .", ":y a :D"),
        (":one { :f a owl:FunctionalProperty . :x :f :u , :v , :w }", ":u owl:sameAs :w"),
        (":one { :k a owl:InverseFunctionalProperty . :q rdfs:range :R } "
         ":two { :x :k :v . :y :k :v . :y :q :o }", ":x :q :o"),
    ],
)  # fmt: skip
def test_scope__why_says_which_graph_fact_it_rests_on(data: str, fact: str) -> None:
    store = stores_of(data)[1]
    assert classes_of(store) == 1
    proof = store.why(fact)
    assert isinstance(proof, Proof)
    check_proof(store, proof)
    assert any(is_of_scope(step.rule) for step in proof)


@pytest.mark.parametrize("kind", [EQUALITY, EVERYTHING, VALUES], ids=lambda kind: kind.name)
@pytest.mark.parametrize("seed", SEEDS)
def test_scope__every_fact_of_a_random_store_has_a_proof(kind: Kind, seed: int) -> None:
    random = Random(seed)
    store = Store()
    for fact in make_pool(random, kind, 25):
        store.add(Quad(*fact, random.choice([DefaultGraph(), *GRAPHS])))
    store.reason("owl-rl", equality="rewrite", scope="union")
    facts = sorted(store.quads_for_pattern(None, None, None, DefaultGraph()), key=str)
    for quad in random.sample(facts, min(len(facts), 25)):
        proof = store.why(quad)
        assert isinstance(proof, Proof)
        check_proof(store, proof)
