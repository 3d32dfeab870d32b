"""Scope: named graphs that take part in reasoning."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad

from triplestore import Store
from triplestore.errors import ProgramError, UsageError
from triplestore.reasoning.program.graph_scope import scope_of
from triplestore.terms.vocabulary import (
    OWL_SYMMETRIC_PROPERTY,
    OWL_TRANSITIVE_PROPERTY,
    RDF_TYPE,
    RDFS_DOMAIN,
    RDFS_SUB_CLASS_OF,
    RDFS_SUB_PROPERTY_OF,
)

PREFIXES = """@prefix : <http://ex.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
DATA = """
:axioms { :C rdfs:subClassOf :D . :p a owl:SymmetricProperty . }
:one { :x a :C . :x :p :y . }
:two { :x :p :y . :z :p :x . }
:i a :C .
"""
TYPE = NamedNode(RDF_TYPE)


def n(name: str) -> NamedNode:
    return NamedNode(f"http://ex.org/{name}")


def store_of(text: str, *regimes: str, **options: object) -> Store:
    store = Store()
    store.load(PREFIXES + text, "trig")
    store.reason(*regimes, **options)
    return store


def default_graph(store: Store) -> set[str]:
    found = store.quads_for_pattern(None, None, None, DefaultGraph())
    return {f"{quad.subject} {quad.predicate} {quad.object}" for quad in found}


def has(store: Store, s: str, p: str, o: str) -> bool:
    return Quad(n(s), TYPE if p == "a" else n(p), n(o)) in store


def test_union__all_graphs_count_with_their_axioms() -> None:
    store = store_of(DATA, "owl-rl", scope="union")
    assert has(store, "x", "a", "D") and has(store, "i", "a", "D")
    assert has(store, "y", "p", "x") and has(store, "x", "p", "z")
    assert store.verify(closure=True) == []


def test_default__no_named_graph_counts() -> None:
    store = store_of(DATA, "owl-rl")
    assert not has(store, "x", "a", "C") and not has(store, "i", "a", "D")


def test_list__only_these_graphs_count() -> None:
    store = store_of(DATA, "owl-rl", scope=[n("axioms"), "http://ex.org/two"])
    assert has(store, "i", "a", "D") and has(store, "y", "p", "x")
    assert not has(store, "x", "a", "C")
    assert store.verify(closure=True) == []


def test_fact__of_two_graphs_survives_one_deletion() -> None:
    store = store_of(DATA, "owl-rl", scope="union")
    store.remove(Quad(n("x"), n("p"), n("y"), n("one")))
    assert has(store, "x", "p", "y") and has(store, "y", "p", "x")
    store.remove(Quad(n("x"), n("p"), n("y"), n("two")))
    assert not has(store, "x", "p", "y") and not has(store, "y", "p", "x")


def test_fact__of_a_graph_and_the_default_graph_survives_either_deletion() -> None:
    store = store_of(
        ":one { :x :p :y } :x :p :y . :p a owl:SymmetricProperty .", "owl-rl", scope="union"
    )
    store.remove(Quad(n("x"), n("p"), n("y")))
    assert has(store, "x", "p", "y") and has(store, "y", "p", "x")
    store.add(Quad(n("x"), n("p"), n("y")))
    store.remove(Quad(n("x"), n("p"), n("y"), n("one")))
    assert has(store, "x", "p", "y") and has(store, "y", "p", "x")


def test_scope__changes_as_a_whole_and_ends_with_the_regimes() -> None:
    store = store_of(DATA, "owl-rl", scope="union")
    store.reason(scope=["http://ex.org/two"])
    assert has(store, "z", "p", "x") and not has(store, "x", "p", "z")
    store.reason(scope="default")
    assert default_graph(store) == default_graph(store_of(DATA, "owl-rl"))
    store.reason(scope="union")
    store.reason("none")
    assert default_graph(store) == {f"{n('i')} {TYPE} {n('C')}"}
    assert len(store) == 7


