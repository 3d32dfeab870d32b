"""Helpers for tests of rdflib's graphs: names, both stores, and results to compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("rdflib", reason="the extra `rdflib` is not installed")

from rdflib import RDF, XSD, BNode, Dataset, Graph, Literal, Namespace
from rdflib.compare import isomorphic

EX = Namespace("http://ex.org/")
NODES = [EX.a, EX.b, EX.c, BNode("x"), BNode("y")]
PROPERTIES = [EX.p, EX.q, RDF.type]
LITERALS = [
    Literal("a"),
    Literal("a", lang="en"),
    Literal("a", lang="fr-be"),
    Literal("1", datatype=XSD.integer),
    Literal("01", datatype=XSD.integer, normalize=False),
    Literal("x", datatype=EX.d),
    Literal('say "hi"\n\\ \u00e9 \U0001f600'),
    Literal("2020-01-01", datatype=XSD.date),
    Literal(1.5),
    Literal(True),
]
GRAPHS = [EX.g, EX.h]


def both(make: Callable[[Any], Graph]) -> tuple[Graph, Graph]:
    """The same kind of graph over rdflib's store and over ours."""
    return make("default"), make("triplestore")


def quads(dataset: Dataset, pattern: Any = None) -> list[Any]:
    found = list(dataset.quads(pattern or (None, None, None, None)))
    assert len(set(found)) == len(found)
    return sorted(found, key=repr)


def triples(graph: Graph, pattern: Any = (None, None, None)) -> list[Any]:
    found = list(graph.triples(pattern))
    assert len(set(found)) == len(found)
    return sorted(found, key=repr)


def the_same(one: Graph, other: Graph) -> bool:
    """True if graphs, or all graphs of datasets, are the same but for blank nodes."""
    if not isinstance(one, Dataset) or not isinstance(other, Dataset):
        return bool(isomorphic(one, other))
    parts = [{g.identifier: Graph() + g for g in dataset.graphs()} for dataset in (one, other)]
    names = sorted(parts[0])
    return names == sorted(parts[1]) and all(
        isomorphic(parts[0][name], parts[1][name]) for name in names
    )


def example(store: Any) -> Dataset:
    dataset = Dataset(store=store)
    for number, node in enumerate((EX.a, EX.b, EX.c)):
        dataset.add((node, EX.p, Literal(number)))
        dataset.add((node, EX.q, NODES[number - 1]))
    dataset.add((EX.a, EX.name, Literal("A", lang="en")))
    dataset.add((EX.c, EX.p, Literal(7), EX.g))
    dataset.bind("ex", EX)
    return dataset
