"""Property paths as joins and unions, as far as they are.

    ?x ^:p ?y         ->  ?y :p ?x
    ?x :p/:q ?y       ->  ?x :p ?path:0 . ?path:0 :q ?y
    ?x :p|:q ?y       ->  { ?x :p ?y } UNION { ?x :q ?y }

What is left are `*`, `+`, `?` and negated sets. Patterns that come of it are put into the triple
patterns beside them, so that they are joined in the best sequence.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from triplestore.expressions.tree import Constant, Variable
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


def expand_paths(node: Node) -> Node:
    """A pattern whose paths are closures and negated sets only."""
    numbers = count()

    def fresh() -> Variable:
        return Variable(f"path:{next(numbers)}")

    return _expanded(node, fresh)


def _expanded(node: Node, fresh: Callable[[], Variable]) -> Node:
    current().check()
    if isinstance(node, Path):
        return _path(node.subject, node.path, node.object, fresh)
    node = with_children(node, lambda child: _expanded(child, fresh))
    return join_of(node.parts) if isinstance(node, Join) else node


def _path(
    subject: TermOrVariable,
    path: PathExpression,
    object_: TermOrVariable,
    fresh: Callable[[], Variable],
) -> Node:
    current().check()
    match path:
        case Constant():
            return Bgp((TriplePattern(subject, path, object_),))
        case Inverse(inner):
            return _path(object_, inner, subject, fresh)
        case Alternative(parts):
            return Union(tuple(_path(subject, part, object_, fresh) for part in parts))
        case Sequence(parts):
            between = [fresh() for _ in parts[1:]]
            ends: list[TermOrVariable] = [subject, *between, object_]
            steps = [_path(ends[i], part, ends[i + 1], fresh) for i, part in enumerate(parts)]
            return join_of(tuple(steps))
        case _:
            return Path(subject, path, object_)


def join_of(parts: tuple[Node, ...]) -> Node:
    """A join whose triple patterns are one part, and that has no joins as parts."""
    flat: list[Node] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, Join) else (part,))
    patterns = tuple(t for part in flat if isinstance(part, Bgp) for t in part.patterns)
    first = next((i for i, part in enumerate(flat) if isinstance(part, Bgp)), None)
    made = [
        Bgp(patterns) if i == first else part
        for i, part in enumerate(flat)
        if i == first or not isinstance(part, Bgp)
    ]
    return made[0] if len(made) == 1 else Join(tuple(made))
