"""Plans: the order in which the items of a family's body are matched.

Start reading at `plan`. A plan begins with a frame of some bound variables (those of the changed
atom, those of the head, or none). It continues greedily with the item that makes the fewest rows:
first the items that only test, then the atom with the fewest expected rows. Each step drops the
columns that are not needed later. Rows are never merged, because each row is one rule instance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from typing import NamedTuple, TypeAlias

from triplestore.data_classes import data_class
from triplestore.relations.facts.body_views import Setting
from triplestore.relations.facts.fact_sets import RelationKey
from triplestore.relations.packed_keys import I64, U32
from triplestore.rules.families import CompiledAtom, Computation, Family
from triplestore.rules.thresholds import RULES
from triplestore.thread_limits import look, looking

HEAD, WHOLE, GROUPS = -1, -2, -3
"""Plans that begin with the variables of the head, with none, or with the groups of an aggregate.
Other plans begin with the variables of an item of the body."""


@data_class
class AtomStep:
    """Match one atom with a relation.

    item   its number: the body's atoms from 0, then the negations
    bound  (place, term) of known terms: a constant, or a variable with a column
    free   (place, variable) of variables that get their values
    same   pairs of free places that must be equal
    keep   the variables needed afterwards, of those known before
    """

    item: int
    atom: CompiledAtom
    negated: bool
    bound: tuple[tuple[int, int], ...]
    free: tuple[tuple[int, int], ...]
    same: tuple[tuple[int, int], ...]
    keep: tuple[int, ...]

    @classmethod
    def of(
        cls,
        item: int,
        atom: CompiledAtom,
        negated: bool,
        known: Callable[[int], bool],
        keep: tuple[int, ...] = (),
    ) -> AtomStep:
        """The step that matches an atom, where `known` says which variables have values."""
        bound, same = [], []
        first: dict[int, int] = {}
        for place, term in enumerate(atom.terms):
            if term < 0 or known(term):
                bound.append((place, term))
            elif term in first:
                same.append((first[term], place))
            else:
                first[term] = place
        free = tuple((place, term) for term, place in first.items())
        return cls(item, atom, negated, tuple(bound), free, tuple(same), keep)


@data_class
class TableStep:
    """Join with the family's table of constants on its bound columns."""

    bound: tuple[int, ...]
    free: tuple[int, ...]
    keep: tuple[int, ...]


@data_class
class ComputeStep:
    """A filter or a bind."""

    computation: Computation
    keep: tuple[int, ...]


BodyStep: TypeAlias = AtomStep | TableStep | ComputeStep


@data_class
class BodyPlan:
    """The steps for a frame of the variables `start`; made for relations of these `sizes`."""

    start: tuple[int, ...]
    steps: tuple[BodyStep, ...]
    sizes: tuple[float, ...]


class Turned(NamedTuple):
    """The best beginning for a changed item (see `evaluate.smallest_first`): the first step of a
    plan, or (None) the changed facts; and the number of changed facts for which it was found."""

    n: int
    plan: BodyPlan | None


class KernelStage(NamedTuple):
    """One atom of a small rule, for the kernel (`evaluate.small_rules`).

    item    its number, -1 if nothing is looked up; `relation` is its relation
    place   its known place, which comes first in sorted order
    tests   whether both places are known
    """

    item: int
    relation: int
    place: int
    tests: bool
    spec: I64
    constants: U32


class KernelShape(NamedTuple):
    """A family from a changed atom, for the kernel; each stage begins with the results of the last.

    relation  of the changed atom
    head      the relation of the conclusions
    rules     the number of rules; `apart`: whether each must go through the stages by itself
    sliced    whether the changed atom has a constant in front
    plan      the plan that gave the order of the stages
    """

    relation: int
    head: int
    rules: int
    apart: bool
    sliced: bool
    stages: tuple[KernelStage, ...]
    plan: BodyPlan | None


def plan_for(family: Family, pivot: int, setting: Setting) -> BodyPlan:
    """The plan of a family from one of its items (or `HEAD`, `WHOLE`), made for current sizes."""
    plans = family.known.plans
    known = plans.get(pivot)
    only = _is_only(family, pivot)
    if known is not None and only:
        return known
    if only:
        made = plans[pivot] = plan(family, pivot, setting)
        return made
    sizes = tuple(setting.view(atom.relation).estimate(()) + 1 for atom in family.body)
    if known is not None and not _changed(known.sizes, sizes):
        return known
    made = plans[pivot] = plan(family, pivot, setting, sizes)
    return made


