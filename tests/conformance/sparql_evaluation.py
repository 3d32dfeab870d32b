"""Reads the W3C's manifests of SPARQL, and compares results of queries with what they expect."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote, urlsplit

import pyoxigraph as ox
import pytest

ROOT = (
    Path(os.environ.get("TRIPLESTORE_DATA", Path(__file__).parents[3] / "shared" / "data"))
    / "w3c-rdf-tests"
    / "sparql"
).resolve()
NO_SUITES = f"no W3C suites at {ROOT}: set TRIPLESTORE_DATA to the folder with w3c-rdf-tests"

MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
QT = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
RS = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD = "http://www.w3.org/2001/XMLSchema#"

_NUMERIC = {XSD + name for name in ("integer", "decimal", "float", "double")}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One test: a query, the data of the default and of named graphs, and the expected result."""

    name: str
    query: Path
    data: tuple[Path, ...]
    graphs: tuple[Path, ...]
    result: Path


@dataclass(frozen=True, slots=True)
class Expected:
    """What a test expects: the variables and rows of a SELECT, triples, or a truth value."""

    rows: list[dict[str, Any]] | None = None
    triples: list[ox.Triple] | None = None
    truth: bool | None = None


def cases(tests: Sequence[Any], skipped: Mapping[str, str] = MappingProxyType({})) -> list[Any]:
    """Tests with a `name` each, as parameters; one that says what to do if there are none."""
    if not tests:
        return [pytest.param(None, marks=pytest.mark.skip(reason=NO_SUITES))]
    return [
        pytest.param(
            test,
            id=test.name,
            marks=[pytest.mark.skip(reason=skipped[test.name])] if test.name in skipped else (),
        )
        for test in tests
    ]


def read_manifest(path: Path) -> ox.Store:
    """The triples of a manifest."""
    store = ox.Store()
    store.load(path=str(path), format=ox.RdfFormat.TURTLE, base_iri=path.as_uri())
    return store


def evaluations(manifest: Path, root: Path) -> Iterator[Evaluation]:
    """The tests of query evaluation of a manifest and of those that it includes."""
    store = read_manifest(manifest)
    for included in objects(store, None, MF + "include"):
        for node in items(store, included):
            yield from evaluations(local_path(node), root)
    for listing in objects(store, None, MF + "entries"):
        for node in items(store, listing):
            kinds = {kind.value for kind in objects(store, node, RDF + "type")}
            if MF + "QueryEvaluationTest" in kinds:
                yield _evaluation(store, node, root)


def _evaluation(store: ox.Store, node: Any, root: Path) -> Evaluation:
    (action,) = objects(store, node, MF + "action")
    (query,) = objects(store, action, QT + "query")
    (result,) = objects(store, node, MF + "result")
    query_path = local_path(query)
    return Evaluation(
        f"{query_path.parent.relative_to(root)}/{unquote(urlsplit(node.value).fragment)}",
        query_path,
        tuple(map(local_path, objects(store, action, QT + "data"))),
        tuple(map(local_path, objects(store, action, QT + "graphData"))),
        local_path(result),
    )


def objects(store: ox.Store, subject: Any, predicate: str) -> list[Any]:
    """The objects of the triples of a manifest with this subject (None: any) and predicate."""
    found = store.quads_for_pattern(subject, ox.NamedNode(predicate), None)
    return [quad.object for quad in found]


def items(store: ox.Store, node: Any) -> Iterator[Any]:
    """The members of a list."""
    while node.value != RDF + "nil":
        (first,) = objects(store, node, RDF + "first")
        yield first
        (node,) = objects(store, node, RDF + "rest")


def local_path(node: Any) -> Path:
    """The file that an IRI of a manifest names."""
    return Path(unquote(urlsplit(node.value).path))


# --- what is expected ----------------------------------------------------------------------------


