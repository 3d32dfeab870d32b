"""Every way to read tables, compared with the model."""

from __future__ import annotations

import itertools

import numpy as np

from tests.relations.model import NAMED, PREDICATES, TERMS, Model, Row, array, scanned, table_rows
from triplestore.relations import (
    EXPLICIT,
    GRAPHS,
    HOLDS,
    INFERRED,
    OBJECT,
    SUBJECT,
    Tables,
)
from triplestore.relations.relation import StoredRelation
from triplestore.relations.views.virtual import AllFacts

FILTERS = (HOLDS, EXPLICIT, INFERRED)


def columns(rows: list[Row], arity: int) -> tuple[np.ndarray, ...]:
    table = np.array(rows, dtype=np.uint32).reshape(len(rows), arity).T
    return tuple(np.ascontiguousarray(column) for column in table)


def check_all(tables: Tables, model: Model) -> None:
    check_totals(tables, model)
    for name in PREDICATES:
        rows = {row[1:]: model.kinds["facts"][row] for row in named(model, "facts", name)}
        check_relation(tables.relation(name), rows, 2)
        rows = {row[1:]: model.kinds["quads"][row] for row in named(model, "quads", name)}
        check_relation(tables.quads(name), rows, 3, ids=TERMS + NAMED)
    for kind, held in model.kinds.items():
        if "/" in kind:
            name, arity = (int(part) for part in kind.split("/"))
            check_relation(tables.tuples(name, arity), held, arity)
    check_slices(tables, model)
    check_graphs(tables, model)
    check_terms(tables, model)
    swapped = {(s, p, o): word for (p, s, o), word in model.kinds.get("facts", {}).items()}
    check_relation(AllFacts(tables), swapped, 3, ids=TERMS + PREDICATES)


def named(model: Model, kind: str, name: int) -> list[Row]:
    return [row for row in model.kinds.get(kind, {}) if row[0] == name]


def check_totals(tables: Tables, model: Model) -> None:
    for where in FILTERS:
        assert tables.total(where) == len(model.rows("facts", where))
        assert tables.quad_total(where) == len(model.rows("quads", where))
        for kind in model.kinds:
            assert sorted(table_rows(tables, kind, where)) == sorted(model.rows(kind, where))
    assert tables.names().tolist() == sorted({row[0] for row in model.rows("facts")})
    assert tables.quad_names().tolist() == sorted({row[0] for row in model.rows("quads")})
    tuples = [tuple(map(int, kind.split("/"))) for kind in model.kinds if "/" in kind]
    assert tables.tuple_names() == sorted(n for n in tuples if model.kinds[f"{n[0]}/{n[1]}"])


def check_relation(
    relation: StoredRelation, held: dict[Row, tuple[int, int]], arity: int, ids: list[int] = TERMS
) -> None:
    assert isinstance(relation, StoredRelation)
    assert relation.arity == arity
    assert len(relation) == len(held) == relation.estimate()
    statuses = {row: status for row, (status, _) in held.items()}
    for where in FILTERS:
        rows = sorted(row for row, status in statuses.items() if status & where)
        assert relation.count(where) == len(rows)
        check_scans(relation, rows, where)
        if where != EXPLICIT:  # the filter is one code path; two of three say enough
            check_probes(relation, rows, where, arity, ids)
    every = sorted(set(itertools.islice(itertools.product(ids, repeat=arity), 300)) | set(held))
    asked = columns(every, arity)
    assert relation.status_of(asked).tolist() == [statuses.get(row, 0) for row in every]
    assert relation.contains(asked).tolist() == [row in statuses for row in every]
    if hasattr(relation, "count_of"):
        counts = [held[row][1] if row in held else 0 for row in every]
        assert relation.count_of(asked).tolist() == counts


def check_scans(relation: StoredRelation, rows: list[Row], where: int) -> None:
    for order in range(relation.arity):
        by_order = sorted(rows, key=lambda row: (row[order], row))
        for block_rows in (1, 3, 1 << 16):
            found = scanned(relation, where, order=order, block_rows=block_rows)
            assert found == by_order, (order, block_rows)
        heads = sorted({row[order] for row in rows})
        assert relation.distinct(order, where).tolist() == heads
        for first in (*heads[:2], 3):
            slice_ = [row for row in by_order if row[order] == first]
            assert scanned(relation, where, order=order, first=first, block_rows=2) == slice_


