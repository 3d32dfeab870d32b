"""Distinct ids of a column where few ids have many rows: the rows of an id are skipped."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.relations.model import reopened
from triplestore.relations import EXPLICIT, INFERRED, Changes, Layer, Tables, bulk_layer
from triplestore.relations.changes import ChangedRows
from triplestore.relations.thresholds import RELATIONS

TYPE, CLASSES, MEMBERS = 9, [20, 21, 30], 10_000


def changed(class_: int, subjects: range, status: int, previous: int) -> Layer:
    rows = [TYPE] * len(subjects), list(subjects), [class_] * len(subjects)
    return Layer.build(Changes(facts=ChangedRows.of(rows, status, previous)))


@pytest.fixture
def tables() -> Tables:
    """Many members of three classes in a file; those of two go, all of one and most of another."""
    classes = np.repeat(np.array(CLASSES, np.uint32), MEMBERS)
    subjects = np.tile(np.arange(1000, 1000 + MEMBERS, dtype=np.uint32), len(CLASSES))
    bottom = bulk_layer(np.full(len(classes), TYPE, np.uint32), subjects, classes)
    made = Tables([reopened(bottom)])
    made = made.push(changed(21, range(1000, 1000 + MEMBERS), 0, EXPLICIT))
    made = made.push(changed(30, range(1000, 900 + MEMBERS), 0, EXPLICIT))
    return made.push(changed(40, range(1000, 1003), INFERRED, 0))


def test_distinct__ids_whose_rows_were_removed_do_not_occur(
    tables: Tables, tune: Callable[..., None]
) -> None:
    relation = tables.relation(TYPE)
    found = [relation.distinct(1, where).tolist() for where in (EXPLICIT, INFERRED, 3)]
    assert found == [[20, 30], [40], [20, 30, 40]]
    tune(RELATIONS, skipped_rows=1 << 60)
    assert found == [relation.distinct(1, where).tolist() for where in (EXPLICIT, INFERRED, 3)]


def test_distinct__reads_few_blocks_of_the_rows_of_each_id() -> None:
    classes = np.repeat(np.array(CLASSES, np.uint32), MEMBERS)
    subjects = np.tile(np.arange(1000, 1000 + MEMBERS, dtype=np.uint32), len(CLASSES))
    layer = reopened(bulk_layer(np.full(len(classes), TYPE, np.uint32), subjects, classes))
    relation = Tables([layer]).relation(TYPE)
    assert relation.distinct(1).tolist() == CLASSES
    guard = layer.facts.backward.keys._guard
    assert guard is not None
    assert len(guard.seen) * guard.block < len(classes) * 8 / 1.5
