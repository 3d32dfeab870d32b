"""Whoever writes into what a relation returned changes no relation: it fails, or hits a copy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.closures.reachability import keys
from triplestore.closures.chains.regular_closure import RegularClosure
from triplestore.closures.chains.regular_rules import ChainRule, regular_system
from triplestore.closures.symmetric_transitive.symmetric_closure import SymmetricClosure
from triplestore.closures.transitive.transitive_closure import TransitiveClosure
from triplestore.closures.union_view import UnionView
from triplestore.relations.pair_relation import Inverse, SortedRelation

FEW = [(1, 2), (2, 3), (3, 1), (3, 4), (7, 8)]
MANY = [(a, a * 7 % 900 + 1) for a in range(1, 900)]


def chains(edges: Any) -> RegularClosure:
    near, part = ("near", False), ("part", False)
    rules = [ChainRule("in", (near,)), ChainRule("in", (("in", False), part))]
    automaton = regular_system(rules)
    assert automaton is not None
    return RegularClosure.build(automaton, {"near": keys(edges[:3]), "part": keys(edges[1:])})


def union(edges: Any) -> UnionView:
    return UnionView(
        [TransitiveClosure.build(keys(edges[:3])), SortedRelation(keys(edges[2:]))], keys([(5, 6)])
    )


READABLE: dict[str, Callable[[Any], Any]] = {
    "transitive": lambda edges: TransitiveClosure.build(keys(edges)),
    "symmetric": lambda edges: SymmetricClosure.build(keys(edges)),
    "chains": lambda edges: chains(edges).relation("in"),
    "rows": lambda edges: SortedRelation(keys(edges)),
    "one row": lambda edges: SortedRelation(keys(edges[:1])),
    "inverse": lambda edges: Inverse(SortedRelation(keys(edges))),
    "union": union,
    "union of one": lambda edges: UnionView([SortedRelation(keys(edges))]),
    "turned closure": lambda edges: Inverse(TransitiveClosure.build(keys(edges))),
}


def answers(relation: Any) -> Iterator[np.ndarray]:
    nodes = np.arange(20, dtype=np.uint32)
    yield from relation.match(0, nodes)
    yield from relation.match(1, nodes)
    yield from relation.match(0, nodes[1:2])
    yield from relation.match(1, nodes[2:3])
    yield relation.match_counts(0, nodes)
    yield relation.match_counts(1, nodes)
    yield relation.distinct(0)
    yield relation.distinct(1)
    yield from relation.blocks()
    yield from relation.blocks(swapped=True)
    yield from relation.blocks(2)
    if hasattr(relation, "edges"):
        yield relation.edges
    if isinstance(relation, TransitiveClosure):
        graph, parts = relation.graph, relation.ahead.parts
        yield from (graph.nodes, relation.ahead.head, parts.label, parts.rank, parts.at_rank)


def tampered(read: Callable[[], Iterator[np.ndarray]]) -> None:
    """Write over all that is read, if that can be; what is read again must be the same."""
    before = [array.tolist() for array in read()]
    for array in read():
        if array.flags.writeable:
            array[...] = 1
    assert [array.tolist() for array in read()] == before


@pytest.mark.parametrize("edges", [FEW, MANY], ids=["few", "many"])
@pytest.mark.parametrize("kind", READABLE)
def test_relation__what_it_returned_is_written_over__answers_the_same(
    kind: str, edges: Any
) -> None:
    relation = READABLE[kind](edges)
    tampered(lambda: answers(relation))


@pytest.mark.parametrize("edges", [FEW, MANY], ids=["few", "many"])
@pytest.mark.parametrize("kind", ["transitive", "symmetric", "chains"])
def test_difference__what_it_returned_is_written_over__answers_the_same(
    kind: str, edges: Any
) -> None:
    if kind == "chains":
        closure: Any = chains(edges)
        gone = {"part": keys(edges[2:3])}
        _, differences = closure.changed(gone, {"near": keys([(1, 9), (9, 2)])})
        difference, others = differences["in"], list(closure.edges.values())
    else:
        closure = READABLE[kind](edges)
        made, difference = closure.changed(keys(edges[1:3]), keys([(1, 9), (9, 2)]))
        others = [closure.edges, made.edges]
    for side in (difference.lost, difference.gained):
        tampered(lambda side=side: (*side.blocks(), *side.blocks(3), *side.blocks(swapped=True)))
    tampered(lambda: iter(others))


BUILD = [TransitiveClosure.build, SymmetricClosure.build, SortedRelation]


@pytest.mark.parametrize("build", BUILD)
def test_relation__edges_it_was_made_of_are_written_over__answers_the_same(build: Any) -> None:
    given = keys(FEW)
    made = build(given)
    before = [array.tolist() for array in answers(made)]
    if given.flags.writeable:
        given[...] = 1
    assert [array.tolist() for array in answers(made)] == before
