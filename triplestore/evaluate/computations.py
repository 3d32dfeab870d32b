"""FILTER and BIND of rules: expressions over the columns of a frame.

Start at `compute`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from triplestore.evaluate.binding_frames import Bindings, column, where
from triplestore.evaluate.thresholds import EVALUATION
from triplestore.expressions.evaluate_columns import Evaluator, Scope
from triplestore.expressions.tree import Expression
from triplestore.operators.frame import Frame
from triplestore.relations.packed_keys import U32
from triplestore.rules.body_plans import ComputeStep
from triplestore.rules.families import Family

if TYPE_CHECKING:
    from triplestore.evaluate.evaluation import Evaluation

A = TypeVar("A", bound="np.ndarray[Any, Any]")


def compute(
    run: Evaluation, family: Family, step: ComputeStep, rows: Bindings, n: int
) -> tuple[Bindings, int]:
    """The rows that pass a FILTER, or with the column of a BIND."""
    computation = step.computation
    names = tuple(family.variables[v] for v in computation.needs)
    columns = [column(rows, v, n) for v in computation.needs]
    evaluator = _evaluator(run, computation.expression)
    frames = _frames(run, names, columns, n)
    if computation.target < 0:
        passed = [evaluator.condition(frame) for frame in frames]
        return where(rows, _one(passed), step.keep, n)
    assert run.terms is not None
    dictionary = run.terms.dictionary
    known, size = dictionary.size, run.terms.settled_bytes
    values = run.terms.settle(_one([evaluator.column(frame) for frame in frames]))
    if dictionary.size > known:
        new = dictionary.size - known
        run.new_terms[family] = run.new_terms.get(family, 0) + new
        run.made_terms(new, run.terms.settled_bytes - size, known, family.stratum)
    given = rows[computation.target]
    if given is not None:
        return where(rows, given == values, (*step.keep, computation.target), n)
    rows = list(rows)
    rows[computation.target] = values
    return where(rows, values != 0, (*step.keep, computation.target), n)


def _frames(run: Evaluation, names: tuple[str, ...], columns: list[U32], n: int) -> Iterator[Frame]:
    """Rows as frames. The budget is checked before each, because a function may take long."""
    most = EVALUATION.computed_rows
    if n <= most:
        yield Frame(names, columns, n)
        return
    for at in range(0, n, most):
        run.check(0)
        yield Frame(names, [one[at : at + most] for one in columns], min(n - at, most))


def _evaluator(run: Evaluation, expression: Expression) -> Evaluator:
    found = run.evaluators.get(id(expression))
    if found is None:
        assert run.terms is not None, "a program with expressions needs a dictionary"
        found = run.evaluators[id(expression)] = Evaluator(expression, Scope(run.terms))
    return found


def _one(parts: Sequence[A]) -> A:
    """Arrays as one."""
    return parts[0] if len(parts) == 1 else cast(A, np.concatenate(parts))
