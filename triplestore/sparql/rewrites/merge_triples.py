"""Joins without joins in them, whose triple patterns are one part.

    { ?x :p ?y } { { ?y :q ?z } { ?z :r* ?w } }  ->  ?x :p ?y . ?y :q ?z . ?z :r* ?w

So they are joined in the best sequence, wherever they stood. What a path was expanded to is merged
with the triple patterns beside it in this way.
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
    """The join with its triple patterns where the first of them stands."""
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
