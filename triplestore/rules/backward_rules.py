"""The recursive rules of a stratum as arrays, for the kernels that search backward.

Start reading at `BackwardRules`. It is kept with the stratum. What depends on a plan is written
when a search first has goals that a family may conclude, so a small search prepares few rules.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from triplestore.kernels.rules import backward as kernels
from triplestore.relations.facts.body_views import Setting
from triplestore.relations.facts.fact_sets import ANY, RelationKey
from triplestore.relations.packed_keys import I64, U64, start_of_runs
from triplestore.rules.body_plans import HEAD, AtomStep, BodyPlan, plan_for
from triplestore.rules.families import LOWER, MIXED, CompiledAtom, Family
from triplestore.rules.thresholds import RULES


class BackwardRules:
    """The recursive rules of a stratum that cursors can follow.

    families    the simple families; those that need fewer facts of the stratum are tried first,
                which saves 15 to 45 % of the instances of highly recursive programs
    others      the other recursive families
    names       their relations; the place of a relation is its number
    groups      sorted relation << 32 | class; class 0 for rules that conclude any class
    starts, rules   the rules of each group, by family
    specs       the description of each rule for the kernel, once its family is ready
    """

    def __init__(self, recursive: Sequence[Family]) -> None:
        self.families = sorted(filter(is_simple, recursive), key=_premises)
        self.others = {family for family in recursive if not is_simple(family)}
        atoms = [atom for one in self.families for atom in (one.head, *one.body)]
        self.names = list(dict.fromkeys(_name(atom) for atom in atoms))
        self.places: dict[RelationKey, int] = {name: at for at, name in enumerate(self.names)}
        self.spoken_of = [
            {self.places[_name(atom)] for atom in family.body} for family in self.families
        ]
        sizes = [len(family.rules) for family in self.families]
        self.first = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
        self.family_of = np.repeat(np.arange(len(sizes)), sizes)
        self.specs = np.zeros(int(self.first[-1]) * kernels.SPEC, dtype=np.int64)
        self.plans: list[BodyPlan | None] = [None] * len(sizes)
        groups = [self._groups(family) for family in self.families]
        keys = np.concatenate([np.zeros(0, dtype=np.uint64), *groups])
        order = keys.argsort(kind="stable")
        self.starts = start_of_runs(keys[order])
        self.groups = keys[order][self.starts[:-1]]
        self.rules = order.astype(np.int32)

    def _groups(self, family: Family) -> U64:
        """The group of each rule."""
        first = _constant(family, family.head.terms[0])
        key = np.uint64(self.places[_name(family.head)]) << np.uint64(32)
        classes = np.zeros(len(family.rules), np.uint64) if first is None else first
        return classes.astype(np.uint64) | key

    def make_ready(self, number: int, setting: Setting) -> None:
        """Write a family for the kernel in the order of its current plan."""
        family = self.families[number]
        plan = plan_for(family, HEAD, setting)
        if self.plans[number] is plan:
            return
        order = [step.item for step in plan.steps if isinstance(step, AtomStep)]
        low, high = self.first[number], self.first[number + 1]
        rows = self.specs.reshape(-1, kernels.SPEC)[low:high]
        rows[:] = 0
        rows[:, 0] = len(order)
        known = {term for term in family.head.terms if term >= 0}
        _write(family, rows, 1, family.head.terms)
        for step, item in enumerate(order):
            atom, at = family.body[item], 3 + 6 * step
            given = [term in known or _constant(family, term) is not None for term in atom.terms]
            place = 1 if given == [False, True] else 0
            mode = (kernels.SCAN, kernels.NEXT, kernels.TEST)[sum(given)]
            rows[:, at : at + 4] = (self.places[_name(atom)], atom.own != LOWER, place, mode)
            _write(family, rows, at + 4, atom.terms if place == 0 else atom.terms[::-1])
            known.update(term for term in atom.terms if term >= 0)
        self.plans[number] = plan


def is_simple(family: Family) -> bool:
    """Whether a family's rules can be followed by cursors."""
    body, table = family.body, family.table
    if family.nots or family.computations or family.summary or len(body) > kernels.STEPS:
        return False
    atoms = (family.head, *body)
    if any(atom.relation == ANY or not isinstance(atom.relation, int) for atom in atoms):
        return False
    if any(atom.own == MIXED for atom in body):
        return False
    if family.width - (0 if table is None else len(table.variables)) > kernels.VARIABLES:
        return False
    return (
        len(family.rules) <= RULES.cursor_rules
        or _constant(family, family.head.terms[0]) is not None
    )


def _premises(family: Family) -> int:
    """The number of facts of the stratum that an instance needs."""
    return sum(atom.own != LOWER for atom in family.body)


def _name(atom: CompiledAtom) -> int:
    assert isinstance(atom.relation, int), "see is_simple"
    return atom.relation


def _constant(family: Family, term: int) -> I64 | None:
    """The value of a term in each of the rules; None for a variable."""
    table = family.table
    if term < 0:
        return np.full(len(family.rules), -term, dtype=np.int64)
    if table is not None and term in table.variables:
        return table.columns[table.variables.index(term)].astype(np.int64)
    return None


def _write(family: Family, rows: I64, at: int, terms: Sequence[int]) -> None:
    """Write terms for the kernel."""
    for place, term in enumerate(terms):
        constant = _constant(family, term)
        rows[:, at + place] = term if constant is None else -constant
