"""The sequence in which the parts of a group are joined, from estimates alone.

Start at `choose_steps`: greedily, once from each of the smallest parts that can come first, and the
cheapest of these; a start that costs more than what was found before is given up. What is always
true: every item is in one step; a part that only goes on from known values (a path without a
constant) waits for them where it can. Costs 1 to 2 us for each part that is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from triplestore.operators.context import current
from triplestore.sparql.plan.path_plans import PathPart
from triplestore.sparql.plan.planned import LEAST, Atom, PlannedPart

Item: TypeAlias = Atom | PlannedPart | PathPart

LOOK_UP = 4.0
"""What looking a row up costs, in rows that are read one after the other."""

_STARTS = 4  # maximum number of the smallest parts that are tried as the first
_CHEAP = 1000.0  # maximum cost below which looking for a better sequence takes longer than it saves
_ENDLESS = float("inf")


class JoinStep(NamedTuple):
    """The next item to join, and the rows that are expected then.

    How many values variables have is worked out again where it is wanted (`after`): kept for each
    step it would take the square of their number.
    """

    number: int
    rows: float


def choose_steps(items: Sequence[Item]) -> list[JoinStep]:
    """The sequence in which the items should be joined.

    >>> choose_steps([])
    []
    """
    if not items:
        return []
    search = _JoinSearch(items)
    if len(items) == 1:
        return [search.first(0)]
    starts = [number for number, waits in enumerate(search.waits) if not waits]
    starts = sorted(starts or range(len(items)), key=search.sizes.__getitem__)
    best: list[JoinStep] = []
    least = _ENDLESS
    for start in starts[:_STARTS]:
        if 2 * search.sizes[start] >= least or least < _CHEAP:
            break
        found, cost = search.greedy(start, least)
        if cost < least:
            best, least = found, cost
    return best


def steps_as_written(items: Sequence[Item]) -> list[JoinStep]:
    """The items one after the other, as they are given."""
    if not items:
        return []
    steps = [_JoinSearch(items).first(0)]
    distinct = after(steps[0], {}, items[0])
    for number in range(1, len(items)):
        current().check()
        rows, distinct = expected(steps[-1].rows, distinct, items[number])
        steps.append(JoinStep(number, rows))
    return steps


def after(step: JoinStep, known: Mapping[str, float], item: Item) -> dict[str, float]:
    """How many values variables have after a step, by what was known before it."""
    return _together(step.rows, known, [(name, item.distinct(name)) for name in item.names])


def expected(rows: float, known: Mapping[str, float], item: Item) -> tuple[float, dict[str, float]]:
    """The rows, and different values by variable, when an item is joined with some rows."""
    facts = [(name, item.distinct(name)) for name in item.names]
    rows = max(_selected(rows * item.size, known, facts)[0], LEAST)
    return rows, _together(rows, known, facts)


class _JoinSearch:
    """What is known of the items, looked up once."""

    __slots__ = ("_facts", "_names", "_parts", "sizes", "waits")

    def __init__(self, items: Sequence[Item]) -> None:
        check = current().check
        self.sizes = [item.size for item in items]
        self.waits = [isinstance(item, PathPart) and not item.has_constant for item in items]
        self._parts = [isinstance(item, PlannedPart) for item in items]
        self._names = [item.names for item in items]
        self._facts: list[list[tuple[str, float]]] = []
        for item in items:
            check()
            self._facts.append([(name, item.distinct(name)) for name in item.names])

    def first(self, start: int) -> JoinStep:
        """The step that begins with an item."""
        return JoinStep(start, max(self.sizes[start], LEAST))

    def greedy(self, start: int, most: float) -> tuple[list[JoinStep], float]:
        """The steps from a first item, always the cheapest next, and their cost; incomplete if it
        comes to `most`."""
        step = self.first(start)
        known = _together(step.rows, {}, self._facts[start])
        steps, cost = [step], 2 * self.sizes[start]
        left = [number for number in range(len(self.sizes)) if number != start]
        check = current().check
        while left and cost < most:
            check()
            best, least, rows = left[0], _ENDLESS, LEAST
            for number in self._ready(left, known):
                expected_cost, expected_rows = self._cost(number, step.rows, known)
                if expected_cost < least:
                    best, least, rows = number, expected_cost, expected_rows
            cost += least
            step = JoinStep(best, rows)
            known = _together(rows, known, self._facts[best])
            steps.append(step)
            left.remove(best)
        return steps, cost

    def _ready(self, left: list[int], known: Mapping[str, float]) -> Iterable[int]:
        """Those that can be next: linked with what there is, if there are any."""
        names = known.keys()
        linked = [number for number in left if not names.isdisjoint(self._names[number])]
        if linked:
            return linked
        return [number for number in left if not self.waits[number]] or left

    def _cost(self, number: int, before: float, known: Mapping[str, float]) -> tuple[float, float]:
        """What joining an item with some rows costs, and the rows that are expected."""
        size = self.sizes[number]
        rows, linked = _selected(before * size, known, self._facts[number])
        rows = max(rows, LEAST)
        if not linked:
            return size + rows + rows, rows  # a product is never better than what may come first
        if self._parts[number]:
            return size + rows, rows
        return min(size + before, LOOK_UP * before) + rows, rows


def _selected(
    rows: float, known: Mapping[str, float], facts: Iterable[tuple[str, float]]
) -> tuple[float, bool]:
    """How many pairs agree on the variables that both have; whether there are such."""
    linked = False
    for name, own in facts:
        there = known.get(name)
        if there is not None:
            linked = True
            most = there if there > own else own
            if most > 1.0:
                rows /= most
    return rows, linked


def _together(
    rows: float, known: Mapping[str, float], facts: Iterable[tuple[str, float]]
) -> dict[str, float]:
    """How many different values variables have in joined rows: as many as on either side."""
    found = {name: there if there < rows else rows for name, there in known.items()}
    for name, own in facts:
        found[name] = min(own, found.get(name, own), rows)
    return found
