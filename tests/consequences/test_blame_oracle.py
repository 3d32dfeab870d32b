"""Blamed changes beside an oracle: without them the consequence does not come; alone, they do."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from consequences.random_changes import random_store, random_triple
from pyoxigraph import Quad, Triple

from triplestore import Store, Transaction
from triplestore.consequences.blame import BlamedChanges, blame
from triplestore.consequences.closed_state import ClosedState
from triplestore.consequences.thresholds import CONSEQUENCES
from triplestore.datalog.program import Atom, Constant, TripleAtom
from triplestore.reasoning.difference import net_changes
from triplestore.store.explain import proof_of
from triplestore.store.readable import view_of
from triplestore.terms import key_of, term_of

HEAD = """@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:p a owl:TransitiveProperty .
"""


def atom_of(triple: Triple) -> Atom:
    return TripleAtom(*(Constant(key_of(term)) for term in triple))


def triple_of(atom: Atom) -> Triple:
    assert isinstance(atom, TripleAtom)
    return Triple(*(term_of(term.key) for term in atom.terms))


def holds(transaction: Transaction, atom: Atom) -> bool:
    return proof_of(view_of(transaction), atom, 0, 5.0) is not None


def changed(store: Store, added: set[Triple], removed: set[Triple], atom: Atom) -> bool:
    """Whether a fact holds after some changes."""
    with store.trial() as transaction:
        transaction.remove_all(Quad(*one) for one in removed)
        transaction.extend(Quad(*one) for one in added)
        return holds(transaction, atom)


def check(seed: int, *, absence: bool = False) -> int:
    """Check all blames of one random change; how many there were."""
    chance = random.Random(seed)
    store, axioms = random_store(chance, chance.randrange(4, 14), absence=absence)
    before = store.snapshot()
    asserted = {one.triple for one in store.quads_for_pattern(None, None, None, facts="explicit")}
    removed = set(chance.sample(sorted(asserted, key=str), min(len(asserted), chance.randrange(4))))
    added = {random_triple(chance, axioms) for _ in range(chance.randrange(5))} - asserted
    with store.trial() as transaction:
        transaction.remove_all(Quad(*one) for one in removed)
        transaction.extend(Quad(*one) for one in added)
        net = transaction.diff().net
        old, new = view_of(before), view_of(transaction)
        states = {
            False: ClosedState(old.tables, new.dictionary, old.rules()),
            True: ClosedState(new.tables, new.dictionary, new.rules()),
        }
        blamed = blame(states, net)
        found = [one for came in states for one in causes_of(blamed, states, came)]
    for came, atom, mine in found:
        kinds = {True: added, False: removed}
        for kind, every in kinds.items():
            assert mine[kind] <= every, (seed, atom)
        others = {kind: kinds[kind] - mine[kind] for kind in kinds}
        assert changed(store, mine[True], mine[False], atom) == came, (seed, "alone", atom, mine)
        assert changed(store, others[True], others[False], atom) != came, (seed, "out", atom, mine)
    return len(found)


def causes_of(
    blamed: BlamedChanges, states: dict[bool, ClosedState], came: bool
) -> Iterator[tuple[bool, Atom, dict[bool, set[Triple]]]]:
    """The inferred facts of one direction, each with its causes of both."""

    def atom(direction: bool, node: int) -> Atom:
        return states[direction].closed.fact(blamed.blames[direction].graph.nodes.place(node))

    made = blamed.blames[came]
    assert made.exact[made.inferred()].all()
    for node in made.inferred().tolist():
        if "x-triplestore:" in str(atom(came, node)) and not isinstance(
            atom(came, node), TripleAtom
        ):
            continue
        causes = blamed.causes(came, node)
        mine: dict[bool, set[Triple]] = {True: set(), False: set()}
        for cause in causes:
            mine[cause.came].add(triple_of(atom(cause.came, cause.leaf)))
        yield came, atom(came, node), mine


def test_blame__is_enough_and_needed() -> None:
    assert sum(map(check, range(40))) > 60


def test_blame__is_enough_and_needed_with_negations_and_aggregates() -> None:
    assert sum(check(seed, absence=True) for seed in range(60)) > 30


def test_blame__is_enough_and_needed_where_pairs_are_matched_with_edges() -> None:
    with CONSEQUENCES.changed(pairs_by_edges=0):
        assert sum(map(check, range(40, 70))) > 40


def test_blame__of_a_large_closure_names_the_edge() -> None:
    store = Store()
    store.load(HEAD + "".join(f":a{i} :p :a{i + 1} .\n" for i in range(120) if i != 60), "ttl")
    store.reason("owl-rl")
    before = view_of(store.snapshot())
    store.load(HEAD + ":a60 :p :a61 .", "ttl")
    after = view_of(store)
    states = {
        True: ClosedState(after.tables, after.dictionary, after.rules()),
        False: ClosedState(before.tables, after.dictionary, before.rules()),
    }
    net = net_changes(before.tables, after.tables, after.tables.layers, cleared=False)
    made = blame(states, net).blames[True]
    assert len(made.inferred()) == 61 * 60 - 1
    assert len(set(made.causes[made.inferred()].tolist())) == 1
    assert made.exact[made.inferred()].all()


def test_blame__of_one_rule_that_two_axioms_give_names_both() -> None:
    check(1806)


@pytest.mark.long
def test_blame__is_enough_and_needed_in_many_changes() -> None:
    assert sum(map(check, range(1000, 3000))) > 4000
    assert sum(check(seed, absence=True) for seed in range(1000, 3000)) > 1000
