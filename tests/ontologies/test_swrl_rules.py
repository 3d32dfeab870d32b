"""SWRL rules in a store: what they infer, with built-ins, and what is left out."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from triplestore import Store

PREFIXES = """@prefix : <http://ex.org/> . @prefix swrl: <http://www.w3.org/2003/11/swrl#> .
@prefix swrlb: <http://www.w3.org/2003/11/swrlb#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:x a swrl:Variable . :y a swrl:Variable . :n a swrl:Variable . :m a swrl:Variable .
"""
AGE = """[ a swrl:DatavaluedPropertyAtom ; swrl:propertyPredicate :age ; swrl:argument1 :x ;
    swrl:argument2 :n ]"""
ADULT = "[ a swrl:ClassAtom ; swrl:classPredicate :Adult ; swrl:argument1 :x ]"
NEXT = """[ a swrl:DatavaluedPropertyAtom ; swrl:propertyPredicate :next ; swrl:argument1 :x ;
    swrl:argument2 :m ]"""


def builtin(name: str, arguments: str) -> str:
    return f"[ a swrl:BuiltinAtom ; swrl:builtin swrlb:{name} ; swrl:arguments ({arguments}) ]"


def store_of(body: str, head: str, data: str) -> Store:
    store = Store()
    store.reason("swrl")
    rule = f"[] a swrl:Imp ; swrl:body ({body}) ; swrl:head ({head}) ."
    store.load(PREFIXES + rule + data, "turtle")
    return store


def n(name: str) -> NamedNode:
    return NamedNode(f"http://ex.org/{name}")


def inferred(store: Store) -> set[tuple[str, str, str]]:
    return {
        (q.subject.value[14:], q.predicate.value.rpartition("/")[2].rpartition("#")[2], q.object.value.removeprefix("http://ex.org/"))
        for q in store.quads_for_pattern(None, None, None, facts="inferred")
    }  # fmt: skip


@pytest.mark.parametrize(
    ("test", "adults"),
    [
        (builtin("greaterThan", ":n 18"), {"joe"}),
        (builtin("lessThanOrEqual", ":n 18"), {"tim"}),
        (builtin("equal", ":n 3.0"), {"tim"}),
        (builtin("notEqual", ":n 3"), {"joe"}),
        (builtin("add", ":n 10 10"), {"joe"}),
    ],
)
def test_builtins__test_values(test: str, adults: set[str]) -> None:
    store = store_of(AGE + test, ADULT, ":joe :age 20 . :tim :age 3 .")
    assert inferred(store) == {(who, "type", "Adult") for who in adults}


@pytest.mark.parametrize(
    ("made", "value"),
    [
        (builtin("add", ":m :n 1"), "21"),
        (builtin("multiply", ":m :n :n 2"), "800"),
        (builtin("subtract", ":m :n 1"), "19"),
        (builtin("unaryMinus", ":m :n"), "-20"),
    ],
)
def test_builtins__make_values(made: str, value: str) -> None:
    store = store_of(made + AGE, NEXT, ":joe :age 20 .")
    assert inferred(store) == {("joe", "next", value)}


def test_rules__go_with_their_triples() -> None:
    store = store_of(AGE, ADULT, ":joe :age 20 .")
    assert inferred(store) == {("joe", "type", "Adult")}
    head = NamedNode("http://www.w3.org/2003/11/swrl#classPredicate")
    (quad,) = store.quads_for_pattern(None, head, None)
    store.remove(quad)
    assert inferred(store) == set()
    store.add(quad)
    store.remove(Quad(n("joe"), n("age"), Literal(20)))
    assert inferred(store) == set()


def test_rules__without_a_head_are_constraints() -> None:
    store = store_of(AGE + builtin("lessThan", ":n 0"), "", ":joe :age -1 . :tim :age 3 .")
    (violation,) = store.violations()
    assert violation.constraint == "swrl" and violation.values["x"] == n("joe")


def test_same__holds_of_each_thing_itself() -> None:
    same = "[ a swrl:SameIndividualAtom ; swrl:argument1 :x ; swrl:argument2 :y ]"
    knows = """[ a swrl:IndividualPropertyAtom ; swrl:propertyPredicate :knows ;
        swrl:argument1 :x ; swrl:argument2 :y ]"""
    store = store_of(knows + same, ADULT, ":joe :knows :joe . :tim :knows :joe .")
    assert inferred(store) == {("joe", "type", "Adult")}


def test_rules__with_unknown_builtins_are_listed() -> None:
    store = store_of(AGE + builtin("tokenize", ":m :n 1"), NEXT, ":joe :age 20 .")
    assert inferred(store) == set()
    assert any("tokenize" in line for line in store.reason("swrl").outside)
