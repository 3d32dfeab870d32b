"""GROUP BY with SPARQL's aggregates.

Start at `Grouped`. Plain counts are added up block by block and need memory per group only; other
aggregates need all rows of a group (see `expressions.aggregates`), which are kept. Always
true: groups come in the order of their first rows; without keys there is one group, even without
rows; an aggregate without a value leaves its variable unbound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from triplestore.errors import UsageError
from triplestore.expressions.aggregates import aggregate
from triplestore.expressions.evaluate_columns import Evaluator
from triplestore.expressions.functions import AGGREGATES
from triplestore.expressions.library.numbers import INTEGER
from triplestore.expressions.query_terms import U32, QueryTerms
from triplestore.expressions.tree import Expression, Variable, variables_of
from triplestore.expressions.vectors import (
    Coded,
    Ids,
    Numbers,
    Vector,
    coded,
    ids_of,
    known,
    listed_once,
    take,
)
from triplestore.operators.context import Context
from triplestore.operators.distinct import changes
from triplestore.operators.frame import ID, Array, Frame
from triplestore.operators.group_table import GroupTable
from triplestore.operators.leaves import slices
from triplestore.operators.operator import Account, Blocks, Operator, pack_last, variables
from triplestore.operators.row_keys import KeyCoder
from triplestore.sparql.algebra.nodes import Aggregate, is_hidden
from triplestore.sparql.evaluate.extremes import extreme_of_groups, least_keys
from triplestore.sparql.evaluate.pieces import vector_of
from triplestore.terms.term_keys import key_of, term_of

Wanted = tuple[str, Aggregate, Evaluator | None]
"""The column of an aggregate, the aggregate, and the evaluator of its argument."""


_FEW_ROWS = 1024  # minimum number of rows of which equal values are computed once
_FEW_TIMES = 4  # maximum number of groups per row of a block for counting with one bincount


class Grouped(Operator):
    """The distinct values of the columns `by`, each with its aggregates.

    grouping  False if there is always exactly one group
    """

    kind: ClassVar[str] = "group"

    def __init__(
        self,
        child: Operator,
        by: tuple[str, ...],
        aggregates: Sequence[Wanted],
        terms: QueryTerms,
        grouping: bool,
        custom: Mapping[str, Callable[[], Any]] | None = None,
    ) -> None:
        names = (*by, *(name for name, _, _ in aggregates))
        for _, wanted, _ in aggregates:
            if wanted.function not in AGGREGATES and wanted.function not in (custom or {}):
                raise UsageError(f"unknown aggregate <{wanted.function}>")
        super().__init__(
            names,
            (ID,) * len(names),
            (child,),
            unique=True,
            estimate=max(1.0, child.estimate / 4) if by else 1.0,
        )
        self.child = child
        self.by = by
        self.grouping = grouping
        self._custom = custom or {}
        self._wanted = tuple(aggregates)
        self._terms = terms
        self._places = [child.names.index(name) for name in by]
        # The planner's own columns begin with a space.
        self._shown = [
            place
            for place, name in enumerate(child.names)
            if name[0] != " " and not is_hidden(Variable(name))
        ]

    def detail(self) -> str:
        """The key and the aggregates."""
        functions = ", ".join(f"{it.function}" for _, it, _ in self._wanted)
        return f"{variables(self.by)} {functions}".strip()

    def _open(self, context: Context) -> Blocks:
        account = self._account(context)
        if all(it.function == "count" and not it.distinct for _, it, _ in self._wanted):
            frame = self._counted(context, account)
        else:
            frame = self._aggregated(context, account)
        if frame.rows <= context.block_rows:
            return (frame,) if frame.rows else ()
        return slices(frame, context.block_rows)

    def _groups(self, account: Account) -> _Groups:
        known = self.child.order[: len(self.by)]
        is_sorted = bool(self.by) and set(known) == set(self.by)
        return (_SortedGroups if is_sorted else _Groups)(self._places, account)

    # --- counts ---------------------------------------------------------------------------------

    def _counted(self, context: Context, account: Account) -> Frame:
        groups = self._groups(account)
        counts = [_Counts(account) for _ in self._wanted]
        for block in self._read(context, self.child):
            numbers = groups.add(block)
            size = len(groups)
            for place, (_, _, argument) in enumerate(self._wanted):
                has = None if argument is None else known(argument.evaluate(block))
                counts[place].add(numbers if has is None else numbers[has], size)
        size = self._size(groups)
        vectors: list[Vector] = [Numbers(INTEGER, count.of(size)) for count in counts]
        return self._frame(groups, vectors, size)

    # --- other aggregates -----------------------------------------------------------------------

    def _aggregated(self, context: Context, account: Account) -> Frame:
        rows = self._collect(context, self.child)
        account.charge(16 * rows.rows)
        groups = self._groups(account)
        numbers = groups.add(rows).astype(np.int64)
        size = self._size(groups)
        vectors = []
        known_values: dict[Expression, Vector] = {}
        for _, wanted, argument in self._wanted:
            context.check()
            vector = self._compute(rows, wanted, argument, numbers, size, account, known_values)
            vectors.append(vector)
        return self._frame(groups, vectors, size)

    def _compute(
        self,
        rows: Frame,
        wanted: Aggregate,
        argument: Evaluator | None,
        numbers: Array,
        size: int,
        account: Account,
        known_values: dict[Expression, Vector],
    ) -> Vector:
        if argument is None:
            if wanted.distinct:
                shown = [rows.columns[place] for place in self._shown]
                numbers = _once(shown, numbers, account)
            return Numbers(INTEGER, np.bincount(numbers, minlength=size))
        if size == 1 and wanted.function in ("sum", "avg") and not wanted.distinct:
            repeated = _each_value_once(argument, rows)
            if repeated is not None:
                values, times = repeated
                vector = vector_of(argument, values, self._terms, account)
                every = np.zeros(values.rows, np.int64)
                return aggregate(wanted.function, vector, every, 1, self._terms, times=times)
        if argument.expression in known_values:
            vector = known_values[argument.expression]
        else:
            vector = vector_of(argument, rows, self._terms, account)
            if argument.is_repeatable:
                known_values[argument.expression] = vector
        if wanted.function == "count" and isinstance(vector, Ids):
            has = vector.ids != 0
            numbers, ids = numbers[has], vector.ids[has]
            if wanted.distinct:
                numbers = _once([ids], numbers, account)
            return Numbers(INTEGER, np.bincount(numbers, minlength=size))
        if wanted.function in self._custom:
            make = self._custom[wanted.function]
            return _accumulated(make, wanted, vector, numbers, size, self._terms)
        if wanted.function in ("min", "max"):
            # In SPARQL's order an error is the least; a group with such a row has no minimum.
            has = known(vector)
            if has.all():
                return self._extreme(wanted, vector, numbers, size, account)
            proper = take(vector, has)
            found = self._extreme(wanted, proper, numbers[has], size, account)
            return _without(found, np.unique(numbers[~has]), self._terms)
        if wanted.function == "sample" and isinstance(vector, Ids):
            account.charge(16 * len(vector.ids))
            has = vector.ids != 0
            ids, numbers = (vector.ids, numbers) if has.all() else (vector.ids[has], numbers[has])
            return Ids(least_keys(ids, numbers, size, self._terms))
        return aggregate(
            wanted.function,
            vector,
            numbers,
            size,
            self._terms,
            distinct=wanted.distinct,
            separator=wanted.separator,
        )

    def _extreme(
        self, wanted: Aggregate, vector: Vector, numbers: Array, size: int, account: Account
    ) -> Vector:
        if not isinstance(vector, Ids):
            return aggregate(wanted.function, vector, numbers, size, self._terms)
        account.charge(16 * len(vector.ids))
        greatest = wanted.function == "max"
        return Ids(extreme_of_groups(vector.ids, numbers, size, self._terms, greatest, account))

    def _size(self, groups: _Groups) -> int:
        return len(groups) if self.grouping else 1

    def _frame(self, groups: _Groups, vectors: Sequence[Vector], size: int) -> Frame:
        columns = [*groups.keys(), *(ids_of(vector, self._terms) for vector in vectors)]
        return Frame(self.names, columns, size, (), True)


class _Counts:
    """The number of rows of each group, in an array with room for more groups."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._counts = np.zeros(0, np.int64)

    def add(self, numbers: Array, size: int) -> None:
        """Count the groups of some rows; there are `size` groups now."""
        if size > len(self._counts):
            self._grow(max(size, len(self._counts) * 3 // 2))
        if size <= _FEW_TIMES * len(numbers):
            self._counts[:size] += np.bincount(numbers, minlength=size)
        else:  # of many groups, only those that occur
            np.add.at(self._counts, numbers, 1)

    def of(self, size: int) -> Array:
        """The counts of the first `size` groups."""
        return self._counts[:size] if size <= len(self._counts) else np.zeros(size, np.int64)

    def _grow(self, room: int) -> None:
        self._account.charge(8 * room)  # the old array exists while it is copied
        longer = np.zeros(room, np.int64)
        longer[: len(self._counts)] = self._counts
        self._account.release(self._counts.nbytes)
        self._counts = longer


def _each_value_once(argument: Evaluator, rows: Frame) -> tuple[Frame, Array] | None:
    """The values of the only variable of an expression, and how often each occurs.

    None if the expression has several variables or another value each time, or if most rows have
    different values.
    """
    names = {variable.name for variable in variables_of(argument.expression)}
    if len(names) != 1 or rows.rows <= _FEW_ROWS or not argument.is_repeatable:
        return None
    (name,) = names
    if name not in rows.names or rows[name].dtype != ID:
        return None
    ids = rows[name]
    least = ids.min()
    if int(ids.max()) - int(least) > 2 * rows.rows:
        return None
    times = np.bincount(ids - least)
    found = np.flatnonzero(times)
    if 2 * len(found) > rows.rows:
        return None
    return Frame((name,), [found.astype(ID) + least], len(found)), times[found]


def _accumulated(
    make: Callable[[], Any],
    wanted: Aggregate,
    vector: Vector,
    numbers: Array,
    size: int,
    terms: QueryTerms,
) -> Vector:
    """The results of the caller's own aggregate."""
    made = listed_once(coded(vector, terms))
    found = [make() for _ in range(size)]
    known_terms = [None if key is None else term_of(key) for key in made.keys]
    pairs = zip(numbers.tolist(), made.codes.tolist(), strict=True)
    for group, code in dict.fromkeys(pairs) if wanted.distinct else pairs:
        if known_terms[code] is not None:
            found[group].accumulate(known_terms[code])
    results = [one.finish() for one in found]
    return Coded([None if r is None else key_of(r) for r in results], np.arange(size))


def _without(vector: Vector, groups: Array, terms: QueryTerms) -> Vector:
    """The results of a vector, unbound for some groups."""
    ids = ids_of(vector, terms).copy()
    ids[groups] = 0
    return Ids(ids)


class _Groups:
    """Numbers the distinct keys of rows in the order of their first appearance."""

    def __init__(self, places: Sequence[int], account: Account) -> None:
        self._places = places
        self._coder = KeyCoder([ID] * len(places), account)
        self._table = GroupTable(account)
        self._account = account
        self._firsts: list[list[Array]] = []  # of each block with new groups, by column
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, block: Frame) -> Array:
        """The group of each row."""
        if not self._places:
            self._count = max(self._count, 1 if block.rows else 0)
            return np.zeros(block.rows, np.int64)
        if not block.rows:
            return np.zeros(0, np.int64)
        columns = [block.columns[place] for place in self._places]
        numbers, firsts = self._number(columns, block.rows)
        self._account.charge(4 * len(columns) * len(firsts))
        if len(firsts):
            self._firsts.append([column.take(firsts) for column in columns])
            pack_last(self._firsts)
        self._count += len(firsts)
        return numbers

    def _number(self, columns: list[U32], rows: int) -> tuple[Array, Array]:
        """The group of each row, and the first rows of new groups."""
        keys = self._coder.learn(columns, rows)
        return self._table.insert(keys.astype(np.uint64, copy=False))

    def keys(self) -> list[U32]:
        """The key columns of the groups."""
        if not self._firsts:
            return [np.zeros(0, ID) for _ in self._places]
        self._account.charge(4 * self._count * len(self._places))  # while they are copied
        return [np.concatenate(column) for column in zip(*self._firsts, strict=True)]


class _SortedGroups(_Groups):
    """The same for rows that are sorted by the keys: a group is a run of rows."""

    _last: list[U32] | None = None

    def _number(self, columns: list[U32], rows: int) -> tuple[Array, Array]:
        new = changes(columns, rows, self._last)
        self._last = [column[-1:].copy() for column in columns]
        return new.cumsum() + (len(self) - 1), np.flatnonzero(new)


def _once(columns: Sequence[U32], numbers: Array, account: Account) -> Array:
    """The groups of the distinct rows."""
    if not len(numbers):
        return numbers
    keyed = [numbers.astype(np.uint32), *columns]
    coder = KeyCoder([ID] * len(keyed), account)
    keys = coder.learn(keyed, len(numbers))
    _, firsts = GroupTable(account).insert(keys.astype(np.uint64, copy=False))
    return numbers[firsts]
