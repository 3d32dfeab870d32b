"""Which facts a query of a shape depends on: start at `reads_of_test`.

The triple patterns that must match together lead from `$this` to each other pattern, and so say
which focus nodes a changed fact concerns. A pattern to which nothing leads is read as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from triplestore.expressions.tree import Constant, Variable
from triplestore.shacl import model
from triplestore.shacl.evaluate.run_queries import THIS, VALUE, parsed
from triplestore.shacl.watching.reads import ANY, ShapeRead, joined, reads_of_path
from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql.algebra.nodes import Inverse, Node, PathExpression
from triplestore.sparql.algebra.variables import exists_in, expressions_of

Paths = Mapping[str, PathExpression | None]
"""The path from the focus node to the values of variables."""

Edge = tuple[sparql.TermOrVariable, PathExpression, sparql.TermOrVariable]


def reads_of_test(
    test: model.QueryTest, path: PathExpression | None, values: PathExpression | None
) -> Iterator[ShapeRead]:
    """The reads of a query whose focus nodes and values two paths lead to."""
    query = parsed(test.text, test.prefixes)
    known = {THIS: path, VALUE: values} if test.asks else {THIS: path}
    if any(isinstance(node, sparql.Graph) for node in _everywhere(query.pattern)):
        yield ShapeRead(ANY, whole=True, named=True)
        return
    yield from _of_pattern(query.pattern, known, ())


def reads_of_target(target: model.TargetQuery) -> Iterator[ShapeRead]:
    """The reads of a query that selects focus nodes: any change concerns all of them."""
    query = parsed(target.text, target.prefixes)
    if any(isinstance(node, sparql.Graph) for node in _everywhere(query.pattern)):
        yield ShapeRead(ANY, whole=True, named=True)
        return
    for read in _of_pattern(query.pattern, {}, ()):
        yield ShapeRead(read.predicate, whole=True)


def _everywhere(node: Node) -> Iterator[Node]:
    for each in sparql.walk(node):
        yield each
        for expression in expressions_of(each):
            for exists in exists_in(expression):
                yield from _everywhere(exists.pattern)


def _of_pattern(node: Node, known: Paths, outer: tuple[Edge, ...]) -> Iterator[ShapeRead]:
    """The reads of a pattern.

    outer  patterns that match whenever this one is looked at
    """
    edges = (*outer, *_required(node))
    reached = _reached(known, edges)
    yield from _of_node(node, known, edges, reached)


def _of_node(
    node: Node, known: Paths, edges: tuple[Edge, ...], reached: Paths
) -> Iterator[ShapeRead]:
    match node:
        case sparql.Bgp(patterns):
            for s, p, o in patterns:
                step = p if isinstance(p, Constant) else sparql.NegatedSet(())
                yield from _of_edge((s, step, o), reached)
        case sparql.Path(subject, path, object_):
            yield from _of_edge((subject, path, object_), reached)
        case sparql.Union(parts):
            for part in parts:
                yield from _of_pattern(part, known, edges)
        case sparql.LeftJoin(left, right):
            yield from _of_node(left, known, edges, reached)
            yield from _of_pattern(right, known, edges)
        case sparql.Project(pattern, variables):
            names = {variable.name for variable in variables}
            inner = {name: path for name, path in known.items() if name in names}
            # Other variables of a sub-query are its own.
            yield from _of_pattern(pattern, inner or known, ())
        case _:
            for child in sparql.children(node):
                yield from _of_node(child, known, edges, reached)
    for expression in expressions_of(node):
        for exists in exists_in(expression):
            yield from _of_pattern(exists.pattern, known, edges)


def _required(node: Node) -> Iterator[Edge]:
    """The triple patterns and paths that every solution of a pattern matches."""
    match node:
        case sparql.Bgp(patterns):
            for s, p, o in patterns:
                if isinstance(p, Constant):
                    yield s, p, o
        case sparql.Path(subject, path, object_):
            yield subject, path, object_
        case sparql.Join(parts):
            for part in parts:
                yield from _required(part)
        case sparql.LeftJoin(left) | sparql.Minus(left):
            yield from _required(left)
        case sparql.Filter(pattern) | sparql.Extend(pattern):
            yield from _required(pattern)
        case sparql.Distinct(pattern) | sparql.Reduced(pattern) | sparql.Group(pattern):
            yield from _required(pattern)
        case _:
            return


def _reached(known: Paths, edges: tuple[Edge, ...]) -> Paths:
    """The paths to all variables to which patterns lead, the shortest first."""
    found = dict(known)
    frontier = list(found)
    while frontier:
        name = frontier.pop(0)
        for subject, step, object_ in edges:
            for one, path, other in (
                (subject, step, object_),
                (object_, Inverse(step), subject),
            ):
                if not (isinstance(one, Variable) and isinstance(other, Variable)):
                    continue
                if one.name == name and other.name not in found:
                    found[other.name] = joined(found[name], path)
                    frontier.append(other.name)
    return found


def _of_edge(edge: Edge, reached: Paths) -> Iterator[ShapeRead]:
    """The reads of one pattern, from the end that is nearer to `$this`.

    The path to the other end may lead over the pattern itself, so that a fact that went would not
    be found.
    """
    subject, path, object_ = edge
    order = {name: place for place, name in enumerate(reached)}
    ends = [
        (order[end.name], reached[end.name], step)
        for end, step in ((subject, path), (object_, Inverse(path)))
        if isinstance(end, Variable) and end.name in order
    ]
    if ends:
        _, before, step = min(ends, key=lambda end: end[0])
        yield from reads_of_path(step, before)
        return
    for read in reads_of_path(path, None):
        yield ShapeRead(read.predicate, whole=True)