def _is_only(family: Family, pivot: int) -> bool:
    """Whether only one atom is left, so that there is nothing to choose."""
    atoms = len(family.body) - (pivot >= 0)
    return atoms < 2 and (pivot >= 0 or family.table is None)


def _changed(old: tuple[float, ...], new: tuple[float, ...]) -> bool:
    pairs = zip(old, new, strict=True)
    return any(a > RULES.grown * b or b > RULES.grown * a for a, b in pairs)


def plan(family: Family, pivot: int, setting: Setting, sizes: tuple[float, ...] = ()) -> BodyPlan:
    """The plan of a family that begins with the variables of one of its items."""
    if pivot == WHOLE:
        start: list[int] = []
    elif pivot == HEAD:
        start = family.head.variables
    elif pivot == GROUPS:
        start = list(family.summary.groups) if family.summary is not None else []
    elif pivot < len(family.body):
        start = family.body[pivot].variables
    else:
        start = family.nots[pivot - len(family.body)].variables
    order = _Order(family, pivot, setting, set(start))
    return order.plan(start, sizes)


def plan_beside(family: Family, pivot: int, setting: Setting, rows: int) -> BodyPlan:
    """The plan of a family that begins with nothing, if an item (the pivot) matches this many
    changed facts."""
    return _Order(family, WHOLE, setting, set(), (pivot, rows)).plan([], ())


