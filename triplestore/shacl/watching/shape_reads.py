"""The reads of a shape with targets, and of all that it refers to: start at `reads_of_shape`."""

from __future__ import annotations

from collections.abc import Iterator

from triplestore.shacl import model
from triplestore.shacl.model import Shape, ShapeSet, inner_shapes
from triplestore.shacl.vocabulary import TYPE, Key
from triplestore.shacl.watching.reads import ANY, ShapeRead, joined, reads_of_path
from triplestore.sparql.algebra.nodes import PathExpression


def reads_of_shape(shapes: ShapeSet, shape: Shape) -> frozenset[ShapeRead]:
    """All reads of a shape with targets."""
    found = {read for target in shape.targets for read in _of_target(target)}
    found.update(_Reads(shapes).of_shape(shape, None))
    whole = {read.predicate for read in found if read.whole}
    # A read of a class is kept beside, because other sub-classes concern it as well.
    return frozenset(r for r in found if r.whole or r.of or r.predicate not in whole)


def _of_target(target: model.Target) -> Iterator[ShapeRead]:
    match target:
        case model.TargetClass(of):
            yield ShapeRead(TYPE, of=of)
        case model.TargetSubjects(predicate):
            yield ShapeRead(predicate)
        case model.TargetObjects(predicate):
            yield ShapeRead(predicate, at_object=True)
        case model.TargetQuery():
            # Late: few shapes need queries.
            from triplestore.shacl.watching.query_reads import reads_of_target

            yield from reads_of_target(target)
        case model.TargetNodes():
            return


class _Reads:
    def __init__(self, shapes: ShapeSet) -> None:
        self._shapes = shapes

    def of_shape(self, shape: Shape, path: PathExpression | None) -> Iterator[ShapeRead]:
        """The reads of a shape whose focus nodes a path leads to."""
        if shape.deactivated:
            return
        if shape.node in self._shapes.recursive:
            yield from self._of_recursive(shape)
            return
        yield from self._of_constraints(shape, path)

    def _of_constraints(self, shape: Shape, path: PathExpression | None) -> Iterator[ShapeRead]:
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
    ) -> Iterator[ShapeRead]:
        match constraint:
            case model.ClassTest(_, of):
                yield ShapeRead(TYPE, path=values, of=of)
            case model.PairTest(_, _, predicate):
                yield ShapeRead(predicate, path=path)
            case model.ClosedTest():
                yield ShapeRead(ANY, path=values)
            case model.QueryTest():
                # Late: few shapes need queries.
                from triplestore.shacl.watching.query_reads import reads_of_test

                yield from reads_of_test(constraint, path, values)
            case _:
                for inner in inner_shapes(constraint):
                    yield from self.of_shape(self._shapes.shapes[inner], values)

    def _of_recursive(self, shape: Shape) -> Iterator[ShapeRead]:
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
                    yield ShapeRead(read.predicate, whole=True)
            for constraint in one.constraints:
                inner = inner_shapes(constraint)
                stack += inner
                for read in () if inner else self._of(constraint, None, None):
                    yield ShapeRead(read.predicate, of=read.of, whole=True, named=read.named)
