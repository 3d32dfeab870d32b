"""Groups: triple patterns, paths and other parts that are joined, with their filters.

Start at `plan_group`. The sequence of joins is chosen first, from estimates alone: greedily, once
from each part that can come first, and the cheapest of these. Then operators are made one after
the other: a join by looking rows up, by merging, by hashing, or with a seed, whichever should be
cheapest; columns are dropped when nothing needs them, and filters come as soon as they can.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from triplestore.ops.distinct import Distinct
from triplestore.ops.join import HashJoin, How
from triplestore.ops.merge import join
from triplestore.ops.operator import Operator
from triplestore.ops.probe import Probe
from triplestore.ops.rows import Project
from triplestore.sparql.evaluate.compatible import CompatibleJoin
from triplestore.sparql.evaluate.seeded import Seeded, empty_values, make_seed
from triplestore.sparql.pathplan import PathPart
from triplestore.sparql.planned import LEAST, NONE, Atom, Names, Part, Planned, unit

if TYPE_CHECKING:
    from triplestore.expr.tree import Expression
    from triplestore.sparql.planner import Planner

Item: TypeAlias = Atom | Part | PathPart

_LOOK_UP = 4.0  # what looking a row up costs, in rows that are read one after the other
_STARTS = 4  # that many of the smallest parts are tried as the first


@dataclass(frozen=True, slots=True)
class Condition:
    """A filter of a group, and the variables that it looks at."""

    expression: Expression
    names: Names


@dataclass(slots=True)
class _Guess:
    """What is expected after some joins."""

    rows: float = 1.0
    cost: float = 0.0
    distinct: dict[str, float] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)

    def with_item(self, item: Item) -> tuple[float, float]:
        """The cost and the rows that are expected when another item is joined."""
        size = item.size
        rows, linked = self.rows * size, False
        known = self.distinct
        for name in item.names:
            if name in known:
                linked = True
                there, own = known[name], item.distinct(name)
                most = there if there > own else own
                if most > 1.0:
                    rows /= most
        rows = max(rows, LEAST)
        work = size
        if linked and not isinstance(item, Part):
            work = min(work + self.rows, _LOOK_UP * self.rows)
        elif not linked and self.order:
            work += rows  # a product is never better than what it could be put off for
        return self.cost + rows + work, rows

    def after(self, number: int, item: Item) -> _Guess:
        """What is expected when another item is joined."""
        cost, rows = self.with_item(item)
        distinct = {name: min(known, rows) for name, known in self.distinct.items()}
        for name in item.names:
            own = item.distinct(name)
            distinct[name] = min(own, distinct.get(name, own), rows)
        return _Guess(rows, cost, distinct, [*self.order, number])


def choose_order(items: Sequence[Item]) -> list[int]:
    """The sequence in which the items should be joined.

    >>> choose_order([])
    []
    """
    if len(items) < 2:
        return list(range(len(items)))
    starts = [number for number, item in enumerate(items) if not _must_wait(item)]
    starts = sorted(starts or range(len(items)), key=lambda number: items[number].size)
    guesses = [_greedy(items, start) for start in starts[:_STARTS]]
    return min(guesses, key=lambda guess: guess.cost).order


def _must_wait(item: Item) -> bool:
    return isinstance(item, PathPart) and not item.has_constant


def _greedy(items: Sequence[Item], start: int) -> _Guess:
    guess = _Guess().after(start, items[start])
    left = [number for number in range(len(items)) if number != start]
    while left:
        linked = [n for n in left if not items[n].names.isdisjoint(guess.distinct)] or left
        ready = [n for n in linked if not _must_wait(items[n]) or _reached(items[n], guess)]
        best = min((guess.with_item(items[number])[0], number) for number in ready or linked)[1]
        guess = guess.after(best, items[best])
        left.remove(best)
    return guess


def _reached(item: Item, guess: _Guess) -> bool:
    return not item.names.isdisjoint(guess.distinct)


def plan_group(
    planner: Planner,
    items: Sequence[Item],
    conditions: Sequence[Condition],
    needed: Names | None,
    bag: bool,
    graph: int | str | None = None,
) -> Planned:
    """The plan of a group.

    needed  the variables that are wanted of it; None for all
    bag     False if it does not matter how often a solution comes
    """
    order = choose_order(items) if planner.options.order else list(range(len(items)))
    every = NONE.union(*(item.names for item in items)) if items else NONE
    wanted = every if needed is None else every & needed
    group = _Group(planner, list(conditions), wanted, bag, graph)
    group.left = [items[number] for number in order]
    while group.left:
        group.join(group.left.pop(0))
    return group.finished()


class _Group:
    """A group while it is made: what is planned so far, and what is left to do."""

    def __init__(
        self,
        planner: Planner,
        conditions: list[Condition],
        wanted: Names,
        bag: bool,
        graph: int | str | None,
    ) -> None:
        self.planner = planner
        self.graph = graph
        self.conditions = conditions
        self.wanted = wanted
        self.bag = bag
        self.left: list[Item] = []
        self.made: Planned | None = None

    def finished(self) -> Planned:
        """The plan, when everything is joined."""
        made = self.made or unit()
        for condition in self._sorted(self.conditions):
            made = self.planner.filtered(made, condition.expression, self.graph)
        return self._trimmed(made, self.wanted)

    def join(self, item: Item) -> None:
        """Join one more item, and apply the filters that can be."""
        keep = self._kept()
        self.made = self._joined(item, keep)
        later = NONE.union(*(other.names for other in self.left)) if self.left else NONE
        ready = [c for c in self.conditions if self._is_ready(c, later)]
        for condition in self._sorted(ready):
            self.conditions.remove(condition)
            self.made = self.planner.filtered(self.made, condition.expression, self.graph)
        self.made = self._trimmed(self.made, self._kept())

    def _sorted(self, conditions: Sequence[Condition]) -> list[Condition]:
        """Those with an EXISTS last."""
        return sorted(conditions, key=lambda c: self.planner.has_exists(c.expression))

    def _is_ready(self, condition: Condition, later: Names) -> bool:
        """True if no later join binds a variable that the condition looks at."""
        assert self.made is not None
        return not (condition.names & later - self.made.certain)

    def _kept(self) -> Names:
        """What is needed by what is left, and by whoever wanted the group."""
        names = set(self.wanted)
        for item in self.left:
            names |= item.names
        for condition in self.conditions:
            names |= condition.names
        return frozenset(names)

    def _trimmed(self, made: Planned, keep: Names) -> Planned:
        if keep.issuperset(made.names) or not self.planner.options.prune:
            return made
        kept = tuple(name for name in made.names if name in keep)
        return made.with_operator(Project(made.operator, kept))

    def _joined(self, item: Item, keep: Names) -> Planned:
        made = self.made
        if isinstance(item, PathPart):
            return item.joined(self.planner, made if made is not None else unit(), keep)
        if made is None:
            return self._first(item, keep)
        shared = [name for name in made.names if name in item.names]
        guess = _Guess(made.rows, 0.0, _known(made)).after(0, item)
        if any(name in made.maybe for name in shared) or _may_be_unbound(item, shared):
            return self._compatible(made, item, shared, keep, guess)
        operator: Operator
        if isinstance(item, Atom):
            operator = self._with_atom(made, item, shared, keep, guess)
            maybe = made.maybe
        else:
            operator = self._with_part(made, item, shared, guess)
            maybe = made.maybe | item.planned.maybe
        return Planned(operator, maybe.intersection(operator.names), guess.distinct)

    def _first(self, item: Item, keep: Names) -> Planned:
        if not isinstance(item, Atom):
            assert isinstance(item, Part)
            return item.planned
        # Sorted by what the next join is on, if there is one.
        order = None
        free = [name for name in item.pattern if isinstance(name, str)]
        if len(free) > 1 and self.left and not any(isinstance(t, int) for t in item.pattern):
            following = [name for name in free if name in self.left[0].names]
            if following and not self._is_virtual(item):
                order = item.place_of(following[0])
        operator = item.scan(keep, order)
        sizes = {name: item.distinct(name) for name in item.names}
        if self._is_repetitive(item, operator.names, keep):
            return Planned(Distinct(operator), NONE, sizes)
        return Planned(operator, NONE, sizes)

    def _is_repetitive(self, item: Atom, names: tuple[str, ...], keep: Names) -> bool:
        """True if dropping columns leaves many rows alike that may as well be one."""
        if self.bag or not self.planner.options.semijoin or item.names <= keep or not names:
            return False
        different = 1.0
        for name in names:
            different *= item.distinct(name)
        return different * 2 < item.size

    def _is_virtual(self, item: Atom) -> bool:
        return len(item.pattern) > 2

    def _with_atom(
        self, made: Planned, atom: Atom, shared: list[str], keep: Names, guess: _Guess
    ) -> Operator:
        left = made.operator
        tests_only = not (atom.names - set(shared)) or (
            not self.bag and self.planner.options.semijoin and not (atom.names - set(shared)) & keep
        )
        if shared and _LOOK_UP * made.rows <= atom.size + made.rows:
            return Probe(
                left,
                atom.relation,
                atom.probe_pattern(left.names, keep),
                where=atom.where,
                how="semi" if tests_only and atom.names - set(shared) else "inner",
                name=atom.label,
                estimate=guess.rows,
            )
        order = None
        if shared and not any(isinstance(term, int) for term in atom.pattern):
            by = left.order[0] if left.order and left.order[0] in shared else shared[0]
            order = None if self._is_virtual(atom) else atom.place_of(by)
        right = atom.scan(keep.union(shared), order)
        how: How = "semi" if tests_only and shared else "inner"
        return join(left, right, shared, how, estimate=guess.rows)

    def _with_part(self, made: Planned, part: Part, shared: list[str], guess: _Guess) -> Operator:
        if self.is_worth_a_seed(made, part, shared):
            assert part.again is not None
            return seeded_join(made, part, shared, guess.rows)
        left, right = made.operator, part.planned.operator
        return join(left, right, shared, "inner", estimate=guess.rows)

    def is_worth_a_seed(self, made: Planned, part: Part, shared: list[str]) -> bool:
        """True if a part should be planned for the values that are there."""
        return (
            self.planner.options.seeds
            and part.again is not None
            and bool(shared)
            and made.rows * self.planner.options.seed_from < part.size
        )

    def _compatible(
        self, made: Planned, item: Item, shared: list[str], keep: Names, guess: _Guess
    ) -> Planned:
        if isinstance(item, Atom):
            right = Planned(item.scan(keep.union(shared)))
        else:
            assert isinstance(item, Part)
            right = item.planned
        doubtful = tuple(n for n in shared if n in made.maybe or n in right.maybe)
        operator = CompatibleJoin(made.operator, right.operator, doubtful, estimate=guess.rows)
        maybe = (made.maybe - set(right.names)) | (right.maybe - set(made.names))
        maybe |= made.maybe & right.maybe
        return Planned(operator, maybe, guess.distinct)


def _known(made: Planned) -> dict[str, float]:
    return {name: min(made.rows, made.distinct.get(name, made.rows)) for name in made.names}


def _may_be_unbound(item: Item, shared: list[str]) -> bool:
    return isinstance(item, Part) and any(name in item.planned.maybe for name in shared)


def seeded_join(made: Planned, part: Part, shared: list[str], rows: float) -> Seeded:
    """The inner join of a plan with a part that is planned for the values of the plan's rows."""
    assert part.again is not None
    seed = make_seed(tuple(shared), min(made.rows, 1000.0))
    block = empty_values(made.names, made.rows)
    right = part.again(seed, frozenset(seed.names)).operator
    return Seeded(made.operator, block, seed, HashJoin(block, right, shared, estimate=rows))
