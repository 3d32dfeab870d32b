"""Atoms that close a cycle, as the third of `p(x, y), p(y, z), p(z, x)` does: a generic join.

Joins of two atoms first make all paths of two steps, which are very many where nodes have many
neighbours, though few of them close. Here all atoms that speak of a known variable and the same new
one (the *links*) are matched at once: each row takes the values of the link that has fewest for it,
and keeps those that the other links have too. That is never more work than the largest number of
results that relations of these sizes can have, up to a constant factor.

Start reading at `crossing`, for relations that can be read as sorted arrays; `closings` is for
others (closures that are not written out). What is always true: the instances are those of the
joins, each once, since the arrays of a view are disjoint.

Bench: `programs` on `triangles` (0.2 s; joins of two atoms at a time do not end in 240 s) and on
`diamonds` (0.16 s, without it 0.25). Queries have a generic join of their own
(`sparql.evaluate.cyclic`), which decides by the same functions (`operators.joins.smallest_fan`).
What follows the decision stays apart: rules read views of an update, from which facts are left out,
and count instances without listing them; queries read blocks of relations and charge them to the
query's memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import NamedTuple, TypeAlias

import numpy as np

from triplestore.evaluate.binding_frames import Rows, where
from triplestore.evaluate.existence import multiplied
from triplestore.evaluate.thresholds import EVALUATION
from triplestore.operators.joins.smallest_fan import by_smallest_fan, pays, sampled_every
from triplestore.relations.facts.body_views import PairView, Setting
from triplestore.relations.facts.fact_sets import ANY
from triplestore.relations.facts.key_ranges import LINKS, Crossed, crossed
from triplestore.relations.facts.sorted_arrays import check_room, member
from triplestore.relations.packed_keys import I64, NO_IDS, U32, U64, pack
from triplestore.rules.body_plans import AtomStep, BodyStep
from triplestore.rules.families import CompiledAtom, Family
from triplestore.thread_limits import look

Seen: TypeAlias = Callable[[AtomStep], Setting]


class CycleLink(NamedTuple):
    """An atom between a known variable and a new one, with the places of both."""

    item: int
    atom: CompiledAtom
    place: int
    known: int
    new: int

    def joined(self, keep: tuple[int, ...], variable: int) -> AtomStep:
        """The step that finds the new variable."""
        bound, free = ((self.place, self.known),), ((self.new, variable),)
        return AtomStep(self.item, self.atom, False, bound, free, (), keep)

    def tested(self, keep: tuple[int, ...], variable: int) -> AtomStep:
        """The step that tests it."""
        bound = tuple(sorted(((self.place, self.known), (self.new, variable))))
        return AtomStep(self.item, self.atom, False, bound, (), (), keep)


class Cycle(NamedTuple):
    """Atoms that close a cycle.

    variable  the new one
    keep      the variables needed afterwards
    rest      the steps that are left to be done then
    """

    variable: int
    links: list[CycleLink]
    keep: tuple[int, ...]
    rest: tuple[BodyStep, ...]

    @property
    def last(self) -> AtomStep:
        """The step that ends it."""
        return self.links[-1].tested(self.keep, self.variable)


def cycle_of(steps: Sequence[BodyStep], at: int) -> Cycle | None:
    """The atom that brings a new variable, and those after it that only test it; None if there are
    none of these."""
    step = steps[at]
    if not isinstance(step, AtomStep) or step.negated or step.same or len(step.free) != 1:
        return None
    if len(step.bound) != 1 or step.bound[0][1] < 0 or not isinstance(step.atom.relation, int):
        return None
    new, variable = step.free[0]
    links = [CycleLink(step.item, step.atom, *step.bound[0], new)]
    others: list[AtomStep] = []  # tests of something else
    keep = step.keep
    stop = at + 1
    for later in steps[stop:]:
        link = _tests(later, variable) if len(links) < LINKS else None
        if link is not None:
            links.append(link)
            keep = later.keep
        elif isinstance(later, AtomStep) and not later.free:
            others.append(later)
        else:
            break
        stop += 1
    if len(links) < 2:
        return None
    needed = {*keep, *(term for one in others for _, term in one.bound if term >= 0)}
    return Cycle(variable, links, tuple(sorted(needed)), (*others, *steps[stop:]))


# -- all at once ----------------------------------------------------------------------------------


class Crossing:
    """The links of a cycle as sorted arrays, for the rows of a frame."""

    def __init__(self, cycle: Cycle, rows: Rows, n: int, views: Sequence[PairView]) -> None:
        self._cycle = cycle
        self._rows = rows
        self._n = n
        self._arrays: list[list[U64]] = []
        self._without: list[tuple[CycleLink, U64]] = []
        """The facts that a link must not match."""
        self.possible = all(map(self._read, cycle.links, views))

    def _read(self, link: CycleLink, view: PairView) -> bool:
        found = view.arrays(link.place, self._n)
        if found is None or self._rows[link.known] is None:
            return False
        arrays, taken = found
        self._arrays.append(arrays)
        self._without += [(link, keys) for keys in taken if len(keys)]
        return int(np.prod([len(one) for one in self._arrays])) <= EVALUATION.cycle_ways

    def counted(self, family: Family) -> tuple[Rows, int, int] | None:
        """The rows with the number of ways they have, where nothing needs the new variable, and how
        many values were looked at; None if they have to be listed."""
        if self._cycle.variable in self._cycle.keep or self._without:
            return None
        counts, looked = np.zeros(self._n, dtype=np.int64), 0
        for piece in self._pieces(listed=False):
            counts[piece.start : piece.stop] += piece.counts
            looked += piece.looked
        made = multiplied(family, self._rows, self._n, counts, self._cycle.keep)
        return None if made is None else (*made, looked)

    def listed(self, most: int | None) -> Iterator[tuple[Rows, int, int]]:
        """The rows with each value of the new variable, and how many values were looked at; in
        pieces of not many more rows than `most`."""
        pieces: list[Crossed] = []
        size = 0
        for piece in self._pieces(listed=True):
            pieces.append(piece)
            size += len(piece.values)
            if most is None:
                check_room(size)
            elif size >= most:
                yield self._frame(pieces)
                pieces, size = [], 0
        yield self._frame(pieces)

    def _pieces(self, listed: bool) -> Iterator[Crossed]:
        columns = [self._rows[link.known] for link in self._cycle.links]
        for arrays in product(*self._arrays):
            for piece in crossed(arrays, columns, listed):
                look()
                yield piece

    def _frame(self, pieces: Sequence[Crossed]) -> tuple[Rows, int, int]:
        made: Rows = [None] * len(self._rows)
        within = {*self._cycle.keep, *(link.known for link, _ in self._without)}
        for variable in within:
            column = self._rows[variable]
            if column is not None:
                parts = [np.repeat(column[p.start : p.stop], p.counts) for p in pieces]
                made[variable] = _joined(parts)
        within.add(self._cycle.variable)
        made[self._cycle.variable] = _joined([piece.values for piece in pieces])
        n = len(made[self._cycle.variable])
        for link, taken in self._without:
            if n == 0:
                break
            known = made[link.known]
            values = made[self._cycle.variable]
            pair = (known, values) if link.place == 0 else (values, known)
            made, n = where(made, ~member(pack(*pair), taken), tuple(within), n)
        return made, n, sum(piece.looked for piece in pieces)


def _joined(parts: Sequence[U32]) -> U32:
    return parts[0] if len(parts) == 1 else np.concatenate([NO_IDS, *parts])


def crossing(cycle: Cycle, rows: Rows, n: int, seen: Seen) -> Crossing | None:
    """The links of a cycle as sorted arrays; None if they are not."""
    views = []
    for link in cycle.links:
        view = seen(link.tested((), cycle.variable)).view(link.atom.relation)
        if not isinstance(view, PairView):
            return None
        views.append(view)
    made = Crossing(cycle, rows, n, views)
    return made if made.possible else None


# -- one after the other --------------------------------------------------------------------------


def closings(
    cycle: Cycle, rows: Rows, n: int, seen: Seen
) -> list[tuple[list[BodyStep], Rows, int]] | None:
    """The rows in parts, each with the steps that are left for it, the cheapest atom of the cycle
    first; None if the steps as they are cost no more."""
    links, variable = cycle.links, cycle.variable
    views = [seen(link.joined((), variable)).view(link.atom.relation) for link in links]
    every = sampled_every(n)
    some = _fans(
        links, views, [None if c is None else np.ascontiguousarray(c[::every]) for c in rows]
    )
    if some is None:
        return None
    if not pays(some, EVALUATION.cycle_fewer, EVALUATION.cycle_looks):
        return None
    fans = some if every == 1 else _fans(links, views, rows)
    assert fans is not None, "as the sample had"
    within = tuple(sorted({*cycle.keep, variable, *(link.known for link in links)}))
    parts = []
    for number, index in by_smallest_fan(fans):
        link = links[number]
        others = [one for one in links if one is not link]
        made: list[BodyStep] = [link.joined(within, variable)]
        made += [one.tested(within, variable) for one in others[:-1]]
        made += [others[-1].tested(cycle.keep, variable), *cycle.rest]
        part = [None if c is None else c[index] for c in rows]
        parts.append((made, part, len(index)))
    return parts


def _tests(step: BodyStep, variable: int) -> CycleLink | None:
    """The link of a step that tests a variable beside another one."""
    if not isinstance(step, AtomStep) or step.negated or step.free or step.atom.relation == ANY:
        return None
    if not isinstance(step.atom.relation, int) or len(step.bound) != 2:
        return None
    (one, first), (other, second) = step.bound
    if first == variable:
        one, first, other, second = other, second, one, first
    if second != variable or first < 0 or first == variable:
        return None
    return CycleLink(step.item, step.atom, one, first, other)


def _fans(links: Sequence[CycleLink], views: Sequence[object], rows: Rows) -> I64 | None:
    """For each link, how many values it has for each row."""
    found = []
    for link, view in zip(links, views, strict=True):
        values: U32 | None = rows[link.known]
        if values is None or not isinstance(view, PairView):
            return None
        fan = view.fanout(link.place, values, exact=False)
        if fan is None:
            return None
        found.append(fan)
    return np.array(found)
