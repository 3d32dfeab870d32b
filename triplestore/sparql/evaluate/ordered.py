"""ORDER BY: rows in the order of expressions, all of them or the first ones.

Start at `Ordered`. Each key becomes a column of ranks (see `ranks`), by which positions are sorted.
Always true: rows that are equal by all keys keep their order; with a limit, only candidates
for the first rows are held, not all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from triplestore.expressions.evaluate_columns import Evaluator
from triplestore.expressions.query_terms import QueryTerms
from triplestore.operators.context import Context
from triplestore.operators.frame import Array, Frame
from triplestore.operators.operator import Blocks, Operator, Stream, gather
from triplestore.operators.sort_positions import sorted_positions
from triplestore.sparql.evaluate.first_rows import first_rows
from triplestore.sparql.evaluate.pieces import vector_of
from triplestore.sparql.evaluate.ranks import ranks_of
from triplestore.sparql.thresholds import SPARQL

OrderKey = tuple[Evaluator, bool, str]
"""The expression to order by, whether descending, and its text."""


class Ordered(Operator):
    """The child's rows in the order of some expressions; with `limit` only the first ones."""

    kind: ClassVar[str] = "order"

    def __init__(
        self,
        child: Operator,
        keys: Sequence[OrderKey],
        terms: QueryTerms,
        limit: int | None = None,
    ) -> None:
        estimate = child.estimate if limit is None else min(limit, child.estimate)
        super().__init__(child.names, child.types, (child,), unique=child.unique, estimate=estimate)
        self.child = child
        self.keys = tuple(keys)
        self.limit = limit
        self._terms = terms

    def detail(self) -> str:
        """The keys and the limit."""
        keys = " ".join(f"desc({text})" if down else text for _, down, text in self.keys)
        return keys if self.limit is None else f"{keys} first {self.limit}"

    def _open(self, context: Context) -> Blocks:
        if self.limit == 0:
            return ()
        if self.limit is None:
            frame = self._collect(context, self.child)
        else:
            frame = self._candidates(context, self.limit)
        if frame.rows == 0:
            return ()
        frame = self._promising(context, frame)
        places = self._places(context, frame)[: self.limit]
        if len(places) <= context.block_rows:
            self._charge(context, len(places) * self.width)
            return (self._taken(frame, places),)
        return self._blocks(context, frame, places)

    def _candidates(self, context: Context, limit: int) -> Frame:
        """Rows that include the first `limit` ones; others are dropped on the way."""
        account = self._account(context)
        kept: list[Frame] = []
        rows = 0
        for block in self._read(context, self.child):
            account.charge(block.nbytes)
            kept.append(block)
            rows += block.rows
            if rows >= max(2 * limit, SPARQL.sorted_candidates):
                frame = self._promising(context, gather(self.child, tuple(kept), account))
                best = frame.take(self._places(context, frame)[:limit])
                account.release(account.held)
                account.charge(best.nbytes)
                kept, rows = [best], best.rows
        return gather(self.child, tuple(kept), account)

    def _promising(self, context: Context, frame: Frame) -> Frame:
        """The rows that are not beyond the limit by their first key alone."""
        if self.limit is None or not self.keys or frame.rows <= self.limit:
            return frame
        evaluator, down, _ = self.keys[0]
        account = self._account(context)
        charged = account.held
        account.charge(24 * frame.rows)
        values = vector_of(evaluator, frame, self._terms, account)
        rows = first_rows(values, self.limit, down, self._terms, len(self.keys) == 1)
        account.release(account.held - charged)
        if rows is None or len(rows) == frame.rows:
            return frame
        account.charge(len(rows) * self.width)
        return frame.take(rows)

    def _blocks(self, context: Context, frame: Frame, places: Array) -> Stream:
        for start in range(0, len(places), context.block_rows):
            part = places[start : start + context.block_rows]
            self._charge_block(context, len(part) * self.width)
            yield self._taken(frame, part)

    def _taken(self, frame: Frame, places: Array) -> Frame:
        columns = [column.take(places) for column in frame.columns]
        return Frame(self.names, columns, len(places), (), self.unique)

    def _places(self, context: Context, frame: Frame) -> Array:
        account = self._account(context)
        ranks = []
        charged = account.held
        for evaluator, _, _ in self.keys:
            account.charge(16 * frame.rows)
            values = vector_of(evaluator, frame, self._terms, account)
            ranks.append(ranks_of(values, self._terms, account))
        descending = [down for _, down, _ in self.keys]
        places = sorted_positions(ranks, descending, frame.rows, account)
        account.release(account.held - charged)
        return places
