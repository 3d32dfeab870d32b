"""Repairs beside brute force: all minimal sets of asserted quads without which a fact ends."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from consequences.random_changes import random_store
from pyoxigraph import DefaultGraph, NamedNode, Quad

from triplestore import NamedNode as Iri
from triplestore import Store
from triplestore.errors import ConflictError, UsageError
from triplestore.proofs import Proof

LARGEST = 3


def by_force(store: Store, fact: Quad, may_go: list[Quad]) -> set[frozenset[Quad]]:
    """The minimal removals of at most `LARGEST` quads."""
    found: set[frozenset[Quad]] = set()
    for size in range(1, LARGEST + 1):
        for chosen in combinations(may_go, size):
            gone = frozenset(chosen)
            if any(one <= gone for one in found):
                continue
            with store.trial() as transaction:
                transaction.remove_all(gone)
                if fact not in transaction:
                    found.add(gone)
    return found


def check(seed: int) -> bool:
    """Compare the repairs of one random fact; whether there were some."""
    chance = random.Random(seed)
    store, _ = random_store(chance, chance.randrange(4, 10))
    inferred = sorted(store.quads_for_pattern(None, None, None, facts="inferred"), key=str)
    if not inferred:
        return False
    fact = chance.choice(inferred)
    protected = NamedNode("http://e/p0") if chance.random() < 0.3 else None
    asserted = store.quads_for_pattern(None, None, None, facts="explicit")
    may_go = [quad for quad in asserted if quad.predicate != protected]
    answer = store.retract(
        fact,
        protect_properties=[protected] if protected else [],
        most=1000,
        largest=LARGEST,
        trials=5000,
    )
    expected = by_force(store, fact, may_go)
    assert {frozenset(one.quads) for one in answer} == expected, (seed, fact)
    for repair in answer:
        check_effects(store, repair.quads, repair.loses, seed)
    order = [(one.side_effects, len(one.quads)) for one in answer]
    assert order == sorted(order)
    return bool(expected)


def test_retract__of_a_rule_that_two_axioms_give_removes_both() -> None:
    assert check(665)


def check_effects(store: Store, quads: tuple[Quad, ...], loses: int, seed: int) -> None:
    before = set(store)
    with store.trial() as transaction:
        transaction.remove_all(quads)
        assert loses == len(before - set(transaction)), seed


def test_retract__finds_what_brute_force_finds() -> None:
    assert sum(map(check, range(25))) > 12


@pytest.mark.long
def test_retract__finds_what_brute_force_finds_a_thousand_times() -> None:
    assert sum(map(check, range(100, 1300))) > 1000


FAMILY = """@prefix : <http://e/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:Cat rdfs:subClassOf :Dog . :tom a :Cat . :kit a :Cat . :sam a :Cat .
:Dog owl:disjointWith :Bird . :tom a :Bird ."""


def family() -> Store:
    store = Store()
    store.load(FAMILY, "ttl")
    store.reason("owl-rl")
    return store


def test_retract__puts_the_removal_with_fewest_effects_first() -> None:
    answer = family().retract(":tom a :Dog")
    assert [(len(one.quads), one.loses) for one in answer] == [(1, 2), (1, 4)]
    assert not answer.more


def test_retract__ends_violations() -> None:
    store = family()
    (violation,) = store.violations()
    answer = store.retract(
        violation, protect_properties=["http://www.w3.org/2002/07/owl#disjointWith"]
    )
    assert len(answer) == 3
    assert all(one.resolved_violations == 1 for one in answer)
    store.retract(violation, apply=0)
    assert not store.violations()


def test_retract__applies_one_removal_in_one_commit() -> None:
    store = family()
    commit, count = store.commit, len(store)
    applied = store.retract(":tom a :Dog", apply=1).applied
    assert applied is not None
    assert store.commit == commit + 1
    assert len(store) == count - applied.loses
    assert not store.why(":tom a :Dog")


def test_retract__changes_nothing_without_apply() -> None:
    store = family()
    digest, commit = store.digest(), store.commit
    store.retract(":tom a :Dog")
    assert (store.digest(), store.commit) == (digest, commit)


def test_retract__keeps_protected_graphs() -> None:
    answer = family().retract(":tom a :Dog", protect_graphs=[DefaultGraph()])
    assert not answer
    assert answer.protected == 2


def test_retract__of_an_asserted_fact_that_follows_too() -> None:
    store = family()
    store.add(
        Quad(
            Iri("http://e/tom"),
            Iri("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"),
            Iri("http://e/Dog"),
        )
    )
    answer = store.retract(":tom a :Dog")
    assert sorted(len(one.quads) for one in answer) == [2, 2]


def test_retract__removes_a_fact_from_all_graphs_of_the_scope() -> None:
    store = Store()
    store.load("<http://e/a> <http://e/p> <http://e/b> <http://e/g> .", "nq")
    store.load("<http://e/a> <http://e/p> <http://e/b> <http://e/h> .", "nq")
    rule = "@prefix : <http://e/> . :q[?y, ?x] :- :p[?x, ?y] ."
    store.reason(rules=rule, scope=["http://e/g"])
    (repair,) = store.retract("<http://e/b> <http://e/q> <http://e/a>")
    assert [str(quad.graph_name) for quad in repair.quads] == ["<http://e/g>"]


def test_retract__says_that_more_may_exist() -> None:
    answer = family().retract(":tom a :Dog", most=1)
    assert len(answer) == 1
    assert answer.more
    assert "limited to 1 removals" in answer.reason


def test_retract__says_that_negations_may_have_other_reasons() -> None:
    store = Store()
    store.load("<http://e/a> <http://e/p> <http://e/b> .", "nt")
    store.reason(rules="@prefix : <http://e/> . :C[?x] :- :p[?x, ?y], NOT :D[?x] .")
    answer = store.retract("<http://e/a> a <http://e/C>")
    assert len(answer) == 1
    assert answer.more
    assert "negations" in answer.reason


def test_retract__refuses_what_does_not_hold() -> None:
    with pytest.raises(UsageError, match="does not hold"):
        family().retract(":kit a :Bird")


def test_retract__refuses_a_number_that_was_not_found() -> None:
    store = family()
    commit = store.commit
    with pytest.raises(UsageError, match="apply=7"):
        store.retract(":tom a :Dog", apply=7)
    assert store.commit == commit


def test_retract__notices_a_commit_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    store = family()
    begin = Store.transaction

    def late(self: Store, **options: object) -> object:
        store.add(Quad(Iri("http://e/x"), Iri("http://e/p"), Iri("http://e/y")))
        monkeypatch.setattr(Store, "transaction", begin)
        return begin(self)

    monkeypatch.setattr(Store, "transaction", late)
    with pytest.raises(ConflictError):
        store.retract(":tom a :Dog", apply=0)
    assert isinstance(store.why(":tom a :Dog"), Proof)


def test_retract__proves_axioms_that_are_inferred_themselves() -> None:
    store = Store()
    store.load(
        """@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
        :p :kind :q . :a :p :b .""",
        "ttl",
    )
    rule = """@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
        owl:inverseOf[?x, ?y] :- :kind[?x, ?y] ."""
    store.reason("owl-rl", rules=rule)
    answer = store.retract(":b :q :a")
    assert {str(one.quads[0].predicate) for one in answer} == {"<http://e/kind>", "<http://e/p>"}
