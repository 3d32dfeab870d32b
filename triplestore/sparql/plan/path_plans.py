"""Property paths in groups: estimates and joins.

Start at `PathPart` and `make_step`. Sequences, alternatives and inverses outside of closures are
joins and unions already (see `rewrites.expand_paths`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from triplestore.data_classes import data_class
from triplestore.expressions.tree import Constant
from triplestore.operators.context import current
from triplestore.operators.frame import Array, Frame
from triplestore.operators.joins.merge_join import join
from triplestore.operators.leaves import Values
from triplestore.operators.operator import Operator, Text
from triplestore.operators.row_operators import FilterRows, Project
from triplestore.sparql.algebra.nodes import (
    Alternative,
    Inverse,
    NegatedSet,
    OneOrMore,
    PathExpression,
    Sequence,
    ZeroOrMore,
    ZeroOrOne,
)
from triplestore.sparql.evaluate.dataset import Dataset
from triplestore.sparql.evaluate.paths import PathProbe, PathStarts
from triplestore.sparql.evaluate.steps import (
    AlternativeStep,
    ClosureStep,
    InverseStep,
    NegatedStep,
    Nodes,
    PathStep,
    PredicateStep,
    SequenceStep,
)
from triplestore.sparql.plan.planned import LEAST, Names, Planned
from triplestore.sparql.plan.planner import Planner

_EVERY = 1024  # names between two checks of the limits


@data_class(frozen=False)
class PathPart:
    """A path between two terms: names of variables, or ids."""

    subject: str | int
    step: PathStep
    object: str | int
    nodes: Nodes
    text: Text

    @property
    def names(self) -> Names:
        """The variables."""
        return frozenset([end for end in (self.subject, self.object) if isinstance(end, str)])

    @property
    def has_constant(self) -> bool:
        """True if an end is a constant."""
        return isinstance(self.subject, int) or isinstance(self.object, int)

    @property
    def size(self) -> float:
        """The expected number of pairs."""
        size = max(self.step.size, 1.0)
        return math.sqrt(size) if self.has_constant else size

    def distinct(self, name: str) -> float:
        """The approximate number of distinct values of an end."""
        return float(max(1.0, self.size**0.75))

    def joined(self, planner: Planner, made: Planned, keep: Names) -> Planned:
        """A plan joined with the path."""
        child = made.operator
        doubtful = self.names & made.maybe
        renamed: dict[str, str] = {}
        if doubtful:
            # An end that may be unbound becomes a new column, which is compared with the old one.
            renamed = {name: planner.new_name(name) for name in doubtful}
        subject, object_ = (renamed.get(str(end), end) for end in (self.subject, self.object))
        known = [isinstance(end, int) or end in child.names for end in (subject, object_)]
        if not any(known):
            assert isinstance(subject, str)
            starts = PathStarts(subject, self.step)
            child = join(child, starts, ()) if child.names or not _is_unit(child) else starts
        rows = max(LEAST, made.rows * self._each(all(known)))
        operator: Operator = PathProbe(
            child, self.step, subject, object_, self.nodes, text=self.text, estimate=rows
        )
        names = set(self.names)
        if not renamed:
            return Planned(operator, made.maybe, {**made.distinct})
        operator = _merged(operator, renamed, made.names)
        return Planned(operator, made.maybe - names, {**made.distinct})

    def _each(self, both: bool) -> float:
        """The expected number of pairs for one value of an end."""
        return 0.5 if both else math.sqrt(math.sqrt(max(self.size, 1.0)))


def _is_unit(operator: Operator) -> bool:
    return isinstance(operator, Values) and not operator.names and operator.frame.rows == 1


def _merged(operator: Operator, renamed: dict[str, str], names: tuple[str, ...]) -> Operator:
    """The rows whose old and new columns are compatible, with the new columns."""

    def compatible(frame: Frame) -> Array:
        mask = np.ones(frame.rows, np.bool_)
        for old, new in renamed.items():
            mask &= (frame[old] == 0) | (frame[old] == frame[new])
        return mask

    filtered = FilterRows(operator, compatible, text="compatible ends")
    temporary = set(renamed.values())
    columns = {name: renamed.get(name, name) for name in names}
    columns |= {n: n for n in operator.names if n not in names and n not in temporary}
    return Project(filtered, columns)


def is_closed(
    path: PathExpression, dataset: Dataset, graph: int | None, look_up: Callable[[Constant], int]
) -> bool:
    """True if a path is a transitive property, or the inverse of one."""
    while isinstance(path, Inverse):
        path = path.path
    return isinstance(path, Constant) and dataset.is_transitive(look_up(path), graph)


def make_step(
    path: PathExpression,
    dataset: Dataset,
    graph: int | None,
    look_up: Callable[[Constant], int],
) -> PathStep:
    """The step of a path expression in a graph (None: the default graph)."""

    def made_of(parts: Iterable[PathExpression]) -> list[PathStep]:
        return [make(part) for part in parts]

    def make(inner: PathExpression) -> PathStep:
        current().check()
        match inner:
            case Constant():
                return PredicateStep(dataset.graph(graph).relation(look_up(inner)), dataset.where)
            case Inverse(other):
                return InverseStep(make(other))
            case Sequence(parts):
                return SequenceStep(made_of(parts))
            case Alternative(parts):
                return AlternativeStep(made_of(parts))
            case NegatedSet(iris):
                excluded = []
                for at, iri in enumerate(iris):
                    if at % _EVERY == 0:
                        current().check()
                    excluded.append(look_up(iri))
                return NegatedStep(dataset.facts(graph), excluded, dataset.where)
            case ZeroOrMore(other) | OneOrMore(other) | ZeroOrOne(other):
                nodes = Nodes(dataset.facts(graph), dataset.where)
                least = int(isinstance(inner, OneOrMore))
                # A closed relation is its own closure.
                closed = is_closed(other, dataset, graph, look_up)
                if closed and least == 1:
                    return make(other)
                endless = not (closed or isinstance(inner, ZeroOrOne))
                return ClosureStep(make(other), least, endless, nodes)

    return make(path)
