"""From algebra to operators, on one snapshot of a store.

Start at `Planner.plan`. Each kind of node has a method; groups of triple patterns are planned in
`groups`, EXISTS in `exists`, GRAPH with a variable in `graphs`. What is always true: the plan of a
node has a column for each variable that the node may bind and that is needed, and nothing else that
can be seen; a seed only leaves out solutions that whoever gave it would leave out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from triplestore.errors import UsageError
from triplestore.expr.evaluate import Evaluator, Scope
from triplestore.expr.tree import Call, Constant, Exists, Expression, Variable
from triplestore.ops.context import Context
from triplestore.ops.distinct import Distinct
from triplestore.ops.frame import ID, Frame
from triplestore.ops.join import How
from triplestore.ops.leaves import Values
from triplestore.ops.merge import join
from triplestore.ops.operator import Operator
from triplestore.ops.rows import Extend, Filter, Limit, Project, Union
from triplestore.sparql import algebra as sparql
from triplestore.sparql.algebra import Node, TriplePattern
from triplestore.sparql.dataset import Dataset
from triplestore.sparql.evaluate.compatible import CompatibleJoin
from triplestore.sparql.evaluate.grouped import Grouped
from triplestore.sparql.evaluate.ordered import Ordered
from triplestore.sparql.evaluate.pieces import column_of, condition_of
from triplestore.sparql.evaluate.seeded import Seeded, empty_values, make_seed
from triplestore.sparql.evaluate.steps import Nodes
from triplestore.sparql.exists import plan_exists, test_exists
from triplestore.sparql.graphs import plan_each_graph, plan_pushed_graph
from triplestore.sparql.groups import Condition, Item, plan_group
from triplestore.sparql.labels import has_labels, numbered, with_solution
from triplestore.sparql.pathplan import PathPart, is_closed, make_step
from triplestore.sparql.planned import NONE, Atom, Names, Part, Planned, nothing
from triplestore.sparql.scope import Variables, conjuncts, exists_in, names_in
from triplestore.sparql.show import show_expression, show_path

Where = int | str | None
"""The active graph: None for the default one, an id, or the column of the graph's name."""


@dataclass(frozen=True, slots=True)
class Options:
    """Which improvements planning makes; each can be switched off, for tests and measurements.

    order      choose the sequence of joins (else that of the text)
    prune      drop columns that nothing needs
    seeds      plan parts for the values that are there
    semijoin   join only for existence where repetitions do not matter
    rewrites   the passes of `rewrites`
    seed_from  seeds only where that many times more rows would come without
    """

    order: bool = True
    prune: bool = True
    seeds: bool = True
    semijoin: bool = True
    rewrites: bool = True
    seed_from: float = 4.0


ALL_OFF = Options(False, False, False, False, False)


