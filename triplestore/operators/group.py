"""Grouping: one row per distinct key, with aggregates of its rows.

Rows that are sorted by the columns of the key are grouped run by run, with memory for one block;
other rows by an exact hash table, with memory for the groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np

from triplestore.errors import UsageError
from triplestore.operators.aggregates import Accumulator, ColumnAggregate, accumulator
from triplestore.operators.context import Context
from triplestore.operators.distinct import changes
from triplestore.operators.frame import BOOLEAN, Array, Frame
from triplestore.operators.group_table import GroupTable
from triplestore.operators.operator import Blocks, Operator, Stream, as_tuple, positions, variables
from triplestore.operators.row_keys import KeyCoder


class Group(Operator):
    """The distinct values of the columns `by`, each with its aggregates.

    Without columns there is one group, even without rows. Groups come in the order of their first
    rows, which is the order of the key if the child is sorted by it.

    >>> from triplestore.operators import Values
    >>> rows = Values(Frame.of(x=[1, 2, 1], y=[5, 6, 7]))
    >>> total = {"n": ColumnAggregate("count"), "top": ColumnAggregate("max", "y")}
    >>> Group(rows, "x", total).run(Context()).to_rows()
    [(1, 2, 7), (2, 1, 6)]
    """

    kind: ClassVar[str] = "group"

    def __init__(
        self,
        child: Operator,
        by: str | Sequence[str],
        aggregates: Mapping[str, ColumnAggregate],
        *,
        estimate: float | None = None,
    ) -> None:
        self.child = child
        self.by: tuple[str, ...] = as_tuple(by)
        self.aggregates = dict(aggregates)
        self._key = positions(child.names, self.by, self.kind)
        self._key_types = tuple(child.types[i] for i in self._key)
        self._inputs: list[tuple[int | None, int | None]] = []
        types = []
        for aggregate in self.aggregates.values():
            column = self._place(aggregate.column)
            where = self._place(aggregate.where)
            if where is not None and child.types[where] != BOOLEAN:
                raise UsageError(
                    f"group: {aggregate}: ?{aggregate.where} does not have truth values"
                )
            self._inputs.append((column, where))
            types.append(aggregate.type_of(BOOLEAN if column is None else child.types[column]))
        size = len(self.by)
        order = child.order[:size]
        distinct = any(aggregate.distinct for aggregate in self.aggregates.values())
        self._sorted = set(order) == set(self.by) and not distinct
        expected = child.estimate / 4 if self.by else 1.0
        super().__init__(
            (*self.by, *self.aggregates),
            (*self._key_types, *types),
            (child,),
            order=order if set(order) == set(self.by) else (),
            unique=True,
            estimate=expected if estimate is None else estimate,
        )

    def detail(self) -> str:
        """The key and the aggregates."""
        aggregates = ", ".join(f"?{name} := {it}" for name, it in self.aggregates.items())
        how = "(sorted) " if self._sorted and self.by else ""
        return f"{how}{variables(self.by)}{': ' if self.by and aggregates else ''}{aggregates}"

    def _place(self, name: str | None) -> int | None:
        return None if name is None else positions(self.child.names, (name,), self.kind)[0]

    def _open(self, context: Context) -> Blocks:
        blocks = self._read(context, self.child)
        if self._sorted:
            pieces = self._by_runs(context, blocks)
        else:
            pieces = self._by_hashing(context, blocks)
        return tuple(pieces) if isinstance(blocks, tuple) and len(blocks) <= 1 else pieces

    def _accumulators(self, context: Context) -> list[Accumulator]:
        account = self._account(context)
        return [
            accumulator(it, None if column is None else self.child.types[column], account)
            for it, (column, _) in zip(self.aggregates.values(), self._inputs, strict=True)
        ]

    @np.errstate(invalid="ignore", over="ignore")  # inf - inf is NaN, as in IEEE 754
    def _add(
        self, accumulators: list[Accumulator], block: Frame, groups: Array, count: int
    ) -> None:
        for one, (column, where) in zip(accumulators, self._inputs, strict=True):
            one.grow(count)
            values = None if column is None else block.columns[column]
            if where is None:
                one.add(groups, values)
            else:
                mask = block.columns[where]
                one.add(groups[mask], None if values is None else values[mask])

    def _by_hashing(self, context: Context, blocks: Blocks) -> Stream:
        account = self._account(context)
        accumulators = self._accumulators(context)
        coder = KeyCoder(self._key_types, account)
        table = GroupTable(account)
        seen: list[list[Array]] = []  # the keys of the new groups of each block
        for block in blocks:
            self._charge_block(context, block.rows * 32)
            codes = coder.learn([block.columns[i] for i in self._key], block.rows)
            groups, firsts = table.insert(codes.astype(np.uint64, copy=False))
            new = [block.columns[i].take(firsts) for i in self._key]
            account.charge(sum(column.nbytes for column in new))
            seen.append(new)
            self._add(accumulators, block, groups.astype(np.int64), table.count)
        if not table.count:
            if self.by:
                return
            self._add_none(accumulators)
        if not self.by:
            seen = [[]]
        start = 0
        for keys in _together(seen, context.block_rows):
            stop = start + (len(keys[0]) if keys else 1)
            self._charge_block(context, (stop - start) * self.width)
            yield self._result(keys, accumulators, start, stop)
            start = stop

    def _by_runs(self, context: Context, blocks: Blocks) -> Stream:
        accumulators = self._accumulators(context)
        last: list[Array] | None = None  # the key of the group that is still open
        for block in blocks:
            self._charge_block(context, block.rows * 32)
            columns = [block.columns[i] for i in self._key]
            new = changes(columns, block.rows, last)
            groups = np.cumsum(new) - (last is None)
            count = int(groups[-1]) + 1
            self._add(accumulators, block, groups, count)
            keys = [column[new] for column in columns]
            if last is not None:
                keys = [np.concatenate(pair) for pair in zip(last, keys, strict=True)]
            if count > 1:
                yield self._result([key[: count - 1] for key in keys], accumulators, 0, count - 1)
                for one in accumulators:
                    one.drop(count - 1)
            last = [key[count - 1 :].copy() for key in keys]
        if last is None:
            if self.by:
                return
            last = []
            self._add_none(accumulators)
        yield self._result(last, accumulators, 0, 1)

    def _add_none(self, accumulators: list[Accumulator]) -> None:
        """Add one group without rows."""
        for one in accumulators:
            one.grow(1)

    def _result(
        self, keys: list[Array], accumulators: list[Accumulator], start: int, stop: int
    ) -> Frame:
        """The groups [start, stop) with these keys."""
        columns = (*keys, *(one.result(start, stop) for one in accumulators))
        return Frame(self.names, columns, stop - start, self.order, True)


def _together(parts: list[list[Array]], most: int) -> Iterator[list[Array]]:
    """Parts of columns, joined to parts of at most `most` rows."""
    waiting: list[list[Array]] = []
    rows = 0
    for part in parts:
        size = len(part[0]) if part else 1
        if waiting and rows + size > most:
            yield [np.concatenate(column) for column in zip(*waiting, strict=True)]
            waiting, rows = [], 0
        waiting.append(part)
        rows += size
    if waiting:
        yield [np.concatenate(column) for column in zip(*waiting, strict=True)]