class _Order:
    """The steps chosen so far, and the remaining items."""

    def __init__(
        self,
        family: Family,
        pivot: int,
        setting: Setting,
        bound: set[int],
        changed: tuple[int, int] = (-1, 0),
    ) -> None:
        self.family = family
        self.changed = changed
        self.setting = setting
        self.bound = bound
        self.steps: list[BodyStep] = []
        self.atoms = dict.fromkeys(i for i in range(len(family.body)) if i != pivot)
        self.estimates: dict[tuple[RelationKey, tuple[int, ...]], float] = {}
        self.atoms_with: dict[int, list[int]] = {}
        for i in self.atoms:
            for term in set(family.body[i].terms):
                self.atoms_with.setdefault(term, []).append(i)
        self.tests = [i for i in self.atoms if bound.issuperset(family.body[i].variables)]
        """A heap of the atoms whose variables all have values. Searching long bodies for them each
        time would be quadratic."""
        self.closers: dict[int, int] = {}
        first_not = len(family.body)
        self.nots = [i for i in range(len(family.nots)) if first_not + i != pivot]
        self.computations = list(family.computations)
        self.table = family.table is not None

    def plan(self, start: list[int], sizes: tuple[float, ...]) -> BodyPlan:
        """All steps."""
        while self.choose():
            look()
        return BodyPlan(tuple(start), tuple(_with_keeps(self.family, self.steps, start)), sizes)

    def choose(self) -> bool:
        """Choose the next step; False if none is left."""
        return self._compute() or self._test() or self._join()

    def _compute(self) -> bool:
        for computation in self.computations:
            if self.bound.issuperset(computation.needs):
                self.computations.remove(computation)
                self.steps.append(ComputeStep(computation, ()))
                if computation.target >= 0:
                    self._bind((computation.target,))
                return True
        return False

    def _test(self) -> bool:
        for i in self.nots:
            atom = self.family.nots[i]
            if self.bound.issuperset(atom.variables):
                self.nots.remove(i)
                self._take(len(self.family.body) + i, atom, True)
                return True
        return False

    def _join(self) -> bool:
        if len(self.atoms) == 1 and not self.table:
            (last,) = self.atoms
            self.atoms.clear()
            self.tests.clear()
            self._take(last, self.family.body[last], False)
            return True
        best: tuple[int, float, int] | None = None
        if self.tests:
            best = (0, 0.5, self.tests[0])
        elif self.atoms:
            best = min((*self._cost(i), i) for i in looking(self.atoms))
        if self.table and self.family.table is not None:
            bound = [v for v in self.family.table.variables if v in self.bound]
            # Joining with the table costs no more than a look-up for each row. Without a common
            # variable it makes a row for each rule.
            rows = len(self.family.rules)
            cost = 0.9 if bound else float(rows)
            if best is None or (not self.atoms or cost < best[1]) or (bound and best[0] > 0):
                self._take_table()
                return True
        if best is None:
            assert not self.nots, "an unsafe rule got as far as planning"
            return False
        del self.atoms[best[-1]]
        if self.tests:
            heappop(self.tests)
        self._take(best[-1], self.family.body[best[-1]], False)
        return True

    def _cost(self, i: int) -> tuple[int, float]:
        """(0 if it only tests, 1 if it is connected, 2 if not; rows for each row so far)."""
        atom = self.family.body[i]
        places = [p for p, term in enumerate(atom.terms) if term < 0 or term in self.bound]
        if len(places) == len(atom.terms):
            return 0, 0.5
        if i == self.changed[0]:
            rows = float(self.changed[1]) ** (1 - len(places) / len(atom.terms))
        else:
            known = atom.relation, tuple(places)
            if known not in self.estimates:
                self.estimates[known] = self.setting.view(atom.relation).estimate(places)
            rows = self.estimates[known]
        rows *= RULES.closing_share ** self._closed_by(i)
        linked = any(term in self.bound for term in atom.terms)
        return (1 if linked or not self.bound else 2), rows

    def _closed_by(self, i: int) -> int:
        """The number of other atoms that only test after this one, because both of their variables
        have values: the third atom of a cycle."""
        atom = self.family.body[i]
        free = [term for term in atom.terms if term >= 0 and term not in self.bound]
        if len(free) != 1 or len(self.atoms) < 2:
            return 0
        (variable,) = free
        if variable not in self.closers:
            self.closers[variable] = sum(
                all(t < 0 or t in self.bound or t == variable for t in self.family.body[j].terms)
                for j in self.atoms_with[variable]
                if j in self.atoms
            )
        return self.closers[variable] - 1  # the atom itself is counted as well

    def _take(self, item: int, atom: CompiledAtom, negated: bool) -> None:
        step = AtomStep.of(item, atom, negated, self.bound.__contains__)
        self._bind(variable for _, variable in step.free)
        self.steps.append(step)

    def _bind(self, variables: Iterable[int]) -> None:
        """Mark variables as known."""
        fresh = [variable for variable in variables if variable not in self.bound]
        self.bound.update(fresh)
        self.closers.clear()
        touched = {i for variable in fresh for i in self.atoms_with.get(variable, ())}
        for i in touched:  # each once, even with two new variables
            if i in self.atoms and self.bound.issuperset(self.family.body[i].variables):
                heappush(self.tests, i)

    def _take_table(self) -> None:
        assert self.family.table is not None
        variables = self.family.table.variables
        bound = tuple(v for v in variables if v in self.bound)
        free = tuple(v for v in variables if v not in self.bound)
        self._bind(free)
        self.table = False
        self.steps.append(TableStep(bound, free, ()))


def _with_keeps(family: Family, steps: list[BodyStep], start: Iterable[int]) -> list[BodyStep]:
    """The steps, each with the variables that are needed after it."""
    needed = set(family.head.variables) if family.summary is None else _summary_needs(family)
    needed.add(family.width)  # numbers of goals, or weights, come after the variables
    made: list[BodyStep] = []
    for step in reversed(steps):
        look()
        keep = tuple(sorted(needed))
        if isinstance(step, AtomStep):
            made.append(
                AtomStep(step.item, step.atom, step.negated, step.bound, step.free, step.same, keep)
            )
            needed = (needed - {v for _, v in step.free}) | {t for _, t in step.bound if t >= 0}
        elif isinstance(step, TableStep):
            made.append(TableStep(step.bound, step.free, keep))
            needed = (needed - set(step.free)) | set(step.bound)
        else:
            made.append(ComputeStep(step.computation, keep))
            if step.computation.target not in start:  # a bind whose value is given is a test
                needed = needed - {step.computation.target}
            needed = needed | set(step.computation.needs) | ({step.computation.target} & set(start))
    return made[::-1]


def _summary_needs(family: Family) -> set[int]:
    assert family.summary is not None
    return set(range(len(family.variables)))
