"""Graphs: components and closures are those of a search from each node."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.fuzzing import each_seed

from tests.spark.random_programs_on_spark import small_jobs
from triplestore.loaders.spark.closure.facts import local_frame
from triplestore.loaders.spark.closure.graphs import Graphs, knots, united
from triplestore.loaders.spark.thresholds import SPARK

Edge = tuple[int, int]


@pytest.fixture
def quick(spark: Any) -> Iterator[Any]:
    with small_jobs(spark):
        yield spark


def random_edges(seed: int) -> list[Edge]:
    """Few or many edges among a few nodes, some of a node with itself."""
    rng = random.Random(seed)
    nodes = rng.randint(2, 12)
    count = rng.randint(1, 2 * nodes)
    return [(rng.randint(1, nodes), rng.randint(1, nodes)) for _ in range(count)]


def reached(edges: Iterable[Edge]) -> set[Edge]:
    found = set(edges)
    while True:
        more = {(a, d) for a, b in found for c, d in found if b == c} - found
        if not more:
            return found
        found |= more


def columns(edges: Iterable[Edge]) -> tuple[Any, Any]:
    a, b = np.array(list(edges), np.int64).T
    return a, b


@each_seed(range(50))
def test_united__names_each_component_by_its_least_node(seed: int) -> None:
    edges = random_edges(seed)
    pairs = reached([*edges, *[(b, a) for a, b in edges]])
    nodes, roots = united(*columns(edges))
    wanted = {node: min([node, *[b for a, b in pairs if a == node]]) for node in nodes.tolist()}
    assert dict(zip(nodes.tolist(), roots.tolist(), strict=True)) == wanted


@each_seed(range(50))
def test_knots__are_the_strong_components_of_several_nodes(seed: int) -> None:
    edges = random_edges(seed)
    pairs = reached(edges)
    mutual = {(a, b) for a, b in pairs if a != b and (b, a) in pairs}
    wanted = {a: min([a, *[d for c, d in mutual if c == a]]) for a, _ in mutual}
    nodes, roots = knots(*columns(edges))
    assert dict(zip(nodes.tolist(), roots.tolist(), strict=True)) == wanted


def disjoint(graphs: int, start: int) -> list[Edge]:
    """Random graphs beside each other, so that one run sees many."""
    return [(a + 100 * i, b + 100 * i) for i in range(graphs) for a, b in random_edges(start + i)]


@pytest.mark.parametrize(
    ("most", "driver_pairs"),
    [
        pytest.param(0, 0, id="on Spark"),
        pytest.param(10_000, 0, id="knots by the driver", marks=pytest.mark.long),
        pytest.param(10_000, 10_000, id="by the driver"),
    ],
)
@pytest.mark.parametrize("starts", [pytest.param("", marks=pytest.mark.long), "a % 3 = 1"])
def test_reachable__is_what_a_search_finds(
    quick: Any,
    tmp_path: Path,
    tune: Callable[..., None],
    most: int,
    driver_pairs: int,
    starts: str,
) -> None:
    tune(SPARK, driver_pairs=driver_pairs)
    edges = disjoint(20, 0)
    frame = local_frame(quick, ["a", "b"], edges)
    found = Graphs(quick, str(tmp_path), most).reachable(frame, starts).collect()
    assert len(found) == len(set(found)), "a pair comes once"
    wanted = {(a, b) for a, b in reached(edges) if not starts or a % 3 == 1}
    assert {(a, b) for a, b in found} == wanted


def test_reachable__is_left_to_spark_if_the_pairs_are_many(
    quick: Any, tmp_path: Path, tune: Callable[..., None]
) -> None:
    tune(SPARK, driver_pairs=44)
    edges = [(a, a + 1) for a in range(9)]
    graphs = Graphs(quick, str(tmp_path), 10)
    assert graphs.reachable(local_frame(quick, ["a", "b"], edges)).count() == 45
    assert graphs.steps > 2


def test_connected__finds_the_least_node_of_each_component(quick: Any, tmp_path: Path) -> None:
    edges = [*disjoint(20, 50), *[(10_000 + i, 10_001 + i) for i in range(60)]]
    frame = local_frame(quick, ["a", "b"], edges)
    graphs = Graphs(quick, str(tmp_path), 0)
    found = {int(node): int(root) for node, root in graphs.connected(frame).collect()}
    nodes, roots = united(*columns(edges))
    assert found == dict(zip(nodes.tolist(), roots.tolist(), strict=True))
    assert graphs.steps < 30, "a path of 60 edges is not walked along"


@pytest.mark.long
def test_reachable__goes_along_a_path_in_steps_that_double(
    quick: Any, tmp_path: Path, tune: Callable[..., None]
) -> None:
    tune(SPARK, driver_pairs=0)
    edges = [(i, i + 1) for i in range(100)]
    graphs = Graphs(quick, str(tmp_path), 10_000)
    assert graphs.reachable(local_frame(quick, ["a", "b"], edges)).count() == 100 * 101 // 2
    assert graphs.steps <= 20
