"""Operators on frames of named columns: what rules and queries are made of.

A plan is a tree of operators; `run` gives its result as one frame, `stream` in blocks:

    >>> from triplestore.ops import Context, Frame, Order, Values, join
    >>> parent = Values(Frame.of(child=[3, 4, 5], parent=[1, 3, 3]))
    >>> grand = Values(Frame.of(parent=[3, 1], grandparent=[1, 2]))
    >>> plan = Order(join(parent, grand), "child")
    >>> plan.run(Context(budget=1_000_000, seconds=10)).to_rows()
    [(3, 1, 2), (4, 3, 1), (5, 3, 1)]

Start reading at `operator` (the contract), `frame` and `context`; DESIGN.md says why it is so.
"""

from triplestore.ops.aggregates import Aggregate
from triplestore.ops.context import BLOCK_ROWS, Context
from triplestore.ops.distinct import Distinct
from triplestore.ops.frame import BOOLEAN, ID, INTEGER, OBJECT, REAL, Frame
from triplestore.ops.group import Group
from triplestore.ops.join import HashJoin, Join
from triplestore.ops.leaves import Scan, Values
from triplestore.ops.merge import MergeJoin, join
from triplestore.ops.operator import Operator
from triplestore.ops.order import Order
from triplestore.ops.probe import Probe
from triplestore.ops.rows import Extend, Filter, Limit, Project, Union, rename
from triplestore.ops.statistics import explain, to_json

__all__ = [
    "BLOCK_ROWS",
    "BOOLEAN",
    "ID",
    "INTEGER",
    "OBJECT",
    "REAL",
    "Aggregate",
    "Context",
    "Distinct",
    "Extend",
    "Filter",
    "Frame",
    "Group",
    "HashJoin",
    "Join",
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
