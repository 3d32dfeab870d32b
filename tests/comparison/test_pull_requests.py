"""Scripted pull requests over the demo's city: blamed changes beside an oracle.

With its causes alone, a change happens; with all other changes and without these, it does not.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyoxigraph import Quad

from bench.inputs.pull_requests import EDITS, History, repository
from triplestore import Store
from triplestore.comparison.sides.files_of_side import files_in_git
from triplestore.comparison.sides.reasoning_options import Reasoning
from triplestore.comparison.sides.states import Limits, compared_states
from triplestore.consequences.blame import AssertedCause, BlamedChanges, blame
from triplestore.consequences.closed_state import ClosedState
from triplestore.datalog.program import Atom, Constant, TripleAtom
from triplestore.store.explain import proof_of
from triplestore.store.readable import view_of
from triplestore.terms import term_of

Checked = tuple[bool, Atom, dict[bool, set[Quad]]]
"""Whether a fact came, the fact, and its causes that were added and removed."""


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> History:
    return repository("city", tmp_path_factory.mktemp("city") / "work")


def check(history: History, number: int, sample: int) -> int:
    """Check some blames of one pull request; how many."""
    old, _, new = history.ranges[number].partition("..")
    sides = [files_in_git(name, history.folder) for name in (old, new)]
    reasoning = Reasoning.of(history.regimes, history.rules)
    cache = history.folder.parent / "cache"
    with compared_states(*sides, reasoning, cache, Limits()) as compared:
        dictionary = compared.after.dictionary
        states = {
            True: ClosedState(compared.after.tables, dictionary, compared.after.rules()),
            False: ClosedState(compared.before.tables, dictionary, compared.before.rules()),
        }
        blamed = blame(states, compared.net)
        chosen = list(sampled(blamed, states, random.Random(number), sample))
        every = {
            came: {
                quad_of(states[came], blamed, AssertedCause(came, node))
                for node, leaf in enumerate(blamed.blames[came].graph.nodes.leaf.tolist())
                if leaf
            }
            for came in states
        }
    (place,) = cache.glob("closures-*/*/store")
    with Store.read_only(place) as store:
        for came, fact, mine in chosen:
            others = {kind: every[kind] - mine[kind] for kind in every}
            assert holds_after(store, mine, fact) == came, (number, "alone", fact)
            assert holds_after(store, others, fact) != came, (number, "without", fact)
    return len(chosen)


def sampled(
    blamed: BlamedChanges, states: dict[bool, ClosedState], chance: random.Random, size: int
) -> Iterator[Checked]:
    for came, made in blamed.blames.items():
        relations = made.graph.nodes.relations
        triples = [r for name, r in relations.items() if isinstance(name, int)]
        nodes = [n for r in triples for n in range(r.first, r.first + len(r.keys))]
        inferred = [node for node in nodes if not made.graph.nodes.leaf[node]]
        for node in chance.sample(inferred, min(size, len(inferred))):
            assert made.exact[node]
            mine: dict[bool, set[Quad]] = {True: set(), False: set()}
            for cause in blamed.causes(came, node):
                mine[cause.came].add(quad_of(states[cause.came], blamed, cause))
            yield came, states[came].closed.fact(made.graph.nodes.place(node)), mine


def quad_of(state: ClosedState, blamed: BlamedChanges, cause: AssertedCause) -> Quad:
    fact = state.closed.fact(blamed.blames[cause.came].graph.nodes.place(cause.leaf))
    assert isinstance(fact, TripleAtom)
    return Quad(*(term_of(one.key) for one in fact.terms if isinstance(one, Constant)))


def holds_after(store: Store, changes: dict[bool, set[Quad]], fact: Atom) -> bool:
    with store.trial() as transaction:
        transaction.remove_all(changes[False])
        transaction.extend(changes[True])
        return proof_of(view_of(transaction), fact, 0, 10.0) is not None


def test_causes__of_a_pull_request_are_enough_and_needed(city: History, tmp_path: Path) -> None:
    assert check(city, 9, 4) == 8


@pytest.mark.long
@pytest.mark.parametrize("number", range(len(EDITS)))
def test_causes__of_all_pull_requests_are_enough_and_needed(city: History, number: int) -> None:
    check(city, number, 50)
