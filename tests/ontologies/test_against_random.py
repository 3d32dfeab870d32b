"""Random ontologies under random changes: a store = the same from scratch = the oracle.

Each step of a schedule is one transaction, which takes away and states single triples: data,
axioms, cells of lists. Short here; the long form goes through thousands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from random import Random

import pytest
from pyoxigraph import Quad

from tests.ontologies.in_store import (
    differences,
    inconsistent,
    is_in_expression,
    listed,
    rules_for,
    store_of,
)
from tests.ontologies.oracle import Fact, close, term
from tests.ontologies.random_ontologies import KINDS, MALFORMED, Kind, make_pool, schedule
from triplestore import Store

# In a store literals are only in datatypes that are named, and neither replace an individual that
# is the same nor are replaced by it. From `C rdfs:subClassOf C` and `x owl:sameAs x`, which are
# trivial, nothing follows: not that this is so with the properties above these, either.
NAMED = frozenset([term("xsd:integer"), term("xsd:string")])
RULES = replace(
    rules_for("owl-rl"),
    datatypes=NAMED,
    reflexive=False,
    equal_to_itself=False,
    literals_replaced=False,
)
SIZE = 25
STEPS = 6

each_kind = pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])


def states(kind: Kind, seed: int, size: int, steps: int) -> Iterator[tuple[Store, list[Fact]]]:
    """A store after each step of a schedule, and what is stated in it."""
    random = Random(seed)
    pool = make_pool(random, kind, size)
    held: set[Fact] = set()
    with Store() as store:
        store.reason("owl-rl")
        for removed, added in schedule(random, pool, steps):
            with store.transaction() as transaction:
                for fact in removed:
                    transaction.remove(Quad(*fact))
                for fact in added:
                    transaction.add(Quad(*fact))
            held.difference_update(removed)
            held.update(added)
            yield store, sorted(held, key=pool.index)


def check(kind: Kind, seed: int, size: int = SIZE, steps: int = STEPS) -> None:
    for step, (store, facts) in enumerate(states(kind, seed, size, steps)):
        where = f"{kind.name}, seed {seed}, step {step}"
        if kind is not MALFORMED:
            closure = close(facts, RULES)
            left_out = partial(is_in_expression, held=closure.graph)
            assert differences(store, closure, left_out) == [], where
        with store_of(facts, "owl-rl") as anew:
            assert listed(store) == listed(anew), where
            assert inconsistent(store) == inconsistent(anew), where


@each_kind
def test_store__is_as_from_scratch_and_as_the_oracle(kind: Kind) -> None:
    check(kind, 0)


@pytest.mark.long
@each_kind
def test_store__is_as_from_scratch_and_as_the_oracle__long(kind: Kind) -> None:
    for seed in range(1000, 1500):
        check(kind, seed, size=SIZE + seed % 20, steps=2 * STEPS)
