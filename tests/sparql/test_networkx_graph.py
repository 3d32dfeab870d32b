"""Triples as graphs of networkx."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from triplestore.errors import UsageError
from triplestore.sparql.results.networkx_graph import networkx_graph

E = "http://e.org/"
A, B, C, P, Q = (NamedNode(E + name) for name in "abcpq")
TRIPLES = [
    Triple(A, P, B),
    Triple(A, Q, B),
    Triple(B, P, C),
    Triple(B, P, C),
    Triple(A, Q, Literal("x")),
    Triple(A, Q, Literal(5)),
]


@pytest.fixture
def networkx() -> Any:
    return pytest.importorskip("networkx")


def test_graph__triples_are_edges(networkx: Any) -> None:
    graph = networkx_graph(TRIPLES, {"": E})
    assert isinstance(graph, networkx.MultiDiGraph)
    assert set(graph) == {A, B, C, Literal("x"), Literal(5)}
    assert sorted(graph.edges(keys=True), key=str)[:2] == [(A, Literal(5), Q), (A, Literal("x"), Q)]
    assert graph.number_of_edges() == 5
    assert graph.edges[A, B, P] == {"label": ":p"}
    assert [graph.nodes[node]["label"] for node in (A, Literal("x"), Literal(5))] == [
        ":a", '"x"', "5",
    ]  # fmt: skip
    assert networkx.shortest_path(graph, A, C) == [A, B, C]


def test_graph__literals_as_attributes_or_not_at_all(networkx: Any) -> None:
    graph = networkx_graph(TRIPLES, {"": E}, "attributes")
    assert graph.nodes[A] == {"label": ":a", ":q": ["x", "5"]} and set(graph) == {A, B, C}
    assert networkx_graph(TRIPLES, {"": E}, "drop").nodes[A] == {"label": ":a"}
    with pytest.raises(UsageError, match='literals must be "nodes", "attributes" or "drop"'):
        networkx_graph(TRIPLES, {}, "edges")


def test_without_networkx__the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ModuleNotFoundError, match=r"to_networkx needs networkx.*\[networkx\]"):
        networkx_graph(TRIPLES, {})