def test_scope__stays_as_it_was_if_it_is_not_named(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        store.load(PREFIXES + DATA, "trig")
        store.reason("rdfs", scope="union")
        store.reason("owl-rl")
    with Store(tmp_path / "s") as store:
        assert has(store, "y", "p", "x")
        store.add(Quad(n("new"), TYPE, n("C"), n("late")))
        assert has(store, "new", "a", "D")
        store.optimize()
        store.remove(Quad(n("new"), TYPE, n("C"), n("late")))
        assert not has(store, "new", "a", "D")
        assert store.verify(closure=True) == []


def test_queries__see_the_merge_and_graphs_only_what_they_state() -> None:
    store = store_of(DATA, "owl-rl", scope="union")
    ask = store.query
    assert ask("ASK { :x a :D }") and ask("ASK { :x a :C }")
    assert not ask("ASK { GRAPH ?g { :x a :D } }") and not ask("ASK FROM :one { :x a :D }")
    assert ask("ASK FROM :one { :x a :C }")
    (row,) = ask("SELECT (COUNT(*) AS ?n) { GRAPH :one { ?s ?p ?o } }")
    assert row["n"].value == "2"


def test_rules__of_users_see_the_scope_without_a_regime() -> None:
    rules = PREFIXES + ":q[?y, ?x] :- :p[?x, ?y] ."
    store = store_of(DATA, rules=rules, scope=["http://ex.org/one"])
    assert has(store, "y", "q", "x") and not has(store, "x", "q", "z")
    store.reason(scope="union")
    assert has(store, "x", "q", "z")
    store.remove_rules(rules)
    assert not has(store, "x", "q", "z") and has(store, "z", "p", "x")


def test_rules__that_negate_into_any_class__are_refused_under_regimes_only() -> None:
    """Where there is no regime nobody reads axioms, whatever the scope is."""
    rules = PREFIXES + (
        ":group[?x, :Lone] :- :p[?x, ?y], NOT :q[?x, ?y] . [?x, a, ?c] :- :group[?x, ?c] ."
    )
    store = store_of(DATA + ":g { :z :q :x }", rules=rules, scope="union")
    assert has(store, "x", "a", "Lone") and not has(store, "z", "a", "Lone")
    assert store.verify(closure=True) == []
    with pytest.raises(ProgramError, match="axioms may follow"):
        store.reason("rdfs")


def test_graphs__that_are_loaded_cleared_and_removed() -> None:
    store = store_of(DATA, "owl-rl", scope="union")
    store.load(PREFIXES + ":q rdfs:domain :C . :a :q :b .", "turtle", to_graph=n("three"))
    assert has(store, "a", "a", "D")
    store.update("PREFIX : <http://ex.org/> CLEAR GRAPH :three")
    assert not has(store, "a", "a", "D") and not has(store, "a", "q", "b")
    store.remove_graph(n("axioms"))
    assert not has(store, "x", "a", "D")
    store.clear()
    assert len(store) == 0
    store.load(PREFIXES + DATA, "trig")
    assert has(store, "x", "a", "D") and has(store, "y", "p", "x")


def test_transaction__sees_the_scope_and_a_rollback_leaves_nothing() -> None:
    store = store_of(DATA, "owl-rl", scope="union")
    before = default_graph(store)
    with store.transaction() as transaction:
        transaction.add(Quad(n("k"), n("fresh"), n("l"), n("one")))
        transaction.add(Quad(n("fresh"), NamedNode(RDFS_SUB_PROPERTY_OF), n("p"), n("axioms")))
        assert Quad(n("l"), n("p"), n("k")) in transaction
        transaction.rollback()
    assert default_graph(store) == before


def test_ontology__graphs_count_whatever_the_scope_is(tmp_path: Path) -> None:
    file = tmp_path / "o.ttl"
    file.write_text(PREFIXES + "<http://ex.org/o> a owl:Ontology . :C rdfs:subClassOf :D .")
    store = store_of(":one { :x a :C }", "owl-rl", ontology=file, scope=["http://ex.org/one"])
    assert has(store, "x", "a", "D")
    store.reason(scope="union")
    assert has(store, "x", "a", "D")
    store.reason(scope="default")
    assert not has(store, "x", "a", "D")


def test_change__counts_what_was_stated_and_what_follows() -> None:
    store = store_of(DATA, "owl-rl", scope="union")
    change = store.add(Quad(n("j"), TYPE, n("C"), n("one")))
    assert (change.added, change.inferred_added) == (1, 2)
    change = store.remove(Quad(n("j"), TYPE, n("C"), n("one")))
    assert (change.removed, change.inferred_removed) == (1, 2)


def test_report__says_the_scope_and_warns_of_what_is_outside() -> None:
    store = store_of(DATA, "owl-rl")
    report = store.reason("owl-rl")
    assert [warning.code for warning in report.warnings] == ["out-of-scope", "no-axioms"]
    assert "6 statements in 3 named graphs" in str(report)
    report = store.reason(scope="union")
    assert report.warnings == () and report.scope == "union"
    assert (report.explicit, report.inferred) == (6, 4)  # :i a :C, and five facts of the graphs


def test_why__says_that_a_graph_states_it() -> None:
    store = store_of(DATA, "owl-rl", scope="union")
    text = str(store.why(Quad(n("x"), TYPE, n("D"))))
    assert "asserted in a graph of the scope" in text


@pytest.mark.parametrize("given", ["http://ex.org/one", "all", [BlankNode("b")], ["one"], 5, b"x"])
def test_scope_of__refuses_what_is_none(given: object) -> None:
    with pytest.raises(UsageError, match="scope"):
        scope_of(given)


def test_reason__none_has_no_scope() -> None:
    with pytest.raises(UsageError, match="scope"):
        Store().reason("none", scope="union")


# -- against a store with everything in one graph ------------------------------------------------

NAMES = [n(name) for name in "abcd"]
PROPERTIES = [n(name) for name in "pq"]
CLASSES = [n(name) for name in "CDE"]
GRAPHS = [DefaultGraph(), n("g1"), n("g2"), n("g3")]


def any_quad(random: Random) -> Quad:
    choose = random.choice
    triple = choose(
        [
            (choose(NAMES), choose(PROPERTIES), choose(NAMES)),
            (choose(NAMES), choose(PROPERTIES), choose(NAMES)),
            (choose(NAMES), TYPE, choose(CLASSES)),
            (choose(CLASSES), NamedNode(RDFS_SUB_CLASS_OF), choose(CLASSES)),
            (choose(PROPERTIES), NamedNode(RDFS_SUB_PROPERTY_OF), choose(PROPERTIES)),
            (choose(PROPERTIES), NamedNode(RDFS_DOMAIN), choose(CLASSES)),
            (
                choose(PROPERTIES),
                TYPE,
                NamedNode(choose([OWL_SYMMETRIC_PROPERTY, OWL_TRANSITIVE_PROPERTY])),
            ),
        ]
    )
    return Quad(*triple, choose(GRAPHS))


def states(seed: int, steps: int) -> Iterator[tuple[Store, set[Quad], object]]:
    """A store under random changes of data and scope, what it states, and the scope."""
    random = Random(seed)
    held: set[Quad] = set()
    scope: object = "union"
    with Store() as store:
        store.reason("owl-rl", scope=scope)
        for _ in range(steps):
            if random.random() < 0.15:
                scope = random.choice(["default", "union", [n("g1"), n("g3")], [n("g2")]])
                store.reason(scope=scope)
            with store.transaction() as transaction:
                for quad in random.sample(sorted(held, key=str), len(held) // 5):
                    transaction.remove(quad)
                    held.discard(quad)
                for _ in range(random.randrange(6)):
                    quad = any_quad(random)
                    transaction.add(quad)
                    held.add(quad)
            yield store, held, scope


def check(seed: int, steps: int) -> None:
    for step, (store, held, scope) in enumerate(states(seed, steps)):
        inside = [
            Quad(quad.subject, quad.predicate, quad.object)
            for quad in held
            if isinstance(quad.graph_name, DefaultGraph)
            or scope == "union"
            or (isinstance(scope, list) and quad.graph_name in scope)
        ]
        with Store() as alone:
            alone.extend(inside)
            alone.reason("owl-rl")
            assert default_graph(store) == default_graph(alone), (seed, step)
        if step % 5 == 4:
            assert store.verify(closure=True) == [], (seed, step)


def test_store__is_as_one_with_all_in_the_default_graph() -> None:
    for seed in range(4):
        check(seed, 12)


@pytest.mark.long
def test_store__is_as_one_with_all_in_the_default_graph__long() -> None:
    for seed in range(100, 300):
        check(seed, 30)
