"""Shapes as data: start at `Shape`.

Always true: nodes and values are keys of terms, so shapes depend on no store. A constraint is one
parameter of a shape (or the parameters that belong together), with the IRI of its component.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field, replace
from typing import TypeAlias

from triplestore.data_classes import data_class
from triplestore.errors import ShapesError
from triplestore.expressions.tree import Expression
from triplestore.shacl.reading.shapes_graph import ShapesGraph, shown
from triplestore.shacl.vocabulary import VIOLATION, Key
from triplestore.sparql.algebra.nodes import PathExpression

Messages: TypeAlias = tuple[Key, ...]


@data_class
class TargetNodes:
    """Some nodes."""

    nodes: tuple[Key, ...]


@data_class
class TargetClass:
    """The instances of a class, and of its sub-classes in the data."""

    of: Key


@data_class
class TargetSubjects:
    """The subjects of a predicate."""

    predicate: Key


@data_class
class TargetObjects:
    """The objects of a predicate."""

    predicate: Key


@data_class
class TargetQuery:
    """The values of `?this` in the solutions of a SELECT (advanced features)."""

    text: str
    prefixes: Mapping[str, str]
    values: Mapping[str, Key] = field(default_factory=dict)


Target: TypeAlias = TargetNodes | TargetClass | TargetSubjects | TargetObjects | TargetQuery


@data_class
class ValueTest:
    """A condition that each value must meet, about the variable `?value`."""

    component: Key
    condition: Expression
    text: str
    """What is wrong with a value that does not."""


@data_class
class DatatypeTest:
    """Each value is a well-formed literal of a datatype."""

    component: Key
    datatype: Key
    condition: Expression
    """Whether `?value` is a literal of the datatype, well-formed or not."""


@data_class
class ClassTest:
    """Each value is an instance of a class."""

    component: Key
    of: Key


@data_class
class InTest:
    """Each value is one of some terms."""

    component: Key
    members: tuple[Key, ...]


@data_class
class HasValueTest:
    """One of the values is a term."""

    component: Key
    value: Key


@data_class
class CountTest:
    """At least, or at most, a number of values."""

    component: Key
    number: int
    at_least: bool


@data_class
class UniqueLang:
    """No two values have the same language tag."""

    component: Key


@data_class
class PairTest:
    """The values beside those of a predicate; `kind` is the name of the parameter."""

    component: Key
    kind: str
    predicate: Key


@data_class
class Logical:
    """`sh:not`, `sh:and`, `sh:or`, `sh:xone`, `sh:node`: the number of shapes that values meet.

    kind  the name of the parameter
    """

    component: Key
    kind: str
    shapes: tuple[Key, ...]


@data_class
class PropertyOf:
    """Each value meets a property shape, whose own results are those of the constraint."""

    component: Key
    shape: Key


@data_class
class Qualified:
    """At least, or at most, a number of values meet a shape, and none of its siblings."""

    component: Key
    shape: Key
    number: int
    at_least: bool
    siblings: tuple[Key, ...]


@data_class
class ClosedTest:
    """Values have no properties but some."""

    component: Key
    allowed: frozenset[Key]


@data_class
class QueryTest:
    """A SELECT whose solutions, or an ASK whose refusals, are results.

    constraint  the node of `sh:sparql`; None for a validator of a component
    values      of variables that are bound before: parameters of components
    asks        whether it is an ASK
    """

    component: Key
    text: str
    prefixes: Mapping[str, str]
    constraint: Key | None = None
    values: Mapping[str, Key] = field(default_factory=dict)
    messages: Messages = ()
    asks: bool = False


Constraint: TypeAlias = (
    ValueTest
    | DatatypeTest
    | ClassTest
    | InTest
    | HasValueTest
    | CountTest
    | UniqueLang
    | PairTest
    | Logical
    | PropertyOf
    | Qualified
    | ClosedTest
    | QueryTest
)


@data_class
class Shape:
    """One shape.

    node         its IRI or blank node
    path         from the focus nodes to the values; None for a node shape
    constraints  in the order of the standard's components
    """

    node: Key
    path: PathExpression | None = None
    targets: tuple[Target, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    severity: Key = VIOLATION
    messages: Messages = ()
    deactivated: bool = False
    name: Key | None = None


@data_class
class ShapeSet:
    """All shapes of a shapes graph that targets reach.

    shapes     by their nodes
    roots      the nodes of those with targets, in a fixed order
    recursive  the nodes of those that refer to themselves
    missing    imported graphs that were not found
    name       the IRI of the shapes graph, for `$shapesGraph`
    graph      the shapes graph, if a query reads it
    """

    shapes: Mapping[Key, Shape]
    roots: tuple[Key, ...]
    recursive: frozenset[Key] = frozenset()
    missing: tuple[Key, ...] = ()
    name: Key = b""
    graph: ShapesGraph | None = None

    def __len__(self) -> int:
        return len(self.roots)

    def only(self, nodes: Collection[Key]) -> ShapeSet:
        """The same with only some of the shapes with targets."""
        unknown = [node for node in nodes if node not in self.roots]
        if unknown:
            raise ShapesError(f"the shapes graph has no shape {shown(unknown[0])} with a target")
        return replace(self, roots=tuple(node for node in self.roots if node in nodes))


def inner_shapes(constraint: Constraint) -> tuple[Key, ...]:
    """The shapes that a constraint refers to."""
    if isinstance(constraint, Logical):
        return constraint.shapes
    if isinstance(constraint, Qualified):
        return (constraint.shape, *constraint.siblings)
    return (constraint.shape,) if isinstance(constraint, PropertyOf) else ()
