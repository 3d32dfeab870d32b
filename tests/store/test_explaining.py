"""Facts that a store is asked about, in all the ways in which callers give them."""

from __future__ import annotations

from pathlib import Path

import pytest

from triplestore import Literal, NamedNode, Proof, Quad, Store, Triple, WhyNot
from triplestore.errors import UsageError

EX = "http://ex.org/"
RULES = """rule "base" :ancestor[?x, ?y] :- :parent[?x, ?y] .
    rule "step" :ancestor[?x, ?z] :- :ancestor[?x, ?y], :parent[?y, ?z] .
    :flight[?x, ?y, 1] :- :parent[?x, ?y] . owl:Nothing[?x] :- :Never[?x] .
    :of[?n, ?x] :- :age[?x, ?n] . constraint "loop" "circle" :- :ancestor[?x, ?x] ."""


def node(name: str) -> NamedNode:
    return NamedNode(EX + name)


@pytest.fixture
def store() -> Store:
    made = Store()
    made.load(
        f"@prefix : <{EX}> . :a :parent :b . :b :parent :a . :a :age 7 . :c a :Never .", "ttl"
    )
    made.reason(rules=RULES)
    return made


@pytest.mark.parametrize(
    "fact",
    [
        Quad(node("a"), node("ancestor"), node("b")),
        Triple(node("a"), node("ancestor"), node("b")),
        (node("a"), node("ancestor"), node("b")),
        ":a :ancestor :b",
        " :a  <http://ex.org/ancestor>   :b . ",
        ":ancestor[:a, :b]",
        "[:a, :ancestor, :b] .",
    ],
)
def test_why__facts_in_any_form(store: Store, fact: object) -> None:
    proof = store.why(fact)
    assert isinstance(proof, Proof) and proof
    assert proof.last.rule is not None and proof.last.rule.name == "base"  # type: ignore[union-attr]
    assert str(proof).splitlines()[0] == ":ancestor[:a, :b]"


def test_why__classes_relations_and_literals(store: Store) -> None:
    assert str(store.why(":c a :Never")) == ":Never[:c]  (asserted)"
    assert str(store.why(":flight[:a, :b, 1]")).startswith(":flight[:a, :b, 1]\n")
    assert store.why(":of[7, :a]"), "a fact that is no triple of RDF"
    assert store.why((node("a"), node("age"), Literal(7)))
    assert not store.why(':a :age "7"')
    assert store.why("7 :of :a")


def test_why__violations(store: Store) -> None:
    found = store.violations()
    assert len(found) == 3
    for violation in found:
        proof = store.why(violation)
        assert proof, violation
    store.remove(
        Quad(node("c"), NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"), node("Never"))
    )
    answer = store.why(next(v for v in found if v.constraint == "owl:Nothing"))
    assert isinstance(answer, WhyNot)
    store.remove_rules('constraint "loop" "circle" :- :ancestor[?x, ?x] .')
    with pytest.raises(UsageError, match="constraint 'loop' with these variables does not exist"):
        store.why(next(v for v in found if v.constraint == "loop"))


def test_why__named_graphs_are_refused(store: Store) -> None:
    with pytest.raises(UsageError, match="named graphs"):
        store.why(Quad(node("a"), node("ancestor"), node("b"), node("g")))


def test_why__rules_and_facts_of_the_moment(store: Store) -> None:
    snapshot = store.snapshot()
    with store.transaction() as transaction:
        transaction.remove(Quad(node("a"), node("parent"), node("b")))
        assert not transaction.why(":a :ancestor :b")
        assert transaction.audit().ok
        assert snapshot.why(":a :ancestor :b")
        transaction.remove_rules(RULES)
        answer = transaction.why(":b :ancestor :a")
        assert isinstance(answer, WhyNot) and answer.rules == 0
        transaction.rollback()
    proof = store.why(":a :ancestor :b", alternatives=1)
    assert isinstance(proof, Proof)
    assert proof.alternatives == (), "the other way to it goes in a circle, by itself"
    store.reason("none")
    assert not store.why(":a :ancestor :b")
    assert store.why(":a :parent :b")
    assert snapshot.why(":a :ancestor :b")


def test_why__terms_that_come_later_are_known_then(store: Store) -> None:
    assert not store.why(":new :ancestor :a")
    store.load(f"@prefix : <{EX}> . :new :parent :a .", "ttl")
    assert store.why(":new :ancestor :a")
    assert not store.why(":newer :ancestor :a")


def test_audit__of_stores_opened_for_reading(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as writer:
        writer.load(f"@prefix : <{EX}> . :a :parent :b . :b :parent :c .", "ttl")
        writer.reason(rules=RULES)
        with Store.read_only(tmp_path / "s") as reader:
            assert reader.audit().ok and reader.audit(thorough=True).ok
            assert reader.why(":a :ancestor :c")
            assert reader.verify(closure=True) == []
