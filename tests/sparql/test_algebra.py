"""Properties of the algebra on which rewrites rely."""

from __future__ import annotations

import random

import pytest

from sparql.random_texts import Texts
from triplestore.sparql.algebra import nodes as a
from triplestore.sparql.syntax.parser import parse_query

PATTERNS = [parse_query(Texts(random.Random(seed)).query()).pattern for seed in range(60)]


def test_with_children__that_do_not_change_is_the_node_itself() -> None:
    for pattern in PATTERNS:
        for node in a.walk(pattern):
            assert a.with_children(node, lambda child: child) is node


def test_with_children__changes_each_once_and_in_order() -> None:
    for pattern in PATTERNS:
        for node in a.walk(pattern):
            seen: list[a.Node] = []

            def wrapped(child: a.Node, seen: list[a.Node] = seen) -> a.Node:
                seen.append(child)
                return a.Distinct(child)

            changed = a.with_children(node, wrapped)
            assert tuple(seen) == a.children(node)
            assert a.children(changed) == tuple(map(a.Distinct, seen))
            assert type(changed) is type(node)
            assert not seen or changed != node


def test_walk__reaches_every_kind_of_node() -> None:
    beside = parse_query("ASK { ?r ?p <<( ?s ?p ?o )>> }").pattern
    kinds = {type(node) for pattern in [*PATTERNS, beside] for node in a.walk(pattern)}
    assert kinds == set(a.Node.__args__) - {a.Service, a.TextHits}  # a rewrite makes those


def test_nodes__are_equal_by_structure_and_can_be_keys() -> None:
    again = [parse_query(Texts(random.Random(seed)).query()).pattern for seed in range(60)]
    assert again == PATTERNS
    assert len({*PATTERNS, *again}) == len(set(PATTERNS))


def test_parsed__joins_and_unions_are_flat() -> None:
    for pattern in PATTERNS:
        for node in a.walk(pattern):
            if isinstance(node, a.Join | a.Union):
                assert len(node.parts) > 1
                assert not any(isinstance(part, type(node)) for part in node.parts)
            if isinstance(node, a.Join):
                assert a.UNIT not in node.parts


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("SELECT ?y ?x { ?x ?p ?y }", ["y", "x"]),
        ("SELECT DISTINCT * { ?x ?p ?y } ORDER BY ?x LIMIT 1", ["x", "p", "y"]),
        ("SELECT (1 AS ?one) {}", ["one"]),
    ],
)
def test_variables__of_a_select(text: str, names: list[str]) -> None:
    found = parse_query(text)
    assert isinstance(found, a.Select)
    assert [variable.name for variable in found.variables] == names
