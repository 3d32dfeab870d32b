"""The closure of small data, by the engine of the store, in the driver.

Start reading at `closed_here`. A round on Spark takes a second even for few facts, so data that fit
easily into the driver are closed there as in a store, and returned as frames. If the engine finds
them too large for one machine, Spark computes the closure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from triplestore.errors import BudgetError
from triplestore.loaders.spark.closure.facts import Frame, from_arrow, to_arrow
from triplestore.loaders.spark.closure.options import Options
from triplestore.loaders.spark.closure.programs import (
    KEPT,
    Given,
    quads_of_ontologies,
    reasoned,
    refuse_what_is_not_on_spark,
)
from triplestore.loaders.spark.importing.existing_store import empty_loaded
from triplestore.loaders.spark.importing.parquet_parts import keys_of
from triplestore.loaders.spark.thresholds import SPARK
from triplestore.reasoning.program.settings import Regimes
from triplestore.reasoning.reasoner import rules_of_state
from triplestore.reasoning.violations import inconsistencies, violation_relations
from triplestore.relations.packed_keys import Columns
from triplestore.storage.metadata import HIDDEN
from triplestore.storage.state import State
from triplestore.store.store import Store
from triplestore.store.transaction import writer_of
from triplestore.terms import TermCollector

I64 = NDArray[np.int64]


class LocalClosure(NamedTuple):
    """A closure that the driver made; the fields are those of a `SparkClosure`."""

    facts: Frame
    rows: Frame
    quads: Sequence[Sequence[int]]
    new_keys: Sequence[bytes]
    meta: Mapping[str, bytes]
    counts: Mapping[str, int]
    figures: Mapping[str, int]


def closed_here(
    spark: Any,
    asserted: Frame,
    terms: Frame,
    given: Given,
    reason: Sequence[str],
    told: Mapping[str, Any],
    options: Options,
) -> LocalClosure | None:
    """The closure of triples (s, p, o); None if there are too many."""
    most = options.driver_facts
    if not most or asserted.limit(most + 1).count() > most:
        return None
    count, size = terms.selectExpr("count(1)", "sum(length(key))").first()
    if count > 4 * most or (size or 0) > SPARK.driver_text:
        return None
    store, numbers = _store_of(asserted, terms, given)
    try:
        report = reasoned(store, given, reason, told)
    except BudgetError:
        return None
    assert report is not None, "there are rules"
    state: State = store._database.state  # made by the store
    refuse_what_is_not_on_spark(Regimes.of(state.meta))
    facts = state.tables.total()
    if facts > SPARK.driver_growth * most:
        return None
    first, last = len(numbers), state.dictionary.size
    numbers = np.r_[numbers, numbers.max() + 1 + np.arange(last + 1 - first)]
    where = violation_relations(rules_of_state(state), state.dictionary)
    return LocalClosure(
        from_arrow(spark, _facts(state, numbers)),
        from_arrow(spark, _rows(state, numbers)),
        numbers[quads_of_ontologies(state.tables, state.dictionary, state.meta)].tolist(),
        [state.dictionary.key(number) for number in range(first, last + 1)],
        {name: state.meta[name] for name in (*KEPT, HIDDEN) if name in state.meta},
        inconsistencies(state.tables, where, state.dictionary, 0).counts,
        {"rounds": report.rounds, "turns": 1, "rules": report.rules, "facts": facts},
    )


def _store_of(asserted: Frame, terms: Frame, given: Given) -> tuple[Store, I64]:
    """A store in memory with the triples, and the term's id on Spark for each id of the store."""
    listed = to_arrow(terms.select("id", "key")).sort_by("id")
    ids = listed.column("id").to_numpy().astype(np.int64)
    rows = to_arrow(asserted.select("s", "p", "o"))
    loaded = empty_loaded(0, 1)
    store = Store()
    with store.transaction() as transaction:
        writer = writer_of(transaction)
        collector = TermCollector(writer.dictionary)
        places = collector.add(*keys_of(listed.column("key").combine_chunks()).spans())
        own, loaded.segment = collector.seal()
        own = own[places]
        for name in ("s", "p", "o"):
            column = rows.column(name).to_numpy().astype(np.int64)
            setattr(loaded, name, own[np.searchsorted(ids, column)])
        loaded.g = np.zeros(len(loaded.s), np.uint32)
        writer.take_loaded(loaded)
        given.put(writer)
    numbers = np.zeros(len(ids) + 1, np.int64)
    numbers[own] = ids
    return store, numbers


def _facts(state: State, numbers: I64) -> pa.Table:
    """The facts of the default graph: s, p, o, status, count."""
    tables = state.tables
    parts = []
    for name in tables.names().tolist():
        relation = tables.relation(name)
        for s, o in relation.scan():
            marks = relation.status_of((s, o)), relation.count_of((s, o))
            parts.append((numbers[s], np.full(len(s), numbers[name]), numbers[o], *marks))
    return _table(["s", "p", "o", "status", "count"], parts)


def _rows(state: State, numbers: I64) -> pa.Table:
    """The rows of relations of rules: k, c0 (name), c1, ..., status, count."""
    tables = state.tables
    width = max([2, *(arity for _, arity in tables.tuple_names())])
    parts = []
    for name, arity in tables.tuple_names():
        relation = tables.tuples(name, arity)
        for columns in relation.scan():
            size = len(columns[0])
            nothing = [np.zeros(size, np.int64)] * (width - arity)
            marks = relation.status_of(columns), relation.count_of(columns)
            named = np.full(size, arity), np.full(size, numbers[name])
            parts.append((*named, *_renamed(columns, numbers), *nothing, *marks))
    return _table(["k", *(f"c{i}" for i in range(width + 1)), "status", "count"], parts)


def _renamed(columns: Columns, numbers: I64) -> Iterable[I64]:
    return [numbers[column] for column in columns]


def _table(names: Sequence[str], parts: Sequence[Sequence[Any]]) -> pa.Table:
    """Parts of columns as one table, with the types that they have on Spark."""
    made = {}
    for place, name in enumerate(names):
        kind = np.int32 if name in ("k", "status") else np.int64
        made[name] = np.concatenate([np.zeros(0, kind), *(part[place] for part in parts)])
        made[name] = made[name].astype(kind)
    return pa.table(made)
