"""Queries as users write them: the same bags as pyoxigraph's; explained, limited, asked again."""

from __future__ import annotations

import random

import pyoxigraph as ox
import pytest
from support.fuzzing import each_seed

from tests.sparql.generate_user import UserQueries, data
from tests.sparql.test_differential import bag
from triplestore import Store
from triplestore.errors import TimeLimitError


def compare(seed: int, queries: int) -> int:
    """Ask some queries of one set of data; how many pyoxigraph answered."""
    rng = random.Random(f"user/{seed}")
    quads = data(rng)
    ours, theirs = Store(), ox.Store()
    ours.extend(quads)
    theirs.extend(quads)
    asked = 0
    for _ in range(queries):
        text = UserQueries(rng).query()
        wanted = bag(theirs.query(text))
        asked += 1
        for _ in range(2):
            assert bag(ours.query(text)) == wanted, f"seed {seed}:\n{text}"
        result = ours.query(text)
        assert result.explain() and result.explain_json()
        with pytest.raises(TimeLimitError):
            list(ours.query(text, timeout=-1.0))
        assert bag(ours.query(text)) == wanted
    return asked


@each_seed(range(5))
def test_queries_of_users__same_bags_as_pyoxigraph(seed: int) -> None:
    assert compare(seed, 30) == 30


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_queries_of_users__same_bags_as_pyoxigraph__long(part: int) -> None:
    for seed in range(50):
        compare(1000 + 100 * part + seed, 30)
