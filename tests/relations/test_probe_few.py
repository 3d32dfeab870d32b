"""Few ids looked up in one run: the same as by the general way."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from triplestore.relations import Tables, bulk_layer
from triplestore.relations.status import EXPLICIT, HOLDS, INFERRED
from triplestore.relations.thresholds import RELATIONS
from triplestore.relations.views.plain import PlainRelation

PREDICATE = 9
IDS = [*range(1, 12), 0xEFFFFFFF, 0xFFFFFFFF]


def general(relation: PlainRelation, order: int, ids: np.ndarray, where: int, most: int):
    """The answer without the short way."""
    with RELATIONS.changed(probed_ids=-1):
        return joined(relation.probe_blocks((order,), (ids,), where, most))


def joined(parts: object) -> list[tuple[int, int]]:
    return [
        pair for index, (free,) in parts for pair in zip(index.tolist(), free.tolist(), strict=True)
    ]


@settings(max_examples=150, deadline=None)
@given(
    rows=st.sets(st.tuples(st.sampled_from(IDS), st.sampled_from(IDS)), min_size=1, max_size=60),
    ids=st.lists(st.sampled_from([0, *IDS, 99, 0xF0000000]), max_size=20),
    order=st.sampled_from([0, 1]),
    where=st.sampled_from([HOLDS, EXPLICIT, INFERRED]),
    most=st.sampled_from([1, 3, 1000]),
)
def test_few_ids__are_found_as_many_are(rows, ids, order, where, most):
    s, o = np.array(sorted(rows), np.uint32).T
    relation = Tables([bulk_layer(np.full(len(s), PREDICATE, np.uint32), s, o)]).relation(PREDICATE)
    wanted = np.array(ids, np.uint32)
    found = joined(relation.probe_blocks((order,), (wanted,), where, most))
    assert found == general(relation, order, wanted, where, most)
    if where != INFERRED:
        free = 1 - order
        assert found == [
            (place, row[free])
            for place, one in enumerate(ids)
            for row in sorted(rows, key=lambda row: row[free])
            if row[order] == one
        ]
