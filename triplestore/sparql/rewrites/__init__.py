"""Rewrites of the algebra that do not depend on the data.

Start at `PASSES`, the list of all passes; each is in a separate file, whose first lines show its
input and output. `rewrite` applies them in this order, each once. Decisions that need estimates or
the columns of a plan (the order of joins, where a filter is evaluated, which columns are kept,
EXISTS as a join) belong to `plan`.

Always true: a pass returns a pattern with the same solutions, also after variables have
been replaced by values (`algebra.substitute`); planning requires the passes of `NEEDED`, the others
only improve plans.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from triplestore.expressions.tree import Exists
from triplestore.operators.context import current
from triplestore.sparql.algebra.nodes import Bgp, Extend, Filter, Join, LeftJoin, Minus, Node, Path
from triplestore.sparql.rewrites.drop_minus import drop_minus
from triplestore.sparql.rewrites.drop_optionals import drop_optionals
from triplestore.sparql.rewrites.expand_paths import expand_paths
from triplestore.sparql.rewrites.find_text_queries import find_text_queries
from triplestore.sparql.rewrites.lift_filters import lift_filters
from triplestore.sparql.rewrites.merge_triples import merge_triples
from triplestore.sparql.rewrites.number_solutions import number_solutions
from triplestore.sparql.rewrites.push_filters import push_filters
from triplestore.sparql.rewrites.shared import QueryVariables, Rewrite, kinds_in, with_exists
from triplestore.sparql.rewrites.simplify_closures import simplify_closures
from triplestore.sparql.rewrites.use_antijoins import use_antijoins
from triplestore.sparql.rewrites.use_equalities import use_equalities


class Pass(NamedTuple):
    """One entry of the list.

    rewrite    the function
    of         the kinds of nodes that it changes: patterns without any of them are skipped
    in_exists  True if it is only for patterns of EXISTS
    """

    rewrite: Rewrite
    of: frozenset[type]
    in_exists: bool = False


PASSES = (
    Pass(find_text_queries, frozenset({Bgp})),
    Pass(expand_paths, frozenset({Path})),
    Pass(number_solutions, frozenset({Extend})),
    Pass(merge_triples, frozenset({Join})),
    Pass(simplify_closures, frozenset({Path})),
    Pass(push_filters, frozenset({Filter})),
    Pass(use_equalities, frozenset({Filter})),
    Pass(lift_filters, frozenset({Join})),
    Pass(use_antijoins, frozenset({Filter})),
    Pass(drop_optionals, frozenset({LeftJoin}), in_exists=True),
    Pass(drop_minus, frozenset({Minus})),
)
"""All passes, in order; each is applied once."""

NEEDED = PASSES[:3]
"""The passes that planning requires: it cannot plan text queries, sequence paths
or labels of new blank nodes."""


def rewrite(
    node: Node,
    passes: Sequence[Pass] = PASSES,
    seen: QueryVariables | None = None,
    *,
    in_exists: bool = False,
) -> Node:
    """A pattern after all passes; patterns of its EXISTS are rewritten first.

    >>> from triplestore.expressions.tree import Constant, Variable
    >>> from triplestore.sparql.algebra.nodes import Inverse
    >>> x, p = Variable("x"), Constant.iri("http://ex.org/p")
    >>> rewrite(Path(x, Inverse(p), x))
    Bgp(patterns=(TriplePattern(subject=Variable(name='x'), ...
    """
    seen = seen or QueryVariables()

    def inside(exists: Exists) -> Exists:
        return Exists(rewrite(exists.pattern, passes, seen, in_exists=True), exists.negated)

    kinds = kinds_in(node)
    if Exists in kinds:
        node = with_exists(node, inside)
    check = current().check
    for one in passes:
        check()
        if in_exists >= one.in_exists and not kinds.isdisjoint(one.of):
            before, node = node, one.rewrite(node, seen)
            kinds = kinds if node is before else kinds_in(node, Exists in kinds)
    return node
