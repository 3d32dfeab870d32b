"""Expressions on many rows, one piece at a time, with checks of the limits in between.

Start at `condition_of`, `column_of` and `vector_of`. Always true: the values are those of
the evaluator on all rows at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from triplestore.expressions.evaluate_columns import Evaluator
from triplestore.expressions.query_terms import QueryTerms
from triplestore.expressions.text_columns import Texts
from triplestore.expressions.tree import Variable
from triplestore.expressions.vectors import Booleans, Coded, Ids, Mask, Numbers, Vector, ids_of
from triplestore.operators.context import Budget
from triplestore.operators.frame import Array, Frame
from triplestore.sparql.thresholds import SPARQL

Check: TypeAlias = Callable[[], None]


def _pieces(frame: Frame, check: Check) -> Iterator[Frame]:
    size = SPARQL.piece_rows
    for start in range(0, frame.rows, size):
        check()
        yield frame.slice(start, start + size)


def condition_of(evaluator: Evaluator, check: Check) -> Callable[[Frame], Array]:
    """The rows of a frame where a condition is true."""

    def condition(frame: Frame) -> Array:
        if frame.rows <= SPARQL.piece_rows:
            return evaluator.condition(frame)
        return np.concatenate([evaluator.condition(part) for part in _pieces(frame, check)])

    return condition


def column_of(evaluator: Evaluator, check: Check) -> Callable[[Frame], Array]:
    """The ids of the values of an expression."""

    def column(frame: Frame) -> Array:
        if frame.rows <= SPARQL.piece_rows:
            return evaluator.column(frame)
        return np.concatenate([evaluator.column(part) for part in _pieces(frame, check)])

    return column


def vector_of(evaluator: Evaluator, frame: Frame, terms: QueryTerms, budget: Budget) -> Vector:
    """The values of an expression, charged to the budget."""
    if frame.rows <= SPARQL.piece_rows or isinstance(evaluator.expression, Variable):
        return evaluator.evaluate(frame, budget)
    budget.charge(8 * frame.rows)
    parts: list[Vector] = []
    for piece in _pieces(frame, budget.check):
        part = evaluator.evaluate(piece)
        if isinstance(part, Coded | Texts) or (parts and isinstance(parts[-1], Ids)):
            part = Ids(ids_of(part, terms))  # notes and charges each new term once
        parts.append(part)
    return _joined(parts, terms)


def _joined(parts: Sequence[Vector], terms: QueryTerms) -> Vector:
    numbers = [part for part in parts if isinstance(part, Numbers)]
    if len(numbers) == len(parts) and len({(part.rank, part.scale) for part in numbers}) == 1:
        first = numbers[0]
        values = np.concatenate([part.values for part in numbers])
        return Numbers(first.rank, values, _valid(numbers), first.scale)
    truths = [part for part in parts if isinstance(part, Booleans)]
    if len(truths) == len(parts):
        return Booleans(np.concatenate([part.values for part in truths]), _valid(truths))
    return Ids(np.concatenate([ids_of(part, terms) for part in parts]))


def _valid(parts: Sequence[Numbers] | Sequence[Booleans]) -> Mask | None:
    if all(part.valid is None for part in parts):
        return None
    masks = [np.ones(len(p), np.bool_) if p.valid is None else p.valid for p in parts]
    return np.concatenate(masks)
