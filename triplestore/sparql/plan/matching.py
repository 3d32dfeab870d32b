"""Plans of triple patterns, paths, VALUES, and joins and filters of these.

Start at `plan_matching`: it splits a group into items to join and filters; `groups` joins them.
"""

from __future__ import annotations

from functools import partial

from triplestore.expressions.tree import Constant, Variable
from triplestore.operators.context import current
from triplestore.operators.distinct import Distinct
from triplestore.operators.frame import Frame
from triplestore.operators.leaves import Values
from triplestore.operators.row_operators import Project
from triplestore.relations.status import HOLDS
from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql.algebra.nodes import Node, TriplePattern
from triplestore.sparql.algebra.short_text import show_path
from triplestore.sparql.algebra.variables import conjuncts, names_in
from triplestore.sparql.evaluate.steps import Nodes
from triplestore.sparql.evaluate.triple_terms import triple_terms
from triplestore.sparql.plan.groups import Condition, plan_group
from triplestore.sparql.plan.join_order import Item, choose_steps
from triplestore.sparql.plan.path_plans import PathPart, is_closed, make_step
from triplestore.sparql.plan.planned import (
    LEAST,
    NONE,
    Atom,
    Names,
    Planned,
    PlannedPart,
    Wanted,
    Where,
    nothing,
)
from triplestore.sparql.plan.planner import Planner
from triplestore.sparql.plan.services import ServicePart, bindable
from triplestore.sparql.plan.text_hits import plan_text_hits, text_candidates
from triplestore.terms.dictionary import FIRST_QUERY_ID

_MANY = 1000  # maximum number of wanted names of a part that are not charged
_NAME_BYTES = 20


def plan_matching(planner: Planner, node: Node, wanted: Wanted) -> Planned:
    """The plan of a triple pattern, a path, a SERVICE, a join or a filter."""
    seen = planner.seen
    conditions: list[Condition] = []
    while isinstance(node, sparql.Filter):
        conditions += [Condition(e, names_in(e, seen)) for e in conjuncts(node.condition)]
        node = node.pattern
    parts = node.parts if isinstance(node, sparql.Join) else (node,)
    items: list[Item] = []
    inside = wanted.names
    if inside is not None and conditions:
        inside = inside.union(*(c.names for c in conditions))
    again = len(parts) > 1 or wanted.seed is not None
    for part in parts:
        planner.check()
        names = inside
        if inside is not None:
            names = inside.union(*(seen.in_scope(p) for p in parts if p is not part))
            if len(names) > _MANY:  # kept with the part, which may be planned again
                current().charge(_NAME_BYTES * len(names))
        asked = Wanted(wanted.graph, names, wanted.bag)
        if isinstance(part, sparql.TextHits):
            items.append(PlannedPart(plan_text_hits(planner, part, asked, parts)))
            continue
        found = _items(planner, part, asked, again)
        if found is None:
            every = NONE.union(*map(seen.in_scope, parts))
            kept = sorted(every if wanted.names is None else every & wanted.names)
            return nothing((*kept, *wanted.graph_column))
        items.extend(found)
    if wanted.seed is not None:
        own = NONE.union(*(item.names for item in items)) if items else NONE
        certain = NONE.union(*[bindable(planner, part) for part in parts]) & own
        items.extend(_seed_items(wanted.seed, certain))
    if planner.text is not None:
        found_by_text = [text_candidates(planner, c.expression, parts, items) for c in conditions]
        items.extend(item for item in found_by_text if item is not None)
    needed = wanted.names
    if needed is not None:
        needed = needed.union(wanted.graph_column)
    return plan_group(planner, items, conditions, needed, wanted)


def _items(planner: Planner, part: Node, wanted: Wanted, again: bool) -> list[Item] | None:
    """The items of a part of a group; None if the part has no solutions.

    again  True if it may be worth planning it again for some values
    """
    if isinstance(part, sparql.Bgp):
        found = atoms_of(planner, part, wanted.graph)
        return None if found is None else list(found)
    if isinstance(part, sparql.Service):
        return [ServicePart.of(planner, part)]
    if isinstance(part, sparql.TermPattern):
        return [_triple_term(planner, part)]
    if isinstance(part, sparql.Path):
        return [_closed_path(planner, part, wanted.graph) or _path(planner, part, wanted.graph)]
    planned = planner.plan(part, wanted)
    if not again or isinstance(part, sparql.Values):
        return [PlannedPart(planned)]

    def replan(seed: Values, names: Names) -> Planned:
        return planner.plan(part, wanted.with_seed(seed))

    return [PlannedPart(planned, replan)]


def _seed_items(seed: Values, certain: Names) -> list[Item]:
    names = tuple(name for name in seed.names if name in certain)
    if not names:
        return []
    if names == seed.names:
        return [PlannedPart(Planned(seed))]
    return [PlannedPart(Planned(Distinct(Project(seed, names))))]


