"""ORDER BY: rows in the order of expressions, all of them or the first ones.

Start at `Ordered`. Each key becomes a column of ranks: numbers whose values are known exactly rank
as they are, anything else is ranked once for each different term, by SPARQL's order (nothing, blank
nodes, IRIs, literals by value). What is always true: terms that are equal by that order have the
same rank, so later keys decide; rows that are equal by all keys keep their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from triplestore.expr.aggregate import order_key
from triplestore.expr.evaluate import Evaluator
from triplestore.expr.query_terms import QueryTerms
from triplestore.expr.vectors import Booleans, Coded, Ids, Numbers, Vector, coded
from triplestore.ops.context import Context
from triplestore.ops.frame import INTEGER, Array, Frame
from triplestore.ops.operator import Blocks, Operator, Stream, gather
from triplestore.ops.sort import sorted_positions
from triplestore.sparql.evaluate.pieces import vector_of
from triplestore.terms.model import IRI, STRING
from triplestore.terms.value_keys import NAN_KEY, Class

_SIGN = np.uint64(1 << 63)
_PIECE = 1 << 15
_CANDIDATES = 1 << 17  # rows that are held, at least, before those that are not the first go

OrderKey = tuple[Evaluator, bool, str]
"""What is ordered by, whether descending, and its text."""


class Ordered(Operator):
    """The child's rows in the order of some expressions; with `limit` only the first so many."""

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
        places = self._places(context, frame)[: self.limit]
        if len(places) <= context.block_rows:
            self._charge(context, len(places) * self.width)
            return (self._taken(frame, places),)
        return self._blocks(context, frame, places)

    def _candidates(self, context: Context, limit: int) -> Frame:
        """Rows among which the first `limit` are: others are dropped as they come."""
        account = self._account(context)
        kept: list[Frame] = []
        rows = 0
        for block in self._read(context, self.child):
            account.charge(block.nbytes)
            kept.append(block)
            rows += block.rows
            if rows >= max(2 * limit, _CANDIDATES):
                frame = gather(self.child, tuple(kept), account)
                best = frame.take(self._places(context, frame)[:limit])
                account.release(account.held)
                account.charge(best.nbytes)
                kept, rows = [best], best.rows
        return gather(self.child, tuple(kept), account)

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


def ranks_of(vector: Vector, terms: QueryTerms, budget: Any) -> Array:
    """Numbers that compare as the values of a vector in SPARQL's order; none comes first."""
    if isinstance(vector, Booleans):
        ranks = vector.values.astype(np.int64) + 1
        return ranks if vector.valid is None else np.where(vector.valid, ranks, 0)
    if isinstance(vector, Numbers) and vector.valid is None:
        values = vector.values
        if values.dtype == INTEGER or not np.isnan(values).any():
            return values
    if isinstance(vector, Ids):
        return _ranks_of_ids(vector.ids, terms, budget)
    made = coded(vector, terms)
    return _ranks_of_keys(made, budget)


def _ranks_of_ids(ids: Array, terms: QueryTerms, budget: Any) -> Array:
    distinct, places = np.unique(ids, return_inverse=True)
    kinds = terms.kinds(distinct)
    if len(kinds) and (kinds > STRING).all():
        values = terms.values(distinct)
        numeric = (values.classes == Class.NUMERIC) & values.exact & (values.keys != NAN_KEY)
        if numeric.all():
            return (values.keys ^ _SIGN).view(np.int64)[places]
    keys: list[bytes | None] = []
    for start in range(0, len(distinct), _PIECE):
        budget.check()
        keys.extend(terms.keys(distinct[start : start + _PIECE]))
    return _ranks_of_keys(Coded(keys, places), budget)


def _ranks_of_keys(made: Coded, budget: Any) -> Array:
    budget.charge(100 * len(made.keys))
    kinds = {key[0] if key is not None else 0 for key in made.keys}
    named = [(key, code) for code, key in enumerate(made.keys) if key is not None]
    ranks = np.zeros(len(made.keys), np.int64)
    if kinds <= {0, IRI} or kinds <= {0, STRING}:
        named.sort()
        ranks[[code for _, code in named]] = np.arange(1, len(named) + 1)
    else:
        ordered = []
        for at, (key, code) in enumerate(named):
            if at % _PIECE == 0:
                budget.check()
            ordered.append((order_key(key), code))
        ordered.sort(key=lambda pair: pair[0])
        rank, last = 0, None
        for by, code in ordered:
            rank += by != last
            ranks[code], last = rank, by
    return ranks[made.codes]
