"""Constraints, components and targets that are SPARQL: start at `read_queries`.

A query is kept as its text, with the prefixes that it declares and the values of parameters, which
are put in place of variables when it is evaluated (see `evaluate.run_queries`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from triplestore.data_classes import data_class
from triplestore.errors import ShapesError
from triplestore.shacl.model import QueryTest, TargetQuery
from triplestore.shacl.reading.read_paths import path_text
from triplestore.shacl.reading.shapes_graph import ShapesGraph, in_order, shown
from triplestore.shacl.vocabulary import IMPORTS, TYPE, Key, lexical, local_name, sh
from triplestore.sparql.algebra.nodes import PathExpression
from triplestore.terms.term_keys import IRI, to_ntriples

SPARQL_COMPONENT = sh("SPARQLConstraintComponent")


@data_class
class Component:
    """A constraint component of the shapes graph.

    parameters  by the local names of their properties; the second is whether it may be missing
    """

    node: Key
    parameters: tuple[tuple[Key, bool], ...]


def read_components(graph: ShapesGraph) -> list[Component]:
    """The components that a graph defines."""
    found = []
    for node in in_order(graph.instances(sh("ConstraintComponent"))):
        parameters = read_parameters(graph, node)
        if any(not optional for _, optional in parameters):
            found.append(Component(node, parameters))
    return found


def read_parameters(graph: ShapesGraph, node: Key) -> tuple[tuple[Key, bool], ...]:
    """The properties of the parameters of a component, and whether each is optional."""
    found = []
    for parameter in in_order(graph.objects(node, sh("parameter"))):
        path = graph.one(parameter, sh("path"))
        if path is None or path[0] != IRI:
            raise ShapesError(f"a parameter of {shown(node)} needs sh:path with an IRI")
        found.append((path, graph.is_true(parameter, sh("optional"))))
    return tuple(found)


def read_queries(
    graph: ShapesGraph, node: Key, path: PathExpression | None, components: list[Component]
) -> Iterator[QueryTest]:
    """The constraints of a shape that are SPARQL."""
    for constraint in in_order(graph.objects(node, sh("sparql"))):
        if not graph.is_true(constraint, sh("deactivated")):
            made = _query(graph, constraint, path, SPARQL_COMPONENT)
            if made is None or made.asks:
                raise ShapesError(f"{shown(constraint)}: a constraint of sh:sparql needs sh:select")
            yield made
    for component in components:
        yield from _of_component(graph, node, path, component)


def _of_component(
    graph: ShapesGraph, node: Key, path: PathExpression | None, component: Component
) -> Iterator[QueryTest]:
    columns: list[list[tuple[str, Key] | None]] = []
    for parameter, optional in component.parameters:
        name = local_name(parameter)
        given = [(name, value) for value in in_order(graph.objects(node, parameter))]
        if not given and not optional:
            return
        columns.append([*given] or [None])
    name = "nodeValidator" if path is None else "propertyValidator"
    validators = graph.objects(component.node, sh(name)) or graph.objects(
        component.node, sh("validator")
    )
    for validator in in_order(validators)[:1]:
        for chosen in product(*columns):
            values = dict(pair for pair in chosen if pair is not None)
            made = _query(graph, validator, path, component.node, values)
            if made is not None:
                yield made


def _query(
    graph: ShapesGraph,
    node: Key,
    path: PathExpression | None,
    component: Key,
    values: dict[str, Key] | None = None,
) -> QueryTest | None:
    select, ask = graph.one(node, sh("select")), graph.one(node, sh("ask"))
    text = select if select is not None else ask
    if text is None:
        return None
    return QueryTest(
        component,
        with_path(lexical(text), path),
        read_prefixes(graph, node),
        node if component == SPARQL_COMPONENT else None,
        values or {},
        tuple(in_order(graph.objects(node, sh("message")))),
        select is None,
    )


def with_path(text: str, path: PathExpression | None) -> str:
    """A query in which `$PATH` is the path of the shape.

    >>> from triplestore.expressions.tree import Constant
    >>> with_path("SELECT $this { $this $PATH ?x }", Constant.iri("http://p"))
    'SELECT $this { $this <http://p> ?x }'
    """
    if path is None:
        return text
    written = path_text(path, lambda key: to_ntriples(key).decode())
    return text.replace("$PATH", written).replace("?PATH", written)


def read_prefixes(graph: ShapesGraph, node: Key) -> dict[str, str]:
    """The prefixes that a query declares by `sh:prefixes`, also in imported graphs."""
    found: dict[str, str] = {}
    stack, seen = graph.objects(node, sh("prefixes")), set()
    for holder in (stack := [*stack]):
        if holder in seen:
            continue
        seen.add(holder)
        stack += graph.objects(holder, IMPORTS)
        for declared in graph.objects(holder, sh("declare")):
            prefix = graph.one(declared, sh("prefix"))
            namespace = graph.one(declared, sh("namespace"))
            if prefix is None or namespace is None:
                raise ShapesError(f"{shown(holder)}: sh:declare needs sh:prefix and sh:namespace")
            name, iri = lexical(prefix), lexical(namespace)
            if found.setdefault(name, iri) != iri:
                raise ShapesError(
                    f"{shown(node)}: the prefix {name}: stands for <{iri}> and <{found[name]}>"
                )
    return found


def read_query_targets(graph: ShapesGraph, node: Key) -> Iterator[TargetQuery]:
    """The targets of a shape that are SPARQL."""
    for target in in_order(graph.objects(node, sh("target"))):
        select = graph.one(target, sh("select"))
        if select is not None:
            yield TargetQuery(lexical(select), read_prefixes(graph, target))
            continue
        kinds = [k for k in graph.objects(target, TYPE) if graph.objects(k, sh("select"))]
        if not kinds:
            raise ShapesError(f"{shown(node)}: the target {shown(target)} has no sh:select")
        for kind in kinds:
            text = graph.one(kind, sh("select"))
            assert text is not None
            values = {}
            for parameter, optional in read_parameters(graph, kind):
                value = graph.one(target, parameter)
                if value is not None:
                    values[local_name(parameter)] = value
                elif not optional:
                    raise ShapesError(f"the target {shown(target)} lacks {shown(parameter)}")
            yield TargetQuery(lexical(text), read_prefixes(graph, kind), values)
