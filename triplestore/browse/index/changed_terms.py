"""What differs between two states of a store, for an index of its terms: start at `changed_terms`.

Two stacks of tables share most of their layers. A row that holds in one state only is in a layer
that only one of them has; so these layers tell which terms are touched.
"""

from __future__ import annotations

import numpy as np

from triplestore.browse.index.label_texts import ALL_LABELS
from triplestore.browse.index.term_usage import Usage, ids_of, kinds_among
from triplestore.browse.thresholds import BROWSE
from triplestore.data_classes import data_class
from triplestore.relations import Tables
from triplestore.relations.layers.table import Table
from triplestore.relations.packed_keys import (
    I64,
    NO_IDS,
    NO_KEYS,
    U32,
    U64,
    Bools,
    Columns,
    high,
    low,
    pack,
)
from triplestore.relations.views.equality import equality_of
from triplestore.terms import Dictionary


@data_class(eq=False)
class ChangedTerms:
    """What is touched.

    usage   what terms are and how often they are used, in the new state
    terms   the terms in rows that may have changed, increasing
    labels  the rows of properties for labels that may have changed, as sorted keys (term, label)
    holds   which of these hold in the new state
    """

    usage: Usage
    terms: U32
    labels: U64
    holds: Bools


def changed_terms(
    usage: Usage, before: Tables, after: Tables, dictionary: Dictionary
) -> ChangedTerms | None:
    """What differs between two states; None if that cannot be told, or is too much.

    usage  that of the state before
    """
    if equality_of(before) is not None or equality_of(after) is not None:
        return None  # facts of equals are not rows
    old, new = ({id(layer): layer for layer in tables.layers} for tables in (before, after))
    layers = [layer for key, layer in (old | new).items() if (key in old) != (key in new)]
    if sum(layer.rows for layer in layers) > BROWSE.recounted_rows:
        return None
    facts = _distinct([_rows_of(layer.facts) for layer in layers], 3)
    quads = _distinct([_rows_of(layer.quads) for layer in layers], 4)
    terms = np.unique(np.concatenate([*facts, *quads]))
    more = np.zeros(len(terms), dtype=np.int64)
    for rows in (facts, quads):
        come = _come(before, after, rows)
        for column in rows:
            np.add.at(more, terms.searchsorted(column), come)
    uses, kinds = (_copied(column, dictionary.size + 1) for column in usage)
    now = uses[terms] + more
    uses[terms] = now
    kinds[terms] = kinds_among(after, dictionary, terms, now)
    labels = _label_keys(dictionary, facts, quads)
    holds = _hold(after, dictionary, labels)
    return ChangedTerms(Usage(uses, kinds), terms, labels, holds)


def _copied(column: np.ndarray, size: int) -> np.ndarray:
    """A copy with this length: cut, or with zeros at its end."""
    copied = np.zeros(size, dtype=column.dtype)
    copied[: len(column)] = column[:size]
    return copied


def _rows_of(table: Table) -> Columns:
    """The rows of a layer: property, subject, object, and the graph of quads."""
    order = table.forward
    keys = order.keys.all()
    names = np.repeat(order.names.astype(np.uint32), np.diff(order.starts))
    columns: Columns = (names, high(keys), low(keys))
    return columns if order.extra is None else (*columns, order.extra.all())


def _distinct(parts: list[Columns], arity: int) -> Columns:
    """Rows without repetitions."""
    full = [part for part in parts if len(part) == arity and len(part[0])]
    if not full:
        return (NO_IDS,) * arity
    columns = [np.concatenate(column) for column in zip(*full, strict=True)]
    if len(full) == 1:
        return tuple(columns)
    rows = np.unique(np.stack(columns), axis=1)
    return tuple(rows)


def _come(before: Tables, after: Tables, rows: Columns) -> I64:
    """For each row 1 if it came, -1 if it went, and 0 if it stayed."""
    if len(rows) == 3:
        was, now = (tables.stored_status_of_facts(*rows) != 0 for tables in (before, after))
    else:
        was, now = (tables.status_of_quads(*rows) != 0 for tables in (before, after))
    came: I64 = now.astype(np.int64) - was.astype(np.int64)
    return came


def _label_keys(dictionary: Dictionary, facts: Columns, quads: Columns) -> U64:
    """The rows of properties for labels."""
    names = np.array([name for name in ids_of(dictionary, ALL_LABELS) if name], dtype=np.uint32)
    found = [NO_KEYS]
    for rows in (facts, quads):
        is_label = np.isin(rows[0], names)
        found.append(pack(rows[1][is_label], rows[2][is_label]))
    return np.unique(np.concatenate(found))


def _hold(tables: Tables, dictionary: Dictionary, labels: U64) -> Bools:
    """Which rows (term, label) hold with any property for labels, in any graph."""
    holds = np.zeros(len(labels), dtype=np.bool_)
    if not len(labels):
        return holds
    columns = (high(labels), low(labels))
    for name in ids_of(dictionary, ALL_LABELS):
        if name:
            holds |= tables.relation(name).contains(columns)
            index, _ = tables.quads(name).probe((0, 1), columns)
            holds[index] = True
    return holds
