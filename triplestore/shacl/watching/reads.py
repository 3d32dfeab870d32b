"""Which facts the results of a shape depend on: start at `reads_of_shape`.

A read is a predicate, and the path from a focus node to one end of its facts. If a fact changes,
the focus nodes whose results may change are those from which that path leads to the end of the
fact. They are looked for in the state after the change: if several facts between a focus node and
a value change, the first of them has an unchanged path before it. What cannot be described so is
read as a whole: any change of the predicate concerns all focus nodes.
"""

from __future__ import annotations

from collections.abc import Iterator

from triplestore.data_classes import data_class
from triplestore.expressions.tree import Constant
from triplestore.shacl import model
from triplestore.shacl.model import Shape, Shapes, inner_shapes
from triplestore.shacl.vocabulary import TYPE, Key
from triplestore.sparql.algebra.nodes import (
    Alternative,
    Inverse,
    NegatedSet,
    OneOrMore,
    PathExpression,
    Sequence,
    ZeroOrMore,
)

ANY: Key = b""
"""Stands for every predicate."""


@data_class
class Read:
    """Facts on which the results of a shape depend.

    predicate  ANY for all
    at_object  whether `path` leads to the object of the fact, not to its subject
    path       from the focus node; None if it is the end of the fact itself
    of         only facts whose object is this class, or one of its sub-classes
    whole      whether a change concerns all focus nodes
    named      whether facts of named graphs are read as well
    """

    predicate: Key
    at_object: bool = False
    path: PathExpression | None = None
    of: Key | None = None
    whole: bool = False
    named: bool = False


def reads_of_shape(shapes: Shapes, shape: Shape) -> frozenset[Read]:
    """All reads of a shape with targets."""
    found = {read for target in shape.targets for read in _of_target(target)}
    found.update(_Reads(shapes).of_shape(shape, None))
    whole = {read.predicate for read in found if read.whole}
    return frozenset(read for read in found if read.whole or read.predicate not in whole)


def _of_target(target: model.Target) -> Iterator[Read]:
    match target:
        case model.TargetClass(of):
            yield Read(TYPE, of=of)
        case model.TargetSubjects(predicate):
            yield Read(predicate)
        case model.TargetObjects(predicate):
            yield Read(predicate, at_object=True)
        case model.TargetQuery():
            # Late: few shapes need queries.
            from triplestore.shacl.watching.query_reads import reads_of_target

            yield from reads_of_target(target)
        case model.TargetNode():
            return


class _Reads:
    def __init__(self, shapes: Shapes) -> None:
        self._shapes = shapes

    def of_shape(self, shape: Shape, path: PathExpression | None) -> Iterator[Read]:
        """The reads of a shape whose focus nodes a path leads to."""
        if shape.deactivated:
            return
        if shape.node in self._shapes.recursive:
            yield from self._of_recursive(shape)
            return
        yield from self._of_constraints(shape, path)

    def _of_constraints(self, shape: Shape, path: PathExpression | None) -> Iterator[Read]:
        values = path
        if shape.path is not None:
            yield from reads_of_path(shape.path, path)
            values = joined(path, shape.path)
        for constraint in shape.constraints:
            yield from self._of(constraint, path, values)

    def _of(
        self,
        constraint: model.Constraint,
        path: PathExpression | None,
        values: PathExpression | None,
    ) -> Iterator[Read]:
        match constraint:
            case model.ClassTest(_, of):
                yield Read(TYPE, path=values, of=of)
            case model.PairTest(_, _, predicate):
                yield Read(predicate, path=path)
            case model.Closed():
                yield Read(ANY, path=values)
            case model.QueryTest():
                # Late: few shapes need queries.
                from triplestore.shacl.watching.query_reads import reads_of_test

                yield from reads_of_test(constraint, path, values)
            case _:
                for inner in inner_shapes(constraint):
                    yield from self.of_shape(self._shapes.shapes[inner], values)

    def _of_recursive(self, shape: Shape) -> Iterator[Read]:
        """Reads as a whole of a shape and all that it refers to."""
        seen: set[Key] = set()
        stack = [shape.node]
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            one = self._shapes.shapes[node]
            if one.path is not None:
                for read in reads_of_path(one.path, None):
                    yield Read(read.predicate, whole=True)
            for constraint in one.constraints:
                inner = inner_shapes(constraint)
                stack += inner
                for read in () if inner else self._of(constraint, None, None):
                    yield Read(read.predicate, of=read.of, whole=True, named=read.named)


def joined(before: PathExpression | None, after: PathExpression) -> PathExpression:
    """Two paths one after the other."""
    first = () if before is None else before.parts if isinstance(before, Sequence) else (before,)
    second = after.parts if isinstance(after, Sequence) else (after,)
    parts = (*first, *second)
    return parts[0] if len(parts) == 1 else Sequence(parts)


def reads_of_path(
    path: PathExpression, before: PathExpression | None, backward: bool = False
) -> Iterator[Read]:
    """The reads of a path that begins where another one ends.

    >>> a, b = Constant.iri("http://a"), Constant.iri("http://b")
    >>> for read in reads_of_path(Sequence((a, Inverse(b))), None):
    ...     print(read.predicate, read.at_object, read.path)
    b'\\x01http://a' False None
    b'\\x01http://b' True <http://a>
    """
    match path:
        case Constant(key):
            yield Read(key, backward, before)
        case NegatedSet():
            yield Read(ANY, backward, before)
        case Inverse(inner):
            yield from reads_of_path(inner, before, not backward)
        case Sequence(parts):
            for part in reversed(parts) if backward else parts:
                yield from reads_of_path(part, before, backward)
                before = joined(before, Inverse(part) if backward else part)
        case Alternative(parts):
            for part in parts:
                yield from reads_of_path(part, before, backward)
        case ZeroOrMore(inner) | OneOrMore(inner):
            step: PathExpression = ZeroOrMore(Inverse(inner) if backward else inner)
            yield from reads_of_path(inner, joined(before, step), backward)
        case _:
            yield from reads_of_path(path.path, before, backward)
