"""Turning inference off: the changes that leave only asserted facts.

Start reading at `changes_to_asserted`. It looks at every row, not at rules, so it also
helps where rules cannot be compiled any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from triplestore.relations import EXPLICIT, HOLDS, INFERRED, ChangedRows, Changes, Tables
from triplestore.relations.packed_keys import Columns
from triplestore.relations.views.plain import PlainRelation
from triplestore.relations.views.wide import TupleRelation

Relation: TypeAlias = "PlainRelation | TupleRelation"


def changes_to_asserted(tables: Tables) -> Changes:
    """The changes after which only asserted facts are left, without counts.

    >>> rows = ChangedRows.of(([9, 9], [1, 2], [5, 5]), [EXPLICIT, INFERRED], count=[3, 1])
    >>> from triplestore.relations import Layer
    >>> tables = Tables([Layer.build(Changes(facts=rows))])
    >>> after = tables.push(Layer.build(changes_to_asserted(tables)))
    >>> after.total(), after.relation(9).status(1, 5) == EXPLICIT
    (1, True)
    """
    facts = []
    for name in tables.names().tolist():
        for rows in _rows_to_change(tables.stored_relation(name)):
            p = np.full(len(rows), name, dtype=np.uint32)
            columns = (p, *rows.columns)
            facts.append(ChangedRows.of(columns, rows.status, rows.previous, rows.count))
    tuples = {}
    for tuple_name in tables.tuple_names():
        found = list(_rows_to_change(tables.tuples(*tuple_name)))
        if found:
            tuples[tuple_name] = ChangedRows.concat(found)
    if not facts:
        return Changes(tuples=tuples)
    return Changes(facts=ChangedRows.concat(facts), tuples=tuples)


def _rows_to_change(relation: Relation) -> Iterator[ChangedRows]:
    for columns in relation.scan(HOLDS):
        status, count = relation.status_of(columns), relation.count_of(columns)
        wrong = (status == INFERRED) | (count != 0)
        if wrong.any():
            kept: Columns = tuple(column[wrong] for column in columns)
            before = status[wrong]
            now = np.where(before == EXPLICIT, EXPLICIT, 0)
            yield ChangedRows.of(kept, now, before, np.zeros(len(before), dtype=np.uint32))
