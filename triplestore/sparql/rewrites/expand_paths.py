"""Expands property paths to joins and unions where possible.

    ?x ^:p ?y         ->  ?y :p ?x
    ?x :p/:q ?y       ->  ?x :p ?path:0 . ?path:0 :q ?y
    ?x :p|:q ?y       ->  { ?x :p ?y } UNION { ?x :q ?y }

`*`, `+`, `?` and negated sets remain paths.
"""

from __future__ import annotations

from triplestore.expressions.tree import Constant
from triplestore.operators.context import current
from triplestore.sparql.algebra.nodes import (
    Alternative,
    Bgp,
    Inverse,
    Join,
    Node,
    Path,
    PathExpression,
    Sequence,
    TermOrVariable,
    TriplePattern,
    Union,
    with_children,
)
from triplestore.sparql.rewrites.shared import QueryVariables


def expand_paths(node: Node, seen: QueryVariables) -> Node:
    """A node whose paths are only closures and negated sets."""
    current().check()
    if isinstance(node, Path):
        return _expanded(node, node.subject, node.path, node.object, seen)
    return with_children(node, lambda child: expand_paths(child, seen))


def _expanded(
    node: Path | None,
    subject: TermOrVariable,
    path: PathExpression,
    object_: TermOrVariable,
    seen: QueryVariables,
) -> Node:
    """The expansion of a path between two terms; `node` is the original node of this path."""
    current().check()
    match path:
        case Constant():
            return Bgp((TriplePattern(subject, path, object_),))
        case Inverse(inner):
            return _expanded(None, object_, inner, subject, seen)
        case Alternative(parts):
            return Union(tuple(_expanded(None, subject, part, object_, seen) for part in parts))
        case Sequence(parts):
            between = [seen.fresh("path") for _ in parts[1:]]
            ends: list[TermOrVariable] = [subject, *between, object_]
            steps = [
                _expanded(None, ends[i], part, ends[i + 1], seen) for i, part in enumerate(parts)
            ]
            return Join(tuple(steps))
        case _:
            return node or Path(subject, path, object_)
