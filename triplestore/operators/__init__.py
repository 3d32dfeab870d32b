"""Operators on frames of named columns, for plans of rules and queries.

A plan is a tree of operators; `run` returns its result as one frame, `stream` in blocks:

    >>> from triplestore.operators import Context, Frame, Order, Values, join
    >>> parent = Values(Frame.of(child=[3, 4, 5], parent=[1, 3, 3]))
    >>> grand = Values(Frame.of(parent=[3, 1], grandparent=[1, 2]))
    >>> plan = Order(join(parent, grand), "child")
    >>> plan.run(Context(budget=1_000_000, seconds=10)).to_rows()
    [(3, 1, 2), (4, 3, 1), (5, 3, 1)]

Start at `operator` (the contract), `frame` and `context`; DESIGN.md has the reasons.
"""

from triplestore.operators.aggregates import ColumnAggregate
from triplestore.operators.context import BLOCK_ROWS, Context
from triplestore.operators.distinct import Distinct
from triplestore.operators.explain_plan import explain, to_json
from triplestore.operators.frame import BOOLEAN, ID, INTEGER, OBJECT, REAL, Frame
from triplestore.operators.group import Group
from triplestore.operators.joins.hash_join import HashJoin, JoinOperator
from triplestore.operators.joins.merge_join import MergeJoin, join
from triplestore.operators.joins.probe import Probe
from triplestore.operators.leaves import Scan, Values
from triplestore.operators.operator import Operator
from triplestore.operators.order import Order
from triplestore.operators.row_operators import Extend, FilterRows, Limit, Project, Union, rename

__all__ = [
    "BLOCK_ROWS",
    "BOOLEAN",
    "ID",
    "INTEGER",
    "OBJECT",
    "REAL",
    "ColumnAggregate",
    "Context",
    "Distinct",
    "Extend",
    "FilterRows",
    "Frame",
    "Group",
    "HashJoin",
    "JoinOperator",
    "Limit",
    "MergeJoin",
    "Operator",
    "Order",
    "Probe",
    "Project",
    "Scan",
    "Union",
    "Values",
    "explain",
    "join",
    "rename",
    "to_json",
]
