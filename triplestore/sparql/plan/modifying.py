"""Solution modifiers: GROUP BY, ORDER BY, projection, DISTINCT, REDUCED, LIMIT and OFFSET."""

from __future__ import annotations

from triplestore.expressions.tree import Variable
from triplestore.operators.distinct import Distinct
from triplestore.operators.frame import ID
from triplestore.operators.leaves import Scan, Values
from triplestore.operators.row_operators import Extend, Limit, Project
from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql.algebra.nodes import is_hidden
from triplestore.sparql.algebra.short_text import show_expression
from triplestore.sparql.algebra.variables import names_in
from triplestore.sparql.evaluate.grouped import Grouped
from triplestore.sparql.evaluate.ordered import Ordered
from triplestore.sparql.evaluate.pieces import column_of
from triplestore.sparql.plan.counting import plan_counting
from triplestore.sparql.plan.planned import ALL, Planned, Wanted, trimmed
from triplestore.sparql.plan.planner import Planner

_REPEATABLE = ("min", "max", "sample")  # duplicates do not change their results


def plan_grouping(planner: Planner, node: sparql.Group, wanted: Wanted) -> Planned:
    """The plan of GROUP BY with its aggregates."""
    counted = plan_counting(planner, node, wanted)
    if counted is not None:
        return counted
    graph = wanted.graph
    inside: set[str] = set()
    for key in node.keys:
        inside |= names_in(key.expression, planner.seen)
    for made_of in node.aggregates:
        if made_of.aggregate.argument is not None:
            inside |= names_in(made_of.aggregate.argument, planner.seen)
    multiple = [a.aggregate for a in node.aggregates if not a.aggregate.distinct]
    repeats = any(a.function not in _REPEATABLE for a in multiple)
    whole = any(a.argument is None for _, a in node.aggregates if a.distinct)
    if whole:  # COUNT(DISTINCT *) counts the visible variables
        inside |= {n for n in planner.seen.in_scope(node.pattern) if not is_hidden(Variable(n))}
    asked = frozenset(inside)
    made = planner.plan(node.pattern, Wanted(graph, asked, repeats, _seed_of_groups(node, wanted)))
    keys = []
    for key in node.keys:
        name = key.variable.name
        if isinstance(key.expression, Variable) and key.expression == key.variable:
            if name in made.names:
                keys.append(name)
            continue
        value = column_of(planner.evaluator(key.expression, graph), planner.check)
        operator = Extend(made.operator, name, value, ID)
        made = Planned(operator, made.maybe | {name}, made.distinct)
        keys.append(name)
    aggregates = []
    for variable, aggregate in node.aggregates:
        argument = aggregate.argument
        evaluator = None if argument is None else planner.evaluator(argument, graph)
        aggregates.append((variable.name, aggregate, evaluator))
    terms = planner.scope.terms
    made = _sorted_by(made, tuple(keys))
    grouped = Grouped(
        made.operator, tuple(keys), aggregates, terms, bool(node.keys), planner.aggregates
    )
    certain = planner.seen.certain(node)
    maybe = (frozenset(grouped.names) - certain) - (frozenset(keys) & made.certain)
    return trimmed(Planned(grouped, maybe), wanted)


def _sorted_by(made: Planned, keys: tuple[str, ...]) -> Planned:
    """The plan with a scan that is sorted by the key, if it is one scan: groups are then runs."""
    scan = made.operator
    if len(keys) != 1 or not isinstance(scan, Scan) or scan.order[:1] == keys:
        return made
    return made.with_operator(scan.in_order_of(keys[0]))


def _seed_of_groups(node: sparql.Group, wanted: Wanted) -> Values | None:
    """The seed, if it chooses whole groups."""
    plain = {key.variable.name for key in node.keys if key.expression == key.variable}
    return wanted.seed if wanted.seed is not None and plain.issuperset(wanted.seed.names) else None


def plan_ordering(
    planner: Planner, node: sparql.OrderBy, wanted: Wanted, limit: int | None = None
) -> Planned:
    """The plan of ORDER BY, perhaps of the first rows only."""
    inside = wanted
    if wanted.names is not None:
        asked = (names_in(key.expression, planner.seen) for key in node.keys)
        inside = wanted.with_names(wanted.names.union(*asked))
    bag = inside.bag or limit is not None
    inside = Wanted(inside.graph, inside.names, bag, inside.seed)  # all rows are sorted
    made = planner.plan(node.pattern, inside)
    keys = [
        (
            planner.evaluator(key.expression, wanted.graph),
            key.descending,
            show_expression(key.expression),
        )
        for key in node.keys
    ]
    ordered = Ordered(made.operator, keys, planner.scope.terms, limit)
    return trimmed(made.with_operator(ordered), wanted)


def plan_projection(
    planner: Planner, node: sparql.Project, wanted: Wanted, limit: int | None = None
) -> Planned:
    """The plan of the variables of a SELECT."""
    names = tuple(variable.name for variable in node.variables)
    if wanted.names is not None:
        names = tuple(name for name in names if name in wanted.names)
    hidden = wanted.graph_column
    seed = wanted.seed
    asked = frozenset((*names, *hidden))
    if seed is not None and not set(seed.names) <= asked:
        seed = None
    inside = Wanted(wanted.graph, asked, wanted.bag, seed, wanted.first)
    if limit is not None and isinstance(node.pattern, sparql.OrderBy):
        made = plan_ordering(planner, node.pattern, inside, limit)
    else:
        made = planner.plan(node.pattern, inside)
    kept = tuple(name for name in (*names, *hidden) if name in made.names)
    if kept == made.names:
        return made
    below = made.operator
    if type(below) is Project and not below.renames:  # it dropped columns of a group
        below = below.child
    return made.with_operator(Project(below, kept))


def plan_distinct(planner: Planner, node: sparql.Distinct, wanted: Wanted) -> Planned:
    """The plan of DISTINCT, which keeps all columns, even if they are not needed."""
    made = planner.plan(node.pattern, Wanted(wanted.graph, None, False, wanted.seed))
    return trimmed(made.with_operator(Distinct(made.operator)), wanted)


def plan_reduced(planner: Planner, node: sparql.Reduced, wanted: Wanted) -> Planned:
    """The plan of REDUCED."""
    return planner.plan(node.pattern, Wanted(wanted.graph, wanted.names, False, wanted.seed))


def plan_slice(planner: Planner, node: sparql.Slice, wanted: Wanted) -> Planned:
    """The plan of LIMIT and OFFSET."""
    inner = node.pattern
    first = ALL if node.limit is None else float(node.offset + node.limit)
    inside = Wanted(wanted.graph, wanted.names, first=min(first, wanted.first))
    if isinstance(inner, sparql.Project) and node.limit is not None:
        made = plan_projection(planner, inner, inside, node.offset + node.limit)
    else:
        made = planner.plan(inner, inside)
    return made.with_operator(Limit(made.operator, node.limit, offset=node.offset))
