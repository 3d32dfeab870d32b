"""The W3C's tests of RDF 1.2 semantics, by asking the store for what must follow.

A graph follows if it has a match as a pattern: its blank nodes are variables, in triple terms as
well. So the conclusion is read as one, and asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyoxigraph as ox
import pytest

from tests.conformance.sparql_evaluation import (
    MF,
    NO_SUITES,
    RDF,
    ROOT,
    cases,
    items,
    local_path,
    objects,
    read_manifest,
)
from triplestore import Store

FOLDER = ROOT.parent / "rdf" / "rdf12" / "rdf-semantics"
_JSON = "values of rdf:JSON are not known: such literals are the same only as the same term"

SKIPPED = {
    "opaque-literal": "a literal in a triple term is a term here; 042 and 42 are the same value "
    "only as whole objects",
    "malformed-literal": "asks for an inconsistency by an ill-typed literal within a triple term",
    "reifies-range": "the rules of rdfs are those of RDF Schema 1.1, without rdfs:Proposition",
    "triple-terms-propositions": "a triple term would be the subject of a triple",
    "json-object-unordered": _JSON,
    "json-round-same": _JSON,
    "json-infinity": _JSON,
}
"""Name of a test, and why it is not run."""


@dataclass(frozen=True, slots=True)
class Entailment:
    """One test: whether one document follows from another."""

    name: str
    positive: bool
    premise: Path
    conclusion: Path | None


def entailments() -> Iterator[Entailment]:
    store = read_manifest(FOLDER / "manifest.ttl")
    for listing in objects(store, None, MF + "entries"):
        for node in items(store, listing):
            (kind,) = objects(store, node, RDF + "type")
            (action,), (result,) = (objects(store, node, MF + n) for n in ("action", "result"))
            is_file = isinstance(result, ox.NamedNode) and result.value.endswith(".ttl")
            yield Entailment(
                node.value.rpartition("#")[2],
                kind.value == MF + "PositiveEntailmentTest",
                local_path(action),
                local_path(result) if is_file else None,
            )


TESTS = list(entailments()) if FOLDER.is_dir() else []


@pytest.mark.skipif(not TESTS, reason=NO_SUITES)
def test_manifest__all_are_found() -> None:
    assert len(TESTS) == 29
    assert {test.name for test in TESTS} >= set(SKIPPED)


@pytest.mark.parametrize("test", cases(TESTS, SKIPPED))
def test_entailment__is_as_the_test_says(test: Entailment) -> None:
    assert test.conclusion is not None
    with Store() as store:
        store.load(path=test.premise)
        pattern = " . ".join(
            f"{triple.subject} {triple.predicate} {written(triple.object)}"
            for triple in (quad.triple for quad in ox.parse(path=str(test.conclusion)))
        )
        assert store.query(f"ASK {{ {pattern} }}") is test.positive


def written(term: ox.Triple | ox.NamedNode | ox.BlankNode | ox.Literal) -> str:
    """A term as SPARQL writes it."""
    if not isinstance(term, ox.Triple):
        return str(term)
    return f"<<( {term.subject} {term.predicate} {written(term.object)} )>>"
