"""The W3C's tests of SPARQL under entailment: those of RDF and RDFS, and of OWL 2 RL.

A store lists what is trivial, too, as the entailment regimes of SPARQL have it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyoxigraph import BlankNode, NamedNode

from tests.conformance.entailment import read_facts
from tests.conformance.sparql_evaluation import Evaluation, evaluations, expected, same_rows
from tests.ontologies.oracle import Graph, Term
from triplestore import Store

DATA = Path(os.environ.get("TRIPLESTORE_DATA", Path(__file__).parents[3] / "shared" / "data"))
ROOT = DATA / "w3c-rdf-tests" / "sparql"
MANIFEST = ROOT / "sparql11" / "entailment" / "manifest.ttl"
MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
SD = "http://www.w3.org/ns/sparql-service-description#"

# Tests that name the RL profile, but ask for the direct semantics, and what they need of it.
BEYOND = {"simple1": "asks about a class expression that only the query has"}


@dataclass(frozen=True)
class Asked:
    """A test under one of the regimes that it is for."""

    evaluation: Evaluation
    regime: str

    @property
    def name(self) -> str:
        return f"{self.evaluation.name.rpartition('/')[2]}"

    def __str__(self) -> str:
        return f"{self.name} {self.regime}"


def read_tests() -> list[Asked]:
    """The tests that ask for RDF, RDFS or OWL, the latter in the RL profile."""
    manifest = Graph(read_facts(MANIFEST, MANIFEST.as_uri()))
    nodes = {
        subject.value.rpartition("#")[2]: subject
        for subject, _, _ in manifest.match(None, NamedNode(MF + "action"), None)
    }
    return [
        Asked(evaluation, regime)
        for evaluation in evaluations(MANIFEST, ROOT)
        for regime in _regimes(manifest, nodes[evaluation.name.rpartition("/")[2]])
    ]


def _regimes(manifest: Graph, node: Term) -> list[str]:
    (action,) = manifest.objects(node, NamedNode(MF + "action"))
    asked = _names(manifest, action, "entailmentRegime")
    chosen = ["rdfs"] if asked & {"RDF", "RDFS"} else []
    if asked & {"OWL-Direct", "OWL-RDF-Based"}:
        chosen += ["owl-rl"] * ("RL" in _names(manifest, action, "EntailmentProfile"))
    return chosen


def _names(manifest: Graph, action: Term, word: str) -> set[str]:
    """The local names of what a test says of itself, one or a list."""
    found: set[str] = set()
    for value in manifest.objects(action, NamedNode(SD + word)):
        members = next(manifest.lists(value)) if isinstance(value, BlankNode) else (value,)
        found |= {one.value.replace("#", "/").rpartition("/")[2] for one in members}
    return found


TESTS = read_tests() if MANIFEST.exists() else []


@pytest.mark.skipif(not TESTS, reason=f"no W3C suites at {ROOT} (set TRIPLESTORE_DATA)")
def test_tests__are_all_found() -> None:
    assert [sum(t.regime == regime for t in TESTS) for regime in ("rdfs", "owl-rl")] == [39, 29]


@pytest.mark.parametrize("asked", [t for t in TESTS if t.name not in BEYOND], ids=str)
def test_query__has_the_answers_that_are_entailed(asked: Asked) -> None:
    test = asked.evaluation
    with Store() as store:
        for path in test.data:
            store.load(path=path, base_iri=path.as_uri())
        store.reason(asked.regime, trivial=True)
        result = store.query(test.query.read_text(), base_iri=test.query.as_uri())
        wanted = expected(test.result)
        if wanted.truth is not None:
            assert result is wanted.truth
        else:
            assert same_rows([solution.as_dict() for solution in result], wanted.rows)
