"""Random schedules of writes to a store on disk under equality, each step beside a plain model.

The model is the set of stated triples, and the mode. What has to hold after a step is asked of two
new stores of the same triples, one for each mode, and of the slow oracle.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from random import Random

from pyoxigraph import DefaultGraph, Quad, RdfFormat, serialize

from tests.ontologies.in_store import differences, is_in_expression
from tests.ontologies.oracle import Closure, Fact, close
from tests.ontologies.random_ontologies import Kind, make_pool
from tests.ontologies.test_against_random import RULES
from tests.reasoning.equal_stores import MODES, assert_kept, bag, violations_of
from triplestore import Store
from triplestore.store.readable import ReadableStore

STRATEGIES = ("auto", "dred_c", "counting", "fbf_c", "bf", "dred", "rematerialise")
SCHEMES = ("auto", "plain", "compressed")
FACTS = ("all", "explicit", "inferred")
COUNT = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"


class Schedule:
    """A store, what is stated in it, and the steps that led there."""

    def __init__(self, random: Random, kind: Kind, path: Path, size: int) -> None:
        self.random = random
        self.pool = make_pool(random, kind, size)
        self.path = path
        self.held: dict[Fact, None] = {}
        self.done: list[str] = []
        self.mode = random.choice(MODES)
        self.store = Store(path, durability="flush")
        self._reason(self.mode)

    def close(self) -> None:
        self.store.close()

    def step(self) -> None:
        """One random write, or another way to come to the same state."""
        steps = [self._one] * 5 + [self._batch, self._load, self._reopen] * 2
        steps += [self._optimize, self._switch, self._delete_where]
        chosen = self.random.choice(steps if self.held else [self._batch, self._load])
        self.done.append(chosen.__name__)
        chosen()

    def check(self) -> None:
        """All numbers are those of the rows, and all facts those of new stores, in either mode."""
        facts = list(self.held)
        assert_counted(self.store)
        problems = [*self.store.verify(), *self.store.audit().problems()]
        assert problems == [], problems
        assert_kept(self.store)
        for mode in MODES:
            with fresh(facts, mode) as other:
                assert_counted(other)
                for which in FACTS:
                    wrong = {*bag(self.store, which)} ^ {*bag(other, which)}
                    assert not wrong, (mode, which, wrong)
                assert violations_of(self.store) == violations_of(other), mode

    def check_with_oracle(self) -> None:
        closure = close(self.held, RULES)
        wrong = found_otherwise(self.store, closure)
        assert wrong == [], wrong

    # -- steps ----------------------------------------------------------------------------------

    def _one(self) -> None:
        self._change([self.random.choice(self.pool)])

    def _batch(self) -> None:
        few = self.random.randint(1, max(1, len(self.pool) // 2))
        self._change(self.random.sample(self.pool, few))

    def _change(self, chosen: list[Fact]) -> None:
        with self.store.transaction() as t:
            for fact in chosen:
                (t.remove if fact in self.held else t.add)(Quad(*fact))
        for fact in chosen:
            if fact in self.held:
                del self.held[fact]
            else:
                self.held[fact] = None

    def _load(self) -> None:
        few = self.random.randint(1, len(self.pool))
        chosen = self.random.sample(self.pool, few)
        quads = [Quad(*fact) for fact in chosen]
        text = serialize(quads, format=RdfFormat.N_QUADS).decode()
        if "_:" in text:  # a loader gives blank nodes names of its own
            self.store.extend(quads)
        else:
            self.store.load(text, "nquads")
        self.held.update(dict.fromkeys(chosen))

    def _delete_where(self) -> None:
        """An update that finds stated and inferred facts, and deletes the stated ones."""
        p = self.random.choice(list(self.held))[1]
        if str(p).startswith("_:"):
            return
        self.store.update(f"DELETE WHERE {{ ?s {p} ?o }}")
        self.held = {fact: None for fact in self.held if fact[1] != p}

    def _reopen(self) -> None:
        self.store.close()
        self.store = Store(self.path, durability="flush")

    def _optimize(self) -> None:
        self.store.optimize()

    def _switch(self) -> None:
        self._reason(self.random.choice(MODES))

    def _reason(self, mode: str) -> None:
        tuning = {
            "strategy": self.random.choice(STRATEGIES),
            "schemes": self.random.choice(SCHEMES),
            "max_seconds": 300,
        }
        self.done.append(f"{mode} {tuning}")
        self.store.reason("owl-rl", equality=mode, tuning=tuning)


def fresh(facts: Iterable[Fact], mode: str) -> Store:
    """A new store of these facts."""
    store = Store()
    store.extend(Quad(*fact) for fact in facts)
    store.reason("owl-rl", equality=mode)
    return store


def assert_counted(store: ReadableStore) -> None:
    """What is known without counting is what is found by counting."""
    for which in FACTS:
        listed = sum(1 for _ in store.quads_for_pattern(None, None, None, None, facts=which))
        assert store.count(which) == listed, (which, store.count(which), listed)
        ((number,),) = store.query(COUNT, facts=which)
        in_default = store.quads_for_pattern(None, None, None, DefaultGraph(), facts=which)
        assert int(number.value) == sum(1 for _ in in_default), which


def found_otherwise(store: ReadableStore, closure: Closure) -> list[str]:
    """What differs from the slow oracle, types in anonymous class expressions left out."""
    return differences(store, closure, partial(is_in_expression, held=closure.graph))
