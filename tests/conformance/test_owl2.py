"""The W3C's OWL 2 test cases of the RL profile.

Consistency, inconsistency and negative entailments all hold; of positive entailments, those that
tables 4 to 9 derive. `owl2_entailments.tsv` says of each which it is, and why.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyoxigraph import Quad

from tests.conformance.entailment import entails
from tests.conformance.owl2 import OwlCase, read_cases
from tests.conformance.sort_entailments import REASONS, read_table, sort
from tests.ontologies.in_store import listed, store_of
from tests.ontologies.oracle import Graph, close

DATA = Path(os.environ.get("TRIPLESTORE_DATA", Path(__file__).parents[3] / "shared" / "data"))
CASES = read_cases(DATA) if (DATA / "owl2-testcases").is_dir() else []
STATUS = {name: status for name, status, _ in read_table()}

needs_cases = pytest.mark.skipif(
    not CASES, reason=f"no OWL 2 test cases at {DATA} (set TRIPLESTORE_DATA)"
)


def of_type(kind: str) -> pytest.MarkDecorator:
    chosen = [case for case in CASES if f"{kind}Test" in case.types]
    return pytest.mark.parametrize("case", chosen, ids=[case.name for case in chosen])


def required(case: OwlCase) -> bool:
    return STATUS[case.name] == "required"


@needs_cases
def test_cases__are_all_found() -> None:
    counts = {
        kind: sum(kind + "Test" in case.types for case in CASES)
        for kind in ("PositiveEntailment", "NegativeEntailment", "Consistency", "Inconsistency")
    }
    assert list(counts.values()) == [31, 7, 78, 14]


@needs_cases
def test_table__says_what_the_rules_derive() -> None:
    assert read_table() == sort(CASES)
    assert {name for name, status in STATUS.items() if status == "not required"} == set(REASONS)
    assert sum(status == "required" for status in STATUS.values()) == 11


@of_type("Consistency")
def test_oracle__is_consistent(case: OwlCase) -> None:
    assert not close(case.facts("premise")).violations


@of_type("Inconsistency")
def test_oracle__is_inconsistent(case: OwlCase) -> None:
    assert close(case.facts("premise")).violations


@of_type("NegativeEntailment")
def test_oracle__does_not_entail(case: OwlCase) -> None:
    assert not entails(close(case.facts("premise")).graph, case.facts("nonconclusion"))


# In a store: the same, and what it derives beyond what is required.
BEYOND: set[str] = set()


@of_type("Consistency")
def test_store__is_consistent(case: OwlCase) -> None:
    with store_of(case.facts("premise"), "owl-rl", trivial=True) as store:
        assert store.violations() == []


@of_type("Inconsistency")
def test_store__is_inconsistent(case: OwlCase) -> None:
    with store_of(case.facts("premise"), "owl-rl", trivial=True) as store:
        assert store.violations() != []


@of_type("PositiveEntailment")
def test_store__entails_what_is_required(case: OwlCase) -> None:
    conclusion = case.facts("conclusion")
    with store_of(case.facts("premise"), "owl-rl", trivial=True) as store:
        entailed = entails(Graph(listed(store)), [f for f in conclusion if Quad(*f) not in store])
    assert entailed == (required(case) or case.name in BEYOND)


@of_type("NegativeEntailment")
def test_store__does_not_entail(case: OwlCase) -> None:
    with store_of(case.facts("premise"), "owl-rl", trivial=True) as store:
        assert not entails(Graph(listed(store)), case.facts("nonconclusion"))
