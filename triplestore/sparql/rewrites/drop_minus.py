"""Drops MINUS whose sides have no variable in common: it removes nothing.

?x :p ?y MINUS { ?a :q ?b }  ->  ?x :p ?y
"""

from __future__ import annotations

from triplestore.operators.context import current
from triplestore.sparql.algebra.nodes import Minus, Node, with_children
from triplestore.sparql.rewrites.shared import QueryVariables


def drop_minus(node: Node, seen: QueryVariables) -> Node:
    """The pattern without such MINUS."""
    current().check()
    node = with_children(node, lambda child: drop_minus(child, seen))
    if isinstance(node, Minus) and seen.in_scope(node.left).isdisjoint(seen.in_scope(node.right)):
        return node.left
    return node
