"""Descriptions of classes and data ranges, and inverses of properties, by their nodes.

Start at `ExpressionReader`. Every node with a constructor becomes a plan (`plans`), then plans
become expressions, those inside of others first, without recursion.

A blank node is replaced by its description where it has exactly one, and is not inside itself.
Names, blank nodes with several constructors, and those that contain themselves stay as they are
wherever they are used; their descriptions are `definitions`. So a further triple never removes what
was read before, and everything the rules can use is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar, cast

from pyoxigraph import BlankNode

from triplestore.ontologies.model.expressions import (
    ClassExpression,
    Description,
    InverseOf,
    Node,
    PropertyExpression,
)
from triplestore.ontologies.model.lists import ListReader
from triplestore.ontologies.model.schema_graph import SchemaGraph
from triplestore.terms import Term
from triplestore.thread_limits import look

from .plans import Plan, Planner, Role
from .problems import Problems, show

T = TypeVar("T")


class ExpressionReader:
    """Reads all expressions of a graph at once.

    >>> from pyoxigraph import NamedNode
    >>> from triplestore.ontologies.model.vocabulary import COMPLEMENT_OF
    >>> a, node = NamedNode("http://example.org/A"), BlankNode("n")
    >>> graph = SchemaGraph([(node, COMPLEMENT_OF, a)])
    >>> reader = ExpressionReader(graph, ListReader(graph), Problems())
    >>> reader.class_of(node), reader.class_of(a)
    (ComplementOf(<http://example.org/A>), <NamedNode value=http://example.org/A>)
    """

    def __init__(self, graph: SchemaGraph, lists: ListReader, problems: Problems) -> None:
        self._problems = problems
        self._plans = Planner(graph, lists, problems).plans()
        self._classes: dict[Term, Description] = {}
        self._properties: dict[Term, InverseOf] = {}
        self.definitions: list[Description | InverseOf] = []
        self._build_nested()
        self._build_definitions()

    @property
    def expressions(self) -> tuple[Description | InverseOf, ...]:
        """All that was read, each with its node."""
        return (*self._classes.values(), *self._properties.values(), *self.definitions)

    def class_of(self, node: Node) -> ClassExpression:
        """What a node stands for where a class or data range is expected."""
        return self._classes.get(node, node)

    def property_of(self, node: Node) -> PropertyExpression:
        """What a node stands for where a property is expected."""
        return self._properties.get(node, node)

    def _build_nested(self) -> None:
        """Make the expressions of blank nodes with one plan, each when what is inside is made."""
        single: dict[Node, Plan] = {
            node: plans[0]
            for node, plans in self._plans.items()
            if len(plans) == 1 and type(node) is BlankNode
        }
        waiting: dict[Node, int] = {}
        users: dict[Term, list[Node]] = {}
        ready: list[Node] = []
        for node, plan in single.items():
            inside = {inner for inner in _nodes_inside(plan) if inner in single}
            for inner in inside:
                users.setdefault(inner, []).append(node)
            if inside:
                waiting[node] = len(inside)
            else:
                ready.append(node)
        while ready:
            node = ready.pop()
            look(node)
            self._keep(node, self._make(node, single[node]))
            for user in users.get(node, ()):
                waiting[user] -= 1
                if not waiting[user]:
                    del waiting[user]
                    ready.append(user)
        if waiting:
            self._report_circles({node: single[node] for node in waiting})

    def _keep(self, node: Node, made: Description | InverseOf) -> None:
        if isinstance(made, InverseOf):
            self._properties[node] = made
        else:
            self._classes[node] = made

    def _build_definitions(self) -> None:
        """Make the expressions of all other nodes."""
        for node, plans in self._plans.items():
            if node not in self._classes and node not in self._properties:
                self.definitions += [self._make(node, plan) for plan in plans]
            if len(plans) > 1 and type(node) is BlankNode:
                self._problems.report(
                    "several-constructors",
                    f"{show(node)} is described in {len(plans)} ways",
                    tuple(dict.fromkeys(triple for plan in plans for triple in plan.own)),
                    "each was taken for an equivalent; give each its own node",
                )

    def _make(self, node: Node, plan: Plan) -> Description | InverseOf:
        arguments = [
            self._resolve(role, argument)
            for role, argument in zip(plan.roles, plan.arguments, strict=True)
        ]
        made = plan.make(*arguments, node=node, own=plan.own)
        return cast(Description | InverseOf, made)

    def _resolve(self, role: Role, argument: object) -> object:
        if role is Role.CLASS:
            return self.class_of(cast(Node, argument))
        if role is Role.PROPERTY:
            return self.property_of(cast(Node, argument))
        if role is Role.CLASSES:
            return tuple([self._classes.get(item, item) for item in _terms(argument)])
        if role is Role.PROPERTIES:
            return tuple([self._properties.get(item, item) for item in _terms(argument)])
        return argument

    def _report_circles(self, plans: dict[Node, Plan]) -> None:
        """Report the expressions that contain themselves, and not those that only contain such."""
        inside = {
            node: {inner for inner in _nodes_inside(plan) if inner in plans}
            for node, plan in plans.items()
        }
        uses = dict.fromkeys(plans, 0)
        for inner in (inner for nodes in inside.values() for inner in nodes):
            uses[cast(Node, inner)] += 1
        free = [node for node, count in uses.items() if not count]
        while free:
            for inner in inside.pop(free.pop()):
                uses[cast(Node, inner)] -= 1
                if not uses[cast(Node, inner)]:
                    free.append(cast(Node, inner))
        self._problems.report(
            "expression-inside-itself",
            f"{', '.join(map(show, list(inside)[:3]))} contain themselves",
            tuple(dict.fromkeys(triple for node in inside for triple in plans[node].own)),
            "each was taken for a name with an equivalent; write it without a circle",
        )


def _terms(argument: object) -> tuple[Term, ...]:
    return cast("tuple[Term, ...]", argument)


def _nodes_inside(plan: Plan) -> Iterator[Term]:
    """The nodes in places where an expression can stand."""
    for role, argument in zip(plan.roles, plan.arguments, strict=True):
        if role is Role.CLASS or role is Role.PROPERTY:
            if argument is not None:
                yield cast(Term, argument)
        elif role is Role.CLASSES or role is Role.PROPERTIES:
            yield from _terms(argument)
