"""Turns an OPTIONAL into an anti-join if only the solutions without it are wanted.

    ?x :p ?y OPTIONAL { ?x :q ?z } FILTER(!BOUND(?z))  ->  LeftJoin(..., absent=?z)

The optional part must always bind the variable, and the left side must never bind it.
"""

from __future__ import annotations

from dataclasses import replace

from triplestore.expressions.tree import Call, Variable
from triplestore.operators.context import current
from triplestore.sparql.algebra.nodes import Filter, LeftJoin, Node, with_children
from triplestore.sparql.algebra.variables import conjunction, conjuncts
from triplestore.sparql.rewrites.shared import QueryVariables


def use_antijoins(node: Node, seen: QueryVariables) -> Node:
    """The pattern with such OPTIONALs marked, and without their filters."""
    current().check()
    node = with_children(node, lambda child: use_antijoins(child, seen))
    if not isinstance(node, Filter) or not isinstance(node.pattern, LeftJoin):
        return node
    optional, parts = node.pattern, conjuncts(node.condition)
    for place, part in enumerate(parts):
        match part:
            case Call("!", (Call("BOUND", (Variable() as variable,)),)):
                if variable.name in seen.certain(optional.right) - seen.in_scope(optional.left):
                    stay = parts[:place] + parts[place + 1 :]
                    made = replace(optional, absent=variable)
                    return Filter(made, conjunction(stay)) if stay else made
    return node
