"""The shapes of a shapes graph: start at `read_shapes`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from triplestore.errors import ShapesError
from triplestore.shacl import model
from triplestore.shacl.model import Shape, ShapeSet, Target, inner_shapes
from triplestore.shacl.reading.read_constraints import read_constraints
from triplestore.shacl.reading.read_paths import read_path
from triplestore.shacl.reading.read_queries import (
    Component,
    read_components,
    read_queries,
    read_query_targets,
)
from triplestore.shacl.reading.shapes_graph import ShapesGraph, in_order, shown
from triplestore.shacl.thresholds import SHACL
from triplestore.shacl.vocabulary import CLASSES, VIOLATION, Key, lexical, sh
from triplestore.terms.term_keys import BLANK, IRI

_TARGETS = ("targetNode", "targetClass", "targetSubjectsOf", "targetObjectsOf", "target")
_UNSUPPORTED = ("js", "expression")


def read_shapes(graph: ShapesGraph, others: Iterable[Key] = ()) -> ShapeSet:
    """The shapes with targets, and all that they refer to.

    others  more shapes that are read, with all that they refer to
    """
    return _Reading(graph).result(others)


class _Reading:
    def __init__(self, graph: ShapesGraph) -> None:
        self.graph = graph
        self.components: list[Component] = read_components(graph)
        self.shapes: dict[Key, Shape] = {}
        self.recursive: set[Key] = set()
        self._classes = self._find_classes()

    def result(self, others: Iterable[Key]) -> ShapeSet:
        roots = in_order(self._roots())
        for node in (*roots, *others):
            self._read(node)
        self._find_recursion()
        return ShapeSet(
            self.shapes,
            tuple(roots),
            frozenset(self.recursive),
            tuple(in_order(self.graph.imports)),
            self.graph.name,
            self.graph if self._asks_for_graph() else None,
        )

    def _asks_for_graph(self) -> bool:
        """Whether a query reads the shapes graph."""
        return any(
            isinstance(constraint, model.QueryTest) and "shapesGraph" in constraint.text
            for shape in self.shapes.values()
            for constraint in shape.constraints
        )

    def _roots(self) -> set[Key]:
        found = {node for name in _TARGETS for node, _ in self.graph.with_predicate(sh(name))}
        return found | self._classes

    def _find_classes(self) -> set[Key]:
        """The shapes that are classes, whose instances are their targets."""
        classes = set(self.graph.instances(*CLASSES))
        return {
            s for s in self.graph.instances(sh("NodeShape"), sh("PropertyShape")) if s in classes
        }

    def _read(self, root: Key) -> None:
        """Read a shape and all below it."""
        stack = [root]
        while stack:
            node = stack.pop()
            if node not in self.shapes:
                shape = self.shapes[node] = self._shape(node)
                for constraint in shape.constraints:
                    stack += inner_shapes(constraint)

    def _shape(self, node: Key) -> Shape:
        if node[0] not in (IRI, BLANK):
            raise ShapesError(f"{shown(node)} is given as a shape: a shape is an IRI or blank node")
        graph = self.graph
        given = graph.one(node, sh("path"))
        path = None if given is None else read_path(graph, given)
        for name in _UNSUPPORTED:
            if graph.objects(node, sh(name)):
                raise ShapesError(f"{shown(node)}: sh:{name} is not supported")
        deactivated = graph.is_true(node, sh("deactivated"))
        constraints: tuple[model.Constraint, ...] = ()
        if not deactivated:
            constraints = (
                *read_constraints(graph, node, path is not None),
                *read_queries(graph, node, path, self.components),
            )
        return Shape(
            node,
            path,
            tuple(self._targets(node)),
            constraints,
            graph.one(node, sh("severity")) or VIOLATION,
            tuple(in_order(graph.objects(node, sh("message")))),
            deactivated,
            next(iter(in_order(graph.objects(node, sh("name")))), None),
        )

    def _targets(self, node: Key) -> Iterator[Target]:
        graph = self.graph
        nodes = in_order(graph.objects(node, sh("targetNode")))
        if nodes:
            yield model.TargetNodes(tuple(nodes))
        for value in in_order(graph.objects(node, sh("targetClass"))):
            yield model.TargetClass(value)
        if node in self._classes:
            yield model.TargetClass(node)
        for value in in_order(graph.objects(node, sh("targetSubjectsOf"))):
            yield model.TargetSubjects(value)
        for value in in_order(graph.objects(node, sh("targetObjectsOf"))):
            yield model.TargetObjects(value)
        yield from read_query_targets(graph, node)

    def _find_recursion(self) -> None:
        """Note the shapes that refer to themselves, and refuse those that do by a negation."""
        below = {
            node: {inner for c in shape.constraints for inner in inner_shapes(c)}
            for node, shape in self.shapes.items()
        }
        for node in self.shapes:
            reached, stack = set[Key](), list(below[node])
            while stack:
                one = stack.pop()
                if one not in reached:
                    reached.add(one)
                    stack += below[one]
            if node in reached:
                self.recursive.add(node)
        self._check_depth(below)
        for node in self.recursive:
            for constraint in self.shapes[node].constraints:
                negates = (
                    isinstance(constraint, model.Logical) and constraint.kind in ("not", "xone")
                ) or (
                    isinstance(constraint, model.Qualified)
                    and (not constraint.at_least or bool(constraint.siblings))
                )
                if negates and not self.recursive.isdisjoint(inner_shapes(constraint)):
                    raise ShapesError(
                        f"{shown(node)} refers to itself by a constraint that negates "
                        f"({lexical(constraint.component)}): what this means is not defined"
                    )

    def _check_depth(self, below: dict[Key, set[Key]]) -> None:
        """Refuse shapes that are nested too deeply: each level is some calls of functions."""
        done = set(self.recursive)
        for _ in range(SHACL.nested_shapes):
            done |= {node for node, inner in below.items() if inner <= done}
        if len(done) < len(below) or len(self.recursive) > SHACL.nested_shapes:
            raise ShapesError(f"shapes are nested more than {SHACL.nested_shapes} levels deep")
