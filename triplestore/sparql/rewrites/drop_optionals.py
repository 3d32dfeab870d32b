"""Drops OPTIONALs at the top of the pattern of an EXISTS.

    EXISTS { ?x :p ?y OPTIONAL { ?x :q ?z } }  ->  EXISTS { ?x :p ?y }

The optional part does not change whether there are solutions, unless a filter above it uses it.
"""

from __future__ import annotations

from triplestore.sparql.algebra.nodes import LeftJoin, Node
from triplestore.sparql.rewrites.shared import QueryVariables


def drop_optionals(node: Node, seen: QueryVariables) -> Node:
    """The pattern of an EXISTS without the OPTIONALs at its top."""
    while isinstance(node, LeftJoin) and node.absent is None:
        node = node.left
    return node
