"""FILTER, BIND and aggregates on Spark.

Start reading at `Expressions`. A test whether terms are the same is a condition on ids
(`condition_on_ids`) and needs no terms. All other expressions are evaluated by `expressions`, as in
the store: the keys of the needed terms are joined to the rows, and executors evaluate one batch at
a time, with a small dictionary of the terms of that batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from triplestore.expressions.aggregates import aggregate
from triplestore.expressions.evaluate_columns import Evaluator, Scope, evaluate
from triplestore.expressions.query_terms import QueryTerms
from triplestore.expressions.tree import Call, Constant, Expression, Variable, variables_of
from triplestore.expressions.vectors import ids_of
from triplestore.loaders.spark.closure.facts import Facts, Frame
from triplestore.loaders.spark.closure.naming import Naming
from triplestore.loaders.spark.closure.shapes import Shape
from triplestore.loaders.spark.jobs.workers import Batches, mapped
from triplestore.operators.frame import Frame as Columns
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.term_keys import BLANK, IRI, LANG, STRING, TYPED

_NOTHING = "1L AS nothing"
"""A column for frames without others: Arrow does not count rows without columns."""


class Expressions:
    """Evaluates expressions on states (see `joins`)."""

    def __init__(self, naming: Naming, facts: Facts) -> None:
        self.naming, self.facts = naming, facts

    def where(
        self, state: Frame, expression: Expression, needs: Sequence[int], few: bool = False
    ) -> Frame:
        """The rows where an expression is true; its variables have the names of the columns.

        few  whether the rows are few enough to be broadcast
        """
        test = condition_on_ids(expression, self.naming)
        if test is not None:
            return state.where(test)
        columns = list(state.columns)
        rows = self._with_keys(state, needs, few)
        work = partial(filtered, expression=expression, columns=columns, needs=tuple(needs))
        return mapped(rows, work, state.schema)

    def bind(
        self,
        state: Frame,
        expression: Expression,
        needs: Sequence[int],
        name: str,
        few: bool = False,
    ) -> Frame:
        """The rows with the id of an expression's value; rows without a value are dropped."""
        from pyspark.sql.types import BinaryType, StructField, StructType

        rows = self._with_keys(state, needs, few)
        columns = list(state.columns)
        fields = [StructField(one.name, one.dataType, True) for one in state.schema.fields]
        schema = StructType([*fields, StructField("made", BinaryType(), True)])
        work = partial(computed, expression=expression, columns=columns, needs=tuple(needs))
        return self._settled(mapped(rows, work, schema), "made", name)

    def _settled(self, rows: Frame, column: str, name: str) -> Frame:
        """The rows with ids instead of keys, under a new name."""
        found = self.naming.settle_here(rows, column, name) if self.facts.single else None
        return self.naming.settle(rows, column, name) if found is None else found

    def _with_keys(self, state: Frame, needs: Sequence[int], few: bool = False) -> Frame:
        from pyspark.sql import functions

        single, held = self.facts.single, self.naming.held
        for column in needs:
            terms = self.naming.frame.selectExpr(f"id AS i{column}", f"key AS t{column}")
            if single and held:
                terms = self.facts.beside(terms.coalesce(1))
            elif few or single:
                state = functions.broadcast(state)
            state = state.join(terms, state[f"v{column}"] == terms[f"i{column}"]).drop(f"i{column}")
            state = state.coalesce(1) if single else state
        return state

    def summarise(self, shape: Shape, matches: Frame, width: int) -> Frame:
        """The conclusions of an aggregate rule from all matches of its body, as facts."""
        from pyspark.sql.types import BinaryType, LongType, StructField, StructType

        form = shape.form
        summary = form.summary
        assert summary is not None and len(shape) == 1
        constants = [slot for slot in form.head.slots if slot < form.width]
        slots = [slot for slot in range(form.width, _top(shape)) if slot in _bound(shape)]
        column = {slot: f"h{len(constants) + i}" for i, slot in enumerate(slots)}
        asked = {
            int(one.name[1:])
            for result in summary.results
            if result[2] is not None
            for one in variables_of(result[2])
        }
        rows = matches.selectExpr(*[f"{column[slot]} AS v{slot}" for slot in slots] or [_NOTHING])
        rows = self._with_keys(rows, sorted(asked))
        groups = [f"v{slot}" for slot in summary.groups]
        if not self.facts.single:
            rows = rows.repartition(*groups) if groups else rows.repartition(1)
        keys = [f"made{i}" for i in range(len(summary.results))]
        fields = [StructField(name, LongType(), True) for name in groups]
        fields += [StructField(key, BinaryType(), True) for key in keys]
        schema = StructType(fields or [StructField("nothing", LongType(), True)])
        work = partial(
            summarised, results=summary.results, groups=tuple(groups), asked=tuple(sorted(asked))
        )
        found = mapped(rows, work, schema)
        for key, result in zip(keys, summary.results, strict=True):
            found = self._settled(found, key, f"v{result[0]}")
        places = [
            f"{shape.constants[0, slot]}L" if slot < form.width else f"v{slot}"
            for slot in form.head.slots
        ]
        places += ["0L"] * (width + 1 - len(places))
        made = [f"{place} AS c{i}" for i, place in enumerate(places)]
        return found.selectExpr(f"{form.head.arity} AS k", *made)


