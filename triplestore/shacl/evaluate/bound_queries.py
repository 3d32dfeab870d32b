"""Queries whose variables are bound before they begin: start at `check_allowed`.

SHACL puts values in place of such variables everywhere in a query. Here is said which queries are
allowed, where binding a column of values is the same, and how a table is joined with a pattern so
that it becomes the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from triplestore.errors import ShapesError
from triplestore.expressions.tree import Variable
from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql.algebra.nodes import UNIT, Node, Select
from triplestore.sparql.algebra.variables import (
    Variables,
    exists_in,
    expressions_of,
    names_in,
)

_LEAVES = (sparql.Bgp, sparql.Path)
_SPINE = (sparql.Distinct, sparql.Reduced, sparql.Slice)


def all_nodes(node: Node) -> Iterator[Node]:
    """The nodes of a pattern, also those in EXISTS."""
    for each in sparql.walk(node):
        yield each
        for expression in expressions_of(each):
            for exists in exists_in(expression):
                yield from all_nodes(exists.pattern)


def check_allowed(pattern: Node, known: tuple[str, ...], text: str) -> None:
    """Refuse what SHACL does not allow in a query with variables that are bound before."""
    for node in all_nodes(pattern):
        what = _refused(node, known)
        if what is not None:
            raise ShapesError(f"a query of shapes must not have {what}: {text.strip()}")
    inner = projected(pattern)
    for node in all_nodes(inner.pattern):
        if isinstance(node, sparql.Project):
            missing = set(known) - {variable.name for variable in node.variables}
            if missing:
                raise ShapesError(
                    f"a sub-query of shapes must select ${min(missing)}, which is bound before: "
                    + text.strip()
                )


def _refused(node: Node, known: tuple[str, ...]) -> str | None:
    if isinstance(node, sparql.Minus):
        return "MINUS"
    if isinstance(node, sparql.Values):
        return "VALUES"
    if isinstance(node, sparql.Service):
        return "SERVICE"
    if isinstance(node, sparql.Extend) and node.variable.name in known:
        return f"AS ?{node.variable.name}, which is bound before"
    return None


def projected(pattern: Node) -> sparql.Project:
    """The projection of a query."""
    while not isinstance(pattern, sparql.Project):
        assert isinstance(pattern, _SPINE)
        pattern = pattern.pattern
    return pattern


def projecting(pattern: Node, known: tuple[str, ...]) -> Node:
    """A query that also selects some variables."""
    if not isinstance(pattern, sparql.Project):
        return sparql.with_children(pattern, lambda child: projecting(child, known))
    names = {variable.name for variable in pattern.variables}
    more = tuple(Variable(name) for name in known if name not in names)
    return sparql.Project(pattern.pattern, (*pattern.variables, *more))


def is_per_node(query: Select, known: tuple[str, ...]) -> bool:
    """Whether solutions for several values at once are not those for each of them."""
    for node in sparql.walk(query.pattern):
        if isinstance(node, sparql.Slice):
            return True
        if isinstance(node, sparql.Group):
            keys = {k.variable.name for k in node.keys if k.expression == k.variable}
            if not keys.issuperset(known):
                return True
    return False


def binds_everywhere(pattern: Node, known: tuple[str, ...]) -> bool:
    """Whether variables are bound by the pattern wherever they are used."""
    seen = Variables()
    names = frozenset(known)
    if not seen.certain(pattern) >= names:
        return False
    for node in sparql.walk(pattern):
        bound = frozenset[str]().union(*map(seen.certain, sparql.children(node)))
        used = frozenset[str]().union(*(names_in(each, seen) for each in expressions_of(node)))
        if not bound >= used & names:
            return False
        if isinstance(node, sparql.LeftJoin):
            inner = seen.in_scope(node.right) & names
            if not seen.certain(node.left) >= inner:
                return False
    return True


def with_table(node: Node, table: sparql.Values) -> Node:
    """A pattern joined with a table in each of its parts."""
    if node == UNIT:
        return table
    if isinstance(node, _LEAVES):
        return sparql.Join((table, node))
    if isinstance(node, sparql.Join):
        inner = [
            each if isinstance(each, _LEAVES) else with_table(each, table) for each in node.parts
        ]
        parts = [part for each in inner for part in _parts(each)]
        return sparql.Join((table, *(part for part in parts if part != table)))
    return sparql.with_children(node, lambda child: with_table(child, table))


def _parts(node: Node) -> tuple[Node, ...]:
    return node.parts if isinstance(node, sparql.Join) else (node,)
