"""From algebra to operators, on one snapshot of a store.

Start at `Planner.plan`. Each kind of node has a function: for triple patterns, paths, joins and
filters in `matching` (and from there `groups`), for what combines patterns in `combining`, for
solution modifiers in `modifying`, for GRAPH in `graphs`; EXISTS is in `exists`. What is always
true: the plan of a node has a column for each variable that the node may bind and that is needed,
and nothing else that can be seen; a seed only leaves out solutions that whoever gave it would leave
out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar

import numpy as np

from triplestore.errors import UsageError
from triplestore.expressions.evaluate_columns import Evaluator, Scope
from triplestore.expressions.tree import Constant, Exists, Expression
from triplestore.operators.context import Context
from triplestore.operators.deep_calls import when_large
from triplestore.operators.frame import Frame
from triplestore.operators.row_operators import Filter
from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql.algebra.nodes import Node, TriplePattern
from triplestore.sparql.algebra.short_text import show_expression
from triplestore.sparql.algebra.variables import Variables, exists_in
from triplestore.sparql.cache.slots import Slots
from triplestore.sparql.evaluate.dataset import Dataset
from triplestore.sparql.evaluate.pieces import condition_of
from triplestore.sparql.plan.combining import (
    plan_extend,
    plan_left_join,
    plan_minus,
    plan_union,
    unbound,
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
from triplestore.sparql.plan.planned import ANYTHING, Atom, Names, Planned, Wanted, Where, unit

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class Options:
    """Which improvements planning makes; each can be switched off, for tests and measurements.

    order      choose the sequence of joins (else that of the text)
    prune      drop columns that nothing needs
    seeds      plan parts for the values that are there
    semijoin   join only for existence where repetitions do not matter
    rewrites   the passes of `rewrites`
    cyclic     join all patterns of a new variable at once where they close a cycle
    seed_from  seeds only where that many times more rows would come without
    cyclic_from, cyclic_rows  all at once only where two at a time would make that many times more
                              rows on the way, and from that many rows on
    """

    order: bool = True
    prune: bool = True
    seeds: bool = True
    semijoin: bool = True
    rewrites: bool = True
    cyclic: bool = True
    seed_from: float = 4.0
    cyclic_from: float = 8.0
    cyclic_rows: float = 1000.0


ALL_OFF = Options(False, False, False, False, False, False)


class Planner:
    """Plans the patterns of one query.

    atoms  those made already, by pattern (which is kept, so that its address stays its own) and
           active graph: what is planned for some values was planned without them before
    repeatable  False if a plan that was made would not give the same another time
    slots  where constants are that can be exchanged
    size   how many tokens the text of the query has
    """

    def __init__(self, dataset: Dataset, scope: Scope, options: Options | None = None) -> None:
        self.dataset = dataset
        self.scope = scope
        self.options = options or Options()
        self.seen = Variables()
        self.context: Context | None = None
        self.aggregates: Mapping[str, Callable[[], Any]] = {}
        self.atoms: dict[tuple[int, Where], tuple[TriplePattern, Atom | None]] = {}
        self.repeatable = True
        self.slots = Slots((), frozenset())
        self._numbers = count()
        self.size = 0
        self._asking = 0  # EXISTS that are evaluated now, each in the one before

    def plan(self, node: Node, wanted: Wanted = ANYTHING) -> Planned:
        """The plan of a pattern, of which something is wanted."""
        self.check()
        return _PLANS[type(node)](self, node, wanted)

    def plan_absent(self, node: sparql.LeftJoin, wanted: Wanted) -> Planned:
        """The plan of the solutions of an OPTIONAL in which nothing optional is."""
        return plan_left_join(self, node, wanted, "anti")

    def check(self) -> None:
        """Raise if the query is out of time, or was cancelled."""
        if self.context is not None:
            self.context.check()

    def plan_large(self, node: Node, wanted: Wanted) -> Planned:
        """The plan of a whole query: of a large one it is made on a stack of its own."""
        return self._large(self.size, self.plan, node, wanted)

    def ask(self, function: Callable[[_Given], _Made], given: _Given) -> _Made:
        """What a function gives that evaluates an EXISTS: of those in one another a few on one
        stack."""
        self._asking += 1
        try:
            return self._large(self.size if self._asking % 4 == 1 else 0, function, given)
        finally:
            self._asking -= 1

    def _large(self, size: int, function: Callable[..., _Made], *given: Any) -> _Made:
        try:
            return when_large(size, function, *given)
        except KeyboardInterrupt:
            if self.context is not None:
                self.context.deadline = 0.0  # long ago: what goes on elsewhere stops soon
            raise

    def new_name(self, about: str) -> str:
        """A name for a column that no variable has."""
        return f" {about} {next(self._numbers)}"

    def look_up(self, constant: Constant) -> int:
        """The id of a constant, also of one that the store does not have."""
        assert constant.key not in self.slots.numbers, "it may be exchanged: see `slot`"
        return self.scope.terms.encode_key(constant.key)

    def slot(self, constant: Constant) -> int:
        """The same, for a place that `Slots` knows."""
        return self.slots.slot(constant.key, self.scope.terms.encode_key(constant.key))

    def show(self, expression: Expression) -> Callable[[], str]:
        """The text of an expression, made when it is asked for."""
        return lambda: show_expression(self.slots.now(expression))

    def evaluator(self, expression: Expression, graph: Where) -> Evaluator:
        """What evaluates an expression on frames."""
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

    def has_exists(self, expression: Expression) -> bool:
        """True if there is an EXISTS somewhere in an expression."""
        return any(True for _ in exists_in(expression))

    def asks_one_by_one(self, condition: Expression, names: Names) -> bool:
        """True for an EXISTS into which the values of each row with these names are put."""
        exists = exists_of(condition)
        return exists is not None and is_one_by_one(self, exists, names)

    def filtered(self, made: Planned, condition: Expression, graph: Where = None) -> Planned:
        """The rows of a plan for which a condition is true."""
        self.check()
        exists = exists_of(condition)
        if exists is not None:
            return plan_exists(self, made, exists, exists is not condition, graph)
        holds = condition_of(self.evaluator(condition, graph), self.check)
        return made.with_operator(Filter(made.operator, holds, text=self.show(condition)))


def _plan_service(planner: Planner, node: sparql.Service, wanted: Wanted) -> Planned:
    """SERVICE is refused, and SERVICE SILENT has one solution, which binds nothing."""
    if not node.silent:
        raise UsageError(
            f"SERVICE {node.name} is not asked: queries stay in this store; load what is needed of "
            "the other endpoint first, or write SERVICE SILENT to go on without it"
        )
    names = planner.seen.in_scope(node)
    return unbound(unit(), names if wanted.names is None else names & wanted.names)


_PLANS: dict[type, Callable[[Planner, Any, Wanted], Planned]] = {
    sparql.Bgp: plan_matching,
    sparql.Path: plan_matching,
    sparql.Join: plan_matching,
    sparql.Filter: plan_matching,
    sparql.Values: plan_values,
    sparql.Union: plan_union,
    sparql.LeftJoin: plan_left_join,
    sparql.Minus: plan_minus,
    sparql.Extend: plan_extend,
    sparql.Graph: plan_graph,
    sparql.Service: _plan_service,
    sparql.Group: plan_grouping,
    sparql.OrderBy: plan_ordering,
    sparql.Project: plan_projection,
    sparql.Distinct: plan_distinct,
    sparql.Reduced: plan_reduced,
    sparql.Slice: plan_slice,
}
