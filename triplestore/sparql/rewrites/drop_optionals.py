"""EXISTS without OPTIONALs at the top of its pattern.

    EXISTS { ?x :p ?y OPTIONAL { ?x :q ?z } }  ->  EXISTS { ?x :p ?y }

Whether what is optional is there changes nothing, unless a filter above it looks.
"""

from __future__ import annotations

from triplestore.sparql.algebra.nodes import LeftJoin, Node
from triplestore.sparql.rewrites.shared import QueryVariables


def drop_optionals(node: Node, seen: QueryVariables) -> Node:
    """The pattern of an EXISTS without the OPTIONALs at its top."""
    while isinstance(node, LeftJoin) and node.absent is None:
        node = node.left
    return node