def _bound(shape: Shape) -> set[int]:
    form = shape.form
    assert form.summary is not None
    found = {slot for atom in form.body for slot in atom.slots if slot >= form.width}
    found |= {one.target for one in form.computations if one.target >= 0}
    return (found | set(form.summary.groups)) - {slot for slot, *_ in form.summary.results}


def _top(shape: Shape) -> int:
    return max(_bound(shape), default=0) + 1


# -- on ids ---------------------------------------------------------------------------------------


def condition_on_ids(expression: Expression, naming: Naming | None) -> str | None:
    """A condition about identity and kinds of terms only, in SQL; None for other conditions.

    naming  the terms; without it, constants are 0 and kinds are unknown

    >>> from triplestore.expressions.text.expression_parser import parse_expression
    >>> condition_on_ids(parse_expression("!SAMETERM(?v0, ?v1) && ?v0 NOT IN (<x:a>)"), None)
    '((NOT (v0 = v1)) AND (NOT (v0 IN (0))))'
    >>> condition_on_ids(parse_expression("?v0 = ?v1"), None) is None
    True
    """
    if not isinstance(expression, Call):
        return None
    name, parts = expression.function, expression.arguments
    if name in ("&&", "||"):
        found = [condition_on_ids(part, naming) for part in parts]
        if any(one is None for one in found):
            return None
        return f"({(' AND ' if name == '&&' else ' OR ').join(map(str, found))})"
    if name == "!":
        inner = condition_on_ids(parts[0], naming)
        return None if inner is None else f"(NOT {inner})"
    if name in _KINDS:
        (part,) = parts
        if not isinstance(part, Variable) or naming is None:
            return None
        return naming.kind_test(part.name, _KINDS[name])
    return _same_test(name, parts, naming)


_KINDS = {"ISIRI": (IRI,), "ISURI": (IRI,), "ISBLANK": (BLANK,), "ISLITERAL": (STRING, LANG, TYPED)}


def _same_test(name: str, parts: Sequence[Expression], naming: Naming | None) -> str | None:
    """The condition of a comparison of terms; None if it compares values."""
    if not all(isinstance(part, Variable | Constant) for part in parts):
        return None
    # An IRI is equal only to itself; for other terms `=` compares values.
    named = any(_is_name(part) for part in parts[:2])
    if name == "SAMETERM" or (name in ("=", "!=") and named):
        sign = "<>" if name == "!=" else "="
        return f"({_place(parts[0], naming)} {sign} {_place(parts[1], naming)})"
    if name in ("IN", "NOT IN") and len(parts) > 1 and all(map(_is_name, parts[1:])):
        listed = ", ".join(_place(part, naming) for part in parts[1:])
        test = f"({_place(parts[0], naming)} IN ({listed}))"
        return test if name == "IN" else f"(NOT {test})"
    return None