class Planner:
    """Plans the patterns of one query."""

    def __init__(self, dataset: Dataset, scope: Scope, options: Options | None = None) -> None:
        self.dataset = dataset
        self.scope = scope
        self.options = options or Options()
        self.seen = Variables()
        self.context: Context | None = None
        self.aggregates: Mapping[str, Callable[[], Any]] = {}
        self._numbers = count()
        self._methods: dict[type, Callable[..., Planned]] = {
            sparql.Bgp: self._group,
            sparql.Path: self._group,
            sparql.Join: self._group,
            sparql.Filter: self._group,
            sparql.Values: self._values,
            sparql.Union: self._union,
            sparql.LeftJoin: self._left_join,
            sparql.Minus: self._minus,
            sparql.Extend: self._extend,
            sparql.Graph: self._graph,
            sparql.Service: self._service,
            sparql.Group: self._group_by,
            sparql.OrderBy: self._order_by,
            sparql.Project: self._project,
            sparql.Distinct: self._distinct,
            sparql.Reduced: self._reduced,
            sparql.Slice: self._slice,
        }

    def plan(
        self,
        node: Node,
        graph: Where = None,
        needed: Names | None = None,
        bag: bool = True,
        seed: Values | None = None,
    ) -> Planned:
        """The plan of a pattern.

        graph   the active graph
        needed  the variables that are wanted; None for all
        bag     False if it does not matter how often a solution comes
        seed    values of some certain variables, which the solutions may be restricted to
        """
        return self._methods[type(node)](node, graph, needed, bag, seed)

    # --- what all methods use -------------------------------------------------------------------

    def check(self) -> None:
        """Raise if the query is out of time, or was cancelled."""
        if self.context is not None:
            self.context.check()

    def new_name(self, about: str) -> str:
        """A name for a column that no variable has."""
        return f" {about} {next(self._numbers)}"

    def look_up(self, constant: Constant) -> int:
        """The id of a constant, also of one that the store does not have."""
        return int(self.scope.terms.encode_keys([constant.key])[0])

    def evaluator(self, expression: Expression, graph: Where) -> Evaluator:
        """What evaluates an expression on frames."""
        if not self.has_exists(expression):
            return Evaluator(expression, self.scope)
        tests: dict[object, Callable[[Frame], np.ndarray]] = {}

        def exists(node: Exists, frame: Frame) -> np.ndarray:
            bound = frozenset(
                [n for n, c in zip(frame.names, frame.columns, strict=True) if c.all()]
            )
            key = (id(node), frame.names, bound)
            if key not in tests:
                tests[key] = test_exists(self, node, frame.names, bound, graph)
            return tests[key](frame)

        return Evaluator(expression, Scope(self.scope.terms, self.scope.around, exists))

    def has_exists(self, expression: Expression) -> bool:
        """True if there is an EXISTS somewhere in an expression."""
        return any(True for _ in exists_in(expression))

    def filtered(self, made: Planned, condition: Expression, graph: Where = None) -> Planned:
        """The rows of a plan for which a condition is true."""
        if isinstance(condition, Exists):
            return plan_exists(self, made, condition, False, graph)
        if (
            isinstance(condition, Call)
            and condition.function == "!"
            and isinstance(condition.arguments[0], Exists)
        ):
            return plan_exists(self, made, condition.arguments[0], True, graph)
        holds = condition_of(self.evaluator(condition, graph), self.check)
        text = show_expression(condition)
        return made.with_operator(Filter(made.operator, holds, text=text))

    # --- groups ---------------------------------------------------------------------------------

    def _group(
        self, node: Node, graph: Where, needed: Names | None, bag: bool, seed: Values | None
    ) -> Planned:
        parts: list[Node] = []
        filters: list[Expression] = []
        self._flatten(node, parts, filters)
        conditions = [Condition(e, names_in(e, self.seen)) for e in filters]
        items: list[Item] = []
        inside = needed
        if needed is not None:
            inside = needed.union(*(c.names for c in conditions))
        for part in parts:
            others = NONE.union(*(self.seen.in_scope(p) for p in parts if p is not part))
            wanted = None if inside is None else inside | others
            found = self._items(part, graph, wanted, bag, len(parts) > 1 or seed is not None)
            if found is None:
                names = NONE.union(*map(self.seen.in_scope, parts))
                kept = sorted(names if needed is None else names & needed)
                return nothing((*kept, *self.scope_column(graph)))
            items.extend(found)
        own = NONE.union(*(item.names for item in items)) if items else NONE
        if seed is not None:
            certain = NONE.union(*map(self.seen.certain, parts)) & own
            items.extend(self._seed_items(seed, certain))
        if needed is not None:
            needed = needed.union(self.scope_column(graph))
        return plan_group(self, items, conditions, needed, bag, graph)

    def _flatten(self, node: Node, parts: list[Node], filters: list[Expression]) -> None:
        """The parts of a group, and the filters that hold for all of it."""
        while isinstance(node, sparql.Filter):
            filters.extend(conjuncts(node.condition))
            node = node.pattern
        for part in node.parts if isinstance(node, sparql.Join) else (node,):
            local = isinstance(part, sparql.Filter) and self._is_local(part)
            if local or isinstance(part, sparql.Join):
                self._flatten(part, parts, filters)
            else:
                parts.append(part)

    def _is_local(self, node: sparql.Filter) -> bool:
        """True if the filter of a part of a join may as well be a filter of the join."""
        names = names_in(node.condition, self.seen)
        return not self.has_exists(node.condition) and names <= self.seen.certain(node.pattern)

    def _items(
        self, part: Node, graph: Where, needed: Names | None, bag: bool, again: bool
    ) -> list[Item] | None:
        """What a part of a group is joined as; None if it has no solutions."""
        if isinstance(part, sparql.Bgp):
            atoms = [self.atom(pattern, graph) for pattern in part.patterns]
            found = [atom for atom in atoms if atom is not None]
            return None if len(found) < len(atoms) else list(found)
        if isinstance(part, sparql.Path):
            return [self._closed_path(part, graph) or self._path(part, graph)]
        planned = self.plan(part, graph, needed, bag)
        if not again:
            return [Part(planned)]

        def replan(seed: Values, names: Names) -> Planned:
            return self.plan(part, graph, needed, bag, seed)

        useful = isinstance(part, sparql.Values) is False
        return [Part(planned, replan if useful else None)]

    def _seed_items(self, seed: Values, certain: Names) -> list[Item]:
        names = tuple(name for name in seed.names if name in certain)
        if not names:
            return []
        if names == seed.names:
            return [Part(Planned(seed))]
        return [Part(Planned(Distinct(Project(seed, names))))]

    def atom(self, pattern: TriplePattern, graph: Where) -> Atom | None:
        """A triple pattern as a pattern of a relation; None if nothing can match."""
        terms: list[str | int] = []
        for term in pattern:
            if isinstance(term, Variable):
                terms.append(term.name)
            else:
                term_id = self.look_up(term)
                if term_id >= 0xF0000000:
                    return None
                terms.append(term_id)
        subject, predicate, object_ = terms
        label = show_path(pattern.predicate)
        where = self.dataset.where
        if isinstance(graph, str):
            if isinstance(predicate, str):
                every = self.dataset.every_quad()
                return Atom.of(every, (subject, predicate, object_, graph), where, "quad")
            relation = self.dataset.quads(predicate)
            return Atom.of(relation, (subject, object_, graph), where, label)
        if isinstance(predicate, str):
            return Atom.of(self.dataset.facts(graph), tuple(terms), where, "triple")
        relation_ = self.dataset.graph(graph).relation(predicate)
        return Atom.of(relation_, (subject, object_), where, label)

    def _closed_path(self, node: sparql.Path, graph: Where) -> Atom | None:
        """`:p+` as a triple pattern, where the facts of `:p` are closed already."""
        path = node.path
        if not isinstance(path, sparql.OneOrMore) or not isinstance(path.path, Constant):
            return None
        assert not isinstance(graph, str), "paths are asked graph by graph"
        if not is_closed(path.path, self.dataset, graph, self.look_up):
            return None
        return self.atom(TriplePattern(node.subject, path.path, node.object), graph)

    def _path(self, node: sparql.Path, graph: Where) -> PathPart:
        assert not isinstance(graph, str), "paths are asked graph by graph"
        ends = [
            end.name if isinstance(end, Variable) else self.look_up(end)
            for end in (node.subject, node.object)
        ]
        step = make_step(node.path, self.dataset, graph, self.look_up)
        text = " ".join(map(show_path, (node.subject, node.path, node.object)))
        nodes = Nodes(self.dataset.facts(graph), self.dataset.where)
        return PathPart(ends[0], step, ends[1], nodes, text)

    def _values(
        self,
        node: sparql.Values,
        graph: Where,
        needed: Names | None,
        bag: bool,
        seed: Values | None,
    ) -> Planned:
        names = tuple(variable.name for variable in node.variables)
        columns = []
        for place in range(len(names)):
            keys = [None if row[place] is None else row[place].key for row in node.rows]  # type: ignore[union-attr]
            columns.append(self.scope.terms.encode_keys(keys))
        frame = Frame(names, columns, len(node.rows))
        maybe = frozenset(names) - self.seen.certain(node)
        return Planned(Values(frame), maybe if node.rows else NONE)

    # --- combinations ---------------------------------------------------------------------------

    def _union(
        self, node: sparql.Union, graph: Where, needed: Names | None, bag: bool, seed: Values | None
    ) -> Planned:
        plans = [self.plan(part, graph, needed, bag, seed) for part in node.parts]
        return union(plans)

    def _left_join(
        self,
        node: sparql.LeftJoin,
        graph: Where,
        needed: Names | None,
        bag: bool,
        seed: Values | None,
    ) -> Planned:
        right_names = self.seen.in_scope(node.right)
        shared = right_names & self.seen.in_scope(node.left)
        asked = NONE if node.condition is None else names_in(node.condition, self.seen)
        inside = None if needed is None else needed | shared | asked
        left = self.plan(node.left, graph, inside, bag, seed)
        condition, text = None, ""
        if node.condition is not None:
            condition = condition_of(self.evaluator(node.condition, graph), self.check)
            text = show_expression(node.condition)

        def right(inner: Values | None) -> Planned:
            return self.plan(node.right, graph, inside, bag, inner)

        made = self.joined(left, right, "left", condition=condition, text=text)
        return made if needed is None else trimmed(made, needed)

    def _minus(
        self, node: sparql.Minus, graph: Where, needed: Names | None, bag: bool, seed: Values | None
    ) -> Planned:
        shared = self.seen.in_scope(node.right) & self.seen.in_scope(node.left)
        if not shared:
            return self.plan(node.left, graph, needed, bag, seed)
        inside = None if needed is None else needed | shared
        left = self.plan(node.left, graph, inside, bag, seed)

        def right(inner: Values | None) -> Planned:
            return self.plan(node.right, graph, shared, False, inner)

        made = self.joined(left, right, "anti", overlap=True)
        return made if needed is None else trimmed(made, needed)

    def joined(
        self,
        left: Planned,
        plan_right: Callable[[Values | None], Planned],
        how: How,
        *,
        condition: Callable[[Frame], np.ndarray] | None = None,
        text: str = "",
        overlap: bool = False,
    ) -> Planned:
        """A left, semi or anti join, with a seed for the right side where that should be cheaper.

        overlap  as MINUS wants it: rows must have a variable in common
        """
        right = plan_right(None)
        certain = [n for n in left.names if n in right.certain and n in left.certain]
        worth = left.rows * self.options.seed_from < right.rows
        if self.options.seeds and certain and worth:
            seed = make_seed(tuple(certain), min(left.rows, 1000.0))
            block = empty_values(left.names, left.rows)
            right = plan_right(seed)
            inner = Planned(block, left.maybe, left.distinct)
            made = _join(inner, right, how, condition, text, overlap)
            operator: Operator = Seeded(left.operator, block, seed, made.operator)
            return Planned(operator, made.maybe, left.distinct)
        return _join(left, right, how, condition, text, overlap)

    def _extend(
        self,
        node: sparql.Extend,
        graph: Where,
        needed: Names | None,
        bag: bool,
        seed: Values | None,
    ) -> Planned:
        name = node.variable.name
        inside = needed
        if needed is not None:
            if name not in needed:
                return self.plan(node.pattern, graph, needed, bag, seed)
            inside = (needed - {name}) | names_in(node.expression, self.seen)
        made = self.plan(node.pattern, graph, inside, bag, seed)
        expression = node.expression
        if has_labels(expression):
            made = numbered(made)
            expression = with_solution(expression)
        value = column_of(self.evaluator(expression, graph), self.check)
        text = show_expression(node.expression)
        operator: Operator = Extend(made.operator, name, value, ID, text=text)
        maybe = made.maybe
        if not isinstance(node.expression, Constant):
            maybe = maybe | {name}
        made = Planned(operator, maybe, made.distinct)
        return made if needed is None else trimmed(made, needed)

    def _graph(
        self, node: sparql.Graph, graph: Where, needed: Names | None, bag: bool, seed: Values | None
    ) -> Planned:
        if isinstance(node.name, Constant):
            names = tuple(sorted(self.seen.in_scope(node.pattern)))
            term_id = self.look_up(node.name)
            reached = term_id < 0xF0000000 and self.dataset.reaches(term_id)
            if not reached or not self.dataset.tables.has_graph(term_id):
                return nothing(names if needed is None else tuple(set(names) & needed))
            return self.plan(node.pattern, term_id, needed, bag, seed)
        made = plan_pushed_graph(self, node, needed, bag, seed)
        return made if made is not None else plan_each_graph(self, node, needed, bag)

    def _service(
        self,
        node: sparql.Service,
        graph: Where,
        needed: Names | None,
        bag: bool,
        seed: Values | None,
    ) -> Planned:
        raise UsageError(
            f"SERVICE {node.name} is not asked: queries stay in this store; load what is needed of"
            " the other endpoint first"
        )

    # --- modifiers ------------------------------------------------------------------------------

    def _group_by(
        self, node: sparql.Group, graph: Where, needed: Names | None, bag: bool, seed: Values | None
    ) -> Planned:
        inside: set[str] = set()
        for key in node.keys:
            inside |= names_in(key.expression, self.seen)
        for made_of in node.aggregates:
            if made_of.aggregate.argument is not None:
                inside |= names_in(made_of.aggregate.argument, self.seen)
        multiple = [a.aggregate for a in node.aggregates if not a.aggregate.distinct]
        repeats = any(a.function not in ("min", "max", "sample") for a in multiple)
        whole = any(a.argument is None for _, a in node.aggregates if a.distinct)
        wanted = None if whole else frozenset(inside)
        child = self.plan(node.pattern, graph, wanted, repeats)
        keys, made = [], child
        for key in node.keys:
            if isinstance(key.expression, Variable) and key.expression == key.variable:
                if key.variable.name in made.names:
                    keys.append(key.variable.name)
                continue
            value = column_of(self.evaluator(key.expression, graph), self.check)
            name = key.variable.name
            operator = Extend(made.operator, name, value, ID)
            made = Planned(operator, made.maybe | {name}, made.distinct)
            keys.append(name)
        aggregates = [
            (
                key.variable.name,
                key.aggregate,
                None
                if key.aggregate.argument is None
                else self.evaluator(key.aggregate.argument, graph),
            )
            for key in node.aggregates
        ]
        terms = self.scope.terms
        grouped = Grouped(
            made.operator, tuple(keys), aggregates, terms, bool(node.keys), self.aggregates
        )
        certain = self.seen.certain(node)
        names = frozenset(grouped.names)
        made = Planned(grouped, (names - certain) - (frozenset(keys) & made.certain))
        return made if needed is None else trimmed(made, needed)

    def _order_by(
        self,
        node: sparql.OrderBy,
        graph: Where,
        needed: Names | None,
        bag: bool,
        seed: Values | None,
        limit: int | None = None,
    ) -> Planned:
        inside = needed
        if needed is not None:
            inside = needed.union(*(names_in(key.expression, self.seen) for key in node.keys))
        made = self.plan(node.pattern, graph, inside, True if limit is not None else bag, seed)
        keys = [
            (self.evaluator(key.expression, graph), key.descending, show_expression(key.expression))
            for key in node.keys
        ]
        made = made.with_operator(Ordered(made.operator, keys, self.scope.terms, limit))
        return made if needed is None else trimmed(made, needed)

    def _project(
        self,
        node: sparql.Project,
        graph: Where,
        needed: Names | None,
        bag: bool,
        seed: Values | None,
        limit: int | None = None,
    ) -> Planned:
        names = tuple(variable.name for variable in node.variables)
        if needed is not None:
            names = tuple(name for name in names if name in needed)
        hidden = self.scope_column(graph)
        wanted = frozenset((*names, *hidden))
        if seed is not None and not set(seed.names) <= wanted:
            seed = None
        if limit is not None and isinstance(node.pattern, sparql.OrderBy):
            made = self._order_by(node.pattern, graph, wanted, bag, seed, limit)
        else:
            made = self.plan(node.pattern, graph, wanted, bag, seed)
        kept = tuple(name for name in (*names, *hidden) if name in made.names)
        if kept == made.names:
            return made
        return made.with_operator(Project(made.operator, kept))

    def scope_column(self, graph: Where) -> tuple[str, ...]:
        """The column of the active graph, which every plan keeps, if there is one."""
        return (graph,) if isinstance(graph, str) else ()

    def _distinct(
        self,
        node: sparql.Distinct,
        graph: Where,
        needed: Names | None,
        bag: bool,
        seed: Values | None,
    ) -> Planned:
        # All columns count, whether they are needed or not.
        made = self.plan(node.pattern, graph, None, False, seed)
        made = made.with_operator(Distinct(made.operator))
        return made if needed is None else trimmed(made, needed)

    def _reduced(
        self,
        node: sparql.Reduced,
        graph: Where,
        needed: Names | None,
        bag: bool,
        seed: Values | None,
    ) -> Planned:
        return self.plan(node.pattern, graph, needed, False, seed)

    def _slice(
        self, node: sparql.Slice, graph: Where, needed: Names | None, bag: bool, seed: Values | None
    ) -> Planned:
        inner = node.pattern
        if isinstance(inner, sparql.Project) and node.limit is not None:
            made = self._project(inner, graph, needed, True, None, node.offset + node.limit)
        else:
            made = self.plan(inner, graph, needed, True)
        return made.with_operator(Limit(made.operator, node.limit, offset=node.offset))


def trimmed(made: Planned, needed: Names) -> Planned:
    """A plan without the columns that are not needed; those of the planner's own stay."""
    kept = tuple(name for name in made.names if name in needed or name[0] == " ")
    if kept == made.names:
        return made
    return made.with_operator(Project(made.operator, kept))


def union(plans: Iterable[Planned]) -> Planned:
    """The rows of all plans, with columns for all variables."""
    plans = list(plans)
    names = tuple(dict.fromkeys(name for made in plans for name in made.names))
    maybe: set[str] = set()
    operators = []
    distinct: dict[str, float] = {}
    for made in plans:
        operator = made.operator
        for name in names:
            if name not in made.names:
                operator = Extend(operator, name, np.uint32(0), ID, text="unbound")
                maybe.add(name)
        maybe |= made.maybe
        for name in made.names:
            distinct[name] = distinct.get(name, 0.0) + made.distinct.get(name, made.rows)
        operators.append(operator)
    return Planned(Union(operators), frozenset(maybe), distinct)


def _join(
    left: Planned,
    right: Planned,
    how: How,
    condition: Callable[[Frame], np.ndarray] | None,
    text: str,
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
    distinct = dict(left.distinct)
    return Planned(operator, frozenset(maybe), distinct)
