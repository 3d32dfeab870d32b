"""The shared state of planning: options, limits, names of columns, ids of constants.

Start at `Planner`, the first argument of the functions of the other modules. Its abstract methods
(how each kind of node is planned) are in `query_planner`, which imports these modules.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, TypeVar

from triplestore.data_classes import data_class
from triplestore.expressions.evaluate_columns import Evaluator, Scope
from triplestore.expressions.tree import Constant, Expression, has_exists
from triplestore.network.services import NO_SERVICES
from triplestore.operators.context import Context
from triplestore.operators.deep_calls import when_large
from triplestore.sparql.algebra.nodes import Node, TriplePattern
from triplestore.sparql.algebra.short_text import show_expression
from triplestore.sparql.algebra.variables import Variables
from triplestore.sparql.cache.slots import Slots
from triplestore.sparql.evaluate.dataset import Dataset
from triplestore.sparql.evaluate.text_hits import SearchText
from triplestore.sparql.evaluate.triple_terms import TripleTerms
from triplestore.sparql.plan.planned import ANYTHING, Atom, Names, Planned, Wanted, Where

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


@data_class
class PlanOptions:
    """The optimizations of planning; each can be switched off for tests and measurements.

    order      choose the order of joins (otherwise that of the text)
    prune      drop columns that are no longer needed
    seeds      plan parts for the values of the rows so far
    semijoin   use semi-joins if duplicates do not matter
    rewrites   the passes of `rewrites`
    cyclic     join all patterns of a new variable at once if they close a cycle
    counting   count solutions without making them
    seed_from  minimum factor by which a seed reduces the rows of a part
    cyclic_from, cyclic_rows  minimum factor by which joining all patterns at once reduces the
                              intermediate rows, and minimum number of rows for it
    """

    order: bool = True
    prune: bool = True
    seeds: bool = True
    semijoin: bool = True
    rewrites: bool = True
    cyclic: bool = True
    counting: bool = True
    seed_from: float = 4.0
    cyclic_from: float = 8.0
    cyclic_rows: float = 1000.0


ALL_OFF = PlanOptions(False, False, False, False, False, False, False)


class Planner(ABC):
    """Plans the patterns of one query.

    atoms  the atoms made so far, by pattern and active graph, because parts may be planned again
           with a seed; patterns are kept so that their addresses stay unique
    repeatable  False if a plan would not return the same rows another time
    slots  where exchangeable constants are
    triple_terms  the relation of triple terms, once a pattern needs it
    size   the number of tokens of the query's text
    services  the endpoints that SERVICE may ask
    text   searches the text index; None if the store has none
    """

    def __init__(self, dataset: Dataset, scope: Scope, options: PlanOptions | None = None) -> None:
        self.dataset = dataset
        self.scope = scope
        self.options = options or PlanOptions()
        self.seen = Variables()
        self.context: Context | None = None
        self.text: SearchText | None = None
        self.aggregates: Mapping[str, Callable[[], Any]] = {}
        self.atoms: dict[tuple[int, Where], tuple[TriplePattern, Atom | None]] = {}
        self.repeatable = True
        self.slots = Slots((), frozenset())
        self.solutions = count()  # their numbers, for labels of new blank nodes
        self.triple_terms: TripleTerms | None = None
        self._numbers = count()
        self.size = 0
        self.services = NO_SERVICES
        self._asking = 0  # the current depth of nested EXISTS

    @abstractmethod
    def plan(self, node: Node, wanted: Wanted = ANYTHING) -> Planned:
        """The plan of a pattern."""

    @abstractmethod
    def evaluator(self, expression: Expression, graph: Where) -> Evaluator:
        """The evaluator of an expression on frames."""

    @abstractmethod
    def filtered(self, made: Planned, condition: Expression, graph: Where = None) -> Planned:
        """The rows of a plan for which a condition is true."""

    @abstractmethod
    def asks_one_by_one(self, condition: Expression, names: Names) -> bool:
        """True for an EXISTS that is tested row by row for rows with these names."""

    def check(self) -> None:
        """Raise if the query is out of time, or was cancelled."""
        if self.context is not None:
            self.context.check()

    def plan_large(self, node: Node, wanted: Wanted) -> Planned:
        """The plan of a whole query; large queries are planned on a separate stack."""
        return self._large(self.size, self.plan, node, wanted)

    def ask(self, function: Callable[[_Given], _Made], given: _Given) -> _Made:
        """The result of a function that evaluates an EXISTS; deeply nested ones get a new stack."""
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
                self.context.deadline = 0.0  # in the past: work in other threads stops soon
            raise

    def new_name(self, about: str) -> str:
        """A name for a column that differs from all variables."""
        return f" {about} {next(self._numbers)}"

    def look_up(self, constant: Constant) -> int:
        """The id of a constant, even if the store does not have it."""
        assert constant.key not in self.slots.numbers, "it may be exchanged: see `slot`"
        return self.scope.terms.encode_key(constant.key)

    def slot(self, constant: Constant) -> int:
        """The same, for a place that `Slots` notes."""
        return self.slots.slot(constant.key, self.scope.terms.encode_key(constant.key))

    def show(self, expression: Expression) -> Callable[[], str]:
        """A function that returns the text of an expression."""
        return lambda: show_expression(self.slots.now(expression))

    def has_exists(self, expression: Expression) -> bool:
        """True if an expression contains an EXISTS."""
        return has_exists(expression)
