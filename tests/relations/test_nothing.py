"""Statuses of no rows at all: what a query asks for when a filter has left nothing."""

from __future__ import annotations

import numpy as np

from triplestore.relations import Tables, bulk_layer

NONE = np.empty(0, dtype=np.uint32)
ONE = np.array([5], dtype=np.uint32)


def test_statuses__of_no_rows_are_none() -> None:
    for tables in (Tables(), Tables().push(bulk_layer(ONE, ONE, ONE))):
        assert tables.status_of_facts(NONE, NONE, NONE).tolist() == []
        assert tables.status_of_quads(NONE, NONE, NONE, NONE).tolist() == []
