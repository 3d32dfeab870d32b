"""Property paths of shapes: read from triples, printed as SPARQL, and written as triples again.

Start at `read_path`.
"""

from __future__ import annotations

from collections.abc import Callable

from triplestore.errors import ShapesError
from triplestore.expressions.tree import Constant
from triplestore.shacl.reading.shapes_graph import ShapesGraph, shown
from triplestore.shacl.vocabulary import FIRST, NIL, REST, Key, sh
from triplestore.sparql.algebra.nodes import (
    Alternative,
    Inverse,
    OneOrMore,
    PathExpression,
    Sequence,
    ZeroOrMore,
    ZeroOrOne,
)
from triplestore.terms.term_keys import IRI

_OF_ONE: dict[Key, type[Inverse | ZeroOrMore | OneOrMore | ZeroOrOne]] = {
    sh("inversePath"): Inverse,
    sh("zeroOrMorePath"): ZeroOrMore,
    sh("oneOrMorePath"): OneOrMore,
    sh("zeroOrOnePath"): ZeroOrOne,
}
_MAX_DEPTH = 100


def read_path(graph: ShapesGraph, node: Key, depth: int = 0) -> PathExpression:
    """The path that a node stands for."""
    if depth > _MAX_DEPTH:
        raise ShapesError(f"the path {shown(node)} contains itself, or is deeper than {_MAX_DEPTH}")
    if node[0] == IRI and node != NIL:
        return Constant(node)
    if graph.is_list(node):
        parts = tuple(read_path(graph, each, depth + 1) for each in graph.members(node))
        if len(parts) < 2:
            raise ShapesError(f"the sequence path {shown(node)} has fewer than two members")
        return Sequence(parts)
    alternatives = graph.one(node, sh("alternativePath"))
    if alternatives is not None:
        parts = tuple(read_path(graph, each, depth + 1) for each in graph.members(alternatives))
        if len(parts) < 2:
            raise ShapesError(f"the alternative path {shown(node)} has fewer than two members")
        return Alternative(parts)
    for predicate, kind in _OF_ONE.items():
        inner = graph.one(node, predicate)
        if inner is not None:
            return kind(read_path(graph, inner, depth + 1))
    raise ShapesError(f"{shown(node)} is not a path: a path is an IRI, a list or a node of SHACL")


_SUFFIX = {ZeroOrMore: "*", OneOrMore: "+", ZeroOrOne: "?"}


def path_text(path: PathExpression, show: Callable[[Key], str] = shown) -> str:
    """The path in the syntax of SPARQL.

    >>> path_text(Inverse(Sequence((Constant.iri("http://a"), Constant.iri("http://b")))))
    '^(<http://a>/<http://b>)'
    """
    match path:
        case Constant():
            return show(path.key)
        case Sequence(parts) | Alternative(parts):
            sign = "/" if isinstance(path, Sequence) else "|"
            return f"({sign.join(path_text(part, show) for part in parts)})"
        case Inverse(inner):
            text = path_text(inner, show)
            return f"^({text})" if isinstance(inner, Inverse) else f"^{text}"
        case ZeroOrMore(inner) | OneOrMore(inner) | ZeroOrOne(inner):
            return f"({path_text(inner, show)}){_SUFFIX[type(path)]}"
        case _:
            raise AssertionError(f"a path of SHACL has no {path}")


def write_path(
    path: PathExpression, add: Callable[[Key, Key, Key], object], new: Callable[[], Key]
) -> Key:
    """The node of a path, whose triples are added.

    new  makes a blank node
    """
    match path:
        case Constant():
            return path.key
        case Sequence(parts):
            return _write_list(parts, add, new)
        case Alternative(parts):
            node = new()
            add(node, sh("alternativePath"), _write_list(parts, add, new))
            return node
        case Inverse(inner) | ZeroOrMore(inner) | OneOrMore(inner) | ZeroOrOne(inner):
            node = new()
            predicate = next(p for p, kind in _OF_ONE.items() if type(path) is kind)
            add(node, predicate, write_path(inner, add, new))
            return node
        case _:
            raise AssertionError(f"a path of SHACL has no {path}")


def _write_list(
    parts: tuple[PathExpression, ...],
    add: Callable[[Key, Key, Key], object],
    new: Callable[[], Key],
) -> Key:
    rest = NIL
    for part in reversed(parts):
        node = new()
        add(node, FIRST, write_path(part, add, new))
        add(node, REST, rest)
        rest = node
    return rest