def atoms_of(planner: Planner, node: sparql.Bgp, graph: Where) -> list[Atom] | None:
    """Triple patterns as patterns of relations; None if one of them cannot match."""
    found: list[Atom] = []
    for pattern in node.patterns:
        planner.check()
        key = (id(pattern), graph)
        known = planner.atoms.get(key)
        if known is None:
            known = planner.atoms[key] = (pattern, make_atom(planner, pattern, graph))
        if known[1] is None:
            return None
        found.append(known[1])
    return found


def expected_rows(planner: Planner, node: Node, graph: Where) -> float | None:
    """The approximate number of solutions, if it can be estimated without planning."""
    match node:
        case sparql.Bgp():
            items = atoms_of(planner, node, graph)
            if items is None:
                return LEAST
            if len(items) < 2:
                return items[0].size if items else 1.0
            return choose_steps(items)[-1].rows
        case sparql.Filter(pattern, _) | sparql.Extend(pattern, _, _) | sparql.Minus(pattern, _):
            return expected_rows(planner, pattern, graph)
        case sparql.LeftJoin(left, _, _):
            return expected_rows(planner, left, graph)
        case _:
            return None


def make_atom(planner: Planner, pattern: TriplePattern, graph: Where) -> Atom | None:
    """A triple pattern as a pattern of a relation; None if it cannot match."""
    terms: list[str | int] = []
    for term in pattern:
        if isinstance(term, Variable):
            terms.append(term.name)
        else:
            term_id = planner.slot(term)
            if term_id >= FIRST_QUERY_ID:
                return None
            terms.append(term_id)
    subject, predicate, object_ = terms
    label = partial(show_path, pattern.predicate)
    dataset = planner.dataset
    where = dataset.where
    if isinstance(graph, str):
        if isinstance(predicate, str):
            every = dataset.every_quad()
            return Atom.of(every, (subject, predicate, object_, graph), where, "quad")
        relation = dataset.quads(predicate)
        return Atom.of(relation, (subject, object_, graph), where, label)
    if isinstance(predicate, str):
        return Atom.of(dataset.facts(graph), tuple(terms), where, "triple")
    relation_ = dataset.graph(graph).relation(predicate)
    return Atom.of(relation_, (subject, object_), where, label)


def _triple_term(planner: Planner, node: sparql.TermPattern) -> Atom:
    """A triple term with variables as a pattern of the relation of all triple terms."""
    entries: list[str | int] = []
    for part in node.terms:
        if isinstance(part, Variable):
            entries.append(part.name)
        else:
            entries.append(planner.slot(part))
    if planner.triple_terms is None:
        planner.triple_terms = triple_terms(planner.scope.terms)
    return Atom.of(planner.triple_terms, tuple(entries), HOLDS, "triple term")


def _closed_path(planner: Planner, node: sparql.Path, graph: Where) -> Atom | None:
    """`:p+` as a triple pattern, if the facts of `:p` are transitively closed already."""
    path = node.path
    if not isinstance(path, sparql.OneOrMore) or not isinstance(path.path, Constant):
        return None
    assert not isinstance(graph, str), "paths are asked graph by graph"
    if not is_closed(path.path, planner.dataset, graph, planner.look_up):
        return None
    return make_atom(planner, TriplePattern(node.subject, path.path, node.object), graph)


def _path(planner: Planner, node: sparql.Path, graph: Where) -> PathPart:
    assert not isinstance(graph, str), "paths are asked graph by graph"
    ends = [
        end.name if isinstance(end, Variable) else planner.slot(end)
        for end in (node.subject, node.object)
    ]
    dataset = planner.dataset
    step = make_step(node.path, dataset, graph, planner.look_up)

    def text() -> str:
        subject, object_ = map(planner.slots.term, (node.subject, node.object))
        return " ".join(map(show_path, (subject, node.path, object_)))

    nodes = Nodes(dataset.facts(graph), dataset.where)
    return PathPart(ends[0], step, ends[1], nodes, text)


def plan_values(planner: Planner, node: sparql.Values, wanted: Wanted) -> Planned:
    """The plan of VALUES: its rows."""
    names = tuple(variable.name for variable in node.variables)
    keys: list[list[bytes | None]] = []
    for place in range(len(names)):
        planner.check()
        terms = [row[place] for row in node.rows]
        keys.append([None if term is None else term.key for term in terms])
    columns = []
    for column in keys:
        planner.check()
        columns.append(planner.scope.terms.encode_keys(column))
    values = Values(Frame(names, columns, len(node.rows)))
    planner.slots.tabulates(values, keys)
    maybe = frozenset(names) - planner.seen.certain(node)
    return Planned(values, maybe if node.rows else NONE)
