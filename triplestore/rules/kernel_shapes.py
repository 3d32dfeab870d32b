"""Small rules as numbers, for the kernels that fire them on few facts without a plan.

Start reading at `kernel_shape`. It serves families of one or two atoms, or more one after the
other, over relations of two columns, without negation, filters or binds, where each atom shares a
variable or a constant with what is known before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from triplestore.relations.facts.body_views import Setting
from triplestore.relations.facts.fact_sets import ANY
from triplestore.relations.packed_keys import I64, U32
from triplestore.rules.body_plans import AtomStep, BodyPlan, plan_for
from triplestore.rules.families import CompiledAtom, Family
from triplestore.rules.thresholds import RULES

WIDTH = 8
"""Where a specification has the number of constants of a rule."""

_RULES_AT = 9
"""Where it has the number of rules."""

_FOUND = 2  # what stands for the id that is found by looking up the other atom


class KernelStage(NamedTuple):
    """What the kernel is told of one atom that is looked up.

    item    its number, -1 if there is nothing to look up; `relation` is what it speaks of
    place   the place of it that is known, so in front
    tests   whether both are
    """

    item: int
    relation: int
    place: int
    tests: bool
    spec: I64
    constants: U32


class KernelShape(NamedTuple):
    """How a family is done from a changed atom; each stage begins with what the last one made.

    relation  of the changed atom
    head      the relation of what is concluded
    rules     how many there are, and whether each must go through the stages by itself
    sliced    whether the changed atom has a constant in front
    plan      what the order of the stages was taken from
    """

    relation: int
    head: int
    rules: int
    apart: bool
    sliced: bool
    stages: tuple[KernelStage, ...]
    plan: BodyPlan | None


def kernel_shape(family: Family, pivot: int, setting: Setting) -> KernelShape | None:
    """The shape of a family from one of its atoms, with the order of the current plan."""
    shapes = family.known.kernel_shapes
    known = shapes.get(pivot)
    if known is None and pivot in shapes:
        return None
    plan = plan_for(family, pivot, setting) if len(family.body) > 2 else None
    if known is not None and known.plan is plan:
        return known
    made = shapes[pivot] = _shape_of(family, pivot, plan)
    return made


def _shape_of(family: Family, pivot: int, plan: BodyPlan | None) -> KernelShape | None:
    """How the kernel does a family from one of its atoms; None if it cannot."""
    body, head, rules = family.body, family.head, len(family.rules)
    plain = not (family.nots or family.computations or family.summary)
    if (
        not plain
        or rules > RULES.kernel_rules
        or pivot >= len(body)
        or any(map(_is_wide, (*body, head)))
    ):
        return None
    order = [item for item in range(len(body)) if item != pivot]
    if plan is not None:
        order = [step.item for step in plan.steps if isinstance(step, AtomStep)]
    terms, stages = _Terms(family, body[pivot].terms), []
    for at, item in enumerate(order or [-1]):
        into = head.terms if at + 1 >= len(order) else terms.needed(order[at:])
        if into is None:
            return None
        stage = _stage(terms, item, into)
        if stage is None:
            return None
        stages.append(stage)
        if at + 1 < len(order):
            terms = terms.after(into)
    relation, made = body[pivot].relation, head.relation
    assert isinstance(relation, int) and isinstance(made, int), "no wide atoms"
    apart = rules > 1 and len(stages) > 1
    if apart and rules > RULES.kernel_rules_apart:
        return None
    sliced = bool(stages[0].spec[0] < 0)
    if apart:
        for stage in stages:
            stage.spec[_RULES_AT] = 1
    return KernelShape(relation, made, rules, apart, sliced, tuple(stages), plan)


def _stage(terms: _Terms, item: int, into: tuple[int, ...]) -> KernelStage | None:
    """What the kernel is told to find `into` by looking up an item; None if nothing leads to it."""
    family = terms.family
    codes, place, relation = [0, 0], 0, 0
    if item >= 0:
        given = family.body[item].terms
        known = [terms.knows(term) for term in given]
        if not any(known):
            return None
        place = known.index(True)
        codes = [terms.code(given[place]), terms.code(given[1 - place])]
        name = family.body[item].relation
        assert isinstance(name, int), "no wide atoms"
        relation = name
    codes += map(terms.code, into)
    begin = [terms.code(term) for term in terms.start]
    rules = len(family.rules)
    spec = [*begin, *codes, place, 1 if item < 0 else 2, len(terms.constants), rules]
    columns = [np.broadcast_to(np.asarray(c, dtype=np.uint32), rules) for c in terms.constants]
    constants = np.column_stack(columns) if columns else np.zeros((rules, 0), dtype=np.uint32)
    tests = codes[1] != _FOUND
    flat = np.ascontiguousarray(constants).ravel()
    return KernelStage(item, relation, place, tests, np.array(spec, dtype=np.int64), flat)


def _is_wide(atom: CompiledAtom) -> bool:
    return atom.relation == ANY or not isinstance(atom.relation, int)


class _Terms:
    """Codes for the terms of a family, seen from a fact of two ids, `start`."""

    def __init__(self, family: Family, start: Sequence[int]) -> None:
        self.family = family
        self.start = start
        self.places: dict[int, int] = {}
        for place, term in enumerate(start):
            if term >= 0 and self._column(term) is None:
                self.places.setdefault(term, place)
        self.constants: list[int | U32] = []
        self.codes: dict[int, int] = {}

    def after(self, start: Sequence[int]) -> _Terms:
        """The same, seen from what the last stage made."""
        return _Terms(self.family, start)

    def needed(self, order: Sequence[int]) -> tuple[int, int] | None:
        """The two variables that are needed when the first of some items is looked up, of those
        known before or by it; None if there are more."""
        body = self.family.body
        later = {t for item in order[1:] for t in body[item].terms} | set(self.family.head.terms)
        now = {*self.places, *(t for t in body[order[0]].terms if self._column(t) is None)}
        found = sorted(now & later)
        if len(found) > 2 or not (found or self.places):
            return None
        found += [found[0] if found else next(iter(self.places))] * (2 - len(found))
        return found[0], found[1]

    def _column(self, term: int) -> int | U32 | None:
        """What a term is in each of the rules, unless it is a variable in them."""
        table = self.family.table
        if term < 0:
            return -term
        if table is not None and term in table.variables:
            return table.columns[table.variables.index(term)]
        return None

    def knows(self, term: int) -> bool:
        """Whether a term has a value before the other atom is looked at."""
        return term in self.places or self._column(term) is not None

    def code(self, term: int) -> int:
        """See the kernel."""
        if term in self.places:
            return self.places[term]
        column = self._column(term)
        if column is None:
            return _FOUND
        if term not in self.codes:
            self.constants.append(column)
            self.codes[term] = -len(self.constants)
        return self.codes[term]
