"""What all of planning shares: options, limits, names of columns, ids of constants.

Start at `Planner`, which the functions of the other modules get as their first argument. What it
leaves open (how each kind of node is planned) is said by `query_planner`, which imports them all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar

from triplestore.expressions.evaluate_columns import Evaluator, Scope
from triplestore.expressions.tree import Constant, Expression
from triplestore.operators.context import Context
from triplestore.operators.deep_calls import when_large
from triplestore.sparql.algebra.nodes import Node, TriplePattern
from triplestore.sparql.algebra.short_text import show_expression
from triplestore.sparql.algebra.variables import Variables, exists_in
from triplestore.sparql.cache.slots import Slots
from triplestore.sparql.evaluate.dataset import Dataset
from triplestore.sparql.plan.planned import ANYTHING, Atom, Names, Planned, Wanted, Where

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class PlanOptions:
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


ALL_OFF = PlanOptions(False, False, False, False, False, False)


class Planner(ABC):
    """Plans the patterns of one query.

    atoms  those made already, by pattern (which is kept, so that its address stays its own) and
           active graph: what is planned for some values was planned without them before
    repeatable  False if a plan that was made would not give the same another time
    slots  where constants are that can be exchanged
    size   how many tokens the text of the query has
    """

    def __init__(self, dataset: Dataset, scope: Scope, options: PlanOptions | None = None) -> None:
        self.dataset = dataset
        self.scope = scope
        self.options = options or PlanOptions()
        self.seen = Variables()
        self.context: Context | None = None
        self.aggregates: Mapping[str, Callable[[], Any]] = {}
        self.atoms: dict[tuple[int, Where], tuple[TriplePattern, Atom | None]] = {}
        self.repeatable = True
        self.slots = Slots((), frozenset())
        self.solutions = count()  # their numbers, for labels of new blank nodes
        self._numbers = count()
        self.size = 0
        self._asking = 0  # EXISTS that are evaluated now, each in the one before

    @abstractmethod
    def plan(self, node: Node, wanted: Wanted = ANYTHING) -> Planned:
        """The plan of a pattern, of which something is wanted."""

    @abstractmethod
    def evaluator(self, expression: Expression, graph: Where) -> Evaluator:
        """What evaluates an expression on frames."""

    @abstractmethod
    def filtered(self, made: Planned, condition: Expression, graph: Where = None) -> Planned:
        """The rows of a plan for which a condition is true."""

    @abstractmethod
    def asks_one_by_one(self, condition: Expression, names: Names) -> bool:
        """True for an EXISTS into which the values of each row with these names are put."""

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

    def has_exists(self, expression: Expression) -> bool:
        """True if there is an EXISTS somewhere in an expression."""
        return any(True for _ in exists_in(expression))
