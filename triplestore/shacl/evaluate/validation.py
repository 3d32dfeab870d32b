"""Shapes evaluated for all focus nodes at once: start at `Validation.results`.

A constraint gets the focus nodes of its shape and the pairs of these with their values, and says
which are wrong (`checks.py`). Shapes inside of shapes are asked about all values at once. Always
true: focus nodes are distinct and increasing; results are in the order of the shape's constraints,
and in each in the order of focus nodes.

Recursive shapes: a node conforms if nothing speaks against it, also not by way of others that are
asked about at the same time (the greatest fixpoint): see `_settled`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from triplestore.operators.context import running
from triplestore.relations.packed_keys import NO_IDS, U32, Bools, in_sorted
from triplestore.shacl.evaluate.checks import Asked, check
from triplestore.shacl.evaluate.data_graph import DataGraph
from triplestore.shacl.evaluate.found import Found
from triplestore.shacl.model import Shape, ShapeSet
from triplestore.shacl.vocabulary import Key


class Validation:
    """Shapes over one state.

    nodes  only these focus nodes are validated; None for all
    """

    def __init__(
        self, data: DataGraph, shapes: ShapeSet, nodes: tuple[Key, ...] | None = None
    ) -> None:
        self.data = data
        self.shapes = shapes
        self._nodes = None if nodes is None else data.ids(nodes)
        self._known: dict[Key, _Recursive] = {}
        self._visited: dict[Key, U32] = {}

    def all_results(self) -> Iterator[Found]:
        """The results of all shapes with targets."""
        for root in self.shapes.roots:
            shape = self.shapes.shapes[root]
            with running(self.data.context):
                yield from self.results(shape, self.focus_nodes(shape))

    def focus_nodes(self, shape: Shape) -> U32:
        """The nodes that the targets of a shape select."""
        if shape.deactivated or not shape.constraints:
            return NO_IDS
        found = [self.data.target_nodes(target) for target in shape.targets]
        every = np.unique(np.concatenate(found)) if len(found) != 1 else found[0]
        return every if self._nodes is None else np.intersect1d(every, self._nodes)

    def are_focus_nodes(self, shape: Shape, nodes: U32) -> Bools:
        """Which of some nodes the targets of a shape select."""
        masks = [self.data.are_targets(nodes, target) for target in shape.targets]
        return masks[0] if len(masks) == 1 else np.logical_or.reduce(masks)

    def results(self, shape: Shape, focus: U32) -> list[Found]:
        """The results of a shape for some focus nodes."""
        if shape.deactivated or len(focus) == 0 or not shape.constraints:
            return []
        if shape.node in self.shapes.recursive:
            return self._of_recursive(shape, focus)
        return self._results(shape, focus)

    def _results(self, shape: Shape, focus: U32) -> list[Found]:
        if shape.path is None:
            pairs = np.arange(len(focus), dtype=np.int64), focus
        else:
            pairs = self.data.values(shape.path, focus)
        found: list[Found] = []
        asked = Asked(self, shape, focus, *pairs)
        for constraint in shape.constraints:
            self.data.context.check()
            found += [each for each in check(asked, constraint) if len(each)]
        return found

    def _of_recursive(self, shape: Shape, focus: U32) -> list[Found]:
        """The same, without asking again about nodes on the way to which it was asked."""
        before = self._visited.get(shape.node, NO_IDS)
        fresh = ~in_sorted(focus, before)
        if not fresh.any():
            return []
        self._visited[shape.node] = np.union1d(before, focus)
        try:
            rows = np.flatnonzero(fresh)
            return [
                each.take(np.arange(len(each)), rows[each.index])
                for each in self._results(shape, focus[rows])
            ]
        finally:
            self._visited[shape.node] = before

    @property
    def is_settling(self) -> bool:
        """Whether it is asked which nodes conform to a recursive shape."""
        return bool(self._known)

    # -- conformance ------------------------------------------------------------------------------

    def conforming(self, node: Key, nodes: U32) -> Bools:
        """Which of some nodes conform to a shape."""
        shape = self.shapes.shapes[node]
        if shape.node in self.shapes.recursive:
            return self._settled(shape, nodes)
        return self._conforming(shape, nodes)

    def _conforming(self, shape: Shape, nodes: U32) -> Bools:
        mask = np.ones(len(nodes), np.bool_)
        for each in self.results(shape, nodes):
            mask[each.index] = False
        return mask

    def _settled(self, shape: Shape, nodes: U32) -> Bools:
        """Which nodes conform to a recursive shape.

        All nodes that are met on the way are supposed to conform, until something speaks against
        them; this is repeated until nothing changes.
        """
        known = self._known.get(shape.node)
        if known is not None:
            known.ask(nodes)
            return ~in_sorted(nodes, known.wrong)
        known = self._known[shape.node] = _Recursive(nodes)
        visited, self._visited = self._visited, {}
        try:
            while True:
                asked, wrong = known.nodes, known.wrong
                mask = self._conforming(shape, asked)
                known.wrong = asked[~mask]
                if len(known.nodes) == len(asked) and np.array_equal(known.wrong, wrong):
                    return ~in_sorted(nodes, known.wrong)
        finally:
            self._visited = visited
            del self._known[shape.node]


class _Recursive:
    """The nodes about which a recursive shape is asked, and those known not to conform."""

    def __init__(self, nodes: U32) -> None:
        self.nodes = nodes
        self.wrong: U32 = NO_IDS

    def ask(self, nodes: U32) -> None:
        """Ask about more nodes."""
        self.nodes = np.union1d(self.nodes, nodes)
