"""Random queries over triple terms: the answers are those of pyoxigraph.

The data changes between the queries: quads come and go, the store is opened again, its files are
merged and written anew.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pyoxigraph as ox
import pytest

from tests.sparql.triple_queries import PROLOGUE, QueryMaker, quad
from triplestore import Store
from triplestore.sparql.plan.planner import ALL_OFF, PlanOptions
from triplestore.store.arguments import QueryOptions
from triplestore.store.run_query import query


def answers(found: Any) -> Counter[frozenset[tuple[str, str]]]:
    rows = ([(v.value, row[v.value]) for v in found.variables] for row in found)
    return Counter(
        frozenset((name, str(value)) for name, value in row if value is not None) for row in rows
    )


def ours(store: Store, text: str, options: PlanOptions) -> Counter[frozenset[tuple[str, str]]]:
    found = query(store._view(), text, QueryOptions(planning=options))
    return Counter(
        frozenset((name, str(value)) for name, value in row.as_dict().items()) for row in found
    )


def change(random: Random, store: Store, other: ox.Store, count: int) -> None:
    """Add quads and remove some, in both."""
    more = [quad(random) for _ in range(count)]
    there = list(other)
    less = random.sample(there, min(len(there), count // 3))
    if random.random() < 0.3:
        text = b"".join(f"{one} .\n".encode() for one in more)
        store.load(text, ox.RdfFormat.N_QUADS)
    else:
        with store.transaction() as t:
            for one in more:
                t.add(one)
    other.extend(more)
    for one in less:
        store.remove(one)
        other.remove(one)


def check(random: Random, store: Store, other: ox.Store, queries: int) -> None:
    done = 0
    while done < queries:
        text = QueryMaker(random).query()
        try:
            wanted = answers(other.query(text))
        except RuntimeError:
            continue  # it joined a part with a value that cannot be there, and did not go on
        done += 1
        for options in (PlanOptions(), ALL_OFF):
            assert ours(store, text, options) == wanted, text


@pytest.mark.parametrize("seed", range(4))
def test_exists__is_true_for_the_rows_that_join(seed: int) -> None:
    random = Random(seed)
    store = Store()
    store.extend(quad(random) for _ in range(150))
    maker = QueryMaker(random)
    for _ in range(25):
        outer, inner = maker.triple(), maker.triple()
        rows = ours(store, f"{PROLOGUE}SELECT * {{ {outer} }}", PlanOptions())
        joined = ours(store, f"{PROLOGUE}SELECT * {{ {outer} {inner} }}", PlanOptions())
        kept = {row for row in rows if any(row <= both for both in joined)}
        for word in ("EXISTS", "NOT EXISTS"):
            text = f"{PROLOGUE}SELECT * {{ {outer} FILTER {word} {{ {inner} }} }}"
            wanted = {row: n for row, n in rows.items() if (row in kept) == (word == "EXISTS")}
            assert ours(store, text, PlanOptions()) == wanted, text


@pytest.mark.parametrize("seed", range(3))
def test_queries__answer_as_pyoxigraph(tmp_path: Path, seed: int) -> None:
    run(tmp_path, seed, 4, 12)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3, 40))
def test_queries__answer_as_pyoxigraph_many(tmp_path: Path, seed: int) -> None:
    run(tmp_path, seed, 12, 40)


def run(folder: Path, seed: int, rounds: int, queries: int) -> None:
    random = Random(seed)
    other = ox.Store()
    store = Store(folder / "store")
    for number in range(rounds):
        change(random, store, other, random.choice((3, 30, 200)))
        if random.random() < 0.3:
            with pytest.raises(ZeroDivisionError), store.transaction() as t:  # ids are given back
                t.add(quad(random))
                raise ZeroDivisionError
        check(random, store, other, queries)
        if number % 3 == 0:
            store.close()
            store = Store(folder / "store")
        elif number % 3 == 1:
            store.optimize()
        check(random, store, other, 2)
    assert Counter(map(str, store)) == Counter(map(str, other))
    store.close()
