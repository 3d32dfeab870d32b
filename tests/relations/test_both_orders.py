"""Statuses of rows are the same in both orders of a relation."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from triplestore.relations import ChangedRows, Changes, Layer, Tables
from triplestore.relations.facts.stored_facts import Stored, StoredPairs
from triplestore.relations.packed_keys import pack
from triplestore.relations.status import EXPLICIT, INFERRED
from triplestore.relations.thresholds import RELATIONS

TYPE = 9
IDS = [1, 2, 3, 7, 0xFFFFFFFF]
ROW = st.tuples(st.sampled_from(IDS), st.sampled_from(IDS))
WRITES = st.dictionaries(
    ROW, st.tuples(st.sampled_from([0, EXPLICIT, INFERRED]), st.integers(0, 3))
)


@settings(max_examples=100, deadline=None)
@given(commits=st.lists(WRITES, max_size=4), wanted=st.lists(ROW, max_size=20))
def test_look_ups__by_second_id_give_what_the_rows_say(commits, wanted):
    tables = Tables()
    now: dict = {}
    for commit in commits:
        now.update(commit)
        tables = tables.push(layer_of(commit, tables))
    pairs = Stored(tables, TYPE).of(TYPE)
    assert isinstance(pairs, StoredPairs) and pairs.flipped
    s, o = (np.array([row[at] for row in wanted], np.uint32) for at in (0, 1))
    expected = [now.get(row, (0, 0)) for row in wanted]
    with RELATIONS.changed(sorted_look_ups=0, look_up_rows=1 << 40):
        status, counts = pairs.look_up(pack(o, s))
        assert pairs.status(pack(o, s)).tolist() == status.tolist()
    assert status.tolist() == [state for state, _ in expected]
    assert counts.tolist() == [count if state else 0 for state, count in expected]
    assert tables.relation(TYPE).status_of((s, o)).tolist() == status.tolist()


def layer_of(commit: dict, below: Tables) -> Layer:
    rows = sorted(commit)
    s, o = (np.array([row[at] for row in rows], np.uint32) for at in (0, 1))
    p = np.full(len(rows), TYPE, np.uint32)
    status = np.array([commit[row][0] for row in rows], np.uint8)
    counts = np.array([commit[row][1] for row in rows], np.uint32)
    before = below.relation(TYPE).status_of((s, o))
    return Layer.build(Changes(facts=ChangedRows.of((p, s, o), status, before, counts)))
