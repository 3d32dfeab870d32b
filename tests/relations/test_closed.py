"""Relations whose closure is not written: they read like those whose closure is."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.fuzzing import each_seed

from tests.maintenance.written import WrittenClosure, keys_of
from triplestore.closures.attached import Attached, Structure
from triplestore.relations import EXPLICIT, HOLDS, INFERRED, ChangedRows, Changes, Layer, Tables
from triplestore.relations.views.plain import PlainRelation
from triplestore.relations.views.virtual import AllFacts

NODES = range(1, 9)
KNOWS, KNOWN, OTHER = 20, 21, 22
"""The closed relation, the same turned around, and one that is not closed."""


def both(seed: int) -> tuple[Tables, Tables]:
    """Tables with a closure that is not written, and with all of it as rows."""
    rng = random.Random(seed)
    symmetric = seed % 3 == 0
    pairs = [(rng.choice(NODES), rng.choice(NODES)) for _ in range(rng.choice((0, 1, 4, 9)))]
    scheme = WrittenClosure(pairs, symmetric)
    stated = {pair for pair in scheme.pairs if pair in pairs and rng.random() < 0.6}
    turned_stated = {pair for pair in pairs if pair not in stated}
    counts = {pair: rng.randint(0, 2) for pair in stated}
    rows: list[tuple[int, int, int, int, int]] = []
    rows += [(KNOWS, a, b, EXPLICIT, counts[a, b]) for a, b in stated]
    rows += [(KNOWN, b, a, INFERRED, 3) for a, b in turned_stated]
    rows += [(OTHER, a, b, EXPLICIT, 0) for a, b in pairs[:3]]
    structure = Structure("any", (b"", b""), (False, not symmetric))
    attached = Attached(structure, (KNOWS, KNOWN), scheme, True)
    closed = tables_of(rows).with_schemes({KNOWS: attached})
    written = {(p, s, o) for p, s, o, _, _ in rows}
    rows += [(KNOWS, a, b, INFERRED, 0) for a, b in scheme.pairs if (KNOWS, a, b) not in written]
    rows += [(KNOWN, b, a, INFERRED, 0) for a, b in scheme.pairs if (KNOWN, b, a) not in written]
    return closed, tables_of(rows)


def tables_of(rows: list[tuple[int, int, int, int, int]]) -> Tables:
    if not rows:
        return Tables()
    columns = [list(column) for column in zip(*sorted(set(rows)), strict=True)]
    changed = ChangedRows.of(columns[:3], columns[3], count=columns[4])
    return Tables([Layer.build(Changes(facts=changed))])


def listed(value: Any) -> Any:
    """Arrays as lists; the rows of blocks put together."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [listed(part) for part in value]
    return value


def joined(blocks: Any) -> list[Any]:
    return [row for block in blocks for row in zip(*map(listed, block), strict=True)]


ids = np.arange(0, 10, dtype=np.uint32)
some = np.array([3, 3, 1, 8, 0, 5], dtype=np.uint32)
every = keys_of((a, b) for a in ids.tolist() for b in ids.tolist())
columns_of_every = ((every >> np.uint64(32)).astype(np.uint32), every.astype(np.uint32))

READS = {
    "len": len,
    "keys": lambda r: [listed(r.keys(order, w)) for order in (0, 1) for w in (1, 2, 3)],
    "scan": lambda r: [
        joined(r.scan(w, order=order, first=first, block_rows=rows))
        for w in (1, 2, 3)
        for order in (0, 1)
        for first in (None, 1, 5)
        for rows in (2, 1000)
    ],
    "by": lambda r: [
        (listed(r.by_first(i, w)), listed(r.by_second(i, w))) for i in range(10) for w in (1, 2, 3)
    ],
    "count": lambda r: [r.count(where) for where in (1, 2, 3)],
    "distinct": lambda r: [listed(r.distinct(c, w)) for c in (0, 1) for w in (1, 2, 3)],
    "probe": lambda r: [
        listed(r.probe((column,), (values,), where))
        for column in (0, 1)
        for values in (ids, some)
        for where in (1, 2, 3)
    ],
    "probe_blocks": lambda r: [
        joined((i, *free) for i, free in r.probe_blocks((column,), (some,), where, 2))
        for column in (0, 1)
        for where in (1, 2, 3)
    ],
    "probe rows": lambda r: [listed(r.probe((1, 0), columns_of_every, w)) for w in (1, 2, 3)],
    "contains": lambda r: [listed(r.contains(columns_of_every, w)) for w in (1, 2, 3)],
    "status": lambda r: [r.status(a, b) for a in range(10) for b in range(10)],
    "statuses": lambda r: listed(r.look_up_keys(every)),
    "counts": lambda r: listed(r.count_of(columns_of_every)),
    "semijoin": lambda r: [listed(r.semijoin(c, some, w)) for c in (0, 1) for w in (1, 2, 3)],
    "estimate": lambda r: [r.estimate(bound) for bound in ((), (0,), (1,))],
    "runs": lambda r: [[listed(run.keys[run.lo : run.hi]) for run in r.runs(o)] for o in (0, 1)],
}


