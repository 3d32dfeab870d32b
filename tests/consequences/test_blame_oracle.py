"""Blamed changes beside an oracle: without them the consequence does not come; alone, they do."""

from __future__ import annotations

import random

import pytest
from consequences.random_changes import random_store, random_triple
from pyoxigraph import Quad, Triple

from triplestore import Store, Transaction
from triplestore.consequences.blame import Blame, blame
from triplestore.consequences.closed_state import ClosedState
from triplestore.datalog.program import Atom, Constant, TripleAtom
from triplestore.store.explain import proof_of
from triplestore.store.readable import view_of
from triplestore.terms import key_of, term_of


def atom_of(triple: Triple) -> Atom:
    return TripleAtom(*(Constant(key_of(term)) for term in triple))


def triple_of(atom: Atom) -> Triple:
    assert isinstance(atom, TripleAtom)
    return Triple(*(term_of(term.key) for term in atom.terms))  # type: ignore[union-attr]


def holds(transaction: Transaction, atom: Atom) -> bool:
    return proof_of(view_of(transaction), atom, 0, 5.0) is not None


def changed(store: Store, added: set[Triple], removed: set[Triple], atom: Atom) -> bool:
    """Whether a fact holds after some changes."""
    with store.trial() as transaction:
        transaction.remove_all(Quad(*one) for one in removed)
        transaction.extend(Quad(*one) for one in added)
        return holds(transaction, atom)


def check(seed: int) -> int:
    """Check all blames of one random change; how many there were."""
    chance = random.Random(seed)
    store, axioms = random_store(chance, chance.randrange(4, 14))
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
        found = []
        for came in (True, False):
            made = blame(states[came], states[not came], net, came=came)
            found += [(came, *one) for one in causes_of(made, states[came])]
    for came, atom, causes in found:
        mine = {triple_of(one) for one in causes}
        assert mine <= (added if came else removed), (seed, atom)
        sets = {True: added, False: removed}
        only = {kind: mine if kind == came else set() for kind in sets}
        others = {kind: sets[kind] - (mine if kind == came else set()) for kind in sets}
        assert changed(store, only[True], only[False], atom) == came, (seed, "alone", atom, mine)
        assert changed(store, others[True], others[False], atom) != came, (seed, "out", atom, mine)
    return len(found)


def causes_of(made: Blame, state: ClosedState) -> list[tuple[Atom, list[Atom]]]:
    def atom(node: int) -> Atom:
        return state.closed.fact(made.graph.nodes.place(node))

    assert made.exact[made.inferred()].all()
    return [
        (atom(node), [atom(cause) for cause in made.sets.members[made.causes[node]]])
        for node in made.inferred().tolist()
    ]


def test_blame__is_enough_and_needed() -> None:
    assert sum(map(check, range(40))) > 60


@pytest.mark.long
def test_blame__is_enough_and_needed_in_many_changes() -> None:
    assert sum(map(check, range(1000, 3000))) > 5000
