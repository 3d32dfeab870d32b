"""Bulk layers: what they hold, with and without kernels, on empty and on filled stores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.relations.checks import check_all
from tests.relations.model import (
    Model,
    array,
    commits,
    facts,
    few_quads,
    merge_all,
    quads,
    reopened,
)
from triplestore.relations import EXPLICIT, INFERRED, OBJECT, SUBJECT, Layer, Tables, bulk_layer
from triplestore.relations.layers import characteristic_sets
from triplestore.relations.layers.bulk import bulk_of_relations
from triplestore.relations.thresholds import RELATIONS


@pytest.fixture(params=["numpy", "kernels"])
def way(request: pytest.FixtureRequest, tune: Callable[..., None]) -> str:
    """Run with plain numpy, and with kernels that get a few rows at a time."""
    if request.param == "kernels":
        tune(RELATIONS, kernel_rows=0, piece_rows=7)
    return request.param


def bulk(rows: list, status: int = EXPLICIT, **options: object) -> Layer:
    columns = np.array([(*row, 0)[:4] for row in rows], dtype=np.uint32).reshape(-1, 4).T
    p, s, o, g = (np.ascontiguousarray(column) for column in columns)
    for column in (p, s, o, g):
        column.flags.writeable = False
    return bulk_layer(p, s, o, g, status, **options)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.one_of(facts, quads, few_quads), max_size=40),
    st.sampled_from([EXPLICIT, INFERRED]),
    commits(),
    st.integers(1, 3),
)
def test_bulk__on_top_of_a_commit(
    way: str, rows: list, status: int, commit: dict, threads: int
) -> None:
    model = Model()
    tables = Tables().push(Layer.build(model.changes(commit, counted=False)))
    model.apply(commit, counted=False)
    layer = bulk(rows, status, below=tables, threads=threads)
    layer.validate()
    kinds = {3: "facts", 4: "quads"}
    for row in rows:
        model.kinds.setdefault(kinds[len(row)], {})[row] = (status, 0)
        if len(row) == 4:
            graphs = model.kinds.setdefault("graphs", {})
            graphs.setdefault((row[3],), (EXPLICIT, 0))
    # Rows that had the status before are not said again.
    assert layer.rows <= len({*rows}) + len({row[3] for row in rows if len(row) == 4})
    on_top = Tables((*tables.layers, layer))
    on_top.validate()
    if model.kinds:
        check_all(on_top, with_all_kinds(model))
        check_all(merge_all(Tables([*tables.layers, reopened(layer)])), with_all_kinds(model))


def with_all_kinds(model: Model) -> Model:
    for kind in ("facts", "quads", "graphs"):
        model.kinds.setdefault(kind, {})
    return model


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 1 << 30),
    rows=st.sampled_from([1, 6, 7, 8, 13, 14, 15, 300, 3000]),
    names=st.sampled_from([1, 3, 2000]),
    threads=st.integers(1, 3),
)
def test_bulk__many_rows_statistics_and_sets(
    way: str, seed: int, rows: int, names: int, threads: int
) -> None:
    random = np.random.default_rng(seed)
    p = random.integers(1, names + 1, rows, dtype=np.uint32)
    s, o = (random.integers(1, 40, rows, dtype=np.uint32) for _ in range(2))
    layer = bulk_layer(p, s, o, threads=threads)
    layer.validate()
    held = set(zip(p.tolist(), s.tolist(), o.tolist(), strict=True))
    table = layer.facts
    assert layer.rows == len(held) == table.nets.total()[0]
    for place, name in enumerate(table.forward.names.tolist()):
        mine = {row[1:] for row in held if row[0] == name}
        assert table.nets.of(place) == (len(mine), 0)
        assert table.firsts[place] == len({s for s, _ in mine})
        assert table.seconds[place] == len({o for _, o in mine})
    for sets, place in ((layer.subjects, 1), (layer.objects, 2)):
        check_sets(sets, held, place)
    reopened(layer).validate()


def check_sets(sets: characteristic_sets.CharacteristicSets, held: set, place: int) -> None:
    names_of: dict[int, set[int]] = {}
    for row in held:
        names_of.setdefault(row[place], set()).add(row[0])
    terms = array(range(42))
    index, names = sets.names_of(terms)
    found: dict[int, set[int]] = {}
    for term, name in zip(index.tolist(), names.tolist(), strict=True):
        found.setdefault(term, set()).add(name)
    assert found == names_of
    assert sets.terms == len(names_of)
    groups = Counter(frozenset(names) for names in names_of.values())
    assert len(sets) == len(groups)
    for number, size in enumerate(sets.sizes.all().tolist()):
        assert groups[frozenset(sets.predicates(number).tolist())] == size
    for term in range(42):
        number = sets.set_of(term)
        assert (number >= 0) == (term in names_of)
        assert number < 0 or {*sets.predicates(number).tolist()} == names_of[term]


def test_bulk__sparse_and_dense_sets_answer_alike(way: str) -> None:
    for step in (1, 1000):
        s = np.arange(1, 200, dtype=np.uint32) * step
        p = np.where(s % 3 == 0, 5, 6).astype(np.uint32)
        sets = reopened(bulk_layer(p, s, s)).subjects
        assert (sets.ids is None) == (step == 1)
        asked = np.array([0, step, 3 * step, 3 * step + 1, 199 * step, 0xFFFFFFFF], np.uint32)
        index, names = Tables([bulk_layer(p, s, s)]).predicates_of(asked, SUBJECT)
        expected = [(n, 5 if x % 3 == 0 else 6) for n, x in enumerate(asked) if x in s]
        assert list(zip(index.tolist(), names.tolist(), strict=True)) == expected


def test_bulk__graphs_exist_even_if_empty() -> None:
    layer = bulk([(1, 2, 3, 9)], graphs=array([7, 8, 7]))
    tables = Tables([layer])
    assert tables.graphs().tolist() == [7, 8, 9]
    again = bulk([(1, 2, 4, 9)], graphs=array([8, 10]), below=tables)
    assert Tables([layer, again]).graphs().tolist() == [7, 8, 9, 10]
    assert len(again.tuples[0, 1]) == 1


def test_bulk__refuses_predicate_0() -> None:
    with pytest.raises(AssertionError, match="id 0"):
        bulk([(0, 1, 2)])


def test_bulk__every_row_known_gives_an_empty_layer() -> None:
    rows = [(1, 2, 3), (1, 2, 4), (2, 2, 4, 9)]
    tables = Tables([bulk(rows)])
    assert bulk(rows, below=tables).rows == 0
    inferred = bulk(rows, INFERRED, below=tables)
    both = Tables([*tables.layers, inferred])
    assert (both.total(EXPLICIT), both.total(INFERRED), both.quad_total(INFERRED)) == (0, 2, 1)
    assert OBJECT == 1


def test_bulk__totals_of_graphs_when_some_rows_were_inferred() -> None:
    rows = [(p, s, 5, g) for p in (1, 2) for s in (1, 2, 3) for g in (7, 8)]
    before = Tables([bulk([row for row in rows if row[3] == 7 and row[1] > 1], INFERRED)])
    after = Tables([*before.layers, bulk(rows, below=before)])
    for graph in (7, 8):
        assert after.graph(graph).count(EXPLICIT) == 6
        assert after.graph(graph).count(INFERRED) == 0
    assert after.quad_total() == len(rows)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(facts, st.booleans()), max_size=40), commits())
def test_layer_of_relations__is_the_bulk_layer(way: str, rows: list, commit: dict) -> None:
    model = Model()
    tables = Tables().push(Layer.build(model.changes(commit, counted=False)))
    relations: dict = {}
    for (p, s, o), alone in rows:  # an object for all, or a column of objects
        second = o if alone else np.array([o], np.uint32)
        relations.setdefault(p, []).append((np.array([s], np.uint32), second))
    layer = bulk_of_relations(relations, below=tables)
    layer.validate()
    wanted = bulk([row for row, _ in rows], below=tables)
    for one, other in (
        (layer.facts.forward, wanted.facts.forward),
        (layer.facts.backward, wanted.facts.backward),
    ):
        assert one.keys.all().tolist() == other.keys.all().tolist()
        assert one.names.tolist() == other.names.tolist()
    after = [tables.push(made) for made in (layer, wanted)]
    assert after[0].total() == after[1].total()
