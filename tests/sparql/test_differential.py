"""Random queries over random data: the same bags as pyoxigraph's, optimised or not.

Where pyoxigraph and the specification part, the generator leaves the construct out and says so.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pyoxigraph as ox
import pytest
from support.fuzzing import each_seed

from tests.conformance.sparql_evaluation import normal
from tests.sparql.generate import Queries, random_data
from triplestore import Store
from triplestore.sparql.plan.planner import ALL_OFF, PlanOptions
from triplestore.store.arguments import QueryOptions
from triplestore.store.run_query import query

OPTIONS = (  # some twice: the second time by the plan that was kept
    PlanOptions(),
    PlanOptions(),
    PlanOptions(seed_from=0.0),
    PlanOptions(seed_from=0.0),
    PlanOptions(cyclic_from=0.0, cyclic_rows=0.0),
    ALL_OFF,
)
PREFIX = "PREFIX ex: <http://ex.org/> "


def bag(result: Any) -> Counter[Any] | bool:
    """The solutions, each as often as it comes."""
    if isinstance(result, bool | ox.QueryBoolean):
        return bool(result)
    names = [getattr(variable, "value", variable) for variable in result.variables]
    return Counter(
        tuple(sorted((n, str(normal(v))) for n, v in zip(names, row, strict=True) if v is not None))
        for row in result
    )


def compare(seed: int, queries: int, depth: int = 2) -> int:
    """Ask some queries of one set of data; how many pyoxigraph answered."""
    rng = random.Random(seed)
    data = random_data(rng)
    ours, theirs = Store(), ox.Store()
    ours.extend(data)
    theirs.extend(data)
    asked = 0
    for _ in range(queries):
        text = PREFIX + Queries(rng, depth).query()
        try:
            wanted = bag(theirs.query(text))
        except SyntaxError:
            continue  # a variable that BIND may not use again
        asked += 1
        for options in OPTIONS:
            found = bag(query(ours._view(), text, QueryOptions(planning=options)))
            assert found == wanted, f"seed {seed}, {options}:\n{text}"
    return asked


@each_seed(range(8))
def test_queries__same_bags_as_pyoxigraph(seed: int) -> None:
    assert compare(seed, 25) > 10


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
def test_queries__same_bags_as_pyoxigraph__long(part: int) -> None:
    asked = sum(compare(1000 + 100 * part + seed, 12, 2 + seed % 2) for seed in range(100))
    assert asked > 1000
