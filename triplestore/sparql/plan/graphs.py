"""GRAPH: in one named graph, in all of them at once, or in one after the other.

Start at `plan_graph`. With a variable, triple patterns are matched with the quads of all graphs at
once; a column for the graph is part of every join. Other patterns (paths, sub-queries, EXISTS) are
planned for each graph (`plan_each_graph`). Always true: the graph's variable is unbound
inside of the pattern, so the column has a name that no expression can use.
"""

from __future__ import annotations

import numpy as np

from triplestore.expressions.tree import Constant, Variable
from triplestore.operators.frame import ID, Array, Frame
from triplestore.operators.operator import Operator
from triplestore.operators.row_operators import Extend, FilterRows, Project
from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql.algebra.nodes import Node
from triplestore.sparql.algebra.variables import exists_in, expressions_of
from triplestore.sparql.plan.combining import union
from triplestore.sparql.plan.planned import Planned, Wanted, nothing
from triplestore.sparql.plan.planner import Planner
from triplestore.terms.dictionary import FIRST_QUERY_ID


def can_be_pushed(node: Node) -> bool:
    """True if a pattern can be matched with the quads of all graphs at once."""
    if any(True for e in expressions_of(node) for _ in exists_in(e)):
        return False
    match node:
        case sparql.Bgp(patterns):
            return bool(patterns)
        case sparql.Join(parts):
            beside = (sparql.Values, sparql.TermPattern, sparql.TextHits)  # the same in every graph
            rest = [part for part in parts if not isinstance(part, beside)]
            return bool(rest) and all(map(can_be_pushed, rest))
        case sparql.Union() | sparql.LeftJoin() | sparql.Filter() | sparql.Extend():
            return all(map(can_be_pushed, sparql.children(node)))
        case _:
            return False


def plan_graph(planner: Planner, node: sparql.Graph, wanted: Wanted) -> Planned:
    """The plan of GRAPH."""
    if isinstance(node.name, Constant):
        names = planner.seen.in_scope(node.pattern)
        term_id = planner.look_up(node.name)
        dataset = planner.dataset
        reached = term_id < FIRST_QUERY_ID and dataset.reaches(term_id)
        if not reached or not dataset.tables.has_graph(term_id):
            return nothing(tuple(sorted(names if wanted.names is None else names & wanted.names)))
        return planner.plan(node.pattern, Wanted(term_id, wanted.names, wanted.bag, wanted.seed))
    made = plan_pushed_graph(planner, node, wanted)
    return made if made is not None else plan_each_graph(planner, node, wanted)


def plan_pushed_graph(planner: Planner, node: sparql.Graph, wanted: Wanted) -> Planned | None:
    """The plan of GRAPH ?g over all quads; None if the pattern needs one graph at a time."""
    assert isinstance(node.name, Variable)
    name = node.name.name
    if not can_be_pushed(node.pattern):
        return None
    seed = wanted.seed
    if seed is not None and name in seed.names:
        seed = None
    column = planner.new_name("graph")
    inside = None if wanted.names is None else wanted.names | {column, name}
    made = planner.plan(node.pattern, Wanted(column, inside, wanted.bag, seed))
    operator = made.operator
    if planner.dataset.named is not None:
        graphs = planner.dataset.graphs()

        def allowed(frame: Frame) -> Array:
            return np.isin(frame[column], graphs)

        operator = FilterRows(operator, allowed, text="FROM NAMED")
    operator = _with_graph(operator, name, column)
    made = Planned(operator, made.maybe - {name}, made.distinct)
    if wanted.names is not None and name not in wanted.names:
        kept = tuple(n for n in made.names if n != name)
        made = made.with_operator(Project(made.operator, kept))
    return made


def _with_graph(operator: Operator, name: str, column: str) -> Operator:
    """The rows with the graph as the value of its variable, which the pattern may bind, too."""
    if name in operator.names:

        def same(frame: Frame) -> Array:
            fits: Array = (frame[name] == 0) | (frame[name] == frame[column])
            return fits

        operator = FilterRows(operator, same, text=f"?{name} is the graph")
    names = {n: n for n in operator.names if n not in (name, column)}
    return Project(operator, {**names, name: column})


def plan_each_graph(planner: Planner, node: sparql.Graph, wanted: Wanted) -> Planned:
    """The plan of GRAPH ?g as the union of plans, one for each graph."""
    assert isinstance(node.name, Variable)
    name = node.name.name
    inside = None if wanted.names is None else wanted.names | {name}
    plans = [
        _in_graph(planner.plan(node.pattern, Wanted(graph, inside, wanted.bag)), name, graph)
        for graph in planner.dataset.graphs().tolist()
    ]
    if not plans:
        names = planner.seen.in_scope(node)
        return nothing(tuple(sorted(names if wanted.names is None else names & wanted.names)))
    return union(plans)


def _in_graph(made: Planned, name: str, graph: int) -> Planned:
    operator = made.operator
    if name in operator.names:

        def same(frame: Frame) -> Array:
            fits: Array = (frame[name] == 0) | (frame[name] == graph)
            return fits

        operator = FilterRows(operator, same, text=f"?{name} is the graph")
        operator = Project(operator, tuple(n for n in operator.names if n != name))
    operator = Extend(operator, name, np.uint32(graph), ID)
    return Planned(operator, made.maybe - {name}, made.distinct)
