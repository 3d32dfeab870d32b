"""The order in which the parts of a group are joined, from estimates only.

Start at `choose_steps`: a greedy search from each of the smallest possible first parts; the
cheapest order wins, and a search that becomes more expensive than the best one so far is given up.
Always true: every item is in one step; a part that needs known values (a path without a
constant) waits for them if possible. Costs 1 to 2 us for each part considered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from triplestore.operators.context import current
from triplestore.sparql.plan.path_plans import PathPart
from triplestore.sparql.plan.planned import LEAST, Atom, PlannedPart
from triplestore.sparql.plan.services import ServicePart
from triplestore.sparql.thresholds import SPARQL

Item: TypeAlias = Atom | PlannedPart | PathPart | ServicePart

_STARTS = 4  # maximum number of first parts that are tried
_CHEAP = 1000.0  # maximum cost of an order for which searching a better one is not worth it
_ENDLESS = float("inf")


class JoinStep(NamedTuple):
    """The next item to join, and the expected rows afterwards.

    The numbers of distinct values of variables are computed when needed (`after`): kept for each
    step they would take quadratic memory.
    """

    number: int
    rows: float


def choose_steps(items: Sequence[Item]) -> list[JoinStep]:
    """The order in which the items should be joined.

    >>> choose_steps([])
    []
    """
    if not items:
        return []
    if len(items) == 1:
        return [JoinStep(0, max(items[0].size, LEAST))]
    search = _JoinSearch(items)
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
    """The items in the given order."""
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
    """The number of distinct values by variable after a step, from those before it."""
    return _together(step.rows, known, [(name, item.distinct(name)) for name in item.names])


def expected(rows: float, known: Mapping[str, float], item: Item) -> tuple[float, dict[str, float]]:
    """The expected rows and distinct values by variable if an item is joined with some rows."""
    facts = [(name, item.distinct(name)) for name in item.names]
    rows = max(_selected(rows * item.size, known, facts)[0], LEAST)
    return rows, _together(rows, known, facts)


class _JoinSearch:
    """The estimates of the items, looked up once, and the search."""

    __slots__ = ("_facts", "_names", "_parts", "_places", "sizes", "waits")

    def __init__(self, items: Sequence[Item]) -> None:
        check = current().check
        self.sizes = [item.size for item in items]
        self.waits = [_waits(item) for item in items]
        self._parts = [isinstance(item, PlannedPart | ServicePart) for item in items]
        # The variables that have the addresses of endpoints.
        self._places = [item.place if isinstance(item, ServicePart) else "" for item in items]
        self._names = [item.names for item in items]
        self._facts: list[list[tuple[str, float]]] = []
        for item in items:
            check()
            self._facts.append([(name, item.distinct(name)) for name in item.names])

    def first(self, start: int) -> JoinStep:
        """The step that begins with an item."""
        return JoinStep(start, max(self.sizes[start], LEAST))

    def greedy(self, start: int, most: float) -> tuple[list[JoinStep], float]:
        """The steps from a first item, always the cheapest next, and their cost; incomplete if the
        cost reaches `most`."""
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
        """The items that can be next: those linked with the steps so far, if there are any."""
        names = known.keys()
        linked = [number for number in left if not names.isdisjoint(self._names[number])]
        if any(self._places):
            linked = [n for n in linked if not self._places[n] or self._places[n] in names]
        if linked:
            return linked
        return [number for number in left if not self.waits[number]] or left

    def _cost(self, number: int, before: float, known: Mapping[str, float]) -> tuple[float, float]:
        """The cost of joining an item with some rows, and the expected rows."""
        size = self.sizes[number]
        rows, linked = _selected(before * size, known, self._facts[number])
        rows = max(rows, LEAST)
        if not linked:
            return size + rows + rows, rows  # a product is never better than a first item
        if self._parts[number]:
            return size + rows, rows
        return min(size + before, SPARQL.lookup_cost * before) + rows, rows


def _waits(item: Item) -> bool:
    if isinstance(item, PathPart):
        return not item.has_constant
    return isinstance(item, ServicePart)


def _selected(
    rows: float, known: Mapping[str, float], facts: Iterable[tuple[str, float]]
) -> tuple[float, bool]:
    """The number of pairs that agree on the shared variables; whether there are such variables."""
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
    """The number of distinct values by variable in joined rows: at most that of either side."""
    found = {name: there if there < rows else rows for name, there in known.items()}
    for name, own in facts:
        found[name] = min(own, found.get(name, own), rows)
    return found
