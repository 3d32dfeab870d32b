"""The data of planning: what is wanted of a pattern, its plan, atoms of triple patterns.

Start at `Wanted`, `Planned` and `Atom`. Always true: columns of a plan are ids, named as
the variables; those not in `maybe` are bound in every row; estimates are never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, TypeAlias

import numpy as np

from triplestore.data_classes import data_class
from triplestore.operators.frame import ID, Frame, empty_frame
from triplestore.operators.leaves import Pattern, Scan, Values
from triplestore.operators.operator import Operator, Text
from triplestore.operators.row_operators import Project
from triplestore.sparql.evaluate.triple_terms import TripleTerms
from triplestore.sparql.thresholds import SPARQL

Names = frozenset[str]
NONE: Names = frozenset()
LEAST = 0.01
ALL = float("inf")

Where: TypeAlias = int | str | None
"""The active graph: None for the default one, an id, or the column that has the graph."""


@data_class
class Wanted:
    """What is wanted of a pattern.

    graph  the active graph
    names  the variables; None for all
    bag    False if duplicate solutions do not matter
    seed   values of some certain variables; solutions with other values may be left out
    first  the number of solutions after which reading stops; infinite if all are read
    """

    graph: Where = None
    names: Names | None = None
    bag: bool = True
    seed: Values | None = None
    first: float = ALL

    def with_names(self, names: Names | None) -> Wanted:
        """The same for other variables."""
        return Wanted(self.graph, names, self.bag, self.seed, self.first)

    def with_seed(self, seed: Values | None) -> Wanted:
        """The same with another seed, for a part that is read whole."""
        return Wanted(self.graph, self.names, self.bag, seed)

    @property
    def graph_column(self) -> tuple[str, ...]:
        """The column of the active graph, if there is one; every plan keeps it."""
        return (self.graph,) if isinstance(self.graph, str) else ()


ANYTHING = Wanted()
"""All solutions, in the default graph."""


@data_class(frozen=False)
class Planned:
    """A plan of a pattern.

    maybe     columns that may be unbound
    distinct  approximate number of distinct values by column; by default that of rows
    """

    operator: Operator
    maybe: Names = NONE
    distinct: Mapping[str, float] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return self.operator.names

    @property
    def rows(self) -> float:
        """The expected number of rows."""
        rows = self.operator.estimate
        return rows if rows > LEAST else LEAST

    @property
    def certain(self) -> Names:
        """The columns that every row binds."""
        return frozenset(self.operator.names) - self.maybe

    def with_operator(self, operator: Operator) -> Planned:
        """The same with another operator, which has some of the columns."""
        return Planned(operator, self.maybe.intersection(operator.names), self.distinct)


def unit() -> Planned:
    """One row without columns."""
    return Planned(Values(Frame((), (), 1, (), True)))


def nothing(names: tuple[str, ...]) -> Planned:
    """A plan without rows, with these columns."""
    return Planned(Values(empty_frame(names, (ID,) * len(names), (), True)))


def trimmed(made: Planned, wanted: Wanted) -> Planned:
    """A plan without unwanted columns; the planner's own columns stay."""
    needed = wanted.names
    if needed is None or needed.issuperset(made.names):
        return made
    kept = tuple(name for name in made.names if name in needed or name[0] == " ")
    if kept == made.names:
        return made
    return made.with_operator(Project(made.operator, kept))


@data_class(frozen=False)
class Atom:
    """A triple pattern as a pattern of a relation: names of variables and ids.

    size       number of rows with these ids: exact for relations of triples
    names      the variables
    constants  the number of ids
    """

    relation: Any
    pattern: tuple[str | int, ...]
    where: int
    label: Text
    size: float
    names: Names
    constants: int
    _distinct: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, relation: Any, pattern: tuple[str | int, ...], where: int, label: Text) -> Atom:
        """The atom, with its size looked up."""
        given = [place for place, term in enumerate(pattern) if isinstance(term, int)]
        size = _size_of(relation, pattern, where, given)
        names = frozenset([term for term in pattern if isinstance(term, str)])
        return cls(relation, pattern, where, label, size, names, len(given))

    def size_of(self, pattern: tuple[str | int, ...]) -> float:
        """The size with other ids in the same places."""
        given = [place for place, term in enumerate(pattern) if isinstance(term, int)]
        return _size_of(self.relation, pattern, self.where, given)

    def distinct(self, name: str) -> float:
        """The approximate number of distinct values of a variable."""
        found = self._distinct.get(name)
        if found is None:
            found = self._distinct[name] = self._count_distinct(name)
        return found

    def _count_distinct(self, name: str) -> float:
        if self.constants == len(self.pattern) - 1:
            return self.size  # the other column is distinct in each row
        if self.size <= SPARQL.few_rows:
            return max(1.0, self.size)
        known = self.relation.distinct_estimate(self.pattern.index(name))
        return float(max(1, min(known, self.size)))

    def scan(self, keep: Names, order: int | None = None) -> Scan:
        """The scan of its rows, with some columns."""
        if order is None and len(self.pattern) > 2 and len(self.names) == len(self.pattern):
            # All predicates: one after the other, not merged by subject. Triple terms are sorted.
            order = 0 if isinstance(self.relation, TripleTerms) else 1
        pattern = self._kept_of(keep)
        return Scan(
            self.relation,
            pattern,
            where=self.where,
            order=order,
            name=self.label,
            estimate=self.size,
        )

    def probe_pattern(self, left: tuple[str, ...], keep: Names) -> Pattern:
        """The pattern for a probe from a plan with the columns `left`."""
        return self._kept_of(keep.union(left))

    def _kept_of(self, keep: Names) -> Pattern:
        """The pattern, with None for unwanted variables that occur once."""
        if self.names <= keep:
            return self.pattern
        pattern = self.pattern
        return [
            term if isinstance(term, int) or term in keep or pattern.count(term) > 1 else None
            for term in pattern
        ]

    def place_of(self, name: str) -> int:
        """The first column of the relation that has a variable."""
        return self.pattern.index(name)


def _size_of(relation: Any, pattern: tuple[str | int, ...], where: int, given: list[int]) -> float:
    """The number of rows of a pattern with ids in the places `given`, or a few more if a relation
    has several runs."""
    if not given:
        size = float(relation.count(where))
    elif len(given) == len(pattern):
        size = 1.0
    elif len(given) == 1:
        size = float(relation.rows_with(given[0], pattern[given[0]]))
    else:
        values = [np.array([pattern[place]], np.uint32) for place in given]
        size = float(relation.fanout(given, values)[0])
    return max(size, LEAST)


@data_class(frozen=False)
class PlannedPart:
    """A part of a group with a separate plan.

    again  plans it again with a seed for some of its certain columns; None if that is never cheaper
    """

    planned: Planned
    again: Callable[[Any, Names], Planned] | None = None

    @property
    def names(self) -> Names:
        """The variables."""
        return frozenset(self.planned.names)

    @property
    def size(self) -> float:
        """The expected number of rows."""
        return self.planned.rows

    def distinct(self, name: str) -> float:
        """The approximate number of distinct values of a variable."""
        return min(self.size, self.planned.distinct.get(name, self.size))
