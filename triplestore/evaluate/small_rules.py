"""Small rules on few facts: one call of a kernel where a plan would need ten of numpy.

Start reading at `fire_small`. It serves families of one or two atoms over relations of two columns,
without negation, filters or binds, whose two atoms share a variable or a constant; and views that
are nothing but sorted arrays. Whatever it refuses is done by a plan; results do not depend on it.
Kernels are used here only once others have loaded them, so a small update never waits for that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from triplestore.evaluate.conclusions import Heads
from triplestore.relations.facts.body_views import PairView, Setting
from triplestore.relations.facts.fact_sets import ANY, Batch
from triplestore.relations.facts.sorted_arrays import loaded_kernels
from triplestore.relations.packed_keys import I64, NO_KEYS, U32, U64
from triplestore.rules.body_plans import AtomStep, Plan, plan_for
from triplestore.rules.families import CompiledAtom, Family

Kernel: TypeAlias = Callable[..., int]

MOST = 1 << 17
"""So many changed facts of a rule, and so many conclusions, are done in one call."""

_RULES = 64
"""A family of more rules is joined with the table of their constants instead."""

_APART = 8
"""So many if each of them goes through several stages by itself."""

SMALL = "small"
"""What a family's plans call its shapes."""

_FOUND = 2  # what stands for the id that is found by looking up the other atom


class Stage(NamedTuple):
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


class Shape(NamedTuple):
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
    stages: tuple[Stage, ...]
    plan: Plan | None


class Scratch:
    """Where conclusions are written before it is known how many they are."""

    __slots__ = ("out", "seen")

    def __init__(self) -> None:
        self.out: U64 = np.empty(1 << 12, dtype=np.uint64)
        self.seen: I64 = np.zeros(1, dtype=np.int64)


class Done(NamedTuple):
    """How many changed facts were looked at, how many were matched with the other atom, and how
    many instances there are."""

    looked: int
    fetched: int
    instances: int


NOTHING = Done(0, 0, 0)


def fire_small(
    family: Family,
    pivot: int,
    batch: Batch,
    settings: tuple[Setting, Setting],
    scratch: Scratch,
    heads: Heads,
) -> Done | None:
    """Add what a family concludes from the facts that one of its atoms (the pivot) matches; None
    if it has to be done another way. `settings` are those of atoms before and after the pivot."""
    kernels = loaded_kernels()
    if kernels is None:
        return None
    shape = small_shape(family, pivot, settings[1])
    if shape is None:
        return None
    delta = batch.get(shape.relation)
    if delta is None:
        return NOTHING
    if not shape.sliced and len(delta) * shape.rules > MOST:
        return None
    looked_up = []
    for stage in shape.stages:
        if stage.item < 0:
            looked_up.append(_ALONE)
            continue
        view = settings[stage.item > pivot].view(stage.relation)
        arrays = view.arrays(stage.place, len(delta)) if isinstance(view, PairView) else None
        if arrays is None:
            return None
        looked_up.append(arrays)
    fire = kernels.fire_rules.entry
    if not shape.apart:
        found = _follow(fire, shape.stages, delta, looked_up, scratch)
        return None if found is None else _put(heads, shape.head, [found])
    every = []
    for rule in range(shape.rules):
        stages = [_of_rule(stage, rule) for stage in shape.stages]
        found = _follow(fire, stages, delta, looked_up, scratch)
        if found is None:
            return None
        every.append(found)
    return _put(heads, shape.head, every)


Arrays: TypeAlias = tuple[list[U64], tuple[U64, U64]]
"""The facts of an atom, and those left out of them; see `PairView.arrays`."""

_ALONE: Arrays = [NO_KEYS], (NO_KEYS, NO_KEYS)

Found: TypeAlias = tuple[list[U64], int, int]
"""Conclusions in pieces, how many changed facts were looked at, and how many were fetched."""


def _follow(
    fire: Kernel,
    stages: Sequence[Stage],
    delta: U64,
    looked_up: Sequence[Arrays],
    scratch: Scratch,
) -> Found | None:
    """What is concluded from some facts by all stages; None if that is too much."""
    seen = scratch.seen
    first = fetched = 0
    for stage, (runs, (minus, less)) in zip(stages, looked_up, strict=True):
        _, _, _, tests, spec, constants = stage
        pieces, total, seen[0] = [], 0, 0
        for run in runs:
            n = fire(delta, run, minus, less, spec, constants, MOST, scratch.out, seen)
            if n > len(scratch.out):
                scratch.out = np.empty(2 * n, dtype=np.uint64)
                fire(delta, run, minus, less, spec, constants, MOST, scratch.out, seen)
            if n < 0:
                return None
            if n:
                pieces.append(scratch.out[:n].copy())
                total += n
        looked = int(seen[0])
        first = first or looked
        fetched += looked if tests else total
        if not pieces:
            return pieces, first, fetched
        if stage is not stages[-1]:
            delta = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
    return pieces, first, fetched


def _of_rule(stage: Stage, rule: int) -> Stage:
    """A stage for one of the rules."""
    width = int(stage.spec[_WIDTH])
    return stage._replace(constants=stage.constants[rule * width : (rule + 1) * width])


def _put(heads: Heads, head: int, every: Sequence[Found]) -> Done:
    """Add conclusions, once it is sure that no rule has too many."""
    looked = fetched = total = 0
    for pieces, first, more in every:
        looked += first
        fetched += more
        for piece in pieces:
            heads.put(head, piece)
            total += len(piece)
    return Done(looked, fetched, total)


# -- shapes ---------------------------------------------------------------------------------------


def small_shape(family: Family, pivot: int, setting: Setting) -> Shape | None:
    """The shape of a family from one of its atoms, with the order of the current plan."""
    known: Shape | int | None = family.plans.get((SMALL, pivot), 0)
    if known is None:
        return None
    plan = plan_for(family, pivot, setting) if len(family.body) > 2 else None
    if isinstance(known, Shape) and known.plan is plan:
        return known
    made = family.plans[SMALL, pivot] = shape_of(family, pivot, plan)
    return made


def shape_of(family: Family, pivot: int, plan: Plan | None) -> Shape | None:
    """How the kernel does a family from one of its atoms; None if it cannot."""
    body, head, rules = family.body, family.head, len(family.rules)
    plain = not (family.nots or family.computations or family.summary)
    if not plain or rules > _RULES or pivot >= len(body) or any(map(_is_wide, (*body, head))):
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
    if apart and rules > _APART:
        return None
    sliced = bool(stages[0].spec[0] < 0)
    if apart:
        for stage in stages:
            stage.spec[_RULES_AT] = 1
    return Shape(relation, made, rules, apart, sliced, tuple(stages), plan)


_WIDTH, _RULES_AT = 8, 9  # where the kernel is told of constants and rules


def _stage(terms: _Terms, item: int, into: tuple[int, ...]) -> Stage | None:
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
    return Stage(item, relation, place, tests, np.array(spec, dtype=np.int64), flat)


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
        """What a term is in each of the rules, if it is no variable of them."""
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
