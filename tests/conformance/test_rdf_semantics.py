"""The W3C's tests of RDF semantics: simple, RDF and RDFS entailment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conformance.entailment import entails
from tests.conformance.rdf_semantics import EntailmentCase, read_cases
from tests.ontologies.in_store import listed, store_of
from tests.ontologies.oracle import Graph, RuleSet, close, rdfs

DATA = Path(os.environ.get("TRIPLESTORE_DATA", Path(__file__).parents[3] / "shared" / "data"))
CASES = read_cases(DATA) if (DATA / "w3c-rdf-tests").is_dir() else []

# What is not as the tests have it, and why.
EXCEPTIONS = {
    "datatypes-non-well-formed-literal-1": "asks for xsd:integer to be unknown; it is always known",
}


def marks(case: EntailmentCase) -> list[pytest.MarkDecorator]:
    reason = EXCEPTIONS.get(case.name)
    return [] if reason is None else [pytest.mark.xfail(reason=reason)]


each_case = pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.name, marks=marks(case)) for case in CASES]
)


def rules_of(case: EntailmentCase) -> RuleSet:
    if case.regime == "RDFS":
        return rdfs(case.premise + (case.conclusion or []))
    patterns = [rule for rule in rdfs([]).patterns if rule.name == "rdf1"]
    return RuleSet(patterns if case.regime == "RDF" else [], literals=True)


@pytest.mark.skipif(not CASES, reason=f"no W3C suites at {DATA} (set TRIPLESTORE_DATA)")
def test_cases__are_all_found() -> None:
    assert len(CASES) == 48


@each_case
def test_oracle__entails_what_it_must(case: EntailmentCase) -> None:
    closure = close(case.premise, rules_of(case))
    follows = case.conclusion is not None and entails(closure.graph, case.conclusion)
    assert (bool(closure.violations) or follows) == case.positive


# What a store does not show: it lists triples of RDF, in which no literal is a subject, and has no
# regime for RDF without RDFS.
NOT_SHOWN = EXCEPTIONS | {
    "literal-type": "the blank node would be a literal that is the subject of a triple",
}


@pytest.mark.parametrize("case", [case for case in CASES if case.name not in NOT_SHOWN], ids=str)
def test_store__entails_what_it_must(case: EntailmentCase) -> None:
    regime = "none" if case.regime == "simple" else "rdfs"
    with store_of(case.premise, regime, trivial=True) as store:
        follows = case.conclusion is not None and entails(Graph(listed(store)), case.conclusion)
        assert (bool(store.violations()) or follows) == case.positive
