"""Plans of UNION, OPTIONAL, MINUS and BIND.

Start at `joined`, which OPTIONAL, MINUS and EXISTS use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from triplestore.expressions.tree import Constant
from triplestore.operators.context import current
from triplestore.operators.frame import ID, INTEGER, Array, Frame
from triplestore.operators.joins.hash_join import How
from triplestore.operators.joins.merge_join import join
from triplestore.operators.joins.probe import Probe
from triplestore.operators.leaves import Values
from triplestore.operators.operator import Operator, Text
from triplestore.operators.row_operators import Extend, Union
from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql.algebra.nodes import SOLUTION, Node
from triplestore.sparql.algebra.variables import names_in
from triplestore.sparql.evaluate.compatible import CompatibleJoin
from triplestore.sparql.evaluate.pieces import column_of, condition_of
from triplestore.sparql.evaluate.seeded import Seeded, empty_values, make_seed
from triplestore.sparql.plan.join_order import expected
from triplestore.sparql.plan.matching import atoms_of, expected_rows
from triplestore.sparql.plan.planned import ALL, NONE, Planned, Wanted, trimmed
from triplestore.sparql.plan.planner import Planner
from triplestore.sparql.plan.services import bindable, has_service, places_in
from triplestore.sparql.thresholds import SPARQL

_MANY = 1000  # minimum number of parts of a UNION for which plans are charged
_PART_BYTES = 1500


def plan_union(planner: Planner, node: sparql.Union, wanted: Wanted) -> Planned:
    """The plan of UNION."""
    if len(node.parts) > _MANY:
        current().charge(_PART_BYTES * len(node.parts))
    return union([planner.plan(part, wanted) for part in node.parts])


def union(plans: Iterable[Planned]) -> Planned:
    """The rows of all plans, with columns for all variables."""
    plans = list(plans)
    names = tuple(dict.fromkeys(name for made in plans for name in made.names))
    maybe: set[str] = set()
    operators = []
    distinct: dict[str, float] = {}
    for made in plans:
        for name in made.names:
            distinct[name] = distinct.get(name, 0.0) + made.distinct.get(name, made.rows)
        whole = unbound(made, [name for name in names if name not in made.names])
        maybe |= whole.maybe
        operators.append(whole.operator)
    return Planned(Union(operators), frozenset(maybe), distinct)


def plan_left_join(planner: Planner, node: sparql.LeftJoin, wanted: Wanted) -> Planned:
    """The plan of OPTIONAL, or of its anti-join (see `LeftJoin.absent`)."""
    seen = planner.seen
    how: How = "left" if node.absent is None else "anti"
    shared = seen.in_scope(node.right) & seen.in_scope(node.left)
    asked = NONE if node.condition is None else names_in(node.condition, seen)
    inside = wanted.with_names(None if wanted.names is None else wanted.names | shared | asked)
    left = planner.plan(node.left, inside)
    condition: Callable[[Frame], np.ndarray] | None = None
    text: Text = ""
    if node.condition is not None:
        condition = condition_of(planner.evaluator(node.condition, wanted.graph), planner.check)
        text = planner.show(node.condition)

    optional = inside if how == "left" else Wanted(wanted.graph, shared | asked, False)

    def right(seed: Values | None) -> Planned:
        return planner.plan(node.right, optional.with_seed(seed))

    made = joined(planner, left, right, how, node.right, optional, condition, text)
    if how == "anti":
        absent = seen.in_scope(node.right) - seen.in_scope(node.left)
        made = unbound(made, absent if wanted.names is None else absent & wanted.names)
    return trimmed(made, wanted)


def unbound(made: Planned, names: Iterable[str]) -> Planned:
    """The rows of a plan, with columns of unbound variables added."""
    operator = made.operator
    for name in sorted(names):
        operator = Extend(operator, name, np.uint32(0), ID, text="unbound")
    return Planned(operator, made.maybe.union(names), made.distinct)


def plan_minus(planner: Planner, node: sparql.Minus, wanted: Wanted) -> Planned:
    """The plan of MINUS."""
    shared = planner.seen.in_scope(node.right) & planner.seen.in_scope(node.left)
    inside = wanted if wanted.names is None else wanted.with_names(wanted.names | shared)
    left = planner.plan(node.left, inside)

    def right(seed: Values | None) -> Planned:
        return planner.plan(node.right, taken.with_seed(seed))

    taken = Wanted(wanted.graph, shared, False)
    made = joined(planner, left, right, "anti", node.right, taken, overlap=True)
    return trimmed(made, wanted)


def joined(
    planner: Planner,
    left: Planned,
    plan_right: Callable[[Values | None], Planned],
    how: How,
    node: Node,
    wanted: Wanted,
    condition: Callable[[Frame], np.ndarray] | None = None,
    text: Text = "",
    *,
    overlap: bool = False,
) -> Planned:
    """A left, semi or anti join, with a seed for the right side if that should be cheaper.

    node     the pattern of the right side, which `plan_right` plans
    wanted   what is wanted of it
    overlap  as in MINUS, rows must have a variable in common
    """
    if condition is None and planner.options.seeds:
        probed = _looked_up(planner, left, how, node, wanted)
        if probed is not None:
            return probed
    # What MINUS takes away depends on the variables that its right side binds by itself.
    names = planner.seen.certain(node) if overlap else bindable(planner, node)
    certain = names.intersection(left.certain)
    right, worth, read = None, False, _rows_read(left, how, wanted)
    if planner.options.seeds and certain:
        rows = expected_rows(planner, node, wanted.graph)
        if rows is None:
            right = plan_right(None)
            rows = right.rows
        worth = read * planner.options.seed_from < rows or has_service(node)
    if worth:
        places = places_in(node)  # without its address an endpoint cannot be asked
        shared = sorted((n for n in left.names if n in certain), key=lambda n: n not in places)
        seed = make_seed(tuple(shared), min(read, 1000.0))
        block = empty_values(left.names, read)
        right = plan_right(seed)
        inner = Planned(block, left.maybe, left.distinct)
        made = _join(inner, right, how, condition, text, overlap)
        operator: Operator = Seeded(left.operator, block, seed, made.operator)
        return Planned(operator, made.maybe, left.distinct)
    return _join(left, right or plan_right(None), how, condition, text, overlap)


def _rows_read(left: Planned, how: How, wanted: Wanted) -> float:
    """The expected number of rows of the left side that are read: each has a solution."""
    if how != "left" or wanted.first == ALL:
        return left.rows
    return min(left.rows, max(SPARQL.first_block_rows, wanted.first))


def _looked_up(
    planner: Planner, left: Planned, how: How, node: Node, wanted: Wanted
) -> Planned | None:
    """The join of few rows with one triple pattern, by look-ups; None if there are many rows."""
    if not isinstance(node, sparql.Bgp) or len(node.patterns) != 1:
        return None
    found = atoms_of(planner, node, wanted.graph)
    atom = found[0] if found else None
    if atom is None:
        return None
    few = left.rows <= SPARQL.few_rows
    read = _rows_read(left, how, wanted)
    if not few and SPARQL.lookup_cost * read > atom.size + read:
        return None
    shared = atom.names.intersection(left.names)
    if not (shared or (few and atom.constants and how == "left")):
        return None
    if not left.maybe.isdisjoint(shared):
        return None
    keep = atom.names if wanted.names is None else wanted.names
    rows = left.rows / 2
    if how == "left":
        rows = max(left.rows, expected(left.rows, left.distinct, atom)[0])
    operator = Probe(
        left.operator,
        atom.relation,
        atom.probe_pattern(left.names, keep),
        where=atom.where,
        how=how,
        name=atom.label,
        estimate=rows,
    )
    return Planned(operator, left.maybe.union(operator.names[len(left.names) :]), left.distinct)


def _join(
    left: Planned,
    right: Planned,
    how: How,
    condition: Callable[[Frame], np.ndarray] | None,
    text: Text,
    overlap: bool,
) -> Planned:
    """A left, semi or anti join of two plans."""
    shared = tuple(name for name in left.names if name in right.names)
    doubtful = tuple(name for name in shared if name in left.maybe or name in right.maybe)
    maybe = left.maybe
    if how == "left":
        maybe |= frozenset(right.names) - frozenset(left.names)
    operator: Operator
    if doubtful:
        operator = CompatibleJoin(
            left.operator,
            right.operator,
            doubtful,
            how,
            condition=condition,
            text=text,
            overlap=overlap,
        )
    elif overlap and not shared:
        operator = left.operator
    else:
        operator = join(
            left.operator,
            right.operator,
            shared,
            how,
            condition=condition,
            text=text,
        )
    return Planned(operator, frozenset(maybe), dict(left.distinct))


def plan_extend(planner: Planner, node: sparql.Extend, wanted: Wanted) -> Planned:
    """The plan of BIND."""
    name = node.variable.name
    inside = wanted
    if wanted.names is not None:
        if name not in wanted.names:
            return planner.plan(node.pattern, wanted)
        looked_at = names_in(node.expression, planner.seen)
        inside = wanted.with_names((wanted.names - {name}) | looked_at)
    made = planner.plan(node.pattern, inside)
    if node.expression == SOLUTION:
        return trimmed(_numbered(planner, made, name), wanted)
    value = column_of(planner.evaluator(node.expression, wanted.graph), planner.check)
    text = planner.show(node.expression)
    operator: Operator = Extend(made.operator, name, value, ID, text=text)
    maybe = made.maybe
    if not isinstance(node.expression, Constant):
        maybe = maybe | {name}
    return trimmed(Planned(operator, maybe, made.distinct), wanted)


def _numbered(planner: Planner, made: Planned, name: str) -> Planned:
    """A plan whose solutions have numbers that are unique in the query."""

    def number(frame: Frame) -> Array:
        return np.fromiter(planner.solutions, INTEGER, frame.rows)

    return made.with_operator(Extend(made.operator, name, number, INTEGER))
