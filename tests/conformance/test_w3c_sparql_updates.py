"""The W3C's tests of update evaluation, on a store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyoxigraph as ox
import pytest

from tests.conformance.sparql_evaluation import (
    MF,
    NO_SUITES,
    RDF,
    ROOT,
    cases,
    local_path,
    objects,
    read_manifest,
)
from triplestore import Store

UT = "http://www.w3.org/2009/sparql/tests/test-update#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"


@dataclass(frozen=True, slots=True)
class Contents:
    """What a store holds: files for its default graph, and for named ones."""

    default: tuple[Path, ...]
    named: tuple[tuple[Path, str], ...]

    def quads(self) -> list[ox.Quad]:
        found = [quad for path in self.default for quad in parsed(path)]
        for path, name in self.named:
            graph = ox.NamedNode(name)
            found += [ox.Quad(*quad.triple, graph) for quad in parsed(path)]
        return found


@dataclass(frozen=True, slots=True)
class Entry:
    """One test."""

    name: str
    request: Path
    before: Contents
    after: Contents


def parsed(path: Path) -> list[ox.Quad]:
    return list(ox.parse(path=str(path), base_iri="http://example.org/base"))


def entries() -> Iterator[Entry]:
    versions = (ROOT / version for version in ("sparql11", "sparql12"))
    for manifest in (
        found for folder in versions for found in sorted(folder.rglob("manifest.ttl"))
    ):
        store = read_manifest(manifest)
        kind = ox.NamedNode(MF + "UpdateEvaluationTest")
        for quad in store.quads_for_pattern(None, ox.NamedNode(RDF + "type"), kind):
            node = quad.subject
            (action,), (result,) = (
                objects(store, node, MF + name) for name in ("action", "result")
            )
            (request,) = objects(store, action, UT + "request")
            fragment = unquote(urlsplit(node.value).fragment)
            yield Entry(
                f"{manifest.parent.name}/{fragment}",
                local_path(request),
                contents(store, action),
                contents(store, result),
            )


def contents(store: ox.Store, node: Any) -> Contents:
    named = []
    for found in objects(store, node, UT + "graphData"):
        (graph,) = objects(store, found, UT + "graph")
        (label,) = objects(store, found, RDFS + "label")
        named.append((local_path(graph), label.value))
    return Contents(tuple(map(local_path, objects(store, node, UT + "data"))), tuple(named))


def canonical(quads: Any) -> list[str]:
    dataset = ox.Dataset(quads)
    dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return sorted(map(str, dataset))


ENTRIES = sorted(entries(), key=lambda entry: entry.name) if ROOT.is_dir() else []


@pytest.mark.skipif(not ENTRIES, reason=NO_SUITES)
def test_manifests__all_are_found() -> None:
    assert len(ENTRIES) >= 94  # on 2026-08-07


@pytest.mark.parametrize("entry", cases(ENTRIES))
def test_update__leaves_what_the_test_says(entry: Entry) -> None:
    with Store() as store:
        store.extend(entry.before.quads())
        store.update(entry.request.read_text("utf-8"), base_iri="http://example.org/base")
        assert canonical(store) == canonical(entry.after.quads())