def _is_name(part: Expression) -> bool:
    return isinstance(part, Constant) and part.kind == IRI


def _place(part: Expression, naming: Naming | None) -> str:
    if isinstance(part, Variable):
        return part.name
    assert isinstance(part, Constant)
    return "0" if naming is None else str(naming.known_ids([part.key])[part.key])


# -- on executors ---------------------------------------------------------------------------------


def filtered(
    batches: Batches, expression: Expression, columns: list[str], needs: tuple[int, ...]
) -> Iterator[Any]:
    """The rows of Arrow batches where an expression is true."""
    import pyarrow as pa

    for batch in batches:
        frame, scope = _frame(batch, needs)
        seen = Evaluator(expression, scope).condition(frame)
        kept = batch.select(columns).filter(pa.array(seen))
        if kept.num_rows:
            yield kept


def computed(
    batches: Batches, expression: Expression, columns: list[str], needs: tuple[int, ...]
) -> Iterator[Any]:
    """The rows of Arrow batches with the key of an expression's value, if it has one."""
    import pyarrow as pa

    for batch in batches:
        frame, scope = _frame(batch, needs)
        values = Evaluator(expression, scope).column(frame)
        keys = pa.array(_keys(scope.terms, values), pa.binary())
        arrays = [batch.column(name) for name in columns]
        made = pa.RecordBatch.from_arrays([*arrays, keys], names=[*columns, "made"])
        kept = made.filter(pa.array(values != 0))
        if kept.num_rows:
            yield kept


def summarised(
    batches: Batches, results: tuple[Any, ...], groups: tuple[str, ...], asked: tuple[int, ...]
) -> Iterator[Any]:
    """One row for each group of all batches: its ids, and the keys of the results.

    A group is in one partition, which is held in memory.
    """
    import pyarrow as pa

    whole = [batch for batch in batches if batch.num_rows]
    if not whole:
        return
    rows = pa.Table.from_batches(whole).combine_chunks().to_batches()[0]
    frame, scope = _frame(rows, asked)
    ids = [rows.column(name).to_numpy(zero_copy_only=False) for name in groups]
    if ids:
        stacked = np.stack(ids, axis=1)
        distinct, numbers = np.unique(stacked, axis=0, return_inverse=True)
        numbers = numbers.reshape(-1).astype(np.int64)
    else:
        distinct, numbers = np.zeros((1, 0), np.int64), np.zeros(rows.num_rows, np.int64)
    count = len(distinct)
    known = np.ones(count, np.bool_)
    keys = []
    for _, function, argument, is_distinct, separator in results:
        vector = None if argument is None else evaluate(argument, frame, scope)
        value = aggregate(
            function, vector, numbers, count, scope.terms, distinct=is_distinct, separator=separator
        )
        made = ids_of(value, scope.terms)
        known &= made != 0
        keys.append(pa.array(_keys(scope.terms, made), pa.binary()))
    columns = [pa.array(distinct[:, i]) for i in range(distinct.shape[1])]
    names = [*groups, *[f"made{i}" for i in range(len(keys))]]
    if not names:  # only the existence of a match matters; a batch without columns has no rows
        names, columns = ["nothing"], [pa.array([1], pa.int64())]
    yield pa.RecordBatch.from_arrays([*columns, *keys], names=names).filter(pa.array(known))


def _frame(batch: Any, needs: Sequence[int]) -> tuple[Columns, Scope]:
    """The needed columns of a batch, with a dictionary of the terms in them."""
    dictionary = Dictionary()
    names, columns = [], []
    for column in needs:
        coded = batch.column(f"t{column}").dictionary_encode()
        ids = dictionary.encode_keys(coded.dictionary.to_pylist())
        names.append(f"v{column}")
        columns.append(ids[coded.indices.to_numpy(zero_copy_only=False)])
    return Columns(tuple(names), columns, batch.num_rows), Scope(QueryTerms(dictionary))


def _keys(terms: QueryTerms, ids: Any) -> list[bytes | None]:
    distinct, places = np.unique(ids, return_inverse=True)
    keys = terms.keys(distinct)
    return [keys[place] for place in places.tolist()]
