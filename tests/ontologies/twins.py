"""Stores with one history, in one of which rules sleep, and are not made before they are needed."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from pyoxigraph import Quad

from tests.ontologies.in_store import listed
from tests.ontologies.oracle import Fact
from tests.ontologies.random_ontologies import CLASSES, INDIVIDUALS, PROPERTIES, TYPE
from triplestore import Store
from triplestore.reasoning.program import in_force, rules_on_demand
from triplestore.reasoning.program.in_force import InForce
from triplestore.reasoning.program.sleeping_rules import Sleeping


def sleeping_in(store: Store) -> Sleeping | None:
    rules = store._view().rules()
    assert isinstance(rules, InForce)
    return rules.sleeping


class Twins:
    """Two stores with the same history; in one of them nothing ever sleeps."""

    def __init__(self, path: Path, patch: pytest.MonkeyPatch) -> None:
        self.path, self._patch = path, patch
        self.one, self.other = Store(path), Store()

    def step(self, removed: list[Fact], added: list[Fact], regime: bool) -> None:
        self._change(self.one, removed, added, regime)
        with self._patch.context() as context:
            context.setattr(in_force, "find_sleeping", lambda *_: None)
            context.setattr(rules_on_demand, "find_sleeping_axioms", lambda *_: None)
            self._change(self.other, removed, added, regime)

    def _change(self, store: Store, removed: list[Fact], added: list[Fact], regime: bool) -> None:
        with store.transaction() as transaction:
            for fact in removed:
                transaction.remove(Quad(*fact))
            for fact in added:
                transaction.add(Quad(*fact))
        if regime:
            store.reason("owl-rl")

    def reopen(self) -> None:
        self.one.close()
        self.one = Store(self.path)

    def compare(self, random: Random, where: str) -> None:
        one, other = self.one, self.other
        assert listed(one) == listed(other), where
        assert sorted(map(str, one.violations())) == sorted(map(str, other.violations())), where
        assert one.program == other.program, where
        assert one.info().rules == other.info().rules, where
        assert one.info().constraints == other.info().constraints, where
        assert one.verify(closure=True) == [], where
        known = listed(one)
        for _ in range(2):
            fact = (random.choice(INDIVIDUALS[:-1]), TYPE, random.choice(CLASSES))
            if random.random() < 0.5:
                fact = (fact[0], random.choice(PROPERTIES), random.choice(INDIVIDUALS[:-1]))
            if fact not in known:
                assert str(one.why(fact)) == str(other.why(fact)), where