def expected(path: Path) -> Expected:
    """The result in a file."""
    formats = {
        ".srx": ox.QueryResultsFormat.XML,
        ".srj": ox.QueryResultsFormat.JSON,
        ".tsv": ox.QueryResultsFormat.TSV,
    }
    if path.suffix in formats:
        found = ox.parse_query_results(path=str(path), format=formats[path.suffix])
        if isinstance(found, ox.QueryBoolean):
            return Expected(truth=bool(found))
        names = [variable.value for variable in found.variables]
        rows = [dict(zip(names, row, strict=True)) for row in found]
        return Expected(rows=[_bound(row) for row in rows])
    return _of_graph(path)


def _of_graph(path: Path) -> Expected:
    """A result in Turtle: a result set told as a graph, or the graph itself."""
    rdf = ox.RdfFormat.RDF_XML if path.suffix == ".rdf" else ox.RdfFormat.TURTLE
    store = ox.Store()
    store.load(path=str(path), format=rdf, base_iri=path.as_uri())
    sets = [q.subject for q in store.quads_for_pattern(None, None, ox.NamedNode(RS + "ResultSet"))]
    if not sets:
        return Expected(triples=[quad.triple for quad in store])
    for truth in objects(store, sets[0], RS + "boolean"):
        return Expected(truth=truth.value == "true")
    rows = []
    for solution in objects(store, sets[0], RS + "solution"):
        index = [int(i.value) for i in objects(store, solution, RS + "index")]
        row = {}
        for binding in objects(store, solution, RS + "binding"):
            (name,) = objects(store, binding, RS + "variable")
            (value,) = objects(store, binding, RS + "value")
            row[name.value] = value
        rows.append((index, row))
    rows.sort(key=lambda pair: pair[0])
    return Expected(rows=[row for _, row in rows])


def _bound(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}


# --- comparison ----------------------------------------------------------------------------------


def same_rows(left: Sequence[dict[str, Any]], right: Sequence[dict[str, Any]]) -> bool:
    """True if two bags of solutions are equal but for the labels of blank nodes."""
    return len(left) == len(right) and _canonical(_told(left)) == _canonical(_told(right))


def same_triples(left: Iterable[ox.Triple], right: Iterable[ox.Triple]) -> bool:
    """True if two graphs are isomorphic."""
    return _canonical(map(_normal_triple, left)) == _canonical(map(_normal_triple, right))


def same_order(left: Sequence[dict[str, Any]], right: Sequence[dict[str, Any]]) -> bool:
    """True if two lists of solutions have the same values in the same sequence, as far as blank
    nodes go: all blank nodes count as one."""
    return [_plain(row) for row in left] == [_plain(row) for row in right]


def _plain(row: dict[str, Any]) -> dict[str, str]:
    return {
        name: "_:" if isinstance(value, ox.BlankNode) else str(normal(value))
        for name, value in row.items()
    }


def _told(rows: Iterable[dict[str, Any]]) -> Iterator[ox.Triple]:
    for row in rows:
        node = ox.BlankNode()
        yield ox.Triple(node, ox.NamedNode(RDF + "type"), ox.NamedNode(RS + "Solution"))
        for name, value in row.items():
            yield ox.Triple(node, ox.NamedNode(f"urn:variable:{name}"), normal(value))


def _canonical(triples: Iterable[ox.Triple]) -> set[str]:
    dataset = ox.Dataset([ox.Quad(*triple) for triple in triples])
    dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return {str(quad) for quad in dataset}


def _normal_triple(triple: ox.Triple) -> ox.Triple:
    return ox.Triple(triple.subject, triple.predicate, normal(triple.object))


def normal(value: Any) -> Any:
    """Numbers in one form, so that 1e0 and 1.0E0 are alike."""
    if not isinstance(value, ox.Literal) or value.datatype.value not in _NUMERIC:
        return value
    try:
        number = Decimal(value.value.strip())
    except InvalidOperation:
        return value
    if value.datatype.value in (XSD + "float", XSD + "double"):
        return ox.Literal(repr(float(number)), datatype=value.datatype)
    return ox.Literal(f"{number.normalize():f}", datatype=value.datatype)
