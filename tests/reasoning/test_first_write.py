"""The first write after opening: it knows what it needs of the whole without reading the whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from triplestore import Store
from triplestore.reasoning.program.in_force import InForce, make_program
from triplestore.reasoning.program.literals import Literals
from triplestore.reasoning.program.settings import ReasonSettings
from triplestore.reasoning.reasoner import rules_of_state
from triplestore.terms import Dictionary
from triplestore.terms.spans import U32

PREFIXES = """PREFIX : <http://ex.org/> PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""
AXIOMS = """:takes rdfs:domain :Student . :Student rdfs:subClassOf :Person .
:knows a owl:SymmetricProperty .
"""
NUMBERS = ["'1'^^xsd:integer", "'x'^^xsd:integer", "'y'^^xsd:date"]
NUMBERS += ["'z'^^:unknown", "'q'^^xsd:byte"]


def literals_as_looked_at(store: Store) -> set[bytes]:
    """The slow way: all terms are looked at."""
    return set(Literals().looked_at(store._database.state.dictionary).ill)


def rules_in_force(store: Store) -> InForce:
    rules = rules_of_state(store._database.state)
    assert isinstance(rules, InForce)
    return rules


@pytest.mark.parametrize("seed", range(6))
def test_first_write__ill_typed_literals_are_those_of_the_closure(
    tmp_path: Path, seed: int
) -> None:
    random, path = Random(seed), tmp_path / "db"
    with Store(path) as store:
        store.update(PREFIXES + "INSERT DATA {" + (AXIOMS if seed % 2 else ":a :b :c .") + "}")
        store.reason("owl-rl")
    for _ in range(4):
        with Store(path) as store:
            known = rules_in_force(store)
            assert set(known.literals.ill) == literals_as_looked_at(store)
            state = store._database.state
            regimes = ReasonSettings.of(state.meta).regimes
            made = make_program(regimes, None, state.tables, state.dictionary)
            assert set(known.program.rules) == set(made.program.rules)
            value = random.choice(NUMBERS)
            verb = random.choice(["INSERT", "INSERT", "DELETE"])
            store.update(PREFIXES + f"{verb} DATA {{ :x{random.randrange(2)} :takes {value} }}")
            if random.random() < 0.3:
                store.optimize()
            assert store.verify(closure=True) == []


def test_first_write__looks_at_no_term_of_earlier_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(tmp_path / "db") as store:
        store.update(PREFIXES + "INSERT DATA {" + AXIOMS + ":x :takes 'x'^^xsd:integer }")
        store.reason("owl-rl")
    looked_at: list[int] = []
    of_kind = Dictionary.of_kind

    def noted(dictionary: Dictionary, kind: int, since: int = 0) -> Iterator[U32]:
        looked_at.append(since)
        return of_kind(dictionary, kind, since)

    monkeypatch.setattr(Dictionary, "of_kind", noted)
    with Store(tmp_path / "db") as store:
        committed = store._database.state.term_count
        store.update(PREFIXES + "INSERT DATA { :new :takes 'y'^^xsd:integer }")
        assert looked_at and min(looked_at) == committed
        assert len(list(store.violations())) == 2
