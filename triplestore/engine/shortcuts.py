"""Ways around very many rows of a join: atoms that only have to exist, rows alike, and cycles.

What a join makes is one row for each instance, and counters need their number. They do not need the
rows: an atom of which nothing is needed any more multiplies how many instances a row stands for
(`exists`), and rows that agree in all that is needed are one row (`merged`). How many instances a
row stands for is its weight, a column behind those of the variables; none means one each.

Where atoms close a cycle, as the third of `p(x, y), p(y, z), p(z, x)` does, each row goes on by
the atom that gives it fewest new values, and the others test these (`closings`): never more work
than the largest number of results that relations of these sizes can have, but for a factor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from triplestore.engine.conclusions import Heads, heads_of
from triplestore.engine.families import CompiledAtom, Family
from triplestore.engine.frames import Rows, column, take
from triplestore.engine.plans import AtomStep, Step
from triplestore.engine.sets.arrays import counted
from triplestore.engine.sets.keys import ANY
from triplestore.engine.sets.views import PairView, Setting
from triplestore.tables.rows import I64, U32, Keys, columns_of, pack, start_of_runs

Seen: TypeAlias = Callable[[AtomStep], Setting]

FEW = 256
"""So few rows are joined without looking for a way around."""

_MANY = 1 << 14
"""So many rows may be worth being merged."""

_PAYS = 1.5
"""So many times fewer rows there must be after merging, or it is not tried again."""

_FEWER, _LOOKS = 2.0, 1.0
"""So many times fewer new values the best atoms of a cycle must have than the first one, and so
many fewer for each row, which looks at all of them."""

_SAMPLE = 4096
_MOST = float(1 << 62)


# -- weights --------------------------------------------------------------------------------------


def weights_of(family: Family, rows: Rows) -> I64 | None:
    """How many instances each row stands for; None if one each."""
    found: I64 | None = rows[family.width] if len(rows) > family.width else None
    return found


def instances(family: Family, rows: Rows, n: int) -> int:
    """How many instances all rows stand for."""
    weights = weights_of(family, rows)
    return n if weights is None else int(weights.sum())


def conclude_weighted(family: Family, rows: Rows, n: int, weights: I64, heads: Heads) -> None:
    """Add what rows conclude, each as often as it says."""
    for relation, keys in heads_of(family, rows, n):
        piece = Heads()
        piece.summed = {relation: _summed(keys, weights)}
        heads.extend(piece)


def _summed(keys: Keys, weights: I64) -> tuple[Keys, I64]:
    """The keys in order, each once, with the sum of its weights."""
    if len(keys) > 1 and not bool((keys[1:] > keys[:-1]).all()):
        order = np.argsort(keys, kind="stable")
        keys, weights = keys[order], weights[order]
        starts = start_of_runs(keys)[:-1]
        keys, weights = keys[starts], np.add.reduceat(weights, starts)
    return keys, weights


def exists(
    family: Family, step: AtomStep, rows: Rows, n: int, view: object
) -> tuple[Rows, int] | None:
    """Match an atom of which nothing is needed any more; None if that has to be done by a join."""
    free = {variable for _, variable in step.free}
    if len(step.bound) != 1 or step.bound[0][1] < 0 or not isinstance(view, PairView):
        return None
    if not free or step.same or not free.isdisjoint(step.keep):
        return None
    place, term = step.bound[0]
    sizes = view.fanout(place, column(rows, term, n))
    if sizes is None:
        return None
    alive = sizes.nonzero()[0]
    if len(alive) == 0:
        return rows, 0
    total = float(sizes.sum())
    weights = weights_of(family, rows)
    if weights is None and total <= 2 * len(alive):
        index = alive if total == len(alive) else np.repeat(np.arange(n), sizes)
        return take(rows, index, step.keep), len(index)
    if weights is not None and float(weights.sum()) * float(sizes.max()) > _MOST:
        return None
    made = take(rows, alive, step.keep)
    more = sizes[alive]
    made[family.width] = more if weights is None else weights[alive] * more
    return made, len(alive)


# -- rows alike -----------------------------------------------------------------------------------


def merged(family: Family, steps: Sequence[Step], at: int, rows: Rows, n: int) -> tuple[Rows, int]:
    """Rows that agree in what is needed after a step as one, where more joins follow."""
    step = steps[at]
    if n < _MANY or not isinstance(step, AtomStep) or family.head.relation == ANY:
        return rows, n
    if all(term < 0 or term in step.keep for term in step.atom.terms):
        return rows, n
    if not any(isinstance(later, AtomStep) and later.free for later in steps[at + 1 :]):
        return rows, n
    tried = ("merged", id(step))
    live = [v for v in step.keep if v != family.width and rows[v] is not None]
    if not 1 <= len(live) <= 2 or family.plans.get(tried) is False:
        return rows, n
    columns = [column(rows, variable, n) for variable in live]
    keys = columns[0] if len(live) == 1 else pack(columns[0], columns[1])
    weights = weights_of(family, rows)
    if weights is None:
        different, times = counted(keys)
        sums = times.astype(np.int64)
    else:
        different, sums = _summed(keys, weights)
    if len(different) * _PAYS > n:
        family.plans[tried] = False
        return rows, n
    made: Rows = [None] * len(rows)
    for variable, values in zip(live, columns_of(different, len(live)), strict=True):
        made[variable] = values
    made[family.width] = sums
    return made, len(different)


# -- cycles ---------------------------------------------------------------------------------------


class Link(NamedTuple):
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


def closings(
    steps: Sequence[Step], at: int, rows: Rows, n: int, seen: Seen
) -> list[tuple[list[Step], Rows, int]] | None:
    """The rows in parts, each with the steps that are left for it, the cheapest atom of a cycle
    first; None if there is no cycle, or they are as well off with the steps as they are."""
    links = _links(steps, at) if n >= FEW else []
    if len(links) < 2:
        return None
    first, last = steps[at], steps[at + len(links) - 1]
    assert isinstance(first, AtomStep) and isinstance(last, AtomStep), "links are atoms"
    variable = first.free[0][1]
    views = [seen(link.joined((), variable)).view(link.atom.relation) for link in links]
    every = max(1, n // _SAMPLE)
    some = _fans(
        links, views, [None if c is None else np.ascontiguousarray(c[::every]) for c in rows]
    )
    if some is None:
        return None
    if some[0].sum() <= _FEWER * some.min(axis=0).sum() + _LOOKS * some.shape[1]:
        return None
    fans = some if every == 1 else _fans(links, views, rows)
    assert fans is not None, "as the sample had"
    best = fans.argmin(axis=0)
    within = tuple(sorted({*last.keep, variable, *(link.known for link in links)}))
    parts = []
    for number, link in enumerate(links):
        index = (best == number).nonzero()[0]
        others = [one for one in links if one is not link]
        made: list[Step] = [link.joined(within, variable)]
        made += [one.tested(within, variable) for one in others[:-1]]
        made += [others[-1].tested(last.keep, variable), *steps[at + len(links) :]]
        if len(index):
            part = [None if c is None else c[index] for c in rows]
            parts.append((made, part, len(index)))
    return parts


def _links(steps: Sequence[Step], at: int) -> list[Link]:
    """The atom that brings a new variable, and those after it that test it only."""
    step = steps[at]
    if not isinstance(step, AtomStep) or step.negated or step.same or len(step.free) != 1:
        return []
    if len(step.bound) != 1 or step.bound[0][1] < 0 or not isinstance(step.atom.relation, int):
        return []
    new, variable = step.free[0]
    links = [Link(step.item, step.atom, *step.bound[0], new)]
    for later in steps[at + 1 :]:
        link = _tests(later, variable)
        if link is None:
            break
        links.append(link)
    return links


def _tests(step: Step, variable: int) -> Link | None:
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
    return Link(step.item, step.atom, one, first, other)


def _fans(links: Sequence[Link], views: Sequence[object], rows: Rows) -> I64 | None:
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


def together(family: Family, parts: Sequence[tuple[Rows, int]]) -> tuple[Rows, int]:
    """The rows of several frames of one family."""
    filled = [part for part in parts if part[1]]
    if len(filled) < 2:
        return filled[0] if filled else parts[0]
    made: Rows = []
    for place in range(family.width + 1):
        columns = [rows[place] for rows, _ in filled]
        if place == family.width and any(one is not None for one in columns):
            columns = [
                np.ones(n, dtype=np.int64) if one is None else one
                for one, (_, n) in zip(columns, filled, strict=True)
            ]
        known = [one for one in columns if one is not None]
        made.append(np.concatenate(known) if len(known) == len(filled) else None)
    return made, sum(n for _, n in filled)