def check_probes(
    relation: StoredRelation, rows: list[Row], where: int, arity: int, ids: list[int]
) -> None:
    for size in range(1, arity + 1):
        for places in itertools.combinations(range(arity), size):
            wanted = [tuple(row[place] for place in places) for row in rows]
            wanted += list(itertools.islice(itertools.product(ids, repeat=size), 9))
            wanted += wanted[:3]
            if sum(places) % 2:
                places, wanted = places[::-1], [want[::-1] for want in wanted]
            values = columns(wanted, size)
            expected = sorted(
                (index, *(row[place] for place in range(arity) if place not in places))
                for index, want in enumerate(wanted)
                for row in rows
                if tuple(row[place] for place in places) == want
            )
            index, free = relation.probe(places, values, where)
            assert (np.diff(index) >= 0).all()
            found = zip(index.tolist(), *(column.tolist() for column in free), strict=True)
            assert sorted(found) == expected
            pieces = []
            for index, free in relation.probe_blocks(places, values, where, block_rows=2):
                assert all(len(column) == len(index) for column in free)
                pieces += zip(index.tolist(), *(column.tolist() for column in free), strict=True)
            assert sorted(pieces) == expected
            fanout = relation.fanout(places, values)
            answers = np.bincount([row[0] for row in expected], minlength=len(wanted))
            assert (fanout >= answers).all()
            if size == 1:
                each = [relation.rows_with(places[0], int(value)) for value in values[0]]
                assert each == fanout.tolist()
            if size == 1:
                assert relation.semijoin(places[0], values[0], where).tolist() == [
                    bool(answer) for answer in answers
                ]


def check_slices(tables: Tables, model: Model) -> None:
    for name in PREDICATES:
        relation = tables.relation(name)
        for where in FILTERS:
            rows = {row[1:] for row in model.rows("facts", where) if row[0] == name}
            packed = sorted(s << 32 | o for s, o in rows)
            assert relation.keys(0, where).tolist() == packed
            packed = sorted(o << 32 | s for s, o in rows)
            assert relation.keys(1, where).tolist() == packed
            for term in TERMS:
                by_first = sorted(o for s, o in rows if s == term)
                by_second = sorted(s for s, o in rows if o == term)
                assert relation.by_first(term, where).tolist() == by_first
                assert relation.by_second(term, where).tolist() == by_second


def check_graphs(tables: Tables, model: Model) -> None:
    assert tables.graphs().tolist() == sorted(row[0] for row in model.rows("graphs"))
    for graph in NAMED:
        assert tables.has_graph(graph) == ((graph,) in model.rows("graphs"))
        view = tables.graph(graph)
        for where in FILTERS:
            rows = {row for row in model.rows("quads", where) if row[3] == graph}
            assert view.count(where) == len(rows)
        held = {row for row in model.rows("quads") if row[3] == graph}
        assert view.names().tolist() == sorted({row[0] for row in held})
        for name in PREDICATES:
            words = {row[1:3]: model.kinds["quads"][row] for row in held if row[0] == name}
            relation = view.relation(name)
            status = {row: (word[0], 0) for row, word in words.items()}
            for term in TERMS:
                by_second = sorted(s for s, o in words if o == term)
                assert relation.by_second(term).tolist() == by_second
            check_relation(relation, status, 2)


def check_terms(tables: Tables, model: Model) -> None:
    terms = array([*TERMS, 99])
    for role, place in ((SUBJECT, 1), (OBJECT, 2)):
        index, names = tables.predicates_of(terms, role)
        found = set(zip(index.tolist(), names.tolist(), strict=True))
        assert len(found) == len(index)
        held = model.rows("facts") | model.rows("quads")
        needed = {
            (number, row[0])
            for number, term in enumerate(terms.tolist())
            for row in held
            if row[place] == term
        }
        assert needed <= found


__all__ = ["GRAPHS", "check_all"]
