"""Groups: triple patterns, paths and other parts that are joined, with their filters.

Start at `plan_group`. The order of joins is chosen first (`join_order`). Then operators are made
one after the other: a join by look-ups, by merging, by hashing, or with a seed, whichever should be
cheapest. Columns are dropped when they are no longer needed, and filters are applied as soon as
possible.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from triplestore.data_classes import data_class
from triplestore.expressions.tree import Call, Exists, Expression, variables_of
from triplestore.operators.context import current
from triplestore.operators.distinct import Distinct
from triplestore.operators.joins.hash_join import HashJoin, How
from triplestore.operators.joins.merge_join import join
from triplestore.operators.joins.probe import Probe
from triplestore.operators.operator import Operator
from triplestore.operators.row_operators import Project
from triplestore.sparql.algebra.variables import conjunction
from triplestore.sparql.evaluate.compatible import CompatibleJoin
from triplestore.sparql.evaluate.cyclic import CycleLink, Cyclic, Rest
from triplestore.sparql.evaluate.seeded import Seeded, empty_values, make_seed
from triplestore.sparql.plan.join_order import (
    Item,
    JoinStep,
    after,
    choose_steps,
    expected,
    steps_as_written,
)
from triplestore.sparql.plan.path_plans import PathPart
from triplestore.sparql.plan.planned import NONE, Atom, Names, Planned, PlannedPart, Wanted, unit
from triplestore.sparql.plan.planner import Planner
from triplestore.sparql.plan.services import ServicePart
from triplestore.sparql.thresholds import SPARQL

_WIDE = 100  # maximum number of columns that are not charged for each operator
_COLUMN_BYTES = 24


@data_class
class Condition:
    """A filter of a group, and the variables that it uses."""

    expression: Expression
    names: Names


def plan_group(
    planner: Planner,
    items: Sequence[Item],
    conditions: Sequence[Condition],
    needed: Names | None,
    asked: Wanted,
) -> Planned:
    """The plan of a group.

    needed  the wanted variables; None for all
    """
    steps = choose_steps(items) if planner.options.order else steps_as_written(items)
    every = NONE.union(*[item.names for item in items])
    wanted = every if needed is None else every & needed
    ordered = [items[step.number] for step in steps]
    group = _GroupPlan(planner, list(conditions), wanted, asked, _NamesBehind(ordered))
    if steps and asked.first < steps[-1].rows:
        # A filter passes half of the rows, as its operator estimates.
        group.share = min(1.0, asked.first * 2.0 ** len(conditions) / steps[-1].rows)
    place = 0
    while place < len(steps):
        planner.check()
        stop = place + 1 + group.closing(ordered[place:])
        if stop > place + 1:
            group.join_cycle(ordered[place:stop], steps[place - 1 : stop])
        else:
            following = ordered[stop] if stop < len(steps) else None
            before = steps[place - 1] if place else None
            group.join(ordered[place], steps[place], before, following)
        place = stop
    return group.finished()


class _NamesBehind:
    """The names of the items behind the next one, for each item; true if there is a next one.

    They are made one after the other: all of them together would take quadratic memory.
    """

    __slots__ = ("_counts", "_items", "_next", "_top")

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items
        self._next = 0
        self._counts: dict[str, int] = {}
        for item in items[1:]:
            for name in item.names:
                self._counts[name] = self._counts.get(name, 0) + 1
        self._top: Names | None = None

    def __len__(self) -> int:
        return len(self._items) - self._next

    def top(self) -> Names:
        """The names of the items behind the next one."""
        if self._top is None:
            self._top = frozenset(self._counts)
        return self._top

    def pop(self) -> Names:
        """The same; then move to the next item."""
        found = self.top()
        self._next += 1
        self._top = None
        for name in self._items[self._next].names if self else ():
            self._counts[name] -= 1
            if not self._counts[name]:
                del self._counts[name]
        return found


class _GroupPlan:
    """A group while it is planned: the plan so far, and the remaining items."""

    def __init__(
        self,
        planner: Planner,
        conditions: list[Condition],
        wanted: Names,
        asked: Wanted,
        later: _NamesBehind,
    ) -> None:
        self.planner = planner
        self.graph = asked.graph
        self.share = 1.0  # of the rows of each join, those read before reading stops
        self.conditions = conditions
        self.wanted = wanted
        self.bag = asked.bag
        self.later = later  # the names behind each remaining item
        self.distinct: Mapping[str, float] = {}  # as estimated when the order was chosen
        self.made: Planned | None = None

    def finished(self) -> Planned:
        """The plan, after all joins."""
        made = self.made or unit()
        for expression in _together([c.expression for c in self._sorted(self.conditions)]):
            made = self.planner.filtered(made, expression, self.graph)
        return self._trimmed(made, self.wanted)

    def join(
        self, item: Item, step: JoinStep, before: JoinStep | None, following: Item | None
    ) -> None:
        """Join one more item, and apply the filters that are ready.

        step, before  the estimates with it and without it, as if there were no filters
        """
        later = self.later.pop()
        self.distinct = after(step, self.distinct, item)
        keep = self._kept(later)
        self.made = self._joined(item, keep, step, before, following)
        if len(self.made.names) > _WIDE:  # each operator has all columns of those below
            current().charge(_COLUMN_BYTES * len(self.made.names))
        self._filter(later, keep)

    def _filter(self, later: Names, keep: Names) -> None:
        """Apply the filters that use no variable bound later, and drop columns.

        keep  the variables that are needed after this join
        """
        assert self.made is not None
        ready: list[Condition] = []
        if self.conditions:
            unbound = later - self.made.certain  # a later join binds these
            ready = [c for c in self.conditions if c.names.isdisjoint(unbound)]
        if ready:
            if self.later:  # tests row by row wait for the last join
                ready = [c for c in ready if not self._is_asked_one_by_one(c)]
            taken = set(map(id, ready))  # comparing equal ones takes long
            self.conditions = [c for c in self.conditions if id(c) not in taken]
            for expression in _together([c.expression for c in self._sorted(ready)]):
                self.made = self.planner.filtered(self.made, expression, self.graph)
            keep = self._kept(later)
        if self.made.rows >= SPARQL.pruned_rows or len(self.made.names) > SPARQL.few_columns:
            self.made = self._trimmed(self.made, keep)

    def closing(self, items: Sequence[Item]) -> int:
        """The number of items behind the first one that only test the variable that it binds.

        0 if closing the cycle at once is not worth it: then items are joined one after the other.
        """
        made, options = self.made, self.planner.options
        if made is None or not options.cyclic or made.rows < options.cyclic_rows:
            return 0
        known = made.certain
        new = items[0].names - known
        if len(new) != 1 or not new.isdisjoint(made.names):
            return 0
        linked = 0
        for item in items:
            one = isinstance(item, Atom) and len(item.pattern) == 2 and not item.constants
            if not (one and len(item.names) == 2 and item.names - known == new):
                break
            linked += 1
        return max(linked - 1, 0)

    def join_cycle(self, items: Sequence[Item], steps: Sequence[JoinStep]) -> None:
        """Join items that all link the plan so far with one new variable.

        steps  the step before the first item, and the steps of the items
        """
        left, held, wanted = self.made, self.conditions, self.wanted
        assert left is not None
        rest = Rest(left.operator)
        self.made = Planned(rest, left.maybe, left.distinct)
        self.conditions = []  # while there are two plans
        self.wanted = wanted.union(*(condition.names for condition in held))
        (name,) = items[0].names - left.certain
        links = []
        for item, before, step in zip(items, steps, steps[1:], strict=False):
            assert isinstance(item, Atom)
            later = self.later.top()
            self.join(item, step, before, None)
            (known,) = item.names - {name}
            links.append(
                CycleLink(item.relation, item.where, known, item.place_of(known), item.label)
            )
        self.conditions, self.wanted = held, wanted
        joins = self.made
        options = self.planner.options
        operator = Cyclic(left.operator, rest, joins.operator, name, links, options.cyclic_from)
        self.made = joins.with_operator(operator)
        self._filter(later, self._kept(later))

    def _sorted(self, conditions: list[Condition]) -> list[Condition]:
        """Conditions with an EXISTS come last, and of these the ones tested row by row."""
        if len(conditions) < 2:
            return conditions.copy()
        return sorted(
            conditions,
            key=lambda c: self.planner.has_exists(c.expression) + self._is_asked_one_by_one(c),
        )

    def _is_asked_one_by_one(self, condition: Condition) -> bool:
        """True for an EXISTS that is tested row by row."""
        if self.made is None:
            return False
        names = frozenset(self.made.names)
        if self.later:
            names |= self.later.top()
        return self.planner.asks_one_by_one(condition.expression, names)

    def _kept(self, later: Names) -> Names:
        """The variables that the remaining items, the filters and the caller need."""
        keep = self.wanted | later
        if self.conditions:
            keep = keep.union(*[condition.names for condition in self.conditions])
        return keep

    def _trimmed(self, made: Planned, keep: Names) -> Planned:
        if keep.issuperset(made.names) or not self.planner.options.prune:
            return made
        kept = tuple(name for name in made.names if name in keep)
        return made.with_operator(Project(made.operator, kept))

    def _joined(
        self,
        item: Item,
        keep: Names,
        step: JoinStep,
        before: JoinStep | None,
        following: Item | None,
    ) -> Planned:
        made = self.made
        if isinstance(item, PathPart | ServicePart):
            return item.joined(self.planner, made if made is not None else unit(), keep)
        if made is None:
            return self._first(item, keep, following)
        rows, distinct = step.rows, self.distinct
        if before is None or before.rows != made.rows:  # there was a filter, or a path
            rows, distinct = expected(made.rows, _known(made), item)
        shared = [name for name in made.names if name in item.names]
        if not made.maybe.isdisjoint(shared) or _may_be_unbound(item, shared):
            return self._compatible(made, item, shared, keep, rows, distinct)
        operator: Operator
        if isinstance(item, Atom):
            operator = self._with_atom(made, item, shared, keep, rows)
            maybe = made.maybe
        else:
            operator = self._with_part(made, item, shared, rows)
            maybe = made.maybe | item.planned.maybe
        return Planned(operator, maybe.intersection(operator.names), distinct)

    def _first(self, item: Item, keep: Names, following: Item | None) -> Planned:
        if not isinstance(item, Atom):
            assert isinstance(item, PlannedPart)
            return item.planned
        # Sorted by the columns of the next join, if there is one.
        order = None
        if following is not None and len(item.names) > 1 and not item.constants:
            linked = [name for name in item.pattern if name in following.names]
            if linked and not self._is_virtual(item):
                order = item.place_of(str(linked[0]))
        operator = item.scan(keep, order)
        if self._is_repetitive(item, operator.names, keep):
            return Planned(Distinct(operator), NONE, self.distinct)
        return Planned(operator, NONE, self.distinct)

    def _is_repetitive(self, item: Atom, names: tuple[str, ...], keep: Names) -> bool:
        """True if dropping columns leaves many duplicates that may be removed."""
        if self.bag or not self.planner.options.semijoin or item.names <= keep or not names:
            return False
        different = 1.0
        for name in names:
            different *= item.distinct(name)
        return different * 2 < item.size

    def _is_virtual(self, item: Atom) -> bool:
        return len(item.pattern) > 2

    def _with_atom(
        self, made: Planned, atom: Atom, shared: list[str], keep: Names, rows: float
    ) -> Operator:
        left = made.operator
        new = atom.names.difference(shared)
        tests_only = not new or (
            not self.bag and self.planner.options.semijoin and new.isdisjoint(keep)
        )
        if made.rows <= SPARQL.few_rows:
            looked_up = bool(shared) or atom.constants > 0
        else:
            read = self._rows_read(made)
            looked_up = bool(shared) and SPARQL.lookup_cost * read <= atom.size + read
        if looked_up:
            return Probe(
                left,
                atom.relation,
                atom.probe_pattern(left.names, keep),
                where=atom.where,
                how="semi" if tests_only and new else "inner",
                name=atom.label,
                estimate=rows,
            )
        order = None
        if shared and not atom.constants:
            by = left.order[0] if left.order and left.order[0] in shared else shared[0]
            order = None if self._is_virtual(atom) else atom.place_of(by)
        right = atom.scan(keep.union(shared), order)
        how: How = "semi" if tests_only and shared else "inner"
        return join(left, right, shared, how, estimate=rows)

    def _rows_read(self, made: Planned) -> float:
        """The expected number of rows of the plan so far that are read."""
        if self.share == 1.0:
            return made.rows
        return max(min(made.rows, SPARQL.first_block_rows), made.rows * self.share)

    def _with_part(
        self, made: Planned, part: PlannedPart, shared: list[str], rows: float
    ) -> Operator:
        if self.is_worth_a_seed(made, part, shared):
            assert part.again is not None
            return seeded_join(made, part, shared, rows, self._rows_read(made))
        left, right = made.operator, part.planned.operator
        return join(left, right, shared, "inner", estimate=rows)

    def is_worth_a_seed(self, made: Planned, part: PlannedPart, shared: list[str]) -> bool:
        """True if a part should be planned for the values of the plan so far."""
        return (
            self.planner.options.seeds
            and part.again is not None
            and bool(shared)
            and self._rows_read(made) * self.planner.options.seed_from < part.size
        )

    def _compatible(
        self,
        made: Planned,
        item: Item,
        shared: list[str],
        keep: Names,
        rows: float,
        distinct: Mapping[str, float],
    ) -> Planned:
        if isinstance(item, Atom):
            right = Planned(item.scan(keep.union(shared)))
        else:
            assert isinstance(item, PlannedPart)
            right = item.planned
        doubtful = tuple(n for n in shared if n in made.maybe or n in right.maybe)
        operator = CompatibleJoin(made.operator, right.operator, doubtful, estimate=rows)
        maybe = (made.maybe - set(right.names)) | (right.maybe - set(made.names))
        maybe |= made.maybe & right.maybe
        return Planned(operator, maybe, distinct)


_COMPARING = ("=", "!=", "<", ">", "<=", ">=", "&&", "||", "!")
_CHEAP = frozenset((*_COMPARING, "+", "-", "*", "/", "NEG", "POS"))


def _together(conditions: list[Expression]) -> list[Expression]:
    """Comparisons of the same variables as one condition, so that these are decoded once.

    Other conditions stay separate, so that expensive ones are tested on fewer rows.
    """
    if len(conditions) < 2:
        return conditions
    found: dict[Hashable, list[Expression]] = {}
    for number, condition in enumerate(conditions):
        current().check()
        cheap = isinstance(condition, Call) and _is_cheap(condition)
        key = frozenset(v.name for v in variables_of(condition)) if cheap else number
        found.setdefault(key, []).append(condition)
    return [conjunction(parts) for parts in found.values()]


def _is_cheap(expression: Expression) -> bool:
    if isinstance(expression, Call):
        return expression.function in _CHEAP and all(map(_is_cheap, expression.arguments))
    return not isinstance(expression, Exists)


def _known(made: Planned) -> dict[str, float]:
    return {name: min(made.rows, made.distinct.get(name, made.rows)) for name in made.names}


def _may_be_unbound(item: Item, shared: list[str]) -> bool:
    return isinstance(item, PlannedPart) and any(name in item.planned.maybe for name in shared)


def seeded_join(
    made: Planned, part: PlannedPart, shared: list[str], rows: float, read: float
) -> Seeded:
    """The inner join of a plan with a part planned for the values of the plan's rows.

    read  the expected number of rows of the plan that are read
    """
    assert part.again is not None
    seed = make_seed(tuple(shared), min(read, 1000.0))
    block = empty_values(made.names, read)
    right = part.again(seed, frozenset(seed.names)).operator
    return Seeded(made.operator, block, seed, HashJoin(block, right, shared, estimate=rows))
