"""Atoms that close a cycle, like the third of `p(x, y), p(y, z), p(z, x)`: a generic join.

Joins of two atoms first make all paths of two steps. There are very many if nodes have many
neighbours, though few of them close. Here all atoms between a known variable and the same new one
(the *links*) are matched at once: each row takes the values of the link that has the fewest for it,
and keeps those that the other links have as well. Up to a constant factor, that is never more work
than the largest number of results that relations of these sizes can have.

Start reading at `close`. `crossing` is for relations that can be read as sorted arrays; `closings`
is for others (closures that are not written out). Always true: the instances are those of the
joins, each once, because the arrays of a view are disjoint.

Bench: `programs` on `triangles` (0.2 s; joins of two atoms at a time do not end in 240 s) and on
`diamonds` (0.16 s, without it 0.25). Queries have their own generic join
(`sparql.evaluate.cyclic`), which decides by the same functions (`operators.joins.smallest_fan`).
The rest stays apart: rules read views of an update, which exclude facts, and count instances
without listing them; queries read blocks of relations and charge them to the query's memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from triplestore.evaluate.binding_frames import Bindings, together, where
from triplestore.evaluate.conclusions import Heads
from triplestore.evaluate.existence import merged, multiplied
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

if TYPE_CHECKING:
    from triplestore.evaluate.evaluation import Evaluation

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

    variable  the new variable
    keep      the variables needed afterwards
    rest      the steps that are left afterwards
    """

    variable: int
    links: list[CycleLink]
    keep: tuple[int, ...]
    rest: tuple[BodyStep, ...]

    @property
    def last(self) -> AtomStep:
        """The last step of the cycle."""
        return self.links[-1].tested(self.keep, self.variable)


def cycle_of(steps: Sequence[BodyStep], at: int) -> Cycle | None:
    """The atom that brings a new variable, and the later atoms that only test it; None if there are
    no such tests."""
    step = steps[at]
    if not isinstance(step, AtomStep) or step.negated or step.same or len(step.free) != 1:
        return None
    if len(step.bound) != 1 or step.bound[0][1] < 0 or not isinstance(step.atom.relation, int):
        return None
    new, variable = step.free[0]
    links = [CycleLink(step.item, step.atom, *step.bound[0], new)]
    others: list[AtomStep] = []  # tests of other variables
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


def close(
    run: Evaluation,
    family: Family,
    cycle: Cycle,
    rows: Bindings,
    n: int,
    seen: Seen,
    phase: str,
    heads: Heads | None,
) -> tuple[Bindings, int] | None:
    """Match the atoms of a cycle, and do the rest of the plan; None if joins are not slower."""
    links = crossing(cycle, rows, n, seen)
    if links is None:
        parts = closings(cycle, rows, n, seen)
        if parts is None:
            return None
        done = [run.run_steps(family, *part, seen, phase, heads) for part in parts]
        return together(family, done)
    weighted = heads is not None and family.head.relation != ANY
    counted = links.counted(family) if weighted else None
    most = None if heads is None else run.piece()
    pieces = links.listed(most) if counted is None else [counted]
    found = []
    for part, size, looked in pieces:
        run.fetched += looked
        run.check(size)
        large = most is not None and size >= most
        if size == 0:
            continue
        if heads is not None and size >= EVALUATION.many_merged:
            part, size = merged(family, cycle.last, cycle.rest, part, size)
        left = run.run_steps(family, cycle.rest, part, size, seen, phase, heads)
        if large and heads is not None:
            run.sum_up(family, *left, heads)
        else:
            found.append(left)
    return together(family, found) if found else ([None] * len(rows), 0)


# -- sorted arrays -------------------------------------------------------------------------------


class Crossing:
    """The links of a cycle as sorted arrays, for the rows of a frame."""

    def __init__(self, cycle: Cycle, rows: Bindings, n: int, views: Sequence[PairView]) -> None:
        self._cycle = cycle
        self._rows = rows
        self._n = n
        self._arrays: list[list[U64]] = []
        self._without: list[tuple[CycleLink, U64]] = []
        """Facts that a link must not match."""
        self.possible = all(map(self._read, cycle.links, views))

    def _read(self, link: CycleLink, view: PairView) -> bool:
        found = view.arrays(link.place, self._n)
        if found is None or self._rows[link.known] is None:
            return False
        arrays, taken = found
        self._arrays.append(arrays)
        self._without += [(link, keys) for keys in taken if len(keys)]
        return int(np.prod([len(one) for one in self._arrays])) <= EVALUATION.cycle_ways

    def counted(self, family: Family) -> tuple[Bindings, int, int] | None:
        """The rows with their numbers of values, if nothing needs the new variable, and the number
        of values read; None if the values must be listed."""
        if self._cycle.variable in self._cycle.keep or self._without:
            return None
        counts, looked = np.zeros(self._n, dtype=np.int64), 0
        for piece in self._pieces(listed=False):
            counts[piece.start : piece.stop] += piece.counts
            looked += piece.looked
        made = multiplied(family, self._rows, self._n, counts, self._cycle.keep)
        return None if made is None else (*made, looked)

    def listed(self, most: int | None) -> Iterator[tuple[Bindings, int, int]]:
        """The rows with each value of the new variable, and the number of values read; in pieces of
        about `most` rows."""
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

    def _frame(self, pieces: Sequence[Crossed]) -> tuple[Bindings, int, int]:
        made: Bindings = [None] * len(self._rows)
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


def crossing(cycle: Cycle, rows: Bindings, n: int, seen: Seen) -> Crossing | None:
    """The links of a cycle as sorted arrays; None if they cannot be read so."""
    views = []
    for link in cycle.links:
        view = seen(link.tested((), cycle.variable)).view(link.atom.relation)
        if not isinstance(view, PairView):
            return None
        views.append(view)
    made = Crossing(cycle, rows, n, views)
    return made if made.possible else None


# -- other relations -----------------------------------------------------------------------------


def closings(
    cycle: Cycle, rows: Bindings, n: int, seen: Seen
) -> list[tuple[list[BodyStep], Bindings, int]] | None:
    """The rows in parts, each with its remaining steps, the cheapest atom of the cycle first; None
    if that is not cheaper."""
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


def _fans(links: Sequence[CycleLink], views: Sequence[object], rows: Bindings) -> I64 | None:
    """For each link, the number of its values for each row."""
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
