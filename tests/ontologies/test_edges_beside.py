"""Sub-class axioms that stand beside the program of a store: the same as rules of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest
from pyoxigraph import NamedNode

from tests.ontologies.in_store import listed
from tests.ontologies.random_ontologies import KINDS, Kind
from tests.ontologies.test_against_random import check
from triplestore import Store
from triplestore.datalog.text import read
from triplestore.reasoning.program import in_force
from triplestore.reasoning.program.in_force import InForce
from triplestore.reasoning.program.subclass_edges import SubclassEdges, WholeProgram
from triplestore.rules.thresholds import RULES
from triplestore.terms import Dictionary

CHAIN = """
    @prefix : <http://e/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    @prefix owl: <http://www.w3.org/2002/07/owl#> .
    :A rdfs:subClassOf :B . :B rdfs:subClassOf :C . :x a :A ."""
NAMES = "PREFIX : <http://e/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "


@pytest.fixture(autouse=True)
def few(tune: Callable[..., None]) -> None:
    """A few axioms are enough for a hierarchy at the bottom."""
    tune(RULES, many_subclasses=1)


def store_of(text: str, *regimes: str) -> Store:
    store = Store()
    store.load(text, format="turtle")
    store.reason(*regimes or ("owl-rl",))
    return store


def in_force_in(store: Store) -> InForce:
    rules = store._view().rules()
    assert isinstance(rules, InForce)
    return rules


def holds(store: Store, pattern: str) -> bool:
    return bool(store.query(NAMES + f"ASK {{ {pattern} }}"))


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_edges__random_changes__are_as_from_scratch_and_as_the_oracle(kind: Kind) -> None:
    check(kind, 77)


def test_edges__are_no_rules_until_somebody_asks() -> None:
    with store_of(CHAIN) as store:
        rules = in_force_in(store)
        assert rules.whole.edges is not None
        assert len(rules.whole.edges) == 2
        assert "program" not in rules.__dict__
        names = [rule.name for rule in store.program.rules if rule.axioms]
        assert names == ["cax-sco", "cax-sco"]
        assert rules.rule_count == len(store.program.rules)


@pytest.mark.parametrize("regime", ["rdfs", "owl-rl", "owl-horst", "skos"])
def test_edges__program_and_report__as_when_they_are_rules(
    regime: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store() as store, Store() as other:
        for one in (store, other):
            one.load(CHAIN, format="turtle")
        report = store.reason(regime)
        monkeypatch.setattr(in_force, "_rule_beside", lambda *_: None)
        wanted = other.reason(regime)
        assert store.program == other.program
        assert listed(store) == listed(other)
        assert (report.rules, report.axioms, report.rules_by_id) == (
            wanted.rules,
            wanted.axioms,
            wanted.rules_by_id,
        )


def test_edges__said_in_two_ways__stay_until_both_are_gone() -> None:
    with store_of(CHAIN + " :A owl:equivalentClass :B .") as store:
        assert in_force_in(store).rule_count == len(store.program.rules)
        store.update(NAMES + "DELETE DATA { :A rdfs:subClassOf :B }")
        assert holds(store, ":x a :C")
        store.update(NAMES + "INSERT DATA { :A rdfs:subClassOf :B }")
        store.update(
            NAMES + "DELETE DATA { :A <http://www.w3.org/2002/07/owl#equivalentClass> :B }"
        )
        assert holds(store, ":x a :B, :C")
        store.update(NAMES + "DELETE DATA { :A rdfs:subClassOf :B }")
        assert not holds(store, ":x a :B")


def test_edges__into_classes_that_axioms_are_made_of__are_premises() -> None:
    data = CHAIN + " :Ancestral rdfs:subClassOf owl:TransitiveProperty . :p a :Ancestral ."
    with store_of(data + " :x :p :y . :y :p :z .") as store:
        assert in_force_in(store).whole.edges is None
        assert holds(store, ":x :p :z")
        store.update(
            NAMES + "DELETE WHERE { :Ancestral rdfs:subClassOf ?c }; INSERT DATA { :y a :B }"
        )
        assert in_force_in(store).whole.edges is not None
        assert not holds(store, ":x :p :z")
        assert holds(store, ":y a :C")


def test_edges__circle_closed_and_opened_again() -> None:
    with store_of(CHAIN) as store:
        before = listed(store)
        for _ in range(2):
            store.update(NAMES + "INSERT DATA { :C rdfs:subClassOf :A . :y a :C }")
            assert holds(store, ":y a :A, :B . :B rdfs:subClassOf :A")
            store.update(NAMES + "DELETE DATA { :C rdfs:subClassOf :A . :y a :C }")
            assert listed(store) == before


def test_edges__transaction_given_up__changes_nothing() -> None:
    with store_of(CHAIN) as store:
        before = listed(store)
        with pytest.raises(ValueError, match="no"), store.transaction() as transaction:
            transaction.update(NAMES + "INSERT DATA { :C rdfs:subClassOf :New }")
            assert transaction.query(NAMES + "ASK { :x a :New }")
            raise ValueError("no")
        assert listed(store) == before
        store.update(NAMES + "INSERT DATA { :C rdfs:subClassOf :Other . :Other :q :New }")
        assert holds(store, ":x a :Other")
        assert not holds(store, ":x a :New")


def test_edges__reopened__are_read_again_and_exact(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        store.load(CHAIN, format="turtle")
        store.reason("owl-rl")
        store.update(NAMES + "INSERT DATA { :C rdfs:subClassOf :D }")
    with Store(tmp_path / "s") as store:
        assert holds(store, ":x a :D")
        store.update(NAMES + "DELETE DATA { :B rdfs:subClassOf :C }")
        assert not holds(store, ":x a :D")
        assert store.verify(closure=True) == []
        store.optimize()
        store.update(NAMES + "INSERT DATA { :B rdfs:subClassOf :C }")
        assert holds(store, ":x a :D")
        assert store.verify(closure=True) == []


def test_edges__count_beyond__is_the_size_of_the_difference() -> None:
    random, words = Random(1), Dictionary()
    names = {name: words.encode([NamedNode(f"http://e/{name}")])[0] for name in "abcd"}
    pairs = [(one, other) for one in names for other in names if one != other]

    def some() -> WholeProgram:
        chosen = [pair for pair in pairs if random.random() < 0.3]
        keys = sorted(int(names[one]) << 32 | int(names[other]) for one, other in chosen)
        edges = SubclassEdges(words, np.array(keys, dtype=np.uint64), "cax-sco")
        written = [pair for pair in pairs if random.random() < 0.3]
        rules = [f"<http://e/{b}>[?x] :- <http://e/{a}>[?x] ." for a, b in written]
        rules.append("<http://e/a>[?x] :- <http://e/b>[?x], <http://e/c>[?x] .")
        rules = random.sample(rules, random.randint(0, len(rules)))
        return WholeProgram(read(" ".join(rules)), edges if random.random() < 0.7 else None)

    every = [some() for _ in range(40)]
    for one in every:
        for other in every:
            assert one.count_beyond(other) == len(one - other)
