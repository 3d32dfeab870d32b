"""The W3C's tests of SHACL: the entries of its manifests, and graphs of expected reports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyoxigraph as ox

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
SHT = "http://www.w3.org/ns/shacl-test#"
SH = "http://www.w3.org/ns/shacl#"
MESSAGE = ox.NamedNode(SH + "resultMessage")

_PATHS = [
    f"{SH}{p}Path" for p in ("inverse", "alternative", "zeroOrMore", "oneOrMore", "zeroOrOne")
]
_BELOW = {SH + "result", SH + "resultPath", RDF + "first", RDF + "rest", *_PATHS}


@dataclass(frozen=True)
class Validate:
    """One test.

    expected  the triples of the report; None if validation must fail
    """

    name: str
    data: Path
    shapes: Path
    expected: frozenset[ox.Triple] | None


def entries(folder: Path) -> Iterator[Validate]:
    """All tests below a folder."""
    for path in sorted(folder.rglob("*.ttl")):
        base = path.resolve().as_uri()
        # Not a store of pyoxigraph, which changes how numbers are written.
        store = ox.Dataset(ox.parse(path=str(path), format=ox.RdfFormat.TURTLE, base_iri=base))
        for quad in store.quads_for_object(_node(SHT + "Validate")):
            yield _entry(store, path, folder, quad.subject)


def _node(iri: str) -> ox.NamedNode:
    return ox.NamedNode(iri)


def _one(store: ox.Dataset, subject: ox.NamedNode, predicate: str) -> ox.NamedNode:
    return next(
        q.object for q in store.quads_for_subject(subject) if q.predicate.value == predicate
    )


def _entry(store: ox.Dataset, path: Path, root: Path, test: ox.NamedNode) -> Validate:
    action = _one(store, test, MF + "action")
    data, shapes = (
        Path(unquote(urlsplit(_one(store, action, SHT + name).value).path))
        for name in ("dataGraph", "shapesGraph")
    )
    result = _one(store, test, MF + "result")
    expected = None
    if result != _node(SHT + "Failure"):
        expected = frozenset(report_below(store, result))
    name = f"{path.parent.relative_to(root)}/{unquote(urlsplit(test.value).fragment or path.stem)}"
    return Validate(name, data, shapes, expected)


def report_below(store: ox.Dataset, report: ox.BlankNode) -> Iterator[ox.Triple]:
    """The triples of a report."""
    waiting, seen = [report], {report}
    while waiting:
        node = waiting.pop()
        for quad in store.quads_for_subject(node):
            yield ox.Triple(quad.subject, quad.predicate, quad.object)
            below = quad.predicate.value in _BELOW and isinstance(quad.object, ox.BlankNode)
            if below and quad.object not in seen:
                seen.add(quad.object)
                waiting.append(quad.object)


def canonical(triples: frozenset[ox.Triple]) -> list[str]:
    """Equal for isomorphic graphs."""
    dataset = ox.Dataset(ox.Quad(*triple) for triple in triples)
    dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return sorted(map(str, dataset))
