"""Transitive rules matched with edges: start at `edges_seen`.

A pair of a transitive closure has an instance for each node between its ends, so n * n new pairs
have n * n * n instances. But every derivation of a pair can be put into the form in which the
second premise is always an *edge*: a fact that is asserted, or that another rule concludes. These
instances are enough, whatever leaves are taken out; each pair has as many as its end has edges.
"""

from __future__ import annotations

from typing import NamedTuple

from triplestore.datalog.program import Rule, TripleAtom
from triplestore.evaluate.binding_frames import Bindings
from triplestore.evaluate.conclusions import Heads, conclude
from triplestore.proofs.body_matching import Sees
from triplestore.proofs.closed_facts import Closed, Concluding
from triplestore.relations.facts.body_views import Setting
from triplestore.relations.facts.fact_sets import ANY, FactSet, RelationKey
from triplestore.relations.facts.sorted_arrays import sorted_distinct
from triplestore.rules.body_plans import WHOLE, plan_for
from triplestore.rules.families import Family
from triplestore.rules.modules.chain_shapes import shape_of


class EdgeSight(NamedTuple):
    """What the atoms of a transitive rule are matched with, and that which is matched first."""

    sees: Sees
    second: int


def edges_seen(closed: Closed, rules: Concluding, relation: RelationKey) -> dict[int, EdgeSight]:
    """For the numbers of transitive families, what their atoms are matched with.

    Empty if there is none, or if the edges are not found at little cost.
    """
    seconds = ((family.number, _second_atom(closed, family)) for family in rules.families)
    transitive = {number: second for number, second in seconds if second is not None}
    others = [family for family in rules.families if family.number not in transitive]
    if not transitive or isinstance(relation, tuple) or not all(map(_is_plain, others)):
        return {}
    edges = _edges(closed, others, relation)
    return {
        number: EdgeSight(_sees(closed.all, edges, second), second)
        for number, second in transitive.items()
    }


def _sees(whole: Setting, edges: Setting, second: int) -> Sees:
    return lambda item: edges if item == second else whole


def _is_plain(family: Family) -> bool:
    """Whether a family concludes facts of named properties, from rows and no groups."""
    return family.summary is None and family.head.relation != ANY


def _second_atom(closed: Closed, family: Family) -> int | None:
    """The item of a transitive rule that ends where its head does; None for other rules."""
    if len(family.rules) != 1 or family.summary is not None:
        return None
    rule = closed.written.rules[family.rules[0]]
    shape = shape_of(rule, family.rules[0])
    if shape is None or len(shape.steps) != 2:
        return None
    if any(step.relation != shape.head or step.turned for step in shape.steps):
        return None
    return _item_of(rule)


def _item_of(rule: Rule) -> int | None:
    head = rule.heads[0]
    atoms = [item for item in rule.body if isinstance(item, TripleAtom)]
    if not isinstance(head, TripleAtom) or len(atoms) != len(rule.body):
        return None
    return next(place for place, atom in enumerate(atoms) if atom.o == head.o and atom.s != head.s)


def _edges(closed: Closed, others: list[Family], relation: RelationKey) -> Setting:
    """The facts of a relation that are asserted or that other rules conclude."""
    heads = Heads()
    for family in others:
        start: Bindings = [None] * (family.width + 1)
        plan = plan_for(family, WHOLE, closed.all)
        rows, n = closed.run.follow(family, plan, start, 1, closed.all, "", closed.all)
        conclude(family, rows, n, closed.type_id, heads)
    asserted = closed.stated.stored
    assert asserted is not None
    keys = heads.taken().get(relation)
    if keys is None or not len(keys):
        return closed.stated
    keys = sorted_distinct(keys)
    more = keys[~asserted.of(relation).contains_keys(keys)]
    derived = FactSet()
    if len(more):
        derived.add(relation, more)
    return Setting(stored=asserted, plus=[derived])
