"""RDF4J's own tests: SPARQL 1.1, RDFS by pairs of files, and what rules infer under deletion."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from tests.conformance.sparql_evaluation import ROOT, Evaluation, cases, evaluations
from tests.conformance.test_sparql_evaluation import run
from triplestore import Store
from triplestore.sparql.plan.planner import ALL_OFF, PlanOptions

FOLDER = ROOT.parents[1] / "rdf4j"
NO_TESTS = f"no tests of RDF4J at {FOLDER}: set TRIPLESTORE_DATA to the folder with rdf4j"

_DRAFT = "a form of drafts of SPARQL 1.1 that the recommendation does not have"
_UNDECLARED = "its result file binds a variable that it does not declare"
SKIPPED = {
    "bindings/sparql11-bindings-01": f"BINDINGS: {_DRAFT}",
    "bindings/sparql11-bindings-02": f"BINDINGS: {_DRAFT}",
    "property-paths/sparql11-sequence-04": f"path{{n}}: {_DRAFT}",
    "property-paths/sparql11-sequence-05": f"path{{n,m}}: {_DRAFT}",
    "property-paths/sparql11-sequence-06": f"path{{n,}}: {_DRAFT}",
    "builtin/sparql11-bnode-01": _UNDECLARED,
    "builtin/sparql11-bnode-02": _UNDECLARED,
    "builtin/sparql11-not-in-02": "takes it for an error to compare a string and a number; here "
    "they are different values, as in SPARQL 1.2",
    "bsbm/bsbm-bi-q5": "averages of floats added up in another order differ in the last digit",
    "subquery/sparql11-subquery-04": "the order of its inner query is not that of its results",
}
"""Name of a test, and why it is not run."""

MANIFEST = FOLDER / "sparql11-custom" / "manifest-evaluation.ttl"
TESTS = list(evaluations(MANIFEST, MANIFEST.parent)) if MANIFEST.is_file() else []

_LITERAL = "rdfs5 and rdfs11 hold of a literal above a class, too"
SKIPPED_PAIRS = {"subclassof/error001": _LITERAL, "subpropertyof/error001": _LITERAL}

PAIRS = sorted((FOLDER / "inferencing" / "rdf-mt-inferencing").rglob("*-in.nt"))
CUSTOM = sorted((FOLDER / "inferencing" / "custom-query-inferencing").glob("*/initial.ttl"))


@pytest.mark.skipif(not TESTS, reason=NO_TESTS)
def test_manifests__all_are_found() -> None:
    assert len(TESTS) == 118
    assert {test.name for test in TESTS} >= set(SKIPPED)
    assert len(PAIRS) == 21
    assert len(CUSTOM) == 2


@pytest.mark.parametrize("options", [PlanOptions(), ALL_OFF], ids=["optimised", "as written"])
@pytest.mark.parametrize("test", cases(TESTS, SKIPPED))
def test_evaluation__gives_what_the_test_says(test: Evaluation, options: PlanOptions) -> None:
    run(test, options)


def _named(path: Path) -> str:
    return f"{path.parent.name}/{path.name.removesuffix('-in.nt')}"


def _pairs() -> list[Any]:
    return [
        pytest.param(path, id=name, marks=[pytest.mark.skip(reason=reason)] if reason else [])
        for path in PAIRS
        for name in [_named(path)]
        for reason in [SKIPPED_PAIRS.get(name)]
    ]


def _asked(triples: Iterable[ox.Triple]) -> str:
    return f"ASK {{ {' . '.join(map(str, triples))} }}"


@pytest.mark.skipif(not PAIRS, reason=NO_TESTS)
@pytest.mark.parametrize("given", _pairs())
def test_rdfs__what_the_pairs_say(given: Path) -> None:
    """`test...` names triples that must follow, `error...` some that must not."""
    store = Store()
    store.load(path=given, lenient=True)  # some have invalid RDF, with a literal as subject
    store.reason("rdfs", trivial=True)
    output = given.with_name(given.name.replace("-in", "-out")).read_bytes()
    triples = [quad.triple for quad in ox.parse(output, ox.RdfFormat.N_TRIPLES)]
    assert triples
    if given.name.startswith("test"):
        assert store.query(_asked(triples))
    else:
        assert not any(store.query(_asked([triple])) for triple in triples)


@pytest.mark.skipif(not CUSTOM, reason=NO_TESTS)
@pytest.mark.parametrize("kind", ["predicate", "resource"])
def test_rules__what_follows_goes_when_its_premises_are_deleted(kind: str) -> None:
    folder = FOLDER / "inferencing" / "custom-query-inferencing" / kind
    rules = {
        "predicate": ":uncleOf[?x, ?z] :- :brotherOf[?x, ?y], :parentOf[?y, ?z] .",
        "resource": "[?p, :relatesTo, :Cryptography] :- [:Bob, ?p, :Alice] ."
        " [?p, :relatesTo, :Cryptography] :- [:Alice, ?p, :Bob] .",
    }
    matching, deletion = (folder / name for name in ("match.rq", "delete.ru"))
    store = Store()
    store.load(path=folder / "initial.ttl")
    # What RDF4J's rule constructs is what must be found: asked before there is any rule of ours.
    expected = {str(triple) for triple in store.query((folder / "rule.rq").read_text())}
    assert expected
    store.reason(rules=f"@prefix : <http://foo.org/bar#> . {rules[kind]}")
    assert {str(triple) for triple in store.query(matching.read_text())} == expected
    store.update(deletion.read_text())
    left = {str(triple) for triple in store.query((folder / "rule.rq").read_text())}
    assert len(left) < len(expected)
    assert {str(triple) for triple in store.query(matching.read_text())} == left
    assert store.audit()
