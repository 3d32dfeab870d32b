"""Rules that sleep while nothing can reach them: all that a store says is as if none did."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from pyoxigraph import Quad

from tests.ontologies.in_store import inconsistent, listed
from tests.ontologies.oracle import Fact
from tests.ontologies.random_ontologies import (
    EQUALITY,
    EVERYTHING,
    EXPRESSIONS,
    MANY,
    META,
    PLAIN,
    VALUES,
    Kind,
    make_pool,
    schedule,
)
from tests.ontologies.twins import Twins, sleeping_in
from triplestore import Store
from triplestore.reasoning.program import rules_on_demand
from triplestore.reasoning.program.in_force import InForce
from triplestore.reasoning.program.rules_on_demand import RulesOnDemand
from triplestore.reasoning.thresholds import REASONING

ONTOLOGY = """
    @prefix : <http://e/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    @prefix owl: <http://www.w3.org/2002/07/owl#> .
    :p rdfs:domain :A . :p rdfs:range :B . :A rdfs:subClassOf :C . :q rdfs:subPropertyOf :p .
    :C owl:disjointWith :D . :r a owl:TransitiveProperty . :p rdfs:subPropertyOf :r .
    :E owl:equivalentClass [ owl:onProperty :r ; owl:someValuesFrom :B ] .
    :F rdfs:subClassOf [ owl:onProperty :q ; owl:allValuesFrom :G ] . :G rdfs:domain :H ."""
NAMES = "PREFIX : <http://e/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
KINDS = [PLAIN, EXPRESSIONS, EQUALITY, META, VALUES, EVERYTHING]


@pytest.fixture(autouse=True)
def any_share(tune: Callable[..., None]) -> None:
    """Rules sleep however many are awake."""
    tune(REASONING, awake_share=1)


@pytest.fixture(params=[True, False], ids=["made on demand", "made at once"])
def both(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules that sleep are made when they are asked for, or at once."""
    if not request.param:
        monkeypatch.setattr(rules_on_demand, "find_sleeping_axioms", lambda *_: None)


def store_of(text: str) -> Store:
    store = Store()
    store.load(text, format="turtle")
    store.reason("owl-rl")
    return store


def holds(store: Store, pattern: str) -> bool:
    return bool(store.query(NAMES + f"ASK {{ {pattern} }}"))


# -- one after the other --------------------------------------------------------------------------


@pytest.mark.usefixtures("both")
def test_sleeping__ontology_without_data__few_rules_are_compiled() -> None:
    with store_of(ONTOLOGY) as store:
        rules = store._view().rules()
        assert isinstance(rules, InForce) and rules.sleeping is not None
        compiled = store._reasoner.find(rules, store._view().dictionary)
        assert compiled is not None
        assert len(compiled.rules) < rules.rule_count == len(store.program.rules)


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize(
    ("data", "follows"),
    [
        (":x :p :y", ":x a :A, :C, :E . :y a :B . :x :r :y"),
        (":x :q :y", ":x a :A, :C, :E . :x :r :y"),
        (":x a :A", ":x a :C"),
        (":x a :F ; :q :y", ":y a :G"),
    ],
)
def test_sleeping__first_fact__wakes_all_that_follows(data: str, follows: str) -> None:
    with store_of(ONTOLOGY) as store:
        before = listed(store)
        store.update(NAMES + f"INSERT DATA {{ {data} }}")
        assert holds(store, follows)
        assert store.verify(closure=True) == []
        store.update(NAMES + f"DELETE DATA {{ {data} }}")
        assert listed(store) == before
        store.update(NAMES + f"INSERT DATA {{ {data} }}")
        assert holds(store, follows)


@pytest.mark.usefixtures("both")
def test_sleeping__fact_of_no_rule__wakes_nothing() -> None:
    with store_of(ONTOLOGY) as store:
        store.update(NAMES + 'INSERT DATA { :A rdfs:comment "some" . :x :unknown :y }')
        assert sleeping_in(store) is not None


@pytest.mark.usefixtures("both")
def test_sleeping__constraint__is_reported_with_its_first_violation() -> None:
    with store_of(ONTOLOGY) as store:
        store.update(NAMES + "INSERT DATA { :x a :D . :x :p :y }")
        assert inconsistent(store) == {"cax-dw"}


@pytest.mark.usefixtures("both")
def test_sleeping__transaction_given_up__sleeps_on_and_wakes_later() -> None:
    with store_of(ONTOLOGY) as store:
        with pytest.raises(ValueError, match="no"), store.transaction() as transaction:
            transaction.update(NAMES + "INSERT DATA { :x :p :y . :z a :New }")
            assert transaction.query(NAMES + "ASK { :x a :C }")
            raise ValueError("no")
        assert sleeping_in(store) is not None
        store.update(NAMES + "INSERT DATA { :new :p :other }")
        assert holds(store, ":new a :C")
        assert store.verify(closure=True) == []


@pytest.mark.usefixtures("both")
def test_sleeping__reopened_and_optimized__wakes(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        store.load(ONTOLOGY, format="turtle")
        store.reason("owl-rl")
    with Store(tmp_path / "s") as store:
        assert sleeping_in(store) is not None
        store.optimize()
        store.update(NAMES + "INSERT DATA { :x :p :y . :y :p :z }")
        assert holds(store, ":x a :E ; :r :z")
    with Store(tmp_path / "s") as store:
        store.update(NAMES + "DELETE DATA { :x :p :y }")
        assert not holds(store, ":x a ?c")
        assert store.verify(closure=True) == []


# -- at random ------------------------------------------------------------------------------------


def about_data(fact: Fact) -> bool:
    return fact[0] in MANY


def check(
    kind: Kind, seed: int, path: Path, patch: pytest.MonkeyPatch, steps: int = 6
) -> tuple[int, int]:
    """Axioms first, then data and axioms by turns; how many states had rules that slept, and rules
    that were not made yet."""
    random = Random(seed)
    pool = make_pool(random, kind, 25)
    first = [fact for fact in pool if not about_data(fact)]
    twins, slept, unmade = Twins(path, patch), 0, 0
    twins.step([], first, regime=True)
    held = set(first)
    for step, (removed, added) in enumerate(schedule(random, pool, steps)):
        if step:  # the first would state nearly all at once
            changed = {*removed, *added}
            gone = sorted(changed & held, key=pool.index)
            come = sorted(changed - held, key=pool.index)
            twins.step(gone, come, regime=random.random() < 0.1)
            held ^= changed
        if random.random() < 0.25:
            twins.reopen()
        slept += sleeping_in(twins.one) is not None
        unmade += isinstance(twins.one._view().rules(), RulesOnDemand)
        twins.compare(random, f"{kind.name}, seed {seed}, step {step}")
    with Store() as anew:
        anew.extend(Quad(*fact) for fact in held)
        anew.reason("owl-rl")
        assert listed(anew) == listed(twins.one)
    twins.one.close()
    twins.other.close()
    return slept, unmade


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_sleeping__random_changes__as_if_nothing_slept(
    kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept = [check(kind, seed, tmp_path / str(seed), monkeypatch) for seed in range(1)]
    for found in zip(*slept, strict=True):
        assert any(found) or kind not in (PLAIN, EXPRESSIONS)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_sleeping__random_changes__as_if_nothing_slept__long(
    kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(1000, 1100):
        check(kind, seed, tmp_path / str(seed), monkeypatch, steps=12)
