"""From algebra to operators, on one snapshot of a store.

Start at `QueryPlanner.plan`. Each kind of node has a function: triple patterns, paths, joins and
filters in `matching` (and from there `groups`), UNION, OPTIONAL, MINUS and BIND in `combining`,
solution modifiers in `modifying`, GRAPH in `graphs`; EXISTS is in `exists`. Always true:
the plan of a node has a column for each needed variable that the node may bind, and otherwise only
hidden columns; a seed only excludes solutions that its join would exclude anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from triplestore.expressions.evaluate_columns import Evaluator, Scope
from triplestore.expressions.tree import Exists, Expression
from triplestore.operators.frame import Frame
from triplestore.operators.row_operators import FilterRows
from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql.algebra.nodes import Node
from triplestore.sparql.evaluate.pieces import condition_of
from triplestore.sparql.plan.combining import (
    plan_extend,
    plan_left_join,
    plan_minus,
    plan_union,
)
from triplestore.sparql.plan.exists import exists_of, exists_test, is_one_by_one, plan_exists
from triplestore.sparql.plan.graphs import plan_graph
from triplestore.sparql.plan.matching import plan_matching, plan_values
from triplestore.sparql.plan.modifying import (
    plan_distinct,
    plan_grouping,
    plan_ordering,
    plan_projection,
    plan_reduced,
    plan_slice,
)
from triplestore.sparql.plan.planned import ANYTHING, Names, Planned, Wanted, Where
from triplestore.sparql.plan.planner import Planner
from triplestore.sparql.plan.text_hits import plan_text_hits


class QueryPlanner(Planner):
    """Plans the patterns of one query."""

    def plan(self, node: Node, wanted: Wanted = ANYTHING) -> Planned:
        """The plan of a pattern."""
        self.check()
        return _PLANS[type(node)](self, node, wanted)

    def evaluator(self, expression: Expression, graph: Where) -> Evaluator:
        """The evaluator of an expression on frames."""
        self.check()
        if not self.has_exists(expression):
            made = Evaluator(expression, self.scope)
            self.repeatable = self.repeatable and made.is_repeatable
            self.slots.evaluates(made, expression)
            return made
        self.repeatable = False
        tests: dict[object, Callable[[Frame], np.ndarray]] = {}

        def exists(node: Exists, frame: Frame) -> np.ndarray:
            bound = frozenset(
                [n for n, c in zip(frame.names, frame.columns, strict=True) if c.all()]
            )
            key = (id(node), frame.names, bound)
            if key not in tests:
                tests[key] = exists_test(self, node, frame.names, bound, graph)
            return tests[key](frame)

        return Evaluator(expression, Scope(self.scope.terms, self.scope.around, exists))

    def asks_one_by_one(self, condition: Expression, names: Names) -> bool:
        """True for an EXISTS that is tested row by row for rows with these names."""
        exists = exists_of(condition)
        return exists is not None and is_one_by_one(self, exists, names)

    def filtered(self, made: Planned, condition: Expression, graph: Where = None) -> Planned:
        """The rows of a plan for which a condition is true."""
        self.check()
        exists = exists_of(condition)
        if exists is not None:
            return plan_exists(self, made, exists, exists is not condition, graph)
        holds = condition_of(self.evaluator(condition, graph), self.check)
        return made.with_operator(FilterRows(made.operator, holds, text=self.show(condition)))


_PLANS: dict[type, Callable[[Planner, Any, Wanted], Planned]] = {
    sparql.Bgp: plan_matching,
    sparql.Path: plan_matching,
    sparql.TermPattern: plan_matching,
    sparql.Join: plan_matching,
    sparql.Filter: plan_matching,
    sparql.Values: plan_values,
    sparql.TextHits: plan_text_hits,
    sparql.Union: plan_union,
    sparql.LeftJoin: plan_left_join,
    sparql.Minus: plan_minus,
    sparql.Extend: plan_extend,
    sparql.Graph: plan_graph,
    sparql.Service: plan_matching,
    sparql.Group: plan_grouping,
    sparql.OrderBy: plan_ordering,
    sparql.Project: plan_projection,
    sparql.Distinct: plan_distinct,
    sparql.Reduced: plan_reduced,
    sparql.Slice: plan_slice,
}
