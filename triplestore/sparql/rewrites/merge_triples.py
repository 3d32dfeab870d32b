"""Flattens nested joins, and merges their triple patterns into one part.

    { ?x :p ?y } { { ?y :q ?z } { ?z :r* ?w } }  ->  ?x :p ?y . ?y :q ?z . ?z :r* ?w

They can then be joined in the best order. This also merges expanded paths with the triple patterns
beside them.
"""

from __future__ import annotations

from triplestore.operators.context import current
from triplestore.sparql.algebra.nodes import Bgp, Join, Node, with_children
from triplestore.sparql.rewrites.shared import QueryVariables


def merge_triples(node: Node, seen: QueryVariables) -> Node:
    """The pattern with its joins merged."""
    current().check()
    node = with_children(node, lambda child: merge_triples(child, seen))
    return _merged(node) if isinstance(node, Join) else node


def _merged(join: Join) -> Node:
    """The join with all triple patterns at the place of the first."""
    kinds = [type(part) for part in join.parts]
    if Join not in kinds and kinds.count(Bgp) < 2:
        return join
    flat: list[Node] = []
    for part in join.parts:
        flat.extend(part.parts if isinstance(part, Join) else (part,))
    patterns = tuple(t for part in flat if isinstance(part, Bgp) for t in part.patterns)
    first = next((i for i, part in enumerate(flat) if isinstance(part, Bgp)), None)
    made = [
        Bgp(patterns) if i == first else part
        for i, part in enumerate(flat)
        if i == first or not isinstance(part, Bgp)
    ]
    return made[0] if len(made) == 1 else Join(tuple(made))