@pytest.mark.parametrize("read", READS)
def test_closed_relation__reads_like_one_that_is_written(read: str) -> None:
    for seed in range(12):
        closed, written = both(seed)
        for name in (KNOWS, KNOWN, OTHER):
            expected = READS[read](written.relation(name))
            assert READS[read](closed.relation(name)) == expected, (seed, name)


def test_closed_relation__a_probe_looks_at_no_fewer_rows_than_it_gives() -> None:
    for seed in range(12):
        closed, written = both(seed)
        for name in (KNOWS, KNOWN):
            for column in (0, 1):
                looked_at = closed.relation(name).fanout((column,), (ids,))
                index, _ = written.relation(name).probe((column,), (ids,))
                assert (looked_at >= np.bincount(index, minlength=len(ids))).all()


def test_tables__count_and_name_what_is_not_written() -> None:
    for seed in range(12):
        closed, written = both(seed)
        for where in (EXPLICIT, INFERRED, HOLDS):
            assert closed.total(where) == written.total(where)
        assert closed.names().tolist() == written.names().tolist()
        for role in (0, 1):
            for terms in (ids, some, ids[5:6]):
                expected = listed(written.predicates_of(terms, role))
                assert listed(closed.predicates_of(terms, role)) == expected
        p = np.repeat(np.array([KNOWS, KNOWN], dtype=np.uint32), len(every))
        s, o = (np.tile(column, 2) for column in columns_of_every)
        expected = written.status_of_facts(p, s, o).tolist()
        assert closed.status_of_facts(p, s, o).tolist() == expected
        closed.validate()


def test_tables__all_facts_have_what_is_not_written() -> None:
    for seed in range(12):
        closed, written = both(seed)
        for order in (0, 1, 2):
            got = joined(AllFacts(closed).scan(order=order))
            assert sorted(got) == sorted(joined(AllFacts(written).scan(order=order)))
            assert [row[order] for row in got] == sorted(row[order] for row in got)
        for column in (0, 2):
            got = listed(AllFacts(closed).probe((column,), (some,)))
            assert got == listed(AllFacts(written).probe((column,), (some,)))


def test_tables__keep_their_schemes_through_pushes_and_merges() -> None:
    closed, _ = both(4)
    row = ChangedRows.of(([OTHER], [1], [9]))
    more = closed.push(Layer.build(Changes(facts=row)))
    assert isinstance(more.relation(KNOWS), type(closed.relation(KNOWS)))
    assert more.sealed().schemes is closed.schemes
    assert type(closed.with_schemes({}).relation(KNOWS)) is PlainRelation


def test_stored_relation__is_what_is_written() -> None:
    sizes = []
    for seed in range(12):
        closed, written = both(seed)
        stored = closed.stored_relation(KNOWS)
        sizes.append(0 < len(stored) < len(written.relation(KNOWS)))
        p = np.full(len(every), KNOWS, dtype=np.uint32)
        got = closed.stored_status_of_facts(p, *columns_of_every)
        assert got.tolist() == stored.status_of_keys(every).tolist()
    assert any(sizes)


@each_seed(range(6))
def test_closed_relation__what_it_returned_is_written_over__answers_the_same(seed: int) -> None:
    tables, _ = both(seed)
    nodes = np.array(NODES, dtype=np.uint32)

    def answers() -> Iterator[np.ndarray]:
        for name in (KNOWS, KNOWN):
            relation = tables.relation(name)
            for order in (0, 1):
                yield relation.keys(order)
                yield relation.distinct(order)
                yield from (run.keys.all() for run in relation.runs(order))
                yield from relation.scan_keys(order=order)
                index, (free,) = relation.probe((order,), (nodes,))
                yield from (index, free)
            yield relation.by_first(NODES[0])
            yield relation.by_second(NODES[0])

    before = [array.tolist() for array in answers()]
    for array in answers():
        if array.flags.writeable:
            array[...] = 1
    assert [array.tolist() for array in answers()] == before
